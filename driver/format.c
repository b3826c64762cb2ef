/* netc fmt: the source in canonical form, in place or compared. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "driver/options.h"
#include "driver/output.h"

struct format_options {
  bool in_place, compare, shapes;
};

static const char *read_file(const char *path, struct bytes *text) {
  errno = 0;
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  char buffer[16384];
  size_t got = 1;
  bool kept = true;
  while (file && got > 0 && kept && text->length <= LIMIT_SOURCE_BYTES) {
    got = fread(buffer, 1, sizeof buffer, file);
    kept = bytes_sink(text, buffer, got);
  }
  const char *reason = !file || ferror(file) ? strerror(errno)
                       : !kept               ? "out of memory"
                       : got > 0             ? "it is larger than 1 GiB"
                                             : NULL;
  if (file && file != stdin)
    fclose(file);
  return reason;
}

/* Only errors of syntax keep a source from being formatted. */
static int format_text(const char *path, const struct bytes *text,
                       const struct format_options *o, struct bytes *out) {
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  enum netc_status status =
      netc_load_text(netc, path, text->at ? text->at : "", text->length);
  if (status == NETC_OK || status == NETC_ERROR)
    status = netc_emit(netc, o->shapes ? "fmt-shapes" : "fmt", NULL, bytes_sink,
                       out);
  if (status == NETC_ERROR)
    show_diagnostics(netc, style_of(COLOUR_AUTO));
  int result = exit_status_of(netc, status);
  netc_close(netc);
  return result;
}

static bool equal(const struct bytes *a, const struct bytes *b) {
  return a->length == b->length &&
         (a->length == 0 || memcmp(a->at, b->at, a->length) == 0);
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

static int format_file(const char *path, const struct format_options *o) {
  struct bytes text = {0}, out = {0};
  const char *reason = read_file(path, &text);
  int status = reason ? complain(EXIT_IO, "cannot read %s: %s", path, reason)
                      : format_text(path, &text, o, &out);
  bool same = status == EXIT_DONE && equal(&text, &out);
  if (status == EXIT_DONE && o->compare && !same)
    status = complain(EXIT_SOURCE,
                      "%s is not in canonical form; `netc fmt "
                      "-i%s %s` makes it so",
                      path, o->shapes ? " --shapes" : "", path);
  else if (status == EXIT_DONE && o->in_place && !same)
    status = write_result(path, &out);
  else if (status == EXIT_DONE && !o->in_place && !o->compare)
    status = write_result("-", &out);
  bytes_free(&text);
  bytes_free(&out);
  return status;
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
    int status = format_file(files.at[i], &options);
    worst = status > worst ? status : worst;
  }
  return worst;
}
