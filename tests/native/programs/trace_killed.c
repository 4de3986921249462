/* Two threads that never end and write down every step, in memory that survives any end of the process.
 *
 * Each basic block has a STEP() on a line of its own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 2, MOST_STEPS = 1 << 22 };

/* `number` is how many steps a thread has begun; the line of the last one may not be there yet. */
struct own {
    unsigned long number, unused[511];
    unsigned short lines[MOST_STEPS];
};

static __thread struct own *own;
static __thread unsigned long seed;
static __thread jmp_buf back;

/* Instructions of which no optimiser knows enough to merge two of them, and no block of their own. */
#define STEP()                                                                                       \
    __extension__({                                                                                  \
        unsigned long at_ = 1;                                                                       \
        __asm__ volatile("xaddq %0, %1\n\tandl %3, %k0\n\tmovw %4, (%2,%0,2)"                        \
                         : "+&r"(at_), "+m"(own->number)                                             \
                         : "r"(own->lines), "i"(MOST_STEPS - 1), "i"(__LINE__)                       \
                         : "memory", "cc");                                                          \
    })

/* No branch of its own. */
#define ROLL(n) ((seed = seed * 6364136223846793005UL + 1442695040888963407UL) >> 33) % (n)

static int deeper(int depth);

static __attribute__((noinline)) int leaf(int x) {
    STEP();
    if (x & 1) {
        STEP();
        return x * 3;
    }
    STEP();
    return x / 2;
}

static __attribute__((noinline)) int loops(int x) {
    STEP();
    for (unsigned long i = ROLL(9); i > 0; i--) {
        STEP();
        x += (int)i;
        if (ROLL(3) == 0) {
            STEP();
            continue;
        }
        STEP();
    }
    STEP();
    return x;
}

static __attribute__((noinline)) int choices(int x) {
    STEP();
    switch (ROLL(6)) {
    case 0:
        STEP();
        return deeper(x & 7);
    case 1:
        STEP();
        x = leaf(x);
        STEP();
        break;
    case 2:
    case 3:
        STEP();
        x++;
        break;
    default:
        STEP();
    }
    STEP();
    return x;
}

static int (*const table[])(int) = {leaf, loops, choices};

static __attribute__((noinline)) int deeper(int depth) {
    STEP();
    if (depth > 0) {
        STEP();
        int below = deeper(depth - 1);
        STEP();
        return below + table[ROLL(3)](depth);
    }
    STEP();
    if (ROLL(4) == 0) {
        STEP();
        longjmp(back, 1);
    }
    STEP();
    return 1;
}

static int compare(const void *one, const void *other) {
    STEP();
    return leaf(*(const int *)one) - *(const int *)other;
}

static void *work(void *place) {
    own = place;
    seed = (unsigned long)getpid() + own->unused[0];
    STEP();
    volatile int sum = 0;
    while (own->number < MOST_STEPS - 100000) {
        STEP();
        if (setjmp(back) == 0) {
            STEP();
            sum += deeper((int)(ROLL(12)));
            STEP();
        } else {
            STEP();
        }
        STEP();
        int values[] = {sum & 7, 3, sum & 3};
        qsort(values, 3, sizeof *values, compare);
        STEP();
        sum += table[ROLL(3)](values[1]);
        STEP();
    }
    for (;;)
        pause();
}

int main(int argc, char **argv) {
    int file = open(argv[argc - 1], O_RDWR);
    struct own *owns = mmap(NULL, THREADS * sizeof *owns, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (owns == MAP_FAILED)
        return 1;
    pthread_t thread;
    owns[1].unused[0] = 1;
    pthread_create(&thread, NULL, work, &owns[1]);
    work(&owns[0]);
    return 0;
}
