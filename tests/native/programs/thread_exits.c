#include "thread_exits.h"

int main(void) {
    return run_threads();
}
