/*
 * `-o x.html --live`: puts live.html of `make web`, the compiler for the page
 * with its script, into the page of a net, with its sources and the options of
 * the command line.
 */
#define _GNU_SOURCE /* for memmem */
#include "driver/live.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "driver/installed.h"

enum { LONGEST_PATH = 4096 };

/* Complains about an option; what is optional of it is not shown. */
static int cannot_keep(enum option_id option) {
  struct option_text text = option_text(option_row(option));
  return complain(EXIT_USAGE,
                  "--live: the page cannot recompile the net with `%.*s`; "
                  "leave one of them out",
                  (int)strcspn(text.text, "["), text.text);
}

int live_check(const struct net_options *o) {
  for (size_t i = 0; i < o->given_count; i++)
    switch (o->given[i].option) {
    case OPTION_LIVE:
    case OPTION_OUTPUT:
    case OPTION_EMIT:
    case OPTION_DEPENDENCIES:
    case OPTION_IF_CHANGED:
    case OPTION_DEFINE:
    case OPTION_SIZES:
    case OPTION_SETTING:
    case OPTION_DIAGNOSTICS:
    case OPTION_COLOR:
    case OPTION_MUST_FIT: break;
    default: return cannot_keep(o->given[i].option);
    }
  return EXIT_DONE;
}

/* Options */

/* Adds "NAME=VALUE" as a member; without `=` uses the given name or value. */
static void put_pair(struct json *json, const char *pair, const char *name,
                     const char *value) {
  struct text key = text_new(json->out->arena);
  const char *equals = strchr(pair, '=');
  if (equals) {
    text_bytes(&key, pair, (size_t)(equals - pair));
    name = text_string(&key);
    value = equals + 1;
  }
  json_member_string(json, name, slice_of(value));
}

static void put_given(struct json *json, const struct net_options *o,
                      const char *key, enum option_id option) {
  json_member_open(json, key, '{');
  for (size_t i = 0; i < o->given_count; i++) {
    const struct option_given *given = &o->given[i];
    if (given->option != option ||
        (option == OPTION_SIZES && !net_options_resizes(o, given)))
      continue;
    if (option == OPTION_SETTING)
      json_member_string(json, given->name, slice_of(given->value));
    else if (option == OPTION_SIZES)
      put_pair(json, given->value, "", given->value);
    else
      put_pair(json, given->value, given->value, "true");
  }
  json_put_close(json, '}');
}

/* Length of the folder that contains all sources, if their paths are absolute:
 * it is private. */
static size_t folder_of(const struct netc *netc) {
  const char *first = netc_source(netc, 0), *path;
  size_t length = strlen(first);
  if (*first != '/')
    return 0;
  for (size_t i = 0; (path = netc_source(netc, i)); i++)
    while (length &&
           (first[length - 1] != '/' || strncmp(first, path, length) != 0))
      length--;
  return length;
}

static void put_net(struct json *json, struct netc *netc,
                    const struct net_options *o) {
  const char *path;
  size_t length = 0, folder = folder_of(netc);
  json_put_open(json, '{');
  json_member_string(json, "name", slice_of(netc_source(netc, 0) + folder));
  json_member_open(json, "files", '{');
  for (size_t i = 0; (path = netc_source(netc, i)); i++) {
    const char *text = netc_source_text(netc, i, &length);
    if (text)
      json_member_string(json, path + folder, (struct slice){text, length});
  }
  json_put_close(json, '}');
  put_given(json, o, "settings", OPTION_SETTING);
  put_given(json, o, "define", OPTION_DEFINE);
  put_given(json, o, "input", OPTION_SIZES);
  json_put_close(json, '}');
}

/* Writing */

/* Escapes `<`, which could end the script. */
static bool json_to_file(void *user, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    bool written = bytes[i] == '<' ? fputs("\\u003c", user) >= 0
                                   : putc(bytes[i], user) != EOF;
    if (!written)
      return false;
  }
  return true;
}

static bool write_net(struct netc *netc, const struct net_options *o,
                      FILE *file) {
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  struct text out = text_to(&arena, json_to_file, file);
  struct json json = json_writer(&out, 0);
  bool written =
      fputs("<script type=\"application/json\" id=\"net\">", file) >= 0;
  put_net(&json, netc, o);
  text_flush(&out);
  arena_close(&arena);
  return written && fputs("</script>\n", file) >= 0;
}

static bool copy_file(FILE *from, FILE *to) {
  char block[65536];
  size_t length;
  while ((length = fread(block, 1, sizeof block, from)))
    if (fwrite(block, 1, length, to) != length)
      return false;
  return !ferror(from);
}

/* Inserts the parts before the page's script, which comes last, and allows
 * workers in the page's policy. */
static bool write_parts(struct netc *netc, const struct net_options *o,
                        const struct bytes *page, FILE *live, FILE *file) {
  static const char policy[] = "script-src 'unsafe-inline'",
                    last[] = "<script>";
  const char *end = page->at + page->length;
  const char *here = memmem(page->at, page->length, policy, strlen(policy));
  const char *script = NULL;
  for (const char *p = page->at;
       (p = memmem(p, (size_t)(end - p), last, strlen(last))); p++)
    script = p;
  if (!here || !script)
    return false;
  here += strlen(policy);
  return file_sink(file, page->at, (size_t)(here - page->at)) &&
         fputs(" 'wasm-unsafe-eval' blob:; worker-src blob:", file) >= 0 &&
         file_sink(file, here, (size_t)(script - here)) &&
         write_net(netc, o, file) && copy_file(live, file) &&
         file_sink(file, script, (size_t)(end - script));
}

int live_write(struct netc *netc, const struct net_options *options,
               const struct bytes *page, FILE *file) {
  char path[LONGEST_PATH];
  installed_find("live.html", "build/web/live.html", path, sizeof path);
  FILE *live = fopen(path, "rb");
  if (!live)
    return complain(EXIT_IO,
                    "--live: cannot open %s: %s; `make web` builds it, then "
                    "`make install` installs it",
                    path, strerror(errno));
  errno = 0;
  bool written = write_parts(netc, options, page, live, file);
  int reason = errno;
  fclose(live);
  return written
             ? EXIT_DONE
             : complain(EXIT_IO, "--live: %s",
                        reason ? strerror(reason) : "the page is incomplete");
}
