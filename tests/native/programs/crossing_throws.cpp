// Virtual calls, of which a third ends by an exception; a destructor runs on the way.
#include <cstdio>
#include <stdexcept>

struct Counts {
    int *where;
    ~Counts();
};
__attribute__((noinline)) Counts::~Counts() { ++*where; }

__attribute__((noinline)) int may_throw(int value) {
    if (value % 3 == 0)
        throw std::runtime_error("three");
    return value & 1 ? value * 2 : value;
}

struct Base {
    virtual int apply(int value) = 0;
};
struct Plain : Base {
    int apply(int value) override;
};
struct Cleaning : Base {
    int apply(int value) override;
};
__attribute__((noinline)) int Plain::apply(int value) { return may_throw(value) + 1; }
__attribute__((noinline)) int Cleaning::apply(int value) {
    int cleaned = 0;
    Counts counts{&cleaned};
    return may_throw(value + 1) + cleaned;
}

__attribute__((noinline)) int call(Base *object, int value) {
    try {
        return object->apply(value);
    } catch (std::exception &error) {
        return -1;
    }
}

int main() {
    Plain plain;
    Cleaning cleaning;
    int sum = 0;
    for (int i = 0; i < 60; i++)
        sum += call(i & 1 ? static_cast<Base *>(&plain) : &cleaning, i);
    std::printf("%d\n", sum);
}
