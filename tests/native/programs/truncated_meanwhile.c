/* Somebody truncates the live file while the runtime extends it: right before or right after it has reserved space (the
 * second argument), to the length in the first one.  What was in the file must not come back as zeros. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_syscall.h"

static long length;
static int before_calls; /* of fallocate: so many are still made before the file is truncated */

UNCOUNTED static void before_call(long number, const long *values) {
    (void)values;
    if (number == SYS_fallocate && before_calls && --before_calls == 0 && truncate(getenv("TRODDEN_FILE"), length) != 0)
        abort();
}

static jmp_buf target;

static void jump(int depth) {
    if (depth)
        jump(depth - 1);
    longjmp(target, 1);
}

static void jump_back(int depth) {
    if (setjmp(target) == 0)
        jump(depth);
}

static void *thread(void *argument) {
    jump_back(7);
    return argument;
}

int main(int count, char **arguments) {
    pthread_t id;
    jump_back(3);
    if (count < 3)
        return 1;
    length = atol(arguments[1]);
    before_calls = atoi(arguments[2]);
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    jump_back(5);
    puts(before_calls ? "not truncated" : "truncated");
    return 0;
}
