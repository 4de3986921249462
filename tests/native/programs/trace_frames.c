/* Frames that are left without returning, signal handlers, stacks and processes: beside their records, functions print
 * to which addresses their calls return. */
#define _GNU_SOURCE
#include "trace_probes.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif
#include <unistd.h>

/* Functions by number; their first regions have the symbol of the same number. */
enum { MAIN, NEST, ACTION, HANDLER, CHILD, OTHER };

#define PERSONALITY() __asm__ volatile(".cfi_personality 0x1b, __trodden_personality")

static volatile int sink;
static int quiet;
static sigjmp_buf target;

static void say(const char *what, const void *address) {
    if (!quiet)
        printf("%s %p\n", what, address);
}

#define RETURNS_TO(what) say(what, __builtin_return_address(0))

__attribute__((noinline)) static void nest(int depth, void (*action)(void)) {
    PERSONALITY();
    ENTER(NEST);
    RETURNS_TO("nest");
    SYMBOL(NEST, NEST, 3);
    if (depth)
        nest(depth - 1, action);
    else
        action();
    SYMBOL(100 + NEST, NEST, 5);
    sink++;
}

/* ---- jumps ---- */
__attribute__((noinline)) static void jump(void) {
    ENTER(ACTION);
    RETURNS_TO("action");
    siglongjmp(target, 1);
}

__attribute__((noinline)) static void jump_after(int depth, int times) {
    for (int i = 0; i < times; i++) {
        if (sigsetjmp(target, 0) == 0) {
            SYMBOL(10, MAIN, 3);
            nest(depth, jump);
        }
        SYMBOL(11, MAIN, 5);
    }
}

/* ---- threads ---- */
__attribute__((noinline)) static void leave_thread(void) {
    PERSONALITY();
    ENTER(ACTION);
    RETURNS_TO("action");
    pthread_exit(NULL);
}

static sem_t waiting;

static void wait_here(void) {
    PERSONALITY();
    ENTER(ACTION);
    RETURNS_TO("action");
    sem_post(&waiting);
    for (;;)
        pause();
}

static void *exits(void *unused) {
    PERSONALITY();
    ENTER(OTHER);
    SYMBOL(OTHER, OTHER, 3);
    nest(2, leave_thread);
    return unused;
}

static void *waits(void *unused) {
    PERSONALITY();
    ENTER(OTHER);
    SYMBOL(OTHER, OTHER, 3);
    nest(2, wait_here);
    return unused;
}

static void threads(int cancel) {
    pthread_t id;
    pthread_create(&id, NULL, cancel ? waits : exits, NULL);
    if (cancel) {
        while (sem_wait(&waiting) != 0)
            ;
        pthread_cancel(id);
    }
    pthread_join(id, NULL);
}

/* ---- signals ---- */
static int jumps_out, nests, silent;

static void handle(int number) {
    if (silent)
        return;
    ENTER(HANDLER);
    SYMBOL(number, HANDLER, 3);
    if (nests && number == SIGUSR1) {
        raise(SIGUSR2);
        SYMBOL(100 + number, HANDLER, 5);
    }
    if (jumps_out && (number == SIGUSR2 || !nests))
        siglongjmp(target, 1);
    SYMBOL(50 + number, HANDLER, 7);
}

static void install(int flags) {
    struct sigaction action = {.sa_flags = flags};
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
}

static void raise_one(void) {
    ENTER(ACTION);
    raise(SIGUSR1);
    SYMBOL(20, ACTION, 5);
}

static void signals(int times) {
    for (int i = 0; i < times; i++) {
        if (sigsetjmp(target, 1) == 0)
            nest(1, raise_one);
        SYMBOL(11, MAIN, 5);
    }
}

/* A store that a signal interrupts: its record is there, but the cursor is not behind it yet. */
static void between_store_and_advance(void) {
    uint8_t *at = __trodden_trace.next;
    *(volatile uint8_t *)at = 30 + 1;
    raise(SIGUSR1);
    ADVANCE(1, MAIN, 5);
    SYMBOL(31, MAIN, 5);
}

/* ---- stacks ---- */
#ifdef __GLIBC__
static ucontext_t here, there;

__attribute__((noinline)) static void go_back(void) {
    ENTER(ACTION);
    RETURNS_TO("back");
    swapcontext(&there, &here);
    SYMBOL(40, ACTION, 5);
}

