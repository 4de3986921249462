/* The end of a process by a signal: where every thread was.
 *
 * Nothing is written that could fail: frames and registers go into regions of the live file, where all else is
 * already.  Afterwards the process dies as it would have done. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

enum { MOST_KEPT = 512 }; /* frames of a thread, by themselves; what lies deeper is summed up */

static void keep_contexts(const struct trodden_frames *frames) {
    for (uint32_t i = 0; i < frames->context_count; i++) {
        struct trodden_context *context = trodden_keep(TRODDEN_CONTEXT, 0, sizeof *context);
        if (context)
            memcpy(context, &frames->contexts[i], sizeof *context);
    }
}

/* As the frames of a longjmp: they are left at these places. */
static void sum_up(const struct trodden_frame *frame) {
    bool known = frame->flags & TRODDEN_KNOWN;
    struct trodden_jump *entry =
        trodden_jump_at(frame->module, frame->address, known, known ? frame->cell : 0, true);
    if (entry)
        __atomic_fetch_add(&entry->count, 1, __ATOMIC_RELAXED);
    else
        trodden_lead.live->cut = 1;
}

void trodden_keep_frames(enum trodden_kind kind, const struct trodden_frames *frames, uint32_t thread, uint32_t tid) {
    uint32_t count = frames->count < MOST_KEPT || kind == TRODDEN_START ? frames->count : MOST_KEPT;
    struct trodden_live_frames *kept = trodden_keep(kind, 0, sizeof *kept + count * sizeof *kept->at);
    if (!kept)
        return;
    kept->thread = thread;
    kept->tid = tid;
    kept->cut = frames->cut;
    if (count)
        memcpy(kept->at, frames->at, count * sizeof *kept->at);
    __atomic_store_n(&kept->count, count, __ATOMIC_RELEASE);
    for (uint32_t i = count; i < frames->count; i++)
        sum_up(&frames->at[i]);
    keep_contexts(frames);
}

static void keep_thread(const struct trodden_regs *regs, bool interrupted, uint32_t number, uint32_t tid) {
    struct trodden_frames frames = trodden_frames_of(regs, number, interrupted);
    trodden_keep_frames(TRODDEN_END, &frames, number, tid);
    trodden_frames_free(&frames);
}

/* The caller holds the lock. */
void trodden_keep_threads(const struct trodden_regs *regs, bool interrupted) {
    uintptr_t own = trodden_thread_pointer();
    uint32_t lost = trodden_stop_others();
    keep_thread(regs, interrupted, trodden_thread_number(), (uint32_t)syscall(SYS_gettid));
    for (const struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next) {
        struct trodden_regs there;
        if (thread->tp == own || !thread->stopped)
            continue;
        trodden_regs_from(thread->stopped, &there);
        keep_thread(&there, true, thread->number, thread->tid);
    }
    if (lost)
        trodden_lead.live->cut = 1;
}

static uint32_t dying; /* the thread that is seeing to it */
static bool seen_to, holding;

static void see_to_it(int number, const void *context) {
    struct trodden_regs regs;
    trodden_regs_from(context, &regs);
    if (!trodden_lead.live || trodden_lead.final)
        return;
    uint64_t mask;
    bool locked = trodden_lock_patiently(&mask);
    trodden_lead.live->signal = (uint32_t)number;
    __atomic_store_n(&trodden_lead.live->state, TRODDEN_DIES, __ATOMIC_RELEASE);
    holding = locked;
    if (locked)
        trodden_keep_threads(&regs, true);
    else
        trodden_lead.live->cut = 1;
}

/* The signal did not end the process, as that of init in a container: all goes on. */
static void go_on(void) {
    if (trodden_lead.live && !trodden_lead.final) {
        __atomic_store_n(&trodden_lead.live->state, TRODDEN_RUNS, __ATOMIC_RELEASE);
        trodden_live_forget_end();
    }
    trodden_release_others();
    if (holding)
        trodden_unlock(~(uint64_t)0);
    holding = seen_to = false;
    __atomic_store_n(&dying, 0, __ATOMIC_RELEASE);
}

/* Does the instruction that did it do it again? */
static bool comes_again(int number, const siginfo_t *info) {
    if (number == SIGBUS && info->si_code == BUS_MCEERR_AO)
        return false;
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

void trodden_dies(int number, siginfo_t *info, void *context) {
    int saved = errno;
    uint32_t self = (uint32_t)syscall(SYS_gettid), nobody = 0;
    if (number == SIGBUS && info->si_code > 0 && trodden_live_repair((uintptr_t)info->si_addr)) {
        errno = saved;
        return;
    }
    if (trodden_lead.begun == 2 && trodden_pid() == trodden_lead.pid) {
        if (__atomic_compare_exchange_n(&dying, &nobody, self, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            see_to_it(number, context);
            __atomic_store_n(&seen_to, true, __ATOMIC_RELEASE);
        } else if (nobody != self) {
            /* Another thread is seeing to it; the process ends when it is done. */
            for (int i = 0; i < 3000 && !__atomic_load_n(&seen_to, __ATOMIC_ACQUIRE); i++)
                trodden_sleep(1000000);
        }
    }
    struct sigaction none = {.sa_flags = 0};
    none.sa_handler = SIG_DFL;
    trodden_set_action(number, &none, NULL);
    if (!comes_again(number, info)) {
        uint64_t one = (uint64_t)1 << (number - 1);
        syscall(SYS_rt_tgsigqueueinfo, trodden_pid(), self, number, info);
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, NULL, sizeof one); /* it ends here */
        if (__atomic_load_n(&dying, __ATOMIC_ACQUIRE) == self)
            go_on();
    }
    errno = saved;
}

void trodden_deaths_forked(void) {
    dying = 0;
    seen_to = holding = false;
}
