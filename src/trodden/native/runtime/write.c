/* The raw file: header, modules, units, frames, jumps, notes, calls, contexts, last paths, trailer, all little endian
 * and aligned to 8 bytes.
 *
 * Tables of paths are mostly zeros, so a unit's counters are written as runs of those that are not.
 *
 * It is streamed through one buffer into a temporary file beside the target, which then takes the
 * target's name: nobody ever sees half a result.  Whatever fails is said in one line; the program's
 * exit status is not ours to change. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define BUFFER 65536
#define PART 512 /* counters summed at a time */
#define MAGIC "TRODRAW1"

enum { CUT = 2 };          /* some active frames are unknown */
enum { AT_EXIT, ON_THE_WAY }; /* when it was written */

struct header {
    char magic[8];
    uint32_t version, flags;
    uint64_t pid, parent, start;
    uint32_t modules, units, frames, start_frames;
    uint32_t jumps, notes, calls, contexts;
    uint32_t lasts, ending, signal, reserved;
};
_Static_assert(sizeof(struct header) == 88, "the header has 88 bytes");

#define VERSION 4

struct module_header {
    uint64_t bias;
    uint32_t path_length, reserved;
};

struct unit_header {
    uint8_t id[16];
    uint32_t module, slots;
};

/* `count` counters from `first` on; none: the unit has no more. */
struct run {
    uint32_t first, count;
};

struct trailer {
    uint64_t size; /* of the whole file */
    uint32_t crc;  /* of all that stands before it */
    char end[4];
};

struct jump_record {
    uint32_t module, known;
    uint64_t address, cell;
    int64_t count;
};

struct note_record {
    uint32_t unit, reserved;
    uint64_t key, value, amount;
};
_Static_assert(sizeof(struct trodden_frame) == 32 && sizeof(struct jump_record) == 32 &&
                   sizeof(struct note_record) == 32 && sizeof(struct trodden_call_record) == 24 &&
                   sizeof(struct trodden_context) == 1336 && sizeof(struct trodden_last_record) == 24,
               "frames, jumps and notes have 32 bytes each, calls and last paths 24");

/* All that a writer needs beside the stack, which may be nearly used up. */
struct workspace {
    char line[2 * TRODDEN_PATH];
    uint64_t buffer[BUFFER / 8];
    uint64_t sums[PART];
    size_t used;
    uint64_t size;
    uint32_t crc;
    int file, error;
};

static void flush(struct workspace *out) {
    const char *at = (const char *)out->buffer;
    while (out->used && !out->error) {
        long written = trodden_send(out->file, at, out->used);
        if (written < 0 && errno != EINTR)
            out->error = errno;
        if (written > 0) {
            at += written;
            out->used -= (size_t)written;
        }
    }
    out->used = 0;
}

static void put(struct workspace *out, const void *bytes, size_t count) {
    const char *at = bytes;
    out->crc = trodden_crc32(out->crc, bytes, count);
    out->size += count;
    while (count) {
        size_t part = BUFFER - out->used < count ? BUFFER - out->used : count;
        memcpy((char *)out->buffer + out->used, at, part);
        out->used += part;
        at += part;
        count -= part;
        if (out->used == BUFFER)
            flush(out);
    }
}

static size_t padding(uint32_t length) { return -length & 7u; }

static void put_modules(struct workspace *out) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        struct module_header header = {module->bias, module->path_length, 0};
        put(out, &header, sizeof header);
        put(out, module->path, module->path_length);
        put(out, "\0\0\0\0\0\0\0", padding(module->path_length));
    }
}

static void put_runs(struct workspace *out, const uint64_t *sums, uint32_t first, uint32_t count) {
    for (uint32_t i = trodden_skip_zeros(sums, 0, count), end; i < count; i = trodden_skip_zeros(sums, end, count)) {
        end = i + 1;
        while (end < count && sums[end])
            end++;
        struct run run = {first + i, end - i};
        put(out, &run, sizeof run);
        put(out, &sums[i], (end - i) * sizeof *sums);
    }
}

