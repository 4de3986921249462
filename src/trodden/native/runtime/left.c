/* Functions that a signal has interrupted and that were then left for good: the handler jumped out, threw, or the
 * thread was cancelled.
 *
 * Such a function stands at any of its instructions.  Which block that is, and what its path register holds there, is
 * found out when the result is read (collect/frames/frame_locator.py); so its registers are kept, one record for each time.  A
 * program that does this all the time gets no more than so many records, and is told of the rest. */
#include <string.h>

#include "internal.h"

enum { PART = 32, MOST_PARTS = 2048 };

/* As in the live file. */
struct trodden_left {
    struct trodden_frame frame;
    struct trodden_context context;
};

struct trodden_left_part {
    struct trodden_left_part *older;
    uint64_t used;
    struct trodden_left at[PART];
};

static struct trodden_left *free_left(void) {
    struct trodden_left_part *part = trodden_lead.left.newest;
    if (!part || part->used == PART) {
        struct trodden_left_part *fresh =
            trodden_lead.left.parts < MOST_PARTS ? trodden_keep(TRODDEN_LEFT, 0, sizeof *fresh) : NULL;
        if (!fresh)
            return NULL;
        fresh->older = part;
        trodden_lead.left.parts++;
        trodden_lead.left.newest = part = fresh;
    }
    return &part->at[part->used];
}

/* The caller holds the lock. */
bool trodden_note_left(const struct trodden_place *place) {
    const struct trodden_module *module = trodden_module_of(place->pc);
    struct trodden_left *left = module && place->at ? free_left() : NULL;
    if (!left)
        return !module;
    left->frame = (struct trodden_frame){.module = module->index,
                                         .address = place->pc - module->bias,
                                         .cell = place->known ? place->cell : 0,
                                         .flags = TRODDEN_INTERRUPTED | TRODDEN_GONE_FROM |
                                                  (place->known ? TRODDEN_KNOWN : 0)};
    left->context = *place->at;
    __atomic_store_n(&trodden_lead.left.newest->used, trodden_lead.left.newest->used + 1, __ATOMIC_RELEASE);
    return true;
}

uint32_t trodden_count_left(void) {
    uint32_t count = 0;
    for (const struct trodden_left_part *part = trodden_lead.left.newest; part; part = part->older)
        count += (uint32_t)part->used;
    return count;
}

void trodden_tell_left(void (*visit)(const struct trodden_frame *frame, struct trodden_context *context, void *with),
                       void *with) {
    for (struct trodden_left_part *part = trodden_lead.left.newest; part; part = part->older)
        for (uint64_t i = 0; i < part->used; i++)
            visit(&part->at[i].frame, &part->at[i].context, with);
}

void trodden_forget_left(void) {
    for (struct trodden_left_part *part = trodden_lead.left.newest; part; part = part->older)
        part->used = 0;
}
