/* A library whose functions are called, and call back. */
#define CHAINS_ELSEWHERE
#include "chains.h"

NOTED long library_inner(long (*callback)(long), long number) {
    ENTER("library_inner");
    long result = callback(number) + callback(number + 1);
    LEAVE();
    return result;
}

NOTED long library_work(long (*callback)(long), long number) {
    ENTER("library_work");
    long result = 0;
    for (long i = 0; i < number; i++)
        result += library_inner(callback, i);
    LEAVE();
    return result;
}
