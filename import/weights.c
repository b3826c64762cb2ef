/* Writes the values of an imported net as a file of weights, with netc's names
 * and PyTorch's layouts (docs/weights.md). */
#include "import/weights.h"

#include <string.h>

#include "import/tensors/safetensors.h"

/* Finds the tensor as inference reads it: its strides include the transpose
 * that flattening causes. */
static bool find_tensor(struct netc *netc, size_t weight,
                        struct netc_tensor *tensor) {
  *tensor = (struct netc_tensor){.size = sizeof *tensor};
  for (size_t i = 0; netc_tensor(netc, i, tensor) == NETC_OK; i++)
    if (tensor->weight == (int64_t)weight)
      return true;
  return false;
}

static const struct graph_weight *find_given(const struct graph_node *node,
                                             const char *name) {
  for (size_t i = 0; i < node->weights.count; i++)
    if (strcmp(node->weights.at[i].name, name) == 0)
      return &node->weights.at[i];
  return NULL;
}

/* Finds a weight of a net whose source comes from the file. */
static const struct graph_weight *find_kept(const struct graph *graph,
                                            const struct netc_weight *weight) {
  for (size_t i = 0; i < graph->weights.count; i++) {
    const struct graph_weight *w = &graph->weights.at[i];
    if (w->count == weight->count && strcmp(w->name, weight->name) == 0)
      return w;
  }
  return NULL;
}

bool import_has_weights(struct netc *netc, const struct graph *graph) {
  struct netc_weight weight = {.size = sizeof weight};
  for (size_t i = 0; netc_weight(netc, i, &weight) == NETC_OK; i++)
    if (!find_kept(graph, &weight))
      return false;
  return true;
}

