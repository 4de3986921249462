/* Killed by a signal in poke, while one thread waits and another works. */
#include <pthread.h>
#include <unistd.h>

static volatile int sink;
static int *volatile nowhere;
static volatile int ready;

__attribute__((noinline)) static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3)
            sum += i;
        else
            sum -= 1;
        sink = sum;
    }
    return sum;
}

__attribute__((noinline)) static int poke(int n) {
    int sum = work(n);
    if (n > 3) {
        sum += *nowhere;
        sink = sum;
    }
    return sum + 1;
}

static void *waits(void *given) {
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
    return given;
}

static void *works(void *given) {
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        sink = work(1000);
    return given;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, waits, NULL);
    pthread_create(&second, NULL, works, NULL);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2)
        usleep(1000);
    usleep(20000);
    for (int i = 0; i < 10; i++)
        sink = poke(i);
    return 0;
}
