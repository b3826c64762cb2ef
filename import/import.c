/* Turns a foreign file into a source: reader, structure, folds, text. */
#include <string.h>

#include "base/file.h"
#include "import/nest.h"
#include "import/reader.h"
#include "import/statement.h"

void import_type_set(struct import_type *type, const char *name,
                     const enum layer_word *words) {
  type->name = name;
  memcpy(type->words, words, sizeof type->words);
}

bool import_function_type(struct graph *graph, enum dialect dialect,
                          const char *format, size_t index,
                          struct import_type *type) {
  struct slice name;
  const struct function *function = function_name_at(dialect, index, &name);
  if (function)
    *type = (struct import_type){graph_text(graph, format, SLICE_ARG(name)),
                                 {function->word}};
  return function;
}

bool import_example(struct graph *graph, const struct import_options *options,
                    const char *name, struct slice *source) {
  const char *file = graph_text(graph, "%s.net", name);
  if (options->template_of && options->template_of(file, source))
    return true;
  return options->templates &&
         file_read(graph->arena,
                   graph_text(graph, "%s/%s", options->templates, file),
                   source) == FILE_OK;
}

bool import_given(const struct import_options *options, struct slice name,
                  struct graph_shape *shape) {
  for (size_t i = 0; i < options->input_count; i++) {
    struct import_input *given = &options->inputs[i];
    if (!given->name || slice_is(name, given->name)) {
      *shape = given->shape;
      return given->used = true;
    }
  }
  return false;
}

struct byte_store import_bytes(const struct import_options *options,
                               struct slice file) {
  struct byte_store store;
  if (options->path && byte_store_open(&store, options->path))
    return store;
  return byte_store_of(file);
}

enum {
  FEW = 3,            /* parameters of a def */
  MOST_TO_TRY = 20000 /* layers; larger graphs have one layout */
};

/* Copies names of outputs, source and layers out of the scratch arena. */
static void keep_plan(struct graph *graph, const struct source_plan *plan,
                      const struct text *source, struct imported *result) {
  for (size_t i = 0; i < graph->nodes.count; i++) {
    struct graph_node *node = graph->nodes.at[i];
    if (node->output)
      node->output =
          arena_copy(graph->arena, node->output, strlen(node->output));
  }
  result->source = text_new(graph->arena);
  text_puts(&result->source, text_slice(source));
  result->defs = (int)plan->defs.all.count;
  result->widest = 0;
  for (size_t i = 0; i < plan->defs.all.count; i++)
    if (result->widest + 3 < (int)plan->defs.all.at[i].pieces.count)
      result->widest = (int)plan->defs.all.at[i].pieces.count - 3;
  result->layer_count = (size_t)plan->count;
  result->layers =
      arena_alloc(graph->arena, result->layer_count + 1, sizeof(void *));
  for (int i = 0; i < plan->count; i++)
    result->layers[i] = graph->nodes.at[plan->order[i]];
}

/*
 * Writes the source in one layout and returns its number of lines. The memory
 * of the passes is freed: it is larger than the graph itself, and many layouts
 * are tried.
 */
static int write_plan(struct graph *graph, struct source_layout layout,
                      struct imported *result) {
  struct source_plan plan;
  struct arena scratch;
  struct graph seen = *graph;
  arena_open_in(&scratch, graph->arena);
  seen.arena = &scratch;
  source_structure(&plan, &seen, layout);
  if (!layout.flat)
    source_fold(&plan);
  struct text source = text_new(&scratch);
  source_write(&plan, &source);
  keep_plan(graph, &plan, &source, result);
  arena_close(&scratch);
  int lines = 0;
  for (size_t i = 0; i < result->source.length; i++)
    lines += result->source.at[i] == '\n';
  return lines;
}

static struct source_layout layout_of(int way) {
  static const int cells[] = {0, 3, 1, 1};
  return (struct source_layout){.cells = cells[way / 8],
                                .small_defs = way & 1,
                                .series_early = way & 2,
                                .late = way & 4,
                                .bare_joins = way / 8 == 3};
}

/*
 * Writes windows of 1x1 with `pad`, so that a `def` with a parameter for the
 * window serves them, too. MobileNet would get blocks of six parameters, so the
 * source needs less text or fewer defs, no more lines, and defs of FEW
 * parameters or as many as before.
 */
static void try_pads(struct graph *graph, struct source_layout layout,
                     struct imported *result, int *least) {
  struct imported other;
  layout.pads = true;
  int lines = write_plan(graph, layout, &other);
  bool less = other.source.length < result->source.length ||
              (other.defs < result->defs && lines < *least);
  if (less && lines <= *least &&
      (other.widest <= FEW || other.widest <= result->widest)) {
    *result = other;
    *least = lines;
  }
}

/* Writes the source in every layout and keeps the one with the fewest lines;
 * if several have them, the first, unless another has a tenth less text. */
static void write_shortest(struct graph *graph, struct imported *result) {
  int lines[IMPORT_WAYS] = {0}, least = 0, best = 0;
  for (int way = 0; way < IMPORT_WAYS; way++) {
    struct source_layout layout = layout_of(way);
    struct imported other;
    if (layout.late && !layout.cells)
      continue;
    lines[way] = write_plan(graph, layout, &other);
    if (!least || lines[way] < least ||
        (lines[way] == least &&
         other.source.length < result->source.length / 10 * 9)) {
      *result = other;
      least = lines[way];
      best = way;
    }
    if (graph->nodes.count > MOST_TO_TRY)
      break;
  }
  if (graph->nodes.count <= MOST_TO_TRY)
    try_pads(graph, layout_of(best), result, &least);
  memcpy(result->lines, lines, sizeof lines);
  result->least = least;
}

/* Skips layouts with equally many lines: they mostly give the same source. */
bool import_longer(struct graph *graph, struct imported *result) {
  const struct imported before = *result;
  int next = -1;
  for (int way = 0; way < IMPORT_WAYS; way++)
    if (before.lines[way] > before.least &&
        (next < 0 || before.lines[way] < before.lines[next]))
      next = way;
  if (next < 0)
    return false;
  write_plan(graph, layout_of(next), result);
  memcpy(result->lines, before.lines, sizeof before.lines);
  result->least = before.lines[next];
  return true;
}

bool import_file(const struct import_reader *reader, struct slice file,
                 const char *name, const struct import_options *options,
                 struct graph *graph, struct imported *result) {
  reader->read(graph, file, options);
  graph_close_rules(graph);
  if (graph->failed)
    return false;
  *result = (struct imported){.source = graph->source};
  if (graph->source.length)
    return true;
  if (graph->nodes.count == 0)
    return graph_fail(graph, 0, "the file describes no net");
  graph->name = graph_identifier(graph, graph->name ? graph->name : name);
  if (options->flat) {
    import_flat(graph, result);
    return true;
  }
  import_nest(graph);
  write_shortest(graph, result);
  return true;
}

void import_flat(struct graph *graph, struct imported *result) {
  write_plan(graph, (struct source_layout){.flat = true}, result);
}
