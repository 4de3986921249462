/* How many mappings of memory the process has for each of its threads. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 256 };
static pthread_barrier_t started, ended;

static int mappings(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    int lines = 0, byte;
    while ((byte = getc(file)) != EOF)
        lines += byte == '\n';
    fclose(file);
    return lines;
}

static void *work(void *argument) {
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&ended);
    return argument;
}

int main(void) {
    static pthread_t threads[THREADS];
    pthread_barrier_init(&started, NULL, THREADS + 1);
    pthread_barrier_init(&ended, NULL, THREADS + 1);
    int before = mappings();
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    pthread_barrier_wait(&started);
    printf("%.1f\n", (double)(mappings() - before) / THREADS);
    pthread_barrier_wait(&ended);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
