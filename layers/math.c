/* mean, sum: reductions over axes; and arithmetic with a number. */
#include "layers/math.h"

#include "layers/tape/lowering.h"

/* Axes */

/* Sets `gone` by axis. False if an axis is missing or given twice. */
static bool find_axes(const struct layer *layer, const struct over *over,
                      bool *gone) {
  for (int i = 0; i < over->axes.count; i++) {
    int axis = axis_index(over->axes.at[i], layer->in[0]);
    if (axis < 0 || gone[axis])
      return false;
    gone[axis] = true;
  }
  return true;
}

bool over_shape(struct layer *layer, const struct over *over) {
  const struct shape *in = layer->in[0];
  bool gone[LIMIT_RANK] = {false};
  struct diagnostic *d;
  if (over->axes.count == 0) {
    d = layer_fail(layer, MISSING_ARGUMENT, NULL, "%s needs its axes",
                   layer->kind->name);
    return diag_help(d, "`%s h w` reduces all positions, `%s c` the channels",
                     layer->kind->name, layer->kind->name);
  }
  if (!find_axes(layer, over, gone)) {
    d = layer_fail(layer, WRONG_AXIS, "axis",
                   "%s does not have all of these axes", shape_text(in).text);
    return diag_help(d,
                     "name each axis once: c, w, h, d, l for a sequence's "
                     "length, or `axis=0` to `axis=%d`",
                     in->rank - 1);
  }
  layer->out = (struct shape){.dtype = in->dtype};
  for (int i = 0; i < in->rank; i++)
    if (!gone[i] || over->keep)
      layer->out.dim[layer->out.rank++] = gone[i] ? 1 : in->dim[i];
  if (layer->out.rank == 0) /* the result has at least one axis */
    layer->out.dim[layer->out.rank++] = 1;
  return true;
}

/* Moves reduced axes to the end. */
static struct strides in_order(const struct layer *layer,
                               const struct strides *from, const bool *gone,
                               struct strides *out) {
  struct strides in = *from;
  int64_t dim[LIMIT_RANK];
  int stay = 0, at = 0;
  for (int last = 0; last < 2; last++)
    for (int i = 0; i < layer->in[0]->rank; i++) {
      if (gone[i] != last)
        continue;
      in.dim[at] = from->dim[i];
      in.stride[at++] = from->stride[i];
      if (!last)
        dim[stay++] = layer->in[0]->dim[i];
    }
  *out = strides_dense(stay, dim);
  return in;
}

/* Order of the rows of a gradient that is expanded over the reduced axes. */
static enum row_order spread_rows(const struct layer *layer, const bool *gone) {
  const struct shape *in = layer->in[0];
  bool spread = false, stays = false;
  for (int i = 0; i < in->rank - 1; i++) {
    spread = spread || (gone[i] && in->dim[i] > 1);
    stays = stays || (!gone[i] && in->dim[i] > 1);
  }
  return !spread ? ROWS_TOGETHER : stays ? ROWS_APART : ROWS_OF_ONE;
}

/*
 * torch.mean, sum and, over several axes, amax, whose backward compares the
 * values again. max over one axis stores indices.
 */
