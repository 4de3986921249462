/* Jumps that restore the signal mask only where they have arrived (landing.c). */
#ifndef TRODDEN_INTERPOSE_LANDING_H
#define TRODDEN_INTERPOSE_LANDING_H

#include <features.h>
#include <stdbool.h>
#include <stdint.h>

struct trodden_thread;

/* What a landing needs; a thread has one, since all signals are blocked until it has landed. */
struct trodden_landing {
    uint64_t pc, rbx;      /* where the jump goes to, and the register that leads here meanwhile */
    uint64_t mask;         /* the signal mask to restore */
    uint64_t *left_mask;   /* the mask in the context that was left, or NULL; and what it is to be: */
    uint64_t left_value;
};

#if defined(__x86_64__) && defined(__GLIBC__)
#define TRODDEN_LANDS 1
/* Where jumps go to, with the address of the thread's landing in rbx: to the middle of a function, or to the start of
 * one, which has no caller yet. */
extern char trodden_land[], trodden_land_at_start[] __attribute__((visibility("hidden")));
#endif

/* Can jumps of the calling thread go to a landing?  Not if a shadow stack says where functions return to. */
bool trodden_can_land(const struct trodden_thread *thread);

#endif
