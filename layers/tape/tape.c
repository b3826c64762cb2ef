/* Tape: records the operations that a framework runs for a net, in order. */
#include "layers/tape/tape.h"

#include "layers/tape/experts.h"
#include "layers/tape/lowering.h"

enum { FEW = 4 }; /* room for the inputs of most operations */

struct extent extent_fixed(int64_t count, enum width width) {
  return (struct extent){.count = count, .fixed = true, .width = width};
}

struct extent extent_sample(int64_t count, enum width width) {
  return (struct extent){.count = count, .width = width};
}

struct extent extent_of(const struct shape *shape) {
  enum width width = shape->dtype == DTYPE_FLOAT ? WIDTH_NET
                     : shape->dtype == DTYPE_I64 ? WIDTH_INDEX
                                                 : WIDTH_I32;
  return extent_sample(shape_values(shape), width);
}

struct extent tape_number(const struct tape *tape) {
  return extent_fixed(tape->profile->keeps_numbers, WIDTH_INDEX);
}

static size_t add_storage(struct tape *tape, struct extent extent, bool owned) {
  struct tape_storage *storage = VEC_PUSH(tape->arena, &tape->storages);
  uint32_t kept = tape_keep_extent(tape, extent);
  *storage = (struct tape_storage){.extent = kept,
                                   .sample = kept,
                                   .node = (int32_t)tape->node,
                                   .owned = owned};
  return tape->storages.count - 1;
}

static size_t add_value(struct tape *tape, struct extent extent,
                        size_t storage) {
  struct tape_value *value = VEC_PUSH(tape->arena, &tape->values);
  *value = (struct tape_value){.extent = tape_keep_extent(tape, extent),
                               .storage = tape_place(tape, storage)};
  return tape->values.count - 1;
}

size_t tape_outside(struct tape *tape, struct extent extent, bool trained) {
  size_t value = add_value(tape, extent, add_storage(tape, extent, false));
  tape->values.at[value].needs_gradient = tape->training && trained;
  return value;
}

/* Mixed precision */

static bool all_points(const struct tape *tape, const struct operation *op) {
  for (int i = 0; i < op->in_count; i++)
    if (!tape->values.at[op->in[i]].point)
      return false;
  return true;
}

bool tape_may_overwrite(const struct tape *tape, size_t value) {
  const struct tape_value *in = &tape->values.at[value];
  const struct tape_storage *storage = &tape->storages.at[in->storage];
  return tape->in_place && !in->part && in->storage >= tape->fence &&
         storage->owned && !storage->saved && storage->pending <= 1;
}

/* The element of a width; 0: no floating-point type of a layer. */
static int element_of(const struct tape *tape, enum width width) {
  return width == WIDTH_NET ? tape->element : width_element(width);
}

/* A product casts nothing, a layer has cast its inputs; what has no parameters
 * promotes: result_type() of ATen/native/TypeProperties.cpp. */
static enum width typed_width(const struct tape *tape,
                              const struct operation *op) {
  int widest = 0;
  if (op->param_count)
    return tape->node_params[op->first_param].width;
  for (int i = 0; i < op->in_count - op->held; i++) {
    int own = element_of(tape, tape_extent(tape, op->in[i])->width);
    if (!own || (tape->values.at[op->in[i]].point && !all_points(tape, op)))
      continue;
    widest = widest ? tape->promote(widest, own) : own;
  }
  if (!widest)
    return tape->own;
  return widest == tape->element ? WIDTH_NET
                                 : (enum width)(WIDTH_TYPED + widest);
}

/* Autocast, and 16-bit parameters: a lookup has their type, a sum has that of
 * its widest operand. */
static enum width narrow_width(const struct tape *tape,
                               const struct operation *op) {
  if (tape->node_params[op->first_param].width != WIDTH_LOW)
    return WIDTH_NET;
  for (int i = 0; i < op->in_count - op->held; i++)
    if (tape_extent(tape, op->in[i])->width == WIDTH_NET)
      return WIDTH_NET;
  return WIDTH_LOW;
}

/* c10/core/ScalarType.h, TensorIterator: a 0-d tensor beside others does not
 * widen the result, and is not cast. */
