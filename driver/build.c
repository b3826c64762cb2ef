/* The main command: compiles a net and writes the outputs. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "driver/depfile.h"
#include "driver/export.h"
#include "driver/must_fit.h"
#include "driver/graphviz.h"
#include "driver/live.h"
#include "driver/max_input.h"
#include "driver/net_options.h"
#include "driver/output.h"
#include "driver/relative.h"
#include "driver/run/weight_set.h"
#include "driver/table.h"
#include "driver/terminal.h"

/* Kinds of output: the library's, and pictures of them */

/* The kind with that name in any case, or NULL. */
static const char *find_kind(const char *name, enum netc_purpose purpose) {
  struct netc_output_kind kind = {.size = sizeof kind};
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++) {
    if (kind.purpose != purpose)
      continue;
    if (strcasecmp(kind.name, name) == 0)
      return kind.name;
    if (*name && strcasecmp(kind.word, name) == 0)
      return kind.word;
  }
  for (size_t i = 0; purpose == NETC_FOR_FILES && picture_at(i); i++)
    if (strcasecmp(picture_at(i), name) == 0)
      return picture_at(i);
  for (size_t i = 0; purpose == NETC_FOR_FILES && export_at(i); i++)
    if (strcasecmp(export_at(i)->name, name) == 0)
      return export_at(i)->name;
  return NULL;
}

static bool is_kind(const char *name, enum netc_purpose purpose) {
  return find_kind(name, purpose) != NULL;
}

/* The longest suffix that is a kind: x.timeline.svg. Otherwise the last
 * suffix. */
static const char *kind_of(const struct wanted *wanted) {
  const char *slash = strrchr(wanted->path, '/');
  const char *dot = strchr(slash ? slash : wanted->path, '.');
  const char *last = wanted->kind;
  if (!*last && strcmp(wanted->path, "-") == 0)
    return "txt";
  for (; !wanted->kind[0] && dot; dot = strchr(last, '.')) {
    last = dot + 1;
    if (is_kind(last, NETC_FOR_FILES))
      break;
  }
  const char *kind = find_kind(last, NETC_FOR_FILES);
  return kind ? kind : last;
}

/* "txt, json, ..., pdf" */
static const char *list_kinds(char *to, size_t room,
                              enum netc_purpose purpose) {
  struct netc_output_kind kind = {.size = sizeof kind};
  size_t used = 0;
  *to = '\0';
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++)
    if (kind.purpose == purpose && used < room)
      used += (size_t)snprintf(to + used, room - used, "%s%s", used ? ", " : "",
                               kind.name);
  for (size_t i = 0; purpose == NETC_FOR_FILES && picture_at(i) && used < room;
       i++)
    used += (size_t)snprintf(to + used, room - used, ", %s", picture_at(i));
  for (size_t i = 0; purpose == NETC_FOR_FILES && export_at(i) && used < room;
       i++)
    used +=
        (size_t)snprintf(to + used, room - used, ", %s", export_at(i)->name);
  return to;
}

static int unknown_kind(const struct wanted *wanted) {
  char kinds[512];
  list_kinds(kinds, sizeof kinds, NETC_FOR_FILES);
  if (!*kind_of(wanted))
    return complain(EXIT_USAGE,
                    "-o %s: the suffix selects the kind of output; choose one "
                    "of %s, or write --emit=KIND=%s",
                    wanted->path, kinds, wanted->path);
  static const char *const pixels[] = {"jpg", "jpeg", "gif", "webp",
                                       "bmp", "eps",  "ps",  "tiff"};
  for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
    if (strcasecmp(kind_of(wanted), pixels[i]) == 0)
      return complain(EXIT_USAGE,
                      "%s: a picture needs the suffix svg, pdf, tex or png",
                      wanted->path);
  return complain(
      EXIT_USAGE, "%s: unknown output format `%s`; choose one of %s",
      wanted->kind[0] ? "--emit" : wanted->path, kind_of(wanted), kinds);
}

/* "svg, pdf, tex and png": the formats of a chart "timeline.". */
static void list_forms(char *to, size_t room, const char *chart) {
  struct netc_output_kind kind = {.size = sizeof kind};
  size_t used = 0, length = strlen(chart);
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++)
    if (kind.purpose == NETC_FOR_FILES && used < room &&
        strncmp(kind.name, chart, length) == 0)
      used +=
          (size_t)snprintf(to + used, room - used, "%s, ", kind.name + length);
  if (used < room)
    snprintf(to + used - 2, room - used + 2, " and png");
}

