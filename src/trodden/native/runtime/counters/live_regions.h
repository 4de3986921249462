/* Memory in the live file (live_file.c, live_regions.c, live_fork.c). */
#ifndef TRODDEN_COUNTERS_LIVE_REGIONS_H
#define TRODDEN_COUNTERS_LIVE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "counters/live_file.h"
#include "platform/attributes.h"

void trodden_live_init(void);

/* Zeroed memory in whole pages, or NULL.  Needs no lock, and may be called from signal handlers. */
void *trodden_live_alloc(enum trodden_region_kind kind, uint32_t module, size_t bytes);
PROCESS_WIDE void *__trodden_keep(uint32_t kind, uint32_t module, size_t bytes);
/* For the leader: `count` regions of so many bytes each, one behind the other; the process has one mapping for all. */
void *trodden_live_alloc_adjacent(uint32_t kind, uint32_t module, size_t bytes, uint32_t count);
void trodden_live_free(void *memory, size_t bytes);
PROCESS_WIDE void __trodden_release(void *memory, size_t bytes);

uint64_t trodden_live_offset(const void *memory);
/* The first offset from this one on at which the file has data; this one itself, if that cannot be determined. */
uint64_t trodden_live_next_data(uint64_t offset);
/* Maps the same pages at `target`, too. */
bool trodden_live_map_alias(void *memory, uint64_t offset, size_t bytes, void *target);
/* A page of a region that has been lost: what takes its place is prepared elsewhere. */
struct trodden_lost_page {
    uint32_t kind;
    uint8_t *region;
    size_t region_bytes, offset; /* `offset`: of the page in the region */
    void *memory;                /* its new content: zeros, so far */
    size_t bytes;
};

/* Handles a SIGBUS at this address: true if it was in a page of the live file that the disk had no space for, and
 * that anonymous memory has replaced. */
bool trodden_live_replace_page(uintptr_t address);

/* If something has truncated the file, the process says so from now on: what it lacks would be taken for zeros. */
void trodden_live_notice_truncation(void);
/* Gives back the space of counters that are zero: the process is about to end. */
void trodden_live_free_zero_pages(void);
/* What the live file says of the process. */
void trodden_live_set_state(enum trodden_live_state state, uint32_t signal);
void trodden_live_mark(uint32_t flag); /* TRODDEN_LIVE_* */
/* Some counts, paths or frames could not be recorded. */
void trodden_mark_incomplete(void);
PROCESS_WIDE void __trodden_incomplete(void);
/* ---- live_family.c ---- */
/* The raw file of a process without a file has been written: nobody has to name the process. */
void trodden_live_withdraw(void);
/* May the live file be replaced?  False: other processes count in it, or are named by it. */
bool trodden_live_close_family(void);
/* The process ends, and has written its counts elsewhere: the file is left to these. */
void trodden_live_leave_to_family(void);
/* Privileges, or the way to the file, are about to be lost: its descriptor is kept open. */
void trodden_live_hold(void);
/* They are lost: programs that are executed from now on inherit the descriptor. */
void trodden_live_pass_on(void);
bool trodden_live_exists(void); /* does this process count in a file? */
bool trodden_live_is(const struct stat *status); /* is that the live file? */
bool trodden_live_is_at(const char *path);
int trodden_live_inherited(void); /* the descriptor of a live file that another program has left open, or -1 */
bool trodden_live_has_name(void);          /* has it not been removed, as far as that is known? */

/* Frees the frames that were saved for the end of the process, which continues after all. */
void trodden_live_discard_end(void);
size_t trodden_round_to_pages(size_t bytes);

void trodden_live_before_fork(void);
void trodden_live_wait_for_child(void); /* in the parent */
void trodden_live_after_fork(void);     /* in the child */

#endif
