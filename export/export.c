/* -o x.onnx: translates the net operation by operation to an ONNX model. */
#include "export/export.h"

#include <string.h>

#include "base/shown.h"
#include "base/utf8.h"
#include "export/onnx.h"

const char *onnx_keep(struct exporting *x, const char *text) {
  return arena_copy(x->arena, text, strlen(text));
}

static void read_weights(struct exporting *x) {
  struct netc_weight weight = {.size = sizeof weight};
  for (size_t i = 0; netc_weight(x->netc, i, &weight) == NETC_OK; i++)
    *VEC_PUSH(x->arena, &x->model.weights) =
        (struct model_weight){weight.count, weight.buffer};
  size_t count = x->model.weights.count;
  x->weights = arena_alloc(x->arena, count + 1, sizeof *x->weights);
  for (size_t i = 0; i < count; i++)
    x->weights[i].input = NO_VALUE;
}

static void count_block(const struct netc_operand *operand, size_t *count) {
  if (operand->block >= (int64_t)*count)
    *count = (size_t)operand->block + 1;
}

static void open_blocks(struct exporting *x) {
  struct netc_operation op = {.size = sizeof op};
  struct netc_operand operand;
  size_t count = 0;
  for (size_t i = 0; netc_operation(x->netc, i, &op) == NETC_OK; i++) {
    for (size_t k = 0; k < op.out_count; k++)
      count_block(&op.outs[k], &count);
    for (size_t k = 0; k < op.in_count; k++)
      count_block(&op.ins[k], &count);
  }
  for (size_t i = 0; netc_input_operand(x->netc, i, &operand) == NETC_OK; i++)
    count_block(&operand, &count);
  x->blocks = arena_alloc(x->arena, count + 1, sizeof *x->blocks);
  for (size_t i = 0; i < count; i++)
    x->blocks[i].input = NO_VALUE;
}

static enum onnx_element element_of(enum netc_type type) {
  return type == NETC_I64   ? ELEMENT_INT64
         : type == NETC_I32 ? ELEMENT_INT32
                            : ELEMENT_FLOAT;
}

/* Maps have channels first. The first reader chooses the axes of a sequence. */
static void open_inputs(struct exporting *x) {
  struct netc_operand operand;
  struct netc_end end = {.size = sizeof end};
  for (size_t i = 0; netc_input_operand(x->netc, i, &operand) == NETC_OK; i++) {
    netc_input(x->netc, i, &end);
    struct onnx_block *block = &x->blocks[operand.block];
    struct onnx_layout at = layout_dense(operand.rank, operand.dims);
    bool real = operand.type == NETC_FLOAT;
    if (real && at.rank > 3)
      at = layout_channels_first(&at);
    value_id id = model_value(&x->model, FROM_INPUT, onnx_keep(x, end.name),
                              element_of(operand.type), at.rank, at.dim);
    *VEC_PUSH(x->arena, &x->model.inputs) = id;
    if (real && at.rank == 3)
      block->input = id;
    else
      onnx_show(x, block, id, &at, true);
  }
}

static const char *layer_name(struct exporting *x, int64_t layer) {
  struct netc_layer found = {.size = sizeof found};
  netc_layer(x->netc, (size_t)layer, &found);
  return onnx_keep(x, found.name);
}

/* True for the last operation of a layer; they are consecutive. */
static bool is_last(struct exporting *x, size_t index) {
  struct netc_operation next = {.size = sizeof next};
  return netc_operation(x->netc, index + 1, &next) != NETC_OK ||
         next.layer != x->op.layer;
}

static bool write_operation(struct exporting *x, size_t index) {
  const struct onnx_form *form = onnx_form_find(x->op.code);
  x->layer = layer_name(x, x->op.layer);
  x->is_last = is_last(x, index);
  x->model.scope =
      x->is_last ? x->layer : model_name(&x->model, x->layer, x->op.part);
  x->first_value = x->model.values.count;
  if (!*x->op.code)
    onnx_refuse(
        x,
        "the computation of its `%s` is not known: netc can measure the net, "
        "but not run it",
        x->op.part);
  else if (!form)
    onnx_refuse(x, "netc has no ONNX form of `%s` yet", x->op.code);
  return form && form->write(x) && !x->why;
}

/* Gives an output its own name, which no other value has. */
static void add_output(struct exporting *x, value_id value, const char *name) {
  const struct model_value *found = model_at(&x->model, value);
  if (found->from != FROM_NODE || found->output) {
    x->model.scope = name;
    value = model_node(&x->model, "Identity", found->type, found->rank,
                       found->dim, &value, 1);
  }
  x->model.values.at[value].output = true;
  x->model.values.at[value].name = name;
  *VEC_PUSH(x->arena, &x->model.outputs) = value;
}

/* Outputs are batch first; maps have channels next. Sequences take the cheaper
 * order. */
static bool write_outputs(struct exporting *x) {
  struct netc_operand operand;
  struct netc_end end = {.size = sizeof end};
  for (size_t i = 0; netc_output_operand(x->netc, i, &operand) == NETC_OK;
       i++) {
    netc_output(x->netc, i, &end);
    struct view view = onnx_operand_view(x, &operand);
    x->layer = x->model.scope = onnx_keep(x, end.name);
    if (operand.type == NETC_FLOAT && view.at.rank > 3) {
      view.at = layout_channels_first(&view.at);
    } else if (operand.type == NETC_FLOAT && view.at.rank == 3) {
      struct view other = {view.of, layout_channels_first(&view.at)};
      if (onnx_get_cost(x, &other) < onnx_get_cost(x, &view))
        view = other;
    }
    value_id value = onnx_get_spread(x, &view);
    if (value == NO_VALUE)
      return false;
    add_output(x, value, x->layer);
  }
  return true;
}

/* The net's name, which may come from a file: ONNX needs UTF-8 that is not
 * empty. */
static const char *graph_name(struct exporting *x) {
  struct text valid = text_new(x->arena), text = text_new(x->arena);
  struct slice rest = slice_of(netc_name(x->netc));
  while (rest.length) {
    size_t length = utf8_length(rest.at, rest.length);
    text_bytes(&valid, length ? rest.at : "?", length ? length : 1);
    rest = slice_from(rest, length ? length : 1);
  }
  shown_put(&text, text_slice(&valid), 0);
  if (text.length == 0)
    text_put(&text, "net");
  return arena_copy(x->arena, text.at, text.length);
}

static bool write_model(struct exporting *x) {
  read_weights(x);
  open_blocks(x);
  open_inputs(x);
  x->op.size = sizeof x->op;
  for (size_t i = 0; netc_operation(x->netc, i, &x->op) == NETC_OK; i++)
    if (!write_operation(x, i))
      return false;
  return write_outputs(x);
}

struct onnx_model *onnx_build(struct netc *netc, int opset, struct arena *arena,
                              struct text *why) {
  struct exporting *x = ARENA_NEW(arena, struct exporting);
  x->arena = x->model.arena = arena;
  x->netc = netc;
  x->model.name = graph_name(x);
  x->model.opset = opset;
  x->op.size = sizeof x->op;
  if (netc_operation(netc, 0, &x->op) == NETC_ERROR) {
    text_put(why, netc_message(netc));
    return NULL;
  }
  if (!write_model(x)) {
    text_printf(why, "`%s` cannot be written as ONNX: %s", x->layer, x->why);
    return NULL;
  }
  return &x->model;
}
