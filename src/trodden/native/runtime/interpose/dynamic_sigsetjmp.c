/* Interposers of __sigsetjmp and setjmp with glibc: what sigsetjmp and the setjmp of BSD call.
 *
 * They save the kernel's mask, which lacks the signals of faults (sigmask.c): these are put beside it.  A static
 * program is linked without this file, since there is no other name for what it defines (sigsetjmp.c). */
#define _GNU_SOURCE
#include <features.h>

#ifdef __GLIBC__
#include <setjmp.h>

#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "interpose/saved_mask.h"
#include "platform/attributes.h"
#include "process/process.h"

typedef int save_function(struct __jmp_buf_tag *, int);
TRODDEN_INTERCEPTOR(save_function, __sigsetjmp);

static save_function *real;

/* A signal handler may call sigsetjmp, but must not call the dynamic linker. */
void trodden_sigsetjmp_init(void) {
    void *found = TRODDEN_NEXT(__sigsetjmp);
    __atomic_store_n((void **)&real, found, __ATOMIC_RELEASE);
}

/* The real function saves its caller's registers: it is called in tail position. */
static __attribute__((noinline)) int save_slowly(struct __jmp_buf_tag *env, int save_mask) {
    /* The constructor of a library may come here before that of this module has run. */
    if (!__atomic_load_n(&real, __ATOMIC_ACQUIRE))
        trodden_sigsetjmp_init();
    if (save_mask && trodden_faults_were_blocked) {
        const struct trodden_thread *thread = trodden_leads() ? trodden_own_thread() : NULL;
        trodden_mark_faults(env, thread ? thread->faults_blocked : 0);
    }
    TAIL_CALL return real(env, save_mask);
}

EXPORTED int __sigsetjmp(struct __jmp_buf_tag *env, int save_mask) {
    save_function *save = __atomic_load_n(&real, __ATOMIC_ACQUIRE);
    if (!save || trodden_faults_were_blocked)
        save = save_slowly;
    TAIL_CALL return save(env, save_mask);
}

/* The setjmp of BSD is __sigsetjmp(env, 1). */
#if defined(__x86_64__)
__asm__(".pushsection .text\n\t.globl setjmp\n\t.type setjmp,@function\nsetjmp:\n\t.cfi_startproc\n\t"
        "movl $1, %esi\n\tjmp __sigsetjmp@PLT\n\t.cfi_endproc\n\t.size setjmp, . - setjmp\n\t.popsection");
#else
__asm__(".pushsection .text\n\t.globl setjmp\n\t.type setjmp,@function\nsetjmp:\n\t.cfi_startproc\n\t"
        "mov w1, #1\n\tb __sigsetjmp\n\t.cfi_endproc\n\t.size setjmp, . - setjmp\n\t.popsection");
#endif
#endif
