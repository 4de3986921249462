/* Symbol lookup in a loaded object, without the dynamic linker (dynamic_symbols.c). */
#ifndef TRODDEN_PLATFORM_DYNAMIC_SYMBOLS_H
#define TRODDEN_PLATFORM_DYNAMIC_SYMBOLS_H

#include <stdint.h>

/* Looks the names (terminated by NULL) up in the dynamic symbol table of the object that contains `address`. found[i]
 * becomes the address of names[i], or 0; `range` becomes the object's address range. */
void trodden_find_dynamic_symbols(uintptr_t address, const char *const *names, uintptr_t *found, uintptr_t range[2]);

#endif
