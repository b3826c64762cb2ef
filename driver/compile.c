/* The main command: compiles a net and writes what was asked for. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/graphviz.h"
#include "driver/options.h"
#include "driver/output.h"

static bool is_picture(const char *kind) {
  return strcmp(kind, "svg") == 0 || strcmp(kind, "png") == 0 ||
         strcmp(kind, "pdf") == 0;
}

static const char *kind_of(const struct wanted *wanted) {
  if (wanted->kind[0])
    return wanted->kind;
  const char *dot = strrchr(wanted->path, '.');
  const char *slash = strrchr(wanted->path, '/');
  if (strcmp(wanted->path, "-") == 0)
    return "txt";
  return dot && (!slash || dot > slash) ? dot + 1 : "";
}

static int unknown_kind(const struct wanted *wanted) {
  return complain(EXIT_USAGE,
                  "%s: no output is called `%s`; there are txt json csv md "
                  "net dot svg png pdf",
                  wanted->kind[0] ? "--emit" : wanted->path, kind_of(wanted));
}

static int write_picture(struct netc *netc, const struct options *o,
                         const char *kind, FILE *file) {
  struct bytes dot = {0};
  enum netc_status status = netc_emit(netc, "dot", &o->look, bytes_sink, &dot);
  int result = status == NETC_OK ? render_diagram(&dot, kind, file)
                                 : exit_status_of(netc, status);
  bytes_free(&dot);
  return result;
}

static int open_failed(const char *path) {
  return complain(EXIT_IO, "cannot write %s: %s",
                  strcmp(path, "-") == 0 ? "standard output" : path,
                  strerror(errno));
}

/* A file, and why it could not be written. */
struct writing {
  FILE *file;
  int error;
};

static bool write_sink(void *user, const char *bytes, size_t length) {
  struct writing *writing = user;
  if (file_sink(writing->file, bytes, length))
    return true;
  writing->error = errno;
  return false;
}

static int write_one(struct netc *netc, const struct options *o,
                     const struct wanted *wanted, FILE *file) {
  const char *kind = kind_of(wanted);
  if (is_picture(kind))
    return write_picture(netc, o, kind, file);
  struct writing writing = {file, 0};
  enum netc_status status =
      netc_emit(netc, kind, &o->look, write_sink, &writing);
  if (status == NETC_USAGE)
    return unknown_kind(wanted);
  if (writing.error) {
    errno = writing.error;
    return open_failed(wanted->path);
  }
  return exit_status_of(netc, status);
}

/* Dependencies */

static void put_targets(FILE *file, const struct options *o) {
  bool any = false;
  if (o->dep_target) {
    fputs(o->dep_target, file);
    return;
  }
  for (size_t i = 0; i < o->wanted_count; i++) {
    if (strcmp(o->wanted[i].path, "-") == 0)
      continue;
    if (any)
      fputc(' ', file);
    put_make_name(file, o->wanted[i].path);
    any = true;
  }
  if (!any)
    put_make_name(file, o->files[0]);
}

static void put_dependencies(FILE *file, const struct netc *netc,
                             const struct options *o) {
  const char *name;
  put_targets(file, o);
  fputc(':', file);
  for (size_t i = 0; (name = netc_source(netc, i)); i++) {
    if (name[0] == '<')
      continue; /* standard input */
    fputs(" \\\n  ", file);
    put_make_name(file, name);
  }
  fputc('\n', file);
  for (size_t i = 1; o->phony && (name = netc_source(netc, i)); i++) {
    fputc('\n', file);
    put_make_name(file, name);
    fputs(":\n", file);
  }
}

/* vgg.json has its dependencies in vgg.d, as compilers name them. */
static char *dependency_path(const struct options *o) {
  const char *base = o->files[0];
  for (size_t i = o->wanted_count; i-- > 0;)
    if (strcmp(o->wanted[i].path, "-") != 0)
      base = o->wanted[i].path;
  const char *dot = strrchr(base, '.');
  const char *slash = strrchr(base, '/');
  size_t length =
      dot && (!slash || dot > slash) ? (size_t)(dot - base) : strlen(base);
  char *path = malloc(length + 3);
  if (path) {
    memcpy(path, base, length);
    memcpy(path + length, ".d", 3);
  }
  return path;
}

