/*
 * Reads model.to_json() of Keras 2 and 3: layers with their configs, and the
 * calls that join them (`inbound_nodes`). A Sequential is a chain; nested
 * models become part of the net. The formats are those of the source code
 * (github.com/keras-team/keras, src/models/functional.py, and tf-keras).
 */
#include "import/keras/keras.h"

#include <string.h>

#include "import/keras/model.h"

/* Finds whether maps have channels first, from their layers' configs. */
static bool find_formats(struct keras *k, const json_t *value, int *formats) {
  const char *type = keras_string(value, "class_name", "");
  const char *format =
      keras_string(keras_member(value, "config"), "data_format", "");
  size_t length = strlen(type);
  if (length > 2 && type[length - 1] == 'D' && type[length - 2] >= '1' &&
      type[length - 2] <= '3' && strncmp(format, "channels_", 9) == 0) {
    int rank = type[length - 2] - '0' + 1;
    formats[rank] |= strcmp(format, "channels_first") == 0 ? 2 : 1;
    if (formats[rank] == 3)
      return keras_refuse(k, keras_place_of(k, value),
                          "the model mixes channels_first and channels_last");
    k->channels_first[rank] = formats[rank] == 2;
  }
  const char *name;
  json_t *inner;
  size_t i;
  json_object_foreach((json_t *)value, name,
                      inner) if (!find_formats(k, inner, formats)) return false;
  json_array_foreach(value, i,
                     inner) if (!find_formats(k, inner, formats)) return false;
  return true;
}

/* Inputs. */

static bool stated_shape(struct keras_call *call, const json_t *batch_shape,
                         struct graph_shape *shape) {
  size_t rank = json_array_size(batch_shape);
  if (rank < 2 || rank > LIMIT_RANK)
    return keras_fail(call,
                      "an input needs from 1 to %d sizes besides the "
                      "batch",
                      LIMIT_RANK - 1);
  *shape = (struct graph_shape){.rank = (int)rank - 1};
  for (size_t i = 1; i < rank; i++) {
    const json_t *size = json_array_get(batch_shape, i);
    if (json_is_null(size)) {
      keras_fail(call, "the file leaves a size of the input open");
      return graph_help(call->graph, "give it: --input %s=SIZES, channels last",
                        call->name);
    }
    if (!keras_integer(call, size, "shape", 1, KERAS_MOST, &shape->size[i - 1]))
      return false;
  }
  if (call->keras->channels_first[shape->rank]) {
    int64_t channels = shape->size[0];
    memmove(shape->size, shape->size + 1,
            (size_t)(shape->rank - 1) * sizeof *shape->size);
    shape->size[shape->rank - 1] = channels;
  }
  return true;
}

/* Adds an input of the net, under the name that the command line uses. */
static bool keras_add_input(struct keras_call *call) {
  struct keras *k = call->keras;
  struct graph_shape shape;
  const json_t *stated = keras_member(call->config, "batch_shape");
  if (!stated)
    stated = keras_member(call->config, "batch_input_shape");
  if (!import_given(k->options, slice_of(call->name), &shape) &&
      !stated_shape(call, stated, &shape))
    return false;
  return keras_give(call,
                    graph_input(k->graph, call->name, &shape, NULL)->index);
}

/* True if a tensor has the shape that the file states (Keras 3). */
static bool check_shape(struct keras *k, const struct keras_site *site,
                        const struct keras_reference *from,
                        const struct keras_tensor *tensor) {
  const struct graph_shape found = tensor->shape;
  const json_t *shape = from->shape;
  struct graph_shape stated = {.rank = (int)json_array_size(shape) - 1};
  bool same = stated.rank == found.rank;
  if (!shape || k->options->input_count > 0 || k->lead > 0)
    return true;
  for (int i = 0; same && i < stated.rank; i++) {
    const json_t *size = json_array_get(shape, (size_t)i + 1);
    bool first = k->channels_first[stated.rank];
    int at = !first ? i : i == 0 ? stated.rank - 1 : i - 1;
    int64_t zeros = tensor->padded && at + 1 < stated.rank
                        ? tensor->before[at] + tensor->after[at]
                        : 0;
    same = json_is_null(size) ||
           json_integer_value(size) == found.size[at] + zeros;
  }
  return same ||
         keras_refuse(
             k, site->layer->place,
             "`%.64s` expects a different input shape than netc's %s: the file "
             "is inconsistent, or netc misread a layer before it",
             site->layer->name, graph_sizes(k->graph, found.size, found.rank));
}

