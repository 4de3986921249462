/* Frames that an unwinder leaves: for an exception, pthread_exit or cancellation (BL94 3.2, BL96 3.6).
 *
 * Every instrumented function has a personality routine that ends here: __trodden_personality, if it had none, or
 * else a wrapper around its own, which then calls __trodden_answered.  An unwinder asks the personality of every
 * frame what to do with it.  If the reason code is to continue, the frame is left at a call that will not return,
 * just as by longjmp, and is recorded as such.  If it is a landing pad, control resumes in the function, and the
 * function's own counters record that.  None of this costs anything while no stack is unwound.
 *
 * The frame's registers have to be read with the functions of the unwinder that calls: glibc ends threads with that
 * of libgcc_s, whichever else is linked into the program.  The return address of the personality tells which unwinder
 * that is.  One in a shared object exports these functions.  One that is linked into a module has been found by the
 * instance of the runtime in that module. */
#include <errno.h>

#include "counters/live_regions.h"
#include "platform/dynamic_symbols.h"
#include "platform/system.h"
#include "process/process.h"
#include "unwind/cfi.h"
#include "unwind/personality.h"

enum { INSTALL_CONTEXT = 7, CONTINUE_UNWIND = 8, CLEANUP_PHASE = 2 };

typedef uintptr_t pc_function(struct _Unwind_Context *);
typedef uintptr_t pc_info_function(struct _Unwind_Context *, int *before);
typedef uintptr_t register_function(struct _Unwind_Context *, int column);

extern pc_function _Unwind_GetIP __attribute__((weak));
extern pc_info_function _Unwind_GetIPInfo __attribute__((weak));
extern register_function _Unwind_GetGR __attribute__((weak));
extern pc_function _Unwind_GetCFA __attribute__((weak));

struct trodden_unwinder {
    pc_function *get_ip;
    pc_info_function *get_ip_info; /* or NULL */
    register_function *get_gr;
    pc_function *get_cfa; /* or NULL, if the stack pointer is read like any other register */
};

const struct trodden_unwinder *trodden_own_unwinder(void) {
    static struct trodden_unwinder own;
    if (!own.get_ip)
        own = (struct trodden_unwinder){_Unwind_GetIP, _Unwind_GetIPInfo, _Unwind_GetGR, _Unwind_GetCFA};
    return own.get_ip && own.get_gr ? &own : NULL;
}

/* ---- which unwinder calls? ---- */
struct known_unwinder {
    struct known_unwinder *next;
    uint64_t generation; /* of the images when it was found */
    uintptr_t low, high;
    struct trodden_unwinder functions;
};

static struct known_unwinder *known_unwinders;

static const struct trodden_unwinder *find_known(uintptr_t caller, uint64_t generation) {
    for (struct known_unwinder *each = __atomic_load_n(&known_unwinders, __ATOMIC_ACQUIRE); each; each = each->next)
        if (each->generation == generation && caller >= each->low && caller < each->high)
            return &each->functions;
    return NULL;
}

static const struct trodden_unwinder *find_by_name(uintptr_t caller) {
    static const char *const names[] = {"_Unwind_GetIP", "_Unwind_GetIPInfo", "_Unwind_GetGR", "_Unwind_GetCFA",
                                        NULL};
    uint64_t generation = trodden_images_generation();
    const struct trodden_unwinder *known = find_known(caller, generation);
    if (known)
        return known;
    uintptr_t at[4], range[2];
    trodden_find_dynamic_symbols(caller, names, at, range);
    if (!at[0] || !at[2] || !at[3])
        return NULL;
    uint64_t mask = trodden_lock();
    struct known_unwinder *fresh = trodden_alloc(sizeof *fresh);
    if (fresh) {
        *fresh = (struct known_unwinder){
            known_unwinders,
            generation,
            range[0],
            range[1],
            {(pc_function *)at[0], (pc_info_function *)at[1], (register_function *)at[2], (pc_function *)at[3]}};
        __atomic_store_n(&known_unwinders, fresh, __ATOMIC_RELEASE);
    }
    trodden_unlock(mask);
    return fresh ? &fresh->functions : NULL;
}

/* The address range of the object that contains this instance's unwinder, which stays loaded as long as this
 * instance. */
static struct {
    uintptr_t low, high;
} own_unwinder_range;

static void find_own_range(const struct trodden_unwinder *own) {
    static const char *const nothing[] = {NULL};
    uintptr_t range[2];
    trodden_find_dynamic_symbols((uintptr_t)own->get_ip, nothing, NULL, range);
    own_unwinder_range.low = range[0];
    __atomic_store_n(&own_unwinder_range.high, range[1], __ATOMIC_RELEASE);
}

