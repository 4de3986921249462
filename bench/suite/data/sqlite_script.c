/* Execute a SQL script on a database in memory and print every row of its results. */
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static char *whole_file(const char *name)
{
    FILE *stream = fopen(name, "rb");
    char *content = NULL;
    size_t room = 0, size = 0;
    if (!stream)
        return NULL;
    do {
        room = room ? 2 * room : 1 << 16;
        content = realloc(content, room + 1);
        if (!content)
            break;
        size += fread(content + size, 1, room - size, stream);
        content[size] = 0;
    } while (size == room);
    fclose(stream);
    return content;
}

static void print_row(sqlite3_stmt *statement)
{
    int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; i++) {
        const unsigned char *text = sqlite3_column_text(statement, i);
        printf("%s%s", i ? "|" : "", text ? (const char *)text : "NULL");
    }
    putchar('\n');
}

static int run(sqlite3 *database, const char *script)
{
    int errors = 0;
    while (*script) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(database, script, -1, &statement, &script) != SQLITE_OK) {
            printf("error: %s\n", sqlite3_errmsg(database));
            errors++;
            continue;
        }
        if (!statement)
            continue;
        int status;
        while ((status = sqlite3_step(statement)) == SQLITE_ROW)
            print_row(statement);
        if (status != SQLITE_DONE) {
            printf("error: %s\n", sqlite3_errmsg(database));
            errors++;
        }
        sqlite3_finalize(statement);
    }
    return errors;
}

int main(int argc, char **argv)
{
    sqlite3 *database = NULL;
    char *script = argc > 1 ? whole_file(argv[1]) : NULL;
    if (!script || sqlite3_open(":memory:", &database) != SQLITE_OK) {
        fprintf(stderr, "usage: sqlite_script FILE\n");
        return 2;
    }
    printf("%d errors\n", run(database, script));
    sqlite3_close(database);
    free(script);
    return 0;
}
