/* netc fmt: formats sources in place, or checks their format. */
#include <errno.h>
#include <string.h>

#include "driver/net_options.h"
#include "driver/options.h"
#include "driver/output.h"

struct format_options {
  bool in_place, compare, shapes;
  bool confined;
  const char *folder; /* from --confine; NULL: the net's folder */
};

/* Only syntax errors prevent formatting. */
static int format_text(const char *path, struct slice text,
                       const struct format_options *o, struct bytes *out) {
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  if (o->confined && net_options_confine(netc, o->folder) != EXIT_DONE) {
    netc_close(netc);
    return EXIT_USAGE;
  }
  netc_mode(netc, NETC_FOR_CHECK); /* no memory is computed */
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

static int format_source(const struct opened_file *opening,
                         const struct format_options *o) {
  const char *path = opening->path;
  struct bytes out = {0};
  int status = format_text(path, opening->text, o, &out);
  bool same = slice_equal(opening->text, (struct slice){out.at, out.length});
  if (status == EXIT_DONE && o->compare && !same)
    status = complain(EXIT_SOURCE,
                      "%s is not in canonical form; `netc fmt -i%s %s` "
                      "rewrites it",
                      input_name(path), o->shapes ? " --shapes" : "",
                      shell_word("%s", path).text);
  else if (status == EXIT_DONE && o->in_place && !same)
    status = write_result(path, &out);
  else if (status == EXIT_DONE && !o->in_place && !o->compare)
    status = write_result("-", &out);
  bytes_free(&out);
  return status;
}

static int format(const char *path, const struct format_options *o) {
  struct opened_file opening = {.open = false};
  int status = opening_open(&opening, path);
  if (status == EXIT_DONE && opening.kind != KIND_COUNT)
    status = opening_refuse(&opening, opening.kind);
  else if (status == EXIT_DONE)
    status = format_source(&opening, o);
  opening_close(&opening);
  return status;
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct format_options *o = user;
  (void)name;
  o->in_place = o->in_place || option == OPTION_IN_PLACE;
  o->compare = o->compare || option == OPTION_CHECK;
  if (option == OPTION_CONFINE) {
    o->confined = true;
    o->folder = value;
  }
  o->shapes = o->shapes || option == OPTION_SHAPES;
  return EXIT_DONE;
}

int command_format(int argc, char **argv) {
  struct format_options options = {.in_place = false};
  struct operands files;
  int worst = EXIT_DONE;
  if (!options_read(COMMAND_FORMAT, argc, argv, take, &options, &files))
    return files.status;
  if (files.count == 0)
    return complain(EXIT_USAGE, "netc fmt needs a file, or - for <stdin>");
  for (int i = 0; i < files.count; i++)
    if (options.in_place && strcmp(files.at[i], "-") == 0)
      return complain(EXIT_USAGE, "-i needs a file, but - is <stdin>; leave "
                                  "out -i to write to standard output");
  for (int i = 0; i < files.count; i++) {
    int status = format(files.at[i], &options);
    worst = status > worst ? status : worst;
  }
  return worst;
}
