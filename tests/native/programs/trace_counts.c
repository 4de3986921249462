/* Threads that record consecutive numbers, and say in a file how far they are. */
#define _GNU_SOURCE
#include "trace_probes.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_THREADS = 16, FUNCTION = 3 };

static volatile uint64_t *progress; /* by thread: records that are complete */
static uint64_t numbers, pause_at = UINT64_MAX;

__attribute__((noinline)) static void record(unsigned who, uint64_t number) {
    TRIPS(number, FUNCTION, 2 * who);
    progress[who] = number + 1;
}

__attribute__((noinline)) static void work_until(unsigned who, uint64_t end) {
    ENTER(FUNCTION);
    for (uint64_t i = 0; i < end; i++) {
        if (i == pause_at)
            raise(SIGSTOP);
        record(who, i);
    }
    STEP(0);
}

static void *work(void *argument) {
    work_until((unsigned)(uintptr_t)argument, numbers);
    return NULL;
}

static void *work_for_ever(void *argument) {
    work_until((unsigned)(uintptr_t)argument, UINT64_MAX);
    return NULL;
}

int main(int argc, char **argv) {
    const char *mode = argv[1];
    numbers = strtoull(argv[2], NULL, 10);
    unsigned threads = (unsigned)atoi(argv[3]);
    int file = open("progress", O_RDWR | O_CREAT, 0666);
    if (argc < 4 || ftruncate(file, 4096) != 0)
        return 1;
    progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pthread_t ids[MOST_THREADS];
    int endless = strcmp(mode, "endless") == 0;
    if (strcmp(mode, "pause") == 0)
        pause_at = numbers / 2;
    if (strcmp(mode, "series") == 0) {
        for (unsigned i = 0; i < threads; i++) {
            pthread_create(&ids[0], NULL, work, (void *)(uintptr_t)1);
            pthread_join(ids[0], NULL);
        }
        kill(getpid(), SIGKILL);
    }
    for (unsigned i = 1; i <= threads; i++)
        pthread_create(&ids[i - 1], NULL, endless ? work_for_ever : work, (void *)(uintptr_t)i);
    work(NULL);
    for (unsigned i = 1; i <= threads && endless; i++)
        while (progress[i] < numbers)
            usleep(1000);
    for (unsigned i = 1; i <= threads && !endless; i++)
        pthread_join(ids[i - 1], NULL);
    if (strcmp(mode, "dump") == 0) {
        trodden_dump();
        record(0, numbers);
        kill(getpid(), SIGKILL);
    }
    if (strcmp(mode, "abort") == 0)
        abort();
    if (strcmp(mode, "_exit") == 0)
        _exit(3);
    if (strcmp(mode, "quick") == 0)
        quick_exit(3);
    if (strcmp(mode, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(mode, "wait") == 0) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    return 3;
}
