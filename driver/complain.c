/* Complaints: errors without a place in a source. */
#include <string.h>

#include "base/json.h"
#include "base/shown.h"
#include "driver/command.h"
#include "driver/findings.h"

/*
 * --diagnostics=json may follow the option that is complained of, so this is
 * state of the program, like its descriptors.
 */
static bool as_json;

void complain_as(enum netc_style style) {
  as_json = style == NETC_STYLE_JSON;
}

enum { LONGEST = 8192 }; /* bytes of a message */

static struct text text_for(FILE *file, char *room, size_t size) {
  return (struct text){
      .at = room, .room = size, .sink = file_sink, .user = file};
}

static void put_shown(FILE *file, const char *format, va_list args) {
  char said[LONGEST], room[256];
  struct text out = text_for(file, room, sizeof room);
  int length = vsnprintf(said, sizeof said, format, args);
  shown_put(&out, (struct slice){said, length < 0 ? 0 : strlen(said)}, 0);
  text_flush(&out);
}

void say_va(const char *format, va_list args) {
  put_shown(stderr, format, args);
}

void tell(const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_shown(stdout, format, args);
  va_end(args);
}

void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  say_va(format, args);
  va_end(args);
}

/* A complaint. `path` may be NULL; `help`, with a hint on each line, too. */
struct complaint {
  const char *slug, *path, *help;
  size_t line, column; /* 0: none */
};

const char *input_name(const char *path) {
  return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

struct shell_word shell_word(const char *format, ...) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:+,=@%";
  char word[4096];
  struct shell_word quoted;
  size_t used;
  va_list args;
  va_start(args, format);
  vsnprintf(word, sizeof word, format, args);
  va_end(args);
  bool bare = *word && !word[strspn(word, plain)];
  used = (size_t)snprintf(quoted.text, sizeof quoted.text, "%s%s",
                          bare ? "" : "'", *word == '-' && word[1] ? "./" : "");
  for (const char *at = word; *at && used + 8 < sizeof quoted.text; at++)
    used += (size_t)snprintf(quoted.text + used, sizeof quoted.text - used,
                             *at == '\'' ? "'\\%c'" : "%c", *at);
  snprintf(quoted.text + used, sizeof quoted.text - used, "%s",
           bare ? "" : "'");
  return quoted;
}

static void put_text(const struct complaint *c, const char *format,
                     va_list args) {
  const char *path = c->path ? input_name(c->path) : NULL;
  if (!path)
    fputs("netc: ", stderr);
  else if (c->line && c->column)
    say("%s:%zu:%zu: error: ", path, c->line, c->column);
  else if (c->line)
    say("%s:%zu: error: ", path, c->line);
  else
    say("%s: error: ", path);
  say_va(format, args);
  fputc('\n', stderr);
  for (const char *line = c->help; line && *line;) {
    size_t length = strcspn(line, "\n");
    say("   = help: %.*s", (int)length, line);
    fputc('\n', stderr);
    line += length + (line[length] == '\n');
  }
}

static void put_hints(struct json *json, const char *help) {
  json_member_open(json, "help", '[');
  for (const char *line = help; line && *line;) {
    size_t length = strcspn(line, "\n");
    json_put_string(json, (struct slice){line, length});
    line += length + (line[length] == '\n');
  }
  json_put_close(json, ']');
}

/* As diag_render_json(), without a place. */
static void put_json(const struct complaint *c, const char *format,
                     va_list args) {
  static const char *const empty[] = {"labels", "notes", "fixits"};
  char said[LONGEST], room[256];
  struct text out = text_for(stderr, room, sizeof room);
  struct json json = json_writer(&out, 0);
  int length = vsnprintf(said, sizeof said, format, args);
  json_put_open(&json, '{');
  json_member_string(&json, "slug", slice_of(c->slug));
  json_member_string(&json, "severity", slice_of("error"));
  json_member_string(&json, "message", slice_of(length < 0 ? "" : said));
  if (c->path)
    json_member_string(&json, "file", slice_of(input_name(c->path)));
  put_hints(&json, c->help);
  for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
    json_member_open(&json, empty[i], '[');
    json_put_close(&json, ']');
  }
  json_put_close(&json, '}');
  text_putc(&out, '\n');
  text_flush(&out);
}

static void collect(const struct complaint *c, const char *format,
                    va_list args) {
  char said[LONGEST];
  vsnprintf(said, sizeof said, format, args);
  findings_add(
      &(struct file_finding){.slug = c->slug,
                             .message = said,
                             .file = c->path ? input_name(c->path) : NULL,
                             .line = c->line,
                             .column = c->column,
                             .end_line = c->line,
                             .end_column = c->column,
                             .error = true});
}

static void put(const struct complaint *c, const char *format, va_list args) {
  if (findings_are_open()) {
    collect(c, format, args);
    return;
  }
  (as_json ? put_json : put_text)(c, format, args);
}

/* docs/words.md explains them. */
static const char *slug_of(int status) {
  static const char *const slugs[] = {[EXIT_SOURCE] = "refused",
                                      [EXIT_USAGE] = "usage",
                                      [EXIT_IO] = "input-output",
                                      [EXIT_BUG] = "internal-error"};
  return slugs[status];
}

int complain_of_va(int status, const char *path, const char *help,
                   const char *format, va_list args) {
  put(&(struct complaint){slug_of(status), path, help, 0, 0}, format, args);
  return status;
}

int complain_at(int status, const char *path, size_t line, size_t column,
                const char *help, const char *format, ...) {
  va_list args;
  va_start(args, format);
  put(&(struct complaint){slug_of(status), path, help, line, column}, format,
      args);
  va_end(args);
  return status;
}

void say_note(const char *path, const char *help, const char *format, ...) {
  va_list args;
  if (as_json || findings_are_open()) /* these are errors and warnings */
    return;
  va_start(args, format);
  say("%s: note: ", input_name(path));
  say_va(format, args);
  if (help)
    fprintf(stderr, "\n   = help: %s", help);
  fputc('\n', stderr);
  va_end(args);
}

int complain(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  complain_of_va(status, NULL, NULL, format, args);
  va_end(args);
  return status;
}

int complain_of(int status, const char *path, const char *help,
                const char *format, ...) {
  va_list args;
  va_start(args, format);
  complain_of_va(status, path, help, format, args);
  va_end(args);
  return status;
}

int complain_of_fit(const char *path, const char *help, const char *format,
                    ...) {
  va_list args;
  va_start(args, format);
  put(&(struct complaint){"does-not-fit", path, help, 0, 0}, format, args);
  va_end(args);
  return EXIT_SOURCE;
}
