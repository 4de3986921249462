/* A library whose functions are called, and call back. */
#define CALL_PATH_LOG_EXTERN
#include "call_path_log.h"

LOGGED long library_inner(long (*callback)(long), long number) {
    ENTER("library_inner");
    long result = callback(number) + callback(number + 1);
    LEAVE();
    return result;
}

LOGGED long library_work(long (*callback)(long), long number) {
    ENTER("library_work");
    long result = 0;
    for (long i = 0; i < number; i++)
        result += library_inner(callback, i);
    LEAVE();
    return result;
}
