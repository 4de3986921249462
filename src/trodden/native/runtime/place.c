/* Where the result goes: the live file from the start, and at the end what is written in its place. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

enum { NO_REPLACE = 1 };

static struct {
    char path[TRODDEN_PATH], temporary[TRODDEN_PATH], live[TRODDEN_PATH + 8];
    uint32_t attempt, chosen_for; /* what this leader wrote before, it replaces */
} place;

/* How raw files begin, both those that live and those that are complete. */
struct beginning {
    char magic[8];
    uint32_t version, more;
    uint64_t pid, parent, start, ticks;
};

static bool begins_as(const struct beginning *head, const char *magic) {
    return memcmp(head->magic, magic, sizeof head->magic) == 0;
}

/* Is this the result of another leader of this very process (an RTLD_LOCAL plugin, or the program that it was
 * before an exec), or of a process that still runs?  One of an earlier process is replaced like any other file. */
static bool taken(const char *path) {
    struct beginning head;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    int file = trodden_open(path, O_RDONLY | O_NONBLOCK);
    if (file < 0)
        return false;
    long got = trodden_read(file, &head, sizeof head);
    trodden_close(file);
    bool lives = begins_as(&head, "TRODLIVE");
    if (got != sizeof head || (!lives && !begins_as(&head, "TRODRAW1")))
        return false;
    if (head.pid != trodden_lead.pid)
        return lives && head.ticks && trodden_ticks_of((uint32_t)head.pid) == head.ticks;
    uint64_t since = trodden_process_start();
    uint64_t slack = 50000000; /* the kernel counts in ticks */
    return head.start != trodden_lead.start && since && head.start + slack >= since;
}

static bool choose_name(void) {
    bool fits = true;
    if (place.chosen_for != trodden_lead.pid) {
        place.chosen_for = trodden_lead.pid;
        place.attempt = 0;
        place.live[0] = 0;
        while ((fits = trodden_name(place.path, place.attempt)) && place.attempt < 1000 && taken(place.path))
            place.attempt++;
    }
    return fits && trodden_name(place.path, place.attempt);
}

/* .trodden-PID-N beside the target: short, as the target's name may be as long as names can be. */
static bool temporary_name(unsigned attempt) {
    const char *slash = strrchr(place.path, '/');
    size_t length = slash ? (size_t)(slash - place.path) + 1 : 0;
    if (length + 40 > sizeof place.temporary)
        return false;
    memcpy(place.temporary, place.path, length);
    char *at = place.temporary + length;
    memcpy(at, ".trodden-", 9);
    at += 9;
    uint64_t numbers[] = {trodden_lead.pid, attempt};
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

static int create_temporary(void) {
    int file = -1;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        if (!temporary_name(attempt)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        file = trodden_open(place.temporary, O_RDWR | O_CREAT | O_EXCL);
        if (file >= 0 || errno != EEXIST)
            break;
    }
    return file;
}

const char *trodden_place(void) { return place.path; }

/* A device or a pipe is written to; it must not be replaced. */
static bool is_special(void) {
    struct stat status;
    return stat(place.path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* A program that runs with more rights than its user writes nothing where that user says. */
static bool may_write(void) {
    if (!getauxval(AT_SECURE))
        return true;
    errno = EPERM;
    return false;
}

int trodden_open_result(bool *whole) {
    *whole = false;
    if (!may_write())
        return -1;
    if (!choose_name()) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (is_special())
        return trodden_open(place.path, O_WRONLY);
    *whole = true;
    return create_temporary();
}

int trodden_close_result(bool whole, int file, int error, bool final) {
    if (trodden_close(file) != 0 && !error)
        error = errno;
    if (!whole)
        return error;
    /* What is written on the way must not take the live file's place. */
    if (!error && !final && place.live[0] && strcmp(place.live, place.path) == 0) {
        size_t length = strlen(place.path);
        memcpy(place.live + length, ".live", 6);
        if (rename(place.path, place.live) != 0)
            error = errno;
    }
    if (!error && rename(place.temporary, place.path) != 0)
        error = errno;
    if (error)
        unlink(place.temporary);
    else if (final && place.live[0] && strcmp(place.live, place.path) != 0)
        unlink(place.live);
    return error;
}

int trodden_live_create(void) {
    if (!may_write() || !choose_name() || is_special())
        return -1;
    return create_temporary();
}

/* A name that somebody has taken meanwhile is left to him. */
static bool claim(void) {
    for (unsigned i = 0; i < 1000; i++) {
        if (syscall(SYS_renameat2, AT_FDCWD, place.temporary, AT_FDCWD, place.path, NO_REPLACE) == 0)
            return true;
        if (errno != EEXIST) /* a file system, or a kernel, that does not know this */
            return rename(place.temporary, place.path) == 0;
        if (!taken(place.path))
            unlink(place.path);
        else if (!trodden_name(place.path, ++place.attempt))
            return false;
    }
    return false;
}

bool trodden_live_name(void) {
    if (!claim())
        return false;
    memcpy(place.live, place.path, strlen(place.path) + 1);
    return true;
}

void trodden_live_unname(void) {
    unlink(place.temporary);
    place.live[0] = 0;
}

const char *trodden_live_path(void) { return place.live; }
