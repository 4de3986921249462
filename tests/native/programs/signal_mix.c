/* Signals of faults in unusual ways; the first argument says in which.  It prints the same with probes and without. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

extern char **environ;

static volatile int handled, sink, ready, value;
static volatile char *page;
static sigjmp_buf back;

static void set_mask(int how, int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    if (first)
        sigaddset(&set, first);
    if (second)
        sigaddset(&set, second);
    pthread_sigmask(how, &set, NULL);
}

static int is_blocked(int number) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, number);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags, int full) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    if (full)
        sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void counts(int number, siginfo_t *info, void *context) {
    HIT();
    handled++;
    value = info->si_value.sival_int;
    (void)number, (void)context;
}

NOINLINE static int touch(int level) {
    HIT();
    if (level == 0) {
        HIT();
        *page = 1;
        return 1;
    }
    sink = touch(level - 1);
    return sink + 1;
}

static void opens(int number, siginfo_t *info, void *context) {
    HIT();
    handled++;
    mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
    (void)number, (void)info, (void)context;
}

static void jumps(int number, siginfo_t *info, void *context) {
    HIT();
    handled++;
    siglongjmp(back, number);
    (void)info, (void)context;
}

/* A fault in the handler of another fault, which leaves both by a jump. */
static void nests(int number, siginfo_t *info, void *context) {
    HIT();
    handled++;
    sink = touch(2);
    (void)number, (void)info, (void)context;
}

static void close_page(void) { mprotect((void *)page, 4096, PROT_NONE); }

static void from_signalfd(void) {
    struct signalfd_siginfo info;
    sigset_t set;
    set_mask(SIG_BLOCK, SIGSEGV, SIGUSR1);
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigaddset(&set, SIGUSR1);
    struct pollfd file = {.fd = signalfd(-1, &set, SFD_NONBLOCK), .events = POLLIN};
    union sigval sent = {.sival_int = 77};
    for (int i = 0; i < 3; i++) {
        HIT();
        sigqueue(getpid(), SIGSEGV, sent);
        kill(getpid(), SIGUSR1);
        for (int each = 0; each < 2; each++) {
            HIT();
            poll(&file, 1, 20000);
            long got = read(file.fd, &info, sizeof info);
            printf("%ld: %u %d %d\n", got, info.ssi_signo, info.ssi_code, info.ssi_signo == SIGSEGV ? info.ssi_int : 0);
        }
    }
    printf("%ld %d\n", (long)read(file.fd, &info, sizeof info), errno == EAGAIN);
}

static void *waiter(void *argument) {
    sigset_t set;
    siginfo_t info;
    HIT();
    sigemptyset(&set);
    sigaddset(&set, SIGBUS);
    sigaddset(&set, SIGFPE);
    for (int i = 0; i < 6; i++) {
        HIT();
        ready = i + 1;
        int number = sigwaitinfo(&set, &info);
        printf("%d %d %d\n", number, info.si_code, info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
    }
    ready = 7;
    return argument;
}

static void waited_for(void) {
    pthread_t thread;
    set_mask(SIG_BLOCK, SIGBUS, SIGFPE);
    pthread_create(&thread, NULL, waiter, NULL);
    for (int i = 0; i < 6; i++) {
        HIT();
        while (ready <= i)
            usleep(1000);
        union sigval sent = {.sival_int = i};
        if (i % 3 == 0)
            sigqueue(getpid(), i ? SIGBUS : SIGFPE, sent);
        if (i % 3 == 1)
            kill(getpid(), SIGBUS);
        if (i % 3 == 2)
            pthread_kill(thread, SIGFPE);
        while (ready == i + 1)
            usleep(1000);
    }
    pthread_join(thread, NULL);
}

static void *timed(void *argument) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGTRAP};
    struct itimerspec once = {.it_value = {0, 1000000}};
    timer_t timer;
    HIT();
    event.sigev_value.sival_int = 5;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    for (int i = 0; i < 4; i++) {
        HIT();
        sigset_t pending;
        set_mask(i % 2 ? SIG_BLOCK : SIG_UNBLOCK, SIGTRAP, 0);
        handled = 0;
        timer_settime(timer, 0, &once, NULL);
        do {
            sigpending(&pending);
        } while (!handled && !sigismember(&pending, SIGTRAP));
        printf("%d %d", handled, sigismember(&pending, SIGTRAP));
        set_mask(SIG_UNBLOCK, SIGTRAP, 0);
        printf(" %d %d\n", handled, value);
    }
    timer_delete(timer);
    return argument;
}

static void timers(void) {
    pthread_t thread;
    handle(SIGTRAP, counts, 0, 0);
    pthread_create(&thread, NULL, timed, NULL);
    pthread_join(thread, NULL);
}

