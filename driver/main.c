/* netc: picks the command; what the commands share. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
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

static bool wants_colour(void) {
  const char *no_colour = getenv("NO_COLOR"); /* https://no-color.org */
  return isatty(STDERR_FILENO) && !(no_colour && *no_colour);
}

void show_diagnostic(void *user, const struct netc_diagnostic *diagnostic) {
  struct display *display = user;
  display->errors += diagnostic->severity == NETC_FAILURE;
  if (display->json)
    fprintf(stderr, "%s\n", diagnostic->json);
  else
    fputs(wants_colour() ? diagnostic->colour : diagnostic->text, stderr);
}

void show_end(const struct display *display) {
  if (display->errors >= LIMIT_ERRORS && !display->json)
    complain(EXIT_SOURCE, "stopped after %d errors", LIMIT_ERRORS);
}

int exit_status_of(const struct netc *netc, enum netc_status status) {
  switch (status) {
  case NETC_OK: return EXIT_DONE;
  case NETC_ERROR: return EXIT_SOURCE;
  case NETC_USAGE: return complain(EXIT_USAGE, "%s", netc_message(netc));
  case NETC_IO: return complain(EXIT_IO, "%s", netc_message(netc));
  case NETC_NO_MEMORY: return complain(EXIT_IO, "out of memory");
  }
  return EXIT_BUG;
}

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

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
  } commands[] = {
      {"check", command_check},     {"fmt", command_format},
      {"layers", command_layers},   {"plan", command_plan},
      {"explain", command_explain},
  };
  signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of that write */
  for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
    if (strcmp(argv[1], commands[i].name) == 0)
      return commands[i].run(argc - 1, argv + 1);
  return command_compile(argc, argv);
}
