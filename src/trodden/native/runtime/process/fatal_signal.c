/* The end of a process by a signal: the frames of all threads are saved.
 *
 * Nothing is written that could fail: frames and registers go into regions of the live file, where everything else is
 * already.  Afterwards the process is killed by the same signal. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "counters/live_regions.h"
#include "interpose/interpose.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/process.h"
#include "process/restart_call.h"
#include "process/stop_threads.h"
#include "unwind/nonlocal_exits.h"

enum { MAX_SAVED_FRAMES = 512 }; /* frames of a thread, one record each; those further out are summed up */

static void save_registers(const struct trodden_frames *frames) {
    for (uint32_t i = 0; i < frames->saved_count; i++) {
        struct trodden_saved_registers *saved = trodden_live_alloc(TRODDEN_REGION_SAVED_REGISTERS, 0, sizeof *saved);
        if (saved)
            memcpy(saved, &frames->saved[i], sizeof *saved);
    }
}

/* Like the frames that longjmp leaves. */
static void record_as_exit(const struct trodden_frame *frame) {
    bool slot_known = frame->flags & TRODDEN_FRAME_SLOT_KNOWN;
    struct trodden_nonlocal_exit *entry =
        trodden_nonlocal_exit_at(frame->module, frame->address, slot_known, slot_known ? frame->slot_value : 0, true);
    if (entry)
        __atomic_fetch_add(&entry->count, 1, __ATOMIC_RELAXED);
    else
        __trodden_incomplete();
}

void trodden_live_save_frames(enum trodden_region_kind kind, const struct trodden_frames *frames, uint32_t thread,
                              uint32_t tid) {
    uint32_t count =
        frames->count < MAX_SAVED_FRAMES || kind == TRODDEN_REGION_FORK_FRAMES ? frames->count : MAX_SAVED_FRAMES;
    struct trodden_live_frames *saved = trodden_live_alloc(kind, 0, sizeof *saved + count * sizeof *saved->entries);
    if (!saved)
        return;
    saved->thread = thread;
    saved->tid = tid;
    saved->incomplete = frames->incomplete;
    if (count)
        memcpy(saved->entries, frames->entries, count * sizeof *saved->entries);
    __atomic_store_n(&saved->count, count, __ATOMIC_RELEASE);
    for (uint32_t i = count; i < frames->count; i++)
        record_as_exit(&frames->entries[i]);
    save_registers(frames);
}

/* `thread` is NULL if the start of the thread was not observed. */
static void save_thread(const struct trodden_thread *thread, const struct trodden_regs *regs, bool interrupted,
                        uint32_t number, uint32_t tid) {
    struct trodden_frames frames =
        trodden_collect_frames(regs, number, interrupted, thread ? &thread->unwinding : NULL);
    trodden_live_save_frames(TRODDEN_REGION_END_FRAMES, &frames, number, tid);
    trodden_frames_free(&frames);
}

void trodden_save_all_threads(const struct trodden_regs *regs, bool interrupted) {
    uintptr_t own_tp = trodden_thread_pointer();
    uint32_t unstopped = trodden_stop_threads();
    save_thread(trodden_own_thread(), regs, interrupted, trodden_thread_number(), (uint32_t)syscall(SYS_gettid));
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next) {
        struct trodden_regs thread_regs;
        if (thread->tp == own_tp || !thread->stopped_at)
            continue;
        trodden_regs_from_ucontext(thread->stopped_at, &thread_regs);
        save_thread(thread, &thread_regs, true, thread->number, thread->tid);
    }
    if (unstopped)
        __trodden_incomplete();
}

static uint32_t handling_thread; /* the tid of the thread that handles the signal, or 0 */
static bool recorded, lock_held;

static void record_end(int number, const void *ucontext) {
    struct trodden_regs regs;
    trodden_regs_from_ucontext(ucontext, &regs);
    if (!trodden_process.live)
        return;
    /* Another thread that is writing the raw file stops this one in here, and ends the process. */
    bool locked = trodden_lock_timed(~trodden_signal_bit(TRODDEN_STOP_SIGNAL));
    if (trodden_process.final_written) {
        if (locked)
            trodden_unlock_blocked();
        return;
    }
    trodden_live_set_state(TRODDEN_STATE_SIGNAL, (uint32_t)number);
    lock_held = locked;
    if (locked)
        trodden_save_all_threads(&regs, true);
    else
        __trodden_incomplete();
}

/* The signal did not kill the process, as in the first process of a container: everything continues. */
static void resume_process(void) {
    if (trodden_process.live && !trodden_process.final_written) {
        trodden_live_set_state(TRODDEN_STATE_RUNNING, 0);
        trodden_live_discard_end();
    }
    trodden_resume_threads();
    if (lock_held)
        trodden_unlock(~(uint64_t)0);
    lock_held = recorded = false;
    __atomic_store_n(&handling_thread, 0, __ATOMIC_RELEASE);
}

