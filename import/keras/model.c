/*
 * Finds the inputs of layers: `inbound_nodes`, which are lists of [layer, call,
 * output, arguments] in Keras 2, and arguments with tensors among them in Keras
 * 3.
 */
#include "import/keras/model.h"

#include <inttypes.h>
#include <string.h>

static const char *keep(struct keras *k, const char *text) {
  return arena_copy(k->graph->arena, text, strlen(text));
}

static bool strange(struct keras *k, const struct keras_layer *layer) {
  return keras_refuse(k, layer->place,
                      "the inputs of `%.64s` are neither in the format of "
                      "Keras 2 nor in that of Keras 3",
                      layer->name);
}

/* True for [layer, call, output], with named arguments after it in Keras 2. */
static bool is_history(const json_t *list) {
  return json_array_size(list) >= 3 &&
         json_is_string(json_array_get(list, 0)) &&
         json_is_integer(json_array_get(list, 1));
}

static bool take_history(struct keras *k, const json_t *list, const char *key,
                         const json_t *shape, keras_references *out) {
  int64_t output = json_integer_value(json_array_get(list, 2));
  VEC_RESERVE(k->graph->arena, out, 1);
  struct keras_reference *from = VEC_PUSH(k->graph->arena, out);
  *from = (struct keras_reference){
      .key = key,
      .is_tensor = true,
      .layer = keep(k, json_string_value(json_array_get(list, 0))),
      .call = json_integer_value(json_array_get(list, 1)),
      .output = output >= 0 ? (size_t)output : SIZE_MAX,
      .shape = shape};
  return true;
}

static void take_value(struct keras *k, const char *key, json_t *value,
                       keras_references *out) {
  if (!json_is_null(value))
    *VEC_PUSH(k->graph->arena, out) =
        (struct keras_reference){.key = key, .value = value};
}

/* Keras 3: tensors are objects, anywhere in the arguments. */
static bool has_tensor(const json_t *value) {
  const char *name;
  json_t *inner;
  size_t i;
  const char *type = keras_string(value, "class_name", "");
  if (strcmp(type, "__keras_tensor__") == 0)
    return true;
  json_object_foreach((json_t *)value, name,
                      inner) if (has_tensor(inner)) return true;
  json_array_foreach(value, i, inner) if (has_tensor(inner)) return true;
  return false;
}

static bool take_new(struct keras *k, const struct keras_layer *layer,
                     json_t *value, const char *key, int depth,
                     keras_references *out) {
  const char *type = keras_string(value, "class_name", "");
  const json_t *config = keras_member(value, "config");
  if (strcmp(type, "__keras_tensor__") == 0) {
    const json_t *history = keras_member(config, "keras_history");
    const json_t *shape = keras_member(config, "shape");
    if (!is_history(history))
      return strange(k, layer);
    return take_history(k, history, key, shape, out);
  }
  if (depth > KERAS_DEEPEST)
    return strange(k, layer);
  if (json_is_array(value) && has_tensor(value)) {
    for (size_t i = 0; i < json_array_size(value); i++)
      if (!take_new(k, layer, json_array_get(value, i), key, depth + 1, out))
        return false;
    return true;
  }
  take_value(k, key, value, out);
  return true;
}

static bool take_new_call(struct keras *k, const struct keras_layer *layer,
                          const json_t *node, keras_references *out) {
  const json_t *args = keras_member(node, "args");
  json_t *kwargs = keras_member(node, "kwargs"), *value;
  const char *key;
  for (size_t i = 0; i < json_array_size(args); i++)
    if (!take_new(k, layer, json_array_get(args, i), NULL, 0, out))
      return false;
  json_object_foreach(
      kwargs, key,
      value) if (!take_new(k, layer, value, keep(k, key), 0, out)) return false;
  return true;
}