/* Calls. */

/* True for an argument with a mask of valid steps. */
static bool is_mask(const char *key) {
  return key &&
         word_index("mask query_mask value_mask key_mask", slice_of(key));
}

/* The last state of a sequence that has all states. */
static int last_step(struct keras_call *call,
                     const struct keras_tensor *tensor) {
  int64_t steps = graph_shape(call->graph, tensor->last_of)->size[0];
  int part = graph_part(call->graph, tensor->last_of, 0, steps - 1, steps);
  return graph_reshape(call->graph, part, &tensor->shape);
}

static bool resolve(struct keras *k, struct keras_model *m,
                    const struct keras_site *site, struct keras_call *call) {
  size_t count = site->args.count, room = count ? count : 1;
  struct keras_operand *operands =
      arena_alloc(k->graph->arena, room, sizeof *operands);
  struct keras_tensor *inputs =
      arena_alloc(k->graph->arena, room, sizeof *inputs);
  for (size_t i = 0; i < count; i++) {
    const struct keras_reference *from = &site->args.at[i];
    operands[i] = (struct keras_operand){
        .key = from->key, .is_tensor = from->is_tensor, .value = from->value};
    if (!from->is_tensor)
      continue;
    const struct keras_site *source = &m->sites.at[from->site];
    if (from->output >= source->outputs.count)
      return keras_refuse(k, site->layer->place,
                          "`%.64s` reads output %zu of `%.64s`, but the number "
                          "of its outputs is %zu",
                          site->layer->name, from->output, source->layer->name,
                          source->outputs.count);
    const struct keras_tensor *tensor = &source->outputs.at[from->output];
    if (tensor->node == KERAS_MASK && is_mask(from->key)) {
      keras_note_masks(call);
      operands[i].is_tensor = false;
      continue;
    }
    if (tensor->node == KERAS_MASK && !keras_makes_mask(call->type))
      return keras_refuse(k, site->layer->place,
                          "`%.64s` reads the booleans of `%.64s`, which netc "
                          "does not have",
                          site->layer->name, source->layer->name);
    if (tensor->node == KERAS_STATE)
      return keras_refuse(
          k, site->layer->place,
          "`%.64s` reads a state of `%.64s` that netc's recurrent layers do "
          "not return: an LSTM's cell, or the state of a Bidirectional",
          site->layer->name, source->layer->name);
    struct keras_tensor *in = &inputs[call->input_count++];
    *in = *tensor;
    in->shape = keras_shape(k, tensor);
    if (in->node >= 0 && !check_shape(k, site, from, in))
      return false;
    if (in->node == KERAS_LAST)
      in->node = last_step(call, in);
    operands[i].tensor = *in;
  }
  call->operands = operands;
  call->operand_count = count;
  call->inputs = inputs;
  return true;
}

static bool is_left_out(const struct keras_call *call) {
  for (size_t i = 0; i < call->input_count; i++)
    if (call->inputs[i].node == KERAS_LEFT_OUT)
      return true;
  return false;
}

static bool leave_out(struct keras_call *call) {
  for (int i = 0; i < 8; i++)
    keras_give(call, KERAS_LEFT_OUT);
  return true;
}

/* Shares the weights of a layer's first call with another call. */
static bool share(struct keras_call *call, struct keras_layer *layer,
                  size_t first) {
  struct graph *g = call->graph;
  size_t place = 0;
  for (size_t i = first; i < g->nodes.count; i++) {
    struct graph_node *node = g->nodes.at[i];
    if (!graph_has_weights(node->word))
      continue;
    if (!layer->ran) {
      *VEC_PUSH(g->arena, &layer->nodes) = node->index;
      continue;
    }
    size_t at = place++;
    if (at >= layer->nodes.count || node->keyed >= 0 ||
        node->inputs.count != 1 ||
        g->nodes.at[layer->nodes.at[at]]->word != node->word)
      return keras_fail(call, "it is applied more than once, and netc cannot "
                              "express that its weights are shared");
    node->word = WORD_AGAIN;
    node->params = 0;
    node->args.count = 0;
    node->bias = BIAS_UNSAID;
    node->frozen = false;
    node->key = "";
    node->keyed = layer->nodes.at[at];
  }
  return true;
}

/* Notes which nodes have only one reader. */
static void note_uses(struct keras *k, const struct keras_site *site) {
  while (k->alone.count < k->graph->nodes.count)
    *VEC_PUSH(k->graph->arena, &k->alone) = true;
  for (size_t i = 0; i < site->outputs.count; i++)
    if (site->outputs.at[i].node >= 0 && site->uses != 1)
      k->alone.at[site->outputs.at[i].node] = false;
}

