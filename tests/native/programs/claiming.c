/* Counts its standard input, and says that it has started; so that many of these run at the same time.
 * With "dump", it writes its counts before it reads. */
#include <string.h>
#include <unistd.h>

#include "unit.h"

UNIT('a', 3);

void trodden_dump(void) __attribute__((weak));

int main(int argc, char **argv) {
    char byte;
    STEP(1);
    if (argc > 1 && strcmp(argv[1], "dump") == 0 && trodden_dump)
        trodden_dump();
    if (write(1, "!", 1) != 1)
        return 1;
    while (read(0, &byte, 1) == 1)
        STEP(2);
    return 9;
}
