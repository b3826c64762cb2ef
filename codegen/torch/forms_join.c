/* Joins, and arithmetic of one tensor: with a number, over axes. */
#include "codegen/torch/form.h"

/* The present order if all inputs have it, else one order for all. A value
 * without axes has no order. */
static struct torch_seen order_of_all(const struct torch_form *f) {
  int first = 0;
  while (first + 1 < f->layer->input_count && f->layer->in[first]->point)
    first++;
  struct torch_seen seen = f->in[first];
  bool alike = true, ranks = true;
  for (int i = first + 1; i < f->layer->input_count; i++) {
    const struct torch_seen *other = &f->in[i];
    if (f->layer->in[i]->point)
      continue;
    ranks = ranks && f->layer->in[i]->rank == f->layer->in[first]->rank;
    alike = alike && other->order == seen.order &&
            (seen.order != ORDER_FLAT || shape_equal(other->map, seen.map));
  }
  if (ranks && alike && (seen.order != ORDER_FLAT || f->layer->out.rank == 1))
    return seen;
  return ranks && f->layer->out.rank > 2 ? FIRST : LAST;
}

/* An operand with fewer axes gets leading axes of size 1. */
static const struct torch_code *operand(struct torch_form *f, int i,
                                        struct torch_seen seen) {
  int lacks = f->layer->out.rank - f->layer->in[i]->rank;
  struct torch_code *code = ARENA_NEW(f->arena, struct torch_code);
  if (f->layer->in[i]->point) {
    *code = code_new(f->arena);
    code_format(code, "%x", i);
    return code;
  }
  if (lacks == 0)
    return form_on(f, i, seen);
  *code = code_new(f->arena);
  code_format(code, "%c[:", form_on(f, i, seen));
  for (int k = 0; k < lacks; k++)
    code_format(code, ", None");
  code_format(code, "]");
  return code;
}

static struct torch_seen joined(struct torch_seen seen) {
  seen.views = false;
  return seen;
}

static const struct {
  const char *sign;
  const char *function; /* for two tensors, if there is no sign */
  const char *bound;    /* clamp's word for a number */
} joins[] = {
    [WORD_ADD] = {" + ", NULL, NULL},
    [WORD_SUB] = {" - ", NULL, NULL},
    [WORD_MUL] = {" * ", NULL, NULL},
    [WORD_DIV] = {" / ", NULL, NULL},
    [WORD_MAX] = {NULL, "torch.maximum", "min"},
    [WORD_MIN] = {NULL, "torch.minimum", "max"},
};

static bool is_largest(const struct torch_form *f) {
  return f->word == WORD_MAX || f->word == WORD_MIN;
}

/* x + 1, x.clamp(min=0) */
static void put_number(struct torch_form *f) {
  struct slice number = form_decimal(f, form_real(f, "number"));
  CALL(f, "%c", form_on(f, 0, f->in[0]));
  if (joins[f->word].sign)
    CALL(f, "%s%v", joins[f->word].sign, "number", number);
  else
    CALL(f, ".clamp(%s=%v)", joins[f->word].bound, "number", number);
  f->loose = joins[f->word].sign != NULL;
}

/* True if a sum may overwrite the first operand, which is no view here. */
static bool may_add(const struct torch_form *f, struct torch_seen seen) {
  return f->word == WORD_ADD && f->in_place && !f->in[0].views &&
         !f->in[0].one && f->in[0].order == seen.order;
}

/* Pairwise, as `a + b + c` and maximum(maximum(a, b), c). */
static void put_join(struct torch_form *f) {
  const char *sign = joins[f->word].sign;
  struct torch_seen seen = order_of_all(f);
  int count = f->layer->input_count;
  f->out = joined(seen);
  f->loose = sign != NULL;
  f->adds = f->repeats = may_add(f, seen);
  for (int i = 1; !sign && i < count; i++)
    CALL(f, "%s(", joins[f->word].function);
  for (int i = 0; i < count; i++) {
    const char *between = i == 0 ? "" : sign ? sign : ", ";
    CALL(f, "%s%c%s", between, operand(f, i, seen), i > 0 && !sign ? ")" : "");
  }
}

/* Finds the reduced axes in PyTorch's numbers; returns their count. */
static int find_dims(const struct torch_form *f, struct torch_seen seen,
                     int64_t *dims, bool *channels) {
  const struct axes *axes = form_axes(f, "axis");
  const struct shape *in = f->layer->in[0];
  *channels = false;
  for (int i = 0; i < axes->count; i++) {
    int axis = axis_index(axes->at[i], in);
    dims[i] = form_dim(in, axis, seen.order);
    *channels = *channels || axis == in->rank - 1;
  }
  return axes->count;
}