/* Refuses x.timeline.html, which would be the whole page. */
static int refuse_chart(const struct wanted *wanted) {
  char chart[64], forms[128];
  const char *kind = kind_of(wanted);
  size_t end = strlen(wanted->path), start;
  bool draws = strcmp(kind, "dot") == 0 || strcmp(kind, "mmd") == 0 ||
               strcmp(kind, "html") == 0;
  if (wanted->kind[0] || !draws || end <= strlen(kind))
    return EXIT_DONE;
  start = end -= strlen(kind) + 1;
  while (start > 0 && !strchr("./", wanted->path[start - 1]))
    start--;
  if (start == 0 || wanted->path[start - 1] != '.' || end - start > 32)
    return EXIT_DONE;
  snprintf(chart, sizeof chart, "%.*s.svg", (int)(end - start),
           wanted->path + start);
  const char *drawn = find_kind(chart, NETC_FOR_FILES);
  if (!drawn)
    return EXIT_DONE;
  snprintf(chart, sizeof chart, "%.*s.", (int)(end - start), drawn);
  list_forms(forms, sizeof forms, chart);
  return complain(EXIT_USAGE, "%s: this chart is written as %s: `-o %s`",
                  wanted->path, forms,
                  shell_word("%.*s.svg", (int)end, wanted->path).text);
}

static bool exports(const struct net_options *o) {
  for (size_t i = 0; i < o->wanted_count; i++)
    if (export_find(kind_of(&o->wanted[i])))
      return true;
  return false;
}

static bool writes(const struct net_options *o, const char *kind) {
  for (size_t i = 0; i < o->wanted_count; i++)
    if (strcmp(kind_of(&o->wanted[i]), kind) == 0)
      return true;
  return false;
}

static bool writes_files(const struct net_options *o) {
  for (size_t i = 0; i < o->wanted_count; i++)
    if (strcmp(o->wanted[i].path, "-") != 0)
      return true;
  return false;
}

/* Checks kinds before the source is read, to report mistakes early. */
static int check_kinds(struct net_options *o) {
  char kinds[512];
  for (size_t i = 0; i < o->wanted_count; i++)
    if (!is_kind(kind_of(&o->wanted[i]), NETC_FOR_FILES))
      return unknown_kind(&o->wanted[i]);
  for (size_t i = 0; i < o->wanted_count; i++)
    if (refuse_chart(&o->wanted[i]) != EXIT_DONE)
      return EXIT_USAGE;
  if (o->depfile && !o->dep_target && !writes_files(o))
    return complain(EXIT_USAGE, "-MD needs a target: add -o FILE, or -MT NAME");
  if (o->weights && !exports(o))
    return complain(EXIT_USAGE, "--weights needs a model to write: add `-o "
                                "x.onnx`; `netc run` runs weights");
  if (o->names && (!writes(o, "py") || strcmp(o->names, "netc") == 0))
    return complain(EXIT_USAGE,
                    "--names=torchvision and --names=FILE need -o x.py; `netc "
                    "weights` also takes `netc` and `py`");
  if (o->no_source && !exports(o))
    return complain(EXIT_USAGE, "--no-source needs a model to write: add `-o "
                                "x.onnx`");
  for (size_t i = 0; i < o->wanted_count && o->dynamic; i++)
    if (!export_find(kind_of(&o->wanted[i])) || o->wanted_count > 1)
      return complain(EXIT_USAGE,
                      "--dynamic needs -o x.onnx as the only output");
  if (o->dynamic && !o->wanted_count)
    return complain(EXIT_USAGE, "--dynamic needs a model to write: add `-o "
                                "x.onnx`");
  if (o->look.picture_height && !writes(o, "svg") && !writes(o, "pdf") &&
      !writes(o, "png") && !writes(o, "tex"))
    return complain(EXIT_USAGE, "--height is for diagrams: add `-o x.svg`, "
                                "`x.pdf`, `x.png` or `x.tex`");
  if (o->live && !writes(o, "html"))
    return complain(EXIT_USAGE, "--live needs a page: add `-o x.html`");
  if (o->live && live_check(o) != EXIT_DONE)
    return EXIT_USAGE;
  if (o->dump && !is_kind(o->dump, NETC_FOR_DUMP))
    return complain(EXIT_USAGE, "--dump takes one of %s, not `%s`",
                    list_kinds(kinds, sizeof kinds, NETC_FOR_DUMP), o->dump);
  return EXIT_DONE;
}

