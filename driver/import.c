/*
 * netc import: a model of another framework as a source. The result is
 * compiled before it is written, and every layer compared with what the file
 * says of its shape, so that an import is right or an error.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "driver/net_options.h"
#include "driver/output.h"
#include "import/reader.h"
#include "import/weights.h"

enum { MOST_INPUTS = 16, MOST_SIZES = 32 };

struct import_request {
  const char *path, *output, *weights;
  struct import_options options;
  struct import_input inputs[MOST_INPUTS];
  struct import_size sizes[MOST_SIZES];
  struct arena arena;
  struct bytes formatted;
  struct opened_file opening;
  struct netc *netc;
  enum netc_status loaded; /* what the library last said */
  bool types;              /* lists what is read */
  int status;
};

/* "yolov3" of "nets/yolov3.cfg" */
static const char *stem(struct import_request *r) {
  const char *slash = strrchr(r->path, '/');
  const char *name = slash ? slash + 1 : r->path;
  size_t length = strcspn(name, ".");
  return strcmp(r->path, "-") == 0 ? "net"
                                   : arena_copy(&r->arena, name, length);
}

/* The folder that a file lies in; standard input lies in none. */
static const char *folder_of(struct import_request *r) {
  const char *slash = strrchr(r->path, '/');
  if (strcmp(r->path, "-") == 0)
    return NULL;
  return !slash ? "."
         : slash == r->path
             ? "/"
             : arena_copy(&r->arena, r->path, (size_t)(slash - r->path));
}

static int refuse(const struct import_request *r, struct graph *graph) {
  const struct graph_error *e = &graph->error;
  struct text help = text_new(graph->arena);
  text_puts(&help, e->help);
  text_putc(&help, '\0');
  return complain_at(EXIT_SOURCE, r->path, e->line, e->column, help.at, "%.*s",
                     SLICE_ARG(e->message));
}

static const char *dims_text(struct graph *graph, const struct netc_shape *s) {
  return graph_sizes(graph, s->dims, (int)s->rank);
}

/* Sizes of 1 beside the others mean the same tensor: 1x1xC and C. */
static bool same_shape(const struct netc_shape *a,
                       const struct graph_shape *b) {
  size_t i = 0, k = 0, rank = (size_t)a->rank, other = (size_t)b->rank;
  while (i < rank || k < other) {
    if (i < rank && a->dims[i] == 1)
      i++;
    else if (k < other && b->size[k] == 1)
      k++;
    else if (i < rank && k < other && a->dims[i] == b->size[k])
      i++, k++;
    else
      return false;
  }
  return true;
}

/* What a node is; of `again`, what is used once more. */
static const char *word_of(const struct graph *graph,
                           const struct graph_node *node) {
  bool again = node->word == WORD_AGAIN;
  return graph_word(again ? graph->nodes.at[node->keyed]->word : node->word);
}

/* An import that says something else than its file is a bug of ours. */
static bool verify(struct import_request *r, struct graph *graph,
                   const struct imported *result) {
  size_t count = netc_layer_count(r->netc);
  if (count != result->layer_count)
    return graph_fail(graph, 0,
                      "the source has %zu layers, the file %zu; "
                      "please report this",
                      count, result->layer_count);
  for (size_t i = 0; i < count; i++) {
    struct netc_layer layer = {.size = sizeof layer};
    const struct graph_node *node = result->layers[i];
    netc_layer(r->netc, i, &layer);
    if (strcmp(layer.op, word_of(graph, node)) != 0)
      return graph_fail(graph, node->line,
                        "layer %zu is `%s` in the source, `%s` in "
                        "the file; please report this",
                        i, layer.op, word_of(graph, node));
    if (node->shape.rank > 0 && !same_shape(&layer.out, &node->shape))
      return graph_fail(graph, node->line,
                        "%s gives %s in the file, `%s` gives %s",
                        node->name ? node->name : node->kind,
                        graph_sizes(graph, node->shape.size, node->shape.rank),
                        layer.written, dims_text(graph, &layer.out));
  }
  return true;
}

