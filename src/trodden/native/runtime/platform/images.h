/* The loaded ELF objects, as the dynamic linker reports them (images.c). */
#ifndef TRODDEN_PLATFORM_IMAGES_H
#define TRODDEN_PLATFORM_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRODDEN_MAX_SEGMENTS 8

struct trodden_image {
    uintptr_t bias, low, high; /* [low, high) spans all loaded segments */
    const void *dynamic;       /* the PT_DYNAMIC segment, or NULL */
    struct trodden_segment {
        uintptr_t from, bytes;
    } segments[TRODDEN_MAX_SEGMENTS]; /* those that are readable */
    uint32_t segment_count;
    const uint8_t *eh_frame_hdr;
    const char *name; /* valid only while the image is known to be loaded */
};

struct trodden_images {
    size_t count, bytes;
    uint64_t generation;
    struct trodden_image entries[];
};

/* May wait for the dynamic linker's lock: the caller must not hold the runtime's lock. */
struct trodden_images *trodden_images_snapshot(void);
void trodden_images_free(struct trodden_images *images);
uint64_t trodden_images_generation(void); /* changes whenever an object is loaded or unloaded */
const struct trodden_image *trodden_image_of(const struct trodden_images *images, uintptr_t address);
/* Do these bytes lie in one readable segment? */
bool trodden_image_contains(const struct trodden_image *image, uintptr_t from, size_t bytes);

#endif
