/* add, sub, mul, div, max, min, concat, stack, matmul: combine tensors. */
#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "layers/math.h"
#include "layers/tape/lowering.h"

struct join {
  struct axes axis;
  int transpose, list;
  double number;    /* second operand; NAN: none */
  struct over over; /* max, min over axes: no second operand */
};

#define NUMBER                                                     \
  ARG(REAL, POSITION, "number", join, number, .initial_real = NAN, \
      .doc = "instead of operands: a number to join with the current tensor")

static const struct arg_spec number_specs[] = {NUMBER, SPEC_END};
static const struct arg_spec largest_specs[] = {
    NUMBER, OVER_AXES(join, over), OVER_KEEP(join, over), SPEC_END};

/* Reports that the shapes of operand `i` and of the first do not fit. */
static struct diagnostic *report_mismatch(const struct layer *layer, int i) {
  return layer_fail(layer, SHAPE_MISMATCH, NULL, "cannot %s %s and %s",
                    layer->kind->name, shape_text(layer->in[0]).text,
                    shape_text(layer->in[i]).text);
}

static bool mismatch(const struct layer *layer, int i, const char *what) {
  return diag_help(report_mismatch(layer, i), "%s", what);
}

/* Broadcasting: aligned at the last axis, sizes are equal or one of them is 1.
 * False if they are not. */
static bool broadcast(struct shape *out, const struct shape *in) {
  const struct shape *longer = out->rank >= in->rank ? out : in;
  const struct shape *shorter = longer == out ? in : out;
  struct shape result = *longer;
  int offset = longer->rank - shorter->rank;
  for (int i = 0; i < shorter->rank; i++) {
    int64_t a = longer->dim[offset + i], b = shorter->dim[i];
    if (a != b && a != 1 && b != 1)
      return false;
    result.dim[offset + i] = a == 1 ? b : a;
  }
  result.point = out->point && in->point;
  *out = result;
  return true;
}

/* Rows by which two maps of equal channels differ on every axis; 0 if
 * they do not differ so. */
static int64_t lost_rows(const struct shape *a, const struct shape *b) {
  enum { MOST = 16 }; /* maximum that convolutions without padding lose */
  int64_t lost = a->rank > 2 && a->rank == b->rank ? a->dim[0] - b->dim[0] : 0;
  for (int i = 0; i < a->rank - 1 && lost; i++)
    if (a->dim[i] - b->dim[i] != lost)
      return 0;
  if (!lost || shape_channels(a) != shape_channels(b))
    return 0;
  lost = lost < 0 ? -lost : lost;
  return lost <= MOST ? lost : 0;
}

static const char *elementwise_help(const struct layer *layer, int i) {
  if (lost_rows(layer->in[0], layer->in[i]))
    return "a convolution without `pad` shrinks the map; `pad` keeps its size";
  return layer->in[0]->rank > 2
             ? "each axis must have the same size, or 1; `conv 1x1` changes "
               "the channels, and a stride changes the map"
             : "each axis must have the same size, or 1; `linear` changes "
               "the features";
}

/* The stride from a map to another one's size; 0: none leads there. */
static int64_t stride_to(const struct shape *from, const struct shape *to) {
  int64_t stride = to->dim[0] > 0 ? ceil_div_i64(from->dim[0], to->dim[0]) : 0;
  for (int k = 0; k < shape_spatial(to) && stride > 0; k++)
    if (ceil_div_i64(from->dim[k], stride) != to->dim[k])
      return 0;
  return stride;
}

/*
 * Reports operands of an elementwise join. Offers a projection in place of
 * `{}`, where a block changes the map: `add { conv 64 3x3 /2 pad } { conv 64
 * 1x1 /2 }`.
 */
static bool refuse_operand(const struct layer *layer, int i) {
  const struct shape *to = layer->in[0], *from = layer->in[i];
  const struct layer_site *site = layer->site;
  struct diagnostic *d = report_mismatch(layer, i);
  diag_help(d, "%s", elementwise_help(layer, i));
  if (!diag_is_shown(d) || layer->input_count != 2 || to->rank < 3 ||
      to->rank != from->rank)
    return false;
  struct slice text = sources_slice(site->diags->sources, site->span);
  size_t at = 0;
  while (at < text.length && !slice_begins(slice_from(text, at), "{}"))
    at++;
  int64_t stride = stride_to(from, to);
  if (at == text.length || stride < 1)
    return false;
  struct text block = text_new(site->diags->arena);
  text_printf(&block, "{ conv %" PRId64 " 1x1", shape_channels(to));
  if (stride > 1)
    text_printf(&block, " /%" PRId64, stride);
  text_put(&block, " }");
  uint32_t begin = site->span.begin + (uint32_t)at;
  diag_offer(d, (struct span){begin, begin + 2}, text_slice(&block),
             "give the shortcut the same shape: `%.*s` instead of `{}`",
             SLICE_ARG(block));
  return false;
}

