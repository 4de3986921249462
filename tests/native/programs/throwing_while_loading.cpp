// Exceptions are thrown, in the program and through libraries, while other threads load and unload these.
#define FILE_NUMBER 0
#include "mapped_counts.h"

#include <dlfcn.h>
#include <stdexcept>

namespace {

using use_function = long(long, void (*)(long));

volatile int sink;
int loading, rounds;

struct Guard {
    ~Guard() {
        HIT();
        sink = 3;
    }
};

NOINLINE long fall(int levels) {
    Guard guard;
    HIT();
    if (levels == 0) {
        HIT();
        throw std::runtime_error("down");
    }
    long result = fall(levels - 1);
    if (sink != -77)
        HIT();
    return result;
}

void back(long n) {
    if (n % 2) {
        HIT();
        throw 5;
    }
    HIT();
}

NOINLINE int use(const char *path, long n) {
    HIT();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    auto *function = library ? reinterpret_cast<use_function *>(dlsym(library, "through")) : nullptr;
    if (!function)
        abort();
    try {
        sink = static_cast<int>(function(n, back));
    } catch (int number) {
        HIT();
        sink = number;
    }
    return dlclose(library);
}

void *load(void *path) {
    for (int i = 0; i < rounds; i++) {
        HIT();
        sink = use(static_cast<const char *>(path), i);
    }
    __atomic_fetch_sub(&loading, 1, __ATOMIC_SEQ_CST);
    return nullptr;
}

void *run(void *) {
    for (int i = 0; __atomic_load_n(&loading, __ATOMIC_SEQ_CST); i++) {
        HIT();
        try {
            sink = static_cast<int>(fall(i % 5));
        } catch (const std::exception &) {
            HIT();
            sink = 1;
        }
    }
    return nullptr;
}

} // namespace

int main(int argc, char **argv) {
    pthread_t ids[8], thrower;
    rounds = atoi(argv[1]);
    loading = argc - 2;
    pthread_create(&thrower, nullptr, run, nullptr);
    for (int i = 2; i < argc; i++)
        pthread_create(&ids[i], nullptr, load, argv[i]);
    for (int i = 2; i < argc; i++)
        pthread_join(ids[i], nullptr);
    pthread_join(thrower, nullptr);
    HIT();
    return 5;
}
