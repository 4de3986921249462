/* longjmp and its kin: the ways out of functions that neither return nor unwind (BL94 3.2, dynamically
 * computed interprocedural jumps).
 *
 * Before the jump the stack is walked up to the frame that it goes to.  Each frame on the way, and that
 * one too, is in the middle of a block, at a call that will not come back: one more way out of the block
 * of that call.  Control comes back where setjmp returns: one way out fewer of the block of that call,
 * since more leave it than have entered.  Both are added up by address, and written with the counts.
 *
 * The real function is found
 * - with glibc in a dynamic program as the next of that name in lookup order, before it is needed: a
 *   signal handler may jump, but must not ask the dynamic linker;
 * - with glibc in a static program under the name __libc_siglongjmp, of which libc.a makes the others weak
 *   aliases.  The reference is weak too, so the link line has to fetch it: -Wl,-u,__libc_siglongjmp;
 * - with musl right here: its object defines the names that we define, and cannot be linked beside ours. */
#undef _FORTIFY_SOURCE /* it would rename longjmp */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <features.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#if defined(__x86_64__)
enum { SAVED_SP = 6, SAVED_PC = 7 };
#else
enum { SAVED_SP = 13, SAVED_PC = 11 };
#endif

typedef void jump_function(struct __jmp_buf_tag *, int);

/* ---- what the C library knows ---- */
#ifdef __GLIBC__

#pragma weak dlsym
extern jump_function __libc_siglongjmp __attribute__((weak, visibility("hidden")));

static jump_function *real, *real_checked;

#ifdef __x86_64__
enum { MANGLED_FP = 1 };

static uint64_t bare(uint64_t mangled) {
    __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(mangled) : : "cc");
    return mangled;
}

static void learn_guard(void) {}
#else
enum { MANGLED_FP = 0 };

static uint64_t guard;

static uint64_t bare(uint64_t mangled) { return mangled ^ guard; }

/* The guard lies at no known place, but setjmp lays it over an address that is known here. */
static void learn_guard(void) {
    jmp_buf probe;
    register void *argument __asm__("x0") = probe;
    register uint64_t back __asm__("x19");
    __asm__ volatile("adr x19, 0f\n\tbl _setjmp\n0:"
                     : "+r"(argument), "=r"(back)
                     :
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
                       "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
                       "v28", "v29", "v30", "v31", "cc", "memory");
    guard = ((const uint64_t *)probe)[SAVED_PC] ^ back;
}
#endif

static jump_function *next_of(const char *name) {
    jump_function *found = NULL;
    if (dlsym)
        *(void **)&found = dlsym(RTLD_NEXT, name);
    return found;
}

void trodden_jumps_begin(void) {
    learn_guard();
    jump_function *jump = __libc_siglongjmp ? __libc_siglongjmp : next_of("siglongjmp");
    jump_function *checked = __libc_siglongjmp ? NULL : next_of("__longjmp_chk");
    __atomic_store_n(&real_checked, checked ? checked : jump, __ATOMIC_RELAXED);
    __atomic_store_n(&real, jump, __ATOMIC_RELEASE);
}

/* A library's constructor may jump before ours has run. */
static void be_ready(void) {
    if (!__atomic_load_n(&real, __ATOMIC_ACQUIRE))
        trodden_jumps_begin();
}

static uint64_t return_address(const struct __jmp_buf_tag *place) {
    return bare(((const uint64_t *)place)[SAVED_PC]);
}

static _Noreturn void jump_by(jump_function *jump, struct __jmp_buf_tag *place, int value) {
    static const char message[] = "trodden: no longjmp; link with -Wl,-u,__libc_siglongjmp\n";
    if (jump)
        jump(place, value);
    _exit(write(STDERR_FILENO, message, sizeof message - 1) < 0 ? 126 : 127);
}

#define JUMP jump_by(real, place, value)
#define JUMP_CHECKED jump_by(real_checked, place, value)

#else /* musl */

#pragma weak sigsetjmp

static bool ready;
static uint64_t inner; /* where setjmp returns to inside sigsetjmp */

enum { MANGLED_FP = 0 };

static uint64_t bare(uint64_t plain) { return plain; }

/* sigsetjmp keeps the address that it returns to itself, and calls setjmp. */
void trodden_jumps_begin(void) {
    if (sigsetjmp) {
        sigjmp_buf probe;
        sigsetjmp(probe, 1);
        inner = ((const uint64_t *)probe)[SAVED_PC];
    }
    __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}

static void be_ready(void) {
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        trodden_jumps_begin();
}

static uint64_t return_address(const struct __jmp_buf_tag *place) {
    uint64_t pc = ((const uint64_t *)place)[SAVED_PC];
    return inner && pc == inner ? place->__fl : pc;
}

