/* Many counters, few of them used: prints how much memory is resident (kB) at first, with threads running, and
 * when all have been written. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "unit.h"

enum { SLOTS = 4 << 20, THREADS = 3 };
UNIT('r', SLOTS);

static int ready;

__attribute__((constructor)) static void early(void) { STEP(SLOTS / 2); }

static long resident(void) {
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2)
        return -1;
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void *work(void *argument) {
    STEP(0);
    STEP(SLOTS / 3);
    STEP(SLOTS - 1);
    __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
    while (argument && __atomic_load_n(&ready, __ATOMIC_SEQ_CST) <= THREADS)
        usleep(1000);
    return argument;
}

int main(void) {
    pthread_t ids[THREADS];
    printf("%ld\n", resident());
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, work, ids);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS)
        usleep(1000);
    printf("%ld\n", resident());
    work(NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    trodden_dump();
    printf("%ld\n", resident());
    return 0;
}
