/* Signal handlers that are called before any code with probes, twice; main has none. */
#include <signal.h>
#include <unistd.h>

static volatile int seen, done;

static void handler(int number) {
    seen = number;
    getpid();
    done++;
}

__attribute__((noinline)) static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        if (i % 3)
            sum += i;
    return sum;
}

__attribute__((no_profile_instrument_function)) int main(int argc, char **argv) {
    (void)argv;
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    raise(SIGUSR1);
    return work(argc + 4) == 7 && done == 2 ? 0 : 1;
}
