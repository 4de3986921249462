/* Reference counts that a program keeps itself: how often each line with HIT() was executed.

   HIT() stands alone on its line.  FILE_NUMBER numbers the file; one unit defines COUNTS_OWNER. */
#ifndef REFERENCE_COUNTS_H
#define REFERENCE_COUNTS_H
#include <stdio.h>

#define COUNTED_FILES 4
#define COUNTED_LINES 512

#ifdef __cplusplus
extern "C" {
#endif
extern volatile unsigned long line_counts[COUNTED_FILES][COUNTED_LINES];

#ifdef COUNTS_OWNER
volatile unsigned long line_counts[COUNTED_FILES][COUNTED_LINES];

/* Runs after the destructors of static objects, and after all handlers of atexit. */
__attribute__((destructor)) static void print_line_counts(void) {
    for (int file = 0; file < COUNTED_FILES; file++)
        for (int line = 0; line < COUNTED_LINES; line++)
            if (line_counts[file][line])
                printf("%d:%d=%lu\n", file, line, line_counts[file][line]);
}
#endif
#ifdef __cplusplus
}
#endif

#define HIT() (line_counts[FILE_NUMBER][__LINE__] = line_counts[FILE_NUMBER][__LINE__] + 1)
#endif