/* Compiles what was imported; whether it says what the file does. */
static bool holds(struct import_request *r, struct graph *graph,
                  const struct imported *result) {
  struct slice text = text_slice(&result->source);
  graph->failed = false;
  graph->error = (struct graph_error){0};
  /* Its lines are none of the file's. */
  r->loaded =
      netc_load_text(r->netc, graph_text(graph, "%s, imported", r->path),
                     text.at, text.length);
  return r->loaded == NETC_OK && verify(r, graph, result);
}

/* The source as it is, or else flat; if neither holds, says why. */
static int settle(struct import_request *r, struct graph *graph,
                  struct imported *result) {
  struct imported folded = *result;
  if (holds(r, graph, result))
    return EXIT_DONE;
  if (!r->options.flat) {
    import_flat(graph, result);
    if (holds(r, graph, result)) {
      say_note(r->path, NULL,
               "written with a line a layer, since the shorter source is not "
               "the same net; please report this");
      return EXIT_DONE;
    }
    holds(r, graph, &folded);
  }
  if (graph->failed)
    return refuse(r, graph);
  show_diagnostics(r->netc, style_of(COLOUR_AUTO));
  return exit_status_of(r->netc, r->loaded);
}

static int write_source(const struct import_request *r) {
  struct output_file output;
  const char *path = r->output ? r->output : "-";
  if (!output_open(&output, path))
    return output_failed(path, errno);
  fwrite(r->formatted.at, 1, r->formatted.length, output.file);
  if (!output_commit(&output, false))
    return output_failed(path, errno);
  return EXIT_DONE;
}

static int write_weights(const struct import_request *r, struct graph *graph,
                         const struct imported *result) {
  struct output_file output;
  if (!output_open(&output, r->weights))
    return output_failed(r->weights, errno);
  if (!import_weights(r->netc, result, graph, output.file)) {
    output_abandon(&output);
    return refuse(r, graph);
  }
  if (!output_commit(&output, false))
    return output_failed(r->weights, errno);
  return EXIT_DONE;
}

/* A file that no reader knows. */
static int refuse_format(struct import_request *r) {
  struct text help = text_new(&r->arena);
  text_put(&help, "one of:");
  for (size_t i = 0; i < import_reader_count(); i++)
    text_printf(&help, " %s", import_reader_at(i)->name);
  text_printf(&help, "\n`netc %s` compiles it, if it is a source",
              shell_word("%s", r->path).text);
  text_putc(&help, '\0');
  return complain_of(EXIT_SOURCE, r->path, help.at,
                     "it has no format that netc imports");
}

/* Windows puts a mark before texts. */
static struct slice without_mark(struct slice file) {
  if (file.length >= 3 && memcmp(file.at, "\xEF\xBB\xBF", 3) == 0)
    return (struct slice){file.at + 3, file.length - 3};
  return file;
}

/* A net without its batch norms trains in much less memory. */
static void tell_folded(const struct import_request *r,
                        const struct graph *graph) {
  static const char help[] =
      "if the model has batch norms, `netc import` with `--assume-bn` writes "
      "them, without which training takes less; or export it with "
      "`training=TrainingMode.TRAINING, do_constant_folding=False`";
  if (graph->folded && !r->options.assume_bn)
    say_note(r->path, help,
             "PyTorch's exporter folds batch norms into the convolutions "
             "before them, of which %d have a bias and there is no batch norm",
             graph->folded);
}

/* The file as a source, compared with it. */
static int make_source(struct import_request *r,
                       const struct opened_file *opening, struct graph *graph,
                       struct imported *result) {
  const struct import_reader *reader = import_reader_of(opening->kind);
  r->path = opening->path;
  if (r->options.assume_bn && opening->kind != KIND_ONNX)
    return complain(EXIT_USAGE,
                    "--assume-bn is about what exporters of ONNX fold; %s has "
                    "its batch norms",
                    r->path);
  graph_open(graph, &r->arena);
  r->options.folder = folder_of(r);
  if (!import_file(reader, without_mark(opening->text), stem(r), &r->options,
                   graph, result))
    return refuse(r, graph);
  int status = settle(r, graph, result);
  if (status != EXIT_DONE)
    return status;
  tell_folded(r, graph);
  r->loaded = netc_emit(r->netc, "fmt", NULL, bytes_sink, &r->formatted);
  return exit_status_of(r->netc, r->loaded);
}

