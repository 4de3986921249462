#include "clamp.h"

int main(void)
{
    return clamp(1, 0, 9) != 1 || clamp(10, 0, 9) != 9;
}
