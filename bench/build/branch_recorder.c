/* The rival of traces: a program that clang has built with -fsanitize-coverage=trace-pc-guard calls a function at every
 * edge of its control-flow graph; this one appends the number of the edge to a buffer of the thread, and the buffer to
 * the file edges.PID in the current directory.  Nothing is done for processes that crash, or for signal handlers. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ENTRIES = 1 << 16 };

struct buffer {
    uint32_t used;
    uint32_t entries[ENTRIES];
};

static _Thread_local struct buffer *own;
static pthread_key_t at_exit_of_thread;
static int file = -1;

static void write_out(struct buffer *buffer) {
    const char *at = (const char *)buffer->entries;
    size_t left = buffer->used * sizeof *buffer->entries;
    while (left) {
        ssize_t written = write(file, at, left);
        if (written <= 0)
            break;
        at += written;
        left -= (size_t)written;
    }
    buffer->used = 0;
}

static void end_thread(void *buffer) { write_out(buffer); }

static void end_process(void) {
    if (own)
        write_out(own);
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    static uint32_t known;
    if (start == stop || *start)
        return;
    if (!known) {
        char name[32];
        snprintf(name, sizeof name, "edges.%d", (int)getpid());
        file = open(name, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
        pthread_key_create(&at_exit_of_thread, end_thread);
        atexit(end_process);
    }
    for (uint32_t *guard = start; guard < stop; guard++)
        *guard = ++known;
}

static struct buffer *new_buffer(void) {
    own = calloc(1, sizeof *own);
    if (!own)
        abort();
    pthread_setspecific(at_exit_of_thread, own);
    return own;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    struct buffer *buffer = own ? own : new_buffer();
    buffer->entries[buffer->used++] = *guard;
    if (buffer->used == ENTRIES)
        write_out(buffer);
}