/* Will the instruction raise the signal again when it is restarted? */
static bool is_repeated_by_instruction(int number, const siginfo_t *info) {
    if (number == SIGBUS && info->si_code == BUS_MCEERR_AO)
        return false;
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

bool trodden_signal_is_ours(int number, const siginfo_t *info) {
    return number == SIGBUS && info->si_code > 0 && trodden_live_replace_page((uintptr_t)info->si_addr);
}

/* The runtime blocks all signals but SIGBUS. */
static bool interrupts_runtime(int number, uint64_t mask) {
    uint64_t unblockable = trodden_signal_bit(SIGKILL) | trodden_signal_bit(SIGSTOP);
    return number == SIGBUS && (mask | unblockable) == ~trodden_signal_bit(SIGBUS);
}

/* Does the thread wait in sigsuspend, pselect or the like, with a mask for as long as it waits?  Where the system call
 * is not known: a handler has the signals blocked that were blocked when the signal arrived; `mask`, which returns with
 * the handler, blocks others then. */
static bool waits_with_another_mask(int number, uint64_t mask, const ucontext_t *context) {
    uint64_t now = 0;
    enum trodden_wait wait = trodden_interrupted_wait(context);
    if (wait != TRODDEN_WAIT_UNKNOWN)
        return wait == TRODDEN_WAITS_WITH_MASK;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof now);
    return mask & (~now | trodden_signal_bit(number));
}

bool trodden_signal_is_blocked(int number, const siginfo_t *info, const void *context) {
    const struct trodden_thread *thread = trodden_own_thread();
    uint64_t mask;
    memcpy(&mask, &((const ucontext_t *)context)->uc_sigmask, sizeof mask);
    if (interrupts_runtime(number, mask))
        return true;
    return thread && (thread->faults_blocked & trodden_signal_bit(number)) &&
           (info->si_code > 0 || !waits_with_another_mask(number, mask, context));
}

/* Was it sent to this thread, rather than to the process?  Timers, and whoever sends a value, do not say.  What is sent
 * to the process comes to its first thread, unless the kernel has it blocked there. */
static bool is_for_thread(int number, const siginfo_t *info, uint32_t own_tid) {
    char text[2048];
    uint32_t first_tid = trodden_pid();
    if (info->si_code == SI_TKILL || info->si_code == SI_USER || own_tid == first_tid)
        return info->si_code == SI_TKILL;
    long got = trodden_read_task_file(first_tid, "status", text, sizeof text - 1);
    text[got > 0 ? got : 0] = 0;
    return !(trodden_blocked_in_status(text) & trodden_signal_bit(number));
}

/* The kernel lets only the first thread say by whom, if that was kill. */
static void send_again(int number, siginfo_t *info, uint32_t own_tid) {
    if (is_for_thread(number, info, own_tid))
        syscall(SYS_rt_tgsigqueueinfo, trodden_pid(), own_tid, number, info);
    else if (syscall(SYS_rt_sigqueueinfo, trodden_pid(), number, info) != 0)
        syscall(SYS_kill, trodden_pid(), number);
}

/* Somebody has sent the signal of a fault to a thread that has blocked it (interpose/sigmask.c), or that is inside the
 * runtime: it stays pending, and is blocked from now on. */
static bool defer_blocked(int number, siginfo_t *info, ucontext_t *context, uint32_t own_tid) {
    uint64_t signal_bit = trodden_signal_bit(number), mask;
    if (info->si_code > 0 || !trodden_signal_is_blocked(number, info, context))
        return false;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &signal_bit, NULL, sizeof signal_bit);
    send_again(number, info, own_tid);
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    mask |= signal_bit;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    trodden_restart_call(context);
    return true;
}

void trodden_fatal_signal(int number, siginfo_t *info, void *ucontext) {
    int saved_errno = errno;
    uint32_t own_tid = (uint32_t)syscall(SYS_gettid), expected = 0;
    if (trodden_signal_is_ours(number, info) || defer_blocked(number, info, ucontext, own_tid)) {
        errno = saved_errno;
        return;
    }
    if (trodden_process.init_state == TRODDEN_INITIALIZED && trodden_pid() == trodden_process.pid) {
        if (__atomic_compare_exchange_n(&handling_thread, &expected, own_tid, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            record_end(number, ucontext);
            __atomic_store_n(&recorded, true, __ATOMIC_RELEASE);
        } else if (expected != own_tid) {
            /* Another thread handles a fatal signal already; the process ends when it is done. */
            for (int i = 0; i < 3000 && !__atomic_load_n(&recorded, __ATOMIC_ACQUIRE); i++)
                trodden_sleep(1000000);
        }
    }
    struct sigaction default_action = {.sa_flags = 0};
    default_action.sa_handler = SIG_DFL;
    trodden_real_sigaction(number, &default_action, NULL);
    if (!is_repeated_by_instruction(number, info)) {
        uint64_t signal_bit = trodden_signal_bit(number);
        syscall(SYS_rt_tgsigqueueinfo, trodden_pid(), own_tid, number, info);
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &signal_bit, NULL,
                sizeof signal_bit); /* the process is killed here */
        if (__atomic_load_n(&handling_thread, __ATOMIC_ACQUIRE) == own_tid)
            resume_process();
    }
    errno = saved_errno;
}

void trodden_fatal_signal_after_fork(void) {
    handling_thread = 0;
    recorded = lock_held = false;
}
