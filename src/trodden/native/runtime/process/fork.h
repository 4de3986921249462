/* fork (fork.c). */
#ifndef TRODDEN_PROCESS_FORK_H
#define TRODDEN_PROCESS_FORK_H

void trodden_fork_init(void);

#endif
