/* The commands of `netc`, and what they share. */
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
  EXIT_SOURCE = 1, /* an error or broken budget in the source, no fit */
  EXIT_USAGE = 2,
  EXIT_IO = 3,
  EXIT_BUG = 4, /* ours */
};

enum command {
#define COMMAND(constant, ...) COMMAND_##constant,
#include "driver/commands.def"
#undef COMMAND
  COMMAND_COUNT
};

struct command_row {
  const char *word; /* "": none is needed */
  int (*run)(int argc, char **argv);
  const char *operands, *summary;
};

const struct command_row *command_row(enum command command);

#define COMMAND(constant, word, function, ...) \
  int function(int argc, char **argv);
#include "driver/commands.def"
#undef COMMAND

/* "netc: ..." on standard error; returns `status`. */
int complain(int status, const char *format, ...) PRINTF_LIKE(2, 3);

/* Part of a line for standard error: base/shown.h, no terminal obeys it. */
void say_va(const char *format, va_list args);
void say(const char *format, ...) PRINTF_LIKE(1, 2);

/* --help and --version of a command. */
int print_help(enum command command);
/* "6.37 GiB" */
const char *size_text(char *to, size_t room, int64_t bytes);

int print_version(void);

/* Ends what went to standard output; complains if it could not be written. */
int finish_stdout(void);

/* The exit status for what the library returned; explains usage and I/O. */
int exit_status_of(const struct netc *netc, enum netc_status status);

/* Prints all diagnostics of the last load on standard error. */
/* --color: where a terminal is, unless NO_COLOR is set: https://no-color.org */
enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
bool wants_colour(enum colour colour, int descriptor);

/* Of diagnostics, which go to standard error. */
enum netc_style style_of(enum colour colour);

void show_diagnostics(struct netc *netc, enum netc_style style);

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
