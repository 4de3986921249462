/* Compress a file at several levels with the single-file zstd, decompress it again, compare, print sums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zstd.h"

static void *whole_file(const char *name, size_t *size)
{
    FILE *stream = fopen(name, "rb");
    char *content = NULL;
    size_t room = 0, got;
    *size = 0;
    if (!stream)
        return NULL;
    do {
        room = room ? 2 * room : 1 << 16;
        content = realloc(content, room);
        if (!content)
            break;
        got = fread(content + *size, 1, room - *size, stream);
        *size += got;
    } while (*size == room);
    fclose(stream);
    return content;
}

static unsigned long sum_of(const unsigned char *bytes, size_t size)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + bytes[i];
    return sum & 0xffffffffUL;
}

static int round_trip(const void *content, size_t size, int level)
{
    size_t bound = ZSTD_compressBound(size);
    void *packed = malloc(bound), *again = malloc(size + 1);
    int failed = 1;
    if (packed && again) {
        size_t length = ZSTD_compress(packed, bound, content, size, level);
        if (!ZSTD_isError(length)) {
            size_t restored = ZSTD_decompress(again, size, packed, length);
            failed = restored != size || memcmp(again, content, size) != 0;
            printf("level %d: %zu -> %zu, sum %lu\n", level, size, length, sum_of(packed, length));
        } else {
            printf("level %d: %s\n", level, ZSTD_getErrorName(length));
        }
    }
    free(packed);
    free(again);
    return failed;
}

int main(int argc, char **argv)
{
    static const int levels[] = {1, 3, 6};
    size_t size;
    int failed = 0;
    void *content = argc > 1 ? whole_file(argv[1], &size) : NULL;
    if (!content) {
        fprintf(stderr, "usage: zstd_file FILE\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        failed |= round_trip(content, size, levels[i]);
    free(content);
    return failed;
}
