/* The commands of `netc`, and what they share. */
#ifndef NETC_DRIVER_COMMAND_H
#define NETC_DRIVER_COMMAND_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text.h"
#include "netc.h"

/* Exit status: docs/manual. */
enum exit_status {
  EXIT_DONE = 0,
  EXIT_SOURCE = 1, /* the source has an error or a broken budget */
  EXIT_USAGE = 2,
  EXIT_IO = 3,
  EXIT_BUG = 4, /* ours */
};

int command_compile(int argc, char **argv);
int command_check(int argc, char **argv);
int command_format(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_layers(int argc, char **argv);
int command_plan(int argc, char **argv);

/* "netc: ..." on standard error; returns `status`. */
int complain(int status, const char *format, ...) PRINTF_LIKE(2, 3);

/* Part of a line for standard error: base/shown.h, no terminal obeys it. */
void say(const char *format, ...) PRINTF_LIKE(1, 2);
void say_va(const char *format, va_list args);

/* How diagnostics are shown, and how many errors there were. */
struct display {
  bool json;
  int errors;
};

void show_diagnostic(void *display, const struct netc_diagnostic *diagnostic);

/* Says so if there may be more errors than were shown. */
void show_end(const struct display *display);

/* The exit status for what the library returned; explains usage and I/O. */
int exit_status_of(const struct netc *netc, enum netc_status status);

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
