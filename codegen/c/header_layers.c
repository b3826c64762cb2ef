/* h: the inputs, outputs and layers of a net as macros. */
#include "base/check.h"
#include "codegen/c/header.h"
#include "sema/model/weight_block.h"

/* The name of a map's axis, from the last one, as in the report, or NULL. */
static const char *axis_word(const struct shape *shape, int axis) {
  static const char *const words[] = {"WIDTH", "HEIGHT", "DEPTH"};
  int spatial = shape_spatial(shape);
  if (axis >= spatial)
    return "CHANNELS";
  if (spatial == 1 || shape->dtype != DTYPE_FLOAT)
    return shape->rank == 1 || spatial == 1 ? "LENGTH" : NULL;
  return spatial - 1 - axis < 3 ? words[spatial - 1 - axis] : NULL;
}

static const char *ending_of(struct header *h, const char *what,
                             const struct shape *shape, int axis) {
  struct text text = text_new(h->c->arena);
  const char *word = axis_word(shape, axis);
  text_printf(&text, "_%s", what);
  if (word)
    text_put(&text, word);
  else
    text_printf(&text, "DIM_%d", axis);
  return text_string(&text);
}

static void put_shape(struct header *h, struct slice stem,
                      const struct shape *shape) {
  for (int i = 0; i < shape->rank; i++)
    header_stem_macro(h, stem, ending_of(h, "", shape, i), shape->dim[i]);
}

static int64_t bytes_of(const struct header *h, const struct operand *operand,
                        int64_t count) {
  int64_t bytes = 0;
  if (operand->type != OPERAND_OWN)
    return size_product(count, operand->type == OPERAND_I64 ? 8 : 4);
  element_bytes(h->c->settings->infer.dtype, count, &bytes);
  return bytes;
}

/* True if values are contiguous, with the batch outermost. */
static bool is_dense(const struct operand *operand) {
  int64_t stride = 1;
  for (int i = operand->rank; i-- > 0;) {
    if (operand->dim[i] > 1 && operand->stride[i] != stride)
      return false;
    stride = size_product(stride, operand->dim[i]);
  }
  return true;
}

/* The alignment at an offset: part of a buffer is aligned as its offset is. */
static int64_t alignment(const struct header *h, int64_t offset) {
  int64_t align = h->c->settings->infer.align;
  while (offset % align)
    align /= 2;
  return align;
}

static const char *const end_endings[] = {
    "_DEPTH", "_HEIGHT",        "_WIDTH", "_LENGTH", "_CHANNELS", "_DIM_0",
    "_DIM_1", "_DIM_2",         "_DIM_3", "_DIM_4",  "_DIM_5",    "_DIM_6",
    "_DIM_7", "_COUNT",         "_BYTES", "_OFFSET", "_ALIGN",    "_DENSE",
    "_NAME",  "_WEIGHT_OFFSET", NULL};

static void put_end(struct header *h, const char *kind, size_t number,
                    int64_t node, struct slice name,
                    const struct operand *operand) {
  struct shape row = *h->c->model->nodes.at[node].out;
  const struct shape *shape = &row;
  bool stream = h->program->plan.lines.window && kind[0] == 'I';
  if (stream)
    row.dim[0] = 1; /* the new row */
  struct text text = text_new(h->c->arena);
  int64_t count =
      size_product(shape_values(shape), h->c->settings->infer.batch);
  text_printf(&text, "%s_%zu", kind, number);
  struct slice stem = identifiers_stem(&h->ids, text_slice(&text), end_endings);
  text_put(h->out, "\n/* ");
  c_put_comment(h->out, name);
  text_put(h->out, ": ");
  shape_put(h->out, shape, LAYOUT_HWC);
  text_put(h->out, stream ? ", a row at a time */\n" : " */\n");
  put_shape(h, stem, shape);
  header_stem_macro(h, stem, "_COUNT", count);
  header_stem_macro(h, stem, "_BYTES", bytes_of(h, operand, count));
  header_stem_macro(h, stem, operand->weights ? "_WEIGHT_OFFSET" : "_OFFSET",
                    operand->first);
  header_stem_macro(h, stem, "_ALIGN", alignment(h, operand->first));
  if (kind[0] == 'O')
    header_stem_macro(h, stem, "_DENSE", is_dense(operand));
}

