/* The leader: the one instance of the runtime that serves the whole process.
 *
 * Every module carries an instance.  They call each other through the weak exported functions __trodden_*, which the
 * dynamic linker binds to the first in lookup order, so that all of a process usually call the executable's.  A
 * plugin that is loaded with RTLD_LOCAL into a program without an instance finds only its own, leads itself and
 * writes a file of its own. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include "counters/live_regions.h"
#include "interpose/interpose.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"
#include "process/raw_file.h"

extern char **environ;

struct trodden_process trodden_process;

struct trodden_process *__trodden_leader(void) { return &trodden_process; }

bool trodden_leads(void) {
    return __trodden_leader() == &trodden_process &&
           __atomic_load_n(&trodden_process.init_state, __ATOMIC_ACQUIRE) == TRODDEN_INITIALIZED;
}

bool trodden_is_leader(void) {
    if (__trodden_leader() != &trodden_process)
        return false;
    /* The constructor of a library may start threads before the executable's constructors run.  A sanitizer starts
     * even before the C library does, and calls interposers when there is no environment to read. */
    if (trodden_has_units() && environ)
        trodden_init();
    return trodden_leads();
}

/* Registered before any other handler, therefore run last. */
static void on_quick_exit(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    trodden_write_raw_file(&regs, TRODDEN_WRITE_LAST);
}

void trodden_init(void) {
    int expected = TRODDEN_UNINITIALIZED;
    if (!__atomic_compare_exchange_n(&trodden_process.init_state, &expected, TRODDEN_INITIALIZING, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&trodden_process.init_state, __ATOMIC_ACQUIRE) == TRODDEN_INITIALIZING)
            sched_yield();
        return;
    }
    trodden_process.pid = trodden_process.first_pid = trodden_pid();
    trodden_lock_init(trodden_process.pid);
    trodden_process.start_time = trodden_now();
    trodden_process.exiting = trodden_process.final_written = false;
    trodden_output_errors_init();
    trodden_output_wanted_init();
    trodden_output_name_init();
    trodden_live_init();
    trodden_threads_init();
    trodden_signals_init();
    at_quick_exit(on_quick_exit);
    __atomic_store_n(&trodden_process.init_state, TRODDEN_INITIALIZED, __ATOMIC_RELEASE);
}

void trodden_dump(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    trodden_write_raw_file(&regs, TRODDEN_WRITE_SO_FAR);
}
