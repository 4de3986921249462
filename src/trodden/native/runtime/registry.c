/* Modules come and go; one copy of the runtime leads.
 *
 * Every module carries a copy.  The copies call each other through the weak exported __trodden_*
 * functions, which the dynamic linker binds to the first copy in lookup order, so all of a process
 * usually talk to the executable's.  A plugin loaded with RTLD_LOCAL into a program without a copy
 * finds only itself, leads itself and writes a file of its own. */
#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

struct trodden_lead trodden_lead;

struct trodden_lead *__trodden_leader(void) { return &trodden_lead; }

bool trodden_leading(void) {
    if (__trodden_leader() != &trodden_lead)
        return false;
    /* A library's constructor may start threads before the executable's own constructors run. */
    if (trodden_has_units())
        trodden_begin();
    return __atomic_load_n(&trodden_lead.begun, __ATOMIC_ACQUIRE) == 2;
}

/* Registered before any other, hence run after them. */
static void at_quick_end(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE(&regs);
    trodden_write(&regs, true, true);
}

void trodden_begin(void) {
    int seen = 0;
    if (!__atomic_compare_exchange_n(&trodden_lead.begun, &seen, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&trodden_lead.begun, __ATOMIC_ACQUIRE) == 1)
            sched_yield();
        return;
    }
    trodden_lead.pid = trodden_lead.first_pid = trodden_pid();
    trodden_lead.start = trodden_now();
    trodden_lead.exiting = trodden_lead.final = false;
    trodden_name_begin();
    trodden_live_begin();
    trodden_threads_begin();
    trodden_signals_begin();
    at_quick_exit(at_quick_end);
    __atomic_store_n(&trodden_lead.begun, 2, __ATOMIC_RELEASE);
}

/* The absolute path of a module; the dynamic linker's name may be relative to the directory of now. */
static void path_of(const struct trodden_image *image, char *path) {
    path[0] = 0;
    if (image && image->name && image->name[0] && realpath(image->name, path))
        return;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

/* A library that was unloaded and is loaded again goes on where it stopped. */
static struct trodden_module *find_former(const char *path, const struct trodden_unit *begin, uint32_t count) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        bool same = (!module->copy || module->left) && module->unit_count == count && strcmp(module->path, path) == 0;
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
    struct trodden_counted *units = trodden_alloc(count * sizeof *units);
    char *name = trodden_alloc(length + 1);
    if (!module || !units || !name)
        return NULL;
    memcpy(name, path, length + 1);
    *module = (struct trodden_module){.index = trodden_lead.module_count++,
                                      .path = name,
                                      .path_length = (uint32_t)length,
                                      .unit_count = count,
                                      .first_unit = trodden_lead.unit_count,
                                      .units = units};
    trodden_lead.unit_count += count;
    for (uint32_t i = 0; i < count; i++) {
        units[i] = (struct trodden_counted){.unit = &begin[i], .slots = begin[i].slots};
        memcpy(units[i].id, begin[i].id, sizeof begin[i].id);
    }
    struct trodden_module **last = &trodden_lead.modules; /* kept in the order of their indices */
    while (*last)
        last = &(*last)->next;
    *last = module;
    return module;
}

/* What the live file says of a module that is loaded. */
static void describe(struct trodden_module *module) {
    size_t table = module->unit_count * sizeof(struct trodden_live_unit);
    size_t bytes = sizeof(struct trodden_live_module) + table + module->path_length;
    struct trodden_live_module *live = module->live;
    if (!live && !(live = trodden_keep(TRODDEN_MODULE, module->index, bytes)))
        return;
    live->bias = module->bias;
    live->index = module->index;
    live->first_unit = module->first_unit;
    live->path_length = module->path_length;
    memcpy((char *)live->at + table, module->path, module->path_length);
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_counted *unit = &module->units[i];
        live->at[i] = (struct trodden_live_unit){.slots = unit->slots, .offset = unit->at};
        memcpy(live->at[i].id, unit->id, sizeof unit->id);
    }
    __atomic_store_n(&live->unit_count, module->unit_count, __ATOMIC_RELEASE);
    module->live = live;
}

void __trodden_enter(const struct trodden_part *part) {
    const struct trodden_unit *begin = part->begin, *end = part->end;
    trodden_begin();
    struct trodden_images *images = trodden_images_gather();
    const struct trodden_image *image = trodden_image_of(images, (uintptr_t)begin);
    uint32_t count = (uint32_t)(end - begin);
    char path[PATH_MAX];
    path_of(image, path);

    uint64_t mask = trodden_lock();
    trodden_use_images(images);
    struct trodden_module *former = find_former(path, begin, count);
    struct trodden_module *module = former ? former : add_module(path, begin, count);
    if (module) {
        module->copy = part->copy;
        module->left = module->stays = false;
        module->bias = image ? image->bias : 0;
        module->low = image ? image->low : 0;
        module->high = image ? image->high : 0;
        module->pad = part->pad;
        for (uint32_t i = 0; i < count; i++)
            module->units[i].unit = &begin[i];
        if (!former)
            trodden_lay_out(module);
        for (uint32_t i = 0; i < count; i++) {
            part->begin[i].index = module->units[i].index;
            part->begin[i].number = module->first_unit + i + 1;
        }
        describe(module);
        trodden_attach_module(module);
        trodden_rings_attach_module(module);
        trodden_forget_cells(module);
        trodden_forget_plain_rows();
        module->cells_mark = part->cells_mark;
        trodden_resume_notes(module, part->notes);
        module->unwinder = part->unwinder;
        trodden_find_caller();
        trodden_lead.tls_bytes += module->tls_bytes;
    }
    trodden_unlock(mask);
}

static void forget_memory(struct trodden_module *module) {
    module->copy = NULL;
    module->notes = NULL;
    module->unwinder = NULL;
    trodden_forget_cells(module);
    for (uint32_t i = 0; i < module->unit_count; i++)
        module->units[i].unit = NULL;
}

void trodden_use_images(struct trodden_images *images) {
    if (images) {
        trodden_images_free(trodden_lead.images);
        trodden_lead.images = images;
    }
}

/* The destructors of a module have run.  What it has counted lies elsewhere, and its own memory may disappear.  If
 * the process ends it stays mapped and may still count (from destructors of others, from running threads)
 * and is read with the last one.
 *
 * That it ends is certain once the leader itself leaves: the executable's destructors run only then, and
 * before those of the libraries it needs; a library that leads others outlives them. */
void __trodden_leave(const void *copy, const struct trodden_regs *regs) {
    uint64_t mask = trodden_lock();
    bool remaining = false;
    if (copy == &trodden_lead)
        trodden_lead.exiting = true;
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        if (module->copy == copy && !module->left) {
            if (!trodden_lead.exiting) {
                trodden_keep_notes(module);
                trodden_keep_calls(module);
                forget_memory(module);
            }
            trodden_lead.tls_bytes -= module->tls_bytes;
            module->left = true;
            module->stays = trodden_lead.exiting;
        }
        remaining = remaining || !module->left;
    }
    trodden_find_caller();
    trodden_unlock(mask);
    if (remaining || !trodden_lead.exiting)
        return;
    trodden_write(regs, true, true);
    /* This code may be about to disappear: leave nothing behind that calls it. */
    trodden_threads_end();
    trodden_signals_end();
}

void trodden_dump(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE(&regs);
    trodden_write(&regs, false, false);
}