void header_put_ends(struct header *h) {
  const struct model *model = h->c->model;
  for (size_t i = 0; i < model->predicted_sources; i++) {
    struct text name = text_new(h->c->arena);
    model_put_name(&name, model, model->sources.at[i]);
    put_end(h, "INPUT", i, model->sources.at[i], text_slice(&name),
            &h->program->inputs.at[i]);
  }
  for (size_t i = 0; i < model->predicted_outputs; i++) {
    struct text name = text_new(h->c->arena);
    const struct output *output = &model->outputs.at[i];
    if (output->name.at)
      text_puts(&name, output->name);
    else
      model_put_name(&name, model, output->node);
    put_end(h, "OUTPUT", i, output->node, text_slice(&name),
            &h->program->outputs.at[i]);
  }
}

/* Layers */

#define BY_AXIS(what) \
  what "DEPTH", what "HEIGHT", what "WIDTH", what "LENGTH", what "DIM_0"

static const char *const layer_endings[] = {BY_AXIS("_"),
                                            BY_AXIS("_KERNEL_"),
                                            BY_AXIS("_STRIDE_"),
                                            BY_AXIS("_DILATION_"),
                                            BY_AXIS("_PAD_BEFORE_"),
                                            BY_AXIS("_PAD_AFTER_"),
                                            "_CHANNELS",
                                            "_DIM_1",
                                            "_DIM_2",
                                            "_DIM_3",
                                            "_DIM_4",
                                            "_DIM_5",
                                            "_DIM_6",
                                            "_DIM_7",
                                            "_COUNT",
                                            "_GROUPS",
                                            "_PARAM_COUNT",
                                            "_MAC_COUNT",
                                            "_WEIGHT_OFFSET",
                                            "_WEIGHT_BYTES",
                                            "_ARENA_OFFSET",
                                            NULL};

struct header_layers {
  struct header *h;
  struct weight_block block;
  const struct program_op **op_of;          /* by node: its last operation */
  const struct program_op **convolution_of; /* by node: its first convolution */
};

