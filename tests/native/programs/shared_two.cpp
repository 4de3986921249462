#define FILE_NUMBER 1
#include "reference_counts.h"
#include "shared.h"

int other(int n) {
    HIT();
    if (n % 4 == 0) {
        HIT();
        return collatz(n + 1) + static_cast<int>(limited(1.5 * n, 20.0));
    }
    return limited(n, 3) + small(n);
}
