/* Counts from before the module is relocated: those of functions that an ifunc resolver calls.
 *
 * The dynamic linker calls resolvers while it relocates the module.  The global offset table is not complete then, and
 * thread-local variables do not have their initial values; in a static program there is no thread pointer yet.  Code
 * of a resolver therefore calls __trodden_resolver_starts first, and __trodden_resolver_ends last.  Between the two,
 * instrumented code finds valid counters:
 *
 * - The counters of an executable lie in its TLS block.  Without a thread pointer, one that leads to a block of our
 *   own is set, until the C library sets its own.  With one, the block exists, but will be overwritten by its initial
 *   contents, so that it is copied when the resolver returns.
 * - Other code finds its counters by thread-local variables.  If the variable exists, it is set; it will be
 *   overwritten, too.  If the table has no offset yet, the entry gets one that leads to a variable of our own.
 *
 * What was counted is added to the module's counters when it has been registered.  What would be recorded in a trace
 * goes to a sink: neither the runtime nor the unit can be asked for more room.
 *
 * Nothing here may use what is relocated, or call another module.  The compiler must not make calls of memcpy or
 * memset either: in a static program these are such functions themselves. */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "counters/counter_sums.h"
#include "counters/early_counts.h"
#include "counters/live_regions.h"
#include "counters/shards.h"

enum { MAX_NOTES = 512, TCB_BYTES = 4096, SINK_BYTES = 1024 };

extern struct trodden_unit units_begin[] __asm__("__start_trodden_units") __attribute__((weak, visibility("hidden")));
extern struct trodden_unit units_end[] __asm__("__stop_trodden_units") __attribute__((weak, visibility("hidden")));
extern const ElfW(Ehdr) own_header __asm__("__ehdr_start") __attribute__((weak, visibility("hidden")));

static struct {
    uint32_t depth;     /* resolvers that have not returned */
    uintptr_t tp;       /* below it is a copy of the TLS block; 0: none */
    bool provisional;   /* that is the thread pointer itself */
    void **table;       /* of counters */
    uint64_t **counters; /* of each unit that finds them by the table */
    struct trodden_call_node node;
    struct trodden_ring_entry entry;
    struct {
        struct trodden_ring_entry *current;
        uint32_t thread, capacity;
    } ring;
    struct {
        const struct trodden_unit *unit;
        uint64_t key, value, amount;
    } notes[MAX_NOTES];
    uint32_t note_count;
    bool notes_lost;
    struct trodden_trace_cursor *cursor, former, own_cursor; /* `former`: what it was before the resolver */
    struct trodden_channel channel;
    uint8_t sink[SINK_BYTES + TRODDEN_TRACE_MARGIN];
    void *variables[3]; /* what stands for the module's thread-local variables while it has none */
} early;

/* ---- system calls, without errno ---- */
#if defined(__x86_64__)
static long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

enum { SET_FS = 0x1002, GET_FS = 0x1003 };

static uintptr_t get_tp(void) {
    uintptr_t tp = 0;
    call_kernel(SYS_arch_prctl, GET_FS, (long)&tp, 0, 0, 0, 0);
    return tp;
}

static void set_tp(uintptr_t tp) {
    /* Its first word is its own address, and so is the third. */
    ((uintptr_t *)tp)[0] = ((uintptr_t *)tp)[2] = tp;
    call_kernel(SYS_arch_prctl, SET_FS, (long)tp, 0, 0, 0, 0);
}
#else
static long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

static uintptr_t get_tp(void) {
    uintptr_t tp;
    __asm__("mrs %0, tpidr_el0" : "=r"(tp));
    return tp;
}

static void set_tp(uintptr_t tp) { __asm__ volatile("msr tpidr_el0, %0" : : "r"(tp) : "memory"); }
#endif