/* Writing */

/* A file, and the error of the first failed write. */
struct file_writing {
  FILE *file;
  int error;
  struct progress_line *progress;
};

static bool write_sink(void *user, const char *bytes, size_t length) {
  struct file_writing *writing = user;
  progress_erase(writing->progress);
  if (file_sink(writing->file, bytes, length))
    return true;
  writing->error = errno;
  return false;
}

/* The exit status for an output; prints a note on it. */
static int emitted(struct netc *netc, const struct net_options *o,
                   const char *path, enum netc_status status) {
  if (strcmp(path, "-") == 0)
    path = o->files.at[0];
  if (status == NETC_OK && *netc_message(netc))
    say_note(path, "`--depth 1` draws one box for each group", "%s",
             netc_message(netc));
  return exit_status_of(netc, status);
}

static int write_picture(struct netc *netc, struct net_options *o,
                         const char *kind, const char *path, FILE *file) {
  struct bytes dot = {0};
  char drawing[32]; /* "timeline.png" is drawn from "timeline.drawing" */
  snprintf(drawing, sizeof drawing, "%.*sdrawing",
           (int)(strlen(kind) - strlen("png")), kind);
  enum netc_status status =
      netc_emit(netc, drawing, &o->look, bytes_sink, &dot);
  int result = emitted(netc, o, path, status);
  if (status == NETC_OK)
    result = graphviz_render(&dot, file);
  bytes_free(&dot);
  return result;
}

static int recompile(void *user, bool quiet) {
  struct net_options *o = user;
  enum netc_status loaded;
  if (!quiet)
    return net_options_compile(o, o->netc, o->files.at[0]);
  int status = net_options_try(o, o->netc, o->files.at[0], &loaded);
  return status == EXIT_DONE ? exit_status_of(o->netc, loaded) : status;
}

static bool names_input(const struct net_options *o) {
  for (size_t i = 0; i < o->given_count; i++)
    if (net_options_resizes(o, &o->given[i]) && strchr(o->given[i].value, '='))
      return true;
  return false;
}

/* True if the source describes the whole net, without sizes from options. */
static bool keeps_source(const struct net_options *o) {
  bool whole = !o->no_source;
  for (size_t i = 0; i < o->given_count; i++)
    whole = whole && !net_options_resizes(o, &o->given[i]);
  return whole;
}

static int write_emitted(struct netc *netc, struct net_options *o,
                         const char *kind, const char *path, FILE *file,
                         struct netc_options *look) {
  struct file_writing writing = {file, 0, &o->progress};
  bool shown = strcmp(path, "-") == 0;
  look->width = shown ? terminal_width() : 0;
  look->height = shown ? terminal_height() : 0;
  look->colour = shown && wants_colour(o->colour, STDOUT_FILENO);
  struct relative links = relative_to_here(path);
  look->links = links.text;
  enum netc_status status = netc_emit(netc, kind, look, write_sink, &writing);
  if (writing.error)
    return output_failed(path, writing.error);
  if (status == NETC_ERROR) /* the output is refused; the net has no error */
    return complain(EXIT_SOURCE, "%s: %s", o->files.at[0], netc_message(netc));
  return emitted(netc, o, path, status);
}

static int write_live(struct netc *netc, struct net_options *o, FILE *file) {
  struct bytes page = {0};
  enum netc_status status =
      netc_emit(netc, "html", &o->look, bytes_sink, &page);
  int result = status == NETC_OK ? live_write(netc, o, &page, file)
               : status == NETC_ERROR
                   ? complain(EXIT_SOURCE, "%s", netc_message(netc))
                   : exit_status_of(netc, status);
  bytes_free(&page);
  return result;
}

/* Writes x.py with the names of tensors in a file of weights. */
static int write_named(struct netc *netc, struct net_options *o,
                       const char *path, FILE *file) {
  struct netc_options look = o->look;
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  int status = weight_names_find(netc, o->names, &arena, &look);
  if (status == EXIT_DONE &&
      (status = write_emitted(netc, o, "py", path, file, &look)) == EXIT_SOURCE)
    say_note(o->names, NULL,
             "`netc weights X.net --from FILE --by-order --names=py -o "
             "w.safetensors` renames its tensors as in x.py");
  arena_close(&arena);
  return status;
}

