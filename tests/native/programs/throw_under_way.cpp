// The process dies by a signal, or exits, while an exception is under way in another thread: the unwinder has passed some
// of its frames, and waits in the personality of another one.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static bool reached;

// Calls a function, and has a personality that never answers once control is to leave it.
extern "C" void held(void (*function)());
#ifdef __x86_64__
asm(".text\n.globl held\n.type held, @function\nheld:\n.cfi_startproc\n.cfi_personality 0x1b, hold\n"
    "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\ncallq *%rdi\npopq %rbp\n.cfi_def_cfa_offset 8\n"
    "ret\n.cfi_endproc\n.size held, .-held\n");
#else
asm(".text\n.globl held\n.type held, %function\nheld:\n.cfi_startproc\n.cfi_personality 0x1b, hold\n"
    "stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset x29, -16\n.cfi_offset x30, -8\nblr x0\n"
    "ldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore x29\n.cfi_restore x30\nret\n.cfi_endproc\n"
    ".size held, .-held\n");
#endif

enum { CLEANUP_PHASE = 2, CONTINUE_UNWIND = 8 };

extern "C" __attribute__((used)) int hold(int, int actions, std::uint64_t, void *, void *) {
    if (!(actions & CLEANUP_PHASE))
        return CONTINUE_UNWIND;
    __atomic_store_n(&reached, true, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

static NOINLINE void down(int depth) {
    if (!depth)
        throw depth;
    down(depth - 1);
    sink = depth;
}

static NOINLINE void inside() {
    down(9);
    sink = 1;
}

static NOINLINE void around() {
    held(inside);
    sink = 1;
}

static NOINLINE void caught(int depth) {
    try {
        down(depth);
    } catch (int) {
        sink = depth;
    }
}

static void *work(void *argument) {
    caught(4);
    caught(20);
    try {
        around();
    } catch (int) {
        sink = 2;
    }
    return argument;
}

int main(int argc, char **) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, work, nullptr) != 0)
        return 1;
    while (!__atomic_load_n(&reached, __ATOMIC_ACQUIRE))
        continue;
    if (argc > 1)
        std::raise(SIGTERM);
    std::exit(0);
}
