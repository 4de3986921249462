/* Two iterations, calls and returns in all ways: recursion, pointers, callbacks from the C library, jumps out of
   callees, tail calls, threads, and an exit in a callee. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;
static jmp_buf back;

#define OPAQUE __attribute__((noinline))

OPAQUE static void work(int n) { sink += n; }

OPAQUE static int kind(int n) {
  if (n % 3 == 0) {
    work(1);
    return 0;
  }
  if (n % 3 == 1) {
    work(2);
    return 1;
  }
  work(3);
  return 2;
}

OPAQUE static int twice(int n) {
  if (n % 2)
    work(n);
  return n * 2;
}

OPAQUE static int depth(int n) {
  if (n <= 0)
    return 0;
  if (n % 4 == 0)
    return depth(n - 2) + depth(n - 3);
  return depth(n - 1) + 1;
}

OPAQUE static int compare(const void *one, const void *other) {
  int a = *(const int *)one, b = *(const int *)other;
  if (a < b)
    return -1;
  return a > b;
}

OPAQUE static void leap(int n) {
  if (n % 5 == 0)
    longjmp(back, 1);
  work(n);
}

OPAQUE static int passed_on(int n) {
  if (n % 2)
    return kind(n);
  return twice(n);
}

OPAQUE static int loops(int n) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    int k = kind(i * i);
    if (k == 1) {
      found++;
      for (int j = 0; j < i % 4; j++)
        if (j & 1)
          work(j);
    } else if (k == 2) {
      found += passed_on(i);
    }
    if (i % 7 == 3)
      continue;
    work(i);
  }
  return found;
}

static void *thread(void *from) {
  int (*functions[])(int) = {kind, twice, depth};
  for (int i = 0; i < 30; i++)
    sink += functions[(i + *(int *)from) % 3](i);
  return NULL;
}

OPAQUE static void leave(int n) {
  for (int i = 0; i < 10; i++) {
    work(i);
    if (i == n)
      exit(3);
  }
}

int main(void) {
  int numbers[] = {5, 3, 9, 1, 7, 3, 8, 2}, start[2] = {0, 1};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, thread, &start[i]);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  qsort(numbers, 8, sizeof *numbers, compare);
  for (volatile int i = 1; i < 12; i++)
    if (setjmp(back) == 0)
      leap(i);
  printf("%d %d\n", loops(40), depth(17));
  leave(6);
  return 0;
}
