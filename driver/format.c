/* netc fmt: the source in canonical form, in place or compared. */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/guard.h"
#include "driver/options.h"
#include "driver/output.h"

struct format_options {
  bool in_place, compare, shapes;
};

struct formatting {
  const char *path;
  const struct format_options *options;
  struct arena arena;
  int status;
};

/* Only errors of syntax keep a source from being formatted. */
static int format_text(const char *path, struct slice text,
                       const struct format_options *o, struct bytes *out) {
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  enum netc_status status = netc_load_text(netc, path, text.at, text.length);
  if (status == NETC_OK || status == NETC_ERROR)
    status = netc_emit(netc, o->shapes ? "fmt-shapes" : "fmt", NULL, bytes_sink,
                       out);
  if (status == NETC_ERROR)
    show_diagnostics(netc, style_of(COLOUR_AUTO));
  int result = exit_status_of(netc, status);
  netc_close(netc);
  return result;
}

static int write_result(const char *path, const struct bytes *text) {
  struct output_file output;
  if (!output_open(&output, path))
    return output_failed(path, errno);
  fwrite(text->at, 1, text->length, output.file);
  if (!output_commit(&output, false))
    return output_failed(path, errno);
  return EXIT_DONE;
}

static void format_file(void *user) {
  struct formatting *f = user;
  const struct format_options *o = f->options;
  const char *path = f->path;
  struct bytes out = {0};
  struct slice text;
  enum file_status read = file_read(&f->arena, path, &text);
  if (read != FILE_OK) {
    f->status =
        complain(EXIT_IO, "cannot read %s: %s", path, file_reason(read).text);
    return;
  }
  f->status = format_text(path, text, o, &out);
  bool same = slice_equal(text, (struct slice){out.at, out.length});
  if (f->status == EXIT_DONE && o->compare && !same)
    f->status = complain(EXIT_SOURCE,
                         "%s is not in canonical form; `netc fmt "
                         "-i%s %s` makes it so",
                         path, o->shapes ? " --shapes" : "", path);
  else if (f->status == EXIT_DONE && o->in_place && !same)
    f->status = write_result(path, &out);
  else if (f->status == EXIT_DONE && !o->in_place && !o->compare)
    f->status = write_result("-", &out);
  bytes_free(&out);
}

static int format(const char *path, const struct format_options *o) {
  struct formatting f = {.path = path, .options = o};
  struct arena *const arenas[GUARD_ARENAS] = {&f.arena};
  arena_open(&f.arena, NULL, NULL);
  if (!guard_run(arenas, format_file, &f))
    f.status = complain(EXIT_IO, "out of memory");
  arena_close(&f.arena);
  return f.status;
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct format_options *o = user;
  (void)name;
  (void)value;
  o->in_place = o->in_place || option == OPTION_IN_PLACE;
  o->compare = o->compare || option == OPTION_CHECK;
  o->shapes = o->shapes || option == OPTION_SHAPES;
  return EXIT_DONE;
}

int command_format(int argc, char **argv) {
  struct format_options options = {false, false, false};
  struct operands files;
  int worst = EXIT_DONE;
  if (!options_read(COMMAND_FORMAT, argc, argv, take, &options, &files))
    return files.status;
  if (files.count == 0)
    return complain(EXIT_USAGE, "netc fmt needs a file, or - for standard "
                                "input");
  for (int i = 0; i < files.count; i++)
    if (options.in_place && strcmp(files.at[i], "-") == 0)
      return complain(EXIT_USAGE, "-i writes a file, and - is standard input: "
                                  "without -i the text goes to standard "
                                  "output");
  for (int i = 0; i < files.count; i++) {
    int status = format(files.at[i], &options);
    worst = status > worst ? status : worst;
  }
  return worst;
}
