/*
 * Translates another framework's file into a source and proves it
 * (import/proof.h), so that an import is right or an error.
 */
#include <inttypes.h>
#include <string.h>

#include "driver/import/request.h"
#include "driver/net_options.h"
#include "driver/zoo.h"
#include "import/proof.h"
#include "import/pytorch/modules.h"

static enum netc_found read_nothing(void *user, const char *path,
                                    netc_sink_fn *sink, void *sink_user) {
  (void)user, (void)path, (void)sink, (void)sink_user;
  return NETC_ABSENT;
}

struct netc *request_context(void) {
  struct netc *netc = netc_open(NULL, NULL);
  if (netc)
    netc_on_read(netc, read_nothing, NULL);
  return netc;
}

/* "yolov3" of "nets/yolov3.cfg" */
static const char *stem(struct import_request *r) {
  const char *slash = strrchr(r->path, '/');
  const char *name = slash ? slash + 1 : r->path;
  size_t length = strcspn(name, ".");
  return strcmp(r->path, "-") == 0 ? "net"
                                   : arena_copy(&r->arena, name, length);
}

/* The directory of a file; NULL for standard input. */
static const char *folder_of(struct import_request *r) {
  const char *slash = strrchr(r->path, '/');
  if (strcmp(r->path, "-") == 0)
    return NULL;
  return !slash ? "."
         : slash == r->path
             ? "/"
             : arena_copy(&r->arena, r->path, (size_t)(slash - r->path));
}

int request_refuse(const struct import_request *r, struct graph *graph) {
  const struct graph_error *e = &graph->error;
  struct text help = text_new(graph->arena);
  text_puts(&help, e->help);
  text_putc(&help, '\0');
  return complain_at(EXIT_SOURCE, e->path ? e->path : r->path, e->line,
                     e->column, help.at, "%.*s", SLICE_ARG(e->message));
}

/* If a shortened source is not the file's net, that is a bug in netc. */
static int settle(struct import_request *r, struct graph *graph,
                  struct imported *result) {
  struct import_proof proof = {.netc = r->netc, .path = r->path};
  bool holds = import_prove(&proof, graph, r->options.flat, result);
  r->loaded = proof.loaded;
  if (!holds && graph->failed)
    return request_refuse(r, graph);
  if (!holds) {
    show_diagnostics(r->netc, style_of(COLOUR_AUTO));
    return exit_status_of(r->netc, r->loaded);
  }
  if (proof.longer)
    say_note(r->path, NULL,
             "the source is written with %s, because a shorter one would be "
             "another net; please report this bug",
             proof.longer);
  return EXIT_DONE;
}

/* Removes the byte order mark that Windows writes. */
static struct slice without_mark(struct slice file) {
  if (file.length >= 3 && memcmp(file.at, "\xEF\xBB\xBF", 3) == 0)
    return slice_from(file, 3);
  return file;
}

/* Warns that training needs less memory without batch norms. */
static void tell_folded(const struct import_request *r,
                        const struct graph *graph) {
  static const char help[] =
      "if the model has batch norms, `netc import --assume-bn` writes them; "
      "without them the memory for training is too low. Or export it with "
      "`training=TrainingMode.TRAINING, do_constant_folding=False`";
  if (graph->folded && !r->options.assume_bn)
    say_note(r->path, help,
             "PyTorch's exporter folds batch norms into convolutions: %d "
             "convolutions have a bias, and there is no batch norm",
             graph->folded);
}

/* Reports the types in the file, since netc has one for all of the net. */
static void tell_stored(const struct import_request *r,
                        const struct graph *graph) {
  struct netc_inference ours = {.size = sizeof ours};
  char differs[80] = "";
  if (!graph->stored_bytes)
    return;
  if (netc_inference(r->netc, &ours) == NETC_OK &&
      ours.weight_bytes != graph->stored_bytes)
    snprintf(differs, sizeof differs,
             "; netc counts %s in the most common type",
             count_text(ours.weight_bytes).text);
  say_note(r->path, NULL, "its tensors have %s bytes: %s%s",
           count_text(graph->stored_bytes).text, graph->stored_types, differs);
}

const char *request_beside(struct import_request *r, const char *suffix) {
  const char *slash = strrchr(r->path, '/');
  size_t name = slash ? (size_t)(slash - r->path) : 0;
  size_t length = strlen(r->path), end = length;
  if (slice_ends(slice_of(r->path), ".gz"))
    length = end = length - 3; /* the inner suffix counts */
  while (end > name && r->path[end] != '.')
    end--;
  length = end > name ? end : length;
  struct text path = text_new(&r->arena);
  text_printf(&path, "%.*s%s", (int)length, r->path, suffix);
  return text_string(&path);
}