static enum width width_of(const struct tape *tape,
                           const struct operation *op) {
  enum width widest = WIDTH_LOW;
  if (!tape->mixed)
    return tape->element ? typed_width(tape, op) : WIDTH_NET;
  if (op->cast == CAST_FIRST)
    return tape_extent(tape, op->in[0])->width;
  if (op->cast != CAST_NONE)
    return op->cast == CAST_LOW ? WIDTH_LOW : WIDTH_NET;
  for (int i = 0; i < op->in_count; i++)
    if (tape_extent(tape, op->in[i])->width != WIDTH_LOW &&
        (!tape->values.at[op->in[i]].point || all_points(tape, op)))
      widest = WIDTH_NET;
  if (op->param_count)
    return narrow_width(tape, op);
  return op->in_count ? widest : WIDTH_NET;
}

size_t tape_cast_to(struct tape *tape, const size_t *in, int count,
                    enum width width) {
  struct extent extent = *tape_extent(tape, in[0]);
  bool real = extent.width <= WIDTH_LOW || width_element(extent.width);
  if (!real || extent.width == width || tape->values.at[in[0]].point)
    return in[0];
  extent.width = width;
  struct operation op = {.name = "cast",
                         .does = LOWERS(COPY, 0),
                         .in = in,
                         .in_count = count,
                         .held = count - 1,
                         .out = extent,
                         .cast = width == WIDTH_LOW ? CAST_LOW : CAST_FULL};
  /* The cast itself must not be cast again. */
  bool mixed = tape->mixed;
  int element = tape->element;
  tape->mixed = false;
  tape->element = 0;
  size_t out = tape_run(tape, &op);
  tape->mixed = mixed;
  tape->element = element;
  return out;
}

/* The input, cast to the operation's precision. */
static size_t cast_input(struct tape *tape, size_t in, enum width width) {
  return tape_cast_to(tape, &in, 1, width);
}

size_t tape_cast_own(struct tape *tape, size_t in) {
  return tape->element ? cast_input(tape, in, tape->own) : in;
}

size_t tape_widen(struct tape *tape, size_t in) {
  return tape->mixed ? cast_input(tape, in, WIDTH_NET) : in;
}

size_t tape_cast_as(struct tape *tape, size_t in, size_t as) {
  return tape->mixed ? cast_input(tape, in, tape_extent(tape, as)->width) : in;
}

/* All inputs, cast to `width`; `few` has room for FEW of them. TensorIterator
 * casts value by value, in the kernel. */
static const size_t *cast_inputs(struct tape *tape, const struct operation *op,
                                 enum width width, size_t *few) {
  if (!tape->mixed || op->cast >= CAST_FIRST ||
      (op->cast == CAST_NONE && op->elementwise))
    return op->in; /* a long chain of concats has millions of inputs */
  size_t *in = op->in_count <= FEW
                   ? few
                   : arena_alloc(tape->arena, (size_t)op->in_count, sizeof *in);
  for (int i = 0; i < op->in_count; i++)
    in[i] = cast_input(tape, op->in[i], width);
  return in;
}

bool tape_trains(const struct tape *tape, int index) {
  return tape->training && index < tape->node_param_count &&
         tape->node_params[index].trained;
}

/* A matrix product keeps the 16-bit copy only for the gradient of its input. */
static bool keeps_weights(const struct tape *tape, const struct operation *op,
                          const size_t *in) {
  return tape->mixed && op->cast == CAST_LOW && op->param_count &&
         (!op->guarded || tape->values.at[in[0]].needs_gradient);
}

/*
 * cached_cast() of autocast_mode.cpp: each trained matrix is copied once, and
 * the copy is kept for backward. Frozen matrices are copied for every use.
 */
static void cast_params(struct tape *tape, const struct operation *op,
                        struct extent *kept) {
  *kept = extent_fixed(0, WIDTH_LOW);
  for (int i = 0; i < op->param_count; i++) {
    const struct tape_param *param = &tape->node_params[operation_param(op, i)];
    if (!param->matrix || tape->copied[param->index] ||
        param->width == WIDTH_LOW)
      continue;
    tape->copied[param->index] = param->trained;
    kept->count =
        kept->count + param->count * (int64_t)param->copies; /* < 2^63 */
  }
}