static int write_one(struct netc *netc, struct net_options *o, const char *kind,
                     const char *path, FILE *file) {
  const struct export_kind *exported = export_find(kind);
  if (picture_find(kind))
    return write_picture(netc, o, kind, path, file);
  if (exported)
    return exported->write(
        &(struct export_request){.netc = netc,
                                 .net = o->files.at[0],
                                 .path = path,
                                 .file = file,
                                 .weights = o->weights,
                                 .opset = o->opset,
                                 .keeps_source = keeps_source(o),
                                 .dynamic = o->dynamic,
                                 .names_input = names_input(o),
                                 .recompile = recompile,
                                 .user = o});
  if (o->names && strcmp(kind, "py") == 0)
    return write_named(netc, o, path, file);
  if (o->live && strcmp(kind, "html") == 0)
    return write_live(netc, o, file);
  struct netc_options look = o->look;
  return write_emitted(netc, o, kind, path, file, &look);
}

/* Open outputs. All are complete before the first is put in place. */
struct outputs {
  struct output_file open[MOST_OUTPUTS + 1]; /* with the dependencies */
  const char *paths[MOST_OUTPUTS + 1];
  char *dependencies;
  size_t count;
};

/* No output may replace a source or an earlier output. */
static int check_place(const struct netc *netc, const struct net_options *o,
                       const char *path, size_t earlier) {
  for (size_t i = 0; i < earlier; i++)
    if (output_same_file(o->wanted[i].path, path))
      return complain(EXIT_USAGE,
                      "two outputs have the file %s; give each its own file",
                      path);
  return output_spares_sources(path, netc);
}

static int write_files(struct netc *netc, struct net_options *o, bool files,
                       struct outputs *out) {
  for (size_t i = 0; i < o->wanted_count; i++) {
    const struct wanted *wanted = &o->wanted[i];
    struct output_file *file = &out->open[out->count];
    if (!files && strcmp(wanted->path, "-") != 0)
      continue;
    if (!output_open(file, wanted->path))
      return output_failed(wanted->path, errno);
    out->paths[out->count++] = wanted->path;
    int status = write_one(netc, o, kind_of(wanted), wanted->path, file->file);
    if (status != EXIT_DONE)
      return status;
  }
  return EXIT_DONE;
}

static int write_outputs(struct netc *netc, struct net_options *o, bool files) {
  struct outputs out = {.count = 0};
  int status = EXIT_DONE;
  for (size_t i = 0; i < o->wanted_count && status == EXIT_DONE; i++)
    status = check_place(netc, o, o->wanted[i].path, i);
  if (status == EXIT_DONE)
    status = write_files(netc, o, files, &out);
  if (status == EXIT_DONE && o->depfile && files) {
    status = depfile_write(netc, o, &out.open[out.count], &out.dependencies);
    if (status == EXIT_DONE) {
      out.paths[out.count++] = out.dependencies;
      status = check_place(netc, o, out.dependencies, o->wanted_count);
    }
  }
  for (size_t i = 0; i < out.count && status == EXIT_DONE; i++)
    if (fflush(out.open[i].file) != 0) /* short outputs are only written here */
      status = output_failed(out.paths[i], errno);
  for (size_t i = 0; i < out.count; i++) {
    if (status != EXIT_DONE)
      output_abandon(&out.open[i]);
    else if (!output_commit(&out.open[i], o->if_changed))
      status = output_failed(out.paths[i], errno);
  }
  free(out.dependencies);
  return status;
}

static int write_dump(struct netc *netc, struct net_options *o) {
  int status = write_one(netc, o, o->dump, "-", stdout);
  int end = finish_stdout();
  return status ? status : end;
}

/* Compiling */

