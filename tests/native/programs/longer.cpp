// Longer paths over virtual calls and calls that throw.
#include <cstdio>
#include <stdexcept>
#include <vector>

static volatile int sink;
__attribute__((noinline)) static void work(int n) { sink = sink + n; }

struct Shape {
  virtual ~Shape() = default;
  virtual int area(int n) const = 0;
};

struct Square : Shape {
  __attribute__((noinline)) int area(int n) const override {
    if (n % 3 == 0)
      throw std::runtime_error("three");
    work(n);
    return n * n;
  }
};

struct Line : Shape {
  __attribute__((noinline)) int area(int n) const override {
    if (n & 1)
      work(1);
    return 0;
  }
};

__attribute__((noinline)) static int measure(const Shape &shape, int n) {
  try {
    int found = shape.area(n);
    if (found > 20)
      work(found);
    return found;
  } catch (const std::exception &) {
    work(7);
    return -1;
  }
}

__attribute__((noinline)) static int deep(const Shape &shape, int n) {
  if (n > 4)
    return deep(shape, n - 3) + shape.area(n);
  return shape.area(n);
}

int main() {
  Square square;
  Line line;
  std::vector<const Shape *> shapes = {&square, &line, &square};
  int sum = 0;
  for (int i = 0; i < 60; i++) {
    sum += measure(*shapes[i % 3], i);
    try {
      sum += deep(*shapes[i % 2], i % 11);
    } catch (const std::runtime_error &) {
      sum--;
    }
  }
  std::printf("%d\n", sum);
}
