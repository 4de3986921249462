/* The name of the result. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "internal.h"

static char directory[PATH_MAX]; /* of the start, for a pattern that is relative */
static char pattern[PATH_MAX + 1];
static char host[65];

static void copy_text(char *into, const char *text, size_t room) {
    size_t length = strnlen(text, room - 1);
    memcpy(into, text, length);
    into[length] = 0;
}

/* Everything is read now: a program may change its directory and its environment. */
void trodden_name_begin(void) {
    const char *given = secure_getenv("TRODDEN_FILE");
    if (!given || !*given)
        given = "trodden.%p.raw";
    /* One that does not fit is cut, still too long for a name, and reported as such when it is used. */
    copy_text(pattern, given, sizeof pattern);
    directory[0] = 0;
    if (given[0] != '/' && !getcwd(directory, sizeof directory))
        directory[0] = 0;
    struct utsname system;
    if (uname(&system) == 0)
        copy_text(host, system.nodename, sizeof host);
}

static bool append(char *path, size_t *used, const char *text) {
    size_t length = strlen(text);
    if (*used + length + 1 > TRODDEN_PATH)
        return false;
    memcpy(path + *used, text, length + 1);
    *used += length;
    return true;
}

static const char *decimal(uint32_t value, char *digits) {
    char *at = digits + 11;
    *at = 0;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    return at;
}

/* `attempt` numbers the leaders of one process, which must not overwrite each other. */
bool trodden_name(char *path, uint32_t attempt) {
    char digits[12];
    size_t used = 0;
    bool fits = true, has_pid = false;
    path[0] = 0;
    if (directory[0])
        fits = append(path, &used, directory) && append(path, &used, "/");
    for (const char *at = pattern; *at && fits; at++) {
        char plain[2] = {*at, 0};
        if (*at == '%' && (at[1] == 'p' || at[1] == 'h' || at[1] == '%')) {
            at++;
            has_pid = has_pid || *at == 'p';
            fits = append(path, &used, *at == 'p' ? decimal(trodden_lead.pid, digits) : *at == 'h' ? host : "%");
        } else {
            fits = append(path, &used, plain);
        }
    }
    /* Numbers go before the end that raw files have, so that they are found by it. */
    static const char end[] = ".raw";
    bool usual = fits && used >= sizeof end && strcmp(path + used - (sizeof end - 1), end) == 0;
    if (usual)
        used -= sizeof end - 1;
    if (!has_pid && trodden_lead.pid != trodden_lead.first_pid)
        fits = fits && append(path, &used, ".") && append(path, &used, decimal(trodden_lead.pid, digits));
    if (attempt)
        fits = fits && append(path, &used, ".") && append(path, &used, decimal(attempt, digits));
    return fits && (!usual || append(path, &used, end));
}
