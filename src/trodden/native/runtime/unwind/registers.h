/* The registers of a frame, by DWARF number. */
#ifndef TRODDEN_UNWIND_REGISTERS_H
#define TRODDEN_UNWIND_REGISTERS_H

#include <stdint.h>

#if defined(__x86_64__)
#define TRODDEN_COLUMNS 17
#define TRODDEN_FP 6
#define TRODDEN_SP 7
#else
#define TRODDEN_COLUMNS 33
#define TRODDEN_FP 29
#define TRODDEN_SP 31
#endif

struct trodden_regs {
    uint64_t pc;
    uint64_t r[TRODDEN_COLUMNS]; /* by DWARF number */
    uint64_t known;              /* bit i: r[i] is known */
};

/* The registers that a signal handler was passed (registers.c). */
void trodden_regs_from_ucontext(const void *ucontext, struct trodden_regs *regs);

/* Captures the callee-saved registers here.  A walk that starts with them reports the caller of the function that
 * contains the macro as its first frame. */
#if defined(__x86_64__)
#define TRODDEN_CAPTURE_REGS(regs)                                                              \
    do {                                                                                        \
        __asm__ volatile("leaq 0f(%%rip), %%rax\n0:\n\t"                                        \
                         "movq %%rax, 0(%0)\n\tmovq %%rbx, 32(%0)\n\tmovq %%rbp, 56(%0)\n\t"    \
                         "movq %%rsp, 64(%0)\n\tmovq %%r12, 104(%0)\n\tmovq %%r13, 112(%0)\n\t" \
                         "movq %%r14, 120(%0)\n\tmovq %%r15, 128(%0)"                           \
                         :                                                                      \
                         : "r"(regs)                                                            \
                         : "rax", "memory");                                                    \
        (regs)->known = 1u << 3 | 1u << 6 | 1u << 7 | 15u << 12;                                \
    } while (0)
#else
#define TRODDEN_CAPTURE_REGS(regs)                                                        \
    do {                                                                                  \
        __asm__ volatile("adr x9, 0f\n0:\n\tstr x9, [%0]\n\tstp x19, x20, [%0, #160]\n\t" \
                         "stp x21, x22, [%0, #176]\n\tstp x23, x24, [%0, #192]\n\t"       \
                         "stp x25, x26, [%0, #208]\n\tstp x27, x28, [%0, #224]\n\t"       \
                         "stp x29, x30, [%0, #240]\n\tmov x9, sp\n\tstr x9, [%0, #256]"   \
                         :                                                                \
                         : "r"(regs)                                                      \
                         : "x9", "memory");                                               \
        (regs)->known = 0xfff80000u | (uint64_t)1 << 31;                                  \
    } while (0)
#endif

#endif
