/* Classifies numbers and prints the average of those that count, which is a bug if none does. */
#include <stdio.h>
#include <stdlib.h>

static int classify(int number)
{
    if (number < 0)
        return -1;
    switch (number % 3) {
    case 0:
        return number == 0 ? 0 : 3;
    case 1:
        return 1;
    default:
        return 2;
    }
}

static int counts(int number)
{
    if (classify(number) < 0)
        return 0;
    return 1;
}

static int average(int total, int counted)
{
    return total / counted;
}

int main(int argc, char **argv)
{
    int total = 0, counted = 0;
    for (int i = 1; i < argc; i++) {
        int number = atoi(argv[i]);
        if (counts(number)) {
            total += number;
            counted++;
        }
    }
    printf("%d\n", average(total, counted));
    return 0;
}
