/* Processes that are created in every way; the first argument says which, a number says how deep. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static volatile int sink, stop;
static const char *self;

/* The code behind a call is a block of its own, so that its line tells whether the call returned. */
#define RETURNED() (sink != -77)

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

NOINLINE static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        HIT();
        if (i % 3 == 1) {
            HIT();
            sum += i;
        }
    }
    return sum;
}

static int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

NOINLINE static void become(int depth) {
    char number[12];
    HIT();
    snprintf(number, sizeof number, "%d", depth);
    execl(self, self, "exec", number, (char *)NULL);
    if (RETURNED())
        HIT();
    _exit(99);
}

/* Every process has two children; they end by exit, by _exit, or by returning from all calls. */
NOINLINE static int grow(int depth, int by_exec) {
    int sum = 0;
    sink = work(depth * 10);
    for (int i = 0; i < 2 && depth > 0; i++) {
        pid_t child = fork();
        if (child == 0) {
            HIT();
            if (by_exec)
                become(depth - 1);
            sum = grow(depth - 1, 0);
            if (depth == 2)
                exit(sum);
            if (depth == 3)
                _exit(sum);
            return sum;
        }
        HIT();
        sum += wait_for(child);
    }
    return sum + (depth == 0);
}

/* ---- children on their parent's memory ---- */
NOINLINE static void leave_below(int levels) {
    HIT();
    if (levels == 0)
        _exit(31);
    leave_below(levels - 1);
    if (RETURNED())
        HIT();
}

NOINLINE static int vforks(const char *how) {
    pid_t child = vfork();
    if (child == 0) {
        HIT();
        if (is(how, "exit")) {
            HIT();
            _exit(30);
        }
        if (is(how, "below")) {
            HIT();
            leave_below(2);
        }
        if (is(how, "plain")) {
            HIT();
            execlp("true", "true", (char *)NULL);
        }
        if (is(how, "self")) {
            HIT();
            execl(self, self, "leaf", "4", (char *)NULL);
        }
        if (is(how, "missing")) {
            HIT();
            execl("/nowhere/at/all", "all", (char *)NULL);
        }
        if (RETURNED())
            HIT();
        _exit(32);
    }
    HIT();
    return wait_for(child);
}

static int all_vforks(void) {
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        HIT();
        sum += vforks("exit") + vforks("below") + vforks("plain") + vforks("self") + vforks("missing");
    }
    return sum == 3 * (30 + 31 + 0 + 5 + 32) ? 8 : 9;
}

/* ---- functions of the C library that create processes ---- */
static int all_spawns(void) {
    char command[4200], *words[] = {(char *)self, (char *)"leaf", (char *)"7", NULL}, line[64] = "";
    char *nothing[] = {(char *)"true", NULL};
    pid_t child;
    int sum = 0;
    snprintf(command, sizeof command, "'%s' leaf 2; exit $?", self);
    for (int i = 0; i < 2; i++) {
        HIT();
        if (posix_spawn(&child, self, NULL, NULL, words, environ) == 0) {
            HIT();
            sum += wait_for(child);
        }
        if (posix_spawnp(&child, "true", NULL, NULL, nothing, environ) == 0) {
            HIT();
            sum += wait_for(child);
        }
        sum += WEXITSTATUS(system(command));
        FILE *stream = popen(command, "r");
        while (fgets(line, sizeof line, stream)) {
            HIT();
            sink = line[0];
        }
        sum += WEXITSTATUS(pclose(stream));
    }
    return sum == 2 * (8 + 0 + 3 + 3) ? 8 : 9;
}

/* ---- threads ---- */
static void *busy(void *argument) {
    while (!stop) {
        HIT();
        sink = work(20);
    }
    return argument;
}

static int among_threads(void) {
    pthread_t ids[3];
    int sum = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&ids[i], NULL, busy, NULL);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            HIT();
            stop = 1;
            pthread_create(&ids[0], NULL, busy, NULL);
            pthread_join(ids[0], NULL);
            sink = work(i);
            exit(1);
        }
        HIT();
        sum += wait_for(child);
    }
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(ids[i], NULL);
    return sum == 10 ? 8 : 9;
}

/* ---- a signal handler ---- */
static volatile pid_t made;

static void forks(int number) {
    HIT();
    made = fork();
    if (made == 0) {
        HIT();
        sink = work(number);
    }
}

NOINLINE static int in_a_handler(void) {
    signal(SIGUSR1, forks);
    HIT();
    raise(SIGUSR1);
    if (made == 0) {
        HIT();
        return 5;
    }
    HIT();
    return wait_for(made) == 5 ? 8 : 9;
}

/* ---- children that are killed ---- */
static int kill_children(void) {
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        int pipes[2];
        char byte = 0;
        if (pipe(pipes) != 0)
            abort();
        pid_t child = fork();
        if (child == 0) {
            HIT();
            sink = work(100);
            if (write(pipes[1], "x", 1) == 1) {
                HIT();
                pause();
            }
        }
        HIT();
        if (read(pipes[0], &byte, 1) == 1) {
            HIT();
            kill(child, SIGKILL);
        }
        sum += wait_for(child);
        close(pipes[0]);
        close(pipes[1]);
    }
    return sum == 4 * (128 + SIGKILL) ? 8 : 9;
}

/* ---- a process that is not waited for ---- */
static int leave_a_daemon(int by_hand) {
    if (!by_hand) {
        HIT();
        if (daemon(1, 0) != 0)
            abort();
    } else {
        HIT();
        if (fork() != 0)
            _exit(8);
        HIT();
        setsid();
        if (fork() != 0)
            _exit(0);
        HIT();
        int null = open("/dev/null", O_RDWR);
        for (int i = 0; i < 3; i++)
            dup2(null, i);
    }
    for (int i = 0; i < 15; i++) {
        HIT();
        usleep(100000);
        sink = work(50);
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argv[1];
    int depth = argc > 2 ? atoi(argv[2]) : 0;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    self = path;
    HIT();
    if (is(mode, "tree"))
        return grow(depth, 0);
    if (is(mode, "exec"))
        return grow(depth, 1);
    if (is(mode, "leaf")) {
        HIT();
        sink = work(depth);
        return depth + 1;
    }
    if (is(mode, "other")) {
        HIT();
        execl(argv[2], argv[2], "leaf", "3", (char *)NULL);
    }
    if (is(mode, "vfork"))
        return all_vforks();
    if (is(mode, "spawn"))
        return all_spawns();
    if (is(mode, "threads"))
        return among_threads();
    if (is(mode, "handler"))
        return in_a_handler();
    if (is(mode, "killed"))
        return kill_children();
    return leave_a_daemon(is(mode, "double"));
}
