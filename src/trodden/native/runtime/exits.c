/* The ways out that run neither handlers nor destructors.  (quick_exit runs handlers of its own kind;
 * registry.c registers one before all others, hence run last.)
 *
 * Nothing of the C library has to happen in these functions but the system call.  A child of vfork
 * comes here on its parent's memory and writes nothing (execs.c). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

static _Noreturn void exit_group(int status) {
    for (;;)
        syscall(SYS_exit_group, status);
}

EXPORTED _Noreturn void _exit(int status) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    if (trodden_is_leader()) {
        if (trodden_pid() == trodden_process.pid)
            trodden_write_raw_file(&regs, true, true);
        else
            trodden_vfork_child_leaves(&regs, 1);
    }
    exit_group(status);
}

EXPORTED _Noreturn void _Exit(int status) __attribute__((alias("_exit")));