/* The weights of a left-out layer are not needed. */
static bool add_leaf(struct keras_call *call, struct keras_layer *layer) {
  size_t first = call->graph->nodes.count;
  if (strcmp(layer->type, "InputLayer") == 0)
    return keras_add_input(call);
  keras_find_stored(call);
  if (!is_left_out(call) && keras_add_layer(call))
    return share(call, layer, first) && keras_took_all(call);
  if (call->graph->failed)
    return false;
  keras_leave_stored(call);
  return leave_out(call);
}

static bool add_call(struct keras *k, struct keras_model *m,
                     struct keras_site *site) {
  struct keras_layer *layer = site->layer;
  struct keras_call call = {.keras = k,
                            .graph = k->graph,
                            .name = layer->name,
                            .type = layer->type,
                            .json = layer->json,
                            .config = layer->config,
                            .place = layer->place,
                            .frozen = layer->frozen || m->frozen,
                            .path = layer->path,
                            .again = layer->ran};
  keras_begin(&call);
  if (!resolve(k, m, site, &call))
    return false;
  if (site->uses == 1) {
    call.user_type = m->sites.at[site->user].layer->type;
    call.user_config = m->sites.at[site->user].layer->config;
  }
  call.model = &layer->model;
  bool model =
      keras_member(layer->config, "layers") || json_is_array(layer->config);
  if (!(model ? keras_add_model(&call) : add_leaf(&call, layer)))
    return false;
  layer->ran = true;
  site->outputs.at = call.outputs.at; /* no other call has them */
  site->outputs.count = call.outputs.count;
  site->outputs.room = call.outputs.room;
  note_uses(k, site);
  return !k->graph->failed;
}

/* Reads the calls that a call needs, then the call, without recursion. */
static bool run_site(struct keras *k, struct keras_model *m, size_t wanted) {
  VEC(size_t) stack = {0};
  *VEC_PUSH(k->graph->arena, &stack) = wanted;
  while (stack.count > 0) {
    struct keras_site *site = &m->sites.at[stack.at[stack.count - 1]];
    bool ready = true;
    if (site->state == SITE_DONE) {
      stack.count--;
      continue;
    }
    site->state = SITE_OPEN;
    for (size_t i = site->args.count; i-- > 0;) {
      const struct keras_reference *from = &site->args.at[i];
      if (!from->is_tensor || m->sites.at[from->site].state == SITE_DONE)
        continue;
      if (m->sites.at[from->site].state == SITE_OPEN)
        return keras_refuse(
            k, site->layer->place,
            "`%.64s` is part of a cycle: it depends on its own output",
            site->layer->name);
      *VEC_PUSH(k->graph->arena, &stack) = from->site;
      ready = false;
    }
    if (!ready)
      continue;
    stack.count--;
    if (!add_call(k, m, site))
      return false;
    site->state = SITE_DONE;
  }
  return true;
}

static bool run_model(struct keras *k, struct keras_model *m) {
  for (size_t i = 0; i < m->sites.count; i++)
    if (!run_site(k, m, i))
      return false;
  return true;
}

/* A nested model has the inputs of its call. */
bool keras_add_model(struct keras_call *call) {
  struct keras *k = call->keras;
  struct keras_model *m = call->model;
  if (k->depth == KERAS_DEEPEST)
    return keras_fail(call, "models are nested more than %d levels deep",
                      KERAS_DEEPEST);
  const char *path = k->path;
  k->path = call->path;
  if (!m->built) {
    m->frozen = call->frozen;
    if (!keras_build(k, m, call->json))
      return false;
  }
  if (call->input_count != m->inputs.count)
    return keras_fail(call,
                      "the model has %zu inputs, but this call passes %zu",
                      m->inputs.count, call->input_count);
  for (size_t i = 0; i < m->sites.count; i++) {
    m->sites.at[i].state = SITE_NEW;
    m->sites.at[i].outputs.count = 0;
  }
  for (size_t i = 0; i < m->inputs.count; i++) {
    struct keras_site *site = &m->sites.at[m->inputs.at[i]];
    site->state = SITE_DONE;
    *VEC_PUSH(k->graph->arena, &site->outputs) = call->inputs[i];
  }
  k->depth++;
  *VEC_PUSH(k->graph->arena, &k->models) = call->name;
  bool done = run_model(k, m);
  k->models.count--;
  k->depth--;
  k->path = path;
  for (size_t i = 0; done && i < m->outputs.count; i++) {
    const struct keras_reference *from = &m->outputs.at[i];
    const struct keras_site *site = &m->sites.at[from->site];
    if (from->output >= site->outputs.count)
      return keras_fail(call, "its output %zu does not exist", i);
    *VEC_PUSH(k->graph->arena, &call->outputs) = site->outputs.at[from->output];
  }
  return done;
}

