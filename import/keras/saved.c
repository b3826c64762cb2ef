/*
 * Reads whole models that Keras saved: HDF5, with the JSON in an attribute and
 * a group of weights, and `.keras`, a zip of config.json and model.weights.h5.
 */
#include <inttypes.h>
#include <string.h>

#include "import/bytes/zip.h"
#include "import/keras/keras.h"
#include "import/keras/stored.h"
#include "import/tensors/hdf5.h"

struct saved {
  struct keras k;
  struct keras_weights weights;
  struct hdf5 hdf5;
  struct byte_store store;
};

static bool refuse_hdf5(struct saved *s) {
  graph_fail(s->k.graph, 0, "this HDF5 cannot be read: %s", s->hdf5.r.fault);
  return strstr(s->hdf5.r.fault, "not supported") &&
         graph_help(s->k.graph,
                    "`h5repack -l CONTI -f NONE FILE x.h5` of Debian's "
                    "hdf5-tools stores it without chunks and filters");
}

/* A text in an attribute; length 0 if it is missing. */
static struct slice text_of(struct saved *s, const char *path) {
  const struct hdf5_item *item = hdf5_find(&s->hdf5, path);
  struct slice text = {"", 0};
  if (item)
    hdf5_text(&s->hdf5, &item->values, 0, &text);
  return text;
}

/* Texts of an attribute; a long one is split into "name0", "name1". */
struct text_list {
  const char *attribute;
  int piece; /* -1: not split */
  int64_t at;
  const struct hdf5_item *item;
};

static struct text_list names_of(struct saved *s, const char *attribute) {
  struct text_list n = {attribute, -1, 0, hdf5_find(&s->hdf5, attribute)};
  if (!n.item)
    n.item = hdf5_find(&s->hdf5, graph_text(s->k.graph, "%s0", attribute)),
    n.piece = 0;
  return n;
}

static bool next_name(struct saved *s, struct text_list *n,
                      struct slice *name) {
  while (n->item && n->at >= n->item->values.count) {
    n->item = n->piece < 0
                  ? NULL
                  : hdf5_find(&s->hdf5, graph_text(s->k.graph, "%s%d",
                                                   n->attribute, ++n->piece));
    n->at = 0;
  }
  return n->item && hdf5_text(&s->hdf5, &n->item->values, n->at++, name);
}

static void add_stored(struct saved *s, const char *path, const char *group,
                       const struct hdf5_values *v) {
  struct keras_stored *stored = VEC_PUSH(s->k.graph->arena, &s->weights.all);
  *stored = (struct keras_stored){.path = path,
                                  .group = group,
                                  .type = v->type,
                                  .strange = v->strange,
                                  .rank = v->rank,
                                  .count = v->count,
                                  .store = &s->store,
                                  .at = v->at};
  memcpy(stored->dims, v->dims, sizeof stored->dims);
}

/* Lists the weights of each layer of `root`, "model_weights/", in order. */
static bool list_by_layer(struct saved *s, const char *root) {
  struct graph *g = s->k.graph;
  size_t length = strlen(root);
  const char *list =
      graph_text(g, "%.*s@layer_names", (int)length - (length > 0), root);
  struct text_list layers = names_of(s, list);
  struct slice layer, weight;
  if (!layers.item)
    return graph_fail(g, 0, "`%s` does not list its layers", list);
  while (next_name(s, &layers, &layer)) {
    const char *group = graph_text(g, "%.*s", SLICE_ARG(layer));
    struct text_list weights =
        names_of(s, graph_text(g, "%s%s@weight_names", root, group));
    while (next_name(s, &weights, &weight)) {
      const char *path =
          graph_text(g, "%s%s/%.*s", root, group, SLICE_ARG(weight));
      const struct hdf5_item *item = hdf5_find(&s->hdf5, path);
      if (!item)
        return graph_fail(g, 0, "`%.200s` is listed, but not in the file",
                          path);
      add_stored(s, path + length + strlen(group) + 1, group, &item->values);
    }
  }
  return !*s->hdf5.r.fault || refuse_hdf5(s);
}

/* True if a path is of a layer's weights, not of an optimizer or a seed. */
static bool is_weight(const struct hdf5_item *item, const char *layers) {
  size_t length = strlen(layers);
  return !item->attribute && strncmp(item->path, layers, length) == 0 &&
         item->path[length] == '/' && strstr(item->path, "/vars/") &&
         !strstr(item->path, "seed_generator");
}

/* The layer's name, which Keras 3 stores next to its weights; NULL: none. */
static const char *name_beside(struct saved *s, const char *path) {
  int length = (int)(strrchr(path, '/') - path);
  struct slice name =
      text_of(s, graph_text(s->k.graph, "%.*s@name", length, path));
  return name.length ? name.at : NULL;
}

