/* Interposer of chroot: from then on, the names of output files lead elsewhere.  Children count in the live file of
 * this process (counters/live_family.c), which the descriptor is needed for. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/privileges.h"
#include "platform/attributes.h"
#include "process/output_file.h"

EXPORTED int chroot(const char *path) {
    bool leads = trodden_before_privileges();
    int result = (int)syscall(SYS_chroot, path);
    if (leads && result == 0)
        trodden_output_moved();
    trodden_after_privileges(leads && result == 0);
    return result;
}
