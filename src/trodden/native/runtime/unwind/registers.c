/* Registers from the ucontext that a signal handler is passed. */
#define _GNU_SOURCE
#include <ucontext.h>

#include "unwind/registers.h"

void trodden_regs_from_ucontext(const void *ucontext, struct trodden_regs *regs) {
    const ucontext_t *interrupted = ucontext;
#if defined(__x86_64__)
    static const uint8_t order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned i = 0; i < sizeof order; i++)
        regs->r[i] = (uint64_t)interrupted->uc_mcontext.gregs[order[i]];
    regs->known = 0xffff;
    regs->pc = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
#else
    for (unsigned i = 0; i < 31; i++)
        regs->r[i] = interrupted->uc_mcontext.regs[i];
    regs->r[31] = interrupted->uc_mcontext.sp;
    regs->known = 0xffffffffu;
    regs->pc = interrupted->uc_mcontext.pc;
#endif
}
