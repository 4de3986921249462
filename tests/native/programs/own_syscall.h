/* A program's own `syscall`, which the runtime calls, too: `before_call` sees each call before it is made. */
#include <stdarg.h>
#include <sys/syscall.h>

#define UNCOUNTED __attribute__((no_profile_instrument_function))

static void before_call(long number, const long *values);

UNCOUNTED static long call(long number, const long *values) {
    register long fourth __asm__("r10") = values[3], fifth __asm__("r8") = values[4], sixth __asm__("r9") = values[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(values[0]), "S"(values[1]), "d"(values[2]), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

extern int *__errno_location(void);

UNCOUNTED long syscall(long number, ...) {
    long values[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        values[i] = va_arg(list, long);
    va_end(list);
    before_call(number, values);
    long result = call(number, values);
    if (result >= 0 || result < -4095)
        return result;
    *__errno_location() = (int)-result;
    return -1;
}