static int serve(struct import_request *r) {
  struct graph graph;
  struct imported result;
  int status = opening_open(&r->opening, r->path);
  if (status == EXIT_DONE && r->opening.kind == KIND_COUNT)
    return refuse_format(r);
  if (status == EXIT_DONE)
    status = make_source(r, &r->opening, &graph, &result);
  if (status == EXIT_DONE && r->weights)
    status = write_weights(r, &graph, &result);
  return status == EXIT_DONE ? write_source(r) : status;
}

/* "NAME=224x224x3" or "224x224x3" */
static int take_input(struct import_request *r, char *value) {
  char *equals = strchr(value, '='), *at = equals ? equals + 1 : value;
  if (r->options.input_count == MOST_INPUTS)
    return complain(EXIT_USAGE, "--input: more than %d are given", MOST_INPUTS);
  struct import_input *input = &r->inputs[r->options.input_count++];
  r->options.inputs = r->inputs;
  if (equals) {
    *equals = '\0';
    input->name = value;
  }
  for (bool more = true; more; at++) {
    char *end;
    errno = 0;
    int64_t size = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : 0;
    if (size < 1 || size > (1 << 30) || errno ||
        input->shape.rank == LIMIT_RANK || (*end && *end != 'x'))
      return complain(EXIT_USAGE, "--input takes sizes as 224x224x3, and "
                                  "NAME=224x224x3 where there are several");
    input->shape.size[input->shape.rank++] = size;
    more = *end == 'x';
    at = end;
  }
  return EXIT_DONE;
}

/* "NAME=VALUE" */
static int take_size(struct import_request *r, char *value) {
  char *equals = strchr(value, '='), *end = NULL;
  if (r->options.size_count == MOST_SIZES)
    return complain(EXIT_USAGE, "--dim: more than %d are given", MOST_SIZES);
  errno = 0;
  int64_t size = equals && isdigit((unsigned char)equals[1])
                     ? strtoll(equals + 1, &end, 10)
                     : 0;
  if (size < 1 || size > (1 << 30) || errno || *end || equals == value)
    return complain(EXIT_USAGE, "--dim takes NAME=VALUE: --dim sequence=128");
  *equals = '\0';
  r->sizes[r->options.size_count++] = (struct import_size){value, size};
  r->options.sizes = r->sizes;
  return EXIT_DONE;
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct import_request *r = user;
  (void)name;
  switch (option) {
  case OPTION_OUTPUT: r->output = value; break;
  case OPTION_INPUT_SIZE: return take_input(r, value);
  case OPTION_DIM: return take_size(r, value);
  case OPTION_WEIGHTS:
    r->weights = value;
    r->options.weights = true;
    break;
  case OPTION_FLAT: r->options.flat = true; break;
  case OPTION_ASSUME_BN: r->options.assume_bn = true; break;
  case OPTION_TYPES: r->types = true; break;
  default: r->options.allow_unknown = true;
  }
  return EXIT_DONE;
}

static int list_types(struct import_request *r) {
  struct text text = text_new(&r->arena);
  struct graph graph;
  graph_open(&graph, &r->arena);
  import_types(&graph, &text);
  r->formatted = (struct bytes){.at = text.at, .length = text.length};
  int status = write_source(r);
  r->formatted = (struct bytes){0};
  return status;
}

static void run(void *user) {
  struct import_request *r = user;
  r->status = r->types ? list_types(r) : serve(r);
}

/* -o x.svg: a diagram is two steps away. */
static int check_suffix(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash ? slash : path, '.');
  if (!dot || dot[1] == '\0' || dot[1] == '/' || strcmp(dot, ".net") == 0)
    return EXIT_DONE;
  struct shell_word source = shell_word("%.*s.net", (int)(dot - path), path);
  return complain(EXIT_USAGE,
                  "-o %s: an import is a source: `-o %s`, of which "
                  "`netc %s -o %s` makes the other",
                  path, source.text, source.text, shell_word("%s", path).text);
}

