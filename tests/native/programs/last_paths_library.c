/* A library that records last paths. */
int choose_one(int i);

int choose_one(int i) {
    if (i % 3 == 0)
        return 1;
    return i;
}
