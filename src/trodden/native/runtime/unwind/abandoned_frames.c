/* Frames that a signal interrupted and that were then left for good: the handler jumped out or threw, or the thread
 * was cancelled.
 *
 * Such a frame is at any instruction of its function.  Which block that is, and what the path register holds there,
 * is determined when the raw file is read (collect/frames/frame_locator.py).  Therefore its registers are saved, one
 * record each time.  The number of records is limited; a program that exceeds it has its profile marked as
 * incomplete. */
#include "counters/live_regions.h"
#include "process/process.h"
#include "unwind/abandoned_frames.h"

enum { CHUNK_FRAMES = 32, MAX_CHUNKS = 2048 };

/* As in the live file. */
struct trodden_abandoned_frame {
    struct trodden_frame frame;
    struct trodden_saved_registers saved;
};

struct trodden_abandoned_chunk {
    struct trodden_abandoned_chunk *older;
    uint64_t used;
    struct trodden_abandoned_frame entries[CHUNK_FRAMES];
};

static struct trodden_abandoned_frame *reserve(void) {
    struct trodden_abandoned_chunk *chunk = trodden_process.abandoned.newest;
    if (!chunk || chunk->used == CHUNK_FRAMES) {
        struct trodden_abandoned_chunk *fresh =
            trodden_process.abandoned.chunks < MAX_CHUNKS
                ? trodden_live_alloc(TRODDEN_REGION_ABANDONED_FRAMES, 0, sizeof *fresh)
                : NULL;
        if (!fresh)
            return NULL;
        fresh->older = chunk;
        trodden_process.abandoned.chunks++;
        trodden_process.abandoned.newest = chunk = fresh;
    }
    return &chunk->entries[chunk->used];
}

bool trodden_abandoned_record(const struct trodden_frame_state *frame) {
    const struct trodden_module *module = trodden_module_of(frame->pc);
    struct trodden_abandoned_frame *record = module && frame->saved ? reserve() : NULL;
    if (!record)
        return !module;
    record->frame = (struct trodden_frame){.module = module->index,
                                           .address = frame->pc - module->bias,
                                           .slot_value = frame->slot_known ? frame->slot_value : 0,
                                           .flags = TRODDEN_FRAME_INTERRUPTED | TRODDEN_FRAME_ABANDONED |
                                                    (frame->slot_known ? TRODDEN_FRAME_SLOT_KNOWN : 0)};
    record->saved = *frame->saved;
    __atomic_store_n(&trodden_process.abandoned.newest->used, trodden_process.abandoned.newest->used + 1,
                     __ATOMIC_RELEASE);
    return true;
}

uint32_t trodden_abandoned_count(void) {
    uint32_t count = 0;
    for (const struct trodden_abandoned_chunk *chunk = trodden_process.abandoned.newest; chunk; chunk = chunk->older)
        count += (uint32_t)chunk->used;
    return count;
}

void trodden_abandoned_visit(trodden_abandoned_visitor *visit, void *context) {
    for (struct trodden_abandoned_chunk *chunk = trodden_process.abandoned.newest; chunk; chunk = chunk->older)
        for (uint64_t i = 0; i < chunk->used; i++)
            visit(&chunk->entries[i].frame, &chunk->entries[i].saved, context);
}

void trodden_abandoned_reset(void) {
    for (struct trodden_abandoned_chunk *chunk = trodden_process.abandoned.newest; chunk; chunk = chunk->older)
        chunk->used = 0;
}