static void put_units(struct workspace *out) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        for (uint32_t i = 0; i < module->unit_count; i++) {
            const struct trodden_counted *unit = &module->units[i];
            struct unit_header header = {.module = module->index, .slots = unit->slots};
            memcpy(header.id, unit->id, sizeof header.id);
            put(out, &header, sizeof header);
            for (uint32_t done = 0, part; done < unit->slots && !out->error; done += part) {
                part = unit->slots - done < PART ? unit->slots - done : PART;
                const uint64_t *sums = trodden_sum(module, unit, done, part, out->sums);
                if (sums)
                    put_runs(out, sums, done, part);
            }
            struct run last = {unit->slots, 0};
            put(out, &last, sizeof last);
        }
}

/* Others may be jumping, and add to what they have noted before without a lock: how many there are and what they
 * are is read once. */
struct jump_records {
    struct jump_record *at;
    uint32_t count;
    size_t bytes;
    bool lost;
};

static struct jump_records gather_jumps(void) {
    struct jump_records found = {NULL, 0, 0, false};
    for (const struct trodden_jump_table *table = trodden_lead.jumps.newest; table; table = table->older)
        for (uint64_t i = 0; i < table->room; i++)
            found.bytes += table->at[i].used ? sizeof *found.at : 0;
    if (found.bytes && !(found.at = trodden_map(found.bytes)))
        found.lost = true;
    for (const struct trodden_jump_table *table = trodden_lead.jumps.newest; table && found.at; table = table->older)
        for (uint64_t i = 0; i < table->room; i++) {
            const struct trodden_jump *jump = &table->at[i];
            int64_t count = jump->used ? __atomic_load_n(&jump->count, __ATOMIC_RELAXED) : 0;
            if (count)
                found.at[found.count++] =
                    (struct jump_record){jump->module, jump->known, jump->address, jump->cell, count};
        }
    return found;
}

static bool is_note(const struct trodden_note_sum *sum) { return sum->used && sum->amount; }

static void put_notes(struct workspace *out, const struct trodden_note_sums *notes) {
    for (uint64_t i = 0; i < notes->room; i++) {
        const struct trodden_note_sum *sum = &notes->at[i];
        struct note_record record = {sum->unit, 0, sum->key, sum->value, sum->amount};
        if (is_note(sum))
            put(out, &record, sizeof record);
    }
}

static uint32_t count_notes(const struct trodden_note_sums *notes) {
    uint32_t count = 0;
    for (uint64_t i = 0; i < notes->room; i++)
        count += is_note(&notes->at[i]);
    return count;
}

static void put_call(const struct trodden_call_record *record, void *context) {
    put(context, record, sizeof *record);
}

/* Where all threads are. */
struct places {
    struct trodden_frames *at; /* one a thread */
    uint32_t count, lost;      /* threads; those that could not be stopped */
    size_t bytes;
};

static uint32_t frames_in(const struct places *places) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < places->count; i++)
        count += places->at[i].count;
    return count;
}

static uint32_t contexts_in(const struct places *places) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < places->count; i++)
        count += places->at[i].context_count;
    return count;
}

static bool is_cut(const struct places *places) {
    bool cut = places->lost || !places->at;
    for (uint32_t i = 0; i < places->count; i++)
        cut = cut || places->at[i].cut;
    return cut;
}

/* All other threads stand still. */
static struct places find_places(const struct trodden_regs *regs, uint32_t lost) {
    struct places places = {NULL, 0, lost, sizeof *places.at};
    uintptr_t own = trodden_thread_pointer();
    for (const struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next)
        places.bytes += sizeof *places.at;
    places.at = trodden_map(places.bytes);
    if (!places.at)
        return places;
    places.at[places.count++] = trodden_frames_of(regs, trodden_thread_number(), false);
    for (const struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next) {
        struct trodden_regs there;
        if (thread->tp == own || !thread->stopped)
            continue;
        trodden_regs_from(thread->stopped, &there);
        places.at[places.count++] = trodden_frames_of(&there, thread->number, true);
    }
    return places;
}

