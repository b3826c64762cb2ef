/* Reads a .param of ncnn: lines of a type, a name, counts, blobs, numbers. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "import/ncnn/ncnn.h"

enum { OPSET = 23, LISTS = -23300, HINTS = 30 };

bool ncnn_fail(struct ncnn *n, const char *format, ...) {
  struct text text = text_new(n->graph->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  return graph_fail(n->graph, n->line, "`%.100s` (%.*s): %.*s", n->s.at,
                    (int)(n->type.length < 64 ? n->type.length : 64),
                    n->type.at, (int)text.length, text.at);
}

static int64_t within(double value) {
  return (int64_t)fmax(fmin(value, 1e15), -1e15);
}

int64_t ncnn_int(const struct ncnn *n, int id, int64_t usual) {
  const struct ncnn_param *p = &n->params[id];
  return p->given ? within(p->value) : usual;
}

int64_t ncnn_item(const struct ncnn *n, int id, int index) {
  return within(n->params[id].values[index]);
}

double ncnn_real(const struct ncnn *n, int id, double usual) {
  return n->params[id].given ? n->params[id].value : usual;
}

int ncnn_axes(const struct ncnn *n, const char *blob) {
  const struct map_entry *entry = map_find(&n->axes, slice_of(blob));
  return entry ? (int)entry->number : 0;
}

void ncnn_set_axes(struct ncnn *n, const char *blob, int axes) {
  map_add(n->graph->arena, &n->axes, slice_of(blob))->number = axes;
}

void ncnn_leave(struct ncnn *n) {
  for (size_t i = 0; i < n->ins.count; i++)
    map_add(n->graph->arena, &n->read, slice_of(n->ins.at[i]))->number--;
  for (size_t i = 0; i < n->outs.count; i++)
    map_add(n->graph->arena, &n->left, slice_of(n->outs.at[i]));
}

bool ncnn_is_left(const struct ncnn *n, const char *blob) {
  return map_find(&n->left, slice_of(blob));
}

/* Words */

static struct slice next_word(struct slice *line) {
  size_t from = 0, to;
  while (from < line->length && strchr(" \t\r", line->at[from]))
    from++;
  for (to = from; to < line->length && !strchr(" \t\r", line->at[to]);)
    to++;
  struct slice word = {line->at + from, to - from};
  *line = slice_from(*line, to);
  return word;
}

static const char *word_of(struct ncnn *n, struct slice word) {
  return arena_copy(n->graph->arena, word.at, word.length);
}

/* A number of the text; false if it is none, or none that a float is. */
static bool read_number(struct ncnn *n, struct slice word, double *value) {
  const char *text = word_of(n, word);
  char *end;
  *value = strtod(text, &end);
  return end != text && !*end && isfinite(*value);
}

static bool read_count(struct ncnn *n, struct slice *line, int64_t *count) {
  double value;
  bool right = read_number(n, next_word(line), &value) && value >= 0 &&
               value <= NCNN_LAYERS;
  *count = right ? (int64_t)value : 0;
  return right || graph_fail(n->graph, n->line, "a count of blobs is missing");
}

/* "3=2", or "-23309=2,1,3" of a list, which begins with its length. */
static bool read_param(struct ncnn *n, struct slice word) {
  size_t at = 0;
  double id, number;
  while (at < word.length && word.at[at] != '=')
    at++;
  if (at == word.length || !read_number(n, slice_to(word, at), &id))
    return ncnn_fail(n, "`%.*s` is not a number of a parameter and its value",
                     (int)(word.length < 60 ? word.length : 60), word.at);
  bool list = id <= LISTS;
  int index = (int)(list       ? LISTS - (id > -1e9 ? id : -1e9)
                    : id < 1e9 ? id
                               : 1e9);
  struct slice rest = slice_from(word, at + 1);
  struct ncnn_param dropped = {.given = false};
  struct ncnn_param *p = index == HINTS && list              ? &n->hints
                         : index >= 0 && index < NCNN_PARAMS ? &n->params[index]
                                                             : &dropped;
  *p = (struct ncnn_param){.given = true, .list = list};
  for (int i = 0; rest.length > 0; i++) {
    size_t end = 0;
    while (end < rest.length && rest.at[end] != ',')
      end++;
    if (!read_number(n, slice_to(rest, end), &number))
      return ncnn_fail(n, "parameter %d is not a number", index);
    if (!list)
      p->value = number;
    else if (i > 0 && p->count < NCNN_LIST) /* the first is their count */
      p->values[p->count++] = number;
    rest = slice_from(rest, end < rest.length ? end + 1 : end);
  }
  return true;
}

