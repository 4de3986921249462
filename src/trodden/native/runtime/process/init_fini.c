/* The constructor and destructor of each module, which register it with the leader and unregister it.
 *
 * They are put into .init_array and .fini_array with a priority below all that compilers use.  Constructors run in
 * ascending order, so that this one is the module's first.  Destructors run in descending order, so that this one is
 * the last: after the handlers of atexit, after the destructors of static C++ objects (these are run by such
 * handlers, or on unloading by a destructor without a priority), and after every destructor function of the
 * module. */
#include <errno.h>

#include "counters/early_counts.h"
#include "counters/sparse_paths.h"
#include "counters/tls_padding.h"
#include "interpose/interpose.h"
#include "process/process.h"
#include "unwind/personality.h"
#include "unwind/register_slots.h"

extern struct trodden_unit units_begin[] __asm__("__start_trodden_units") __attribute__((weak, visibility("hidden")));
extern struct trodden_unit units_end[] __asm__("__stop_trodden_units") __attribute__((weak, visibility("hidden")));

const char __trodden_layout_4 = 0;

bool trodden_has_units(void) { return units_begin && &units_begin[0] != &units_end[0]; }

static void register_module(void) {
    int saved_errno = errno;
    trodden_longjmp_init();
    if (trodden_sigsetjmp_init)
        trodden_sigsetjmp_init();
    if (trodden_has_units()) {
        __trodden_enter(&(struct trodden_module_info){
            &trodden_process, units_begin, units_end, trodden_slots_mark(), trodden_own_sparse_paths(),
            trodden_own_padding ? trodden_own_padding() : 0, trodden_own_unwinder()});
        trodden_early_counts_fold();
    }
    errno = saved_errno;
}

static void unregister_module(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    int saved_errno = errno;
    /* An instance in a module without units may have led libraries that have some. */
    if (trodden_has_units() || trodden_process.init_state)
        __trodden_leave(&trodden_process, &regs);
    errno = saved_errno;
}

__attribute__((section(".init_array.00000"), used)) static void (*const constructor)(void) = register_module;
__attribute__((section(".fini_array.00000"), used)) static void (*const destructor)(void) = unregister_module;
