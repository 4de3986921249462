/* Threads on stacks that the program supplies (pthread_attr_setstack), with glibc.
 *
 * glibc allocates a thread's static TLS, counters included, from the thread's stack.  A stack that the program supplies
 * has no room for them, or would lose it.  Therefore such a thread gets a stack of glibc's, with its TLS, and then
 * runs the program's function on the stack that was supplied; pthread_getattr_np reports that one.
 *
 * A sanitizer keeps account of stacks itself: with one, glibc gets the stack as it is. */
#define _GNU_SOURCE
#include <features.h>

#ifdef __GLIBC__
#include <pthread.h>
#include <sched.h>

#include "counters/tls_padding.h"
#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "interpose/thread_attributes.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int describe_function(pthread_t, pthread_attr_t *);
extern describe_function __pthread_getattr_np __attribute__((weak, visibility("hidden")));
TRODDEN_INTERCEPTOR(create_function, pthread_create);
TRODDEN_INTERCEPTOR(describe_function, pthread_getattr_np);

size_t trodden_counters_on_stack(void) {
    size_t bytes = __atomic_load_n(&trodden_process.tls_bytes, __ATOMIC_RELAXED);
    return bytes ? bytes + TRODDEN_PADDING : 0;
}

static bool has_supplied_stack(const pthread_attr_t *attributes, struct trodden_thread *thread) {
    /* Without one, glibc reports an address that ends at zero. */
    return pthread_attr_getstack(attributes, &thread->stack, &thread->stack_bytes) == 0 &&
           (uintptr_t)thread->stack + thread->stack_bytes != 0;
}

/* What cannot be read has its default.  The thread inherits its signal mask (pthread_create.c). */
static int copy_attributes(pthread_attr_t *copy, const pthread_attr_t *attributes, size_t stack_bytes) {
    int error = pthread_attr_init(copy), value;
    struct sched_param priority;
    if (error)
        return error;
    if (pthread_attr_getdetachstate(attributes, &value) == 0)
        pthread_attr_setdetachstate(copy, value);
    if (pthread_attr_getinheritsched(attributes, &value) == 0)
        pthread_attr_setinheritsched(copy, value);
    if (pthread_attr_getschedpolicy(attributes, &value) == 0)
        pthread_attr_setschedpolicy(copy, value);
    if (pthread_attr_getschedparam(attributes, &priority) == 0)
        pthread_attr_setschedparam(copy, &priority);
    if (pthread_attr_getscope(attributes, &value) == 0)
        pthread_attr_setscope(copy, value);
    trodden_copy_processors(copy, attributes);
    return pthread_attr_setstacksize(copy, stack_bytes);
}

bool trodden_copy_without_stack(pthread_attr_t *copy, const pthread_attr_t *attributes, struct trodden_thread *thread) {
    size_t counters = trodden_counters_on_stack();
    if (counters && !__interceptor_pthread_create && has_supplied_stack(attributes, thread) &&
        copy_attributes(copy, attributes, thread->stack_bytes + counters) == 0)
        return true;
    thread->stack = NULL;
    return false;
}

/* trodden_run_on_stack: the function's frame is the last that a walk of the stack finds. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n\t.globl trodden_run_on_stack\n\t.hidden trodden_run_on_stack\n\t"
        ".type trodden_run_on_stack,@function\ntrodden_run_on_stack:\n\t.cfi_startproc\n\t"
        "pushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n\tmovq %rsp, %rbp\n\t"
        ".cfi_def_cfa_register %rbp\n\t.cfi_undefined %rip\n\t"
        "movq %rdx, %rsp\n\tmovq %rdi, %rax\n\tmovq %rsi, %rdi\n\tcallq *%rax\n\t"
        "movq %rbp, %rsp\n\tpopq %rbp\n\t.cfi_def_cfa %rsp, 8\n\tretq\n\t"
        ".cfi_endproc\n\t.size trodden_run_on_stack, .-trodden_run_on_stack\n\t.popsection");
#else
__asm__(".pushsection .text\n\t.globl trodden_run_on_stack\n\t.hidden trodden_run_on_stack\n\t"
        ".type trodden_run_on_stack,@function\ntrodden_run_on_stack:\n\t.cfi_startproc\n\t"
        "stp x29, x30, [sp, #-16]!\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset x29, -16\n\tmov x29, sp\n\t"
        ".cfi_def_cfa_register x29\n\t.cfi_undefined x30\n\t"
        "mov x9, x0\n\tmov x0, x1\n\tmov sp, x2\n\tblr x9\n\t"
        "mov sp, x29\n\tldp x29, x30, [sp], #16\n\t.cfi_def_cfa sp, 0\n\tret\n\t"
        ".cfi_endproc\n\t.size trodden_run_on_stack, .-trodden_run_on_stack\n\t.popsection");
#endif

static describe_function *real_describe(void) {
    static describe_function *real;
    if (!real && !(real = __pthread_getattr_np))
        *(void **)&real = TRODDEN_NEXT(pthread_getattr_np);
    return real;
}

EXPORTED int pthread_getattr_np(pthread_t id, pthread_attr_t *attributes) {
    int result = real_describe()(id, attributes);
    if (result != 0 || !trodden_leads())
        return result;
    void *stack = NULL;
    size_t bytes = 0;
    uint64_t mask = trodden_lock();
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        if (thread->tp == (uintptr_t)id && thread->stack) {
            stack = thread->stack;
            bytes = thread->stack_bytes;
        }
    trodden_unlock(mask);
    if (stack)
        pthread_attr_setstack(attributes, stack, bytes);
    return result;
}
#endif
