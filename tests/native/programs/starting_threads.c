/* Threads that handle a signal as soon as they start, or start while the process exits; the first argument says which. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

extern int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *mask);

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

static void handler(int number) {
    (void)number;
    HIT();
}

static void *returns(void *argument) {
    HIT();
    return argument;
}

static void *exits(void *argument) {
    HIT();
    exit((int)(long)argument);
}

static void *stays(void *argument) {
    HIT();
    for (int i = 0; i < 50; i++)
        HIT();
    for (;;)
        pause();
    return argument;
}

/* The signal is pending, and blocked in all threads but the new one. */
static void with_mask(void) {
    sigset_t signals, none;
    pthread_attr_t attributes;
    pthread_t thread;
    sigemptyset(&none);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &none);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_JOINABLE);
    for (int i = 0; i < 100; i++) {
        HIT();
        kill(getpid(), SIGUSR1);
        pthread_create(&thread, &attributes, returns, NULL);
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attributes);
}

static void with_timer(void) {
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 500; i++) {
        pthread_t threads[4];
        HIT();
        for (int k = 0; k < 4; k++)
            pthread_create(&threads[k], NULL, returns, NULL);
        for (int k = 0; k < 4; k++)
            pthread_join(threads[k], NULL);
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

static void while_exiting(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, exits, (void *)7L);
    for (int i = 0; i < 20; i++)
        pthread_create(&thread, NULL, stays, NULL);
    for (;;)
        pause();
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    signal(SIGUSR1, handler);
    signal(SIGALRM, handler);
    if (is(mode, "mask"))
        with_mask();
    if (is(mode, "timer"))
        with_timer();
    if (is(mode, "exit"))
        while_exiting();
    return 7;
}
