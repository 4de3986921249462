#include <cstdlib>
#include <iostream>
extern "C" double area(int);
int main(int argc, char **argv) { for (int i = 1; i < argc; i++) std::cout << area(std::atoi(argv[i])) << "\n"; }
