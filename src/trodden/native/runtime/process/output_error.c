/* Why the output file could not be written, in one line on standard error. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/system.h"
#include "process/output_file.h"

/* Only the errors that opening, writing and renaming are likely to return; strerror may allocate memory and
 * translate. */
static const char *error_text(int error, char *number, size_t capacity) {
    switch (error) {
    case EACCES: return "permission denied";
    case EBUSY: return "the file is busy";
    case EDQUOT: return "the disk quota is used up";
    case EFBIG: return "the file would exceed the size limit";
    case EIO: return "input/output error";
    case EISDIR: return "it is a directory";
    case ELOOP: return "too many symbolic links";
    case EMFILE:
    case ENFILE: return "too many open files";
    case ENAMETOOLONG: return "the name is too long";
    case ENOENT: return "no such directory";
    case ENOMEM: return "out of memory";
    case ENOSPC: return "no space left on the device";
    case ENOTDIR: return "a part of the path is not a directory";
    case EPERM: return "operation not permitted";
    case EPIPE: return "the pipe has no reader";
    case EROFS: return "the file system is read-only";
    default: break;
    }
    char *at = number + capacity - 1;
    *at = 0;
    do
        *--at = (char)('0' + error % 10);
    while (error /= 10);
    static const char word[] = "error ";
    at -= sizeof word - 1;
    memcpy(at, word, sizeof word - 1);
    return at;
}

static struct stat at_start; /* of standard error; all zero: it was closed */

void trodden_output_errors_init(void) {
    if (fstat(STDERR_FILENO, &at_start) != 0)
        memset(&at_start, 0, sizeof at_start);
}

/* The program may have closed it, and opened a file or a connection of its own, which gets the same number.  Only a log
 * that is appended to can be told from that. */
static bool is_standard_error(void) {
    struct stat now;
    if (fstat(STDERR_FILENO, &now) != 0)
        return false;
    return (now.st_dev == at_start.st_dev && now.st_ino == at_start.st_ino) ||
           (S_ISREG(now.st_mode) && (fcntl(STDERR_FILENO, F_GETFL) & O_APPEND));
}

void trodden_output_say(const char *const *parts, size_t count) {
    char message[256] = "trodden: ";
    size_t used = strlen(message);
    if (!is_standard_error())
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; parts[i][at] && at < 64; at++)
            message[used++] = (unsigned char)parts[i][at] < ' ' && i + 1 < count ? '?' : parts[i][at];
    if (trodden_sys_write(STDERR_FILENO, message, used) < 0)
        return;
}

void trodden_output_report(char *message, int error) {
    static bool reported;
    if (reported || !is_standard_error())
        return;
    reported = true;
    char number[32];
    const char *parts[] = {"trodden: cannot write ", trodden_output_path(), ": ",
                           error_text(error, number, sizeof number), "; set TRODDEN_FILE to a writable path\n"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i]);
        memcpy(message + used, parts[i], length);
        used += length;
    }
    if (trodden_sys_write(STDERR_FILENO, message, used) < 0)
        return;
}