/* Keras 2: one tensor or several; a tensor in a named argument is a list. */
static bool take_old(struct keras *k, const struct keras_layer *layer,
                     const json_t *list, bool first, keras_references *out) {
  json_t *head = json_array_get(list, 0), *value;
  const char *key;
  if (json_is_string(head)) {
    if (json_array_size(list) < 3)
      return strange(k, layer);
    if (strcmp(json_string_value(head), "_CONSTANT_VALUE") == 0)
      take_value(k, NULL, json_array_get(list, 2), out);
    else if (!is_history(list))
      return strange(k, layer);
    else
      take_history(k, list, NULL, NULL, out);
    json_object_foreach(json_array_get(list, 3), key, value) {
      if (!first)
        break;
      if (is_history(value))
        take_history(k, value, keep(k, key), NULL, out);
      else
        take_value(k, keep(k, key), value, out);
    }
    return true;
  }
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *item = json_array_get(list, i);
    if (!json_is_array(item) || !json_is_string(json_array_get(item, 0)))
      return strange(k, layer);
    if (!take_old(k, layer, item, first && i == 0, out))
      return false;
  }
  return true;
}

static struct keras_site *add_site(struct keras *k, struct keras_model *m,
                                   struct keras_layer *layer) {
  struct keras_site *site = VEC_PUSH(k->graph->arena, &m->sites);
  *site = (struct keras_site){.layer = layer};
  layer->site_count++;
  return site;
}

static bool take_calls(struct keras *k, struct keras_model *m,
                       struct keras_layer *layer) {
  const json_t *nodes = keras_member(layer->json, "inbound_nodes");
  layer->first_site = m->sites.count;
  if (strcmp(layer->type, "InputLayer") == 0) {
    *VEC_PUSH(k->graph->arena, &m->inputs) = m->sites.count;
    add_site(k, m, layer);
    return true;
  }
  for (size_t i = 0; i < json_array_size(nodes); i++) {
    const json_t *node = json_array_get(nodes, i);
    struct keras_site *site = add_site(k, m, layer);
    if (json_is_object(node) ? !take_new_call(k, layer, node, &site->args)
                             : !take_old(k, layer, node, true, &site->args))
      return false;
    if (site->args.count == 0)
      return strange(k, layer);
  }
  return true;
}

/* Layers. */

/* "p_re_lu" of "PReLU": Keras' to_snake_case. */
static const char *snake(struct keras *k, const char *type) {
  struct text text = text_new(k->graph->arena);
  for (size_t i = 0; type[i]; i++) {
    bool upper = type[i] >= 'A' && type[i] <= 'Z';
    bool begins = upper && type[i + 1] >= 'a' && type[i + 1] <= 'z';
    bool follows = i > 0 && type[i - 1] >= 'a' && type[i - 1] <= 'z';
    if (i > 0 && upper && (begins || follows))
      text_putc(&text, '_');
    text_putc(&text, upper ? (char)(type[i] - 'A' + 'a') : type[i]);
  }
  text_putc(&text, '\0');
  return text.at;
}

/* The path of a class's next layer: "layers/dense_1" for the second Dense.
 * Keras 2.13 visits a layer with weights twice, and numbers visits. */
static const char *path_of(struct keras *k, struct keras_model *m,
                           const char *type) {
  const char *name = snake(k, type);
  struct graph *g = k->graph;
  if (!k->weights || !k->weights->by_path)
    return "";
  struct map_entry *entry = map_add(g->arena, &m->classes, slice_of(name));
  if (entry->number++ > 0)
    name = graph_text(g, "%s_%" PRId64, name, entry->number - 1);
  const char *path = graph_text(g, "%s%s%s/%s", k->path, *k->path ? "/" : "",
                                k->weights->layers, name);
  entry->number +=
      k->weights->twice && map_find(&k->weights->keys, slice_of(path));
  return path;
}

static struct keras_layer *add_layer(struct keras *k, struct keras_model *m,
                                     json_t *json) {
  struct keras_layer *layer = ARENA_NEW(k->graph->arena, struct keras_layer);
  const char *type = keras_string(json, "class_name", NULL);
  struct keras_place place = keras_place_of(k, json);
  layer->json = json;
  layer->config = keras_member(json, "config");
  layer->place = place;
  if (!type || !layer->config) {
    keras_refuse(k, place.line ? place : keras_place_of(k, k->root),
                 "a layer has no `class_name` or no `config`");
    return NULL;
  }
  layer->path = path_of(k, m, type);
  type = keras_class(k, type);
  const char *name = keras_string(json, "name", NULL);
  if (!name)
    name = keras_string(layer->config, "name", type);
  layer->type = keep(k, type);
  layer->name = keep(k, name);
  layer->frozen = json_is_false(keras_member(layer->config, "trainable"));
  *VEC_PUSH(k->graph->arena, &m->layers) = layer;
  return layer;
}

