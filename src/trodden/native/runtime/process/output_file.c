/* The output file: the live file from the start, and at the end the raw file that replaces it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"

enum { RENAME_NOREPLACE_FLAG = 1 };

static struct {
    char path[TRODDEN_PATH_BYTES], temporary_path[TRODDEN_PATH_BYTES], live_path[TRODDEN_PATH_BYTES + 8];
    uint32_t attempt, chosen_pid; /* `attempt`: a number for the name; this process replaces only its own files */
} output;

/* How live files and raw files begin. */
struct file_head {
    char magic[8];
    uint32_t version, version_specific;
    uint64_t pid, parent, start_time, start_ticks;
};

static bool has_magic(const struct file_head *head, const char *magic) {
    return memcmp(head->magic, magic, sizeof head->magic) == 0;
}

/* Is this the file of another leader in this process (a plugin loaded with RTLD_LOCAL, or the program before an
 * exec), or of a process that still runs? A file of an earlier process is replaced like any other. */
static bool is_taken(const char *path) {
    struct file_head head;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    int file = trodden_sys_open(path, O_RDONLY | O_NONBLOCK);
    if (file < 0)
        return false;
    long bytes_read = trodden_sys_read(file, &head, sizeof head);
    trodden_sys_close(file);
    bool is_live = has_magic(&head, "TRODLIVE");
    if (bytes_read != sizeof head || (!is_live && !has_magic(&head, "TRODRAW1")))
        return false;
    if (head.pid != trodden_process.pid)
        return is_live && head.start_ticks && trodden_start_ticks_of((uint32_t)head.pid) == head.start_ticks;
    uint64_t process_start = trodden_process_start_time();
    uint64_t slack = 50000000; /* the kernel counts in clock ticks */
    return head.start_time != trodden_process.start_time && process_start && head.start_time + slack >= process_start;
}

static bool choose_name(void) {
    bool fits = true;
    if (output.chosen_pid != trodden_process.pid) {
        output.chosen_pid = trodden_process.pid;
        output.attempt = 0;
        output.live_path[0] = 0;
        while ((fits = trodden_output_name(output.path, output.attempt)) && output.attempt < 1000 &&
               is_taken(output.path))
            output.attempt++;
    }
    return fits && trodden_output_name(output.path, output.attempt);
}

/* .trodden-PID-N in the directory of the output file: short, as the output file's name may be as long as names can
 * be. */
static bool temporary_name(unsigned attempt) {
    const char *slash = strrchr(output.path, '/');
    size_t length = slash ? (size_t)(slash - output.path) + 1 : 0;
    if (length + 40 > sizeof output.temporary_path)
        return false;
    memcpy(output.temporary_path, output.path, length);
    char *at = output.temporary_path + length;
    memcpy(at, ".trodden-", 9);
    at += 9;
    uint64_t numbers[] = {trodden_process.pid, attempt};
    for (int i = 0; i < 2; i++) {
        char digits[20];
        int count = 0;
        do
            digits[count++] = (char)('0' + numbers[i] % 10);
        while (numbers[i] /= 10);
        while (count)
            *at++ = digits[--count];
        *at++ = i == 0 ? '-' : 0;
    }
    return true;
}

/* Makes the directories that the output file is in.  Those that exist already are told by trying, too: a directory may
 * be searched without being readable.  Returns the error of the last one that could not be made, or 0. */
static int make_directories(void) {
    int error = 0;
    for (char *at = output.path; *at; at++) {
        if (*at != '/' || at == output.path)
            continue;
        *at = 0;
        error = syscall(SYS_mkdirat, AT_FDCWD, output.path, 0777) == 0 || errno == EEXIST ? 0 : errno;
        *at = '/';
    }
    return error;
}

static int create_temporary(void) {
    int file = -1;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        if (!temporary_name(attempt)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        file = trodden_sys_open(output.temporary_path, O_RDWR | O_CREAT | O_EXCL);
        if (file < 0 && errno == ENOENT) {
            int unmade = make_directories();
            if (!unmade)
                file = trodden_sys_open(output.temporary_path, O_RDWR | O_CREAT | O_EXCL);
            else
                errno = unmade;
        }
        if (file >= 0 || errno != EEXIST)
            break;
    }
    return file;
}

const char *trodden_output_path(void) { return output.path; }

/* A device or a pipe is written to; it must not be replaced. */
static bool is_special(void) {
    struct stat status;
    return stat(output.path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* A set-user-ID program writes nothing where its user says. */
static bool may_write(void) {
    if (!getauxval(AT_SECURE))
        return true;
    errno = EPERM;
    return false;
}

int trodden_output_open(bool *by_rename) {
    *by_rename = false;
    if (!may_write())
        return -1;
    if (!choose_name()) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (is_special())
        return trodden_sys_open(output.path, O_WRONLY);
    *by_rename = true;
    return create_temporary();
}

int trodden_output_close(bool by_rename, int file, int error, bool final) {
    if (trodden_sys_close(file) != 0 && !error)
        error = errno;
    if (!by_rename)
        return error;
    /* trodden_dump must not replace the live file, which is renamed instead. */
    if (!error && !final && output.live_path[0] && strcmp(output.live_path, output.path) == 0) {
        size_t length = strlen(output.path);
        memcpy(output.live_path + length, ".live", 6);
        if (rename(output.path, output.live_path) != 0)
            error = errno;
    }
    if (!error && rename(output.temporary_path, output.path) != 0)
        error = errno;
    if (error)
        unlink(output.temporary_path);
    else if (final && output.live_path[0] && strcmp(output.live_path, output.path) != 0)
        unlink(output.live_path);
    return error;
}

int trodden_output_create_live(void) {
    if (!trodden_output_wanted() || !may_write() || !choose_name() || is_special())
        return -1;
    return create_temporary();
}

/* A name that another process has taken meanwhile is left to it. */
static bool claim_name(void) {
    for (unsigned i = 0; i < 1000; i++) {
        if (syscall(SYS_renameat2, AT_FDCWD, output.temporary_path, AT_FDCWD, output.path, RENAME_NOREPLACE_FLAG) ==
            0)
            return true;
        if (errno != EEXIST) /* the file system or the kernel does not support RENAME_NOREPLACE */
            return rename(output.temporary_path, output.path) == 0;
        if (!is_taken(output.path))
            unlink(output.path);
        else if (!trodden_output_name(output.path, ++output.attempt))
            return false;
    }
    return false;
}

bool trodden_output_publish_live(void) {
    if (!claim_name())
        return false;
    memcpy(output.live_path, output.path, strlen(output.path) + 1);
    return true;
}

void trodden_output_remove_live(void) {
    unlink(output.temporary_path);
    output.live_path[0] = 0;
}

const char *trodden_output_live_path(void) { return output.live_path; }
