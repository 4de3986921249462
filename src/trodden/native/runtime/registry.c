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

/* Registered first, hence run last among the handlers, and before any module's destructors. */
static void note_exit(void) { trodden_lead.exiting = true; }

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
    trodden_threads_begin();
    atexit(note_exit);
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

static size_t counter_bytes(const struct trodden_unit *begin, const struct trodden_unit *end) {
    size_t bytes = 0;
    for (const struct trodden_unit *unit = begin; unit < end; unit++)
        bytes += (size_t)unit->slots * sizeof(uint64_t);
    return bytes;
}

/* A library that was unloaded and is loaded again goes on where it stopped. */
static struct trodden_module *find_former(const char *path, const struct trodden_unit *begin, uint32_t count) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        bool same = !module->copy && module->unit_count == count && strcmp(module->path, path) == 0;
        for (uint32_t i = 0; same && i < count; i++)
            same = module->units[i].slots == begin[i].slots &&
                   memcmp(module->units[i].id, begin[i].id, sizeof begin[i].id) == 0;
        if (same)
            return module;
    }
    return NULL;
}

static struct trodden_module *add_module(const char *path, const struct trodden_unit *begin, uint32_t count) {
    size_t length = strlen(path), bytes = counter_bytes(begin, begin + count);
    struct trodden_module *module = trodden_alloc(sizeof *module);
    struct trodden_counted *units = trodden_alloc(count * sizeof *units);
    char *name = trodden_alloc(length + 1);
    uint64_t *totals = bytes ? trodden_map(bytes) : NULL;
    if (!module || !units || !name || (bytes && !totals))
        return NULL;
    memcpy(name, path, length + 1);
    *module = (struct trodden_module){.index = trodden_lead.module_count++,
                                      .path = name,
                                      .path_length = (uint32_t)length,
                                      .unit_count = count,
                                      .units = units,
                                      .totals = totals,
                                      .totals_bytes = bytes};
    for (uint32_t i = 0; i < count; i++) {
        units[i] = (struct trodden_counted){.slots = begin[i].slots, .totals = totals};
        memcpy(units[i].id, begin[i].id, sizeof begin[i].id);
        totals += begin[i].slots;
    }
    struct trodden_module **last = &trodden_lead.modules; /* kept in the order of their indices */
    while (*last)
        last = &(*last)->next;
    *last = module;
    return module;
}

void __trodden_enter(const void *copy, const struct trodden_unit *begin, const struct trodden_unit *end) {
    trodden_begin();
    for (const struct trodden_unit *unit = begin; unit < end; unit++)
        unit->counters(); /* so that this thread's TLS block exists and is among the facts gathered next */
    struct trodden_images *images = trodden_images_gather();
    const struct trodden_image *image = trodden_image_of(images, (uintptr_t)begin);
    uint32_t count = (uint32_t)(end - begin);
    char path[PATH_MAX];
    path_of(image, path);

    uint64_t mask = trodden_lock();
    struct trodden_images *former = trodden_lead.images;
    if (images)
        trodden_lead.images = images;
    struct trodden_module *module = find_former(path, begin, count);
    if (!module)
        module = add_module(path, begin, count);
    if (module) {
        module->copy = copy;
        module->left = false;
        module->bias = image ? image->bias : 0;
        module->low = image ? image->low : 0;
        module->high = image ? image->high : 0;
        for (uint32_t i = 0; i < count; i++) {
            module->units[i].unit = &begin[i];
            trodden_locate(module, &module->units[i], image);
        }
        trodden_lead.tls_bytes += counter_bytes(begin, end);
    }
    trodden_unlock(mask);
    if (images)
        trodden_images_free(former);
}

/* The destructors of a module have run: it is unloaded, or the process ends.  In the latter case it stays
 * mapped and may still count (from other modules' destructors, from running threads), so it is read in
 * place when the last one has left. */
void __trodden_leave(const void *copy, const struct trodden_regs *regs) {
    uint64_t mask = trodden_lock();
    bool remaining = false;
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        if (module->copy == copy) {
            if (trodden_lead.exiting) {
                module->left = true;
            } else {
                trodden_fold_module(module);
                module->copy = NULL;
                for (uint32_t i = 0; i < module->unit_count; i++) {
                    trodden_lead.tls_bytes -= (size_t)module->units[i].slots * sizeof(uint64_t);
                    module->units[i].unit = NULL;
                }
            }
        }
        remaining = remaining || (module->copy && !module->left);
    }
    trodden_unlock(mask);
    /* Without any module left, more may still come, unless the leader is unloaded itself. */
    if (remaining || (!trodden_lead.exiting && copy != &trodden_lead))
        return;
    trodden_write(regs, true, true);
    /* This code may be about to disappear: leave nothing behind that calls it. */
    trodden_threads_end();
}

void trodden_dump(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE(&regs);
    trodden_write(&regs, false, false);
}