static const struct trodden_unwinder *unwinder_at(uintptr_t caller) {
    const struct trodden_unwinder *own = trodden_own_unwinder();
    if (own && !__atomic_load_n(&own_unwinder_range.high, __ATOMIC_ACQUIRE))
        find_own_range(own);
    if (own && caller >= own_unwinder_range.low && caller < own_unwinder_range.high)
        return own;
    const struct trodden_module *module = trodden_module_of(caller);
    own = module ? module->unwinder : NULL;
    uintptr_t at = own ? (uintptr_t)own->get_ip : 0;
    return own && at >= module->low && at < module->high ? own : find_by_name(caller);
}

/* ---- the frame ---- */
#if defined(__x86_64__)
static const uint8_t callee_saved[] = {3, 12, 13, 14, 15}; /* except for the stack and frame pointer */
#else
static const uint8_t callee_saved[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28};
#endif

/* Reads the stack and frame pointer and the program counter. */
static void read_frame(const struct trodden_unwinder *unwinder, struct _Unwind_Context *context,
                       struct trodden_regs *regs, int *is_interrupted) {
    regs->pc = trodden_strip_pointer_auth(unwinder->get_ip_info ? unwinder->get_ip_info(context, is_interrupted)
                                                                : unwinder->get_ip(context));
    regs->r[TRODDEN_SP] = unwinder->get_cfa ? unwinder->get_cfa(context) : unwinder->get_gr(context, TRODDEN_SP);
    regs->r[TRODDEN_FP] = unwinder->get_gr(context, TRODDEN_FP);
    regs->known = (uint64_t)1 << TRODDEN_SP | (uint64_t)1 << TRODDEN_FP;
}

static void read_callee_saved(const struct trodden_unwinder *unwinder, struct _Unwind_Context *context,
                              struct trodden_regs *regs) {
    for (unsigned i = 0; i < sizeof callee_saved; i++) {
        regs->r[callee_saved[i]] = unwinder->get_gr(context, callee_saved[i]);
        regs->known |= (uint64_t)1 << callee_saved[i];
    }
}

void __trodden_landed(struct _Unwind_Context *context, uintptr_t caller) {
    const struct trodden_unwinder *unwinder = trodden_process.trace.active ? unwinder_at(caller) : NULL;
    struct trodden_regs regs;
    int is_interrupted = 0;
    if (!unwinder)
        return;
    read_frame(unwinder, context, &regs, &is_interrupted);
    read_callee_saved(unwinder, context, &regs);
    trodden_trace_unwound(&regs, is_interrupted != 0, true);
}

void __trodden_passed(struct _Unwind_Context *context, uintptr_t caller) {
    int saved_errno = errno, is_interrupted = 0;
    const struct trodden_unwinder *unwinder = trodden_is_leader() ? unwinder_at(caller) : NULL;
    if (!unwinder) {
        trodden_mark_incomplete();
        errno = saved_errno;
        return;
    }
    struct trodden_regs regs;
    read_frame(unwinder, context, &regs, &is_interrupted);
    if (trodden_process.trace.active) {
        read_callee_saved(unwinder, context, &regs);
        trodden_trace_unwound(&regs, is_interrupted != 0, false);
    }
    if (is_interrupted || !trodden_record_unwound_cached(regs.pc, regs.r[TRODDEN_SP], regs.r[TRODDEN_FP])) {
        read_callee_saved(unwinder, context, &regs);
        trodden_record_unwound(&regs, is_interrupted != 0);
    }
    errno = saved_errno;
}

void __trodden_left_at(uintptr_t pc) {
    if (trodden_is_leader())
        trodden_record_exit_at(pc);
    else
        trodden_mark_incomplete();
}

void __trodden_landing(void) {
    struct trodden_thread *thread = trodden_leads() ? trodden_own_thread() : NULL;
    if (thread)
        thread->unwinding.last_sp = 0;
}

/* ---- what instrumented code calls ---- */
/* An exception that has landed in a frame has left functions that were inlined into it, or leaves some that it goes on
 * through.  No personality is asked for these. */
void __trodden_inlined_left(void) { __trodden_left_at((uintptr_t)__builtin_return_address(0)); }

/* ---- personality routines ---- */
/* An unwinder that still searches for a handler has left no frame, and what it did before is over. */
static void on_answer(int reason, int actions, struct _Unwind_Context *context, void *caller) {
    if (reason == CONTINUE_UNWIND && actions & CLEANUP_PHASE)
        __trodden_passed(context, (uintptr_t)caller);
    else
        __trodden_landing();
    if (reason == INSTALL_CONTEXT)
        __trodden_landed(context, (uintptr_t)caller);
}

int __trodden_answered(int reason, int actions, struct _Unwind_Context *context, void *caller) {
    on_answer(reason, actions, context, caller);
    return reason;
}

int __trodden_personality(int version, int actions, uint64_t class, void *exception,
                          struct _Unwind_Context *context) {
    (void)version, (void)class, (void)exception;
    on_answer(CONTINUE_UNWIND, actions, context, __builtin_return_address(0));
    return CONTINUE_UNWIND;
}