/* Checks that a number or axes take the place of the second operand. */
static bool check_alone(struct layer *layer) {
  const struct join *join = layer->args;
  bool number = !isnan(join->number);
  const char *arg = number ? "number" : join->over.axes.count ? "axis" : NULL;
  if (!arg && !join->over.keep)
    return true; /* one tensor is allowed: a range of labels may have one */
  struct diagnostic *d = NULL;
  if (layer->input_count > 1 || (number && join->over.axes.count)) {
    d = layer_fail(layer, WRONG_COUNT, arg, "%s takes operands%s",
                   layer->kind->name,
                   layer->kind->specs == largest_specs ? ", a number or axes"
                                                       : " or a number");
    diag_help(d, "write them as two layers, one after the other");
  } else if (number && layer->kind->opcode == DOES_DIV && join->number == 0) {
    d = layer_fail(layer, OUT_OF_RANGE, arg,
                   "the operand is 0, and nothing can be divided by 0");
  }
  return d == NULL;
}

static bool elementwise_shape(struct layer *layer) {
  const struct join *join = layer->args;
  if (!check_alone(layer))
    return false;
  if (isnan(join->number) && (join->over.axes.count || join->over.keep))
    return layer->in[0]->point
               ? layer_refuse(layer, WRONG_AXIS, "axis",
                              "a value without axes has no axis to reduce")
               : over_shape(layer, &join->over);
  layer->out = *layer->in[0];
  for (int i = 1; i < layer->input_count; i++)
    if (!broadcast(&layer->out, layer->in[i]))
      return refuse_operand(layer, i);
  return true;
}

static const struct arg_spec concat_specs[] = {
    ARG(AXIS, KEY, "axis", join, axis, .fallback = "c",
        .doc = "axis: c h w d l, or a number from 0"),
    ARG(WORDS, WORD, "list", join, list, .words = "list",
        .doc = "label of a `list` in front; parts of both are joined one by "
               "one"),
    SPEC_END};

static int concat_axis(const struct layer *layer) {
  const struct join *join = layer->args;
  int64_t axis = join->axis.count ? join->axis.at[0] : AXIS_C;
  return axis_index(axis, layer->in[0]);
}

static bool concat_shape(struct layer *layer) {
  int axis = concat_axis(layer);
  layer->out = *layer->in[0];
  if (axis < 0)
    return layer_refuse(layer, WRONG_AXIS, "axis", "%s has no such axis",
                        shape_text(layer->in[0]).text);
  for (int i = 1; i < layer->input_count; i++) {
    struct shape in = *layer->in[i];
    int64_t size = in.dim[axis];
    in.dim[axis] = layer->out.dim[axis];
    if (!shape_equal(&in, &layer->out))
      return mismatch(layer, i,
                      "all axes but the joined one must be equal; `crop`, "
                      "`pad` or a stride makes them so");
    if (!add_i64(layer->out.dim[axis], size, &layer->out.dim[axis]))
      return layer_refuse(layer, TOO_LARGE, NULL, "the axis passes 2^63 - 1");
  }
  return true;
}

static bool stack_shape(struct layer *layer) {
  const struct shape *in = layer->in[0];
  if (in->rank == LIMIT_RANK)
    return layer_refuse(layer, WRONG_RANK, NULL, "a tensor has at most %d axes",
                        LIMIT_RANK);
  for (int i = 1; i < layer->input_count; i++)
    if (!shape_equal(in, layer->in[i]))
      return mismatch(layer, i, "stacked tensors must have the same sizes");
  layer->out = (struct shape){.rank = in->rank + 1, .dtype = in->dtype};
  layer->out.dim[0] = layer->input_count;
  for (int i = 0; i < in->rank; i++)
    layer->out.dim[i + 1] = in->dim[i];
  return true;
}

