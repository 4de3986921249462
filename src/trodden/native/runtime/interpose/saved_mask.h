/* Which signals of faults were blocked when glibc's sigsetjmp saved the kernel's mask (sigmask.c): in words behind it
 * that nothing uses. */
#ifndef TRODDEN_INTERPOSE_SAVED_MASK_H
#define TRODDEN_INTERPOSE_SAVED_MASK_H

#include <setjmp.h>
#include <stdint.h>

#include "interpose/interpose.h"

#ifdef __GLIBC__
enum { TRODDEN_FAULTS_MARK_AT = 14, TRODDEN_FAULTS_AT = 15 };
#define TRODDEN_FAULTS_MARK 0x5e1bb10c4ed5a7c3u

static inline void trodden_mark_faults(struct __jmp_buf_tag *env, uint64_t faults) {
    env->__saved_mask.__val[TRODDEN_FAULTS_MARK_AT] = TRODDEN_FAULTS_MARK;
    env->__saved_mask.__val[TRODDEN_FAULTS_AT] = faults;
}

/* The mask that was saved, as the program has set it. */
static inline uint64_t trodden_saved_mask(const struct __jmp_buf_tag *env) {
    const unsigned long *words = env->__saved_mask.__val;
    bool marked = trodden_faults_were_blocked && words[TRODDEN_FAULTS_MARK_AT] == TRODDEN_FAULTS_MARK;
    return words[0] | (marked ? words[TRODDEN_FAULTS_AT] : 0);
}
#endif

#endif
