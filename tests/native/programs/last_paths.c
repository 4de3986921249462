/* Threads that log every path where it ends, and a process that ends in many ways.
 *
 * usage: last_paths HOW ITERATIONS
 *
 * Each thread has a file book.PID.NUMBER with a line for every path: its function, its marks, how it ended.  The
 * functions that write them have no probes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENT __attribute__((no_profile_instrument_function, noinline))
enum { WORKERS = 3, DEEPEST = 16 };

static _Thread_local int book = -1, depth, number;
static _Thread_local struct {
    char marks[40];
    int length;
} trails[DEEPEST];
static int stand_still[2];

SILENT static void open_book(int thread) {
    char name[40];
    snprintf(name, sizeof name, "book.%d.%d", (int)getpid(), thread);
    book = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0666);
    number = thread;
}

SILENT static void mark(char letter) { trails[depth].marks[trails[depth].length++] = letter; }

SILENT static void ends(const char *function, const char *how) {
    char line[80];
    int length = snprintf(line, sizeof line, "%s %.*s %s\n", function, trails[depth].length, trails[depth].marks, how);
    if (write(book, line, (size_t)length) != length)
        _exit(90);
    trails[depth].length = 0;
}

SILENT static void opens(void) { trails[++depth].length = 0; }

SILENT static void closes(const char *function) {
    ends(function, "exit");
    depth--;
}

static int choose(int i) {
    opens();
    if (i % 3)
        mark('a');
    else
        mark('b');
    if (i % 7 == 2)
        mark('c');
    closes("choose");
    return i & 5;
}

static int deeper(int i) {
    opens();
    int sum = 0;
    if (i & 1) {
        mark('a');
        sum = deeper(i >> 1);
    } else if (i) {
        mark('b');
        sum = choose(i);
    }
    mark('c');
    closes("deeper");
    return sum;
}

static int walk(int iterations) {
    opens();
    int sum = 0;
    for (int i = 0; i < iterations; i++) {
        mark('a');
        if ((i + number) % 4 == 1) {
            mark('b');
            sum += deeper(i & 1023);
        }
        sum ^= choose(i + number);
        ends("walk", "back_edge");
    }
    mark('c');
    closes("walk");
    return sum;
}

/* Some threads wait here, and are still here when the process ends. */
SILENT static void stay(void) {
    char byte = 0;
    if (write(stand_still[1], &byte, 1) == 1)
        for (;;)
            pause();
}

struct task {
    int thread, iterations;
    pthread_barrier_t *together; /* no thread ends before all have started */
    void (*then)(void);
};

SILENT static void *work(void *given) {
    const struct task *task = given;
    if (task->together)
        pthread_barrier_wait(task->together);
    open_book(task->thread);
    walk(task->iterations);
    if (task->then)
        task->then();
    return NULL;
}

SILENT static void start(pthread_t *threads, struct task *tasks, int iterations, void (*then)(void)) {
    static pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        tasks[i] = (struct task){1 + i, iterations + 17 * i, &together, then};
        if (pthread_create(&threads[i], NULL, work, &tasks[i]))
            _exit(91);
    }
}

SILENT static void join(pthread_t *threads) {
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
}

SILENT static int end_by(const char *how, int iterations) {
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "fault") == 0)
        *(volatile int *)(uintptr_t)8 = 1;
    if (strcmp(how, "quick") == 0)
        quick_exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "fork") == 0) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            open_book(0);
            walk(iterations / 2);
            exit(4);
        }
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    }
    return 3;
}

SILENT int main(int argc, char **argv) {
    static pthread_t threads[WORKERS];
    static struct task tasks[WORKERS];
    char byte;
    if (argc != 3 || pipe(stand_still))
        return 92;
    int iterations = atoi(argv[2]);
    open_book(0);
    if (strcmp(argv[1], "ended") == 0 || strcmp(argv[1], "again") == 0) {
        start(threads, tasks, iterations, NULL);
        join(threads);
    }
    if (strcmp(argv[1], "again") == 0)
        for (int i = 0; i < 2; i++) {
            tasks[0] = (struct task){1 + WORKERS + i, iterations + i, NULL, NULL};
            if (pthread_create(&threads[0], NULL, work, &tasks[0]) || pthread_join(threads[0], NULL))
                return 91;
        }
    if (strcmp(argv[1], "ended") && strcmp(argv[1], "again") && strcmp(argv[1], "fork")) {
        start(threads, tasks, iterations, stay);
        for (int i = 0; i < WORKERS; i++)
            if (read(stand_still[0], &byte, 1) != 1)
                return 93;
    }
    walk(iterations);
    return end_by(argv[1], iterations);
}