/* Layers */

static bool read_blobs(struct ncnn *n, struct slice *line, int64_t ins,
                       int64_t outs) {
  for (int64_t i = 0; i < ins + outs; i++) {
    struct slice word = next_word(line);
    if (word.length == 0)
      return ncnn_fail(n, "it has fewer blobs than it says");
    const char *blob = word_of(n, word);
    if (i < ins)
      *VEC_PUSH(n->graph->arena, &n->ins) = blob;
    else
      *VEC_PUSH(n->graph->arena, &n->outs) = blob;
    if (i < ins)
      map_add(n->graph->arena, &n->read, slice_of(blob))->number++;
    else
      *VEC_PUSH(n->graph->arena, &n->given) = blob;
  }
  return true;
}

/* Sizes that the line states, as w, h, c of each output; ONNX has 1, c, h, w.
 */
static void state_sizes(struct ncnn *n) {
  const struct ncnn_param *h = &n->hints;
  for (size_t i = 0; i < n->outs.count && 4 * (int)i + 3 < h->count; i++) {
    const double *at = h->values + 4 * i;
    int axes = at[0] >= 1 && at[0] < 4 ? (int)at[0] : 0;
    int64_t dims[4] = {1};
    if (axes == 0)
      continue;
    for (int k = 0; k < axes; k++)
      dims[axes - k] =
          at[1 + k] >= 1 && at[1 + k] < MOST_SIZE ? (int64_t)at[1 + k] : -1;
    ncnn_set_axes(n, n->outs.at[i], axes);
    *VEC_PUSH(n->graph->arena, &n->s.values) =
        said_info(&n->s, n->outs.at[i], TYPE_FLOAT, dims, axes + 1);
  }
}

static bool read_layer(struct ncnn *n, struct slice line) {
  int64_t ins, outs;
  n->type = next_word(&line);
  n->name = next_word(&line);
  n->s.at = word_of(n, n->name);
  n->ins.count = n->outs.count = 0;
  memset(n->params, 0, sizeof n->params);
  n->hints = (struct ncnn_param){.given = false};
  if (n->name.length == 0)
    return graph_fail(n->graph, n->line, "a layer needs a type and a name");
  if (!read_count(n, &line, &ins) || !read_count(n, &line, &outs) ||
      !read_blobs(n, &line, ins, outs))
    return false;
  for (struct slice word; (word = next_word(&line)).length > 0;)
    if (!read_param(n, word))
      return false;
  n->graph->at.line = n->line;
  if (!ncnn_say(n) || n->graph->failed)
    return false;
  state_sizes(n);
  return true;
}

/* Blobs that no layer reads are the net's results. */
static bool find_outputs(struct ncnn *n) {
  for (size_t i = 0; i < n->given.count; i++) {
    const char *blob = n->given.at[i];
    const struct map_entry *read = map_find(&n->read, slice_of(blob));
    if ((read && read->number > 0) || ncnn_is_left(n, blob))
      continue;
    int64_t dims[4] = {1, -1, -1, -1};
    int axes = ncnn_axes(n, blob);
    *VEC_PUSH(n->graph->arena, &n->s.outputs) =
        said_info(&n->s, blob, TYPE_FLOAT, dims, axes ? axes + 1 : 4);
    Onnx__TypeProto *type = n->s.outputs.at[n->s.outputs.count - 1]->type;
    type->tensor_type->shape = NULL; /* the layers' rules give it */
  }
  return n->s.outputs.count > 0 ||
         graph_fail(n->graph, 0, "the net has no layers");
}

bool ncnn_read(struct graph *graph, struct slice file,
               const struct import_options *options) {
  struct ncnn n = {.graph = graph, .options = options};
  struct byte_store store = byte_store_of(file);
  said_open(&n.s, graph);
  for (size_t at = 0, end; at < file.length; at = end + 1) {
    end = slice_line_end(file, at);
    struct slice line = {file.at + at, end - at}, rest = line;
    struct slice first = next_word(&rest);
    /* after 7767517 and the counts of layers and blobs */
    if (++n.line > 2 && first.length > 0 && first.at[0] != '#' &&
        !read_layer(&n, line))
      return false;
  }
  n.line = 0;
  if (options->weights)
    return graph_fail(graph, 0, "the .bin of weights is not read");
  return find_outputs(&n) &&
         onnx_read_model(graph, &store, said_model(&n.s, "", OPSET), options);
}
