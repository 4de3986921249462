/* Interposers of _exit and _Exit, which run neither handlers nor destructors. (quick_exit runs handlers of its own;
 * process/leader.c registers one before all others, which therefore runs last.)
 *
 * These functions have nothing to do in the C library except for the system call.  A child of vfork that calls them
 * runs on its parent's memory and writes nothing (vfork.c). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"
#include "process/raw_file.h"

typedef void exit_function(int);
TRODDEN_INTERCEPTOR(exit_function, _exit);

static _Noreturn void exit_group(int status) {
    /* A sanitizer reports what it has found. */
    if (__interceptor__exit)
        __interceptor__exit(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

EXPORTED _Noreturn void _exit(int status) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    if (trodden_is_leader()) {
        if (trodden_pid() == trodden_process.pid)
            trodden_write_raw_file(&regs, TRODDEN_WRITE_LAST);
        else
            trodden_vfork_child_leaves(&regs, 1);
    }
    exit_group(status);
}

EXPORTED _Noreturn void _Exit(int status) __attribute__((alias("_exit")));
