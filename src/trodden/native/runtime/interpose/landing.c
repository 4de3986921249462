/* Jumps that restore the signal mask only where they have arrived: siglongjmp, swapcontext and setcontext.
 *
 * The C library restores the mask first, while the frames that are left still exist.  A signal that was pending is
 * handled there: its handler sees, in the middle of a jump, frames that have been recorded as left already, and records
 * them again if it exits or jumps itself.  Therefore all signals are blocked before anything is recorded, and the jump
 * goes to a landing in the frame that it is meant for.  There the mask is restored, as if that frame had called it, and
 * it returns to where the jump was to go.
 *
 * The code keeps the arguments of a function that a new context starts with, and does not touch what an interrupted
 * function may keep below its stack pointer, except for the word that the C library's own functions use, too. */
#include "interpose/landing.h"
#include "process/process.h"

#ifdef TRODDEN_LANDS
#define LANDING(name, unwinding)                                                                                  \
    ".globl " name "\n\t.hidden " name "\n\t.type " name ",@function\n" name ":\n\t.cfi_startproc\n\t" unwinding  \
    ".cfi_def_cfa_offset 0\n\tpushq 0(%rbx)\n\t.cfi_adjust_cfa_offset 8\n\t"                                      \
    "subq $120, %rsp\n\t.cfi_adjust_cfa_offset 120\n\t"                                                           \
    "pushq %rax\n\t.cfi_adjust_cfa_offset 8\n\tpushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"                        \
    "pushq %rsi\n\t.cfi_adjust_cfa_offset 8\n\tpushq %rdx\n\t.cfi_adjust_cfa_offset 8\n\t"                        \
    "pushq %rcx\n\t.cfi_adjust_cfa_offset 8\n\tpushq %r8\n\t.cfi_adjust_cfa_offset 8\n\t"                         \
    "pushq %r9\n\t.cfi_adjust_cfa_offset 8\n\tpushq 16(%rbx)\n\t.cfi_adjust_cfa_offset 8\n\t"                     \
    "movq 24(%rbx), %rcx\n\ttestq %rcx, %rcx\n\tje 0f\n\tmovq 32(%rbx), %rdx\n\tmovq %rdx, (%rcx)\n0:\n\t"        \
    "movq 8(%rbx), %rbx\n\tmovl $14, %eax\n\tmovl $2, %edi\n\tmovq %rsp, %rsi\n\txorl %edx, %edx\n\t"             \
    "movl $8, %r10d\n\tsyscall\n\t"                                                                               \
    "addq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\tpopq %r9\n\t.cfi_adjust_cfa_offset -8\n\t"                     \
    "popq %r8\n\t.cfi_adjust_cfa_offset -8\n\tpopq %rcx\n\t.cfi_adjust_cfa_offset -8\n\t"                         \
    "popq %rdx\n\t.cfi_adjust_cfa_offset -8\n\tpopq %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"                        \
    "popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\tpopq %rax\n\t.cfi_adjust_cfa_offset -8\n\t"                        \
    "addq $120, %rsp\n\t.cfi_adjust_cfa_offset -120\n\tretq\n\t.cfi_endproc\n\t.size " name ", . - " name "\n\t"

__asm__(".pushsection .text\n\t" LANDING("trodden_land", "")
            LANDING("trodden_land_at_start", ".cfi_undefined rip\n\t") ".popsection");

_Static_assert(offsetof(struct trodden_landing, rbx) == 8 && offsetof(struct trodden_landing, mask) == 16 &&
                   offsetof(struct trodden_landing, left_mask) == 24 &&
                   offsetof(struct trodden_landing, left_value) == 32,
               "as in the code above");

bool trodden_can_land(const struct trodden_thread *thread) {
    uint64_t shadow = 0;
    __asm__("rdsspq %0" : "+r"(shadow));
    return thread && !shadow;
}
#else
bool trodden_can_land(const struct trodden_thread *thread) {
    (void)thread;
    return false;
}
#endif
