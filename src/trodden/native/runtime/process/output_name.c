/* The name of the output file. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "process/output_file.h"
#include "process/process.h"

static char directory[PATH_MAX]; /* at the start, for a pattern that is relative */
static char pattern[PATH_MAX + 1];
static char host[65];

static void copy_text(char *target, const char *text, size_t capacity) {
    size_t length = strnlen(text, capacity - 1);
    memcpy(target, text, length);
    target[length] = 0;
}

/* Everything is read at the start: a program may change its directory and its environment. */
void trodden_output_name_init(void) {
    const char *value = secure_getenv("TRODDEN_FILE");
    if (!value || !*value)
        value = "trodden.%p.raw";
    /* A pattern that does not fit is cut off; it is still too long for a name, and reported as such when it is
     * used. */
    copy_text(pattern, value, sizeof pattern);
    directory[0] = 0;
    if (value[0] != '/' && !getcwd(directory, sizeof directory))
        directory[0] = 0;
    struct utsname system;
    if (uname(&system) == 0)
        copy_text(host, system.nodename, sizeof host);
}

static bool append(char *path, size_t *used, const char *text) {
    size_t length = strlen(text);
    if (*used + length + 1 > TRODDEN_PATH_BYTES)
        return false;
    memcpy(path + *used, text, length + 1);
    *used += length;
    return true;
}

static const char *format_decimal(uint32_t value, char *digits) {
    char *at = digits + 11;
    *at = 0;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    return at;
}

static bool pattern_has_pid(void) {
    for (const char *at = pattern; *at; at++)
        if (*at == '%' && *++at == 'p')
            return true;
    return false;
}

bool trodden_output_name_has_pid(void) {
    return pattern_has_pid() || trodden_process.pid != trodden_process.first_pid;
}

/* `number` distinguishes processes with the same id, and the leaders of one process. */
bool trodden_output_name(char *path, uint32_t number) {
    char digits[12];
    size_t used = 0;
    bool fits = true;
    path[0] = 0;
    if (directory[0])
        fits = append(path, &used, directory) && append(path, &used, "/");
    for (const char *at = pattern; *at && fits; at++) {
        char literal[2] = {*at, 0};
        if (*at == '%' && (at[1] == 'p' || at[1] == 'h' || at[1] == '%')) {
            at++;
            fits = append(path, &used,
                          *at == 'p'   ? format_decimal(trodden_process.pid, digits)
                          : *at == 'h' ? host
                                       : "%");
        } else {
            fits = append(path, &used, literal);
        }
    }
    /* Numbers go before the suffix of raw files, which they are found by. */
    static const char suffix[] = ".raw";
    bool has_suffix = fits && used >= sizeof suffix && strcmp(path + used - (sizeof suffix - 1), suffix) == 0;
    if (has_suffix)
        used -= sizeof suffix - 1;
    if (!pattern_has_pid() && trodden_output_name_has_pid())
        fits = fits && append(path, &used, ".") && append(path, &used, format_decimal(trodden_process.pid, digits));
    if (number)
        fits = fits && append(path, &used, ".") && append(path, &used, format_decimal(number, digits));
    return fits && (!has_suffix || append(path, &used, suffix));
}

void trodden_output_name_live(char *live_path, const char *path) {
    static const char suffix[] = ".live";
    size_t length = strlen(path);
    memcpy(live_path, path, length);
    memcpy(live_path + length, suffix, sizeof suffix);
}