/* All registers that a callee keeps, as setjmp has stored them; setjmp never returns zero again.  The
 * mask of blocked signals is put back by sigsetjmp, when it returns for the second time. */
static _Noreturn void restore(const struct __jmp_buf_tag *place, int value) {
    uint64_t answer = value ? (uint32_t)value : 1;
#ifdef __x86_64__
    __asm__ volatile("movq (%0), %%rbx\n\tmovq 8(%0), %%rbp\n\tmovq 16(%0), %%r12\n\t"
                     "movq 24(%0), %%r13\n\tmovq 32(%0), %%r14\n\tmovq 40(%0), %%r15\n\t"
                     "movq 48(%0), %%rsp\n\tjmp *56(%0)"
                     :
                     : "D"(place), "a"(answer)
                     : "memory");
#else
    register const void *from __asm__("x1") = place;
    register uint64_t result __asm__("x0") = answer;
    __asm__ volatile("ldp x19, x20, [x1]\n\tldp x21, x22, [x1, #16]\n\tldp x23, x24, [x1, #32]\n\t"
                     "ldp x25, x26, [x1, #48]\n\tldp x27, x28, [x1, #64]\n\tldp x29, x30, [x1, #80]\n\t"
                     "ldr x2, [x1, #104]\n\tmov sp, x2\n\tldp d8, d9, [x1, #112]\n\t"
                     "ldp d10, d11, [x1, #128]\n\tldp d12, d13, [x1, #144]\n\tldp d14, d15, [x1, #160]\n\t"
                     "br x30"
                     :
                     : "r"(from), "r"(result)
                     : "x2", "memory");
#endif
    __builtin_unreachable();
}

#define JUMP restore(place, value)
#define JUMP_CHECKED restore(place, value)

#endif

/* ---- what has been noted: a table of open addresses, at most half full ----
 *
 * Entries are made under the lock and stay where they are, so that whoever finds one may add to it without:
 * a program that jumps all the time makes no system call for it.  A table that is full is followed by a
 * larger one, and both are searched. */
enum { ROOM = 1 << 9, GROWTH = 4 };

static size_t bytes_of(uint64_t room) {
    return sizeof(struct trodden_jump_table) + room * sizeof(struct trodden_jump);
}

/* The entry, or the empty one that it would take. */
static struct trodden_jump *slot_of(struct trodden_jump_table *table, const struct trodden_jump *wanted) {
    uint64_t hash = (wanted->address ^ (uint64_t)wanted->module << 48) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ wanted->cell) * 0xd6e8feb86659fd93u;
    uint64_t index = (hash >> 32) & (table->room - 1);
    for (;; index = (index + 1) & (table->room - 1)) {
        struct trodden_jump *slot = &table->at[index];
        if (!__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) ||
            (slot->address == wanted->address && slot->cell == wanted->cell && slot->module == wanted->module &&
             slot->known == wanted->known))
            return slot;
    }
}

static struct trodden_jump *find(const struct trodden_jump *wanted) {
    struct trodden_jump_table *table = __atomic_load_n(&trodden_lead.jumps.newest, __ATOMIC_ACQUIRE);
    for (; table; table = table->older) {
        struct trodden_jump *slot = slot_of(table, wanted);
        if (slot->used)
            return slot;
    }
    return NULL;
}

static struct trodden_jump *add(const struct trodden_jump *wanted) {
    struct trodden_jumps *jumps = &trodden_lead.jumps;
    struct trodden_jump_table *table = jumps->newest;
    if (!table || table->used >= table->room / 2) {
        uint64_t room = table ? table->room * GROWTH : ROOM;
        struct trodden_jump_table *larger = trodden_keep(TRODDEN_JUMPS, 0, bytes_of(room));
        if (!larger)
            return NULL;
        larger->older = table;
        larger->room = room;
        __atomic_store_n(&jumps->newest, larger, __ATOMIC_RELEASE);
        table = larger;
    }
    struct trodden_jump *slot = slot_of(table, wanted);
    slot->module = wanted->module;
    slot->known = wanted->known;
    slot->address = wanted->address;
    slot->cell = wanted->cell;
    slot->count = 0;
    __atomic_store_n(&slot->used, true, __ATOMIC_RELEASE);
    table->used++;
    return slot;
}

struct trodden_jump *trodden_jump_at(uint32_t module, uint64_t address, bool known, uint64_t cell, bool make) {
    struct trodden_jump wanted = {.module = module, .known = known, .address = address, .cell = cell};
    struct trodden_jump *found = find(&wanted);
    return found || !make ? found : add(&wanted);
}

