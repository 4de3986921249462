/* What the three files of the live file share. */
#ifndef TRODDEN_COUNTERS_LIVE_INTERNAL_H
#define TRODDEN_COUNTERS_LIVE_INTERNAL_H

#include "counters/live_regions.h"

struct trodden_process;

enum { TRODDEN_LIVE_HEADER_BYTES = 4 << 20 };

/* ---- live_file.c: the file itself ---- */
/* The descriptor, if it still refers to the live file; else -1. */
int trodden_live_fd(void);
/* The same, after an attempt to open the file again. */
int trodden_live_reopen(void);
/* From now on there is no live file, and its regions are anonymous memory. */
void trodden_live_abandon(void);
/* Memory at that offset of the file.  If that is not possible, anonymous memory and TRODDEN_NO_OFFSET. */
void *trodden_live_map(int fd, uint64_t *offset, size_t bytes);
struct trodden_live_header *trodden_live_make_header(int fd);
/* Gives a file with a valid header its name. */
void trodden_live_publish(int fd, struct trodden_live_header *live);

/* ---- live_regions.c: the region table ---- */
uint64_t trodden_live_region_count(const struct trodden_live_header *live);
void trodden_live_append_region(struct trodden_live_header *live, uint32_t kind, uint32_t module, void *memory,
                                size_t bytes, uint64_t offset);
/* No other thread adds or frees a region until they are released.  False: this thread has acquired them already.
 * Signals are blocked, so that no handler waits for the thread that it has interrupted. */
bool trodden_live_acquire(struct trodden_process *process, uint64_t *mask);

#endif
