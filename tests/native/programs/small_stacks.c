/* Threads with small stacks beside a megabyte of thread-local counters. */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

enum { SLOTS = 131072, SMALL = 65536, OWN = 4 << 20 };
UNIT('s', SLOTS);

static void *use(void *argument) {
    volatile char room[40000];
    memset((char *)room, 1, sizeof room);
    STEP(0);
    counts[SLOTS - 1] += room[39999];
    return argument;
}

static int run(pthread_attr_t *attributes) {
    pthread_t id;
    int result = pthread_create(&id, attributes, use, NULL);
    return result ? result : pthread_join(id, NULL);
}

int main(void) {
    pthread_attr_t attributes;
    size_t size = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, SMALL);
    int small = run(&attributes);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);

    void *memory = mmap(NULL, OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, OWN);
    int own = run(&attributes);
    printf("%d %d %d %d\n", small, own, run(NULL), size == SMALL);
    return 0;
}