static void free_places(struct places *places) {
    for (uint32_t i = 0; i < places->count; i++)
        trodden_frames_free(&places->at[i]);
    trodden_unmap(places->at, places->bytes);
}

static void put_frames(struct workspace *out, const struct places *places) {
    for (uint32_t i = 0; i < places->count; i++)
        if (places->at[i].count)
            put(out, places->at[i].at, places->at[i].count * sizeof *places->at[i].at);
}

static void put_left_frame(const struct trodden_frame *frame, struct trodden_context *context, void *out) {
    (void)context;
    put(out, frame, sizeof *frame);
}

struct leaving {
    struct workspace *out;
    uint32_t frame;
};

static void put_left_context(const struct trodden_frame *frame, struct trodden_context *context, void *with) {
    (void)frame;
    struct leaving *leaving = with;
    context->frame = leaving->frame++;
    put(leaving->out, context, sizeof *context);
}

/* Their frames are numbered through from here on; answers how many there are. */
static uint32_t put_contexts(struct workspace *out, const struct places *places) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        for (uint32_t k = 0; k < places->at[i].context_count; k++) {
            struct trodden_context *context = &places->at[i].contexts[k];
            context->frame += first;
            put(out, context, sizeof *context);
        }
        first += places->at[i].count;
    }
    return first;
}

/* What is written beside the counts; it does not change any more. */
struct content {
    struct places places;
    struct trodden_note_sums notes;
    struct jump_records jumps;
    struct trodden_lasts lasts;
    uint32_t calls, left;
    bool complete;
};

static void put_everything(struct workspace *out, const struct content *content) {
    const struct trodden_frames *start = &trodden_lead.start_frames;
    bool cut = is_cut(&content->places) || start->cut || trodden_lead.jumps.cut || content->jumps.lost ||
               content->notes.lost ||
               trodden_lead.calls.lost;
    struct header header = {.version = VERSION,
                            .flags = cut ? CUT : 0,
                            .ending = content->complete ? AT_EXIT : ON_THE_WAY,
                            .pid = trodden_lead.pid,
                            .parent = (uint64_t)getppid(),
                            .start = trodden_lead.start,
                            .frames = frames_in(&content->places) + content->left,
                            .contexts = contexts_in(&content->places) + content->left,
                            .lasts = content->lasts.count,
                            .start_frames = start->count,
                            .jumps = content->jumps.count,
                            .notes = count_notes(&content->notes),
                            .calls = content->calls};
    memcpy(header.magic, MAGIC, sizeof header.magic);
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        header.modules++;
        header.units += module->unit_count;
    }
    out->crc = 0;
    out->size = 0;
    put(out, &header, sizeof header);
    put_modules(out);
    put_units(out);
    put_frames(out, &content->places);
    trodden_tell_left(put_left_frame, out);
    if (start->count)
        put(out, start->at, start->count * sizeof *start->at);
    if (content->jumps.count)
        put(out, content->jumps.at, content->jumps.count * sizeof *content->jumps.at);
    put_notes(out, &content->notes);
    trodden_tell_calls(put_call, out);
    struct leaving leaving = {out, put_contexts(out, &content->places)};
    trodden_tell_left(put_left_context, &leaving);
    if (content->lasts.count)
        put(out, content->lasts.at, content->lasts.count * sizeof *content->lasts.at);
    struct trailer trailer = {.size = out->size + sizeof trailer, .crc = out->crc, .end = {'D', 'O', 'N', 'E'}};
    put(out, &trailer, sizeof trailer);
    flush(out);
}

