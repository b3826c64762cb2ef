/* The commands of `netc`, and functions that they share. */
#ifndef NETC_DRIVER_COMMAND_H
#define NETC_DRIVER_COMMAND_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"
#include "netc.h"

enum exit_status {
  EXIT_DONE = 0,
  EXIT_SOURCE = 1, /* an error or exceeded budget of the source, or no fit */
  EXIT_USAGE = 2,
  EXIT_IO = 3,
  EXIT_BUG = 4, /* a bug of netc */
};

enum command {
#define COMMAND(constant, ...) COMMAND_##constant,
#include "driver/commands.def"
#undef COMMAND
  COMMAND_COUNT
};

struct command_row {
  const char *word; /* "": the main command */
  int (*run)(int argc, char **argv);
  const char *operands, *summary;
};

const struct command_row *command_row(enum command command);

#define COMMAND(constant, word, function, ...) \
  int function(int argc, char **argv);
#include "driver/commands.def"
#undef COMMAND

/*
 * Complaints on standard error, "netc: ..."; return `status`. With
 * --diagnostics=json they are objects: docs/diagnostics.schema.json.
 */
int complain(int status, const char *format, ...) PRINTF_LIKE(2, 3);

/* Name of an input file for messages: "-" is "<stdin>". */
const char *input_name(const char *path);

/* A word of a command, quoted for a shell if necessary. */
struct shell_word {
  char text[4352];
};
struct shell_word shell_word(const char *format, ...) PRINTF_LIKE(1, 2);

/* "PATH: error: ..." for a file. `help` has a hint on each line, or is NULL. */
int complain_of(int status, const char *path, const char *help,
                const char *format, ...) PRINTF_LIKE(4, 5);
int complain_of_va(int status, const char *path, const char *help,
                   const char *format, va_list args);

/* As complain_of(), with a line and column, or 0. JSON has neither. */
int complain_at(int status, const char *path, size_t line, size_t column,
                const char *help, const char *format, ...) PRINTF_LIKE(6, 7);

/* As complain_of(), for a net that does not fit a device: EXIT_SOURCE. */
int complain_of_fit(const char *path, const char *help, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* "PATH: note: ..." with a hint or NULL; nothing if diagnostics are JSON. */
void say_note(const char *path, const char *help, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Sets the style of complaints. */
void complain_as(enum netc_style style);

/* Writes a part of a line to standard error, without control characters:
 * base/shown.h. */
void say_va(const char *format, va_list args);
void say(const char *format, ...) PRINTF_LIKE(1, 2);

/* As say(), on standard output: for names of the command line. */
void tell(const char *format, ...) PRINTF_LIKE(1, 2);

/* --help and --version of a command. */
int print_help(enum command command);

/* netc help gpus. */
int print_gpus(bool markdown);
int print_boards(bool markdown);
int print_recipes(bool markdown);
int print_recipe(const char *name);

int print_version(void);

/* Flushes standard output; complains if it could not be written. */
int finish_stdout(void);

/* Exit status for a status of the library; explains usage and I/O errors. */
int exit_status_of(const struct netc *netc, enum netc_status status);

/* --color: on for terminals, unless NO_COLOR is set: https://no-color.org */
enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
bool wants_colour(enum colour colour, int descriptor);

/* Style of diagnostics, which go to standard error. */
enum netc_style style_of(enum colour colour);

/*
 * Prints the diagnostics of the last load on standard error: all of them as
 * JSON; as text at most LIMIT_SHOWN_ALIKE warnings of each kind.
 */
void show_diagnostics(struct netc *netc, enum netc_style style);

/* For a net of another framework: prints all diagnostics except warnings about
 * choices of its author, and the number of those. */
void count_diagnostics(struct netc *netc, enum netc_style style,
                       const char *path);

/* A growing block of bytes on the heap. */
struct bytes {
  char *at;
  size_t length, room;
};

bool bytes_sink(void *user, const char *bytes, size_t length);
void bytes_free(struct bytes *bytes);

/* A sink over a FILE. */
bool file_sink(void *user, const char *bytes, size_t length);

#endif