static void put_windows(struct header_layers *l, struct slice stem,
                        int64_t index) {
  struct header *h = l->h;
  const struct node *node = &h->c->model->nodes.at[index];
  const struct program_op *op = l->convolution_of[index];
  struct window windows[3];
  int axes = 0;
  const struct shape **in = model_layer_room(h->c->model);
  struct layer layer = model_layer(h->c->model, index, in);
  if (node->kind->windows)
    axes = node->kind->windows(&layer, windows);
  else if (op && op->was == DOES_DECONV) /* windows over its output */
    axes = node->kind->spreads(&layer, windows);
  for (int i = 0; i < axes; i++) {
    const struct window *w = &windows[i];
    const struct {
      const char *what;
      int64_t value;
    } all[] = {{"KERNEL_", w->kernel},
               {"STRIDE_", w->stride},
               {"DILATION_", w->dilation},
               {"PAD_BEFORE_", w->before},
               {"PAD_AFTER_", w->after}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
      header_stem_macro(h, stem, ending_of(h, all[k].what, node->out, i),
                        all[k].value);
  }
  if (op)
    header_stem_macro(h, stem, "_GROUPS",
                      h->program->numbers.at[op->first_number]);
}

/* The layer's part of the block, without shared and folded parameters. */
static void put_weights(struct header_layers *l, struct slice stem,
                        int64_t index) {
  struct header *h = l->h;
  const struct model *model = h->c->model;
  const struct node *node = &model->nodes.at[index];
  int64_t first = -1, count = 0, biases = 0, offset = 0, bytes = 0;
  int64_t wide_before = 0, narrow_before = -1;
  int element = h->c->settings->infer.dtype;
  if (h->c->settings->infer.weight_dtype)
    return; /* blocks have no fixed layout */
  for (int i = 0; i < node->param_count; i++) {
    size_t place = node->first_param + (size_t)i;
    if (model->params.at[place].same != place || l->block.at[place] < 0)
      continue;
    if (first < 0) {
      first = l->block.at[place];
      wide_before = l->block.wide[place];
    }
    if (!model->params.at[place].bias && narrow_before < 0)
      narrow_before = l->block.at[place] - l->block.wide[place];
    count += model->params.at[place].count; /* part of a sum without overflow */
    if (model->params.at[place].bias)
      biases += model->params.at[place].count;
  }
  if (l->block.bias[index] >= 0) {
    count += shape_channels(node->out);
    biases += shape_channels(node->out);
  }
  if (first < 0 || (h->program->q8 && narrow_before < 0))
    return;
  if (h->program->q8) { /* all biases are elsewhere, together */
    offset = h->program->narrow + narrow_before;
    bytes = count - biases;
  } else {
    weight_block_bytes(element, first, wide_before, &offset);
    weight_block_bytes(element, count, biases, &bytes);
  }
  header_stem_macro(h, stem, "_WEIGHT_OFFSET", offset);
  header_stem_macro(h, stem, "_WEIGHT_BYTES", bytes);
}

static void put_layer(struct header_layers *l, int64_t index) {
  struct header *h = l->h;
  const struct model *model = h->c->model;
  const struct node *node = &model->nodes.at[index];
  const struct cost *cost = model_cost(model, index);
  struct text name = text_new(h->c->arena), written = name;
  model_put_name(&name, model, index);
  struct slice stem =
      identifiers_stem(&h->ids, text_slice(&name), layer_endings);
  struct arena_mark mark = arena_mark(h->c->arena);
  model_put_layer(&written, model, index, NULL);
  text_put(h->out, "\n/* ");
  c_put_comment(h->out, text_slice(&name));
  text_put(h->out, ": ");
  c_put_comment(h->out, text_slice(&written));
  text_put(h->out, " */\n");
  put_shape(h, stem, node->out);
  header_stem_macro(h, stem, "_COUNT", shape_values(node->out));
  put_windows(l, stem, index);
  if (cost->params)
    header_stem_macro(h, stem, "_PARAM_COUNT", cost->params);
  if (cost->macs)
    header_stem_macro(h, stem, "_MAC_COUNT", cost->macs);
  put_weights(l, stem, index);
  if (l->op_of[index]) {
    const struct operand *out =
        &h->program->operands.at[l->op_of[index]->first_operand];
    if (!out->weights && !out->lines)
      header_stem_macro(h, stem, "_ARENA_OFFSET", out->first);
  }
  arena_release(h->c->arena, mark);
}

/* The layer's own convolution, not that of an adapter after it, nor one that is
 * a part of another layer, as of `ssm`. */
static void find_convolution(struct header_layers *l,
                             const struct program_op *op) {
  const struct layer_kind *kind = l->h->c->model->nodes.at[op->node].kind;
  if ((kind->windows || kind->spreads) &&
      (op->was == DOES_CONV || op->was == DOES_DECONV ||
       op->was == DOES_DEFORMCONV) &&
      !l->convolution_of[op->node])
    l->convolution_of[op->node] = op;
}

void header_put_layers(struct header *h) {
  const struct model *model = h->c->model;
  const struct inference *plan = &h->program->plan;
  struct header_layers l = {
      .h = h,
      .op_of =
          arena_alloc(h->c->arena, model->nodes.count + 1, sizeof *l.op_of)};
  l.convolution_of = arena_alloc(h->c->arena, model->nodes.count + 1,
                                 sizeof *l.convolution_of);
  weight_block_find(model, &h->c->settings->infer, plan->folds.at,
                    plan->folds.count, h->c->arena, &l.block);
  for (size_t i = 0; i < h->program->ops.count; i++) {
    l.op_of[h->program->ops.at[i].node] = &h->program->ops.at[i];
    find_convolution(&l, &h->program->ops.at[i]);
  }
  for (size_t i = 0; i < plan->folds.count; i++) /* the folded layer's result */
    l.op_of[plan->folds.at[i].norm] = l.op_of[plan->folds.at[i].into];
  for (size_t i = 0; i < plan->merged.count; i++)
    l.op_of[plan->merged.at[i].node] = l.op_of[plan->merged.at[i].into];
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].kind != &model_input_kind &&
        !model->nodes.at[i].train_only)
      put_layer(&l, (int64_t)i);
}
