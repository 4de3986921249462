/* Loads a library while a thread runs; that thread, the first one and a later one run paths in the library. */
#include <dlfcn.h>
#include <pthread.h>

static int (*choose_one)(int);
static volatile int sum;
static pthread_barrier_t begun, loaded;

__attribute__((no_profile_instrument_function)) static void *early(void *given) {
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&loaded);
    for (int i = 0; i < 20; i++)
        choose_one(i);
    return given;
}

__attribute__((no_profile_instrument_function)) static void *late(void *given) {
    for (int i = 0; i < 40; i++)
        choose_one(i);
    return given;
}

__attribute__((noinline)) static int twice(int i) { return i < 3 ? 0 : 2 * i; }

__attribute__((no_profile_instrument_function)) int main(int argc, char **argv) {
    pthread_t first, second;
    pthread_barrier_init(&begun, 0, 2);
    pthread_barrier_init(&loaded, 0, 2);
    pthread_create(&first, 0, early, 0);
    pthread_barrier_wait(&begun);
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    if (!library)
        return 90;
    *(void **)&choose_one = dlsym(library, "choose_one");
    for (int i = 0; i < 10; i++)
        sum += choose_one(i) ? twice(i) : 0;
    pthread_barrier_wait(&loaded);
    pthread_join(first, 0);
    pthread_create(&second, 0, late, 0);
    pthread_join(second, 0);
    return 5;
}
