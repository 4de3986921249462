#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include "shared.h"

int other(int n);

int main() {
    long sum = 0;
    for (int i = 1; i < 20; i++) {
        HIT();
        sum += collatz(i) + limited(i, 7) + small(i) + other(i);
    }
    return static_cast<int>(sum % 90);
}