static int check_operands(struct net_options *o) {
  const char *second = o->files.count > 1 ? o->files.at[1] : "";
  struct wanted wanted = {"", second};
  if (!*second)
    return EXIT_DONE;
  if (o->wanted_count && strcmp(kind_of(&wanted), "net") != 0 &&
      is_kind(kind_of(&wanted), NETC_FOR_FILES))
    return complain(EXIT_USAGE, "each output needs its own -o: write `-o %s`",
                    shell_word("%s", second).text);
  for (int i = 1; i < COMMAND_COUNT; i++)
    for (int k = 0; k < o->files.count; k++)
      if (strcmp(o->files.at[k], command_row((enum command)i)->word) == 0)
        return complain(EXIT_USAGE, "write the command first: `netc %s ... %s`",
                        o->files.at[k],
                        shell_word("%s", o->files.at[k == 0]).text);
  return complain(EXIT_USAGE,
                  "one net at a time: `%s` and `%s`; `netc check` "
                  "takes several",
                  o->files.at[0], second);
}

/* True if a report on standard output already has the verdict. */
static bool is_told(const struct net_options *o) {
  bool told = false;
  for (size_t i = 0; i < o->wanted_count; i++)
    told = told || (strcmp(o->wanted[i].path, "-") == 0 &&
                    strcmp(kind_of(&o->wanted[i]), "txt") == 0);
  return told && o->style != NETC_STYLE_JSON;
}

static int must_fit(struct netc *netc, struct net_options *o, int status) {
  if (status == EXIT_DONE)
    status = must_fit_is_asked(netc, o);
  if (status != EXIT_DONE || !o->must_fit)
    return status;
  return must_fit_check(netc, o, o->files.at[0], !is_told(o));
}

/* A file with a known net's tensors is compiled as that net. */
static bool is_recognised(struct net_options *o) {
  const char *path = o->files.at[0];
  if (opening_open(&o->opening, path) != EXIT_DONE)
    return false;
  if (opening_recognise(&o->opening, false, false) == EXIT_DONE)
    return true;
  bool modules = opening_has_modules(&o->opening);
  opening_close(&o->opening);
  return modules;
}

static int build(struct netc *netc, struct net_options *o) {
  int status = check_operands(o);
  if (status == EXIT_DONE)
    status = check_kinds(o);
  if (status != EXIT_DONE)
    return status;
  if (table_wanted(o) && (o->wanted_count || o->dump || o->must_fit))
    return complain(EXIT_USAGE, "several values of a setting make a table; "
                                "leave out -o, --emit, --dump and --must-fit");
  if (!o->wanted_count && !o->given_count && weight_file_is(o->files.at[0]) &&
      !is_recognised(o))
    return weight_file_show(o->files.at[0]);
  if (o->max_input)
    return max_input(netc, o);
  if (table_wanted(o))
    return table(netc, o);
  status = net_options_compile(o, netc, o->files.at[0]);
  if (status == EXIT_DONE && o->opening.kind != KIND_COUNT)
    count_diagnostics(netc, o->style, o->files.at[0]);
  else if (status == EXIT_DONE)
    show_diagnostics(netc, o->style);
  else if (status != EXIT_SOURCE)
    return status;
  if (o->dump) {
    int dumped = write_dump(netc, o);
    return status ? status : dumped;
  }
  if (o->wanted_count == 0)
    o->wanted[o->wanted_count++] = (struct wanted){"txt", "-"};
  /* A net over its budget is shown, but no files are kept. */
  bool complete = status == EXIT_DONE;
  if (complete || netc_layer_count(netc) > 0) {
    int written = write_outputs(netc, o, complete);
    status = status ? status : written;
  }
  return must_fit(netc, o, status);
}

/* Options of this command. */
static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct net_options *o = user;
  (void)name;
  if (option == OPTION_WEIGHTS)
    o->weights = value;
  else if (option == OPTION_NAMES)
    o->names = strcmp(value, "py") == 0 ? NULL : value;
  else if (option == OPTION_DYNAMIC)
    o->dynamic = true;
  else if (option == OPTION_NO_SOURCE)
    o->no_source = true;
  else
    return option_number(option, value, OPSET_LEAST, OPSET_MOST, &o->opset)
               ? EXIT_DONE
               : EXIT_USAGE;
  return EXIT_DONE;
}

int command_build(int argc, char **argv) {
  struct net_options options = {.opset = OPSET_USUAL};
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  int status = net_options_read_more(&options, COMMAND_BUILD, netc, argc, argv,
                                     take, &options)
                   ? build(netc, &options)
                   : options.files.status;
  net_options_close(&options);
  netc_close(netc);
  return status;
}