/* The extent with the net's width replaced by the operation's. */
static struct extent resolve(const struct tape *tape, struct extent extent,
                             enum width width) {
  extent.mask = extent.width == WIDTH_MASK;
  if (extent.mask)
    extent.width = tape->profile->byte_masks ? WIDTH_BOOL : WIDTH_NET;
  if (extent.width == WIDTH_NET)
    extent.width = width;
  if (!extent.fixed && !extent.share)
    extent.share = tape->share;
  return extent;
}

/* Recording */

static bool has_trained_params(const struct tape *tape,
                               const struct operation *op) {
  for (int i = 0; i < op->param_count; i++)
    if (tape->node_params[operation_param(op, i)].trained)
      return true;
  return false;
}

/* An operation that is being recorded. */
struct recorded {
  struct tape_op op;
  struct op_facts facts;
};

static void save(struct tape *tape, struct recorded *stored, size_t value) {
  uint32_t storage = tape->values.at[value].storage;
  tape->storages.at[storage].saved = true;
  if (!tape->storages.at[storage].owned)
    return;
  *VEC_PUSH(tape->arena, &tape->saved) = storage;
  stored->facts.saved_count++;
}

/*
 * guard_for() of tools/autograd/gen_variable_type.py: autograd saves an operand
 * only if a gradient that is needed reads it.
 */
static bool is_read(const struct tape *tape, const struct operation *op,
                    const size_t *in, int which) {
  if (!op->guarded || (op->param_count && tape_trains(tape, op->first_param)))
    return true;
  for (int i = 0; i < op->in_count - op->held; i++)
    if (i != which && tape->values.at[in[i]].needs_gradient)
      return true;
  return which == 0 && tape->packed && op->splits && op->param_count &&
         tape->node_params[op->first_param].matrix;
}

static void keep_for_backward(struct tape *tape, struct recorded *stored,
                              const struct operation *op, const size_t *in) {
  int keeps = op->keeps;
  if (stored->facts.result == RESULT_IN_PLACE && op->in_place_clones) {
    stored->facts.kept[KEPT_CLONE] = *tape_extent(tape, in[0]);
    keeps = 0;
  }
  for (int i = 0; i < op->in_count && i < KEEPS_MOST; i++)
    if (keeps & KEEPS_IN(i) && is_read(tape, op, in, i))
      save(tape, stored, in[i]);
  for (int i = 0; i < stored->facts.out_count; i++)
    if (keeps & KEEPS_OUT)
      save(tape, stored, stored->op.first_out + (size_t)i);
}

/* The layout of output `i`. */
static uint32_t layout_of(struct tape *tape, const struct op_facts *facts,
                          const struct operation *op, const size_t *in, int i) {
  const struct strides *out = op->does ? op->does->out : NULL;
  if (op->layouts)
    return op->layouts[i];
  if (op->layout || !op->in_count || tape->lowers)
    return op->layout;
  if (facts->result != RESULT_NEW)
    return tape->values.at[in[0]].strides;
  int like = 0; /* an operand that is not broadcast */
  while (op->elementwise && like < op->in_count - 1 &&
         tape_extent(tape, in[like])->count != op->out.count)
    like++;
  uint32_t lies = layout_of_result(tape, in[like], op->elementwise, op->packs,
                                   out && out->rank ? out : NULL);
  return like ? layout_alike(tape, in[0], lies) : lies;
}

/* A view that is overwritten stays a view. */
static bool is_view(const struct tape *tape, const struct op_facts *facts,
                    const struct operation *op, const size_t *in) {
  return facts->result == RESULT_NEW    ? op->view
         : facts->result == RESULT_VIEW ? !op->stops
                                        : tape->values.at[in[0]].view;
}

static void add_outputs(struct tape *tape, struct op_facts *facts,
                        const struct operation *op, const size_t *in,
                        bool gradient) {
  struct extent extent = resolve(tape, op->out, width_of(tape, op));
  size_t first = tape->values.count;
  facts->out_count = op->outs ? op->outs : 1;
  for (int i = 0; i < facts->out_count; i++) {
    size_t storage = facts->result == RESULT_NEW
                         ? add_storage(tape, extent, true)
                         : tape->values.at[in[0]].storage;
    uint32_t layout = layout_of(tape, facts, op, in, i);
    size_t value = add_value(tape, extent, storage);
    tape->values.at[value].needs_gradient = gradient;
    if (gradient)
      tape->storages.at[storage].leads_back = true;
    tape->values.at[value].strides = layout;
    tape->values.at[value].still = op->still;
    tape->values.at[value].view = is_view(tape, facts, op, in);
    if (op->view_of_one && facts->result == RESULT_NEW)
      tape->storages.at[storage].view_of = tape->values.at[in[0]].storage + 1;
  }
  if (tape->lowers)
    tape_lower(tape, op, in, first, facts->out_count);
}

