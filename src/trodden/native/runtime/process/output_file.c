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

#include "counters/live_regions.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"

enum { MAX_ATTEMPTS = 1000 };

static struct {
    char path[TRODDEN_PATH_BYTES], temporary_path[TRODDEN_PATH_BYTES], live_path[TRODDEN_PATH_BYTES + 8];
    char ancestors_path[TRODDEN_PATH_BYTES + 8]; /* of the live file of the nearest ancestor that has one */
    uint32_t chosen_pid;
    unsigned attempt;
    bool owned; /* the file of that name is this process's own, and may be replaced */
    bool moved; /* names may lead elsewhere than at the start */
} output;

/* A small number for the first attempts at a name; a random one for later ones, as there may be many files. */
static uint32_t number_of_attempt(unsigned attempt) {
    uint32_t number = 0;
    if (attempt < 16)
        return attempt;
    if (syscall(SYS_getrandom, &number, sizeof number, 1 /* GRND_NONBLOCK */) != sizeof number)
        number = (uint32_t)trodden_now();
    return number | 16;
}

static bool name_output(void) { return trodden_output_name(output.path, number_of_attempt(output.attempt)); }

static bool choose_name(void) {
    if (output.chosen_pid == trodden_process.pid)
        return true;
    bool fits;
    output.chosen_pid = trodden_process.pid;
    output.attempt = 0;
    output.owned = false;
    if (output.live_path[0])
        memcpy(output.ancestors_path, output.live_path, sizeof output.live_path);
    output.live_path[0] = 0;
    while ((fits = name_output()) && output.attempt < MAX_ATTEMPTS && trodden_output_is_taken(output.path))
        output.attempt++;
    if (!fits)
        output.chosen_pid = 0;
    return fits;
}

/* .trodden-PID-N in the directory of the output file: short, as the output file's name may be as long as names can
 * be. */
static bool temporary_name(uint32_t number) {
    const char *slash = strrchr(output.path, '/');
    size_t length = slash ? (size_t)(slash - output.path) + 1 : 0;
    if (length + 40 > sizeof output.temporary_path)
        return false;
    memcpy(output.temporary_path, output.path, length);
    char *at = output.temporary_path + length;
    memcpy(at, ".trodden-", 9);
    at += 9;
    uint64_t numbers[] = {trodden_process.pid, number};
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

static bool is_at(const char *path) { return path[0] && trodden_live_is_at(path); }

/* A file that is created now would be found by nobody who looks for it where the process started. */
static bool is_elsewhere(void) {
    if (!output.moved || is_at(output.live_path[0] ? output.live_path : output.ancestors_path))
        return false;
    errno = ENOENT;
    return true;
}

static int create_temporary(void) {
    int file = -1;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        if (!temporary_name(number_of_attempt(attempt))) {
            errno = ENAMETOOLONG;
            return -1;
        }
        file = trodden_sys_open(output.temporary_path, O_RDWR | O_CREAT | O_EXCL);
        if (file < 0 && errno == ENOENT) {
            /* If a file is still there, so are its directories. */
            output.moved = output.moved || trodden_live_has_name();
            if (is_elsewhere() || (!trodden_live_exists() && trodden_live_inherited() >= 0)) {
                errno = ENOENT;
                break;
            }
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
static bool is_special(const struct stat *status) { return !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode); }

/* A pipe that nobody reads would keep the process from ending. */
static int open_special(void) {
    int file = trodden_sys_open(output.path, O_WRONLY | O_NONBLOCK);
    if (file < 0 && errno == ENXIO)
        errno = EPIPE;
    if (file >= 0)
        fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
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
    struct stat status;
    bool is_there = stat(output.path, &status) == 0;
    if (is_there && is_special(&status))
        return open_special();
    *by_rename = true;
    /* Something has been mounted over the directory, or it is another one. */
    if (output.owned && !(is_there && trodden_live_is(&status)))
        output.moved = output.moved || trodden_live_has_name();
    return is_elsewhere() ? -1 : create_temporary();
}

/* A name that another process has taken meanwhile is left to it. */
static bool claim_name(void) {
    while (!(output.owned = trodden_output_claim(output.temporary_path, output.path))) {
        if (errno != EEXIST || output.attempt >= MAX_ATTEMPTS)
            return false;
        output.attempt++;
        if (!name_output()) {
            errno = ENAMETOOLONG;
            return false;
        }
    }
    return true;
}

/* The live file makes way for what trodden_dump has written, and the name is never free in between: another process
 * would take it. */
static bool rename_live(void) {
    trodden_output_name_live(output.live_path, output.path);
    unlink(output.live_path);
    return link(output.path, output.live_path) == 0 || rename(output.path, output.live_path) == 0;
}

int trodden_output_close(bool by_rename, int file, int error, bool final) {
    if (trodden_sys_close(file) != 0 && !error)
        error = errno;
    if (!by_rename)
        return error;
    /* trodden_dump must not replace the live file, which is renamed instead. */
    if (!error && !final && output.live_path[0] && strcmp(output.live_path, output.path) == 0 && !rename_live())
        error = errno;
    /* Others count in the live file, or are named by it. */
    bool stays = !error && final && output.live_path[0] && !trodden_live_close_family();
    if (stays && output.owned) {
        output.owned = false;
        output.attempt++;
        error = name_output() ? 0 : ENAMETOOLONG;
    }
    if (!error && !(output.owned ? rename(output.temporary_path, output.path) == 0 : claim_name()))
        error = errno;
    if (error)
        unlink(output.temporary_path);
    else if (stays)
        trodden_live_leave_to_family();
    else if (final && output.live_path[0] && strcmp(output.live_path, output.path) != 0)
        unlink(output.live_path);
    if (!error && final)
        trodden_live_withdraw();
    return error;
}

int trodden_output_create_live(void) {
    struct stat status;
    errno = EPERM;
    if (!trodden_output_wanted() || !may_write() || !choose_name() || is_elsewhere() ||
        (stat(output.path, &status) == 0 && is_special(&status)))
        return -1;
    return create_temporary();
}

bool trodden_output_publish_live(void) {
    if (!claim_name())
        return false;
    /* What an earlier process has left there would be taken for this one's. */
    trodden_output_name_live(output.live_path, output.path);
    if (trodden_output_name_has_pid() || !trodden_output_is_kept(output.live_path))
        unlink(output.live_path);
    memcpy(output.live_path, output.path, strlen(output.path) + 1);
    return true;
}

void trodden_output_remove_live(void) {
    unlink(output.temporary_path);
    output.live_path[0] = 0;
}

const char *trodden_output_live_path(void) {
    return output.live_path[0] ? output.live_path : trodden_live_exists() ? output.ancestors_path : output.live_path;
}

void trodden_output_moved(void) { output.moved = true; }
