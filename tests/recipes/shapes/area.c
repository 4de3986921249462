#include <math.h>
double area(int n) { return n > 2 ? sqrt(n) : 0; }