static const struct arg_spec matmul_specs[] = {
    ARG(WORDS, WORD, "transpose", join, transpose, .words = "transpose",
        .doc = "second operand transposed, ..xMxK"),
    SPEC_END};

/* Sizes of an n x k times k x m product; k2 is the second operand's k. */
struct join_product {
  int64_t n, k, k2, m;
};

static struct join_product product_of(const struct layer *layer) {
  const struct join *join = layer->args;
  const struct shape *a = layer->in[0], *b = layer->in[1];
  struct join_product p = {a->dim[a->rank - 2], a->dim[a->rank - 1],
                           b->dim[b->rank - 2], b->dim[b->rank - 1]};
  if (join->transpose) {
    int64_t rows = p.k2;
    p.k2 = p.m;
    p.m = rows;
  }
  return p;
}

static bool matmul_shape(struct layer *layer) {
  if (layer->input_count != 2)
    return layer_refuse(layer, WRONG_COUNT, NULL,
                        "matmul needs two operands, not %d",
                        layer->input_count);
  const struct shape *a = layer->in[0], *b = layer->in[1];
  if (a->rank < 2 || b->rank < 2)
    return mismatch(layer, 1, "both must have rows and columns: NxK and KxM");
  struct join_product p = product_of(layer);
  if (p.k != p.k2)
    return mismatch(layer, 1,
                    "the first needs as many columns as the second has rows; "
                    "see `transpose`");
  struct shape out = *a, rest = *b;
  out.dim[out.rank - 2] = out.dim[out.rank - 1] = 1;
  rest.dim[rest.rank - 2] = rest.dim[rest.rank - 1] = 1;
  if (!broadcast(&out, &rest))
    return mismatch(layer, 1, "the axes before the last two must agree");
  out.dim[out.rank - 2] = p.n;
  out.dim[out.rank - 1] = p.m;
  layer->out = out;
  return true;
}

static void matmul_macs(const struct layer *layer, struct terms *terms) {
  struct term term = {.count = layer->out.rank + 1, .split = layer->out.rank};
  for (int i = 0; i < layer->out.rank; i++)
    term.factor[i] = layer->out.dim[i];
  term.factor[layer->out.rank] = product_of(layer).k;
  terms_add(terms, term);
}

/* The current tensor with a number, or reduced over axes. */
static size_t alone(const struct layer *layer, struct tape *tape,
                    const size_t *in) {
  const struct join *join = layer->args;
  if (!isnan(join->number))
    return number_trace(layer, tape, in, join->number);
  if (!join->over.axes.count)
    return in[0];
  return over_trace(layer, tape, in, &join->over,
                    layer->kind->opcode == DOES_MAX ? REDUCE_MAX : REDUCE_MIN);
}

/*
 * a / b: b's gradient, -gradient * (a / b / b), is the only one that reads the
 * dividend. It is computed before a's: div_tensor_other_grad of
 * torch/csrc/autograd/FunctionsManual.cpp.
 */
static void divide(const struct tape *tape, struct operation *op) {
  op->keeps = KEEPS_IN(1);
  op->back_work = (struct extent){0};
  if (!tape->values.at[op->in[1]].needs_gradient)
    return;
  int before = tape->values.at[op->in[0]].needs_gradient ? 2 : 3;
  op->keeps |= KEEPS_IN(0);
  op->back_work = op->out;
  op->back_work.count = size_product(before, op->out.count);
}

/* Combines two operands at a time; the smaller one is broadcast. */
static size_t pairwise(const struct layer *layer, struct tape *tape,
                       const size_t *in, struct operation op) {
  size_t pair[2] = {in[0]};
  if (layer->input_count == 1) {
    pair[0] = alone(layer, tape, in);
    tape->values.at[pair[0]].point = layer->out.point;
    return pair[0];
  }
  struct shape made = *layer->in[0];
  struct strides out, lies[2];
  op.does = &(struct lowering){
      .opcode = layer->kind->opcode, .in = lies, .out = &out};
  op.name = layer->kind->name;
  op.in = pair;
  op.in_count = 2;
  op.elementwise = true;
  op.by_channel = true;
  for (int i = 1; i < layer->input_count; i++) {
    pair[1] = in[i];
    broadcast(&made, layer->in[i]); /* the shape rule has checked them */
    op.out = extent_of(&made);
    out = strides_of(&made);
    if (layer->kind->opcode == DOES_DIV)
      divide(tape, &op);
    for (int k = 0; k < 2; k++) {
      lies[k] = tape_strides(tape, pair[k]);
      lies[k] = strides_spread(&lies[k], &out);
    }
    pair[0] = tape_run(tape, &op);
    tape->values.at[pair[0]].point = made.point;
  }
  return pair[0];
}