/* Finds the site of a reference, which names a layer and a call. */
static bool find_site(struct keras *k, struct keras_model *m,
                      struct keras_place place, struct keras_reference *from) {
  const struct map_entry *entry = map_find(&m->by_name, slice_of(from->layer));
  if (!entry)
    return keras_refuse(k, place,
                        "a layer reads `%.64s`, but no layer has that name",
                        from->layer);
  struct keras_layer *layer = entry->pointer;
  /* A nested model's first call is its own creation, before those in the
   * file. */
  int64_t count = (int64_t)layer->site_count;
  int64_t base =
      layer->greatest >= count && count > 0 &&
      (keras_member(layer->config, "layers") || json_is_array(layer->config));
  if (from->call < base || from->call - base >= count)
    return keras_refuse(k, place,
                        "a layer reads call %" PRId64
                        " of `%.64s`, but its number of calls is %" PRId64,
                        from->call, from->layer, count);
  from->site = layer->first_site + (size_t)(from->call - base);
  return true;
}

static void note_greatest(struct keras_model *m,
                          const struct keras_reference *from) {
  const struct map_entry *entry = map_find(&m->by_name, slice_of(from->layer));
  struct keras_layer *layer = entry ? entry->pointer : NULL;
  if (layer && from->call > layer->greatest)
    layer->greatest = from->call;
}

static bool find_sites(struct keras *k, struct keras_model *m,
                       struct keras_place place) {
  for (size_t i = 0; i < m->sites.count; i++)
    for (size_t a = 0; a < m->sites.at[i].args.count; a++)
      if (m->sites.at[i].args.at[a].is_tensor)
        note_greatest(m, &m->sites.at[i].args.at[a]);
  for (size_t i = 0; i < m->outputs.count; i++)
    note_greatest(m, &m->outputs.at[i]);
  for (size_t i = 0; i < m->sites.count; i++)
    for (size_t a = 0; a < m->sites.at[i].args.count; a++) {
      struct keras_reference *from = &m->sites.at[i].args.at[a];
      if (!from->is_tensor)
        continue;
      if (!find_site(k, m, m->sites.at[i].layer->place, from))
        return false;
      m->sites.at[from->site].uses++;
      m->sites.at[from->site].user = i;
    }
  for (size_t i = 0; i < m->outputs.count; i++) {
    if (!find_site(k, m, place, &m->outputs.at[i]))
      return false;
    m->sites.at[m->outputs.at[i].site].uses += 2;
  }
  return true;
}

/* `input_layers` or `output_layers`: one tensor, a list or an object. */
static bool take_ends(struct keras *k, const json_t *value,
                      keras_references *out) {
  const char *name;
  json_t *inner;
  size_t i;
  if (is_history(value))
    return take_history(k, value, NULL, NULL, out);
  if (!json_is_array(value) && !json_is_object(value))
    return false;
  json_object_foreach((json_t *)value, name,
                      inner) if (!take_ends(k, inner, out)) return false;
  json_array_foreach(value, i,
                     inner) if (!take_ends(k, inner, out)) return false;
  return true;
}

/* Orders inputs as callers pass them. */
static bool order_inputs(struct keras *k, struct keras_model *m,
                         const json_t *config, struct keras_place place) {
  keras_references ends = {0};
  const json_t *stated = keras_member(config, "input_layers");
  if (!stated)
    return true;
  if (!take_ends(k, stated, &ends))
    return keras_refuse(k, place, "`input_layers` names no layers");
  m->inputs.count = 0;
  for (size_t i = 0; i < ends.count; i++) {
    if (!find_site(k, m, place, &ends.at[i]))
      return false;
    if (strcmp(m->sites.at[ends.at[i].site].layer->type, "InputLayer") != 0)
      return keras_refuse(k, place,
                          "`%.64s` of `input_layers` is not an InputLayer",
                          ends.at[i].layer);
    *VEC_PUSH(k->graph->arena, &m->inputs) = ends.at[i].site;
  }
  return true;
}

