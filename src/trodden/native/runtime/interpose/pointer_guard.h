/* How glibc stores addresses in a jmp_buf, and in what pthread_cleanup_push keeps, on x86-64. */
#ifndef TRODDEN_INTERPOSE_POINTER_GUARD_H
#define TRODDEN_INTERPOSE_POINTER_GUARD_H

#include <stdint.h>

static inline uint64_t mangle(uint64_t value) {
    __asm__("xorq %%fs:0x30, %0\n\trolq $17, %0" : "+r"(value) : : "cc");
    return value;
}

static inline uint64_t demangle(uint64_t value) {
    __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(value) : : "cc");
    return value;
}

#endif