/* Several outputs get the names of their layers. */
static bool name_outputs(struct keras *k, const struct keras_model *m) {
  for (size_t i = 0; i < m->outputs.count; i++) {
    const struct keras_reference *from = &m->outputs.at[i];
    const struct keras_site *site = &m->sites.at[from->site];
    if (from->output >= site->outputs.count)
      return keras_refuse(k, site->layer->place,
                          "the model's output %zu does not exist", i);
    int index = site->outputs.at[from->output].node;
    if (index < KERAS_LEFT_OUT)
      return keras_refuse(k, site->layer->place,
                          "the model outputs the state of `%.64s`, which "
                          "netc's recurrent layers do not return",
                          site->layer->name);
    if (index < 0 || k->graph->nodes.at[index]->output)
      continue;
    graph_output(k->graph, k->graph->nodes.at[index], site->layer->name);
  }
  return true;
}

static bool refuse_root(struct keras *k, const json_t *root) {
  const char *type = keras_string(root, "class_name", NULL);
  if (type && strcmp(type, "Sequential") != 0)
    keras_refuse(k, (struct keras_place){0},
                 "`%.64s` is a custom class: its layers are in Python code, "
                 "not in the file",
                 type);
  else if (keras_member(root, "node"))
    keras_refuse(
        k, (struct keras_place){0},
        "it has a graph of TensorFlow's operations, not Keras' layers");
  else
    keras_refuse(k, (struct keras_place){0},
                 "not a Keras model: it has no `class_name`, or no `config` "
                 "with `layers`");
  return graph_help(k->graph,
                    type || keras_member(root, "node")
                        ? "tf2onnx, or model.export(\"model.onnx\", "
                          "format=\"onnx\") of Keras 3, writes it as ONNX"
                        : "give netc the file that model.save() wrote, or save "
                          "model.to_json() to a file");
}

static bool read_root(struct keras *k, json_t *root) {
  struct keras_model model = {0};
  int formats[8] = {0};
  const json_t *config = keras_member(root, "config");
  const char *name = keras_string(config, "name", NULL);
  if (!keras_string(root, "class_name", NULL) ||
      (!json_is_array(config) && !keras_member(config, "layers")))
    return refuse_root(k, root);
  if (!find_formats(k, root, formats))
    return false;
  for (int i = 0; k->weights && k->options->weights && i <= LIMIT_RANK; i++)
    if (k->channels_first[i])
      return keras_refuse(k, (struct keras_place){0},
                          "the weights of a channels_first model cannot be "
                          "converted");
  if (name)
    k->graph->name = arena_copy(k->graph->arena, name, strlen(name));
  model.frozen = json_is_false(keras_member(config, "trainable"));
  return keras_build(k, &model, root) && run_model(k, &model) &&
         name_outputs(k, &model);
}

void keras_set_version(struct keras *k, const char *version) {
  if (version && k->version == 0)
    k->version = *version >= '1' && *version <= '9' ? *version - '0' : 2;
}

/* The content of `modelTopology` or `model_config`, if they are there. */
static json_t *unwrap(struct keras *k, json_t *root) {
  static const char *const wraps[] = {"modelTopology", "model_config"};
  for (size_t i = 0; i < sizeof wraps / sizeof *wraps; i++) {
    json_t *inner = keras_member(root, wraps[i]);
    root = json_is_object(inner) ? inner : root;
    keras_set_version(k, keras_string(root, "keras_version", NULL));
  }
  return root;
}

bool keras_read_root(struct keras *k) {
  return read_root(k, unwrap(k, k->root)) && !k->graph->failed;
}

bool keras_read_text(struct keras *k, struct slice text) {
  if (!keras_parse(k, text))
    return false;
  bool read = keras_read_root(k);
  json_decref(k->root);
  return read;
}

bool keras_read(struct graph *graph, struct slice file,
                const struct import_options *options) {
  struct keras k = {.graph = graph, .options = options, .path = ""};
  return keras_read_text(&k, file);
}