/* Three files, of which one is read. */
static int check_places(const struct import_request *r) {
  const char *source = r->output ? r->output : "-";
  const char *weights = r->weights ? r->weights : "-";
  const char *path = r->path ? r->path : "-";
  if (output_same_file(source, path) || output_same_file(weights, path))
    return complain(EXIT_USAGE,
                    "%s would be replaced by what is made of it; "
                    "give the output another name",
                    path);
  if (output_same_file(source, weights))
    return complain(EXIT_USAGE, "two outputs go to %s; give each its own file",
                    source);
  return r->types ? EXIT_DONE : check_suffix(source);
}

int command_import(int argc, char **argv) {
  struct import_request r = {.status = EXIT_DONE};
  struct arena *const arenas[GUARD_ARENAS] = {&r.arena};
  struct operands files;
  if (!options_read(COMMAND_IMPORT, argc, argv, take, &r, &files))
    return files.status;
  if (files.count != !r.types)
    return complain(EXIT_USAGE, "netc import needs one file");
  r.path = files.count ? files.at[0] : NULL;
  if (check_places(&r) != EXIT_DONE)
    return EXIT_USAGE;
  r.netc = netc_open(NULL, NULL);
  if (!r.netc)
    return complain(EXIT_IO, "out of memory");
  arena_open(&r.arena, NULL, NULL);
  if (!guard_run(arenas, run, &r))
    r.status = complain(EXIT_IO, "out of memory");
  arena_close(&r.arena);
  opening_close(&r.opening);
  bytes_free(&r.formatted);
  netc_close(r.netc);
  return r.status;
}

/* What another command was given. */

struct import_opened {
  struct import_request request;
  struct opened_file *opening;
  const struct option_given *given;
  size_t count;
  struct text command;
};

/* An option of ours, and as `netc import` would have to be given it. */
static int take_given(struct import_request *r,
                      const struct option_given *given, struct text *command) {
  enum option_id option = given->option;
  const char *text = given->value ? given->value : "";
  char *value = arena_copy(&r->arena, text, strlen(text)); /* it is cut */
  if (option >= OPTION_COUNT ||
      (option != OPTION_SIZES && option_row(option)->group != GROUP_IMPORT))
    return EXIT_DONE;
  text_printf(command, " --%s%s%s", option_row(option)->name, *text ? " " : "",
              *text ? shell_word("%s", text).text : "");
  return option == OPTION_SIZES ? take_input(r, value)
                                : take(r, option, given->name, value);
}

static void run_opened(void *user) {
  struct import_opened *o = user;
  struct import_request *r = &o->request;
  struct graph graph;
  struct imported result;
  o->command = text_new(&r->arena);
  for (size_t i = 0; i < o->count && r->status == EXIT_DONE; i++)
    r->status = take_given(r, &o->given[i], &o->command);
  if (r->status == EXIT_DONE)
    r->status = make_source(r, o->opening, &graph, &result);
  if (r->status == EXIT_DONE) {
    o->opening->text.at =
        arena_copy(&o->opening->arena, r->formatted.at, r->formatted.length);
    o->opening->text.length = r->formatted.length;
  }
}

int opening_import(struct opened_file *opening,
                   const struct option_given *given, size_t count) {
  struct import_opened o = {.opening = opening, .given = given, .count = count};
  struct import_request *r = &o.request;
  struct arena *const arenas[GUARD_ARENAS] = {&r->arena, &opening->arena};
  r->netc = netc_open(NULL, NULL);
  if (!r->netc)
    return complain(EXIT_IO, "out of memory");
  arena_open(&r->arena, NULL, NULL);
  if (!guard_run(arenas, run_opened, &o))
    r->status = complain(EXIT_IO, "out of memory");
  if (r->status == EXIT_DONE)
    say_note(
        opening->path, NULL,
        "read as %s; `netc import %s%.*s` writes the source that is compiled",
        file_kind(opening->kind)->name, shell_word("%s", opening->path).text,
        SLICE_ARG(o.command));
  arena_close(&r->arena);
  bytes_free(&r->formatted);
  netc_close(r->netc);
  return r->status;
}
