/* The loaded objects. dl_iterate_phdr waits for the dynamic linker's lock.  Therefore the list is made before the
 * runtime's lock is taken, and is kept: a stack walk then needs neither that lock nor memory. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <string.h>

#include "platform/images.h"
#include "platform/system.h"

struct image_collector {
    struct trodden_images *images;
    size_t capacity, seen;
};

static int add_image(struct dl_phdr_info *info, size_t size, void *context) {
    struct image_collector *collector = context;
    collector->seen++;
    if (!collector->images || collector->images->count == collector->capacity)
        return 0;
    struct trodden_image *image = &collector->images->entries[collector->images->count++];
    *image = (struct trodden_image){.bias = info->dlpi_addr, .low = UINTPTR_MAX, .name = info->dlpi_name};
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_DYNAMIC)
            image->dynamic = (const void *)from;
        if (segment->p_type == PT_GNU_EH_FRAME)
            image->eh_frame_hdr = (const uint8_t *)from;
        if (segment->p_type != PT_LOAD)
            continue;
        if (from < image->low)
            image->low = from;
        if (from + segment->p_memsz > image->high)
            image->high = from + segment->p_memsz;
        if ((segment->p_flags & PF_R) && image->segment_count < TRODDEN_MAX_SEGMENTS)
            image->segments[image->segment_count++] = (struct trodden_segment){from, segment->p_memsz};
    }
    return 0;
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *context) {
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *(uint64_t *)context = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    return 1; /* the first object has the counters of all */
}

uint64_t trodden_images_generation(void) {
    uint64_t generation = 0;
    dl_iterate_phdr(read_generation, &generation);
    return generation;
}

struct trodden_images *trodden_images_snapshot(void) {
    uint64_t generation =
        trodden_images_generation(); /* an object that is loaded from now on makes this list outdated */
    struct image_collector count = {NULL, 0, 0};
    dl_iterate_phdr(add_image, &count);
    size_t capacity = count.seen + 8; /* a few more may be loaded in between */
    size_t bytes = sizeof(struct trodden_images) + capacity * sizeof(struct trodden_image);
    struct image_collector collector = {trodden_map(bytes), capacity, 0};
    if (!collector.images)
        return NULL;
    collector.images->bytes = bytes;
    collector.images->generation = generation;
    dl_iterate_phdr(add_image, &collector);
    return collector.images;
}

void trodden_images_free(struct trodden_images *images) {
    if (images)
        trodden_unmap(images, images->bytes);
}

const struct trodden_image *trodden_image_of(const struct trodden_images *images, uintptr_t address) {
    for (size_t i = 0; images && i < images->count; i++) {
        const struct trodden_image *image = &images->entries[i];
        if (address >= image->low && address < image->high && trodden_image_contains(image, address, 1))
            return image;
    }
    return NULL;
}

bool trodden_image_contains(const struct trodden_image *image, uintptr_t from, size_t bytes) {
    for (uint32_t i = 0; i < image->segment_count; i++) {
        const struct trodden_segment *segment = &image->segments[i];
        if (from - segment->from < segment->bytes && bytes <= segment->bytes - (from - segment->from))
            return true;
    }
    return false;
}