static bool all_equal(const struct layer *layer) {
  for (int i = 0; i < layer->input_count; i++)
    if (!shape_equal(layer->in[i], &layer->out))
      return false;
  return true;
}

/* `out += x`, as residual networks write it: the results of convolutions are no
 * views. Gradients pass unchanged. */
static size_t add_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  bool view = tape->training && tape->values.at[in[0]].view;
  bool over = all_equal(layer) && !view;
  return pairwise(
      layer, tape, in,
      (struct operation){.result = over ? RESULT_IN_PLACE : RESULT_NEW,
                         .gradient = GRADIENT_SHARED});
}

/* The gradient of the second operand is negated first. */
static size_t sub_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return pairwise(
      layer, tape, in,
      (struct operation){.gradient = GRADIENT_FIRST, .reduces = true});
}

/* The derivative for each operand is the other operand. */
static size_t mul_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return pairwise(layer, tape, in,
                  (struct operation){.keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                     .guarded = true,
                                     .reduces = true});
}

static size_t div_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return pairwise(layer, tape, in, (struct operation){.reduces = true});
}

/*
 * Where both are equal, each gets half of the gradient. Backward needs two
 * masks: `maximum` of tools/autograd/derivatives.yaml.
 */
static size_t max_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  struct extent masks = extent_of(&layer->out);
  masks.count = size_product(2, masks.count);
  masks.width = WIDTH_BOOL;
  return pairwise(layer, tape, in,
                  (struct operation){.keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                     .back_work = extent_of(&layer->out),
                                     .back_more = masks,
                                     .reduces = true});
}

static size_t min_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return max_trace(layer, tape, in);
}

/* Strides of the operands with a new first axis of 1, for a concatenation. */
static struct strides *stacked(const struct layer *layer,
                               const struct tape *tape, const size_t *in) {
  struct strides *lies =
      arena_alloc(tape->arena, (size_t)layer->input_count + 1, sizeof *lies);
  for (int i = 0; i < layer->input_count; i++) {
    struct strides own = tape_strides(tape, in[i]);
    lies[i] = strides_insert(&own, 0, 1, strides_values(&own));
  }
  return lies;
}

/* Order of the rows of a slice of `size` along `axis`. */
static enum row_order rows_along(const struct shape *shape, int axis,
                                 int64_t size) {
  struct strides part = strides_of(shape);
  int64_t values = strides_values(&part);
  part.dim[axis] = size;
  return strides_rows(&part, values);
}

/* Gradients are slices of the output's gradient. */
static size_t stack_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_CONCAT, .out = &out};
  lowering_add(&does, 1); /* axis 0 is the batch */
  if (tape->lowers)
    does.in = stacked(layer, tape, in);
  return tape_run(tape,
                  &(struct operation){.name = layer->kind->name,
                                      .does = &does,
                                      .in = in,
                                      .in_count = layer->input_count,
                                      .out = extent_of(&layer->out),
                                      .layout = LAYOUT_ROWS,
                                      .parts = rows_along(&layer->out, 0, 1),
                                      .gradient = GRADIENT_SHARED});
}

/*
 * `list`: a dense net may keep a list of tensors and concatenate all of them
 * for every layer (torchvision/models/densenet.py). The layer and the next
 * concat read the result; nothing overwrites the tensors of the list.
 */
