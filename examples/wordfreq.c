/* Counts the words of a text with a hash table and prints the most frequent ones. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256, LONGEST = 64 };

struct word {
    struct word *next;
    unsigned count;
    char text[LONGEST];
};

static struct word *table[BUCKETS];
static unsigned distinct;

static unsigned hash(const char *text)
{
    unsigned h = 2166136261u;
    while (*text)
        h = (h ^ (unsigned char)*text++) * 16777619u;
    return h % BUCKETS;
}

static void add(const char *text)
{
    struct word **slot = &table[hash(text)];
    for (; *slot; slot = &(*slot)->next)
        if (strcmp((*slot)->text, text) == 0) {
            (*slot)->count++;
            return;
        }
    *slot = calloc(1, sizeof **slot);
    if (!*slot) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    strcpy((*slot)->text, text);
    (*slot)->count = 1;
    distinct++;
}

static int by_count(const void *a, const void *b)
{
    const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->text, y->text);
}

static void read_words(FILE *in)
{
    char text[LONGEST];
    size_t length = 0;
    int c;
    do {
        c = getc(in);
        if (c != EOF && isalpha(c)) {
            if (length < LONGEST - 1)
                text[length++] = (char)tolower(c);
        } else if (length > 0) {
            text[length] = '\0';
            add(text);
            length = 0;
        }
    } while (c != EOF);
}

int main(int argc, char **argv)
{
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    read_words(in);
    struct word **all = malloc((distinct + 1) * sizeof *all);
    unsigned n = 0;
    for (unsigned b = 0; b < BUCKETS; b++)
        for (struct word *w = table[b]; w; w = w->next)
            all[n++] = w;
    qsort(all, n, sizeof *all, by_count);
    for (unsigned i = 0; i < n && i < 5; i++)
        printf("%6u %s\n", all[i]->count, all[i]->text);
    return 0;
}