static bool build_functional(struct keras *k, struct keras_model *m,
                             const json_t *config, const json_t *layers,
                             struct keras_place place) {
  for (size_t i = 0; i < json_array_size(layers); i++) {
    struct keras_layer *layer = add_layer(k, m, json_array_get(layers, i));
    if (!layer)
      return false;
    if (map_find(&m->by_name, slice_of(layer->name)))
      return keras_refuse(k, layer->place, "two layers are called `%.64s`",
                          layer->name);
    map_add(k->graph->arena, &m->by_name, slice_of(layer->name))->pointer =
        layer;
    if (!take_calls(k, m, layer))
      return false;
  }
  const json_t *outputs = keras_member(config, "output_layers");
  if (!take_ends(k, outputs, &m->outputs) || m->outputs.count == 0)
    return keras_refuse(k, place, "the model has no `output_layers`");
  return find_sites(k, m, place) && order_inputs(k, m, config, place);
}

/* The layers of a model; NULL for other layers. */
static const json_t *layers_of(const json_t *json) {
  const json_t *config = keras_member(json, "config");
  return json_is_array(config) ? config : keras_member(config, "layers");
}

/* The config with the input shape of a layer or, in a model, of its first
 * layer, an InputLayer if there is one. NULL: none has it. */
static json_t *input_config(json_t *json, int depth) {
  json_t *config = keras_member(json, "config"), *item;
  const json_t *layers = layers_of(json);
  size_t i, first = 0;
  if (!layers || depth == KERAS_DEEPEST)
    return layers ? NULL : config;
  json_array_foreach(layers, i, item) {
    if (strcmp(keras_string(item, "class_name", ""), "InputLayer") == 0) {
      first = i;
      break;
    }
  }
  json_t *found = input_config(json_array_get(layers, first), depth + 1);
  json_t *built = keras_member(config, "build_input_shape");
  if (built && !keras_member(found, "batch_input_shape") &&
      !keras_member(found, "batch_shape"))
    json_object_set(found, "batch_input_shape", built);
  return found;
}

/* A chain; the config of its first layer may give the input's shape. */
static bool build_sequential(struct keras *k, struct keras_model *m,
                             json_t *json, const json_t *layers,
                             struct keras_place place) {
  for (size_t i = 0; i < json_array_size(layers); i++) {
    json_t *at = json_array_get(layers, i);
    bool is_input =
        strcmp(keras_string(at, "class_name", ""), "InputLayer") == 0;
    if (i == 0 && !is_input) {
      struct keras_layer *input =
          ARENA_NEW(k->graph->arena, struct keras_layer);
      *input = (struct keras_layer){
          .name = "input", .type = "InputLayer", .json = json, .place = place};
      input->config = input_config(json, 0);
      *VEC_PUSH(k->graph->arena, &m->inputs) = 0;
      add_site(k, m, input);
    }
    struct keras_layer *layer = add_layer(k, m, at);
    if (!layer)
      return false;
    size_t last = m->sites.count;
    struct keras_site *site = add_site(k, m, layer);
    if (i == 0 && is_input) {
      *VEC_PUSH(k->graph->arena, &m->inputs) = 0;
      continue;
    }
    VEC_RESERVE(k->graph->arena, &site->args, 0);
    *VEC_PUSH(k->graph->arena, &site->args) =
        (struct keras_reference){.is_tensor = true, .site = last - 1};
    m->sites.at[last - 1].uses = 1;
    m->sites.at[last - 1].user = last;
  }
  if (m->sites.count == 0)
    return keras_refuse(k, place, "the model has no layers");
  m->sites.at[m->sites.count - 1].uses = 2;
  *VEC_PUSH(k->graph->arena, &m->outputs) =
      (struct keras_reference){.is_tensor = true, .site = m->sites.count - 1};
  return true;
}

bool keras_build(struct keras *k, struct keras_model *m, json_t *json) {
  struct keras_place place = keras_place_of(k, json);
  json_t *config = keras_member(json, "config");
  const json_t *layers = layers_of(json);
  m->built = true;
  if (!json_is_array(layers))
    return keras_refuse(k, place, "`layers` of a model is not a list");
  if (json_array_size(layers) > LIMIT_LAYERS)
    return keras_refuse(k, place, "the model has more than %d layers",
                        LIMIT_LAYERS);
  if (strcmp(keras_string(json, "class_name", ""), "Sequential") == 0)
    return build_sequential(k, m, json, layers, place);
  return build_functional(k, m, config, layers, place);
}
