/* Interposers of pthread_sigmask and sigprocmask: what a program blocks, and what the kernel is told.
 *
 * A fault whose signal is blocked kills the process at once, and nothing tells which functions were active.  Therefore
 * the kernel is never told to block these signals.  A thread's record says which of them the program has blocked; it
 * sees them in its masks, a fault kills the process all the same, and such a signal that somebody sends is blocked
 * then, so that it stays pending (process/fatal_signal.c, interpose/handler_gate.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"

/* ---- masks as the program has set them ---- */
bool trodden_faults_were_blocked;

uint64_t trodden_visible_mask(const struct trodden_thread *thread, uint64_t mask) {
    return thread ? mask | thread->faults_blocked : mask;
}

uint64_t trodden_keep_faults(struct trodden_thread *thread, uint64_t mask) {
    if (!thread)
        return mask;
    trodden_block_faults(thread, mask & TRODDEN_FAULTS);
    return mask & ~TRODDEN_FAULTS;
}

void trodden_block_faults(struct trodden_thread *thread, uint64_t faults) {
    if (faults)
        __atomic_store_n(&trodden_faults_were_blocked, true, __ATOMIC_RELAXED);
    thread->faults_blocked = faults;
}

void trodden_thread_inherits_mask(struct trodden_thread *thread, const uint64_t *own, uint64_t creators) {
    thread->signal_mask =
        trodden_keep_faults(thread, own ? *own : trodden_visible_mask(trodden_own_thread(), creators));
}

/* A child that shares the memory of its parent, and was not made by vfork (vfork.c), has a mask of its own, but no
 * record: in a static program with musl that is how posix_spawn starts a program. */
static bool keeps_faults(const struct trodden_thread *thread) {
    return thread->vfork_return || trodden_pid() == trodden_process.pid;
}

uint64_t trodden_block_kept_faults(void) {
    const struct trodden_thread *thread = trodden_leads() ? trodden_own_thread() : NULL;
    uint64_t faults = thread && thread->faults_blocked && keeps_faults(thread) ? thread->faults_blocked : 0;
    if (faults)
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &faults, NULL, sizeof faults);
    return faults;
}

void trodden_unblock_kept_faults(uint64_t faults) {
    if (faults)
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, NULL, sizeof faults);
}

/* ---- the interposers ---- */
static uint64_t after_change(uint64_t blocked, int how, uint64_t mask) {
    return how == SIG_BLOCK ? blocked | mask : how == SIG_UNBLOCK ? blocked & ~mask : mask;
}

static int set_mask(int how, const sigset_t *set, sigset_t *previous) {
    uint64_t mask = 0, old_mask = 0;
    if (set)
        memcpy(&mask, set, sizeof mask);
    /* Most programs never block a signal of a fault. */
    bool about_faults = trodden_faults_were_blocked || (mask & TRODDEN_FAULTS);
    struct trodden_thread *thread = about_faults && trodden_leads() ? trodden_own_thread() : NULL;
    uint64_t old_faults = thread ? thread->faults_blocked : 0;
    if (set) {
        /* 32 to 34 belong to the C library, which leaves them out in the same way. */
        mask &= ~(trodden_signal_bit(32) | trodden_signal_bit(33));
#ifndef __GLIBC__
        mask &= ~trodden_signal_bit(34);
#endif
        if (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
            return EINVAL;
        uint64_t faults = after_change(old_faults, how, mask) & TRODDEN_FAULTS;
        if (faults != old_faults && thread && !keeps_faults(thread))
            thread = NULL;
        if (thread)
            trodden_block_faults(thread, faults);
        if (thread && how != SIG_UNBLOCK)
            mask &= ~TRODDEN_FAULTS;
    }
    if (syscall(SYS_rt_sigprocmask, how, set ? &mask : NULL, &old_mask, sizeof old_mask) != 0)
        return errno;
    if (previous) {
        old_mask |= old_faults;
        memset(previous, 0, sizeof *previous);
        memcpy(previous, &old_mask, sizeof old_mask);
        trodden_written(previous, sizeof *previous);
    }
    return 0;
}

EXPORTED int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict previous) {
    int saved_errno = errno, error = set_mask(how, set, previous);
    errno = saved_errno;
    return error;
}

EXPORTED int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict previous) {
    int error = set_mask(how, set, previous);
    if (error)
        errno = error;
    return error ? -1 : 0;
}