/* Keras 3, and Keras 2 since 2.12: "layers/dense_1/vars/0". */
static void list_by_path(struct saved *s) {
  static const char *const roots[] = {"layers",
                                      "_layer_checkpoint_dependencies"};
  s->weights.by_path = true;
  for (int r = 0; r < 2 && s->weights.all.count == 0; r++) {
    s->weights.layers = roots[r];
    for (size_t i = 0; i < s->hdf5.items.count; i++) {
      const struct hdf5_item *item = &s->hdf5.items.at[i];
      if (is_weight(item, roots[r]))
        add_stored(s, item->path, name_beside(s, item->path), &item->values);
    }
  }
}

/* Reads the net and checks that all weights belong to it. */
static bool read_net(struct saved *s, struct slice json) {
  s->k.weights = &s->weights;
  s->k.path = "";
  s->k.contained = true;
  keras_index_stored(&s->k);
  if (!keras_read_text(&s->k, json))
    return false;
  return keras_took_every(&s->k);
}

/* Fails for a file without a net, with the number of weights. */
static bool refuse_weights(struct saved *s) {
  struct graph *g = s->k.graph;
  int64_t values = 0, tensors = 0;
  list_by_path(s);
  if (s->weights.all.count == 0 && hdf5_find(&s->hdf5, "@layer_names"))
    list_by_layer(s, "");
  for (size_t i = 0; i < s->weights.all.count; i++, tensors++)
    values += s->weights.all.at[i].count;
  if (g->failed)
    return false;
  if (tensors == 0) {
    graph_fail(g, 0, "this HDF5 has no model of Keras");
    return graph_help(g, "model.save(\"x.keras\") writes one");
  }
  graph_fail(g, 0,
             "it has only weights, %" PRId64 " values in %" PRId64
             " tensor%s: save_weights() leaves out the net",
             values, tensors, tensors == 1 ? "" : "s");
  return graph_help(g, "model.to_json() writes the net, model.save() both");
}

static bool read_hdf5(struct saved *s) {
  if (!hdf5_open(&s->hdf5, &s->store, s->k.graph->arena))
    return refuse_hdf5(s);
  struct slice json = text_of(s, "@model_config");
  struct slice version = text_of(s, "@keras_version");
  if (*s->hdf5.r.fault)
    return refuse_hdf5(s);
  if (json.length == 0)
    return refuse_weights(s);
  if (version.length)
    keras_set_version(
        &s->k, arena_copy(s->k.graph->arena, version.at, version.length));
  return list_by_layer(s, "model_weights/") && read_net(s, json);
}

/* Values are read from the file when they are needed. */
bool keras_hdf5_read(struct graph *graph, struct slice file,
                     const struct import_options *options) {
  struct saved s = {.k = {.graph = graph, .options = options},
                    .store = import_bytes(options, file)};
  bool read = read_hdf5(&s);
  byte_store_close(&s.store);
  return read;
}

/* metadata.json has the version of Keras. */
static void read_version(struct saved *s, struct zip *zip) {
  const struct zip_member *member = zip_find(zip, "metadata.json");
  struct slice text;
  if (!member || !zip_read(zip, member, s->k.graph->arena, &text))
    return;
  json_t *root = json_loadb(text.at, text.length, 0, NULL);
  keras_set_version(&s->k, keras_string(root, "keras_version", NULL));
  json_decref(root);
}

static bool read_archive(struct saved *s, struct byte_store *packed) {
  struct graph *graph = s->k.graph;
  struct slice json;
  struct zip zip;
  if (!zip_open(&zip, packed, graph->arena))
    return graph_fail(graph, 0, "%s", zip.fault);
  const struct zip_member *config = zip_find(&zip, "config.json");
  const struct zip_member *weights = zip_find(&zip, "model.weights.h5");
  if (!config)
    return graph_fail(graph, 0, "the archive has no config.json");
  if (!zip_read(&zip, config, graph->arena, &json))
    return graph_fail(graph, 0, "%s", zip.fault);
  read_version(s, &zip);
  if (!weights)
    return keras_read_text(&s->k, json);
  if (!zip_member_store(&zip, weights, s->k.options->weights, graph->arena,
                        &s->store))
    return graph_fail(graph, 0, "%s", zip.fault);
  if (!hdf5_open(&s->hdf5, &s->store, graph->arena))
    return refuse_hdf5(s);
  list_by_path(s);
  if (*s->hdf5.r.fault)
    return refuse_hdf5(s);
  return read_net(s, json);
}

bool keras_zip_read(struct graph *graph, struct slice file,
                    const struct import_options *options) {
  struct saved s = {.k = {.graph = graph, .options = options}};
  struct byte_store packed = import_bytes(options, file);
  bool read = read_archive(&s, &packed);
  byte_store_close(&packed);
  return read;
}
