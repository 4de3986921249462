/* The same in C++, in functions that have nothing to clean up. */
#include "ends.h"

int main() {
    return run_threads();
}
