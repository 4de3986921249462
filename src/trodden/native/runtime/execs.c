/* Becoming another program, and the children that begin on their parent's memory.
 *
 * What a process has counted before an exec stays in its live file; the program that it becomes has a file of its own.
 * The functions that are active then are left for good, as at any other end (deaths.c).  If the exec fails, nothing
 * has happened.
 *
 * A child of vfork shares its parent's memory, counters included, until it calls exec or _exit.  Then its parent goes
 * on from the same vfork: to the functions that is a longjmp to where vfork returns (jumps.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

extern char **environ;

/* ---- exec ---- */
enum exec_scope { NOT_RECORDED, WHOLE_PROCESS, VFORK_CHILD };

static enum exec_scope record_before_exec(const struct trodden_regs *regs) {
    if (!trodden_is_leader() || !trodden_process.live || trodden_process.final_written)
        return NOT_RECORDED;
    if (trodden_pid() != trodden_process.pid)
        return trodden_vfork_child_leaves(regs, 1) ? VFORK_CHILD : NOT_RECORDED;
    struct trodden_images *images = trodden_images_snapshot();
    uint64_t mask = trodden_lock();
    trodden_set_images(images);
    trodden_save_all_threads(regs, false);
    __atomic_store_n(&trodden_process.live->state, TRODDEN_STATE_EXEC, __ATOMIC_RELEASE);
    /* The mask is inherited.  The others stand still, so nobody else takes the lock. */
    trodden_unlock(mask);
    return WHOLE_PROCESS;
}

static int undo_after_failure(enum exec_scope scope, const struct trodden_regs *regs) {
    int saved_errno = errno;
    if (scope == VFORK_CHILD)
        trodden_vfork_child_leaves(regs, -1);
    if (scope == WHOLE_PROCESS) {
        uint64_t mask = trodden_lock();
        __atomic_store_n(&trodden_process.live->state, TRODDEN_STATE_RUNNING, __ATOMIC_RELEASE);
        trodden_live_discard_end();
        trodden_resume_threads();
        trodden_unlock(mask);
    }
    errno = saved_errno;
    return -1;
}

static int exec_at(int directory, const char *path, char *const *arguments, char *const *environment, int flags,
                  const struct trodden_regs *regs) {
    /* What cannot be run is found out before all threads are stopped. */
    bool not_executable = directory == AT_FDCWD && !flags && path && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0;
    enum exec_scope scope = not_executable ? NOT_RECORDED : record_before_exec(regs);
    if (directory == AT_FDCWD && !flags)
        syscall(SYS_execve, path, arguments, environment);
    else
        syscall(SYS_execveat, directory, path, arguments, environment, flags);
    return undo_after_failure(scope, regs);
}

