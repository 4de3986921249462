/* Functions that have something to do when their thread is cancelled: pthread_cleanup_push in C, with glibc.
 *
 * The macro calls setjmp.  When glibc has unwound the stack down to the function, it jumps there without asking
 * anybody.  So the place to jump to is exchanged, when it is registered, for one of ours, which notes that the
 * function has left the call that it was in and has come back behind setjmp, and goes on there.  Which call that
 * was is told by the return address below the stack pointer: nothing has overwritten it so far.
 *
 * What is exchanged (the address, and a register that leads to the rest) is kept in words of the structure that
 * have been spare since its beginning.  In a static program glibc's own function has another underscore. */
#include <features.h>

#if defined(__GLIBC__) && defined(__x86_64__)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "internal.h"

#pragma weak dlsym

enum { SAVED_RBX = 0, SAVED_PC = 7 };

typedef void register_function(__pthread_unwind_buf_t *);
extern register_function ___pthread_register_cancel __attribute__((weak, visibility("hidden")));
extern register_function ___pthread_register_cancel_defer __attribute__((weak, visibility("hidden")));

struct place { /* of a __pthread_unwind_buf_t */
    uint64_t saved[8];
    uint32_t mask, lower; /* `lower`, `upper`: the halves of an address */
    uint64_t previous, cleanup;
    uint32_t kind, upper;
    uint64_t rbx;
};
_Static_assert(sizeof(struct place) <= sizeof(__pthread_unwind_buf_t) && offsetof(struct place, rbx) == 96,
               "as glibc's headers and the code below know it");

static uint64_t mangled(uint64_t plain) {
    __asm__("xorq %%fs:0x30, %0\n\trolq $17, %0" : "+r"(plain) : : "cc");
    return plain;
}

static uint64_t bare(uint64_t word) {
    __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(word) : : "cc");
    return word;
}

extern char trodden_cleanup_begins[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n\t.globl trodden_cleanup_begins\n\t.hidden trodden_cleanup_begins\n\t"
        ".type trodden_cleanup_begins,@function\ntrodden_cleanup_begins:\n\t"
        "movq -8(%rsp), %rcx\n\tmovq %rbx, %rdi\n\tsubq $176, %rsp\n\tmovq 96(%rdi), %rbx\n\t"
        "movq %rax, 160(%rsp)\n\tmovq %rcx, (%rsp)\n\tmovq %rbx, 32(%rsp)\n\tmovq %rbp, 56(%rsp)\n\t"
        "leaq 176(%rsp), %rcx\n\tmovq %rcx, 64(%rsp)\n\tmovq %r12, 104(%rsp)\n\tmovq %r13, 112(%rsp)\n\t"
        "movq %r14, 120(%rsp)\n\tmovq %r15, 128(%rsp)\n\tmovq %rsp, %rsi\n\tcall trodden_cleanup_began\n\t"
        "movq %rax, %rcx\n\tmovq 160(%rsp), %rax\n\taddq $176, %rsp\n\tjmp *%rcx\n\t"
        ".size trodden_cleanup_begins, . - trodden_cleanup_begins\n\t.popsection");

__attribute__((used, visibility("hidden"))) uint64_t trodden_cleanup_began(const struct place *place,
                                                                           struct trodden_regs *regs) {
    uint64_t pc = place->lower | (uint64_t)place->upper << 32;
    regs->known = 1u << 3 | 1u << 6 | 1u << 7 | 15u << 12;
    if (trodden_leading())
        trodden_note_return(regs, pc);
    return pc;
}

static void exchange(__pthread_unwind_buf_t *buffer) {
    struct place *place = (struct place *)buffer;
    uint64_t pc = bare(place->saved[SAVED_PC]);
    place->lower = (uint32_t)pc;
    place->upper = (uint32_t)(pc >> 32);
    place->rbx = place->saved[SAVED_RBX];
    place->saved[SAVED_RBX] = (uint64_t)place;
    place->saved[SAVED_PC] = mangled((uint64_t)trodden_cleanup_begins);
}

static void register_by(register_function *real, __pthread_unwind_buf_t *buffer) {
    real(buffer);
    exchange(buffer);
}

EXPORTED void __pthread_register_cancel(__pthread_unwind_buf_t *buffer) {
    static register_function *real;
    if (!real && !(real = ___pthread_register_cancel) && dlsym)
        *(void **)&real = dlsym(RTLD_NEXT, "__pthread_register_cancel");
    register_by(real, buffer);
}

EXPORTED void __pthread_register_cancel_defer(__pthread_unwind_buf_t *buffer) {
    static register_function *real;
    if (!real && !(real = ___pthread_register_cancel_defer) && dlsym)
        *(void **)&real = dlsym(RTLD_NEXT, "__pthread_register_cancel_defer");
    register_by(real, buffer);
}
#endif
