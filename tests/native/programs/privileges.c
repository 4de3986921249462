/* Gives up privileges, and then has children, which have children: argv[1] says what is done, letter by letter.

     u g    setuid, setgid                  e E   seteuid to another user and back
     r s    setresuid, setreuid             R S   setresgid, setregid
     c      chroot to the directory argv[2]       G     setgroups
     d      closes all descriptors          t     starts a thread that waits
     m      mounts an empty file system over the directory of the output
     x      executes itself, with the letters behind it
     f      forks three families
     v      the same in a child of vfork        b     goes on in a child that outlives its parent
   Where a user has no privileges to lose, the directory argv[3] loses its permission to be written instead. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

static volatile int sink;

enum { NOBODY = 65534 };

NOINLINE static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        HIT();
        sum += i & 3;
    }
    return sum;
}

NOINLINE static void grandchild(int number) {
    HIT();
    sink = work(number);
    if (number == 1)
        raise(SIGKILL);
    if (number == 2)
        abort();
    _exit(number);
}

NOINLINE static void child(int number) {
    int status;
    HIT();
    sink = work(10 * number);
    if (!fork())
        grandchild(number);
    wait(&status);
    exit(number);
}

NOINLINE static void families(void) {
    int status;
    for (int i = 0; i < 3; i++)
        if (!fork())
            child(i);
    while (wait(&status) > 0)
        HIT();
}

static void *wait_forever(void *nothing) {
    for (;;)
        pause();
    return nothing;
}

NOINLINE static void execute(int self, char **argv, char *letters) {
    char *arguments[] = {argv[0], letters, argv[2], argv[3], NULL};
    HIT();
    fexecve(self, arguments, environ);
    perror("exec");
    _exit(98);
}

static int is_lost(int result, const char *directory) {
    return result == 0 || ((errno == EPERM || errno == EINVAL) && (chmod(directory, 0500) == 0 || errno == ENOENT));
}

/* The parent ends, and the child continues when its standard input ends. */
static void go_on_in_background(void) {
    char byte;
    if (fork())
        exit(7);
    close(1); /* whoever reads what the parent has written */
    close(2);
    while (read(0, &byte, 1) > 0)
        HIT();
}

int main(int argc, char **argv) {
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), done = argc > 3, status;
    const char *directory = argc > 3 ? argv[3] : "";
    pthread_t thread;
    for (char *letter = argc > 3 ? argv[1] : (char *)""; *letter && done; letter++) {
        switch (*letter) {
        case 'u': done = is_lost(setuid(NOBODY), directory); break;
        case 'g': done = is_lost(setgid(NOBODY), directory); break;
        case 'e': done = is_lost(seteuid(NOBODY), directory); break;
        case 'E': done = seteuid(getuid()) == 0 && (getuid() == 0 || chmod(directory, 0700) == 0); break;
        case 'r': done = is_lost(setresuid(NOBODY, NOBODY, NOBODY), directory); break;
        case 's': done = is_lost(setreuid(NOBODY, NOBODY), directory); break;
        case 'R': done = is_lost(setresgid(NOBODY, NOBODY, NOBODY), directory); break;
        case 'S': done = is_lost(setregid(NOBODY, NOBODY), directory); break;
        case 'G': done = is_lost(setgroups(0, NULL), directory); break;
        case 'c': done = chroot(argv[2]) == 0 && chdir("/") == 0; break;
        case 'd':
            for (int i = 3; i < 1024; i++)
                if (i != self)
                    close(i);
            break;
        case 'b': go_on_in_background(); break;
        case 't': done = pthread_create(&thread, NULL, wait_forever, NULL) == 0; break;
        case 'm': done = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                         mount("none", directory, "tmpfs", 0, NULL) == 0; break;
        case 'x': execute(self, argv, letter + 1); break;
        case 'f': families(); break;
        case 'v':
            if (!vfork())
                execute(self, argv, letter + 1);
            done = wait(&status) > 0 && status == 7 << 8;
            letter += strlen(letter) - 1;
            break;
        default: done = 0;
        }
        HIT();
    }
    if (!done)
        perror("not done");
    return done ? 7 : 97;
}
