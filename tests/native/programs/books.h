/* A program's own books: how often each line that says HIT() was executed.

   HIT() stands alone on its line.  BOOK numbers the file it is in; BOOKKEEPER is defined in one unit. */
#ifndef BOOKS_H
#define BOOKS_H
#include <stdio.h>

#define BOOK_FILES 4
#define BOOK_LINES 512

#ifdef __cplusplus
extern "C" {
#endif
extern volatile unsigned long books[BOOK_FILES][BOOK_LINES];

#ifdef BOOKKEEPER
volatile unsigned long books[BOOK_FILES][BOOK_LINES];

/* After the destructors of static objects, and after all handlers of exit. */
__attribute__((destructor)) static void show_books(void) {
    for (int file = 0; file < BOOK_FILES; file++)
        for (int line = 0; line < BOOK_LINES; line++)
            if (books[file][line])
                printf("%d:%d=%lu\n", file, line, books[file][line]);
}
#endif
#ifdef __cplusplus
}
#endif

#define HIT() (books[BOOK][__LINE__] = books[BOOK][__LINE__] + 1)
#endif
