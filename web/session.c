/*
 * What the playground's worker calls: files go in by name, outputs come out.
 * One page has one net, so that the state is global here and only here.
 */
#include "web/session.h"

#include <stdlib.h>
#include <string.h>

struct netc *web_net;

/* Files for the net and its `use`, as they would lie in one folder. */
struct web_file {
  struct web_file *next;
  size_t length;
  char *name, *text;
};
static struct web_file *files;

static struct {
  char *at;
  size_t length, room;
} out;

bool web_put(void *user, const char *bytes, size_t length) {
  (void)user;
  if (length > out.room - out.length) {
    if (length > SIZE_MAX / 4 || out.length > SIZE_MAX / 4)
      return false;
    size_t room = 2 * (out.length + length);
    char *at = realloc(out.at, room);
    if (!at)
      return false;
    out.at = at;
    out.room = room;
  }
  if (length)
    memcpy(out.at + out.length, bytes, length);
  out.length += length;
  return true;
}

void web_clear(void) {
  out.length = 0;
}

void web_say(struct web_answer *answer, char bracket) {
  web_clear();
  arena_open(&answer->arena, NULL, NULL);
  answer->text = text_to(&answer->arena, web_put, NULL);
  answer->json = json_writer(&answer->text, 0);
  json_put_open(&answer->json, bracket);
}

void web_say_end(struct web_answer *answer, char bracket) {
  json_put_close(&answer->json, bracket);
  text_flush(&answer->text);
  arena_close(&answer->arena);
}

void web_member(struct web_answer *answer, const char *key, const char *value) {
  json_member_string(&answer->json, key, slice_of(value ? value : ""));
}

bool web_find(const char *name, struct slice *text) {
  for (const struct web_file *file = files; file; file = file->next)
    if (strcmp(file->name, name) == 0) {
      *text = (struct slice){file->text, file->length};
      return true;
    }
  return false;
}

static enum netc_found read_file(void *user, const char *path,
                                 netc_sink_fn *sink, void *sink_user) {
  struct slice text;
  (void)user;
  if (!web_find(path, &text))
    return NETC_ABSENT;
  return sink(sink_user, text.at, text.length) ? NETC_FOUND : NETC_UNREADABLE;
}

/* Room for an argument of a later call; NULL: there is none. */
WEB_EXPORT(web_take) void *web_take(size_t size);
void *web_take(size_t size) {
  return malloc(size ? size : 1);
}

WEB_EXPORT(web_give) void web_give(void *taken);
void web_give(void *taken) {
  free(taken);
}

WEB_EXPORT(web_out) const char *web_out(void);
const char *web_out(void) {
  return out.at;
}

WEB_EXPORT(web_length) size_t web_length(void);
size_t web_length(void) {
  return out.length;
}

/* A net without settings; false: memory ran out. */
WEB_EXPORT(web_open) bool web_open(void);
bool web_open(void) {
  netc_close(web_net);
  web_net = netc_open(NULL, NULL);
  if (!web_net)
    return false;
  netc_on_read(web_net, read_file, NULL);
  netc_partial(web_net, true);
  netc_recall(web_net, true);
  return true;
}

/* A text that netc_load_file and `use` find by that name; both end with NUL,
 * are from web_take, and are given back here. */
WEB_EXPORT(web_file) bool web_file(char *name, char *text);
bool web_file(char *name, char *text) {
  struct web_file *file = files;
  while (file && strcmp(file->name, name) != 0)
    file = file->next;
  if (file) {
    free(file->name);
    free(file->text);
  } else {
    file = malloc(sizeof *file);
    if (!file)
      return false;
    file->next = files;
    files = file;
  }
  file->name = name;
  file->text = text;
  file->length = strlen(text);
  return true;
}

static int said(enum netc_status status) {
  const char *message = netc_message(web_net);
  web_clear();
  if (status != NETC_OK && message)
    web_put(NULL, message, strlen(message));
  return (int)status;
}

/* What the command line has: "set", "define" or "input"; a name and a value.
 * Gives what is wrong with them. */
WEB_EXPORT(web_choose)
int web_choose(const char *what, const char *name, const char *value);
int web_choose(const char *what, const char *name, const char *value) {
  return said(strcmp(what, "define") == 0 ? netc_define(web_net, name, value)
              : strcmp(what, "input") == 0
                  ? netc_input_sizes(web_net, name, value)
                  : netc_set(web_net, name, value));
}

WEB_EXPORT(web_load) int web_load(const char *path);
int web_load(const char *path) {
  return said(netc_load_file(web_net, path));
}

WEB_EXPORT(web_emit) int web_emit(const char *kind, bool predict);
int web_emit(const char *kind, bool predict) {
  struct netc_options options = {.size = sizeof options, .predict = predict};
  web_clear();
  enum netc_status status = netc_emit(web_net, kind, &options, web_put, NULL);
  return status == NETC_OK ? NETC_OK : said(status);
}

/* The diagnostics as `netc` prints them; their number. */
WEB_EXPORT(web_complaints) size_t web_complaints(void);
size_t web_complaints(void) {
  size_t count = netc_diagnostic_count(web_net);
  web_clear();
  for (size_t i = 0; i < count; i++)
    netc_diagnostic_emit(web_net, i, NETC_STYLE_TEXT, web_put, NULL);
  return count;
}
