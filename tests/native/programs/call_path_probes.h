/* The probes of functions that record call paths, written by hand. */
#ifndef CALL_PATH_PROBES_H
#define CALL_PATH_PROBES_H

#include <trodden.h>

__attribute__((weak, visibility("default"), tls_model("initial-exec"))) __thread struct trodden_call_node *__trodden_caller =
    &trodden_outside;

static struct trodden_call_node **caller(void) { return &__trodden_caller; }

#define UNIT_CALLER caller
#include "unit.h"

#define FUNCTIONS 1000

static struct trodden_function_key keys[FUNCTIONS];

/* Before any function is entered. */
#define MAKE_KEYS()                                                                                    \
    for (unsigned key = 0; key < FUNCTIONS; key++)                                                     \
    keys[key] = (struct trodden_function_key){&unit, key}

/* Returns what has to be restored when the function is left. */
static struct trodden_call_node *enter(unsigned function) {
    const struct trodden_function_key *key = &keys[function];
    struct trodden_call_node *parent = __trodden_caller, *call = parent->cache[function % TRODDEN_CALLEE_CACHE];
    if (call->key != key) {
        call = __trodden_call(key, parent);
        parent = call->parent;
    }
#ifdef __x86_64__
    __asm__ volatile("incq %0" : "+m"(call->count) : : "cc");
#else
    __atomic_fetch_add(&call->count, 1, __ATOMIC_RELAXED);
#endif
    call->sp = (uintptr_t)__builtin_frame_address(0);
    __trodden_caller = call->target;
    return parent;
}

static void leave(struct trodden_call_node *parent) { __trodden_caller = parent; }

#endif
