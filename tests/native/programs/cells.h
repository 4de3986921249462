/* A cell as the lowering would enter it, on x86-64: the address of `cell` at this place, in .trodden_cells. */
#ifndef CELLS_H
#define CELLS_H

#ifdef __x86_64__
#define CELL(cell)                                                                                     \
    __asm__ volatile(".Lhere%=:\n\t.pushsection .trodden_cells,\"ao?\",@progbits,.Lhere%=\n\t"           \
                     ".balign 16\n.Lentry%=:\n\t.long .Lhere%= - .Lentry%=\n\tleaq %0, %%rax\n\t"        \
                     ".zero 12 - (. - .Lentry%=)\n\t.ascii \"cell\"\n\t.popsection"                      \
                     :                                                                                 \
                     : "m"(cell))
#else
#define CELL(cell) __asm__ volatile("" : : "m"(cell))
#endif

#endif
