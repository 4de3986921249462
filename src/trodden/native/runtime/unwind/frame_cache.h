/* The frame cache: frames that non-local exits have left before (frame_cache.c, cached_walk.c). */
#ifndef TRODDEN_UNWIND_FRAME_CACHE_H
#define TRODDEN_UNWIND_FRAME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/images.h"
#include "unwind/cfi.h"
#include "unwind/register_slots.h"

/* A walk over cached frames, from longjmp to the frame that it jumps to. */
struct trodden_cached_walk {
    uintptr_t pc; /* of the next frame, with its stack and frame pointer: */
    uint64_t frame_sp, frame_fp;
    uint64_t target_sp, resume_pc; /* where the jump goes to */
    uint64_t clear_count;          /* how often the cache had been cleared when the walk began */
    uint32_t frames_walked;        /* counting that of longjmp itself */
    bool at_target;                /* the frame that contains `target_sp` has been recorded, too */
    bool holds_lock;
    bool images_current; /* the cache is known to describe the images that are loaded now */
};

/* ---- cached_walk.c ---- */
/* Records one frame after the other, and then the resume point.  False: it stopped at one that is not cached. */
bool trodden_walk_cached(struct trodden_cached_walk *walk);
/* The return addresses of the frames between that of longjmp and the one that it jumps to, innermost first; their number,
 * at most `most`.  -1: one of them is not cached, or there are more. */
int trodden_cached_frames(struct trodden_cached_walk *walk, uintptr_t *pcs, int most);
/* Records the one frame that the walk starts with, which is abandoned. */
bool trodden_record_cached_frame(struct trodden_cached_walk *walk);

/* ---- frame_cache.c; the callers hold the lock ---- */
/* Adds the frame with that return address (the `innermost` frame: with that program counter), if it is of the simple
 * form that the cache can hold. */
void trodden_cache_frame(uintptr_t pc, bool innermost, const struct trodden_image *image,
                         const struct trodden_frame_info *info, struct trodden_slot_location slot);
/* Adds the address that setjmp returns to. */
void trodden_cache_resume_point(uintptr_t pc);
/* Clears the cache if images have been loaded or unloaded since it was filled. */
void trodden_frame_cache_validate(void);
void trodden_frame_cache_clear(void);

#endif
