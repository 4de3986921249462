/* The file system of its live file, the argument, shrinks while the tree of its call paths grows: the nodes that are
 * made then are on pages without space.  It forks in the midst of them.  At the end there is space again, unless there is another argument. */
#include <stdio.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHRINKS_AT = 5000, FORKS_AT = 6500 };

static unsigned calls;
static int failed;
static const char *directory;

/* To what is in use, and so many bytes more. */
static void resize(unsigned long more) {
    struct statfs now;
    char options[64];
    failed |= statfs(directory, &now) != 0;
    unsigned long used = (now.f_blocks - now.f_bfree) * (unsigned long)now.f_bsize;
    snprintf(options, sizeof options, "size=%lu", used + more);
    failed |= mount("tmpfs", directory, "tmpfs", MS_REMOUNT, options) != 0;
}

static void act(void) {
    int status = 0;
    if (calls == SHRINKS_AT)
        resize(0);
    if (calls != FORKS_AT || fork() == 0)
        return;
    wait(&status);
    failed |= status != 0;
}

/* Two functions on each level that both call the two below: each has as many callers' paths as there are above. */
#define LEVEL(name, below)                                  \
    static void left_##name(void) {                         \
        if (++calls % 100 == 0)                             \
            act();                                          \
        left_##below(), right_##below();                    \
    }                                                       \
    static void right_##name(void) {                        \
        if (++calls % 100 == 0)                             \
            act();                                          \
        left_##below(), right_##below();                    \
    }

static void left_m(void) { calls++; }
static void right_m(void) { calls++; }
LEVEL(l, m)
LEVEL(k, l)
LEVEL(j, k)
LEVEL(i, j)
LEVEL(h, i)
LEVEL(g, h)
LEVEL(f, g)
LEVEL(e, f)
LEVEL(d, e)
LEVEL(c, d)
LEVEL(b, c)
LEVEL(a, b)

int main(int count, char **arguments) {
    pid_t own = getpid();
    directory = count > 1 ? arguments[1] : "/dev/shm";
    left_a();
    if (count == 2)
        resize(64 << 20);
    if (own == getpid())
        printf("%u %s\n", calls, failed ? "failed" : "right");
    return failed;
}
