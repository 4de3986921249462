/* Around the calls by which a process gives up what it needs to create files (privileges.c). */
#ifndef TRODDEN_INTERPOSE_PRIVILEGES_H
#define TRODDEN_INTERPOSE_PRIVILEGES_H

#include <stdbool.h>

bool trodden_before_privileges(void); /* false: this instance is not the leader, and has nothing to do */
void trodden_after_privileges(bool given_up);

#endif
