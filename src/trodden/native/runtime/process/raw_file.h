/* The raw file (raw_file.c). */
#ifndef TRODDEN_PROCESS_RAW_FILE_H
#define TRODDEN_PROCESS_RAW_FILE_H

#include <stdbool.h>

#include "unwind/registers.h"

/* Writes the counts so far and all active frames.  `complete`: the process exits; `final`: this is the last write. */
void trodden_write_raw_file(const struct trodden_regs *regs, bool complete, bool final);

#endif