/* Finds the file of values that are not in the file itself. */
static int find_values(struct import_request *r,
                       const struct opened_file *opening) {
  const char *suffix = file_kind(opening->kind)->values;
  if (r->from && !suffix)
    return complain(EXIT_USAGE,
                    "--from: %s contains its own weights, if it has any",
                    r->path);
  if (r->from && !r->options.weights)
    return complain(EXIT_USAGE, "--from needs an output: add `--weights "
                                "W.safetensors`");
  if (suffix && r->options.weights && !r->from && strcmp(r->path, "-") == 0)
    return complain(EXIT_USAGE, "--weights needs a source: add `--from FILE%s`",
                    suffix);
  if (suffix && r->options.weights)
    r->options.values = r->from ? r->from : request_beside(r, suffix);
  if (r->options.values && r->weights &&
      output_same_file(r->options.values, r->weights))
    return request_would_replace(r->options.values);
  return EXIT_DONE;
}

/*
 * Improves the help for an image that is too small: names the first common size
 * with which the file can be read. Templates have 1x1x3.
 */
static void try_sizes(struct import_request *r,
                      const struct import_reader *reader, struct slice text,
                      struct graph *graph) {
  static const int64_t usual[] = {224, 256, 368, 416, 512, 640};
  struct graph_error *e = &graph->error;
  for (size_t i = 0; i < sizeof usual / sizeof *usual && e->input.rank; i++) {
    struct graph trial;
    struct imported result;
    struct import_options options = r->options;
    struct import_input input = {
        .shape = {3, {usual[i], usual[i], e->input.size[2]}}};
    options.inputs = &input;
    options.input_count = 1;
    graph_open(&trial, &r->arena);
    if (usual[i] <= e->input.size[0] || usual[i] <= e->input.size[1] ||
        !import_file(reader, text, stem(r), &options, &trial, &result))
      continue;
    e->help = slice_of(graph_text(
        graph, "the input is %s; `--input %s` gives a sufficient size",
        graph_sizes(graph, e->input.size, 3),
        graph_sizes(graph, input.shape.size, 3)));
    return;
  }
}

/* True if netc wrote the file and its source matches its weights. */
static bool is_kept(struct import_request *r, struct graph *graph,
                    const struct imported *result) {
  struct import_proof proof = {.netc = r->netc, .path = r->path};
  bool holds = import_holds(&proof, graph, result);
  r->loaded = proof.loaded;
  return holds;
}

static int read_source(struct import_request *r,
                       const struct import_reader *reader, struct slice text,
                       struct graph *graph, struct imported *result) {
  graph_open(graph, &r->arena);
  if (!import_file(reader, text, stem(r), &r->options, graph, result)) {
    try_sizes(r, reader, text, graph);
    return request_refuse(r, graph);
  }
  if (!graph->kept)
    return settle(r, graph, result);
  if (is_kept(r, graph, result)) {
    say_note(r->path, NULL, "netc wrote it, and it contains its source");
    return EXIT_DONE;
  }
  r->options.no_source = true; /* possibly from another version */
  return read_source(r, reader, text, graph, result);
}

/* Stores the formatted source; one from the file stays unchanged. */
static int put_formatted(struct import_request *r, const struct graph *graph) {
  if (graph->kept &&
      !bytes_sink(&r->formatted, graph->source.at, graph->source.length))
    return complain(EXIT_IO, "out of memory");
  if (!graph->kept)
    r->loaded = netc_emit(r->netc, "fmt", NULL, bytes_sink, &r->formatted);
  return exit_status_of(r->netc, r->loaded);
}

int request_make_source(struct import_request *r,
                        const struct opened_file *opening, struct graph *graph,
                        struct imported *result) {
  static const struct import_reader modules = {.name = "PyTorch",
                                               .read = modules_read};
  const struct import_reader *reader =
      opening->modules ? &modules : import_reader_of(opening->kind);
  r->path = opening->path;
  if (r->options.assume_bn && opening->kind != KIND_ONNX)
    return complain(EXIT_USAGE,
                    "--assume-bn needs an ONNX file; %s keeps its batch norms",
                    r->path);
  if (r->options.scalar_count > 0 && opening->kind != KIND_ONNX)
    return complain(EXIT_USAGE,
                    "--value needs an ONNX file, whose inputs may be single "
                    "numbers; %s has none",
                    r->path);
  if (r->options.parameter_count > 0 && opening->kind != KIND_ONNX)
    return complain(EXIT_USAGE,
                    "--parameter needs an ONNX file without the values of "
                    "parameters; %s names its parameters",
                    r->path);
  int status = find_values(r, opening);
  if (status != EXIT_DONE)
    return status;
  r->options.folder = folder_of(r);
  r->options.path = strcmp(r->path, "-") == 0 ? NULL : r->path;
  r->options.templates = zoo_examples(&r->arena);
  status = read_source(r, reader, without_mark(opening->text), graph, result);
  if (status != EXIT_DONE)
    return status;
  tell_folded(r, graph);
  tell_stored(r, graph);
  return put_formatted(r, graph);
}

int request_would_replace(const char *path) {
  return complain(EXIT_USAGE,
                  "the output would replace its input %s; give the output "
                  "another name",
                  path);
}