/* Only what opening, writing and renaming are likely to answer; strerror may allocate and translate. */
static const char *reason(int error, char *number, size_t room) {
    switch (error) {
    case EACCES: return "permission denied";
    case EBUSY: return "it is busy";
    case EDQUOT: return "the disk quota is used up";
    case EFBIG: return "the file would exceed the size limit";
    case EIO: return "input/output error";
    case EISDIR: return "it is a directory";
    case ELOOP: return "too many symbolic links";
    case EMFILE: case ENFILE: return "too many open files";
    case ENAMETOOLONG: return "the name is too long";
    case ENOENT: return "no such directory";
    case ENOMEM: return "out of memory";
    case ENOSPC: return "no space left on the device";
    case ENOTDIR: return "a part of the path is not a directory";
    case EPERM: return "operation not permitted";
    case EPIPE: return "nobody reads the pipe";
    case EROFS: return "the file system is read-only";
    default: break;
    }
    char *at = number + room - 1;
    *at = 0;
    do
        *--at = (char)('0' + error % 10);
    while (error /= 10);
    static const char word[] = "error ";
    at -= sizeof word - 1;
    memcpy(at, word, sizeof word - 1);
    return at;
}

static void complain(struct workspace *out, int error) {
    static bool said;
    if (said)
        return;
    said = true;
    char number[32];
    const char *parts[] = {"trodden: cannot write ", trodden_place(), ": ", reason(error, number, sizeof number),
                           "; set TRODDEN_FILE to a writable place\n"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i]);
        memcpy(out->line + used, parts[i], length);
        used += length;
    }
    if (trodden_send(STDERR_FILENO, out->line, used) < 0)
        return;
}

static int write_file(struct workspace *out, const struct content *content, bool final) {
    bool whole;
    out->file = trodden_open_result(&whole);
    if (out->file < 0)
        return errno;
    put_everything(out, content);
    return trodden_close_result(whole, out->file, out->error, final);
}

/* The live file has all counts.  With the frames it is as good as what could not be written. */
static bool keep_in_live(const struct content *content) {
    struct trodden_live *live = trodden_lead.live;
    if (!live || !trodden_live_path()[0])
        return false;
    __atomic_store_n(&live->state, content->complete ? TRODDEN_ENDS : TRODDEN_RUNS, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < content->places.count; i++) {
        const struct trodden_frames *frames = &content->places.at[i];
        trodden_keep_frames(TRODDEN_END, frames, frames->count ? frames->at[0].thread : 0, 0);
    }
    if (content->places.lost || trodden_lead.jumps.cut || trodden_lead.calls.lost)
        live->cut = 1;
    return !(live->flags & TRODDEN_PARTLY);
}

/* Of the last write (`final`) there is only one. */
void trodden_write(const struct trodden_regs *regs, bool complete, bool final) {
    int saved = errno;
    /* Not our process: a child of vfork, or of a clone that told nobody, on its parent's counts. */
    if (trodden_lead.begun != 2 || trodden_pid() != trodden_lead.pid) {
        errno = saved;
        return;
    }
    struct trodden_images *images = trodden_images_gather();
    uint64_t mask = trodden_lock();
    if (!trodden_lead.final) {
        trodden_use_images(images);
        images = NULL;
        trodden_lead.final = final;
        uint32_t lost = trodden_stop_others();
        struct content content = {.places = find_places(regs, lost), .complete = complete};
        trodden_sum_notes(&content.notes);
        content.jumps = gather_jumps();
        content.calls = trodden_mark_calls();
        content.left = trodden_count_left();
        content.lasts = trodden_gather_lasts();
        struct workspace *out = trodden_map(sizeof *out);
        if (out) {
            int error = write_file(out, &content, final);
            if (error && final && keep_in_live(&content))
                error = 0;
            /* The signal that came with the error is not the program's. */
            if (error == EFBIG)
                trodden_swallow_signal(SIGXFSZ);
            if (error == EPIPE)
                trodden_swallow_signal(SIGPIPE);
            if (error)
                complain(out, error);
        }
        trodden_unmap(out, sizeof *out);
        if (final)
            trodden_leave_stopped();
        else
            trodden_release_others();
        free_places(&content.places);
        trodden_free_sums(&content.notes);
        trodden_unmap(content.jumps.at, content.jumps.bytes);
        trodden_unmap(content.lasts.at, content.lasts.bytes);
    }
    trodden_unlock(mask);
    trodden_images_free(images);
    errno = saved;
}