/* x.mean((2, 3)); a maximum over one axis is the first result of max. */
static void put_over(struct torch_form *f) {
  const char *name = f->layer->kind->name;
  const struct shape *in = f->layer->in[0];
  struct torch_seen seen = in->rank > 1 ? f->in[0] : LAST;
  bool keep = form_word(f, "keep"), channels;
  bool largest = is_largest(f);
  int64_t dims[LIMIT_RANK];
  int count = find_dims(f, seen, dims, &channels);
  CALL(f, "%c.%s%s(%S%s)", form_on(f, 0, seen), largest && count > 1 ? "a" : "",
       name, count > 1 ? form_list(f, dims, count) : form_number(f, dims[0]),
       keep ? ", keepdim=True" : "");
  if (largest && count == 1)
    CALL(f, "[0]");
  if (!keep && count == in->rank)
    CALL(f, "[:, None]");
  f->out = keep || (!channels && f->layer->out.rank > 1) ? seen : LAST;
  f->out.views = false;
}

/* Passes on the only tensor of a range of labels. */
static void pass_on(struct torch_form *f) {
  CALL(f, "%x", 0);
  f->out = f->in[0];
}

void form_join(struct torch_form *f) {
  if (form_given(f, "number"))
    put_number(f);
  else if (is_largest(f) && form_given(f, "axis"))
    put_over(f);
  else if (f->layer->input_count == 1)
    pass_on(f);
  else
    put_join(f);
}

void form_over(struct torch_form *f) {
  put_over(f);
}

/* Functions of each value */

void form_pow(struct torch_form *f) {
  CALL(f, "%c ** %v", form_on(f, 0, f->in[0]), "exponent",
       form_decimal(f, form_real(f, "exponent")));
  f->loose = true;
}

/* Repeats an operand without samples for each sample. */
static const struct torch_code *for_each_sample(struct torch_form *f, int i,
                                                struct torch_seen seen) {
  const struct torch_code *in = form_in(f, i, seen);
  struct torch_code *code = ARENA_NEW(f->arena, struct torch_code);
  int other = 0;
  while (other < f->layer->input_count && f->in[other].one)
    other++;
  if (!f->in[i].one || other == f->layer->input_count)
    return in;
  *code = code_new(f->arena);
  code_format(code, "%c.expand(len(%x)", form_on(f, i, seen), other);
  for (int k = 0; k < f->layer->in[i]->rank; k++)
    code_format(code, ", -1");
  code_format(code, ")");
  f->repeats = true;
  return code;
}

static void put_list(struct torch_form *f, const char *function,
                     struct torch_seen seen) {
  CALL(f, "torch.%s([", function);
  for (int i = 0; i < f->layer->input_count; i++)
    CALL(f, i ? ", %c" : "%c", for_each_sample(f, i, seen));
  f->out = joined(seen);
}

/* Writes dense nets' concatenation, which extends a list. */
static void put_growing(struct torch_form *f, struct torch_seen seen,
                        int64_t dim) {
  for (int i = 0; i < f->layer->input_count; i++) {
    bool same = seen.order == f->in[i].order && !f->in[i].one;
    CALL(f, i ? ", " : "[");
    if (same)
      CALL(f, "%e", i);
    else
      CALL(f, "%c", for_each_sample(f, i, seen));
  }
  CALL(f, "]");
  f->out = joined(seen);
  f->joins = (int8_t)dim; /* small: a number of axes */
}

void form_concat(struct torch_form *f) {
  struct torch_seen seen = order_of_all(f);
  const struct axes *given = form_axes(f, "axis");
  const struct shape *in = f->layer->in[0];
  int axis = axis_index(given->count ? given->at[0] : AXIS_C, in);
  if (seen.order == ORDER_FLAT)
    seen = LAST;
  int64_t dim = form_dim(in, axis, seen.order);
  if (form_word(f, "list")) {
    put_growing(f, seen, dim);
    return;
  }
  put_list(f, "cat", seen);
  CALL(f, "], %d)", dim);
}

void form_stack(struct torch_form *f) {
  put_list(f, "stack", LAST);
  CALL(f, "], 1)");
}

/* A product by a table that has no samples, which `@` would copy for each; as
 * add_decomposed_rel_pos() of segment-anything. */
static void put_einsum(struct torch_form *f, bool transposed) {
  int axes = f->layer->out.rank - 2;
  struct text shared = text_new(f->arena);
  for (int i = 0; i < axes; i++)
    text_putc(&shared, (char)('d' + i));
  struct slice by = text_slice(&shared);
  CALL(f, "torch.einsum(\"b%Six,%S%s->b%Siy\", %c, %c[0])", by, by,
       transposed ? "yx" : "xy", by, form_in(f, 0, LAST), form_on(f, 1, LAST));
}

static bool is_by_table(const struct torch_form *f) {
  const struct shape *a = f->layer->in[0], *b = f->layer->in[1];
  bool alike = a->rank == b->rank && a->rank > 2;
  for (int i = 0; alike && i < a->rank - 2; i++)
    alike = a->dim[i] == b->dim[i];
  return alike && f->in[1].table && !f->in[0].one;
}

void form_matmul(struct torch_form *f) {
  bool transposed = form_word(f, "transpose");
  if (is_by_table(f)) {
    put_einsum(f, transposed);
    f->out = joined(LAST);
    return;
  }
  f->out = joined(LAST);
  f->loose = true;
  CALL(f, "%c @ %c%s", operand(f, 0, LAST), operand(f, 1, LAST),
       transposed ? ".transpose(-2, -1)" : "");
}
