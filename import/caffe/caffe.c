/*
 * Reads Caffe's .prototxt. Layers are joined by the names of blobs, which a
 * layer may overwrite. Only layers of the test phase are read. Sizes are
 * computed as in Caffe's own code (github.com/BVLC/caffe, src/caffe/layers).
 */
#include "import/caffe/caffe.h"

#include <inttypes.h>
#include <string.h>

static const char *text_of(struct caffe *c, struct slice text) {
  return arena_copy(c->graph->arena, text.at, text.length);
}

void caffe_set(struct caffe *c, size_t top, int node) {
  if (top < c->at->top_count)
    map_add(c->graph->arena, &c->blobs, c->at->tops[top])->number = node + 1;
  graph_shape(c->graph, node);
}

/* Types that are no layers of a net. */

static const char data[] =
    "Input Data ImageData HDF5Data MemoryData WindowData DummyData "
    "AnnotatedData VideoData DATA IMAGE_DATA HDF5_DATA MEMORY_DATA WINDOW_DATA";

static const char left_out[] = "Accuracy ArgMax Silence HDF5Output ACCURACY "
                               "ARGMAX SILENCE HDF5_OUTPUT";

/* Types that decode a detector's boxes. Layers after them are left out, too. */
static const char boxes[] = "PriorBox DetectionOutput DetectionEvaluate "
                            "YoloDetectionOutput Yolov3DetectionOutput";

static bool is_data(const char *type) {
  return word_index(data, slice_of(type));
}

static bool is_left_out(const char *type) {
  struct slice name = slice_of(type);
  return word_index(left_out, name) ||
         (name.length > 4 &&
          (slice_ends(name, "Loss") || slice_ends(name, "LOSS")));
}

/* Today's name of a type of the old `layers`. */
static const char *today(struct caffe *c, struct slice old) {
  const char *type = caffe_type(old);
  if (!type && (word_index(data, old) || word_index(left_out, old)))
    type = text_of(c, old);
  bool loss = old.length > 4 && slice_ends(old, "LOSS");
  return type ? type : loss ? "Loss" : NULL;
}

/* Inputs. Blobs are N x C x H x W; a net in netc has no batch. */

static bool to_shape(struct caffe *c, size_t line, const int64_t *dims,
                     int count, struct graph_shape *shape) {
  if (count < 2 || count > 5)
    return graph_fail(
        c->graph, line,
        "the input has %d sizes; 2 to 5 are supported: samples, channels, ...",
        count);
  shape->rank = count - 1;
  for (int i = 2; i < count; i++)
    shape->size[i - 2] = dims[i];
  shape->size[count - 2] = dims[1];
  return true;
}

static bool add_input(struct caffe *c, struct slice name, size_t line,
                      const struct graph_shape *shape) {
  const char *text = text_of(c, name);
  const struct map_entry *entry = map_find(&c->blobs, name);
  if (entry && entry->number > 0)
    return graph_fail(c->graph, line, "the blob `%s` exists already", text);
  struct graph_node *node = graph_input(c->graph, text, shape, NULL);
  node->line = line;
  map_add(c->graph->arena, &c->blobs, slice_of(text))->number = node->index + 1;
  return true;
}

/* Reads `dim: 1 dim: 3 ...` of a message, or the net's `input_dim`. */
static int read_dims(struct caffe *c, struct prototxt_field *first, int most,
                     int64_t *dims) {
  int count = 0;
  for (; first && count < most; first = prototxt_again(first))
    dims[count++] = prototxt_value(c->graph, first, 1, CAFFE_MOST);
  return count;
}

static bool read_inputs(struct caffe *c, struct prototxt_field *net) {
  struct prototxt_field *shape = prototxt_find(net, "input_shape");
  struct prototxt_field *dim = prototxt_find(net, "input_dim");
  for (struct prototxt_field *input = prototxt_find(net, "input"); input;
       input = prototxt_again(input)) {
    int64_t dims[8] = {0};
    struct graph_shape size = {0};
    int count = shape ? read_dims(c, prototxt_find(shape, "dim"), 8, dims)
                      : read_dims(c, dim, 4, dims);
    for (int i = 0; !shape && dim && i < count; i++)
      dim = prototxt_again(dim);
    if (shape)
      shape = prototxt_again(shape);
    if (c->graph->failed || (!import_given(c->options, input->value, &size) &&
                             !to_shape(c, input->line, dims, count, &size)))
      return false;
    if (!add_input(c, input->value, input->line, &size))
      return false;
  }
  return true;
}