EXPORTED int execve(const char *path, char *const arguments[], char *const environment[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_at(AT_FDCWD, path, arguments, environment, 0, &regs);
}

EXPORTED int execv(const char *path, char *const arguments[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_at(AT_FDCWD, path, arguments, environ, 0, &regs);
}

EXPORTED int execveat(int directory, const char *path, char *const arguments[], char *const environment[],
                      int flags) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_at(directory, path, arguments, environment, flags, &regs);
}

EXPORTED int fexecve(int file, char *const arguments[], char *const environment[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    if (file < 0) {
        errno = EINVAL;
        return -1;
    }
    return exec_at(file, "", arguments, environment, AT_EMPTY_PATH, &regs);
}

/* What has no format of its own is a script of the shell's. */
static int exec_script(const char *path, char *const *arguments, char *const *environment,
                         const struct trodden_regs *regs) {
    size_t count = 0;
    while (arguments[count])
        count++;
    char *script_arguments[count + 3];
    script_arguments[0] = (char *)"/bin/sh";
    script_arguments[1] = (char *)path;
    memcpy(script_arguments + 2, arguments + (count ? 1 : 0), (count ? count : 1) * sizeof *script_arguments);
    return exec_at(AT_FDCWD, script_arguments[0], script_arguments, environment, 0, regs);
}

static int exec_in_path(const char *file, char *const *arguments, char *const *environment,
                        const struct trodden_regs *regs) {
    if (!*file) {
        errno = ENOENT;
        return -1;
    }
    if (strchr(file, '/')) {
        exec_at(AT_FDCWD, file, arguments, environment, 0, regs);
        return errno == ENOEXEC ? exec_script(file, arguments, environment, regs) : -1;
    }
    const char *path = getenv("PATH");
    if (!path)
        path = "/bin:/usr/bin";
    size_t length = strnlen(file, TRODDEN_PATH_BYTES);
    bool access_denied = false;
    for (const char *end; path; path = *end ? end + 1 : NULL) {
        end = strchrnul(path, ':');
        size_t part = (size_t)(end - path);
        if (length + part + 2 > TRODDEN_PATH_BYTES)
            continue;
        char candidate[part + length + 2];
        memcpy(candidate, path, part);
        candidate[part] = '/';
        memcpy(candidate + part + (part ? 1 : 0), file, length + 1);
        /* Most places do not have it: that is found out without looking at every stack. */
        if (faccessat(AT_FDCWD, candidate, X_OK, AT_EACCESS) == 0) {
            exec_at(AT_FDCWD, candidate, arguments, environment, 0, regs);
            if (errno == ENOEXEC)
                return exec_script(candidate, arguments, environment, regs);
        }
        access_denied = access_denied || errno == EACCES;
        if (errno != EACCES && errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV &&
            errno != ETIMEDOUT)
            return -1;
    }
    errno = access_denied ? EACCES : ENOENT;
    return -1;
}

EXPORTED int execvpe(const char *file, char *const arguments[], char *const environment[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_in_path(file, arguments, environment, &regs);
}

EXPORTED int execvp(const char *file, char *const arguments[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_in_path(file, arguments, environ, &regs);
}

static size_t count_arguments(va_list list) {
    size_t count = 1;
    while (va_arg(list, const char *))
        count++;
    return count;
}

static void copy_arguments(va_list list, char **arguments) {
    while ((*arguments++ = va_arg(list, char *)))
        ;
}

/* The words of a call, from `first` on, as an array. */
#define COLLECT_ARGUMENTS(words, first)                                                                                          \
    va_list list;                                                                                                      \
    va_start(list, first);                                                                                             \
    size_t count = (first) ? count_arguments(list) : 0;                                                                    \
    va_end(list);                                                                                                      \
    char *words[count + 1];                                                                                            \
    words[0] = (char *)(first);                                                                                        \
    va_start(list, first);                                                                                             \
    if (first)                                                                                                         \
    copy_arguments(list, words + 1)

EXPORTED int execl(const char *path, const char *first, ...) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    COLLECT_ARGUMENTS(words, first);
    va_end(list);
    return exec_at(AT_FDCWD, path, words, environ, 0, &regs);
}

EXPORTED int execlp(const char *file, const char *first, ...) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    COLLECT_ARGUMENTS(words, first);
    va_end(list);
    return exec_in_path(file, words, environ, &regs);
}

EXPORTED int execle(const char *path, const char *first, ...) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    COLLECT_ARGUMENTS(words, first);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return exec_at(AT_FDCWD, path, words, environment, 0, &regs);
}

/* ---- vfork ---- */

/* Called by vfork (below) with where it returns to, and the stack pointer then. */
__attribute__((used)) void trodden_before_vfork(uint64_t return_address, uint64_t sp) {
    struct trodden_thread *thread = trodden_is_leader() ? trodden_own_thread() : NULL;
    if (thread) {
        thread->vfork_return = return_address;
        thread->vfork_sp = sp;
    }
}

__attribute__((used)) int trodden_vfork_failed(int64_t error) {
    errno = (int)-error;
    return -1;
}

bool trodden_vfork_child_leaves(const struct trodden_regs *regs, int64_t amount) {
    const struct trodden_thread *thread = trodden_own_thread();
    if (!thread || !thread->vfork_return)
        return false;
    trodden_record_exits_to(regs, thread->vfork_sp, thread->vfork_return, amount);
    return true;
}

/* The child may overwrite the stack, so the return address is kept in a register. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n\t.globl vfork\n\t.type vfork,@function\nvfork:\n\t.cfi_startproc\n\t"
        "movq (%rsp), %rdi\n\tleaq 8(%rsp), %rsi\n\tsubq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"
        "callq trodden_before_vfork\n\taddq $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\t"
        "popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_register %rip, %rdi\n\t"
        "movl $58, %eax\n\tsyscall\n\t"
        "pushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %rip, 0\n\t"
        "cmpq $-4095, %rax\n\tjae 0f\n\tretq\n0:\n\t"
        "movq %rax, %rdi\n\tjmp trodden_vfork_failed\n\t"
        ".cfi_endproc\n\t.size vfork, .-vfork\n\t.popsection");
#else
__asm__(".pushsection .text\n\t.globl vfork\n\t.type vfork,@function\nvfork:\n\t.cfi_startproc\n\t"
        "stp x29, x30, [sp, #-16]!\n\t.cfi_adjust_cfa_offset 16\n\t.cfi_rel_offset x30, 8\n\t"
        "mov x0, x30\n\tadd x1, sp, #16\n\tbl trodden_before_vfork\n\t"
        "ldp x29, x30, [sp], #16\n\t.cfi_adjust_cfa_offset -16\n\t.cfi_restore x30\n\t"
        "mov x0, #0x4111\n\tmov x1, #0\n\tmov x8, #220\n\tsvc #0\n\t"
        "cmn x0, #4095\n\tb.cs 0f\n\tret\n0:\n\t"
        "b trodden_vfork_failed\n\t"
        ".cfi_endproc\n\t.size vfork, .-vfork\n\t.popsection");
#endif

/* ---- daemon ----
 * The C library's ends its first process by a way out that nobody else sees. */
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
