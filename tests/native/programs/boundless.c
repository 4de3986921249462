/* A file system that has less space than it says, as with a quota of its user. */
#include <string.h>
#include <sys/statfs.h>

int fstatfs(int descriptor, struct statfs *status) {
    (void)descriptor;
    memset(status, 0, sizeof *status);
    status->f_bsize = 4096;
    status->f_bavail = 1ul << 40;
    return 0;
}