static int write_dependencies(const struct netc *netc,
                              const struct options *o) {
  struct output_file output;
  char *made = o->dep_path ? NULL : dependency_path(o);
  const char *path = o->dep_path ? o->dep_path : made;
  int status = EXIT_DONE;
  if (!path || !output_open(&output, path)) {
    status = open_failed(path ? path : "the dependencies");
  } else {
    put_dependencies(output.file, netc, o);
    if (!output_commit(&output, o->if_changed))
      status = open_failed(path);
  }
  free(made);
  return status;
}

/* All outputs are complete before the first takes its place. */
static int write_outputs(struct netc *netc, const struct options *o,
                         bool files) {
  struct output_file open[MOST_OUTPUTS];
  const char *paths[MOST_OUTPUTS];
  size_t count = 0;
  int status = EXIT_DONE;
  for (size_t i = 0; i < o->wanted_count && status == EXIT_DONE; i++) {
    const struct wanted *wanted = &o->wanted[i];
    if (!files && strcmp(wanted->path, "-") != 0)
      continue;
    if (!output_open(&open[count], wanted->path)) {
      status = open_failed(wanted->path);
      break;
    }
    paths[count] = wanted->path;
    status = write_one(netc, o, wanted, open[count++].file);
  }
  for (size_t i = 0; i < count; i++) {
    if (status != EXIT_DONE)
      output_abandon(&open[i]);
    else if (!output_commit(&open[i], o->if_changed))
      status = open_failed(paths[i]);
  }
  if (status == EXIT_DONE && o->depfile && files)
    status = write_dependencies(netc, o);
  return status;
}

/* Kinds are checked before the source is read: a slip costs no time. */
static int check_kinds(const struct options *o) {
  static const char *const kinds[] = {"txt", "json", "csv", "md", "net", "dot"};
  for (size_t i = 0; i < o->wanted_count; i++) {
    const char *kind = kind_of(&o->wanted[i]);
    bool known = is_picture(kind);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      known = known || strcmp(kind, kinds[k]) == 0;
    if (!known)
      return unknown_kind(&o->wanted[i]);
  }
  return EXIT_DONE;
}

static int compile(struct netc *netc, struct options *o) {
  if (o->file_count > 1)
    return complain(EXIT_USAGE, "one net at a time: `%s` and `%s`", o->files[0],
                    o->files[1]);
  if (check_kinds(o) != EXIT_DONE)
    return EXIT_USAGE;
  netc_on_diagnostic(netc, show_diagnostic, &o->display);
  enum netc_status loaded = netc_load_file(netc, o->files[0]);
  show_end(&o->display);
  int status = exit_status_of(netc, loaded);
  if (loaded != NETC_OK && loaded != NETC_ERROR)
    return status;
  if (o->dump) {
    enum netc_status dumped =
        netc_emit(netc, o->dump, &o->look, file_sink, stdout);
    if (dumped == NETC_USAGE)
      return complain(EXIT_USAGE,
                      "--dump takes tokens, ast, graph, "
                      "shapes or plan, not `%s`",
                      o->dump);
    return status ? status : exit_status_of(netc, dumped);
  }
  if (o->wanted_count == 0)
    o->wanted[o->wanted_count++] = (struct wanted){"txt", "-"};
  /* A net that only breaks its budget is still shown, but not kept. */
  bool complete = loaded == NETC_OK;
  if (complete || netc_layer_count(netc) > 0) {
    int written = write_outputs(netc, o, complete);
    status = status ? status : written;
  }
  return status;
}

int command_compile(int argc, char **argv) {
  struct options options = {0};
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  int status = read_options(&options, netc, argc, argv);
  if (status == EXIT_DONE && options.help)
    put_help(stdout);
  else if (status == EXIT_DONE && options.version)
    puts("netc " NETC_VERSION);
  else if (status == EXIT_DONE)
    status = compile(netc, &options);
  netc_close(netc);
  return status;
}

/* Every file has a context of its own, with the same options. */
int command_check(int argc, char **argv) {
  int worst = EXIT_DONE, count = 1;
  for (int i = 0; i < count; i++) {
    struct options options = {0};
    struct netc *netc = netc_open(NULL, NULL);
    if (!netc)
      return complain(EXIT_IO, "out of memory");
    int status = read_options(&options, netc, argc, argv);
    netc_on_diagnostic(netc, show_diagnostic, &options.display);
    count = options.file_count;
    if (status == EXIT_DONE && options.help)
      put_help(stdout);
    else if (status == EXIT_DONE)
      status = exit_status_of(netc, netc_load_file(netc, options.files[i]));
    show_end(&options.display);
    netc_close(netc);
    worst = status > worst ? status : worst;
  }
  return worst;
}
