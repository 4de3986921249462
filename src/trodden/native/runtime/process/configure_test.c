/* Test programs of build systems leave no output file.
 *
 * A configure script runs dozens of programs to learn about the compiler, and removes each of them at once: nothing
 * could be made of their counts.  They are recognised by the path of the executable, as their build systems name them:
 * autoconf's conftest, CMake's try_run, Meson's compiler checks.  Scripts that were written by hand choose other names:
 * what a running script called configure has itself made is a test program too.  Something older that it runs, such as
 * an instrumented sed, is not.  TRODDEN_CONFTEST=on gives them files as any other. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/system.h"
#include "process/output_file.h"

#define NEAREST_ANCESTORS 4 /* a script may run a program through another shell, timeout or env */
#define NANOSECONDS 1000000000

static bool unwanted;

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* Is the program conftest, or conftest.something? */
static bool is_conftest(const char *name) {
    static const char conftest[] = "conftest";
    return starts_with(name, conftest) && (!name[sizeof conftest - 1] || name[sizeof conftest - 1] == '.');
}

static bool is_configure_test(const char *path) {
    static const char *const below[] = {"/CMakeFiles/CMakeScratch/", "/CMakeFiles/CMakeTmp/", "/meson-private/"};
    const char *name = strrchr(path, '/');
    if (name && is_conftest(name + 1))
        return true;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (strstr(path, below[i]))
            return true;
    return false;
}

/* The first bytes of a file about a process, and a null byte; returns how many they are. */
static size_t read_proc(uint64_t process, const char *file, char *text, size_t capacity) {
    char path[48] = "/proc/", digits[24], *digit = digits + sizeof digits - 1;
    *digit = 0;
    do
        *--digit = (char)('0' + process % 10);
    while (process /= 10);
    strcat(strcat(path, digit), file);
    int from = trodden_sys_open(path, O_RDONLY);
    if (from < 0)
        return 0;
    long bytes = trodden_sys_read(from, text, capacity - 1);
    trodden_sys_close(from);
    size_t length = bytes > 0 ? (size_t)bytes : 0;
    text[length] = 0;
    return length;
}

/* The number that is a field of a text, counted from 0; fields are separated by single spaces. */
static uint64_t number_at(const char *text, int field) {
    uint64_t value = 0;
    for (; *text && field; text++)
        field -= *text == ' ';
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

/* The parent of a process, and when the process was started, in nanoseconds since the system was. */
static bool read_ancestor(uint64_t process, uint64_t *parent, int64_t *started) {
    char text[1024] = "";
    read_proc(process, "/stat", text, sizeof text);
    const char *fields = strrchr(text, ')'); /* the name before it may have any characters */
    if (!fields)
        return false;
    *parent = number_at(fields, 2);
    *started = (int64_t)number_at(fields, 20) * (NANOSECONDS / sysconf(_SC_CLK_TCK));
    return true;
}

/* Is a process an interpreter that runs a script called configure? */
static bool runs_configure(uint64_t process) {
    static const char after_first[] = "onfigure";
    char text[2048] = "";
    size_t length = read_proc(process, "/cmdline", text, sizeof text);
    for (const char *word = text + strlen(text) + 1; word < text + length; word += strlen(word) + 1) {
        if (word[0] == '-') {
            if (strchr(word, 'c')) /* a command in place of a script */
                return false;
            continue;
        }
        const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
        if ((name[0] != 'c' && name[0] != 'C') || !starts_with(name + 1, after_first))
            return false;
        return !name[sizeof after_first] || name[sizeof after_first] == '.';
    }
    return false;
}

/* Was the program made by a script called configure that is running it now? */
static bool is_made_by_configure(const char *path) {
    struct stat program;
    struct timespec now, since_start;
    if (stat(path, &program) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        clock_gettime(CLOCK_BOOTTIME, &since_start) != 0)
        return false;
    int64_t age = (int64_t)(now.tv_sec - program.st_mtim.tv_sec) * NANOSECONDS + now.tv_nsec - program.st_mtim.tv_nsec;
    int64_t made = (int64_t)since_start.tv_sec * NANOSECONDS + since_start.tv_nsec - age;
    uint64_t process = (uint64_t)getppid();
    for (int level = 0; level < NEAREST_ANCESTORS && process > 1; level++) {
        uint64_t parent;
        int64_t started;
        if (!read_ancestor(process, &parent, &started))
            return false;
        if (started <= made && runs_configure(process))
            return true;
        process = parent;
    }
    return false;
}

/* At the start, since a program may change its environment, and the script may end before it does. */
void trodden_output_wanted_init(void) {
    const char *value = secure_getenv("TRODDEN_CONFTEST");
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    unwanted = !(value && strcmp(value, "on") == 0) && (is_configure_test(path) || is_made_by_configure(path));
}

bool trodden_output_wanted(void) { return !unwanted; }
