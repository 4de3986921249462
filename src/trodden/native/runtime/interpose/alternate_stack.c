/* The alternate stack of each thread, for a stack overflow, and the interposer of sigaltstack. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"

enum { ALTERNATE_STACK_BYTES = 64 << 10, STACKS_AT_ONCE = 16 };

static int real_sigaltstack(const stack_t *stack, stack_t *previous) {
    return (int)syscall(SYS_sigaltstack, stack, previous);
}

/* Stacks are mapped several at once, with a guard page below all of them: a process may have only so many mappings.
 * What runs on them is the runtime's own, and known not to overflow. */
static void *take_stack(void) {
    static uint8_t *free_stacks;
    static uint32_t free_count;
    uint64_t mask = trodden_lock();
    if (!free_count) {
        size_t guard = trodden_page_size();
        uint8_t *memory = trodden_map(guard + STACKS_AT_ONCE * ALTERNATE_STACK_BYTES);
        if (memory) {
            mprotect(memory, guard, PROT_NONE);
            free_stacks = memory + guard;
            free_count = STACKS_AT_ONCE;
        }
    }
    void *stack = free_count ? free_stacks + --free_count * (size_t)ALTERNATE_STACK_BYTES : NULL;
    trodden_unlock(mask);
    return stack;
}

void trodden_alternate_stack_install(struct trodden_thread *thread) {
    stack_t now;
    if (real_sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    if (!thread->alternate_stack)
        thread->alternate_stack = take_stack();
    stack_t own = {.ss_sp = thread->alternate_stack, .ss_size = ALTERNATE_STACK_BYTES};
    if (thread->alternate_stack)
        real_sigaltstack(&own, NULL);
}

void trodden_alternate_stack_remove(struct trodden_thread *thread) {
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (thread->alternate_stack && real_sigaltstack(NULL, &now) == 0 && now.ss_sp == thread->alternate_stack)
        real_sigaltstack(&none, NULL);
}

/* The program is told that there is none while only the runtime's is installed, which is installed again when the
 * program disables its own.  This initializes nothing: sanitizers call it while they start themselves, when functions
 * that they intercept cannot be called yet. */
EXPORTED int sigaltstack(const stack_t *restrict stack, stack_t *restrict previous) {
    struct trodden_thread *thread = trodden_leads() ? trodden_own_thread() : NULL;
    void *own_stack = thread ? thread->alternate_stack : NULL;
    stack_t before;
    if (stack && !(stack->ss_flags & SS_DISABLE))
        trodden_program_has_stacks();
    int result = real_sigaltstack(stack, &before);
    if (result == 0 && previous) {
        *previous = before;
        if (own_stack && before.ss_sp == own_stack)
            *previous = (stack_t){.ss_flags = SS_DISABLE};
        if (thread)
            trodden_written(previous, sizeof *previous);
    }
    if (result == 0 && thread && stack && (stack->ss_flags & SS_DISABLE))
        trodden_alternate_stack_install(thread);
    return result;
}
