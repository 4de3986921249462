/* Counts before and after something happens to its live file, out.raw: it is copied, and with "truncate" truncated.
 * With "open", it needs the last descriptor for itself meanwhile. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

UNIT('a', 3);

static int copy(void) {
    char buffer[4096];
    int from = open("out.raw", O_RDONLY), to = open("copy", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    long got;
    while (from >= 0 && (got = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)got) != got)
            return -1;
    close(from);
    return close(to);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    STEP(1);
    if (!*mode && access("out.raw", R_OK) == 0 && copy() != 0)
        return 1;
    if (strcmp(mode, "truncate") == 0 && truncate("out.raw", 0) != 0)
        return 2;
    if (strcmp(mode, "open") == 0) {
        int file = open("/dev/null", O_RDONLY);
        if (file < 0 || close(file) != 0)
            return 3;
    }
    STEP(1);
    STEP(2);
    return 9;
}