size_t over_trace(const struct layer *layer, struct tape *tape,
                  const size_t *in, const struct over *over,
                  enum reduction reduction) {
  bool gone[LIMIT_RANK] = {false};
  struct strides lies = tape_strides(tape, in[0]), from = lies, to = lies;
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_REDUCE, .in = &from, .out = &to};
  struct operation op = {.does = &does, .map = MAP_AS_IN};
  bool largest = reduction == REDUCE_MAX || reduction == REDUCE_MIN;
  find_axes(layer, over, gone);
  if (!tape->lowers && (over->keep || !gone[layer->in[0]->rank - 1]))
    to = out; /* the result is a map */
  if (tape->lowers)
    from = in_order(layer, &lies, gone, &to);
  lowering_add(&does, (int64_t)reduction);
  if (reduction == REDUCE_MEAN && tape->profile->mean_keeps_input)
    op.keeps = KEEPS_IN(0);
  if (reduction == REDUCE_SUM) {
    op.cast = CAST_OUT;
    op.gradient = GRADIENT_SHARED;
    op.map = MAP_NONE;
    op.gradient_rows = tape->lowers ? ROWS_TOGETHER : spread_rows(layer, gone);
  }
  if (largest && over->axes.count > 1) {
    op.keeps = KEEPS_IN(0) | KEEPS_OUT;     /* backward compares them */
    op.back_work = extent_of(layer->in[0]); /* mask of equal values */
    op.back_work.width = WIDTH_BOOL;
    op.back_more = extent_of(&layer->out); /* their number, and quotients */
    op.back_more.count = size_product(3, op.back_more.count);
    op.back_more.width = WIDTH_I32;
  } else if (largest && tape->profile->pool_indices) {
    struct extent places = extent_of(&layer->out);
    places.width = WIDTH_INDEX;
    *(tape->training ? &op.kept[0] : &op.work) = places;
    op.always_makes = true;
    bool front = layout_of_axes(tape, tape->values.at[in[0]].strides);
    op.map = front ? MAP_FIRST : MAP_NONE; /* values among zeros */
    if (!tape->lowers && !over->keep && gone[layer->in[0]->rank - 1])
      op.layout = LAYOUT_ROWS;
  }
  size_t value = layer_run(layer, tape, in[0], op);
  tape_see(tape, value, &out);
  return value;
}

struct mean {
  struct over over;
};

static const struct arg_spec mean_specs[] = {OVER_AXES(mean, over),
                                             OVER_KEEP(mean, over), SPEC_END};

static bool mean_shape(struct layer *layer) {
  return over_shape(layer, &((const struct mean *)layer->args)->over);
}

static size_t mean_trace(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  const struct mean *mean = layer->args;
  return over_trace(layer, tape, in, &mean->over, REDUCE_MEAN);
}

static size_t sum_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  const struct mean *mean = layer->args;
  return over_trace(layer, tape, in, &mean->over, REDUCE_SUM);
}

#define OVER(id, text)                                          \
  LAYER_KIND(id, "Pooling", text, LAYER_ARGS(mean, mean_specs), \
             .shape = mean_shape, .trace = id##_trace)

OVER(mean, "the mean over axes, which are removed");
OVER(sum, "the sum over axes, which are removed");

/* With a number */

/* Backward selects the gradient or the number 0 by a mask. */
static void choose(const struct layer *layer, struct operation *op) {
  op->keeps = KEEPS_IN(0);
  op->back_work = extent_of(&layer->out);
  op->back_work.width = WIDTH_BOOL;
  op->back_more = extent_fixed(1, WIDTH_NET);
}

/* torch.mul, add, sub, div and clamp with a Python number. */
size_t number_trace(const struct layer *layer, struct tape *tape,
                    const size_t *in, double number) {
  struct lowering does = {.opcode = DOES_SHIFT, .real = {number}};
  struct operation op = {.does = &does};
  switch (layer->kind->opcode) {
  case DOES_ADD: op.gradient = GRADIENT_SHARED; break;
  case DOES_SUB:
    does.real[0] = -number;
    op.gradient = GRADIENT_SHARED;
    break;
  case DOES_MAX:
    does.opcode = DOES_ATLEAST;
    choose(layer, &op);
    break;
  case DOES_MIN:
    does.opcode = DOES_ATMOST;
    choose(layer, &op);
    break;
  default: /* mul, div */
    does.opcode = DOES_SCALE;
    if (layer->kind->opcode == DOES_DIV)
      does.real[0] = 1 / number;
    op.kept[0] = tape_number(tape);
  }
  struct strides out = strides_of(&layer->out);
  does.out = &out;
  op.elementwise = true;
  op.by_channel = true;
  return layer_run(layer, tape, in[0], op);
}