static void note(const struct trodden_place *place, int64_t amount) {
    const struct trodden_module *module = trodden_module_of(place->pc);
    if (!module)
        return;
    struct trodden_jump *entry = trodden_jump_at(module->index, place->pc - module->bias, place->known,
                                                 place->known ? place->cell : 0, true);
    if (entry)
        __atomic_fetch_add(&entry->count, amount, __ATOMIC_RELAXED);
    else
        trodden_tell_cut();
}

/* The tables stay mapped: a handler that forks may have interrupted somebody who is about to add to an entry. */
void trodden_jumps_forget(void) {
    for (struct trodden_jump_table *table = trodden_lead.jumps.newest; table; table = table->older)
        for (uint64_t i = 0; i < table->room; i++)
            if (table->at[i].count)
                table->at[i].count = 0;
    trodden_lead.jumps.cut = trodden_lead.jumps.elsewhere = false;
    trodden_forget_left();
}

/* ---- the walk ---- */
struct noting {
    int64_t amount;
    uint32_t skip; /* so many of the first */
};

/* Nobody can tell where the frame was. */
static void cut_in(uintptr_t pc) {
    if (trodden_module_of(pc))
        trodden_tell_cut();
}

static void note_frame(const struct trodden_place *place, void *context) {
    struct noting *noting = context;
    if (noting->skip)
        noting->skip--;
    else if (!place->interrupted)
        note(place, noting->amount);
    else if (noting->amount < 0 || !trodden_note_left(place))
        cut_in(place->pc);
}