static void *map(size_t bytes) {
    long memory = call_kernel(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory < 0 && memory > -4096 ? NULL : (void *)memory;
}

/* ---- the TLS block of an executable ---- */
struct tls_range {
    size_t below, above; /* the thread pointer */
    size_t alignment;
};

static struct tls_range tls_range(void) {
    struct tls_range range = {0, 0, 64};
    const ElfW(Ehdr) *header = &own_header;
    const ElfW(Phdr) *segment = header ? (const void *)((const uint8_t *)header + header->e_phoff) : NULL;
    for (unsigned i = 0; header && i < header->e_phnum; i++, segment++)
        if (segment->p_type == PT_TLS) {
            range.alignment = segment->p_align > 64 ? segment->p_align : 64;
            size_t size = (segment->p_memsz + range.alignment - 1) & ~(range.alignment - 1);
#if defined(__x86_64__)
            range.below = size;
#else
            range.above = size + range.alignment;
#endif
        }
    return range;
}

/* A thread pointer with room for the TLS block around it. */
static uintptr_t make_block(const struct tls_range *range) {
    void *memory = map(range->below + range->above + range->alignment + 2 * TCB_BYTES);
    uintptr_t tp = (uintptr_t)memory + range->below + range->alignment - 1;
    return memory ? tp & ~(uintptr_t)(range->alignment - 1) : 0;
}

/* Zeros are not written, so that pages without counts take no memory. */
static void copy_block(uintptr_t from, uintptr_t to, const struct tls_range *range) {
    const volatile uint64_t *source = (const volatile uint64_t *)(from - range->below);
    volatile uint64_t *target = (volatile uint64_t *)(to - range->below);
    for (size_t i = 0; i < (range->below + range->above) / sizeof *source; i++)
        if (source[i] != target[i])
            target[i] = source[i];
}

/* ---- thread-local variables of the module ---- */
#if defined(__x86_64__)
/* Each loads the offset of a variable from the thread pointer.  Units that record call paths, last paths or a trace have
 * theirs. */
extern const uint8_t trodden_table_offset[] __attribute__((visibility("hidden")));
extern const uint8_t trodden_caller_offset[] __attribute__((weak, visibility("hidden")));
extern const uint8_t trodden_ring_offset[] __attribute__((weak, visibility("hidden")));
extern const uint8_t trodden_trace_offset[] __attribute__((weak, visibility("hidden")));
extern const uint8_t trodden_channel_offset[] __attribute__((weak, visibility("hidden")));
__asm__(".pushsection .text\n\t.weak __trodden_table\n\t.globl trodden_table_offset\n\t"
        ".hidden trodden_table_offset\n\t.type trodden_table_offset,@function\ntrodden_table_offset:\n\t"
        "movq __trodden_table@gottpoff(%rip), %rax\n\tretq\n\t"
        ".size trodden_table_offset, .-trodden_table_offset\n\t.popsection");

/* A thread-local variable, or `own` in its place if it has no offset yet.  In an executable the linker has replaced the
 * load from the global offset table by the offset itself. */
static void *variable_of(const uint8_t *loader, void *own, uintptr_t tp) {
    bool from_table = loader[0] == 0x48 && loader[1] == 0x8b && loader[2] == 0x05;
    intptr_t *entry = from_table ? (intptr_t *)(loader + 7 + *(const int32_t *)(loader + 3)) : NULL;
    intptr_t offset = from_table ? *entry : *(const int32_t *)(loader + 3);
    if (offset)
        return (void *)(tp + (uintptr_t)offset);
    *entry = (intptr_t)((uintptr_t)own - tp);
    return own;
}

/* `value` becomes that of the variable, unless it has one, which is returned. */
static void *set_variable(const uint8_t *loader, unsigned index, void *value, uintptr_t tp) {
    void **variable = variable_of(loader, &early.variables[index], tp);
    if (!*variable)
        *variable = value;
    return *variable;
}

static void set_variables(uintptr_t tp, uint32_t count) {
    bool calls = false, rings = false, traces = false, tables = false, channels = false;
    for (uint32_t i = 0; i < count; i++) {
        calls = calls || units_begin[i].flags & TRODDEN_CALL_PATHS;
        rings = rings || units_begin[i].flags >> TRODDEN_LAST_PATHS_SHIFT;
        traces = traces || units_begin[i].functions;
        channels = channels || units_begin[i].calls;
        tables = tables || !(units_begin[i].flags & TRODDEN_STATIC_TLS);
    }
    if (calls && trodden_caller_offset)
        set_variable(trodden_caller_offset, 1, &early.node, tp);
    if (rings && trodden_ring_offset)
        set_variable(trodden_ring_offset, 2, &early.ring, tp);
    if (traces && trodden_trace_offset && !early.cursor) {
        early.cursor = variable_of(trodden_trace_offset, &early.own_cursor, tp);
        early.former = *early.cursor;
        early.cursor->next = early.sink;
        early.cursor->end = early.sink + SINK_BYTES;
    }
    if (channels && trodden_channel_offset) {
        struct trodden_channel *channel = variable_of(trodden_channel_offset, &early.channel, tp);
        if (!channel->table)
            channel->table = &trodden_no_crossings;
    }
    if (!tables)
        return;
    if (!early.table && !(early.table = map(TRODDEN_MAX_TABLE_UNITS * sizeof *early.table)))
        return;
    void **table = set_variable(trodden_table_offset, 0, early.table, tp);
    /* The highest indices: the thread may have a table already, if the module is loaded by dlopen. */
    for (uint32_t i = 0; i < count && i < TRODDEN_MAX_TABLE_UNITS; i++) {
        units_begin[i].index = TRODDEN_MAX_TABLE_UNITS - 1 - i;
        table[units_begin[i].index] = early.counters[i];
    }
}
#else
static void set_variables(uintptr_t tp, uint32_t count) { (void)tp, (void)count; }
#endif

/* ---- resolvers ---- */
static bool is_registered(void) { return units_begin == units_end || units_begin[0].number; }

static void make_memory(uint32_t count) {
    early.node.target = early.node.parent = &early.node;
    for (unsigned i = 0; i < TRODDEN_CALLEE_CACHE; i++)
        ((struct trodden_call_node *volatile *)early.node.cache)[i] = &early.node;
    early.entry.next = early.ring.current = &early.entry;
    uint64_t **counters = map((count + 1) * sizeof *counters);
    for (uint32_t i = 0; counters && i < count; i++)
        counters[i] = map((units_begin[i].slots + 1) * sizeof **counters);
    early.counters = counters;
}

void __trodden_resolver_starts(void) {
    if (is_registered())
        return;
    uint32_t count = (uint32_t)(units_end - units_begin);
    early.depth++;
    if (!early.counters)
        make_memory(count);
    uintptr_t tp = get_tp();
    if (!tp) {
        struct tls_range range = tls_range();
        if ((tp = make_block(&range))) {
            set_tp(tp);
            early.tp = tp;
            early.provisional = true;
        }
    }
    set_variables(tp, count);
}

void __trodden_resolver_ends(void) {
    if (!early.depth || --early.depth)
        return;
    if (early.cursor)
        *early.cursor = early.former;
    early.cursor = NULL;
    struct tls_range range = tls_range();
    bool in_block = false;
    for (struct trodden_unit *unit = units_begin; unit < units_end; unit++) {
        unit->index = 0;
        in_block = in_block || unit->flags & TRODDEN_STATIC_TLS;
    }
    if (in_block && !early.provisional && (early.tp || (early.tp = make_block(&range))))
        copy_block(get_tp(), early.tp, &range);
}

bool trodden_early_note(const struct trodden_unit *unit, uint64_t key, uint64_t value, uint64_t amount) {
    if (!early.depth)
        return false;
    if (early.note_count == MAX_NOTES) {
        early.notes_lost = true;
        return true;
    }
    early.notes[early.note_count].unit = unit;
    early.notes[early.note_count].key = key;
    early.notes[early.note_count].value = value;
    early.notes[early.note_count++].amount = amount;
    return true;
}

struct trodden_call_node *trodden_early_call_node(void) { return early.depth ? &early.node : NULL; }

bool trodden_early_trace_full(void) {
    if (early.cursor)
        early.cursor->next = early.sink;
    return early.cursor;
}

/* ---- afterwards ---- */
static void add_counts(uint64_t *target, const uint64_t *counts, uint32_t slots) {
    for (uint32_t k = trodden_skip_zeros(counts, 0, slots); k < slots; k = trodden_skip_zeros(counts, k + 1, slots))
        target[k] += counts[k];
}

void trodden_early_counts_fold(void) {
    if (!early.counters)
        return;
    uintptr_t tp = get_tp();
    for (uint32_t i = 0; i < (uint32_t)(units_end - units_begin); i++) {
        struct trodden_unit *unit = &units_begin[i];
        bool static_tls = unit->flags & TRODDEN_STATIC_TLS;
        void *own = unit->counters();
        uint64_t *target = static_tls ? own : (*(void ***)own)[unit->index];
        const uint64_t *counts = static_tls ? (const uint64_t *)((uintptr_t)own - tp + early.tp) : early.counters[i];
        if (counts && (!static_tls || early.tp))
            add_counts(target, counts, unit->slots);
    }
    for (uint32_t i = 0; i < early.note_count; i++)
        __trodden_note(early.notes[i].unit, early.notes[i].key, early.notes[i].value, early.notes[i].amount);
    if (early.notes_lost)
        trodden_mark_incomplete();
    early.counters = NULL;
}
