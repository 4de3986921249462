/* Crashes behind branches that no call and no loop ends: argv[1] is a file for the numbers of all lines with MARK(), in
   their order, argv[2] how often to go round before, argv[3] how it ends.  "fault": by the fault; "handler": its handler
   exits; "nested": the handler raises a signal whose handler exits; "returned": another handler has returned before. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 16 };
static int *volatile marks;
/* Assembler with the line in it, so that no two of them are merged. */
#define MARK()                                                                                                         \
    ({                                                                                                                 \
        marks[++marks[0]] = __LINE__;                                                                                  \
        __asm__ volatile("# %0" : : "i"(__LINE__) : "memory");                                                         \
    })

static unsigned state = 1;
static volatile int one = 1, *volatile none;

static unsigned roll(unsigned n) {
    state = state * 1103515245 + 12345;
    return (state >> 16) % n;
}

static void ends(int number) {
    if (number == SIGUSR2)
        MARK();
    else
        MARK();
    _exit(5);
}

static void raises(int number) {
    if (number == SIGSEGV)
        MARK();
    else
        MARK();
    raise(SIGUSR2);
}

static void returns(int number) {
    if (number)
        MARK();
}

__attribute__((noinline)) static int walk(unsigned ways, int last) {
    int sum = 0;
    MARK();
    if (ways & 1)
        MARK();
    else
        MARK();
    if (ways & 2)
        MARK();
    switch (ways >> 2 & 3) {
    case 0:
        MARK();
        break;
    case 1:
        MARK();
        break;
    default:
        MARK();
    }
    if (ways & 16)
        MARK();
    else
        MARK();
    MARK();
    sum += *(last ? none : &one);
    return sum;
}

int main(int argc, char **argv) {
    int file = open(argv[1], O_RDWR), sum = 0, rounds = atoi(argv[2]);
    const char *how = argv[argc - 1];
    marks = mmap(NULL, MOST * sizeof *marks, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (!strcmp(how, "handler"))
        signal(SIGSEGV, ends);
    if (!strcmp(how, "nested")) {
        signal(SIGSEGV, raises);
        signal(SIGUSR2, ends);
    }
    if (!strcmp(how, "returned")) {
        signal(SIGUSR1, returns);
        raise(SIGUSR1);
    }
    state = (unsigned)rounds;
    for (int i = 0; i < rounds; i++)
        sum += walk(roll(32), i == rounds - 1);
    return sum;
}
