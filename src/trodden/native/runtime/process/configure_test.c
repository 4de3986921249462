/* Test programs of build systems leave no output file.
 *
 * A configure script runs dozens of programs to learn about the compiler, and removes each of them at once: nothing
 * could be made of their counts.  They are recognised by the path of the executable, as their build systems name them:
 * autoconf's conftest, CMake's try_run, Meson's compiler checks.  TRODDEN_CONFTEST=on gives them files as any other. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/output_file.h"

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

/* At the start, since a program may change its environment. */
void trodden_output_wanted_init(void) {
    const char *value = secure_getenv("TRODDEN_CONFTEST");
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    unwanted = !(value && strcmp(value, "on") == 0) && is_configure_test(path);
}

bool trodden_output_wanted(void) { return !unwanted; }
