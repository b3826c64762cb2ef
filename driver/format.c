/* netc fmt: the source in canonical form, in place or compared. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "driver/output.h"

struct format_options {
  bool in_place, check, shapes, help;
};

static bool read_file(const char *path, struct bytes *text) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  char buffer[16384];
  size_t got = 1;
  while (file && got > 0) {
    got = fread(buffer, 1, sizeof buffer, file);
    if (!bytes_sink(text, buffer, got))
      break;
  }
  bool whole = file && !ferror(file) && got == 0;
  if (file && file != stdin)
    fclose(file);
  return whole;
}

static void collect(void *user, const struct netc_diagnostic *diagnostic) {
  bytes_sink(user, diagnostic->text, strlen(diagnostic->text));
}

/* Only errors of syntax keep a source from being formatted. */
static int format_text(const char *path, const struct bytes *text,
                       const struct format_options *o, struct bytes *out) {
  struct bytes diagnostics = {0};
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  netc_on_diagnostic(netc, collect, &diagnostics);
  enum netc_status status =
      netc_load_text(netc, path, text->at ? text->at : "", text->length);
  if (status == NETC_OK || status == NETC_ERROR)
    status = netc_emit(netc, o->shapes ? "fmt-shapes" : "fmt", NULL, bytes_sink,
                       out);
  if (status == NETC_ERROR && diagnostics.length)
    fwrite(diagnostics.at, 1, diagnostics.length, stderr);
  int result = exit_status_of(netc, status);
  netc_close(netc);
  bytes_free(&diagnostics);
  return result;
}

static bool equal(const struct bytes *a, const struct bytes *b) {
  return a->length == b->length &&
         (a->length == 0 || memcmp(a->at, b->at, a->length) == 0);
}

static int write_result(const char *path, const struct bytes *text) {
  struct output_file output;
  if (!output_open(&output, path))
    return complain(EXIT_IO, "cannot write %s: %s", path, strerror(errno));
  fwrite(text->at, 1, text->length, output.file);
  if (!output_commit(&output, false))
    return complain(EXIT_IO, "cannot write %s: %s", path, strerror(errno));
  return EXIT_DONE;
}

static int format_file(const char *path, const struct format_options *o) {
  struct bytes text = {0}, out = {0};
  int status = EXIT_DONE;
  if (!read_file(path, &text))
    status = complain(EXIT_IO, "cannot read %s: %s", path, strerror(errno));
  else
    status = format_text(path, &text, o, &out);
  bool same = status == EXIT_DONE && equal(&text, &out);
  if (status == EXIT_DONE && o->check && !same)
    status = complain(EXIT_SOURCE,
                      "%s is not in canonical form; `netc fmt "
                      "-i%s %s` makes it so",
                      path, o->shapes ? " --shapes" : "", path);
  else if (status == EXIT_DONE && o->in_place && !same)
    status = write_result(path, &out);
  else if (status == EXIT_DONE && !o->in_place && !o->check)
    status = write_result("-", &out);
  bytes_free(&text);
  bytes_free(&out);
  return status;
}

static int read_format_options(struct format_options *o, int argc,
                               char **argv) {
  static const struct option long_options[] = {
      {"check", no_argument, NULL, 'c'},
      {"shapes", no_argument, NULL, 's'},
      {"in-place", no_argument, NULL, 'i'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  int choice;
  opterr = 0;
  optind = 1;
  while ((choice = getopt_long(argc, argv, "ih", long_options, NULL)) != -1) {
    switch (choice) {
    case 'c': o->check = true; break;
    case 's': o->shapes = true; break;
    case 'i': o->in_place = true; break;
    case 'h': o->help = true; break;
    default:
      return complain(EXIT_USAGE,
                      "unknown option `%s`; netc fmt has -i "
                      "--check --shapes",
                      argv[optind - 1]);
    }
  }
  if (optind == argc && !o->help)
    return complain(EXIT_USAGE, "netc fmt needs a file, or - for standard "
                                "input");
  return EXIT_DONE;
}

int command_format(int argc, char **argv) {
  struct format_options options = {0};
  int worst = read_format_options(&options, argc, argv);
  if (worst != EXIT_DONE)
    return worst;
  if (options.help)
    puts("netc fmt [-i | --check] [--shapes] FILE.net...\n\n"
         "Writes a source in canonical form: to standard output, in place "
         "(-i), or\nonly compares (--check). --shapes writes the marks "
         "`-> DIMS` anew.");
  for (int i = optind; i < argc && !options.help; i++) {
    int status = format_file(argv[i], &options);
    worst = status > worst ? status : worst;
  }
  return worst;
}
