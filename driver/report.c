/* Output of commands: diagnostics, exit statuses, sinks. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/limits.h"
#include "driver/findings.h"
#include "driver/command.h"

/* Does not report a closed pipe. */
static int stdout_status(int error) {
  if (error == 0)
    return EXIT_DONE;
  if (error == EPIPE)
    return EXIT_IO;
  return complain(EXIT_IO, "cannot write standard output: %s", strerror(error));
}

/* An earlier write may have failed; errno is still set by it. */
int finish_stdout(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return EXIT_DONE;
  return stdout_status(errno ? errno : EIO);
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

/* Warnings of a kind; only the first are shown as text. */
struct warning_kind {
  const char *slug;
  size_t count;
};

enum { MOST_KINDS = 64 }; /* of warnings */

static struct warning_kind *alike_of(struct warning_kind *all,
                                     const char *slug) {
  int i = 0;
  while (i < MOST_KINDS - 1 && all[i].slug && strcmp(all[i].slug, slug) != 0)
    i++;
  all[i].slug = slug;
  return &all[i];
}

static void say_rest(const struct warning_kind *all) {
  for (int i = 0; i < MOST_KINDS && all[i].slug; i++) {
    if (all[i].count <= LIMIT_SHOWN_ALIKE)
      continue;
    size_t more = all[i].count - LIMIT_SHOWN_ALIKE;
    fprintf(stderr,
            "netc: %s more warning%s [%s]: --diagnostics=json has all, "
            "-Wno-%s none\n",
            count_text((int64_t)more).text, more == 1 ? "" : "s", all[i].slug,
            all[i].slug);
  }
}

/* Shows all diagnostics, or omits warnings about an author's choices. */
static void show(struct netc *netc, enum netc_style style, bool choices) {
  struct warning_kind alike[MOST_KINDS] = {{NULL, 0}};
  bool json = style == NETC_STYLE_JSON;
  int errors = 0;
  if (findings_are_open()) {
    findings_add_net(netc);
    return;
  }
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    if (netc_diagnostic(netc, i, &d) != NETC_OK)
      break;
    bool error = d.severity == NETC_SEVERITY_ERROR;
    errors += error;
    if (!choices && !error && slug_is_choice(d.slug))
      continue;
    if (!error && !json && ++alike_of(alike, d.slug)->count > LIMIT_SHOWN_ALIKE)
      continue;
    netc_diagnostic_emit(netc, i, style, file_sink, stderr);
    if (json)
      fputc('\n', stderr);
  }
  say_rest(alike);
  if (errors >= LIMIT_ERRORS && !json)
    complain(EXIT_SOURCE, "stopped after %d errors", LIMIT_ERRORS);
}

void show_diagnostics(struct netc *netc, enum netc_style style) {
  show(netc, style, true);
}

static size_t count_choices(struct netc *netc) {
  size_t count = 0;
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    count += netc_diagnostic(netc, i, &d) == NETC_OK &&
             d.severity == NETC_SEVERITY_WARNING && slug_is_choice(d.slug);
  }
  return count;
}

void count_diagnostics(struct netc *netc, enum netc_style style,
                       const char *path) {
  size_t count = count_choices(netc);
  show(netc, style, style == NETC_STYLE_JSON);
  if (style != NETC_STYLE_JSON && count > 0)
    say_note(path, NULL,
             "%zu warning%s about choices of the net's author; `netc check %s` "
             "shows %s",
             count, count == 1 ? "" : "s", shell_word("%s", path).text,
             count == 1 ? "it" : "them");
}

int exit_status_of(const struct netc *netc, enum netc_status status) {
  switch (status) {
  case NETC_OK: return EXIT_DONE;
  case NETC_ERROR: return EXIT_SOURCE;
  case NETC_USAGE: return complain(EXIT_USAGE, "%s", netc_message(netc));
  case NETC_IO: return complain(EXIT_IO, "%s", netc_message(netc));
  case NETC_NO_MEMORY: return complain(EXIT_IO, "out of memory");
  case NETC_STOPPED: /* our callback never stops */
  case NETC_BUG: break;
  }
  return complain(EXIT_BUG, "this is a bug in netc; please report it");
}

/* Sinks */

bool file_sink(void *user, const char *bytes, size_t length) {
  return fwrite(bytes, 1, length, user) == length;
}

bool bytes_sink(void *user, const char *data, size_t length) {
  struct bytes *bytes = user;
  if (length == 0)
    return true;
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
