/* Functions that a signal has interrupted and that were then left for good: the handler jumped out, threw, or the
 * thread was cancelled.
 *
 * Such a function stands at any of its instructions.  Which block that is, and what its path register holds there, is
 * found out when the result is read (collect/frames/frame_locator.py); so its registers are kept, one record for each time.  A
 * program that does this all the time gets no more than so many records, and is told of the rest. */
#include <string.h>

#include "internal.h"

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
            trodden_process.abandoned.chunks < MAX_CHUNKS ? trodden_live_alloc(TRODDEN_REGION_ABANDONED_FRAMES, 0, sizeof *fresh) : NULL;
        if (!fresh)
            return NULL;
        fresh->older = chunk;
        trodden_process.abandoned.chunks++;
        trodden_process.abandoned.newest = chunk = fresh;
    }
    return &chunk->entries[chunk->used];
}

/* The caller holds the lock. */
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
    __atomic_store_n(&trodden_process.abandoned.newest->used, trodden_process.abandoned.newest->used + 1, __ATOMIC_RELEASE);
    return true;
}

uint32_t trodden_abandoned_count(void) {
    uint32_t count = 0;
    for (const struct trodden_abandoned_chunk *chunk = trodden_process.abandoned.newest; chunk; chunk = chunk->older)
        count += (uint32_t)chunk->used;
    return count;
}

void trodden_abandoned_visit(void (*visit)(const struct trodden_frame *frame, struct trodden_saved_registers *context, void *with),
                       void *context) {
    for (struct trodden_abandoned_chunk *chunk = trodden_process.abandoned.newest; chunk; chunk = chunk->older)
        for (uint64_t i = 0; i < chunk->used; i++)
            visit(&chunk->entries[i].frame, &chunk->entries[i].saved, context);
}

void trodden_abandoned_reset(void) {
    for (struct trodden_abandoned_chunk *chunk = trodden_process.abandoned.newest; chunk; chunk = chunk->older)
        chunk->used = 0;
}