/* Adds an input of the size from the command line or the data layer. */
static bool add_picture(struct caffe *c, const struct caffe_layer *layer,
                        struct slice top) {
  struct prototxt_field *transform =
      prototxt_find(layer->message, "transform_param");
  struct prototxt_field *resize = prototxt_find(transform, "resize_param");
  int64_t crop =
      prototxt_int(c->graph, transform, "crop_size", 0, 0, CAFFE_MOST);
  struct graph_shape size = {
      3,
      {prototxt_int(c->graph, resize, "height", crop, 0, CAFFE_MOST),
       prototxt_int(c->graph, resize, "width", crop, 0, CAFFE_MOST), 3}};
  if (c->graph->failed)
    return false;
  if (!import_given(c->options, top, &size)) {
    if (size.size[0] == 0 || size.size[1] == 0) {
      graph_fail(c->graph, layer->line,
                 "`%.*s` reads images from other files: their size is not in "
                 "this file",
                 SLICE_ARG(top));
      return graph_help(c->graph, "give it: --input %.*s=HEIGHTxWIDTHxCHANNELS",
                        SLICE_ARG(top));
    }
    graph_note(c->graph,
               "The data layer gives %" PRId64 "x%" PRId64 "; netc assumes 3 "
               "channels.",
               size.size[0], size.size[1]);
  }
  return add_input(c, top, layer->line, &size);
}

/* Makes an input of a data layer's first top. The other tops are labels, which
 * only the loss needs. */
static bool add_data(struct caffe *c, const struct caffe_layer *layer) {
  struct prototxt_field *shape =
      prototxt_find(prototxt_find(layer->message, "input_param"), "shape");
  if (!shape)
    shape = prototxt_find(prototxt_find(layer->message, "dummy_data_param"),
                          "shape");
  if (!shape)
    return layer->top_count == 0 || slice_is(layer->tops[0], "label") ||
           add_picture(c, layer, layer->tops[0]);
  for (size_t i = 0; i < layer->top_count; i++) {
    struct graph_shape size = {0};
    int64_t dims[8] = {0};
    int count = read_dims(c, prototxt_find(shape, "dim"), 8, dims);
    if (c->graph->failed || !to_shape(c, layer->line, dims, count, &size))
      return false;
    shape = prototxt_again(shape) ? prototxt_again(shape) : shape;
    if (!add_input(c, layer->tops[i], layer->line, &size))
      return false;
  }
  return true;
}

/* Layers. */

static bool in_test_phase(const struct prototxt_field *layer) {
  bool included = true;
  for (struct prototxt_field *rule = prototxt_find(layer, "include"); rule;
       rule = prototxt_again(rule)) {
    struct slice phase = prototxt_text(rule, "phase", "TEST");
    included = slice_is(phase, "TEST") || slice_is(phase, "1");
    if (included)
      break;
  }
  for (struct prototxt_field *rule = prototxt_find(layer, "exclude"); rule;
       rule = prototxt_again(rule))
    if (slice_is(prototxt_text(rule, "phase", "TRAIN"), "TEST"))
      return false;
  return included;
}

static size_t count_fields(const struct prototxt_field *message,
                           const char *name) {
  size_t count = 0;
  for (struct prototxt_field *f = prototxt_find(message, name); f;
       f = prototxt_again(f))
    count++;
  return count;
}

static bool read_type(struct caffe *c, struct caffe_layer *layer) {
  const struct prototxt_field *type = prototxt_find(layer->message, "type");
  if (!type)
    return graph_fail(c->graph, layer->line, "a layer has no `type`");
  layer->type =
      type->is_string ? text_of(c, type->value) : today(c, type->value);
  if (!layer->type)
    graph_fail(c->graph, type->line, "netc has no equivalent of the type %.*s",
               SLICE_ARG(type->value));
  return layer->type != NULL;
}

/* True for a layer by which Caffe or a fork of it reads images. */
static bool is_source(const struct caffe_layer *layer) {
  return is_data(layer->type) ||
         (!prototxt_find(layer->message, "bottom") && layer->top_count > 0 &&
          strcmp(layer->type, "Parameter") != 0 &&
          !caffe_knows_type(layer->type));
}

static void read_tops(struct caffe *c, struct caffe_layer *layer) {
  layer->tops =
      arena_alloc(c->graph->arena, count_fields(layer->message, "top") + 1,
                  sizeof *layer->tops);
  for (struct prototxt_field *f = prototxt_find(layer->message, "top"); f;
       f = prototxt_again(f))
    layer->tops[layer->top_count++] = f->value;
}

/* Makes an input of a top that a layer reads although it is another top of a
 * data layer, or comes from the training phase alone. */