/* Records the parameters that are trained, or those that are not.
 * Returns their number. */
static int add_params(struct tape *tape, const struct operation *op,
                      bool trained) {
  int count = 0;
  for (int i = 0; i < op->param_count; i++) {
    const struct tape_param *param = &tape->node_params[operation_param(op, i)];
    if (param->trained != trained)
      continue;
    for (size_t copy = 0; copy < param->copies; copy++)
      *VEC_PUSH(tape->arena, &tape->params) =
          tape_place(tape, param->index + copy);
    count += (int)param->copies;
  }
  return count;
}

static size_t run_with_all(struct tape *tape, const struct operation *op) {
  struct operation all = *op;
  all.all_params = false;
  all.param_count = tape->node_param_count;
  return tape_run(tape, &all);
}

/* ATen/native/LinearAlgebra.cpp: bmm, where matmul does not merge the axes. */
static bool multiplies_samples(const struct tape *tape,
                               const struct operation *op) {
  return op->cast == CAST_LOW && op->guarded && op->in_count &&
         tape->profile->turned_products && op->rows == ROWS_TURNED;
}

/* True if it depends on constants and parameters only. A plan computes
 * it for each sample. */
static bool is_still(const struct tape *tape, const struct operation *op) {
  bool still = op->still;
  if (tape->lowers || op->still)
    return false;
  for (int i = 0; i < op->in_count; i++) {
    const struct tape_value *in = &tape->values.at[op->in[i]];
    if (!in->still && !tape->storages.at[in->storage].weight)
      return false;
    still = still || in->still;
  }
  return still;
}

static size_t run_once(struct tape *tape, const struct operation *op) {
  struct operation once = *op;
  once.still = once.out.fixed = true;
  once.work.fixed = once.back_work.fixed = true;
  for (int i = 0; i < KEPT_OWN; i++)
    once.kept[i].fixed = true;
  return tape_run(tape, &once);
}

/* A sum is not written over a narrower operand. */
static bool is_wider(const struct tape *tape, const struct operation *op) {
  return (tape->mixed || tape->element) && op->cast == CAST_NONE &&
         width_of(tape, op) != tape_extent(tape, op->in[0])->width;
}

/* The facts that are known before recording. */
static struct op_facts facts_of(const struct tape *tape,
                                const struct operation *op) {
  struct op_facts facts;
  memset(&facts, 0, sizeof facts); /* clears the padding, too: tape_facts() */
#define FACT(type, member) facts.member = op->member;
#include "layers/tape/facts.def"
  if (op->result == RESULT_IN_PLACE &&
      (is_wider(tape, op) || !tape_may_overwrite(tape, op->in[0])))
    facts.result = RESULT_NEW;
  facts.on_view =
      facts.result == RESULT_IN_PLACE && tape->values.at[op->in[0]].view;
  facts.core = tape->core;
  if (multiplies_samples(tape, op)) {
    facts.input_by_sample = op->in_count - op->held > 1 &&
                            tape->values.at[op->in[1]].needs_gradient;
    facts.by_sample = op->in_count - op->held == 1 && op->param_count &&
                      tape_trains(tape, op->first_param);
  }
  facts.matrix_last = op->guarded;
  /* Rows that are no matrix get their bias after the product, others from
   * addmm: ATen/native/Linear.cpp. */
  bool apart =
      op->param_count == 2 && (op->bias_after || (!op->view && !op->plain));
  facts.mm = op->splits && op->guarded && (op->param_count == 1 || apart) &&
             !facts.by_sample && !tape->share;
  facts.quiet = tape->turn && tape->turn->share && tape->turn->share->count > 1;
  return facts;
}

