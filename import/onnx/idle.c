/*
 * Inputs that a net does not need if all tokens are processed at once: masks of
 * padding, positions, past keys and values, and the operators that only depend
 * on them. They are dropped in files with attention as one operator. In other
 * files, only past keys and values are dropped, if their number is dynamic,
 * and sample numbers of boxes.
 */
#include <string.h>

#include "import/onnx/reader.h"

/* Inputs of an operator that are left out, a bit each. */
static const struct aside {
  const char *type;
  unsigned inputs;
  bool own; /* ONNX's own operator, not ONNX Runtime's */
} asides[] = {
    {"Attention", 1U << 3 | 1U << 4 | 1U << 6, false},
    {"MultiHeadAttention", 1U << 4 | 1U << 6 | 1U << 7 | 1U << 8 | 1U << 9,
     false},
    {"GroupQueryAttention", 1U << 3 | 1U << 4 | 1U << 5 | 1U << 6 | 1U << 9,
     false},
    {"EmbedLayerNormalization", 1U << 7 | 1U << 8, false},
    {"RotaryEmbedding", 1U << 1, false},
    {"RoiAlign", 1U << 2, true},
};

static const struct aside *aside_of(const struct onnx_op *op) {
  const char *domain = op->proto->domain;
  bool own = !domain || strcmp(domain, "com.microsoft") != 0;
  for (size_t i = 0; i < sizeof asides / sizeof *asides; i++)
    if (asides[i].own == own && strcmp(asides[i].type, op->type) == 0)
      return &asides[i];
  return NULL;
}

static bool is_aside(const struct aside *aside, size_t input) {
  return aside && input < 32 && (aside->inputs >> input & 1U);
}

/* Names for a note: the first, and the count. */
struct onnx_names {
  const char *first;
  size_t count;
};

static void add_name(struct onnx_names *names, const char *name) {
  names->first = names->first ? names->first : name;
  names->count++;
}

static void say(struct onnx *x, const struct onnx_names *names,
                const char *why) {
  if (names->count == 1)
    graph_note(x->graph, "`%s` is left out: %s", onnx_shown(x, names->first),
               why);
  else if (names->count > 1)
    graph_note(x->graph, "`%s` and %zu more are left out: %s",
               onnx_shown(x, names->first), names->count - 1, why);
}

/* The sizes of an input; NULL if it has none or is no tensor. */
static const Onnx__TensorShapeProto *
shape_of(const Onnx__ValueInfoProto *info) {
  const Onnx__TypeProto__Tensor *type = onnx_tensor_type(info->type);
  bool known = type && type->shape && type->shape->n_dim <= MOST_AXES;
  return known ? type->shape : NULL;
}

/* Past keys or values: an empty constant. */
static bool make_empty(struct onnx *x, const Onnx__ValueInfoProto *info,
                       struct onnx_value *value) {
  const Onnx__TensorShapeProto *shape = shape_of(info);
  int64_t dims[MOST_AXES];
  bool empty = false;
  if (!shape || !strstr(info->name, "past"))
    return false;
  for (size_t i = 0; i < shape->n_dim; i++) {
    const char *name;
    dims[i] = onnx_dim_size(x, shape->dim[i], &name);
    bool past = name && strstr(name, "past");
    empty = empty || past;
    if (!past && dims[i] <= 0)
      dims[i] = 1; /* the batch */
  }
  if (!empty)
    return false;
  value->constant = constant_new(x, onnx_tensor_type(info->type)->elem_type,
                                 (int)shape->n_dim, dims);
  value->made = true;
  return true;
}

/* Without a past, a mask is as long as the input. */
static void find_length(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  const char *open = NULL, *name;
  int64_t length = 0;
  for (size_t i = 0; i < g->n_input; i++) {
    const Onnx__TensorShapeProto *shape = shape_of(g->input[i]);
    if (!shape || shape->n_dim < 2)
      continue;
    int64_t size = onnx_dim_size(x, shape->dim[1], &name);
    if (strcmp(g->input[i]->name, "attention_mask") == 0)
      open = name;
    else if (strcmp(g->input[i]->name, "input_ids") == 0 ||
             strcmp(g->input[i]->name, "inputs_embeds") == 0)
      length = size;
  }
  if (open && length > 0)
    map_add(x->arena, &x->sizes, slice_of(open))->number = length;
}