static bool add_missing(struct caffe *c, struct slice top) {
  for (struct prototxt_field *f = c->layers; f && !c->graph->failed;
       f = f->next) {
    struct caffe_layer layer = {.message = f, .line = f->line};
    if ((!slice_is(f->name, "layer") && !slice_is(f->name, "layers")) ||
        prototxt_find(f, "bottom"))
      continue;
    read_tops(c, &layer);
    bool gives = false;
    for (size_t i = 0; i < layer.top_count; i++)
      gives = gives || slice_is(layer.tops[i], text_of(c, top));
    if (gives && read_type(c, &layer) && is_source(&layer))
      return add_picture(c, &layer, top);
  }
  return false;
}

/* Finds the nodes of a layer's bottoms. A layer that reads a label or a
 * left-out layer is left out, too: *whole is false if a bottom is missing. */
static bool read_bottoms(struct caffe *c, struct caffe_layer *layer,
                         bool *whole) {
  size_t room = count_fields(layer->message, "bottom");
  int *bottoms = arena_alloc(c->graph->arena, room + 1, sizeof *bottoms);
  *whole = true;
  for (struct prototxt_field *f = prototxt_find(layer->message, "bottom"); f;
       f = prototxt_again(f)) {
    const struct map_entry *entry = map_find(&c->blobs, f->value);
    if (!entry && !slice_is(f->value, "label") && add_missing(c, f->value))
      entry = map_find(&c->blobs, f->value);
    if (c->graph->failed)
      return false;
    if (entry && entry->number > 0)
      bottoms[layer->bottom_count++] = (int)entry->number - 1;
    else if (entry || slice_is(f->value, "label"))
      *whole = false;
    else
      return graph_fail(c->graph, f->line,
                        "no layer above produces the top `%.*s`",
                        SLICE_ARG(f->value));
  }
  layer->bottoms = bottoms;
  return true;
}

/* Only one layer may write a blob, except layers that work in place. */
static bool check_tops(struct caffe *c, const struct caffe_layer *layer) {
  const struct prototxt_field *bottom = prototxt_find(layer->message, "bottom");
  for (size_t i = 0; i < layer->top_count; i++) {
    const struct map_entry *entry = map_find(&c->blobs, layer->tops[i]);
    bool in_place = bottom && slice_equal(bottom->value, layer->tops[i]);
    if (entry && entry->number > 0 && !in_place)
      return graph_fail(c->graph, layer->line,
                        "a layer above already produces the top `%.*s`",
                        SLICE_ARG(layer->tops[i]));
    bottom = bottom ? prototxt_again(bottom) : NULL;
  }
  return true;
}

static bool leave_out(struct caffe *c, const struct caffe_layer *layer) {
  for (size_t i = 0; i < layer->top_count; i++)
    if (!map_find(&c->blobs, layer->tops[i]))
      map_add(c->graph->arena, &c->blobs, layer->tops[i])->number = 0;
  return true;
}

static bool read_layer(struct caffe *c, struct prototxt_field *message) {
  struct caffe_layer layer = {.message = message, .line = message->line};
  bool whole;
  if (!in_test_phase(message))
    return true;
  layer.name = text_of(c, prototxt_text(message, "name", ""));
  read_tops(c, &layer);
  if (!read_type(c, &layer))
    return false;
  if (is_source(&layer))
    return add_data(c, &layer);
  bool decodes = word_index(boxes, slice_of(layer.type));
  if (decodes)
    graph_note(c->graph,
               "%s is left out: it computes boxes and has no weights.",
               layer.type);
  if (decodes || is_left_out(layer.type))
    return leave_out(c, &layer);
  if (!read_bottoms(c, &layer, &whole))
    return false;
  if (!whole)
    return leave_out(c, &layer);
  if (layer.bottom_count == 0)
    return graph_fail(c->graph, layer.line, "`%s` (%s) has no `bottom`",
                      layer.name, layer.type);
  c->at = &layer;
  c->graph->at = (struct graph_origin){
      .name = layer.name, .kind = layer.type, .line = layer.line};
  bool done = check_tops(c, &layer) && caffe_add(c);
  c->graph->at = (struct graph_origin){0};
  return done;
}

bool caffe_read(struct graph *graph, struct slice file,
                const struct import_options *options) {
  struct caffe c = {.graph = graph, .options = options};
  struct prototxt_field net = {0};
  if (!prototxt_read(graph, file, &net.inside))
    return false;
  c.layers = net.inside;
  struct slice name = prototxt_text(&net, "name", "");
  if (name.length)
    graph->name = text_of(&c, name);
  if (!read_inputs(&c, &net) || !caffe_values_open(&c))
    return false;
  for (struct prototxt_field *f = net.inside; f && !graph->failed; f = f->next)
    if (slice_is(f->name, "layer") || slice_is(f->name, "layers"))
      read_layer(&c, f);
  caffe_values_end(&c);
  return !graph->failed;
}
