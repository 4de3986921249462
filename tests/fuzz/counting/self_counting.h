/* What random programs are made of: their own counts, a log of the lines that each activation passes, and the ways to
   leave functions.

   HIT() counts its line, also in the child of a fork.  MARK() also adds the line to the log (TRACE_FILE), under the number
   of the activation that ENTER() has given to the function.

   HIT() also adds its line to the sequence of its thread (SEQUENCES): what the thread has executed, in order. */
#ifndef SELF_COUNTING_H
#define SELF_COUNTING_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "mapped_counts.h"
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#ifdef __cplusplus
#include <stdexcept>
#endif

/* The lines that a thread has executed.  In the child of a fork the thread that forked has another one. */
enum { SEQUENCES = 128, SEQUENCE_LINES = 1 << 18 };
struct sequence {
    unsigned long owner, number;
    unsigned short lines[SEQUENCE_LINES];
};
struct sequences {
    unsigned long claimed, unused[511];
    struct sequence of[SEQUENCES];
};

/* All files of the program share it. */
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak, visibility("default"))) __thread struct sequence *own_sequence = NULL;
#ifdef __cplusplus
}
#endif
static struct sequences *sequences;

/* Instructions of which no optimiser knows enough to merge two of them.  A signal handler may come in between. */
#undef HIT
#define HIT()                                                                                                         \
    __extension__({                                                                                                   \
        unsigned long at_ = 1;                                                                                        \
        __asm__ volatile("lock incq %0\n\txaddq %1, %2\n\tandl %4, %k1\n\tmovw %5, (%3,%1,2)"                        \
                         : "+m"(own_page->hits[__LINE__]), "+&r"(at_), "+m"(own_sequence->number)                     \
                         : "r"(own_sequence->lines), "i"(SEQUENCE_LINES - 1),                                         \
                           "i"((short)(FILE_NUMBER << 15 | __LINE__))                                                 \
                         : "memory", "cc");                                                                           \
    })

enum { TOO_LONG = 99, TRACE_RECORDS = 1 << 18, DEEPEST = 8, PART_FUNCTIONS = 3, OWN_FUNCTIONS = 4 };

struct trace {
    unsigned long next, activations, fuel, forks, spawns;
    unsigned long records[TRACE_RECORDS];
};

/* Where a jump goes: all files of the program share it. */
struct jumps {
    volatile int level;
    sigjmp_buf buffers[DEEPEST];
};

/* What the second file offers to the first, which may have loaded it. */
struct part {
    struct jumps *(*state)(void);
    int (*functions[PART_FUNCTIONS])(int);
    int (**callbacks)(int);
};

static struct trace *volatile trace;
static __thread unsigned long seed = SEED;
static __thread volatile int recursions, flip;
static volatile int one = 1;
static volatile int *volatile none;

__attribute__((constructor(102))) static void map_trace(void) {
    int file = open(getenv("TRACE_FILE"), O_RDWR | O_CLOEXEC);
    void *place = mmap(NULL, sizeof(struct trace), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place == MAP_FAILED)
        abort();
    close(file);
    trace = (struct trace *)place;
}

/* Before a thread executes a line with HIT(), in its own code or in a handler. */
static __attribute__((unused)) void claim_sequence(void) {
    unsigned long number = __atomic_fetch_add(&sequences->claimed, 1, __ATOMIC_SEQ_CST);
    struct sequence *claimed = &sequences->of[number < SEQUENCES ? number : SEQUENCES - 1];
    claimed->owner = (unsigned long)getpid();
    own_sequence = claimed;
}

static __attribute__((unused)) void need_sequence(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (!own_sequence)
        claim_sequence();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#if FILE_NUMBER == 0
__attribute__((constructor(103))) static void map_sequences(void) {
    int file = open(getenv("SEQUENCES"), O_RDWR | O_CLOEXEC);
    void *place = mmap(NULL, sizeof(struct sequences), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place == MAP_FAILED)
        abort();
    close(file);
    sequences = (struct sequences *)place;
    claim_sequence();
    pthread_atfork(NULL, NULL, claim_sequence);
}
#endif

/* Calls that no exception leaves. */
#define SURE __attribute__((nothrow))

#define ENTER() const unsigned long activation = __atomic_add_fetch(&trace->activations, 1, __ATOMIC_RELAXED)
#define MARK()                                                                                                        \
    (HIT(), __atomic_store_n(&trace->records[__atomic_fetch_add(&trace->next, 1, __ATOMIC_RELAXED) % TRACE_RECORDS],  \
                             activation << 24 | FILE_NUMBER << 16 | __LINE__, __ATOMIC_RELAXED))

__attribute__((noreturn, noinline)) static void gone(int way);

/* All processes and threads together have an amount of fuel; without any, functions of jumps go forward only.  A program
   that goes on for long nevertheless ends in the middle. */
static int fuelled(void) SURE;
static int roll(int n) SURE;
static int pick(int n) SURE;
static int fuelled(void) {
    unsigned long used = __atomic_fetch_add(&trace->fuel, 1, __ATOMIC_RELAXED);
    if (used > 20 * FUEL)
        gone(TOO_LONG);
    return used < FUEL;
}

static int roll(int n) {
    fuelled();
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (int)((seed >> 33) % (unsigned)n);
}

/* Like roll, but the last choice without fuel. */
static int pick(int n) { return fuelled() ? roll(n) : n - 1; }

static __attribute__((unused)) int allowed(unsigned long *used, unsigned long most) {
    return __atomic_fetch_add(used, 1, __ATOMIC_SEQ_CST) < most;
}

static void stop_timer(void) {
    struct itimerval never;
    memset(&never, 0, sizeof never);
    setitimer(ITIMER_REAL, &never, NULL);
}

/* A call that does not leave its function, which has started threads and has to wait for them.  (A child of a fork cannot:
   it has only the thread that forked.) */
#ifdef __cplusplus
#define STAYING(call) try { depth++, call, depth--; } catch (...) { depth--; }
#else
#define STAYING(call) if (depth < DEEPEST && sigsetjmp(stack[depth], 0) == 0) depth++, call, depth--
#endif

/* Ends the process; where threads run, only what was counted so far is known, and the status says so. */
static void gone(int way) {
    stop_timer();
    if (!GOING)
        _exit(TOO_LONG);
    GONE;
    _exit(way);
}
#endif
