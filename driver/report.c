/* What commands tell people: complaints, diagnostics, exit statuses. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/shown.h"
#include "driver/command.h"

void say_va(const char *format, va_list args) {
  char said[8192], shown[256];
  struct text out = {
      .at = shown, .room = sizeof shown, .sink = file_sink, .user = stderr};
  int length = vsnprintf(said, sizeof said, format, args);
  shown_put(&out, (struct slice){said, length < 0 ? 0 : strlen(said)}, 0);
  text_flush(&out);
}

void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  say_va(format, args);
  va_end(args);
}

int complain(int status, const char *format, ...) {
  va_list args;
  fputs("netc: ", stderr);
  va_start(args, format);
  say_va(format, args);
  va_end(args);
  fputc('\n', stderr);
  return status;
}

/* Nobody reads any more: no reason to say so. */
static int stdout_status(int error) {
  if (error == 0)
    return EXIT_DONE;
  if (error == EPIPE)
    return EXIT_IO;
  return complain(EXIT_IO, "cannot write standard output: %s", strerror(error));
}

/* An earlier write may have failed; errno is still about it. */
int finish_stdout(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return EXIT_DONE;
  return stdout_status(errno ? errno : EIO);
}

const char *size_text(char *to, size_t room, int64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = (double)bytes;
  int unit = 0;
  for (; value >= 1024 && unit < 5; unit++)
    value /= 1024;
  snprintf(to, room, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
  return to;
}

int print_version(void) {
  printf("netc %s\n", netc_version());
  return finish_stdout();
}

bool wants_colour(enum colour colour, int descriptor) {
  const char *no_colour = getenv("NO_COLOR");
  if (colour != COLOUR_AUTO)
    return colour == COLOUR_ALWAYS;
  return isatty(descriptor) && !(no_colour && *no_colour);
}

enum netc_style style_of(enum colour colour) {
  return wants_colour(colour, STDERR_FILENO) ? NETC_STYLE_COLOUR
                                             : NETC_STYLE_TEXT;
}

void show_diagnostics(struct netc *netc, enum netc_style style) {
  int errors = 0;
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    if (netc_diagnostic(netc, i, &d) != NETC_OK)
      break;
    errors += d.severity == NETC_SEVERITY_ERROR;
    netc_diagnostic_emit(netc, i, style, file_sink, stderr);
    if (style == NETC_STYLE_JSON)
      fputc('\n', stderr);
  }
  if (errors >= LIMIT_ERRORS && style != NETC_STYLE_JSON)
    complain(EXIT_SOURCE, "stopped after %d errors", LIMIT_ERRORS);
}

int exit_status_of(const struct netc *netc, enum netc_status status) {
  switch (status) {
  case NETC_OK: return EXIT_DONE;
  case NETC_ERROR: return EXIT_SOURCE;
  case NETC_USAGE: return complain(EXIT_USAGE, "%s", netc_message(netc));
  case NETC_IO: return complain(EXIT_IO, "%s", netc_message(netc));
  case NETC_NO_MEMORY: return complain(EXIT_IO, "out of memory");
  case NETC_BUG: break;
  }
  return complain(EXIT_BUG, "a bug of netc's; please report it");
}

/* Sinks */

bool file_sink(void *user, const char *bytes, size_t length) {
  return fwrite(bytes, 1, length, user) == length;
}

bool bytes_sink(void *user, const char *data, size_t length) {
  struct bytes *bytes = user;
  if (bytes->room - bytes->length < length) {
    size_t room = (bytes->length + length) * 2;
    char *larger = realloc(bytes->at, room);
    if (!larger)
      return false;
    bytes->at = larger;
    bytes->room = room;
  }
  memcpy(bytes->at + bytes->length, data, length);
  bytes->length += length;
  return true;
}

void bytes_free(struct bytes *bytes) {
  free(bytes->at);
  *bytes = (struct bytes){0};
}
