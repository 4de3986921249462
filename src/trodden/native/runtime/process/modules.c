/* Modules are registered when they are loaded and unregistered when their destructors have run. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/call_paths.h"
#include "counters/last_paths.h"
#include "counters/live_regions.h"
#include "counters/shards.h"
#include "counters/sparse_paths.h"
#include "interpose/interpose.h"
#include "platform/system.h"
#include "process/process.h"
#include "process/raw_file.h"
#include "process/stop_threads.h"
#include "unwind/frame_cache.h"
#include "unwind/register_slots.h"

struct trodden_module *trodden_module_of(uintptr_t pc) {
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next)
        if (module->instance && pc >= module->low && pc < module->high)
            return module;
    return NULL;
}

void trodden_set_images(struct trodden_images *images) {
    if (images) {
        trodden_images_free(trodden_process.images);
        trodden_process.images = images;
    }
}

/* The absolute path of a module; the dynamic linker's name may be relative to the current directory. */
static void path_of(const struct trodden_image *image, char *path) {
    path[0] = 0;
    if (image && image->name && image->name[0] && realpath(image->name, path))
        return;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

/* A library that is loaded again continues with its former counters. */
static struct trodden_module *find_previous_load(const char *path, const struct trodden_unit *begin, uint32_t count) {
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next) {
        bool same = (!module->instance || module->finalized) && module->unit_count == count &&
                    strcmp(module->path, path) == 0;
        for (uint32_t i = 0; same && i < count; i++)
            same = module->units[i].slots == begin[i].slots &&
                   memcmp(module->units[i].id, begin[i].id, sizeof begin[i].id) == 0;
        if (same)
            return module;
    }
    return NULL;
}

static struct trodden_module *add_module(const char *path, const struct trodden_unit *begin, uint32_t count) {
    size_t length = strlen(path);
    struct trodden_module *module = trodden_alloc(sizeof *module);
    struct trodden_module_unit *units = trodden_alloc(count * sizeof *units);
    char *name = trodden_alloc(length + 1);
    if (!module || !units || !name)
        return NULL;
    memcpy(name, path, length + 1);
    *module = (struct trodden_module){.index = trodden_process.module_count++,
                                      .path = name,
                                      .path_length = (uint32_t)length,
                                      .unit_count = count,
                                      .first_unit = trodden_process.unit_count,
                                      .units = units};
    trodden_process.unit_count += count;
    for (uint32_t i = 0; i < count; i++) {
        units[i] = (struct trodden_module_unit){.unit = &begin[i], .slots = begin[i].slots};
        memcpy(units[i].id, begin[i].id, sizeof begin[i].id);
    }
    struct trodden_module **last = &trodden_process.modules; /* in the order of their indices */
    while (*last)
        last = &(*last)->next;
    *last = module;
    return module;
}

/* Describes a loaded module in the live file. */
static void write_live_module(struct trodden_module *module) {
    size_t table = module->unit_count * sizeof(struct trodden_live_unit);
    size_t bytes = sizeof(struct trodden_live_module) + table + module->path_length;
    struct trodden_live_module *live = module->live;
    if (!live && !(live = trodden_live_alloc(TRODDEN_REGION_MODULE, module->index, bytes)))
        return;
    live->bias = module->bias;
    live->index = module->index;
    live->first_unit = module->first_unit;
    live->path_length = module->path_length;
    memcpy((char *)live->units + table, module->path, module->path_length);
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_module_unit *unit = &module->units[i];
        live->units[i] = (struct trodden_live_unit){.slots = unit->slots, .offset = unit->shard_offset};
        memcpy(live->units[i].id, unit->id, sizeof unit->id);
    }
    __atomic_store_n(&live->unit_count, module->unit_count, __ATOMIC_RELEASE);
    module->live = live;
}

/* The executable, where the leader is a library that a program without probes has loaded: a reader learns from it
 * which program has executed the library.  It has no counters, and nothing of it is ever called. */
