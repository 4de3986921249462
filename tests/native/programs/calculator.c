/* Evaluates the lines of a file: sums, products, parentheses.  It reports what it cannot parse. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct reader {
    const char *at;
    int error;
};

static unsigned seen[256];

static unsigned hash(const char *text) {
    unsigned h = 5381;
    for (; *text; text++)
        h = h & 1 ? h * 33 + *text : h * 31 ^ *text;
    return h;
}

static int remember(unsigned h) {
    int slot = h % 256, probes = 0;
    while (seen[slot] && seen[slot] != h && probes < 256) {
        slot = (slot + 1) % 256;
        probes++;
    }
    if (probes == 256)
        memset(seen, 0, sizeof seen);
    seen[slot] = h;
    return probes;
}

static int sum(struct reader *in);

static int atom(struct reader *in) {
    int value = 0;
    while (*in->at == ' ')
        in->at++;
    if (*in->at == '(') {
        in->at++;
        value = sum(in);
        if (*in->at == ')')
            in->at++;
        else
            in->error = 1;
        return value;
    }
    if (!isdigit((unsigned char)*in->at))
        in->error = 2;
    while (isdigit((unsigned char)*in->at))
        value = value * 10 + (*in->at++ - '0');
    return value;
}

static int product(struct reader *in) {
    int value = atom(in);
    for (;;) {
        while (*in->at == ' ')
            in->at++;
        if (*in->at != '*')
            return value;
        in->at++;
        value *= atom(in);
    }
}

static int sum(struct reader *in) {
    int value = product(in);
    for (;;) {
        if (*in->at == '+') {
            in->at++;
            value += product(in);
        } else if (*in->at == '-') {
            in->at++;
            value -= product(in);
        } else {
            return value;
        }
    }
}

static void complain(const char *line, int error) {
    printf("error %d: ", error);
    for (; *line; line++)
        putchar(*line == '\n' ? '|' : *line);
    putchar('\n');
}

int main(int argc, char **argv) {
    char line[512];
    int errors = 0;
    unsigned total = 0;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    while (file && fgets(line, sizeof line, file)) {
        struct reader in = {line, 0};
        int value = sum(&in);
        if (in.error) {
            errors++;
            complain(line, in.error);
            continue;
        }
        total += value + remember(hash(line));
    }
    printf("%u\n", total);
    if (errors)
        printf("%d errors\n", errors);
    return errors != 0;
}
