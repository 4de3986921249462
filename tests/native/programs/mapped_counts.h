/* Reference counts that survive any end of the process: how often each line with HIT() was executed.

   They lie in a file (MAPPED_COUNTS) that is mapped shared.  Every process has a page of its own for each of its files
   (FILE_NUMBER), whatever programs it executes.  HIT() stands alone on its line, in the block that it counts. */
#ifndef MAPPED_COUNTS_H
#define MAPPED_COUNTS_H
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef FILE_NUMBER
#define FILE_NUMBER 0
#endif

enum { MAPPED_PAGES = 256, MAPPED_LINES = 511 };

struct counts_page {
    unsigned long owner;
    unsigned long hits[MAPPED_LINES];
};

static struct counts_page *counts_pages, *volatile own_page; /* `volatile`: it is read where it is used */

static void claim_page(void) {
    unsigned long own = (unsigned long)getpid() << 8 | FILE_NUMBER;
    for (int i = 0; i < MAPPED_PAGES; i++) {
        unsigned long seen = 0;
        if (__atomic_compare_exchange_n(&counts_pages[i].owner, &seen, own, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
            seen == own) {
            own_page = &counts_pages[i];
            return;
        }
    }
    abort();
}

__attribute__((constructor(101))) static void map_counts(void) {
    const char *name = getenv("MAPPED_COUNTS");
    int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    void *pages = mmap(NULL, MAPPED_PAGES * sizeof(struct counts_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED)
        abort();
    close(file);
    counts_pages = (struct counts_page *)pages;
    claim_page();
#ifndef COUNTS_IN_LIBRARY
    pthread_atfork(NULL, NULL, claim_page);
#endif
}

#define HIT() __atomic_fetch_add(&own_page->hits[__LINE__], 1, __ATOMIC_RELAXED)
#define NOINLINE __attribute__((noinline))
#endif
