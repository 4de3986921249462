/* The raw file (raw_file.c). */
#ifndef TRODDEN_PROCESS_RAW_FILE_H
#define TRODDEN_PROCESS_RAW_FILE_H

#include "unwind/registers.h"

enum trodden_write {
    TRODDEN_WRITE_SO_FAR,
    TRODDEN_WRITE_FINAL, /* the process exits: there is no other write */
    TRODDEN_WRITE_LAST,  /* and it does nothing else: no signal handler runs any more, whose counts would come too late */
};

/* Writes the counts so far and all active frames. */
void trodden_write_raw_file(const struct trodden_regs *regs, enum trodden_write moment);

#endif
