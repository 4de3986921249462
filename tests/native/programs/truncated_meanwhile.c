/* Somebody truncates the live file while the runtime extends it: right before or right after it has reserved space (the
 * second argument), to the length in the first one.  What was in the file must not come back as zeros. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long length;
static int before_calls; /* of fallocate: so many are still made before the file is truncated */

__attribute__((no_profile_instrument_function)) static long call(long number, const long *values) {
    register long fourth __asm__("r10") = values[3], fifth __asm__("r8") = values[4], sixth __asm__("r9") = values[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(values[0]), "S"(values[1]), "d"(values[2]), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

/* The runtime calls this one. */
__attribute__((no_profile_instrument_function)) long syscall(long number, ...) {
    extern int *__errno_location(void);
    long values[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        values[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_fallocate && before_calls && --before_calls == 0 && truncate(getenv("TRODDEN_FILE"), length) != 0)
        abort();
    long result = call(number, values);
    if (result >= 0 || result < -4095)
        return result;
    *__errno_location() = (int)-result;
    return -1;
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
