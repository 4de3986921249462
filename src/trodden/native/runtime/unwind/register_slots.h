/* The stack slots in which functions keep values that the runtime has to read (register_slots.c). */
#ifndef TRODDEN_UNWIND_REGISTER_SLOTS_H
#define TRODDEN_UNWIND_REGISTER_SLOTS_H

#include <stdint.h>

#include "platform/images.h"
#include "process/modules.h"
#include "unwind/cfi.h"

/* Where a slot lies in its frame: at a displacement from a register; or at a displacement from the CFA less the bytes
 * that the prologue pushed, rounded down to the alignment. */
struct trodden_slot_location {
    enum { NO_SLOT, SLOT_FROM_CFA, SLOT_FROM_REGISTER } kind;
    unsigned base; /* SLOT_FROM_REGISTER: the register */
    int32_t displacement;
    uint32_t pushed_bytes, alignment;
};

static inline uint64_t trodden_slot_address(uint64_t cfa, uint32_t pushed, uint32_t alignment, int32_t displacement) {
    return ((cfa - pushed) & -(uint64_t)alignment) + (uint64_t)(int64_t)displacement;
}

/* The slot of the path register in the function that `info` describes.  `scratch` is overwritten.  The caller holds
 * the lock. */
struct trodden_slot_location trodden_find_register_slot(const struct trodden_image *image,
                                                        const struct trodden_frame_info *info,
                                                        struct trodden_frame_info *scratch);

/* The slot that holds the thread's node of the call-path tree at the function's entry.  Otherwise as above. */
struct trodden_slot_location trodden_find_call_slot(const struct trodden_image *image,
                                                    const struct trodden_frame_info *info,
                                                    struct trodden_frame_info *scratch);

/* The runtime's own entry in this module's section .trodden_cells, or NULL. */
const void *trodden_slots_mark(void);
/* Drops the module's index of slots; it is built again on demand.  The caller holds the lock. */
void trodden_drop_slot_index(struct trodden_module *module);

#endif
