#include "ends.h"

int main(void) {
    return run_threads();
}
