/* Which files must not be replaced by the output file of this process.
 *
 * Process ids are used again, by later processes and by those of other containers: a file with an id in its name may
 * be that of any other process, and is kept.  A name without an id is used by one process after the other. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "counters/live_file.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"
#include "process/raw_format.h"

/* Does the process that has begun this live file still run?  Where /proc does not tell when it started, any process
 * with its id is taken for it. */
static bool is_running(const struct trodden_live_header *head) {
    if (head->start_ticks && trodden_process_start_ticks())
        return trodden_start_ticks_of((uint32_t)head->pid) == head->start_ticks;
    return head->pid && (kill((pid_t)head->pid, 0) == 0 || errno == EPERM);
}

static bool was_written_since_start(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && (uint64_t)status.st_mtim.tv_sec * 1000000000 +
                                                (uint64_t)status.st_mtim.tv_nsec >= trodden_process.start_time;
}

/* A pattern of names without an id: is this the file of another leader in this process (a plugin loaded with
 * RTLD_LOCAL, or the program before an exec), or of a process that may still run, or that ran at the same time? */
static bool is_used(int file) {
    struct trodden_live_header head; /* raw files begin with the same fields, up to `start_time` */
    long bytes_read = trodden_sys_read(file, &head, sizeof head);
    bool is_live = bytes_read == sizeof head && memcmp(head.magic, TRODDEN_LIVE_MAGIC, sizeof head.magic) == 0;
    bool is_raw = bytes_read >= (long)sizeof(struct raw_header) &&
                  memcmp(head.magic, RAW_MAGIC, sizeof head.magic) == 0;
    if (!is_live && !is_raw)
        return false;
    if (is_live && head.pid_namespace && head.pid_namespace != trodden_pid_namespace())
        return true;
    if (head.pid != trodden_process.pid)
        return is_live ? is_running(&head) : was_written_since_start(file);
    uint64_t process_start = trodden_process_start_time();
    uint64_t slack = 50000000; /* the kernel counts in clock ticks */
    return head.start_time != trodden_process.start_time && process_start && head.start_time + slack >= process_start;
}

static bool is_in_use(const char *path) {
    int file = trodden_sys_open(path, O_RDONLY | O_NONBLOCK);
    bool used = file >= 0 && is_used(file);
    if (file >= 0)
        trodden_sys_close(file);
    return used;
}

bool trodden_output_is_kept(const char *path) {
    struct stat status;
    if (trodden_output_name_has_pid())
        return lstat(path, &status) == 0 && (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode));
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && is_in_use(path);
}

bool trodden_output_is_taken(const char *path) {
    static char live_path[TRODDEN_PATH_BYTES + 8];
    trodden_output_name_live(live_path, path);
    return trodden_output_is_kept(path) || trodden_output_is_kept(live_path);
}
