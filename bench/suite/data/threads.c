/* Threads that share one hot function and count by themselves what they do.

   The plan is a file: `together` or `in-turn` on the first line, then a line for each thread: how often it
   calls the hot function, and how it ends: `return`, `exit` (pthread_exit, from a function below the first)
   or `cancel` (cancelled while it waits, when its work is done).  The output depends on the plan alone.

   These counts follow from results that the program needs anyway, so that counting adds no work to that which
   is profiled.  No function is inlined, so that each has an entry in every profile. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 64

enum end { END_RETURN, END_EXIT, END_CANCEL };

struct task {
    pthread_t thread;
    uint64_t calls, odd;
    enum end end;
};

/* The hot function: one of two edges, with one counter in each profile.  The barrier prevents the compiler from
   converting the branch into a conditional move. */
__attribute__((noinline)) static uint64_t step(uint64_t *state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    if (x & 1) {
        __asm__ volatile("" : "+r"(x));
        return 1;
    }
    return 0;
}

__attribute__((noinline)) static uint64_t work(uint64_t seed, uint64_t calls) {
    uint64_t state = seed, odd = 0;
    for (uint64_t i = 0; i < calls; i++)
        odd += step(&state);
    return odd;
}

__attribute__((noinline)) static void leave(void) {
    pthread_exit(NULL);
}

__attribute__((noinline)) static void wait_for_the_end(void) {
    for (;;)
        pause();
}

__attribute__((noinline)) static void finish(enum end end) {
    if (end == END_EXIT)
        leave();
    if (end == END_CANCEL)
        wait_for_the_end();
}

__attribute__((noinline)) static void *begin(void *argument) {
    struct task *task = argument;
    task->odd = work(task->calls * 2654435761u + 88172645463325252u, task->calls);
    finish(task->end);
    return NULL;
}

__attribute__((noinline)) static int read_plan(const char *path, struct task *tasks, int *in_turn) {
    char word[16];
    int count = 0;
    unsigned long long calls;
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%15s", word) != 1)
        return -1;
    *in_turn = strcmp(word, "in-turn") == 0;
    while (count < MOST && fscanf(file, "%llu %15s", &calls, word) == 2) {
        tasks[count].calls = calls + (uint64_t)count;
        tasks[count].end = strcmp(word, "exit") == 0 ? END_EXIT : strcmp(word, "cancel") == 0 ? END_CANCEL : END_RETURN;
        count++;
    }
    fclose(file);
    return count;
}

__attribute__((noinline)) static int launch(struct task *task) {
    return pthread_create(&task->thread, NULL, begin, task);
}

/* A cancelled thread does all its work first: there is no cancellation point before. */
__attribute__((noinline)) static int reap(struct task *task) {
    if (task->end == END_CANCEL && pthread_cancel(task->thread) != 0)
        return -1;
    return pthread_join(task->thread, NULL);
}

int main(int argc, char **argv) {
    static struct task tasks[MOST];
    int in_turn = 0, count = argc == 2 ? read_plan(argv[1], tasks, &in_turn) : -1;
    if (count <= 0) {
        fprintf(stderr, "usage: threads PLAN\n");
        return 2;
    }
    for (int i = 0; i < count; i++)
        if (launch(&tasks[i]) != 0 || (in_turn && reap(&tasks[i]) != 0))
            return 1;
    for (int i = 0; !in_turn && i < count; i++)
        if (reap(&tasks[i]) != 0)
            return 1;
    uint64_t calls = 0, odd = 0, exits = 0, cancels = 0;
    for (int i = 0; i < count; i++) {
        calls += tasks[i].calls;
        odd += tasks[i].odd;
        exits += tasks[i].end == END_EXIT;
        cancels += tasks[i].end == END_CANCEL;
    }
    printf("step %llu\nodd %llu\nwork %d\nfinish %d\nbegin %d\n", (unsigned long long)calls,
           (unsigned long long)odd, count, count, count);
    printf("leave %llu\nwait_for_the_end %llu\nlaunch %d\nreap %d\nread_plan 1\nmain 1\n",
           (unsigned long long)exits, (unsigned long long)cancels, count, count);
    return 0;
}
