/* Truncates its live file in the middle of its counters, and ends: nothing touches what the file lacks. */
#include <stdlib.h>
#include <unistd.h>

static volatile int sum;

#define TEST(bit)       \
    if (n >> (bit) & 1) \
    sum += bit
#define FOUR(first) TEST(first); TEST(first + 1); TEST(first + 2); TEST(first + 3)

__attribute__((noinline)) static void many(int n) { FOUR(0); FOUR(4); FOUR(8); FOUR(12); }

int main(int count, char **arguments) {
    many(0);
    many(65535);
    return count == 2 && truncate(getenv("TRODDEN_FILE"), atol(arguments[1])) == 0 ? 7 : 1;
}
