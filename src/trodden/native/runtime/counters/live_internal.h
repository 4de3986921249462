/* What the files of the live file share. */
#ifndef TRODDEN_COUNTERS_LIVE_INTERNAL_H
#define TRODDEN_COUNTERS_LIVE_INTERNAL_H

#include <sys/types.h>

#include "counters/live_regions.h"

struct trodden_process;

enum { TRODDEN_LIVE_HEADER_BYTES = 4 << 20 };
/* Descriptors that are kept open have the highest of so many numbers. */
enum { TRODDEN_MOST_DESCRIPTORS = 1024, TRODDEN_OWN_DESCRIPTORS = 24 };

/* The file that this process counts in.  The program may close descriptors that it has not opened, and open another
 * file with the same number: so the file is identified by its inode. */
struct trodden_counted_file {
    bool exists;
    int fd; /* -1: it is opened when it is needed */
    dev_t device;
    ino_t inode;
    struct trodden_live_header *header; /* the process's own in the file, or NULL */
    uint64_t base;                      /* its offset: 0, unless this is the file of an ancestor */
    size_t reserved;                    /* bytes of it */
    uint64_t end;                       /* so long is the file at least, unless someone has truncated it */
    uint64_t length;                    /* so long it was when it was last looked at */
    struct trodden_live_header *owner;  /* that at the start of the file, or NULL */
    size_t owner_reserved;
    uint64_t seal; /* of that header, as long as nobody has truncated the file */
};
extern struct trodden_counted_file trodden_counted_file;

/* ---- live_file.c: the file itself ---- */
/* The descriptor, if it is kept open and still refers to the live file; else -1. */
int trodden_live_fd(void);
/* The same, after an attempt to open the file; to be passed to trodden_live_close. */
int trodden_live_open(void);
void trodden_live_close(int fd);
/* Another descriptor for a file, to be kept, in place of this one; -1: none is kept. */
int trodden_live_keep_descriptor(int fd);
/* Memory at that offset of the file.  If that is not possible, anonymous memory and TRODDEN_NO_OFFSET. */
void *trodden_live_map(int fd, uint64_t *offset, size_t bytes);
uint64_t trodden_live_next_data_in(int fd, uint64_t offset);
bool trodden_live_is_truncated(uint64_t offset); /* does the file end before that offset? */
bool trodden_live_is_shortened(void);            /* had it been truncated when it was last looked at? */
void trodden_live_look_at(int fd);               /* how long is it now? */
void trodden_live_leave_file(void);              /* nothing is written to it any more; it has been truncated */

/* A header in memory, for a new file. */
struct trodden_live_header *trodden_live_make_header(void);
/* From now on this is the live file.  False: there is none, or no space for its header; it has been closed. */
bool trodden_live_begin(int fd, struct trodden_live_header *live);
void trodden_live_publish(void); /* gives it its name */
/* The same in the file that is described already, behind everything in it. */
bool trodden_live_begin_inside(int fd, struct trodden_live_header *live);
/* Where so many more bytes can be in the file, or TRODDEN_NO_OFFSET. */
uint64_t trodden_live_take_space(size_t bytes);
/* Space in a header at that offset up to its byte `end`; `reserved` says how far it has some. */
bool trodden_live_reserve_header(int fd, uint64_t base, size_t *reserved, size_t end);
/* What has changed in the header or the region table in memory, to the file. */
void trodden_live_write_header(const struct trodden_live_header *live);
/* False: there is no space for it. */
bool trodden_live_write_region(const struct trodden_live_header *live, uint64_t index);
void trodden_live_unmap_header(void);
bool trodden_live_is_header(uintptr_t address); /* is it in the file's header? */

/* ---- live_space.c ---- */
/* Space in the file, which gets longer, never shorter.  False: there is none, or the file has been truncated. */
bool trodden_live_reserve(int fd, uint64_t offset, size_t bytes);

/* ---- live_regions.c: the region table ---- */
uint64_t trodden_live_region_count(const struct trodden_live_header *live);
void trodden_live_append_region(struct trodden_live_header *live, uint32_t kind, uint32_t module, void *memory,
                                size_t bytes, uint64_t offset);
/* No other thread adds or frees a region until they are released.  False: this thread has acquired them already.
 * Signals are blocked, so that no handler waits for the thread that it has interrupted. */
bool trodden_live_acquire(struct trodden_process *process, uint64_t *mask);
void trodden_live_release(struct trodden_process *process, bool held, uint64_t mask);
bool trodden_live_is_zero(const void *bytes, size_t count);

/* ---- live_family.c: processes that have no file of their own ---- */
/* In a forked child: becomes a member of the family of its parent's file, which it could have no file beside for this
 * reason.  True: its counts are in the file, whose descriptor `fd` is.  Without a live header, they cannot be. */
bool trodden_live_join_parents(const struct trodden_counted_file *parents, int fd, struct trodden_live_header *live,
                               int error);
/* The same in a program that another one has executed, which left it the descriptor of its file. */
bool trodden_live_join_inherited(struct trodden_live_header *live, int error);
/* A child with a file of its own leaves its parent's to others. */
void trodden_live_leave_parents(const struct trodden_counted_file *parents);

/* ---- region_copies.c ---- */
/* A copy of the region, at the offset of the file.  If that is not possible, anonymous memory and TRODDEN_NO_OFFSET;
 * NULL: there is no memory.  `parent_fd`: the file that the region lies in; -1: where it has data is not known. */
void *trodden_live_copy_region(const struct trodden_live_region *from, int parent_fd, int fd, uint64_t *offset);
/* Needs no address space: memory of its own takes the place of what the process shares with its parent. */
void trodden_live_copy_in_place(const struct trodden_live_region *region, bool empty);

/* ---- lost_pages.c ---- */
bool trodden_live_has_lost_pages(void); /* is there memory in place of pages of the file? */
void trodden_live_forget_lost_pages(void); /* they are the parent's */
/* A page of zeros is right for counters, but not for what has pointers and sizes.  `page` is a zeroed page of the
 * region, at its offset, which is not there yet: other threads must never see half of it. */
void trodden_live_rebuild_page(const struct trodden_live_region *region, const struct trodden_lost_page *page);

#endif
