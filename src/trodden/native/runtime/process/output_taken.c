/* Which files must not be replaced by the output file of this process.
 *
 * Process ids are used again, by later processes and by those of other containers: a file with an id in its name may
 * be that of any other process, and is kept.  A name without an id is used by one process after the other. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "counters/live_file.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"
#include "process/raw_format.h"

/* A pattern of names without an id: is this the file of another leader in this process (a plugin loaded with
 * RTLD_LOCAL, or the program before an exec), or of a process that may still run? */
static bool is_in_use(const char *path) {
    struct trodden_live_header head; /* raw files begin with the same fields, up to `start_time` */
    int file = trodden_sys_open(path, O_RDONLY | O_NONBLOCK);
    if (file < 0)
        return false;
    long bytes_read = trodden_sys_read(file, &head, sizeof head);
    trodden_sys_close(file);
    bool is_live = bytes_read == sizeof head && memcmp(head.magic, TRODDEN_LIVE_MAGIC, sizeof head.magic) == 0;
    bool is_raw = bytes_read >= (long)sizeof(struct raw_header) &&
                  memcmp(head.magic, RAW_MAGIC, sizeof head.magic) == 0;
    if (!is_live && !is_raw)
        return false;
    if (is_live && head.pid_namespace && head.pid_namespace != trodden_pid_namespace())
        return true;
    if (head.pid != trodden_process.pid)
        return is_live && head.start_ticks && trodden_start_ticks_of((uint32_t)head.pid) == head.start_ticks;
    uint64_t process_start = trodden_process_start_time();
    uint64_t slack = 50000000; /* the kernel counts in clock ticks */
    return head.start_time != trodden_process.start_time && process_start && head.start_time + slack >= process_start;
}

static bool is_kept(const char *path) {
    struct stat status;
    if (trodden_output_name_has_pid())
        return lstat(path, &status) == 0 && (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode));
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && is_in_use(path);
}

bool trodden_output_is_taken(const char *path) {
    static char live_path[TRODDEN_PATH_BYTES + 8];
    trodden_output_name_live(live_path, path);
    return is_kept(path) || is_kept(live_path);
}