static void add_host(const char *path) {
    struct trodden_module *host = path[0] ? add_module(path, NULL, 0) : NULL;
    if (host) {
        host->finalized = true;
        write_live_module(host);
    }
}

void __trodden_enter(const struct trodden_module_info *info) {
    const struct trodden_unit *begin = info->begin, *end = info->end;
    trodden_init();
    struct trodden_images *images = trodden_images_snapshot();
    const struct trodden_image *image = trodden_image_of(images, (uintptr_t)begin);
    uint32_t count = (uint32_t)(end - begin);
    char path[PATH_MAX], leader[PATH_MAX], host[PATH_MAX];
    path_of(image, path);
    path_of(trodden_image_of(images, (uintptr_t)&trodden_process), leader);
    path_of(NULL, host);

    uint64_t mask = trodden_lock();
    trodden_set_images(images);
    if (!trodden_process.modules && strcmp(leader, host) != 0)
        add_host(host);
    struct trodden_module *previous = find_previous_load(path, begin, count);
    struct trodden_module *module = previous ? previous : add_module(path, begin, count);
    if (module) {
        module->instance = info->instance;
        module->finalized = module->stays_mapped = false;
        module->bias = image ? image->bias : 0;
        module->low = image ? image->low : 0;
        module->high = image ? image->high : 0;
        module->padding = info->padding;
        for (uint32_t i = 0; i < count; i++)
            module->units[i].unit = &begin[i];
        if (!previous)
            trodden_shards_lay_out(module);
        for (uint32_t i = 0; i < count; i++) {
            info->begin[i].index = module->units[i].table_index;
            info->begin[i].number = module->first_unit + i + 1;
        }
        write_live_module(module);
        trodden_shards_attach_module(module);
        trodden_rings_attach_module(module);
        trodden_trace_attach_module(module);
        trodden_drop_slot_index(module);
        trodden_frame_cache_clear();
        module->slots_mark = info->slots_mark;
        trodden_sparse_restore_module(module, info->sparse_paths);
        module->unwinder = info->unwinder;
        trodden_calls_find_accessor();
        trodden_crossings_attach_module(module);
        trodden_process.tls_bytes += module->tls_bytes;
    }
    trodden_unlock(mask);
}

static void forget_unloaded(struct trodden_module *module) {
    module->instance = NULL;
    module->sparse_paths = NULL;
    module->unwinder = NULL;
    trodden_drop_slot_index(module);
    for (uint32_t i = 0; i < module->unit_count; i++)
        module->units[i].unit = NULL;
}

/* The destructors of a module have run.  What it has counted lies elsewhere, and its own memory may be unmapped.  If
 * the process exits, the module stays mapped and may still count (in destructors of other modules, in running
 * threads), and is read at the last write.
 *
 * The process is certain to exit once the leader itself leaves: the executable's destructors run only then, and
 * before those of the libraries that it needs; a library that leads others outlives them. */
void __trodden_leave(const void *instance, const struct trodden_regs *regs) {
    uint64_t mask = trodden_lock();
    bool remaining = false;
    if (instance == &trodden_process)
        trodden_process.exiting = true;
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next) {
        if (module->instance == instance && !module->finalized) {
            if (!trodden_process.exiting) {
                trodden_sparse_save_module(module);
                trodden_calls_forget_module(module);
                trodden_crossings_forget_module(module);
                forget_unloaded(module);
                trodden_process.tls_bytes -= module->tls_bytes;
            }
            module->finalized = true;
            module->stays_mapped = trodden_process.exiting;
        }
        remaining = remaining || !module->finalized;
    }
    trodden_calls_find_accessor();
    trodden_unlock(mask);
    if (remaining || !trodden_process.exiting)
        return;
    trodden_write_raw_file(regs, TRODDEN_WRITE_FINAL);
    /* This code may be about to be unloaded: nothing may call it. */
    trodden_threads_shutdown();
    trodden_signals_shutdown();
    trodden_cancel_shutdown();
    trodden_stop_shutdown();
}
