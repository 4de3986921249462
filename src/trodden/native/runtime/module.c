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

static void enter(void) {
    int saved = errno;
    trodden_jumps_begin();
    if (trodden_has_units())
        __trodden_enter(&(struct trodden_part){&trodden_lead, units_begin, units_end, trodden_cells_mark(),
                                               trodden_own_notes(), trodden_own_pad ? trodden_own_pad() : 0,
                                               trodden_own_unwinder()});
    errno = saved;
}

static void leave(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE(&regs);
    int saved = errno;
    /* A copy without units of its own may have led libraries that have some. */
    if (trodden_has_units() || trodden_lead.begun)
        __trodden_leave(&trodden_lead, &regs);
    errno = saved;
}

__attribute__((section(".init_array.00000"), used)) static void (*const on_load)(void) = enter;
__attribute__((section(".fini_array.00000"), used)) static void (*const on_unload)(void) = leave;
