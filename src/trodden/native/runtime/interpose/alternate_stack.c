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
 * What runs on them is the runtime's own, and known not to overflow.
 *
 * A word has the address of the free ones, which is that of a page, and in its lowest bits their number.  There is no
 * lock: a thread that starts while the process exits must not wait here. */
static uintptr_t map_stacks(void) {
    size_t guard = trodden_page_size();
    uint8_t *memory = trodden_map(guard + STACKS_AT_ONCE * ALTERNATE_STACK_BYTES);
    if (memory)
        mprotect(memory, guard, PROT_NONE);
    return memory ? (uintptr_t)memory + guard + STACKS_AT_ONCE : 0;
}

static void *take_stack(void) {
    static uintptr_t free_stacks;
    uintptr_t in_page = trodden_page_size() - 1, before = __atomic_load_n(&free_stacks, __ATOMIC_ACQUIRE), now;
    do {
        now = before & in_page ? before : map_stacks();
        if (!now)
            return NULL;
        /* If another thread is faster, the stacks that have just been mapped are left to nobody, untouched. */
    } while (!__atomic_compare_exchange_n(&free_stacks, &before, now - 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return (void *)((now & ~in_page) + ((now - 1) & in_page) * ALTERNATE_STACK_BYTES);
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
