/* What each module does by itself: it tells the leader when it is there and when it is gone.
 *
 * The hooks are put into the arrays of constructors and destructors by hand, with a priority below all
 * that the compiler hands out.  Constructors run in ascending order, so ours is the module's first.
 * Destructors run in descending order, so ours is its last: after the handlers of atexit, after the
 * destructors of static C++ objects (these are run by handlers, or when unloading by a destructor
 * without a priority), and after every destructor function of the module. */
#include <errno.h>

#include "internal.h"

extern struct trodden_unit units_begin[] __asm__("__start_trodden_units")
    __attribute__((weak, visibility("hidden")));
extern struct trodden_unit units_end[] __asm__("__stop_trodden_units")
    __attribute__((weak, visibility("hidden")));

const char __trodden_layout_2 = 0;

bool trodden_has_units(void) { return units_begin && &units_begin[0] != &units_end[0]; }

static void register_module(void) {
    int saved_errno = errno;
    trodden_longjmp_init();
    if (trodden_has_units())
        __trodden_enter(&(struct trodden_module_info){&trodden_process, units_begin, units_end, trodden_slots_mark(),
                                               trodden_own_sparse_paths(), trodden_own_padding ? trodden_own_padding() : 0,
                                               trodden_own_unwinder()});
    errno = saved_errno;
}

static void unregister_module(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    int saved_errno = errno;
    /* A copy without units of its own may have led libraries that have some. */
    if (trodden_has_units() || trodden_process.init_state)
        __trodden_leave(&trodden_process, &regs);
    errno = saved_errno;
}

__attribute__((section(".init_array.00000"), used)) static void (*const constructor)(void) = register_module;
__attribute__((section(".fini_array.00000"), used)) static void (*const destructor)(void) = unregister_module;