static bool leads_back(const struct tape *tape, const struct operation *op,
                       const size_t *in) {
  bool gradient = tape->training && has_trained_params(tape, op);
  for (int i = 0; i < op->in_count - op->held; i++)
    gradient = gradient || tape->values.at[in[i]].needs_gradient;
  return gradient;
}

/* Records the parameters, and what is kept for backward. */
static void record_training(struct tape *tape, struct recorded *stored,
                            const struct operation *op, const size_t *in,
                            bool gradient) {
  struct op_facts *facts = &stored->facts;
  enum width width = width_of(tape, op);
  facts->param_count = add_params(tape, op, true);
  facts->frozen_count = add_params(tape, op, false);
  facts->drops = !gradient && op->always_makes;
  for (int i = 0; i < KEPT_OWN && (gradient || facts->drops); i++)
    facts->kept[i] = resolve(tape, op->kept[i], width);
  if (!gradient)
    return;
  facts->back_work = resolve(tape, op->back_work, width);
  facts->back_more = resolve(tape, op->back_more, width);
  keep_for_backward(tape, stored, op, in);
  if (keeps_weights(tape, op, in))
    cast_params(tape, op, &facts->kept[KEPT_CASTS]);
}

/* In inference, values that callers merely hold are not inputs. */
static size_t run_without_held(struct tape *tape, const struct operation *op) {
  struct operation alone = *op;
  alone.in_count -= op->held;
  alone.held = 0;
  return tape_run(tape, &alone);
}

/* True for a product with a frozen matrix, which `base` has in blocks. */
static bool is_in_blocks(const struct tape *tape, const struct operation *op) {
  if (!tape->in_blocks || !op->splits || !op->param_count || !op->in_count ||
      op->cast != CAST_LOW)
    return false;
  const struct tape_param *param = &tape->node_params[op->first_param];
  return param->matrix && !param->trained && !param->typed;
}

/*
 * bitsandbytes/nn/modules.py, Linear4bit and Linear8bitLt: the product's type
 * is chosen apart, and `out.to(inp_dtype)` undoes that.
 */
static size_t run_in_blocks(struct tape *tape, const struct operation *op) {
  enum width width = tape_extent(tape, op->in[0])->width;
  struct operation own = *op;
  if (tape->as_read)
    own.cast = CAST_FIRST;
  tape->in_blocks = false;
  size_t out = cast_input(tape, tape_run(tape, &own), width);
  tape->in_blocks = true;
  return out;
}

size_t tape_run(struct tape *tape, const struct operation *op) {
  if (op->all_params)
    return run_with_all(tape, op);
  if (is_in_blocks(tape, op))
    return run_in_blocks(tape, op);
  if (op->held && !tape->training)
    return run_without_held(tape, op);
  if (is_still(tape, op))
    return run_once(tape, op);
  if (tape->turn && tape->turn->experts)
    return experts_run(tape, op);
  size_t few[FEW];
  enum width width = width_of(tape, op);
  struct recorded stored = {.facts = facts_of(tape, op)};
  const size_t *in = cast_inputs(tape, op, width, few);
  bool gradient = leads_back(tape, op, in);
  if (gradient && op->stops) {
    tape->stops = true;
    gradient = false;
  }
  stored.facts.listed = op->listed && in == op->in;
  stored.facts.work = resolve(tape, op->work, width);
  stored.op = (struct tape_op){
      .node = (int32_t)tape->node,
      .first_in = tape_place(tape, stored.facts.listed ? op->first_part
                                                       : tape->ins.count),
      .first_out = tape_place(tape, tape->values.count),
      .first_saved = tape_place(tape, tape->saved.count),
      .first_param = tape_place(tape, tape->params.count),
      .first_storage = tape_place(tape, tape->storages.count)};
  for (int i = 0; !stored.facts.listed && i < op->in_count; i++)
    *VEC_PUSH(tape->arena, &tape->ins) = (uint32_t)in[i]; /* a tape_place() */
  add_outputs(tape, &stored.facts, op, in, gradient);
  if (tape->training)
    record_training(tape, &stored, op, in, gradient);
  stored.op.facts = tape_facts(tape, &stored.facts);
  *VEC_PUSH(tape->arena, &tape->ops) = stored.op;
  return stored.op.first_out;
}

size_t tape_run_on(struct tape *tape, size_t in, struct operation op) {
  op.in = &in;
  op.in_count = 1;
  return tape_run(tape, &op);
}

