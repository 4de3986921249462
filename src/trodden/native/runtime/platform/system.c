/* Memory, mutual exclusion, signals, files and time, straight from the kernel.
 *
 * The C library's malloc and locks are not used: the process may end inside malloc, inside a signal handler or while
 * a lock is held.  All signals stay blocked while the runtime's lock is held, so that a handler which ends the
 * process never finds the lock held by the thread that it interrupted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/system.h"

int trodden_sys_open(const char *path, int flags) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY, 0666);
}

int trodden_sys_close(int file) { return (int)syscall(SYS_close, file); }

long trodden_sys_read(int file, void *buffer, size_t bytes) { return syscall(SYS_read, file, buffer, bytes); }

/* A write that exceeds a size limit or goes to a broken pipe fails and also raises a signal, which would end a program
 * that never wrote that file itself.  One that the program has pending already stays pending. */
long trodden_sys_write(int file, const void *buffer, size_t bytes) {
    uint64_t raised = (uint64_t)1 << (SIGPIPE - 1) | (uint64_t)1 << (SIGXFSZ - 1), mask = 0, pending = 0;
    struct timespec none = {0, 0};
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &raised, &mask, sizeof mask);
    syscall(SYS_rt_sigpending, &pending, sizeof pending);
    long written = syscall(SYS_write, file, buffer, bytes);
    int error = errno;
    raised &= ~pending;
    if (written < 0 && raised)
        syscall(SYS_rt_sigtimedwait, &raised, NULL, &none, sizeof raised);
    trodden_restore_signals(mask);
    errno = error;
    return written;
}

void trodden_sleep(uint64_t nanoseconds) {
    struct timespec interval = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &interval, NULL);
}

void *trodden_map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void trodden_unmap(void *memory, size_t bytes) {
    if (memory)
        munmap(memory, bytes);
}

void *trodden_alloc(size_t bytes) {
    static uint8_t *arena;
    static size_t remaining;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > remaining) {
        size_t chunk = bytes > 65536 ? bytes : 65536;
        uint8_t *mapping = trodden_map(chunk);
        if (!mapping)
            return NULL;
        arena = mapping;
        remaining = chunk;
    }
    void *memory = arena;
    arena += bytes;
    remaining -= bytes;
    return memory;
}

enum { LOOKS_EVERY = 8 }; /* waits, of 10 ms at most, until a thread looks who may hold the lock */

/* 0: free; 1: held; 2: held, and a thread is waiting. */
static uint32_t lock_word;
static uint32_t lock_process; /* the process whose memory this is; 0: it has ended */
static bool lock_lent;        /* the thread that stops all others wants it back */

/* Except for SIGBUS: a page of the live file may have vanished, and is then replaced. */
uint64_t trodden_block_signals(void) {
    uint64_t all = ~((uint64_t)1 << (SIGBUS - 1)), mask = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof mask);
    return mask;
}

void trodden_restore_signals(uint64_t mask) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask); }

/* A thread that waits has the signals of `mask`, so that it can be stopped meanwhile: what it waits for may be the
 * thread that stops all others.  A handler may even jump out of the wait, perhaps after this thread was the one to be
 * woken; therefore every wait ends by itself. */
