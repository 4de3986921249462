/* What a program sees of its signals: it prints the same with probes and without. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *mask);

static volatile int handled, code, started;
static volatile int *volatile null;
static sigjmp_buf back;
static ucontext_t home, away;
static char stack[1 << 16];

static void show(const char *name) {
    sigset_t mask, pending;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigpending(&pending);
    printf("%s: blocked", name);
    for (int i = 1; i < 65; i++)
        if (i != 32 && i != 33 && sigismember(&mask, i) == 1)
            printf(" %d", i);
    printf("; pending");
    for (int i = 1; i < 65; i++)
        if (sigismember(&pending, i) == 1)
            printf(" %d", i);
    printf("\n");
    fflush(stdout);
}

static void show_action(int number) {
    struct sigaction now;
    sigaction(number, NULL, &now);
    printf("%d: %s, flags %x, mask", number,
           now.sa_handler == SIG_DFL   ? "default"
           : now.sa_handler == SIG_IGN ? "ignored"
                                       : "handler",
           (unsigned)now.sa_flags & ~0x04000000u);
    for (int i = 1; i < 65; i++)
        if (sigismember(&now.sa_mask, i) == 1)
            printf(" %d", i);
    printf("\n");
}

static void handler(int number) { handled += number; }

static void information(int number, siginfo_t *info, void *context) {
    handled += number;
    code = info->si_code;
    (void)context;
}

/* What it changes is in effect when it has returned. */
static void changes(int number, siginfo_t *info, void *context) {
    sigset_t *mask = &((ucontext_t *)context)->uc_sigmask;
    printf("%d: to be restored: %d %d %d\n", number, sigismember(mask, SIGSEGV), sigismember(mask, SIGBUS),
           sigismember(mask, SIGUSR1));
    sigdelset(mask, SIGSEGV);
    sigaddset(mask, SIGFPE);
    sigaddset(mask, SIGUSR2);
    (void)info;
}

static void jumps(int number) { siglongjmp(back, number); }

static void shows(int number) {
    (void)number;
    show("in the handler");
}

static void blocks(int number) {
    sigset_t all;
    (void)number;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static void set_mask(int how, int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, first);
    if (second)
        sigaddset(&set, second);
    sigprocmask(how, &set, NULL);
}

static void masks(void) {
    sigset_t all, none, segv;
    siginfo_t info;
    sigfillset(&all);
    sigemptyset(&none);
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    show("at the start");
    sigprocmask(SIG_SETMASK, &all, NULL);
    show("all");
    raise(58);
    raise(SIGSEGV);
    kill(getpid(), SIGBUS);
    show("raised");
    printf("waited for %d\n", sigwaitinfo(&segv, &info));
    show("waited");
    signal(SIGBUS, handler);
    signal(58, handler);
    sigprocmask(SIG_SETMASK, &none, NULL);
    show("none");
    printf("handled %d\n", handled);
    set_mask(SIG_BLOCK, SIGSEGV, SIGUSR1);
    set_mask(SIG_UNBLOCK, SIGSEGV, 0);
    show("one");
    printf("%d %d\n", sigprocmask(77, &all, NULL), errno);
    set_mask(SIG_UNBLOCK, SIGUSR1, 0);
}

static void actions(void) {
    struct sigaction action = {.sa_sigaction = information, .sa_flags = (int)SA_RESETHAND | SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    show_action(SIGUSR2);
    sigaction(SIGUSR2, &action, NULL);
    show_action(SIGUSR2);
    raise(SIGUSR2);
    printf("handled %d, code %d\n", handled, code);
    show_action(SIGUSR2);
    signal(SIGUSR2, SIG_IGN);
    show_action(SIGUSR2);
    printf("%d\n", signal(SIGUSR2, SIG_DFL) == SIG_IGN);
    printf("%d\n", signal(SIGSEGV, handler) == SIG_DFL);
    printf("%d\n", signal(SIGSEGV, SIG_DFL) == handler);
    printf("%d %d\n", sigaction(SIGKILL, &action, NULL), errno);
    show_action(SIGKILL);
    show_action(40);
    signal(40, handler);
    show_action(40);
    signal(SIGUSR1, shows);
    raise(SIGUSR1);
    action.sa_handler = shows;
    action.sa_flags = 0;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    show("after it");
    set_mask(SIG_BLOCK, SIGSEGV, SIGBUS);
    action.sa_sigaction = changes;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    show("after one that changes the mask");
    set_mask(SIG_SETMASK, SIGPIPE, 0);
    signal(SIGUSR1, blocks);
    raise(SIGUSR1);
    show("after one that blocks");
}

static void faults(void) {
    signal(SIGSEGV, jumps);
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0)
            printf("%d\n", *null);
        show("after a fault");
    }
    if (sigsetjmp(back, 1) == 0) {
        set_mask(SIG_BLOCK, SIGSEGV, SIGUSR1);
        siglongjmp(back, 1);
    }
    show("after a jump");
    if (sigsetjmp(back, 1) == 0)
        printf("%d\n", *null);
    show("after another fault");
}