static void nested(void) {
    static char memory[1 << 16];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
    handle(SIGSEGV, jumps, SA_ONSTACK, 1);
    handle(SIGFPE, nests, SA_ONSTACK, 0);
    set_mask(SIG_BLOCK, SIGBUS, 0);
    for (volatile int i = 0; i < 5; i++) {
        HIT();
        close_page();
        if (sigsetjmp(back, 1) == 0) {
            HIT();
            raise(SIGFPE);
            printf("not reached\n");
        }
        printf("%d: %d %d %d\n", handled, is_blocked(SIGSEGV), is_blocked(SIGFPE), is_blocked(SIGBUS));
    }
}

static void repaired(void) {
    handle(SIGSEGV, opens, 0, 1);
    set_mask(SIG_BLOCK, SIGBUS, SIGILL);
    for (int i = 0; i < 10; i++) {
        HIT();
        close_page();
        sink = touch(3);
    }
    printf("%d %d\n", handled, is_blocked(SIGBUS));
}

/* A jump that restores no mask leaves the signal blocked, and the second fault kills. */
static void blocked_by_jump(void) {
    handle(SIGSEGV, jumps, 0, 0);
    close_page();
    for (volatile int i = 0; i < 2; i++) {
        HIT();
        if (sigsetjmp(back, 0) == 0) {
            HIT();
            sink = touch(3);
        }
        printf("%d %d\n", handled, is_blocked(SIGSEGV));
        fflush(stdout);
    }
}

static void blocks_in_context(int number, siginfo_t *info, void *context) {
    HIT();
    sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGSEGV);
    (void)number, (void)info;
}

static void blocked_by_handler(void) {
    handle(SIGSEGV, counts, 0, 0);
    handle(SIGUSR1, blocks_in_context, 0, 0);
    raise(SIGUSR1);
    printf("%d\n", is_blocked(SIGSEGV));
    fflush(stdout);
    close_page();
    sink = touch(2);
}

static void *faults(void *argument) {
    HIT();
    sink = touch(4);
    return argument;
}

static void inherited(void) {
    pthread_t thread;
    handle(SIGSEGV, opens, 0, 0);
    set_mask(SIG_BLOCK, SIGSEGV, 0);
    close_page();
    pthread_create(&thread, NULL, faults, NULL);
    pthread_join(thread, NULL);
}

/* ---- a scheduler whose contexts have masks of their own ---- */
enum { TASKS = 4, ROUNDS = 5 };
static ucontext_t scheduler, tasks[TASKS];
static char stacks[TASKS][1 << 16];

static void task(int number) {
    HIT();
    set_mask(SIG_SETMASK, number & 1 ? SIGSEGV : 0, number & 2 ? SIGUSR2 : 0);
    for (int i = 0; i < ROUNDS; i++) {
        HIT();
        printf("%d: %d %d\n", number, is_blocked(SIGSEGV), is_blocked(SIGUSR2));
        raise(SIGSEGV);
        swapcontext(&tasks[number], &scheduler);
    }
}

static void scheduled(void) {
    handle(SIGSEGV, counts, 0, 0);
    for (int i = 0; i < TASKS; i++) {
        HIT();
        getcontext(&tasks[i]);
        tasks[i].uc_stack.ss_sp = stacks[i];
        tasks[i].uc_stack.ss_size = sizeof stacks[i];
        tasks[i].uc_link = &scheduler;
        makecontext(&tasks[i], (void (*)(void))task, 1, i);
    }
    for (int round = 0; round < ROUNDS + 1; round++)
        for (int current = 0; current < TASKS; current++) {
            HIT();
            swapcontext(&scheduler, &tasks[current]);
            printf("%d, %d\n", handled, is_blocked(SIGSEGV));
        }
}

static void *spawner(void *argument) {
    char *arguments[] = {(char *)"signal_mix", NULL};
    HIT();
    for (int i = 0; i < 5; i++) {
        HIT();
        pid_t child;
        if (i % 2) {
            child = vfork();
            if (child == 0) {
                HIT();
                execv("/proc/self/exe", arguments);
                _exit(127);
            }
        } else {
            posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ);
        }
        HIT();
        waitpid(child, NULL, 0);
    }
    return argument;
}

static void children(void) {
    pthread_t thread;
    handle(SIGSEGV, counts, SA_RESTART, 0);
    set_mask(SIG_BLOCK, SIGSEGV, 0);
    pthread_create(&thread, NULL, spawner, NULL);
    set_mask(SIG_UNBLOCK, SIGSEGV, 0);
    for (int i = 0; i < 50; i++) {
        HIT();
        kill(getpid(), SIGSEGV);
        usleep(1000);
    }
    pthread_join(thread, NULL);
    printf("%d\n", handled);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {{"signalfd", from_signalfd},
             {"sigwaitinfo", waited_for},
             {"timers", timers},
             {"nested", nested},
             {"repaired", repaired},
             {"blocked by a jump", blocked_by_jump},
             {"blocked by a handler", blocked_by_handler},
             {"inherited", inherited},
             {"scheduler", scheduled},
             {"children", children}};

int main(int count, char **arguments) {
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; count > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(arguments[1], modes[i].name) == 0) {
            HIT();
            modes[i].run();
        }
    return 7;
}
