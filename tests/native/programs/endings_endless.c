/* Four threads run forever: loops, a switch, recursion. */
#include <pthread.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned leaf(unsigned n) {
    unsigned sum = 1;
    while (n > 1) {
        if (n & 1) {
            if (n % 5 == 0)
                sum += 3;
            n = 3 * n + 1;
        } else {
            n /= 2;
        }
        switch (sum % 4) {
        case 0:
            sum += 1;
            break;
        case 1:
            sum ^= n;
            break;
        case 2:
            if (sum & 8)
                sum *= 3;
            break;
        default:
            sum++;
        }
        sink = sum;
    }
    return sum;
}

__attribute__((noinline)) static unsigned tree(unsigned n) {
    if (n < 2)
        return leaf(n + 5);
    return tree(n - 1) + tree(n - 2);
}

static void *walks(void *given) {
    for (unsigned i = 0;; i++)
        sink = tree(3 + i % 12);
    return given;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, walks, NULL);
    if (write(1, "!", 1) != 1)
        return 1;
    walks(NULL);
}
