/* A program's own books, where no end of it can take them away: how often each line that says HIT() was executed.

   They lie in a file (LEDGER) that is mapped shared.  Every process has a page of its own for each of its files
   (BOOK), whatever programs it becomes.  HIT() stands alone on its line, in the block that it counts. */
#ifndef LEDGER_H
#define LEDGER_H
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef BOOK
#define BOOK 0
#endif

enum { LEDGER_PAGES = 256, LEDGER_LINES = 511 };

struct ledger_page {
    unsigned long owner;
    unsigned long hits[LEDGER_LINES];
};

static struct ledger_page *ledger_pages, *volatile ledger_own; /* `volatile`: it is read where it is used */

static void ledger_claim(void) {
    unsigned long own = (unsigned long)getpid() << 8 | BOOK;
    for (int i = 0; i < LEDGER_PAGES; i++) {
        unsigned long seen = 0;
        if (__atomic_compare_exchange_n(&ledger_pages[i].owner, &seen, own, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
            seen == own) {
            ledger_own = &ledger_pages[i];
            return;
        }
    }
    abort();
}

__attribute__((constructor(101))) static void ledger_open(void) {
    const char *name = getenv("LEDGER");
    int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    void *pages = mmap(NULL, LEDGER_PAGES * sizeof(struct ledger_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED)
        abort();
    close(file);
    ledger_pages = (struct ledger_page *)pages;
    ledger_claim();
#ifndef LEDGER_IN_LIBRARY
    pthread_atfork(NULL, NULL, ledger_claim);
#endif
}

#define HIT() __atomic_fetch_add(&ledger_own->hits[__LINE__], 1, __ATOMIC_RELAXED)
#define APART __attribute__((noinline))
#endif
