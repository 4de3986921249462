/* Eight threads in the same functions, each with counts of its own that are added up at the end. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <pthread.h>

#define THREADS 8
#define LOOPS 100000

static _Thread_local volatile unsigned long mine[COUNTED_LINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#undef HIT
#define HIT() (mine[__LINE__] = mine[__LINE__] + 1)

static int step(int value) {
    if (value % 7 == 3) {
        HIT();
        return 1;
    }
    HIT();
    return value & 3;
}

static void add_up(void) {
    pthread_mutex_lock(&lock);
    for (int line = 0; line < COUNTED_LINES; line++)
        line_counts[0][line] = line_counts[0][line] + mine[line];
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument) {
    long number = (long)argument, sum = 0;
    for (int i = 0; i < LOOPS; i++) {
        HIT();
        sum += step(i + (int)number);
        if (sum % 10 == 0) {
            HIT();
            sum += 1;
        }
    }
    add_up();
    return (void *)sum;
}

int main(void) {
    pthread_t threads[THREADS];
    long sum = 0;
    for (long i = 0; i < THREADS; i++) {
        HIT();
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        HIT();
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    HIT();
    add_up();
    return (int)(sum % 50);
}