static void other_stack(void) {
    ENTER(OTHER);
    nest(1, go_back);
    SYMBOL(41, OTHER, 5);
}

__attribute__((noinline)) static void go_there(void) {
    ENTER(CHILD);
    RETURNS_TO("there");
    swapcontext(&here, &there);
    SYMBOL(42, CHILD, 5);
}

static void stacks(void) {
    static char stack[1 << 18];
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, other_stack, 0);
    go_there();
    go_there();
}
#else
static void stacks(void) {}
#endif

/* ---- processes ---- */
__attribute__((noinline)) static void make_child(void) {
    ENTER(ACTION);
    RETURNS_TO("action");
    fflush(stdout);
    pid_t child = fork();
    SYMBOL(child ? 60 : 61, ACTION, 5);
    if (child)
        waitpid(child, NULL, 0);
    else
        quiet = 1;
    SYMBOL(child ? 62 : 63, ACTION, 7);
}

static void fork_in_handler(int number) {
    ENTER(HANDLER);
    SYMBOL(number, HANDLER, 3);
    pid_t child = fork();
    SYMBOL(child ? 60 : 61, HANDLER, 5);
    if (child)
        waitpid(child, NULL, 0);
}

static char *no_arguments[] = {"no-such-program", NULL};

__attribute__((noinline)) static void leave_by_exec(void) {
    ENTER(ACTION);
    RETURNS_TO("action");
    execv("./no-such-program", no_arguments);
    SYMBOL(70, ACTION, 5);
    _exit(0);
}

/* It is not refused before the kernel has seen it. */
static void make_no_program(void) {
    FILE *file = fopen("no-such-program", "w");
    fputs("neither a program nor a script", file);
    fclose(file);
    chmod("no-such-program", 0755);
}

static void share_memory(void) {
    fflush(stdout);
    quiet = 1;
    pid_t child = vfork();
    if (!child) {
        SYMBOL(71, MAIN, 5);
        nest(1, leave_by_exec);
    }
    SYMBOL(72, MAIN, 5);
    waitpid(child, NULL, 0);
    quiet = 0;
}

int main(int argc, char **argv) {
    const char *mode = argv[1];
    int number = argc > 2 ? atoi(argv[2]) : 0, times = argc > 3 ? atoi(argv[3]) : 1;
    ENTER(MAIN);
    quiet = argc > 4;
    STEP(0);
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    if (strcmp(mode, "jump") == 0) {
        jump_after(number, times);
    } else if (strcmp(mode, "exit") == 0) {
        threads(0);
    } else if (strcmp(mode, "cancel") == 0) {
        threads(1);
    } else if (strcmp(mode, "signal") == 0) {
        install(0);
        signals(times);
    } else if (strcmp(mode, "alternate") == 0) {
        sigaltstack(&stack, NULL);
        install(SA_ONSTACK);
        signals(times);
    } else if (strcmp(mode, "nested") == 0) {
        nests = 1;
        install(0);
        signals(times);
    } else if (strcmp(mode, "out") == 0 || strcmp(mode, "alternate-out") == 0) {
        jumps_out = 1;
        sigaltstack(&stack, NULL);
        install(*mode == 'a' ? SA_ONSTACK : 0);
        signals(times);
    } else if (strcmp(mode, "nested-out") == 0) {
        jumps_out = nests = 1;
        install(0);
        signals(times);
    } else if (strcmp(mode, "silent") == 0) {
        silent = 1;
        install(0);
        signals(times);
    } else if (strcmp(mode, "between") == 0) {
        install(0);
        between_store_and_advance();
    } else if (strcmp(mode, "between-out") == 0) {
        jumps_out = 1;
        install(0);
        if (sigsetjmp(target, 1) == 0)
            between_store_and_advance();
        SYMBOL(11, MAIN, 5);
    } else if (strcmp(mode, "stacks") == 0) {
        stacks();
    } else if (strcmp(mode, "fork") == 0) {
        nest(1, make_child);
    } else if (strcmp(mode, "handler-fork") == 0) {
        signal(SIGUSR1, fork_in_handler);
        between_store_and_advance();
    } else if (strcmp(mode, "vfork") == 0) {
        make_no_program();
        share_memory();
    } else if (strcmp(mode, "exec") == 0) {
        make_no_program();
        nest(0, leave_by_exec);
    }
    SYMBOL(99, MAIN, 7);
    fflush(stdout);
    return 0;
}
