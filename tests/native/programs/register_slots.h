/* A path-register slot as the lowering enters it on x86-64: its address at this location, in .trodden_cells. */
#ifndef REGISTER_SLOTS_H
#define REGISTER_SLOTS_H

#ifdef __x86_64__
#define SLOT(slot)                                                                                     \
    __asm__ volatile(".Lhere%=:\n\t.pushsection .trodden_cells,\"ao?\",@progbits,.Lhere%=\n\t"           \
                     ".balign 16\n.Lentry%=:\n\t.long .Lhere%= - .Lentry%=\n\tleaq %0, %%rax\n\t"        \
                     ".zero 12 - (. - .Lentry%=)\n\t.ascii \"cell\"\n\t.popsection"                      \
                     :                                                                                 \
                     : "m"(slot))
#else
#define SLOT(slot) __asm__ volatile("" : : "m"(slot))
#endif

#endif
