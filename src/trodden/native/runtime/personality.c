/* Frames that an unwinder passes: by an exception, by pthread_exit, by cancellation (BL94 3.2, BL96 3.6).
 *
 * Every instrumented function has a personality that ends here: __trodden_personality, if it had none, or else a
 * small function around its own, which then calls __trodden_answered.  Unwinders ask the personality of every
 * frame on the way what to do with it.  If the answer is to go on, the frame is left at a call that will not
 * come back, just as by a jump, and is noted as such.  If the answer is a landing pad, control goes on in the
 * function, and its own counters tell.  Nothing of this costs anything as long as nobody unwinds.
 *
 * Where the frame is has to be asked with the functions of the very unwinder that calls: glibc ends threads
 * with that of libgcc_s, whatever else is linked into the program.  So whose functions they are is told by
 * the address that a personality returns to.  An unwinder in a shared object shows them by name.  One that
 * is linked into a module has been found by the copy of the runtime in that module. */
#include <errno.h>

#include "dwarf.h"

enum { CONTINUE_UNWIND = 8, CLEANUP_PHASE = 2 };

struct _Unwind_Context;

typedef uintptr_t pc_function(struct _Unwind_Context *);
typedef uintptr_t pc_info_function(struct _Unwind_Context *, int *before);
typedef uintptr_t register_function(struct _Unwind_Context *, int column);

extern pc_function _Unwind_GetIP __attribute__((weak));
extern pc_info_function _Unwind_GetIPInfo __attribute__((weak));
extern register_function _Unwind_GetGR __attribute__((weak));
extern pc_function _Unwind_GetCFA __attribute__((weak));

struct trodden_unwinder {
    pc_function *pc;
    pc_info_function *pc_info; /* or NULL */
    register_function *of;
    pc_function *sp; /* or NULL, if it is told as other registers are */
};

const struct trodden_unwinder *trodden_own_unwinder(void) {
    static struct trodden_unwinder own;
    if (!own.pc)
        own = (struct trodden_unwinder){_Unwind_GetIP, _Unwind_GetIPInfo, _Unwind_GetGR, _Unwind_GetCFA};
    return own.pc && own.of ? &own : NULL;
}

/* ---- who is unwinding? ---- */
struct found {
    struct found *next;
    uint64_t generation; /* of the images then */
    uintptr_t low, high;
    struct trodden_unwinder functions;
};

static struct found *found;

static const struct trodden_unwinder *find_again(uintptr_t caller, uint64_t generation) {
    for (struct found *each = __atomic_load_n(&found, __ATOMIC_ACQUIRE); each; each = each->next)
        if (each->generation == generation && caller >= each->low && caller < each->high)
            return &each->functions;
    return NULL;
}

static const struct trodden_unwinder *find_by_name(uintptr_t caller) {
    static const char *const names[] = {"_Unwind_GetIP", "_Unwind_GetIPInfo", "_Unwind_GetGR", "_Unwind_GetCFA",
                                        NULL};
    uint64_t generation = trodden_images_generation();
    const struct trodden_unwinder *known = find_again(caller, generation);
    if (known)
        return known;
    uintptr_t at[4], range[2];
    trodden_symbols_beside(caller, names, at, range);
    if (!at[0] || !at[2] || !at[3])
        return NULL;
    uint64_t mask = trodden_lock();
    struct found *fresh = trodden_alloc(sizeof *fresh);
    if (fresh) {
        *fresh = (struct found){found, generation, range[0], range[1],
                                {(pc_function *)at[0], (pc_info_function *)at[1], (register_function *)at[2],
                                 (pc_function *)at[3]}};
        __atomic_store_n(&found, fresh, __ATOMIC_RELEASE);
    }
    trodden_unlock(mask);
    return fresh ? &fresh->functions : NULL;
}

/* Where the object lies that this copy's unwinder is in; it stays as long as this copy. */
static struct {
    uintptr_t low, high;
} home;

static void learn_home(const struct trodden_unwinder *own) {
    static const char *const nothing[] = {NULL};
    uintptr_t range[2];
    trodden_symbols_beside((uintptr_t)own->pc, nothing, NULL, range);
    home.low = range[0];
    __atomic_store_n(&home.high, range[1], __ATOMIC_RELEASE);
}

static const struct trodden_unwinder *unwinder_at(uintptr_t caller) {
    const struct trodden_unwinder *own = trodden_own_unwinder();
    if (own && !__atomic_load_n(&home.high, __ATOMIC_ACQUIRE))
        learn_home(own);
    if (own && caller >= home.low && caller < home.high)
        return own;
    const struct trodden_module *module = trodden_module_of(caller);
    own = module ? module->unwinder : NULL;
    uintptr_t at = own ? (uintptr_t)own->pc : 0;
    return own && at >= module->low && at < module->high ? own : find_by_name(caller);
}

/* ---- where is the frame? ---- */
#if defined(__x86_64__)
static const uint8_t kept[] = {3, 12, 13, 14, 15}; /* beside the two pointers */
#else
static const uint8_t kept[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28};
#endif

void __trodden_passed(struct _Unwind_Context *context, uintptr_t caller) {
    int saved = errno, before = 0;
    const struct trodden_unwinder *ask = trodden_leading() ? unwinder_at(caller) : NULL;
    if (!ask) {
        trodden_tell_cut();
        errno = saved;
        return;
    }
    struct trodden_regs regs;
    regs.pc = trodden_strip_signature(ask->pc_info ? ask->pc_info(context, &before) : ask->pc(context));
    regs.r[TRODDEN_SP] = ask->sp ? ask->sp(context) : ask->of(context, TRODDEN_SP);
    regs.r[TRODDEN_FP] = ask->of(context, TRODDEN_FP);
    if (before || !trodden_note_passed_before(regs.pc, regs.r[TRODDEN_SP], regs.r[TRODDEN_FP])) {
        regs.known = (uint64_t)1 << TRODDEN_SP | (uint64_t)1 << TRODDEN_FP;
        for (unsigned i = 0; i < sizeof kept; i++) {
            regs.r[kept[i]] = ask->of(context, kept[i]);
            regs.known |= (uint64_t)1 << kept[i];
        }
        trodden_note_passed(&regs, before != 0);
    }
    errno = saved;
}

/* ---- the personalities ---- */
static void told(int answer, int actions, struct _Unwind_Context *context, void *caller) {
    if (answer == CONTINUE_UNWIND && actions & CLEANUP_PHASE)
        __trodden_passed(context, (uintptr_t)caller);
}

/* What a function's own personality has answered to `caller`. */
int __trodden_answered(int answer, int actions, struct _Unwind_Context *context, void *caller) {
    told(answer, actions, context, caller);
    return answer;
}

int __trodden_personality(int version, int actions, uint64_t class, void *exception,
                          struct _Unwind_Context *context) {
    (void)version, (void)class, (void)exception;
    told(CONTINUE_UNWIND, actions, context, __builtin_return_address(0));
    return CONTINUE_UNWIND;
}
