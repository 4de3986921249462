static int a(int i) { return i < 15; }
static int b(int i) { return i % 2; }
static int c(int i) { return i >= 0; }
int main(int argc, char **argv)
{
    int i = 0, n = 0;
    while (a(i) && (b(i) || c(i))) {
        i++;
    }
    for (;;) {
        if (n > 5)
            break;
        n++;
    }
    for (i = 0;
         i < 10;
         i++)
        n += i;
    do {
        n--;
    } while (n > 0 && n % 7);
    if (n > 100) {
        n = 1;
    } else if (n > 50) {
        n = 2;
    } else {
        n = 3;
    }
    for (i = 0; i < 5; i++) n += i;
    for (i = 0; i < 3; i++) for (int j = 0; j < 4; j++) n += j;
    n = argc > 1 ? 4 : 5; n++;
    if (n) n++; else n--;
    switch (n) { case 1: n = 4; break; case 2: n = 6; break; default: n = 8; }
    for (i = 0; i < 6; i++) {
        switch (i) {
        case 1: n = 4; break; case 2: n = 6; break;
        case 3: break; case 4: break;
        default: break;
        }
        if (i == 2)
            continue;
        if (i == 3 ||
            i == 4 ||
            i == 5)
            n++;
        n = i &&
            n;
        n += (i > 2
             ? a(1)
             : b(2));
    }
    goto out;
out:
    return n > 1000;
}