/* What a jump puts into the registers. */
static struct trodden_regs regs_of(const struct __jmp_buf_tag *place, uint64_t pc) {
    const uint64_t *words = (const uint64_t *)place;
    struct trodden_regs regs = {.pc = pc, .known = (uint64_t)1 << TRODDEN_SP};
#if defined(__x86_64__)
    static const uint8_t columns[] = {3, 6, 12, 13, 14, 15};
#else
    static const uint8_t columns[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif
    for (unsigned i = 0; i < sizeof columns; i++) {
        regs.r[columns[i]] = MANGLED_FP && columns[i] == TRODDEN_FP ? bare(words[i]) : words[i];
        regs.known |= (uint64_t)1 << columns[i];
    }
    regs.r[TRODDEN_SP] = bare(words[SAVED_SP]);
    return regs;
}

/* A stack goes on whose frames have been noted as left. */
static void note_return(const struct trodden_regs *to) {
    struct noting back = {-1, 0};
    if (trodden_walk_stack(to, 0, true, false, note_frame, &back) == TRODDEN_LOST)
        trodden_tell_cut();
}

/* The first frames may have been noted before.  False: the jump goes to another stack.  The frames of this one are
 * left then too: should it be gone on with, they are noted as come back to. */
static bool note_frames(const struct trodden_regs *regs, const struct trodden_trail *trail) {
    struct noting forth = {1, trail->passed ? trail->passed - 1 : 0};
    enum trodden_reach reach = trodden_walk_to(regs, trail->sp, note_frame, &forth);
    if (reach == TRODDEN_LOST)
        trodden_tell_cut();
    if (reach == TRODDEN_ELSEWHERE)
        __atomic_store_n(&trodden_lead.jumps.elsewhere, true, __ATOMIC_RELAXED);
    return reach != TRODDEN_ELSEWHERE;
}

uint64_t trodden_lock_with_images(uint64_t generation) {
    uint64_t mask = trodden_lock();
    if (!trodden_lead.images || trodden_lead.images->generation != generation) {
        trodden_unlock(mask);
        struct trodden_images *images = trodden_images_gather();
        mask = trodden_lock();
        trodden_use_images(images);
    }
    trodden_renew_plain();
    return mask;
}

static __attribute__((noinline)) void note_rest(const struct trodden_regs *regs, struct trodden_trail *trail,
                                                const struct __jmp_buf_tag *place) {
    int saved = errno;
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    trail->locked = trail->fits = true;
    if (trail->there || !trodden_follow(trail)) {
        struct trodden_regs to = regs_of(place, trail->back);
        if (!trail->there && !note_frames(regs, trail) && trodden_cfa_of(&to)) {
            note_return(&to);
        } else {
            trodden_keep_landing(trail->back);
            note(&(struct trodden_place){.pc = trail->back}, -1);
        }
    }
    trodden_unlock(mask);
    errno = saved;
}

/* What has been seen before is noted without the lock.  Not so where it may be taken back again: whoever writes the
 * result has to find the same entries in use from first to last. */
static void note_jump(const struct trodden_regs *regs, const struct __jmp_buf_tag *place) {
    struct trodden_trail trail = {.pc = regs->pc,
                                  .stack = regs->r[TRODDEN_SP],
                                  .frame = regs->r[TRODDEN_FP],
                                  .sp = bare(((const uint64_t *)place)[SAVED_SP]),
                                  .back = return_address(place)};
    trodden_calls_jump(trail.sp);
    if (__atomic_load_n(&trodden_lead.jumps.elsewhere, __ATOMIC_RELAXED) || !trodden_follow(&trail))
        note_rest(regs, &trail, place);
}

void trodden_note_way(const struct trodden_regs *regs, uint64_t sp, uint64_t back, int64_t amount) {
    int saved = errno;
    struct noting noting = {amount, 0};
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    if (trodden_walk_to(regs, sp, note_frame, &noting) != TRODDEN_FOUND)
        trodden_tell_cut();
    note(&(struct trodden_place){.pc = back}, -amount);
    trodden_unlock(mask);
    errno = saved;
}

bool trodden_note_passed_before(uintptr_t pc, uint64_t stack, uint64_t frame) {
    struct trodden_trail trail = {.pc = pc, .stack = stack, .frame = frame};
    return !__atomic_load_n(&trodden_lead.jumps.elsewhere, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&trodden_lead.calls.caller, __ATOMIC_RELAXED) && trodden_note_plain(&trail);
}

void trodden_note_passed(const struct trodden_regs *regs, bool interrupted) {
    uint64_t found, mask = trodden_lock_with_images(trodden_images_generation());
    struct trodden_place place = trodden_place_of(regs, interrupted, &found);
    note_frame(&place, &(struct noting){1, 0});
    trodden_unlock(mask);
    trodden_calls_pass(found, regs->r[TRODDEN_SP]);
}

void trodden_note_return(const struct trodden_regs *regs, uintptr_t pc) {
    int saved = errno;
    uint64_t found, mask = trodden_lock_with_images(trodden_images_generation());
    struct trodden_place place = trodden_place_of(regs, false, &found);
    note(&place, 1);
    note(&(struct trodden_place){.pc = pc}, -1);
    trodden_unlock(mask);
    errno = saved;
}

void trodden_note_end(const struct trodden_regs *regs) {
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    if (trodden_walk_to(regs, UINT64_MAX, note_frame, &(struct noting){1, 0}) == TRODDEN_LOST)
        trodden_tell_cut();
    trodden_unlock(mask);
}

struct switching {
    uint64_t cfa, pc; /* where it goes to */
    bool resumed;     /* there a signal came in: nothing was left */
};

static void note_nothing(const struct trodden_place *place, void *context) {
    (void)place, (void)context;
}

static void note_switched(const struct trodden_place *place, void *context) {
    struct switching *switching = context;
    if (place->interrupted && place->cfa == switching->cfa && place->pc == switching->pc)
        switching->resumed = true;
    else
        note_frame(place, &(struct noting){1, 0});
}

void trodden_note_switch(const struct trodden_regs *from, const struct trodden_regs *to) {
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    __atomic_store_n(&trodden_lead.jumps.elsewhere, true, __ATOMIC_RELAXED);
    uint64_t cfa = trodden_cfa_of(to);
    struct switching forth = {cfa, to->pc, false};
    bool same = from && cfa && trodden_walk_stack(from, cfa, false, true, note_nothing, NULL) == TRODDEN_FOUND;
    if (from && trodden_walk_stack(from, cfa, false, same, note_switched, &forth) == TRODDEN_LOST)
        trodden_tell_cut();
    if (same && !forth.resumed)
        note(&(struct trodden_place){.pc = to->pc}, -1);
    if (!same && cfa)
        note_return(to);
    trodden_unlock(mask);
}

/* Only the copy that leads ever begins. */
static inline bool is_leading(void) {
    return __atomic_load_n(&trodden_lead.begun, __ATOMIC_ACQUIRE) == 2 || trodden_leading();
}

EXPORTED _Noreturn void longjmp(jmp_buf place, int value) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE(&regs);
    be_ready();
    if (is_leading())
        note_jump(&regs, place);
    JUMP;
}

EXPORTED _Noreturn void _longjmp(jmp_buf place, int value) __attribute__((alias("longjmp")));
EXPORTED _Noreturn void siglongjmp(sigjmp_buf place, int value) __attribute__((alias("longjmp")));

/* What glibc's headers call longjmp when they are to be careful. */
EXPORTED _Noreturn void __longjmp_chk(struct __jmp_buf_tag *place, int value) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE(&regs);
    be_ready();
    if (is_leading())
        note_jump(&regs, place);
    JUMP_CHECKED;
}
