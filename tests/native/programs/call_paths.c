/* Call paths in C: recursion, pointers, callbacks, tail calls, longjmp, signals, threads, a library and a child. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_path_log.h"

long library_work(long (*callback)(long), long number);

typedef long function(long);
static volatile long sink;

LOGGED long leaf(long n) {
    ENTER("leaf");
    sink += n;
    LEAVE();
    return n + 1;
}

LOGGED long other_leaf(long n) {
    ENTER("other_leaf");
    sink -= n;
    LEAVE();
    return n + 2;
}

/* ---- recursion ---- */
LOGGED long factorial(long n) {
    ENTER("factorial");
    long result = n < 2 ? leaf(n) : n * factorial(n - 1);
    if (n == 3)
        result += leaf(result);
    LEAVE();
    return result;
}

LOGGED long odd(long n);

LOGGED long even(long n) {
    ENTER("even");
    long result = n == 0 ? leaf(1) : odd(n - 1) + 1;
    result += other_leaf(n);
    LEAVE();
    return result;
}

LOGGED long odd(long n) {
    ENTER("odd");
    long result = n == 0 ? leaf(0) : even(n - 1) + 1;
    if (n > 3)
        result += factorial(2);
    LEAVE();
    return result;
}

/* ---- pointers and callbacks ---- */
LOGGED long through(function *const *functions, long n) {
    ENTER("through");
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += functions[i % 5](i % 4);
    LEAVE();
    return sum;
}

LOGGED int compare(const void *a, const void *b) {
    ENTER("compare");
    long x = *(const long *)a, y = *(const long *)b;
    int result = (x > y) - (x < y);
    if (x % 2)
        leaf(x);
    LEAVE();
    return result;
}

LOGGED long sorting(void) {
    ENTER("sorting");
    long numbers[16];
    for (int i = 0; i < 16; i++)
        numbers[i] = i * 7 % 16;
    qsort(numbers, 16, sizeof *numbers, compare);
    leaf(numbers[3]);
    LEAVE();
    return numbers[0];
}

/* ---- tail calls: a function that gives up its frame has been left ---- */
LOGGED long hands_over_2(long n);

LOGGED long hands_over(long n) {
    ENTER("hands_over");
    leaf(n);
    LEAVE();
    if (n == 0)
        return 5;
    __attribute__((musttail)) return hands_over_2(n - 1);
}

LOGGED long hands_over_2(long n) {
    ENTER("hands_over_2");
    LEAVE();
    if (n > 100000)
        __attribute__((musttail)) return other_leaf(n);
    if (n <= 0)
        __attribute__((musttail)) return leaf(n);
    __attribute__((musttail)) return hands_over(n - 1);
}

/* ---- longjmp ---- */
static jmp_buf outer_place, inner_place;

LOGGED long jumps(long n) {
    ENTER("jumps");
    leaf(n);
    if (n % 3 == 0)
        longjmp(inner_place, 1);
    if (n % 5 == 0)
        longjmp(outer_place, 1);
    LEAVE();
    return n;
}

LOGGED long on_the_way(long n) {
    ENTER("on_the_way");
    long result = n % 2 ? jumps(n) : jumps(n + 1) + factorial(3);
    LEAVE();
    return result;
}

LOGGED long lands(long n) {
    ENTER("lands");
    struct call_path own = current_path;
    volatile long result = 0;
    if (setjmp(inner_place) == 0) {
        result = on_the_way(n);
    } else {
        restore_path(&own);
        result = leaf(n);
    }
    other_leaf(result);
    LEAVE();
    return result;
}

LOGGED long lands_outside(long n) {
    ENTER("lands_outside");
    struct call_path own = current_path;
    volatile long i = 0, result = 0;
    if (setjmp(outer_place) != 0) {
        restore_path(&own);
        other_leaf(i);
    }
    while (i < n)
        result += lands(i++);
    LEAVE();
    return result;
}

/* Code without probes that functions with probes jump into, and that continues to call. */
NO_PROBES long protected_calls(long n) {
    struct call_path own = current_path;
    volatile long failed = 0, i = 0;
    if (setjmp(inner_place) != 0) {
        restore_path(&own);
        failed++;
        leaf(failed);
    }
    while (i < n) {
        i++;
        on_the_way(i % 2 ? 3 : 7);
        other_leaf(i);
    }
    return failed;
}

LOGGED long guards(long n) {
    ENTER("guards");
    long result = protected_calls(n);
    leaf(result);
    LEAVE();
    return result;
}

/* ---- signals ---- */
static jmp_buf signal_place;

LOGGED void handler(int number) {
    ENTER("handler");
    leaf(number);
    if (number == SIGUSR2)
        siglongjmp(signal_place, 1);
    LEAVE();
}

LOGGED long raises(int number) {
    ENTER("raises");
    struct call_path own = current_path;
    if (sigsetjmp(signal_place, 1) == 0)
        raise(number);
    restore_path(&own);
    other_leaf(number);
    LEAVE();
    return number;
}

/* ---- threads ---- */
static int waiting;

LOGGED void *thread(void *argument) {
    ENTER("thread");
    long n = (long)argument;
    factorial(n % 4);
    even(n % 6);
    if (n % 7 == 3)
        pthread_exit(NULL);
    if (n == 1000) {
        __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);
        for (;;)
            pause();
    }
    LEAVE();
    return argument;
}

LOGGED void threads(void) {
    ENTER("threads");
    pthread_t ids[8], last;
    for (long round = 0; round < 10; round++) {
        for (long i = 0; i < 8; i++)
            pthread_create(&ids[i], NULL, thread, (void *)(round * 8 + i));
        for (long i = 0; i < 8; i++)
            pthread_join(ids[i], NULL);
    }
    pthread_create(&last, NULL, thread, (void *)1000);
    while (!__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
        usleep(1000);
    LEAVE();
}

/* ---- a child: it counts from zero, but stays at its node ---- */
LOGGED void child_works(long n) {
    ENTER("child_works");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        reset_log();
    factorial(n);
    if (child == 0) {
        leaf(1);
        print_log();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    LEAVE();
}

LOGGED long called_back(long n) {
    ENTER("called_back");
    long result = leaf(n) + (n > 2 ? library_work(leaf, n - 2) : 0);
    LEAVE();
    return result;
}

LOGGED void at_the_end(void) {
    ENTER("at_the_end");
    leaf(0);
    LEAVE();
    print_log();
}

int main(void) {
    ENTER("main");
    static function *const functions[] = {leaf, other_leaf, factorial, even, hands_over};
    atexit(at_the_end);
    signal(SIGUSR1, handler);
    signal(SIGUSR2, handler);
    for (int i = 0; i < 3; i++)
        factorial(i + 4);
    even(9);
    odd(4);
    through(functions, 2000);
    sorting();
    hands_over(11);
    hands_over_2(8);
    lands_outside(40);
    guards(12);
    for (int i = 0; i < 5; i++)
        raises(i % 2 ? SIGUSR1 : SIGUSR2);
    threads();
    child_works(5);
    library_work(called_back, 5);
    LEAVE();
    /* The exit of the process does not return from main. */
    restore_path(&(struct call_path){1, {"main"}});
    leaf(sink & 1);
    exit(21);
}
