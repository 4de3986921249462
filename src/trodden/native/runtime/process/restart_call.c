/* Continuing a system call that a signal has interrupted which the program had blocked (fatal_signal.c).
 *
 * The kernel restarts some calls by itself (SA_RESTART).  Others fail with EINTR if there is any handler: those that wait
 * for events, and those with a timeout.  When the handler is called, the number of the call is lost; it is found in the
 * code, where an instruction loads it right before the one that makes the call.  Then
 * - poll, nanosleep and waits on a futex are continued in the handler: the kernel knows until when;
 * - others are made once more: they have no timeout, or one that is absolute, or the kernel has put the time that is left
 *   where the timeout was (select, ppoll).
 * epoll_wait, sigtimedwait, semtimedop and sockets do not say what is left of a timeout: it starts anew.
 *
 * Calls whose number is not found fail with EINTR: musl and, from 2.41 on, glibc make those where a thread can be
 * cancelled from one place, with a number that only the caller knows.  So do calls on aarch64, where the first argument is
 * lost. */
#define _GNU_SOURCE
#include "process/restart_call.h"

#if defined(__x86_64__)
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "unwind/read_memory.h"

enum { SYS_EPOLL_PWAIT2 = 441 }; /* which old headers do not have */

#define REGISTER(context, name) (context)->uc_mcontext.gregs[REG_##name]

/* ---- the number of the call ---- */
enum { CODE_BYTES = 16, UNKNOWN = -1 };

/* `code` ends where an immediate operand of 32 bits begins: does it end with the opcode of `movl $…, %eax`?  The same byte
 * may be the displacement of another instruction, or belong to one with a prefix. */
static bool loads_eax(const uint8_t *code) {
    static const uint8_t with_immediate[] = {0x69, 0x81, 0xc7, 0xf7};
    if (code[-1] != 0xb8 || (code[-2] & 0xf0) == 0x40)
        return false;
    for (unsigned i = 0; i < sizeof with_immediate; i++)
        if (code[-3] == with_immediate[i] || code[-4] == with_immediate[i])
            return false;
    return true;
}

static bool loads_rax(const uint8_t *code) { return code[-3] == 0x48 && code[-2] == 0xc7 && code[-1] == 0xc0; }

static long number_before(const uint8_t *end) {
    static const uint8_t loads_edi[] = {0x8b, 0x7c, 0x24}; /* movl …(%rsp), %edi */
    uint32_t number;
    if (memcmp(end - 4, loads_edi, sizeof loads_edi) == 0)
        end -= 4;
    if (end[-2] == 0x31 && end[-1] == 0xc0) /* xorl %eax, %eax */
        return SYS_read;
    memcpy(&number, end - sizeof number, sizeof number);
    return loads_eax(end - sizeof number) || loads_rax(end - sizeof number) ? (long)number : UNKNOWN;
}

/* Of the system call that has just failed with EINTR; UNKNOWN also if there is none. */
static long interrupted_call(const ucontext_t *context) {
    uint64_t words[CODE_BYTES / 8], from = (uint64_t)REGISTER(context, RIP) - CODE_BYTES;
    const uint8_t *end = (const uint8_t *)words + CODE_BYTES - 2;
    struct trodden_page_copy page = {0};
    if (REGISTER(context, RAX) != -EINTR || !trodden_read_memory(&page, from, 8, &words[0]) ||
        !trodden_read_memory(&page, from + 8, 8, &words[1]) || end[0] != 0x0f || end[1] != 0x05) /* syscall */
        return UNKNOWN;
    return number_before(end);
}

enum trodden_wait trodden_interrupted_wait(const ucontext_t *context) {
    uint64_t mask = 0;
    switch (interrupted_call(context)) {
    case UNKNOWN:
        return TRODDEN_WAIT_UNKNOWN;
    case SYS_rt_sigsuspend:
        return TRODDEN_WAITS_WITH_MASK;
    case SYS_ppoll:
        mask = (uint64_t)REGISTER(context, R10);
        break;
    case SYS_epoll_pwait:
    case SYS_EPOLL_PWAIT2:
        mask = (uint64_t)REGISTER(context, R8);
        break;
    case SYS_pselect6: /* the mask's address and size */
        if (REGISTER(context, R9))
            memcpy(&mask, (const void *)REGISTER(context, R9), sizeof mask);
        break;
    default:
        break;
    }
    return mask ? TRODDEN_WAITS_WITH_MASK : TRODDEN_WAITS_WITHOUT_MASK;
}

/* ---- continuing it ---- */
static bool waits_on_futex(const ucontext_t *context) {
    int operation = (int)REGISTER(context, RSI) & FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* Does the kernel know how to continue it?  The next return from a handler makes it forget. */
static bool is_continued_by_kernel(long number, const ucontext_t *context) {
    return number == SYS_poll || number == SYS_nanosleep ||
           (number == SYS_clock_nanosleep && !(REGISTER(context, RSI) & TIMER_ABSTIME)) ||
           (number == SYS_futex && waits_on_futex(context) && REGISTER(context, R10));
}

/* Does EINTR say that nothing has happened, so that it can be made once more? */
static bool is_made_once_more(long number, const ucontext_t *context) {
    static const uint16_t numbers[] = {
        SYS_pause,   SYS_select,  SYS_pselect6, SYS_ppoll,  SYS_epoll_wait, SYS_epoll_pwait, SYS_EPOLL_PWAIT2,
        SYS_semop,   SYS_msgsnd,  SYS_msgrcv,   SYS_accept, SYS_semtimedop, SYS_rt_sigtimedwait,
        SYS_accept4, SYS_connect, SYS_recvfrom, SYS_sendto, SYS_recvmsg,    SYS_sendmsg,     SYS_recvmmsg,
        SYS_read,    SYS_write,   SYS_readv,    SYS_writev, SYS_wait4,      SYS_waitid,      SYS_clock_nanosleep,
        SYS_open,    SYS_openat,  SYS_fcntl,    SYS_flock,  SYS_sendmmsg,   SYS_mq_timedsend,
        SYS_mq_timedreceive, SYS_getrandom};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (number == numbers[i])
            return true;
    return number == SYS_futex && waits_on_futex(context);
}

static long continue_by_kernel(void) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"((long)SYS_restart_syscall) : "rcx", "r11", "memory");
    return result;
}

void trodden_restart_call(ucontext_t *context) {
    long number = interrupted_call(context);
    if (is_continued_by_kernel(number, context)) {
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &context->uc_sigmask, NULL, sizeof(uint64_t));
        REGISTER(context, RAX) = continue_by_kernel();
    } else if (is_made_once_more(number, context)) {
        REGISTER(context, RAX) = number;
        REGISTER(context, RIP) -= 2;
    }
}
#else
enum trodden_wait trodden_interrupted_wait(const ucontext_t *context) {
    (void)context;
    return TRODDEN_WAIT_UNKNOWN;
}

void trodden_restart_call(ucontext_t *context) { (void)context; }
#endif