static void *start(void *argument) {
    show("in a thread");
    return argument;
}

static void threads(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    size_t size = 0;
    sigfillset(&all);
    set_mask(SIG_BLOCK, SIGSEGV, SIGUSR1);
    pthread_create(&thread, NULL, start, NULL);
    pthread_join(thread, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_attr_setsigmask_np(&attributes, &all);
    pthread_create(&thread, &attributes, start, NULL);
    pthread_join(thread, NULL);
    pthread_attr_getstacksize(&attributes, &size);
    printf("%zu\n", size);
    show("in the creator");
    set_mask(SIG_UNBLOCK, SIGSEGV, SIGUSR1);
}

/* The signal was sent to the process, and every thread has blocked it. */
static void *waits(void *argument) {
    started = 1;
    while (!handled)
        usleep(1000);
    return argument;
}

static void waiting(void) {
    struct timespec limit = {20, 0};
    sigset_t trap, others;
    pthread_t thread;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    handled = 0;
    set_mask(SIG_BLOCK, SIGTRAP, SIGUSR1);
    pthread_create(&thread, NULL, waits, NULL);
    while (!started)
        usleep(1000);
    kill(getpid(), SIGTRAP);
    usleep(20000); /* in which the other thread may come by it */
    printf("waited for %d\n", sigtimedwait(&trap, NULL, &limit));
    handled = 1;
    pthread_join(thread, NULL);
    show("waited");
    handled = 0;
    signal(SIGTRAP, handler);
    kill(getpid(), SIGTRAP);
    show("sent");
    sigfillset(&others);
    sigdelset(&others, SIGTRAP);
    for (int i = 0; i < 3 && !handled; i++)
        sigsuspend(&others);
    printf("handled %d\n", handled);
    show("suspended");
    set_mask(SIG_UNBLOCK, SIGTRAP, SIGUSR1);
    signal(SIGTRAP, SIG_DFL);
}

/* A signal that is blocked arrives in the middle of it. */
static void system_call(void) {
    int ends[2];
    char byte = 0;
    pid_t own = getpid();
    if (pipe(ends) != 0)
        return;
    set_mask(SIG_BLOCK, SIGTRAP, 0);
    fflush(stdout);
    if (fork() == 0) {
        usleep(20000); /* in which its parent may come to wait */
        kill(own, SIGTRAP);
        usleep(20000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    errno = 0;
    ssize_t got = read(ends[0], &byte, 1);
    printf("%zd %d\n", got, errno);
    wait(NULL);
    show("after a system call");
    signal(SIGTRAP, SIG_IGN);
    set_mask(SIG_UNBLOCK, SIGTRAP, 0);
    signal(SIGTRAP, SIG_DFL);
    close(ends[0]);
    close(ends[1]);
}

static void co(void) {
    show("in a context");
    set_mask(SIG_BLOCK, SIGSEGV, SIGUSR2);
    swapcontext(&away, &home);
    show("in the context again");
}

static void contexts(void) {
    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = sizeof stack;
    away.uc_link = &home;
    makecontext(&away, co, 0);
    set_mask(SIG_BLOCK, SIGUSR1, SIGBUS);
    swapcontext(&home, &away);
    show("at home");
    swapcontext(&home, &away);
    show("at home again");
    set_mask(SIG_UNBLOCK, SIGUSR1, SIGBUS);
}

static void children(const char *self) {
    signal(SIGINT, handler);
    set_mask(SIG_BLOCK, SIGSEGV, SIGUSR1);
    fflush(stdout);
    if (vfork() == 0) {
        signal(SIGINT, SIG_DFL);
        execl(self, self, "child", NULL);
        _exit(127);
    }
    wait(NULL);
    if (vfork() == 0) {
        set_mask(SIG_BLOCK, SIGBUS, SIGUSR2);
        set_mask(SIG_UNBLOCK, SIGSEGV, 0);
        execl(self, self, "child", NULL);
        _exit(127);
    }
    wait(NULL);
    show("after vfork");
    if (fork() == 0) {
        show("in a child");
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    handled = 0;
    raise(SIGINT);
    printf("handled %d\n", handled);
    printf("%d %d\n", execl("/nonexistent", "nonexistent", NULL), errno);
    show("after exec has failed");
    fflush(stdout);
    execl(self, self, "child", NULL);
}

int main(int count, char **arguments) {
    if (count > 1) {
        show("executed");
        show_action(SIGINT);
        return 5;
    }
    masks();
    actions();
    set_mask(SIG_SETMASK, SIGUSR2, 0);
    faults();
    threads();
    waiting();
    system_call();
    contexts();
    children("/proc/self/exe");
    return 6;
}