static void wait_for_release(uint64_t mask) {
    struct timespec interval = {0, 10000000};
    uint32_t expected = 1;
    trodden_restore_signals(mask);
    if (__atomic_compare_exchange_n(&lock_word, &expected, 2, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
        expected == 2)
        syscall(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, 2, &interval, NULL, 0);
    trodden_block_signals();
}

/* A child of vfork may outlive the process whose memory it uses.  If a signal has killed that, the lock is held for ever:
 * the first such child takes it over. */
static bool take_from_ended_process(void) {
    uint32_t process = __atomic_load_n(&lock_process, __ATOMIC_RELAXED);
    return process && trodden_pid() != process && (uint32_t)syscall(SYS_getppid) != process &&
           __atomic_compare_exchange_n(&lock_process, &process, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* No signal stops a thread that waits with all signals blocked, or a child of vfork. */
static bool can_be_stopped(uint64_t mask) { return ~mask && trodden_pid() == lock_process; }

static bool try_lock(uint32_t held, uint64_t mask) {
    uint32_t expected = 0;
    if (!__atomic_compare_exchange_n(&lock_word, &expected, held, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    if (!__atomic_load_n(&lock_lent, __ATOMIC_RELAXED) || !can_be_stopped(mask))
        return true;
    trodden_unlock_blocked();
    return false;
}

static bool take_lock(uint64_t mask, unsigned attempts) {
    if (try_lock(1, mask))
        return true;
    int saved_errno = errno;
    bool acquired = false;
    for (unsigned i = 0; !acquired && (!attempts || i < attempts); i++) {
        wait_for_release(mask);
        /* Others may be waiting, too. */
        acquired = try_lock(2, mask) || (i % LOOKS_EVERY == LOOKS_EVERY - 1 && take_from_ended_process());
    }
    errno = saved_errno;
    return acquired;
}

void trodden_lend_lock(uint64_t nanoseconds) {
    __atomic_store_n(&lock_lent, true, __ATOMIC_RELAXED);
    trodden_unlock_blocked();
    trodden_sleep(nanoseconds);
    take_lock(~(uint64_t)0, 0);
    __atomic_store_n(&lock_lent, false, __ATOMIC_RELAXED);
}

void trodden_lock_blocked(uint64_t mask) { take_lock(mask, 0); }

uint64_t trodden_lock(void) {
    uint64_t mask = trodden_block_signals();
    take_lock(mask, 0);
    return mask;
}

bool trodden_lock_timed(uint64_t mask) {
    trodden_block_signals();
    return take_lock(mask, 100);
}

void trodden_unlock_blocked(void) {
    if (__atomic_exchange_n(&lock_word, 0, __ATOMIC_RELEASE) == 2)
        syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void trodden_unlock(uint64_t mask) {
    trodden_unlock_blocked();
    trodden_restore_signals(mask);
}

void trodden_lock_init(uint32_t process) {
    lock_process = process;
    lock_lent = false;
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

static uint64_t clock_now(clockid_t clock) {
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t trodden_now(void) { return clock_now(CLOCK_REALTIME); }

/* Not getpid of the C library: old versions cache the parent's number across vfork. */
uint32_t trodden_pid(void) { return (uint32_t)syscall(SYS_getpid); }

size_t trodden_page_size(void) {
    static size_t size;
    if (!size)
        size = (size_t)sysconf(_SC_PAGESIZE);
    return size;
}

uint64_t trodden_pid_namespace(void) {
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

static long read_file(const char *name, char *buffer, size_t capacity) {
    int file = trodden_sys_open(name, O_RDONLY);
    if (file < 0)
        return -1;
    long got = trodden_sys_read(file, buffer, capacity);
    trodden_sys_close(file);
    return got;
}

static char *append(char *at, const char *text) {
    size_t length = strlen(text);
    memcpy(at, text, length + 1);
    return at + length;
}

static char *append_number(char *at, uint32_t number) {
    char digits[12], *digit = digits + sizeof digits;
    *--digit = 0;
    do
        *--digit = (char)('0' + number % 10);
    while (number /= 10);
    return append(at, digit);
}

long trodden_read_task_file(uint32_t tid, const char *name, char *buffer, size_t capacity) {
    char path[64];
    append(append(append_number(append(path, "/proc/self/task/"), tid), "/"), name);
    return read_file(path, buffer, capacity);
}

uint64_t trodden_blocked_in_status(const char *text) {
    uint64_t mask = 0;
    const char *at = strstr(text, "\nSigBlk:\t");
    for (at = at ? at + 9 : ""; *at && *at != '\n'; at++)
        mask = mask << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
    return mask;
}

/* Field 22 of /proc/PID/stat: when the process started, in clock ticks since boot; 0 if that cannot be determined. */
uint64_t trodden_start_ticks_of(uint32_t pid) {
    char name[32], text[1024];
    append(append_number(append(name, "/proc/"), pid), "/stat");
    long got = read_file(name, text, sizeof text - 1);
    if (got <= 0)
        return 0;
    text[got] = 0;
    /* The second field is the name in parentheses, which may itself contain spaces and parentheses. */
    char *at = text + got;
    while (at > text && *at != ')')
        at--;
    for (int field = 2; field < 22; field++) {
        while (*at && *at != ' ')
            at++;
        if (!*at++)
            return 0;
    }
    uint64_t ticks = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        ticks = ticks * 10 + (uint64_t)(*at - '0');
    return ticks;
}

uint64_t trodden_process_start_ticks(void) { return trodden_start_ticks_of(trodden_pid()); }

static uint64_t nanoseconds_per_tick(void) {
    long per_second = sysconf(_SC_CLK_TCK);
    return 1000000000u / (uint64_t)(per_second > 0 ? per_second : 100);
}

uint64_t trodden_ticks_now(void) { return clock_now(CLOCK_BOOTTIME) / nanoseconds_per_tick(); }

/* The start of this process on the clock of trodden_now. */
uint64_t trodden_process_start_time(void) {
    uint64_t ticks = trodden_process_start_ticks();
    if (!ticks)
        return 0;
    uint64_t since_boot = ticks * nanoseconds_per_tick();
    return trodden_now() - clock_now(CLOCK_BOOTTIME) + since_boot;
}
