/* Interposer of daemon, which does the same with interposed functions: the C library's calls its own _exit, which
 * cannot be interposed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "platform/attributes.h"

EXPORTED int daemon(int no_chdir, int no_close) {
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child > 0)
        _exit(0);
    if (setsid() < 0)
        return -1;
    if (!no_chdir && chdir("/") != 0)
        return -1;
    if (!no_close) {
        int null = open("/dev/null", O_RDWR);
        if (null < 0)
            return -1;
        for (int i = 0; i < 3; i++)
            dup2(null, i);
        if (null > 2)
            close(null);
    }
    return 0;
}
