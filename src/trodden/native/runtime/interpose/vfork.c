/* Interposer of vfork.
 *
 * A child of vfork shares its parent's memory, counters included, until it calls exec or _exit.  Then its parent
 * returns from the same vfork: to the active functions that is a longjmp to the return address of vfork
 * (unwind/nonlocal_exits.c). */
#include <errno.h>

#include "interpose/interpose.h"
#include "process/process.h"
#include "unwind/nonlocal_exits.h"

/* Called by vfork (below) with its return address, and the stack pointer after it returns. */
__attribute__((used)) void trodden_before_vfork(uint64_t return_address, uint64_t sp) {
    struct trodden_thread *thread = trodden_is_leader() ? trodden_own_thread() : NULL;
    if (thread) {
        thread->vfork_return = return_address;
        thread->vfork_sp = sp;
        thread->vfork_faults = thread->faults_blocked;
    }
}

/* Called by vfork (below) in the parent, with what the kernel has returned.  The child had a signal mask of its own,
 * but the part that the runtime keeps is in memory that both use (sigmask.c). */
__attribute__((used)) int trodden_after_vfork(int64_t result) {
    struct trodden_thread *thread = trodden_leads() ? trodden_own_thread() : NULL;
    if (thread) {
        thread->faults_blocked = thread->vfork_faults;
        thread->vfork_return = 0;
    }
    if (result >= 0)
        return (int)result;
    errno = (int)-result;
    return -1;
}

bool trodden_vfork_child_leaves(const struct trodden_regs *regs, int64_t amount) {
    const struct trodden_thread *thread = trodden_own_thread();
    if (!thread || !thread->vfork_return)
        return false;
    trodden_record_exits_to(regs, thread->vfork_sp, thread->vfork_return, amount);
    return true;
}

/* The child may overwrite the stack, so that the return address is kept in a register.  A sanitizer's interceptor,
 * if there is one, does the rest. */
__asm__(".weak __interceptor_vfork");
#if defined(__x86_64__)
__asm__(".pushsection .text\n\t.globl vfork\n\t.type vfork,@function\nvfork:\n\t.cfi_startproc\n\t"
        "movq (%rsp), %rdi\n\tleaq 8(%rsp), %rsi\n\tsubq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"
        "callq trodden_before_vfork\n\taddq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\t"
        "movq __interceptor_vfork@GOTPCREL(%rip), %rax\n\ttestq %rax, %rax\n\tje 1f\n\tjmpq *%rax\n1:\n\t"
        "popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_register %rip, %rdi\n\t"
        "movl $58, %eax\n\tsyscall\n\t"
        "pushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %rip, 0\n\t"
        "testq %rax, %rax\n\tjne 0f\n\tretq\n0:\n\t"
        "movq %rax, %rdi\n\tjmp trodden_after_vfork\n\t"
        ".cfi_endproc\n\t.size vfork, .-vfork\n\t.popsection");
#else
__asm__(".pushsection .text\n\t.globl vfork\n\t.type vfork,@function\nvfork:\n\t.cfi_startproc\n\t"
        "stp x29, x30, [sp, #-16]!\n\t.cfi_adjust_cfa_offset 16\n\t.cfi_rel_offset x30, 8\n\t"
        "mov x0, x30\n\tadd x1, sp, #16\n\tbl trodden_before_vfork\n\t"
        "ldp x29, x30, [sp], #16\n\t.cfi_adjust_cfa_offset -16\n\t.cfi_restore x30\n\t"
        "adrp x16, :got:__interceptor_vfork\n\tldr x16, [x16, :got_lo12:__interceptor_vfork]\n\t"
        "cbz x16, 1f\n\tbr x16\n1:\n\t"
        "mov x0, #0x4111\n\tmov x1, #0\n\tmov x8, #220\n\tsvc #0\n\t"
        "cbnz x0, 0f\n\tret\n0:\n\t"
        "b trodden_after_vfork\n\t"
        ".cfi_endproc\n\t.size vfork, .-vfork\n\t.popsection");
#endif