size_t tape_parameter(struct tape *tape, int index) {
  const struct tape_param *param = &tape->node_params[index];
  int64_t count = size_product(param->count, (int64_t)param->copies);
  size_t value =
      tape_outside(tape, extent_fixed(count, param->width), param->trained);
  struct tape_value *made = &tape->values.at[value];
  made->param = param->trained ? tape_place(tape, param->index + 1) : 0;
  made->param_count = tape_place(tape, param->copies);
  tape->storages.at[made->storage].weight = tape_place(tape, param->index + 1);
  return value;
}

void tape_makes(const struct tape *tape, struct operation *op,
                struct extent extent) {
  if (tape->training) {
    op->kept[0] = extent;
    op->always_makes = true;
  } else if (!tape->lowers) {
    op->work = extent;
  }
}

/* Common kinds of layers */

/* True if the value is contiguous in a plan. */
static bool is_whole(const struct tape *tape, size_t in) {
  struct strides lies = tape_strides(tape, in);
  return strides_are_dense(&lies);
}

/* A contiguous copy in the framework's order of axes;
 * `lies`: a map's layout. */
static size_t copy(struct tape *tape, size_t in, uint32_t lies) {
  return tape_run_on(tape, in,
                     (struct operation){.name = "copy",
                                        .does = LOWERS(COPY, 0),
                                        .out = *tape_extent(tape, in),
                                        .layout = lies,
                                        .gradient = GRADIENT_SHARED});
}

/* `out`: sizes of the result in a plan. */
static size_t reshape(struct tape *tape, const char *name, size_t in,
                      const struct shape *shape, const struct strides *out,
                      bool by_channel) {
  uint32_t layout = LAYOUT_AS_INPUT;
  size_t from = in;
  if (tape->lowers ? !is_whole(tape, in)
                   : !layout_reshape(tape, in, shape, out, &layout)) {
    bool front = layout_of_axes(tape, tape->values.at[in].strides);
    from =
        copy(tape, in,
             front ? layout_of_map(tape, in, shape, LAST_NEVER) : LAYOUT_ROWS);
    layout = LAYOUT_ROWS;
  }
  struct strides seen = *out;
  seen.offset = tape_strides(tape, from).offset;
  size_t value =
      tape_run_on(tape, from,
                  (struct operation){.name = name,
                                     .does = LOWERS(VIEW, .out = &seen),
                                     .out = *tape_extent(tape, in),
                                     .layouts = &layout,
                                     .result = RESULT_VIEW,
                                     .gradient = GRADIENT_SHARED,
                                     .by_channel = by_channel});
  if (from != in) /* _unsafe_view: not a view to autograd */
    tape->values.at[value].view = false;
  return value;
}

size_t tape_view(struct tape *tape, const char *name, size_t in,
                 const struct shape *from, const struct shape *to) {
  struct strides out = strides_of(to);
  return reshape(tape, name, in, from, &out, false);
}

size_t tape_flatten(struct tape *tape, size_t in, const struct shape *from) {
  int64_t values = tape_extent(tape, in)->count;
  struct strides flat = strides_dense(1, &values);
  return reshape(tape, "flatten", in, from, &flat, true);
}

size_t tape_dense(struct tape *tape, size_t in) {
  if (tape->lowers ? is_whole(tape, in) : layout_is_whole(tape, in))
    return in;
  return copy(tape, in, LAYOUT_ROWS);
}

size_t tape_together(struct tape *tape, size_t in, enum row_order rows) {
  if (rows == ROWS_TOGETHER)
    return in;
  return tape_run_on(tape, in,
                     (struct operation){.name = "copy",
                                        .out = *tape_extent(tape, in),
                                        .layout = LAYOUT_ROWS,
                                        .view_of_one = rows != ROWS_APART,
                                        .gradient = GRADIENT_SHARED});
}

size_t tape_rows(struct tape *tape, size_t in, enum row_order *rows) {
  *rows = layout_rows(tape, in);
  bool turned = *rows == ROWS_TURNED && tape->profile->turned_products;
  if (turned)
    return in; /* the kernel reads rows with any strides */
  size_t out = tape_together(tape, in, *rows);
  *rows = ROWS_TOGETHER;
  return out;
}
