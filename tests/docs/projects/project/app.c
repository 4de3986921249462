#include "clamp.h"

int main(int argc, char **argv)
{
    (void)argv;
    return clamp(argc, 0, 3) == 3 ? 0 : 1;
}
