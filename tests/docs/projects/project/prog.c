#include <stdio.h>

int digits(const char *text);

int main(int argc, char **argv)
{
    int found = 0;
    for (int i = 1; i < argc; i++)
        found += digits(argv[i]);
    printf("%d\n", found);
    return 0;
}