/* One value as 32 bits: a real, or the integer that it is stored as. */
static uint32_t value_of(const struct graph_weight *w, bool stored, int64_t i) {
  uint32_t bits;
  float real;
  i = w->fill ? 0 : i;
  if (stored)
    return (uint32_t)w->stored[i];
  real = w->real ? w->real[i] : (float)w->whole[i];
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

/* Writes rows of outputs, columns of inputs. The matrix may read a flattened
 * map or give one: the file then has C, H, W order, the net H, W, C. */
static void put_matrix(const struct graph_weight *w, bool stored,
                       const struct netc_tensor *t, int64_t inputs,
                       uint32_t *to) {
  int split = 0;
  int64_t product = 1;
  while (split < t->rank && product < inputs)
    product *= t->dims[split++];
  for (int64_t i = 0; i < t->count; i++) {
    int64_t rest = i, column = 0, row = 0, row_place = 0, column_place = 0;
    int64_t row_step = 1, column_step = 1;
    for (int k = t->rank; k-- > 0; rest /= t->dims[k]) {
      int64_t digit = rest % t->dims[k];
      if (k >= split) {
        row += digit * row_step;
        row_step *= t->dims[k];
        row_place += digit * t->strides[k];
      } else {
        column += digit * column_step;
        column_step *= t->dims[k];
        column_place += digit * t->strides[k];
      }
    }
    int64_t from = w->as_file ? column_place : column;
    to[t->first + row_place + column_place] =
        value_of(w, stored, row * inputs + from);
  }
}

static void put_vector(const struct graph_weight *w, bool stored,
                       const struct netc_tensor *t, uint32_t *to) {
  for (int64_t i = 0; i < t->count; i++) {
    int64_t rest = i, place = t->first;
    for (int k = t->rank; k-- > 0; rest /= t->dims[k])
      place += rest % t->dims[k] * t->strides[k];
    to[place] = value_of(w, stored, i);
  }
}

static bool is_straight(const struct netc_tensor *t) {
  return t->rank == 1 && t->strides[0] == 1 && t->first == 0;
}

/* Copies the values in the order of the file. */
static void put_stored(const struct netc_weight *weight,
                       const struct graph_weight *w, bool stored,
                       uint32_t *to) {
  for (int64_t i = 0; i < weight->count; i++)
    to[i] = value_of(w, stored, i);
}

static void put_values(struct netc *netc, size_t index,
                       const struct netc_weight *weight,
                       const struct graph_weight *w, bool stored,
                       uint32_t *to) {
  struct netc_tensor t;
  bool dense = weight->rank == 2 && strcmp(w->name, "weight") == 0;
  if (find_tensor(netc, index, &t) && t.count == weight->count) {
    if (dense && t.rank >= 2 && w->is_matrix) {
      put_matrix(w, stored, &t, weight->dims[1], to);
      return;
    }
    if (weight->rank == 1 && !w->as_file && !is_straight(&t)) {
      put_vector(w, stored, &t, to);
      return;
    }
  }
  put_stored(weight, w, stored, to);
}

/* True if the net computes with the integers that the file has. */
static bool is_stored(struct netc *netc,
                      const struct graph_weight *const *given, size_t count) {
  struct netc_q8_block block = {.size = sizeof block};
  for (size_t i = 0; i < count; i++)
    if (!given[i]->stored)
      return false;
  return count > 0 && netc_q8_block(netc, &block) == NETC_OK;
}

/* Biases have 32 bits, all other integers 8. */
static enum value_type type_of(const struct netc_weight *weight, bool stored) {
  return !stored                                       ? VALUE_F32
         : slice_ends(slice_of(weight->name), ".bias") ? VALUE_I32
                                                       : VALUE_I8;
}

static void write_values(FILE *file, enum value_type type,
                         const uint32_t *values, size_t count) {
  if (type != VALUE_I8)
    words_write(file, values, count);
  for (size_t i = 0; type == VALUE_I8 && i < count; i++)
    fputc((int)(values[i] & 255), file);
}

/* "weight" of "stem.conv1.weight" */
static const char *name_in_layer(struct netc *netc,
                                 const struct netc_weight *weight) {
  struct netc_layer layer = {.size = sizeof layer};
  netc_layer(netc, (size_t)weight->layer, &layer);
  size_t length = strlen(layer.name);
  return strlen(weight->name) > length ? weight->name + length + 1
                                       : weight->name;
}

bool import_weights(struct netc *netc, const struct imported *result,
                    struct graph *graph, FILE *file) {
  struct arena *arena = graph->arena;
  VEC(struct written_tensor) tensors = {0};
  VEC(const struct graph_weight *) given = {0};
  VEC(struct written_steps) steps = {0};
  struct netc_weight weight = {.size = sizeof weight};
  for (size_t i = 0; netc_weight(netc, i, &weight) == NETC_OK; i++) {
    const struct graph_weight *w =
        graph->kept ? find_kept(graph, &weight)
                    : find_given(result->layers[weight.layer],
                                 name_in_layer(netc, &weight));
    if (!w || w->count != weight.count)
      return graph_fail(graph, 0, "the file has no values for `%s`",
                        weight.name);
    *VEC_PUSH(arena, &given) = w;
    *VEC_PUSH(arena, &tensors) = (struct written_tensor){
        weight.name, weight.rank, weight.dims, weight.count, VALUE_F32};
    if (w->scale)
      *VEC_PUSH(arena, &steps) =
          (struct written_steps){weight.name, w->scale, w->zero};
  }
  bool layers = !graph->kept && !graph->rescaled;
  for (size_t i = 0; layers && i < result->layer_count; i++) {
    struct netc_layer layer = {.size = sizeof layer};
    const struct graph_node *node = result->layers[i];
    if (node->scale && netc_layer(netc, i, &layer) == NETC_OK)
      *VEC_PUSH(arena, &steps) = (struct written_steps){
          graph_text(graph, "%s.output", layer.name), node->scale, node->zero};
  }
  bool stored = !graph->rescaled && is_stored(netc, given.at, given.count);
  for (size_t i = 0; i < tensors.count; i++) {
    netc_weight(netc, i, &weight);
    tensors.at[i].type = type_of(&weight, stored);
  }
  struct written_about about = {steps.at, steps.count, NULL};
  safetensors_write_header(file, tensors.at, tensors.count, &about, arena);
  for (size_t i = 0; i < tensors.count; i++) {
    struct arena inner;
    arena_open_in(&inner, arena);
    netc_weight(netc, i, &weight);
    uint32_t *values =
        arena_alloc(&inner, (size_t)weight.count + 1, sizeof *values);
    if (graph->kept)
      put_stored(&weight, given.at[i], stored, values);
    else
      put_values(netc, i, &weight, given.at[i], stored, values);
    write_values(file, tensors.at[i].type, values, (size_t)weight.count);
    arena_close(&inner);
  }
  return true;
}