/* Makes past keys and values empty. */
static bool find_past(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  struct onnx_names past = {0}, present = {0};
  for (size_t i = 0; i < g->n_input; i++) {
    const struct map_entry *entry =
        map_find(&x->names, slice_of(g->input[i]->name));
    struct onnx_value *value = entry ? &x->values.at[entry->number - 1] : NULL;
    if (value && !value->made && make_empty(x, g->input[i], value))
      add_name(&past, g->input[i]->name);
  }
  if (!past.count)
    return false;
  for (size_t i = 0; i < g->n_output; i++) {
    const struct map_entry *entry =
        map_find(&x->names, slice_of(g->output[i]->name));
    struct onnx_value *value = entry ? &x->values.at[entry->number - 1] : NULL;
    if (!value || !value->output || !strstr(value->name, "present"))
      continue;
    value->output = false; /* but attention reads it */
    add_name(&present, value->name);
  }
  find_length(x);
  say(x, &past, "all tokens are processed at once, from the first.");
  say(x, &present, "there is no KV cache.");
  return true;
}

/* Drops outputs of keys and values for a KV cache. */
static void drop_present(struct onnx *x) {
  struct onnx_names names = {0};
  for (size_t i = 0; i < x->ops.count; i++) {
    struct onnx_op *op = &x->ops.at[i];
    if (!aside_of(op) || strstr(op->type, "Attention") == NULL)
      continue;
    for (size_t k = 1; k < op->out_count; k++) {
      struct onnx_value *value =
          op->outs[k] < 0 ? NULL : &x->values.at[op->outs[k]];
      if (!value || !value->output)
        continue;
      value->output = false;
      value->absent = true;
      add_name(&names, value->name);
    }
  }
  say(x, &names, "there is no KV cache.");
}

/* Marks what the outputs depend on. */
static void mark_needed(struct onnx *x, bool *needed) {
  for (size_t i = 0; i < x->values.count; i++)
    needed[i] = x->values.at[i].output;
  for (size_t i = x->ops.count; i-- > 0;) {
    struct onnx_op *op = &x->ops.at[i];
    const struct aside *aside = aside_of(op);
    op->idle = true;
    for (size_t k = 0; k < op->out_count; k++)
      op->idle = op->idle && !(op->outs[k] >= 0 && needed[op->outs[k]]);
    for (size_t k = 0; k < op->in_count && !op->idle; k++)
      if (op->ins[k] >= 0 && !is_aside(aside, k))
        needed[op->ins[k]] = true;
  }
}

static void drop_inputs(struct onnx *x, const struct aside *aside) {
  const Onnx__GraphProto *g = x->model->graph;
  struct onnx_names names = {0};
  for (size_t i = 0; i < g->n_input; i++) {
    const struct map_entry *entry =
        map_find(&x->names, slice_of(g->input[i]->name));
    if (entry && x->values.at[entry->number - 1].idle)
      add_name(&names, g->input[i]->name);
  }
  say(x, &names,
      aside && aside->own
          ? "all boxes belong to one sample."
          : "all tokens are processed at once, from the first.");
}

void onnx_find_idle(struct onnx *x) {
  bool past = x->batch_axis == 0 && find_past(x);
  const struct aside *first = NULL;
  for (size_t i = 0; i < x->ops.count && !first; i++)
    first = aside_of(&x->ops.at[i]);
  if (!first && !past)
    return;
  bool *needed = arena_alloc(x->arena, x->values.count + 1, sizeof *needed);
  drop_present(x);
  mark_needed(x, needed);
  for (size_t i = 0; i < x->ops.count; i++) {
    struct onnx_op *op = &x->ops.at[i];
    const struct aside *aside = aside_of(op);
    for (size_t k = 0; k < op->in_count; k++)
      if (!op->idle && is_aside(aside, k))
        op->ins[k] = -1;
  }
  for (size_t i = 0; i < x->values.count; i++) {
    struct onnx_value *value = &x->values.at[i];
    value->idle = !needed[i];
    if (value->idle)
      value->uses = 0;
  }
  drop_inputs(x, first);
}
