/* Threads that jump while the process dies by a signal: the first jump over a function has to wait for the thread that
 * stops all others, and has recorded the frames inside it already. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
enum { THREADS = 4, WAYS = 100 };

static volatile int sink;
static int jumps;
static __thread jmp_buf place;

static NOINLINE void inner(int number) {
    sink = number;
    __atomic_fetch_add(&jumps, 1, __ATOMIC_RELAXED);
    longjmp(place, 1);
}

static NOINLINE void outer(int number) {
    inner(number);
    sink = number;
}

#define WAY(number) static NOINLINE void way##number(int n) { outer(n); sink = number; }
#define TEN(tens) WAY(tens##0) WAY(tens##1) WAY(tens##2) WAY(tens##3) WAY(tens##4) \
                  WAY(tens##5) WAY(tens##6) WAY(tens##7) WAY(tens##8) WAY(tens##9)
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)

#define NAMES(tens) way##tens##0, way##tens##1, way##tens##2, way##tens##3, way##tens##4, \
                    way##tens##5, way##tens##6, way##tens##7, way##tens##8, way##tens##9
static void (*const ways[WAYS])(int) = {NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5),
                                        NAMES(6), NAMES(7), NAMES(8), NAMES(9), NAMES(10)};

static void *work(void *argument) {
    static int next;
    for (;;) {
        int number = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
        if (setjmp(place) == 0)
            ways[number % WAYS](number);
    }
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    while (__atomic_load_n(&jumps, __ATOMIC_RELAXED) < 12)
        continue;
    raise(SIGTERM);
    return 0;
}
