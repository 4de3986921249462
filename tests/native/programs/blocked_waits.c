/* A signal that is blocked arrives while the process waits in a system call; the first argument says in which.  The child
 * ends the wait once the signal is pending.  It prints the same with probes and without. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum { LONG = 50, MILLISECOND = 1000000 };

static volatile int handled;
static int ends[2], sockets[2], semaphores, epoll;
static long shortest; /* how long it has to wait at least, in milliseconds */

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

static void handler(int number) {
    HIT();
    handled += number;
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / MILLISECOND;
}

static void block(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static struct timespec at(clockid_t clock, long milliseconds) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += milliseconds % 1000 * MILLISECOND;
    time.tv_sec += milliseconds / 1000 + time.tv_nsec / (1000 * MILLISECOND);
    time.tv_nsec %= 1000 * MILLISECOND;
    return time;
}

NOINLINE static int sleeps(const char *mode) {
    struct timespec time = {0, 200 * MILLISECOND}, left;
    HIT();
    shortest = 200;
    if (is(mode, "nanosleep"))
        return nanosleep(&time, &left);
    if (is(mode, "nanosleep until"))
        return time = at(CLOCK_MONOTONIC, 200), clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    if (is(mode, "usleep"))
        return usleep(200000);
    if (is(mode, "empty poll"))
        return poll(NULL, 0, 200);
    if (is(mode, "empty select"))
        return pselect(0, NULL, NULL, NULL, &time, NULL);
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    time = at(CLOCK_REALTIME, 200);
    return sem_timedwait(&semaphore, &time);
}

NOINLINE static int waits(const char *mode) {
    struct pollfd entry = {.fd = ends[0], .events = POLLIN};
    struct timespec limit = {LONG, 0};
    struct sembuf down = {0, -1, 0};
    struct epoll_event event;
    char bytes[8];
    sigset_t none, usr2;
    fd_set readable;
    HIT();
    FD_ZERO(&readable);
    FD_SET(ends[0], &readable);
    sigemptyset(&none);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    if (is(mode, "poll"))
        return poll(&entry, 1, LONG * 1000);
    if (is(mode, "ppoll"))
        return ppoll(&entry, 1, &limit, NULL);
    if (is(mode, "ppoll with a mask"))
        return ppoll(&entry, 1, &limit, &none);
    if (is(mode, "select"))
        return select(ends[0] + 1, &readable, NULL, NULL, NULL);
    if (is(mode, "pselect with a mask"))
        return pselect(ends[0] + 1, &readable, NULL, NULL, &limit, &none);
    if (is(mode, "epoll"))
        return epoll_wait(epoll, &event, 1, LONG * 1000);
    if (is(mode, "epoll with a mask"))
        return epoll_pwait(epoll, &event, 1, LONG * 1000, &none);
    if (is(mode, "sigtimedwait"))
        return sigtimedwait(&usr2, NULL, &limit);
    if (is(mode, "sigsuspend"))
        return sigsuspend(&none);
    if (is(mode, "semop"))
        return semop(semaphores, &down, 1);
    if (is(mode, "recv"))
        return (int)recv(sockets[0], bytes, sizeof bytes, 0);
    if (is(mode, "read"))
        return (int)read(ends[0], bytes, sizeof bytes);
    return sleeps(mode);
}

/* Is the signal pending for the process, and blocked? */
static int is_pending(pid_t pid, int number) {
    char name[64], line[256];
    unsigned long pending = 0, blocked = 0;
    snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "ShdPnd: %lx", &pending);
        sscanf(line, "SigBlk: %lx", &blocked);
    }
    if (file)
        fclose(file);
    return (pending & blocked) >> (number - 1) & 1;
}

static void send_to(pid_t parent) {
    struct sembuf up = {0, 1, 0};
    usleep(50000); /* in which its parent may come to wait */
    kill(parent, SIGTRAP);
    while (getppid() == parent && !is_pending(parent, SIGTRAP))
        usleep(1000);
    usleep(50000);
    if (getppid() != parent || write(ends[1], "xy", 2) != 2 || write(sockets[1], "xyz", 3) != 3)
        return;
    semop(semaphores, &up, 1);
    kill(parent, SIGUSR2);
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    struct epoll_event event = {.events = EPOLLIN};
    pid_t own = getpid(), child;
    sigset_t pending;
    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 1;
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    if (count > 2) {
        HIT();
        struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART */
        sigfillset(&action.sa_mask);
        sigaction(SIGTRAP, &action, NULL);
    }
    block(SIGTRAP);
    block(SIGUSR2);
    child = fork();
    if (child == 0) {
        HIT();
        send_to(own);
        _exit(0);
    }
    long start = now();
    errno = 0;
    int result = waits(mode), error = result < 0 ? errno : 0;
    long waited = now() - start;
    HIT();
    do
        sigpending(&pending);
    while (shortest && !sigismember(&pending, SIGTRAP) && usleep(1000) == 0); /* a busy machine starts the child late */
    printf("%d, %d; handled %d, pending %d%s\n", result, error, handled, sigismember(&pending, SIGTRAP),
           waited < shortest ? ", too early" : "");
    fflush(stdout);
    semctl(semaphores, 0, IPC_RMID);
    while (shortest && waitpid(child, NULL, 0) != child)
        ;
    return 7;
}