static size_t concat_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  const struct join *join = layer->args;
  size_t first = tape->parts.count;
  int axis = concat_axis(layer), count = 0;
  int64_t longest = 1;
  for (int i = 0; i < layer->input_count; i++) {
    struct tape_value value = tape->values.at[in[i]];
    longest = max_i64(longest, layer->in[i]->dim[axis]);
    tape->storages.at[value.storage].pending += join->list;
    bool list = join->list && value.part_count && value.shared &&
                value.axis == axis && tape->part_count < LIMIT_PARTS;
    tape->part_count += list ? value.part_count : 1;
    if (list && i == 0 && value.first_part + value.part_count == first) {
      first = value.first_part; /* extend that list with the other operands */
      count = (int)value.part_count;
      continue;
    }
    for (uint32_t k = 0; k < (list ? value.part_count : 1); k++) {
      size_t part = list ? tape->parts.at[value.first_part + k] : in[i];
      *VEC_PUSH(tape->arena, &tape->parts) = part;
      count++;
    }
  }
  struct strides lies = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_CONCAT, .out = &lies};
  lowering_add(&does, axis + 1); /* axis 0 is the batch */
  uint32_t layout =
      layout_of_joined(tape, &tape->parts.at[first], count, &layer->out);
  size_t out = tape_run(
      tape, &(struct operation){.name = "concat",
                                .does = &does,
                                .layout = layout,
                                .in = &tape->parts.at[first],
                                .in_count = count,
                                .listed = true,
                                .first_part = first,
                                .out = extent_of(&layer->out),
                                .parts = rows_along(&layer->out, axis, longest),
                                .gradient = GRADIENT_SHARED});
  if (join->list && tape->profile->concat_anew) {
    tape->values.at[out].first_part = tape_place(tape, first);
    tape->values.at[out].part_count = (uint32_t)count;
    tape->values.at[out].axis = (signed char)axis;
  }
  return out;
}

/*
 * torch.matmul merges the axes before the matrices into one, and copies an
 * operand if it cannot. The matrices may have any strides. A plan makes its own
 * copy.
 */
static size_t matrices(struct tape *tape, size_t in,
                       const struct shape *shape) {
  const struct tape_value *value = &tape->values.at[in];
  if (tape->lowers || value->strides == LAYOUT_APART)
    return tape_dense(tape, in);
  struct strides seen = layout_as_seen(tape, in, shape);
  seen.rank--; /* the axes before a matrix are its rows */
  return tape_together(tape, in,
                       strides_rows(&seen, tape_sample_values(tape, in)));
}

static size_t matmul_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  const struct join *join = layer->args;
  size_t dense[2] = {matrices(tape, in[0], layer->in[0]),
                     matrices(tape, in[1], layer->in[1])};
  struct strides out = strides_of(&layer->out);
  struct strides lies[2] = {tape_strides(tape, dense[0]),
                            tape_strides(tape, dense[1])};
  for (int i = 0; tape->lowers && i < 2; i++) {
    struct strides all = out;
    if (i == 1 && join->transpose)
      lies[i] = strides_move(&lies[i], lies[i].rank - 1, lies[i].rank - 2);
    for (int k = 1; k <= 2; k++)
      all.dim[all.rank - k] = lies[i].dim[lies[i].rank - k];
    lies[i] = strides_spread(&lies[i], &all);
  }
  struct lowering does = {.opcode = DOES_MATMUL, .in = lies, .out = &out};
  return tape_run(tape, &(struct operation){.name = "matmul",
                                            .does = &does,
                                            .in = dense,
                                            .in_count = 2,
                                            .out = extent_of(&layer->out),
                                            .layout = LAYOUT_ROWS,
                                            .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                            .guarded = true,
                                            .cast = CAST_LOW});
}

#define JOIN(id, text, rows, ...)                                    \
  LAYER_KIND(id, "Join", text, LAYER_ARGS(join, rows), .join = true, \
             .trace = id##_trace, __VA_ARGS__)

#define EACH(id, code, text, rows, ...)                           \
  JOIN(id, text, rows, .shape = elementwise_shape, .alone = true, \
       .opcode = DOES_##code, __VA_ARGS__)

EACH(add, ADD, "sum, value by value", number_specs, .sign = "+",
     .overwrites = true);
EACH(sub, SUB, "the first operand minus the others", number_specs, );
EACH(mul, MUL, "product, value by value", number_specs, .sign = "\xC3\x97");
EACH(div, DIV, "the first operand divided by the others", number_specs, );
EACH(max, MAX, "maximum, value by value or over axes", largest_specs, );
EACH(min, MIN, "minimum, value by value or over axes", largest_specs, );
JOIN(concat, "joined along the channels", concat_specs, .shape = concat_shape);
JOIN(stack, "along a new first axis", NULL, .shape = stack_shape);
JOIN(matmul, "matrix product: NxK times KxM", matmul_specs,
     .shape = matmul_shape, .macs = matmul_macs, .opcode = DOES_MATMUL);
