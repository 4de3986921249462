/* The same in C++, in functions without cleanups. */
#include "thread_exits.h"

int main() {
    return run_threads();
}
