function prime(n,   i) { for (i = 2; i * i <= n; i++) if (n % i == 0) return 0; return n > 1 }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
BEGIN { for (i = 1; i < 3000; i++) if (prime(i)) { found++; last = i } print found, last, fib(16)
  do { n = n % 2 ? 3 * n + 1 : n / 2; if (!n) n = 27; steps++ } while (n != 1); print steps
  print exp(1), log(10), sin(1), cos(1), atan2(1, 2), int(3.7), sqrt(2), 2 ^ 10, -7 % 3; srand(5); print int(rand() * 0) }
