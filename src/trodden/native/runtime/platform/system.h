/* Memory, mutual exclusion, signals, files and time, straight from the kernel (system.c). */
#ifndef TRODDEN_PLATFORM_SYSTEM_H
#define TRODDEN_PLATFORM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* System calls.  Unlike the C library's wrappers, these are not cancellation points. */
int trodden_sys_open(const char *path, int flags);
int trodden_sys_close(int file);
long trodden_sys_read(int file, void *buffer, size_t bytes);
long trodden_sys_write(int file, const void *buffer, size_t bytes); /* raises no signal */
void trodden_sleep(uint64_t nanoseconds);

void *trodden_map(size_t bytes); /* anonymous, private and zeroed; NULL: out of memory */
void trodden_unmap(void *memory, size_t bytes);
void *trodden_alloc(size_t bytes); /* never freed; the caller holds the lock */

/* The runtime's only lock.  All signals are blocked while it is held, but not while a thread waits for it. */
uint64_t trodden_lock(void);              /* returns the signal mask to restore */
void trodden_unlock(uint64_t mask);
void trodden_lock_blocked(uint64_t mask); /* the same where all signals are blocked already; `mask` is for the wait */
void trodden_unlock_blocked(void);        /* all signals stay blocked */
bool trodden_lock_timed(uint64_t mask);   /* false: it was not released within a second; signals are blocked */
/* For so long, the lock is free for those that cannot be stopped while they wait for it; the caller holds it. */
void trodden_lend_lock(uint64_t nanoseconds);
void trodden_lock_init(uint32_t process); /* it is free, in the memory of this process */

uint64_t trodden_block_signals(void); /* returns the mask to restore */
void trodden_restore_signals(uint64_t mask);

static inline uint64_t trodden_signal_bit(int number) { return (uint64_t)1 << (number - 1); }

uint64_t trodden_now(void); /* nanoseconds since the epoch */
uint64_t trodden_process_start_time(void);
uint64_t trodden_process_start_ticks(void);
uint64_t trodden_ticks_now(void); /* on the same clock */
uint64_t trodden_pid_namespace(void);          /* the number by which /proc knows it; 0: not known */
uint64_t trodden_start_ticks_of(uint32_t pid); /* 0: there is no such process, or /proc does not show it */
/* Reads up to `capacity` bytes of /proc/self/task/TID/NAME; returns how many, or a negative number. */
long trodden_read_task_file(uint32_t tid, const char *name, char *buffer, size_t capacity);
/* The signals that the kernel has blocked in a task, by its file "status"; the text ends with a zero. */
uint64_t trodden_blocked_in_status(const char *text);
size_t trodden_page_size(void);
uint32_t trodden_pid(void);

static inline uintptr_t trodden_thread_pointer(void) {
    uintptr_t tp;
#if defined(__x86_64__)
    __asm__("movq %%fs:0, %0" : "=r"(tp));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(tp));
#else
#error "trodden's runtime supports x86-64 and aarch64"
#endif
    return tp;
}

#endif
