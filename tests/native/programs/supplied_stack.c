/* Threads on stacks that the program supplies, with more counters than such a stack has room for. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 256 << 10 };
static char *stack;
static int volatile sink;
static int cleaned;

#define TWO(n)   \
    if ((n) & 1) \
        sink++;  \
    (n) >>= 1;
#define THIRTY_TWO(n) TWO(n) TWO(n) TWO(n) TWO(n) TWO(n)

__attribute__((noinline)) static void many(unsigned n) { THIRTY_TWO(n) THIRTY_TWO(n) THIRTY_TWO(n) }

__attribute__((noinline)) static int deep(int n) {
    volatile char bytes[1000];
    memset((char *)bytes, n, sizeof bytes);
    return n ? deep(n - 1) + bytes[3] : bytes[5];
}

static void cleanup(void *count) { ++*(int *)count; }

static void *work(void *exits) {
    char here;
    pthread_attr_t attributes;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    for (unsigned i = 0; i < 100; i++)
        many(i * 77);
    deep(200);
    printf("%d %d %d\n", &here > stack && &here < stack + SIZE, low == stack, size == SIZE);
    if (exits) {
        pthread_cleanup_push(cleanup, &cleaned);
        pthread_exit((void *)7);
        pthread_cleanup_pop(0);
    }
    return (void *)5;
}

int main(void) {
    stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < 2; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        void *result = NULL;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stack, SIZE);
        int error = pthread_create(&thread, &attributes, work, (void *)i);
        if (error) {
            printf("error %d\n", error);
            return 1;
        }
        pthread_join(thread, &result);
        printf("%ld %d\n", (long)result, cleaned);
    }
    return 0;
}
