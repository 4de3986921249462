// Threads whose thread_local objects are destroyed when they exit, last of all.
#include "mapped_counts.h"

namespace {

volatile int sink;

struct Counter {
    int seen = 0;

    ~Counter() {
        for (int i = 0; i < seen; i++) {
            HIT();
            sink = i;
        }
        HIT();
    }
};

thread_local Counter counter;

NOINLINE int use(int times) {
    for (int i = 0; i < times; i++) {
        HIT();
        counter.seen++;
    }
    return counter.seen;
}

NOINLINE void leave(int levels) {
    HIT();
    if (levels == 0) {
        HIT();
        pthread_exit(nullptr);
    }
    leave(levels - 1);
    if (sink != -77)
        HIT();
}

void at_key_end(void *value) {
    HIT();
    sink = use(static_cast<int>(reinterpret_cast<long>(value)));
}

pthread_key_t key;

void *run(void *argument) {
    long number = reinterpret_cast<long>(argument);
    pthread_setspecific(key, argument);
    sink = use(100);
    if (number % 2) {
        HIT();
        leave(2);
    }
    HIT();
    return nullptr;
}

} // namespace

int main() {
    pthread_t ids[8];
    pthread_key_create(&key, at_key_end);
    for (int iteration = 0; iteration < 5; iteration++) {
        for (long i = 0; i < 8; i++) {
            HIT();
            pthread_create(&ids[i], nullptr, run, reinterpret_cast<void *>(i + 1));
        }
        for (pthread_t id : ids)
            pthread_join(id, nullptr);
    }
    sink = use(5);
    return 0;
}
