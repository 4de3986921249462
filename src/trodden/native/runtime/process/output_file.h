/* The output file: whether there is one (configure_test.c), its name (output_name.c), which files are kept
 * (output_taken.c), how it gets its name (output_claim.c), and how it is created and replaced (output_file.c). */
#ifndef TRODDEN_PROCESS_OUTPUT_FILE_H
#define TRODDEN_PROCESS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRODDEN_PATH_BYTES 8192

/* ---- output_name.c ---- */
void trodden_output_name_init(void);
bool trodden_output_name(char *path, uint32_t number); /* TRODDEN_PATH_BYTES bytes; false: it is too long */
bool trodden_output_name_has_pid(void);                /* else one process after the other uses the name */
/* The name of the live file after trodden_dump; `live_path` has room for 8 bytes more than a path. */
void trodden_output_name_live(char *live_path, const char *path);

/* ---- output_taken.c ---- */
bool trodden_output_is_kept(const char *path);
bool trodden_output_is_taken(const char *path); /* a file of that name, or its live file, must be kept */

/* ---- output_claim.c ---- */
/* Gives the file `from` the name `path`.  False: errno is EEXIST if another process has it, or is about to. */
bool trodden_output_claim(const char *from, const char *path);

/* ---- configure_test.c ---- */
void trodden_output_wanted_init(void);
bool trodden_output_wanted(void); /* false: a test program of a configure script, whose counts nobody asks for */

/* ---- output_file.c ---- */
const char *trodden_output_path(void);
int trodden_output_open(bool *by_rename); /* `by_rename`: the file gets its name when it is closed */
int trodden_output_close(bool by_rename, int file, int error, bool final); /* returns the error */
int trodden_output_create_live(void);
bool trodden_output_publish_live(void);
void trodden_output_remove_live(void);
/* The path of the file that the process counts in, which may be that of an ancestor; empty: it has none. */
const char *trodden_output_live_path(void);
/* Names may lead elsewhere from now on: another root directory. */
void trodden_output_moved(void);

/* ---- output_error.c ---- */
void trodden_output_errors_init(void); /* remembers what standard error is */
/* Says once on standard error that the output file cannot be written.  `message` has room for two paths. */
void trodden_output_report(char *message, int error);
/* Says something else there: these parts, as far as they are short. */
void trodden_output_say(const char *const *parts, size_t count);

#endif
