/* Meeting: input sizes at which the inputs of a join have equal sizes. */
#include "sema/lint/meet.h"

#include "base/check.h"
#include "sema/lint/rebuild.h"

enum {
  TRIALS = 64,    /* sizes tried per axis */
  MULTIPLES = 3,  /* multiples of the net's stride, tried before these */
  NODES = 200000, /* built in all trials */
};

static bool builds(const struct rebuild *rebuild, const struct shape *shape) {
  struct arena scratch;
  struct model model;
  if (*rebuild->left <= 0)
    return false;
  arena_open_in(&scratch, rebuild->expansion->arena);
  bool built = rebuild_net(rebuild, shape, &scratch, &model);
  arena_close(&scratch);
  return built;
}

static int64_t nearest(int64_t a, int64_t b) {
  return (a + b / 2) / b;
}

/*
 * How many rows of the input one row of the smallest map stands for: the
 * product of the strides on the way there, as 32 in YOLO. Maps that are
 * enlarged again have less; a map of one row may have any.
 */
static int64_t total_stride(const struct model *model) {
  int64_t *strides =
      arena_alloc(model->arena, model->nodes.count + 1, sizeof *strides);
  int64_t most = 1;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *n = &model->nodes.at[i];
    strides[i] = 1;
    if (!n->input_count)
      continue;
    int64_t from = node_input(model, n, 0);
    const struct shape *in = model->nodes.at[from].out;
    strides[i] = strides[from];
    if (in->rank != n->out->rank || n->out->rank < 2 || n->out->dim[0] < 2)
      continue;
    int64_t rows = n->out->dim[0];
    if (rows > in->dim[0])
      strides[i] = max_i64(1, strides[from] / nearest(rows, in->dim[0]));
    else if (!mul_i64(strides[from], nearest(in->dim[0], rows), &strides[i]))
      strides[i] = strides[from];
    most = max_i64(most, strides[i]);
  }
  return most;
}

static bool builds_with(const struct rebuild *rebuild,
                        const struct shape *shape, int64_t size) {
  struct shape tried = *shape;
  for (int i = 0; i < shape_spatial(shape); i++)
    tried.dim[i] = size;
  return builds(rebuild, &tried);
}

/*
 * A size from one axis's own on, for all axes alike: a multiple of the total
 * stride, or the smallest; 0: none.
 */
static int64_t search(const struct rebuild *rebuild, const struct shape *shape,
                      int axis, int64_t stride) {
  int64_t size = shape->dim[axis];
  int64_t whole = ceil_div_i64(size, stride) * stride;
  for (int64_t i = 0; i < MULTIPLES && stride > 1; i++)
    if (builds_with(rebuild, shape, whole + i * stride))
      return whole + i * stride;
  for (int64_t more = 0; more < TRIALS; more++)
    if (builds_with(rebuild, shape, size + more))
      return size + more;
  return 0;
}

/* Axes rarely interact: each size is found with all axes equal. */
static bool find_shape(const struct rebuild *rebuild, struct shape *shape,
                       int64_t stride) {
  struct shape found = *shape;
  for (int i = 0; i < shape_spatial(shape); i++) {
    if (i > 0 && shape->dim[i] == shape->dim[i - 1])
      found.dim[i] = found.dim[i - 1];
    else
      found.dim[i] = search(rebuild, shape, i, stride);
    if (found.dim[i] == 0)
      return false;
  }
  *shape = found;
  return builds(rebuild, shape);
}

/* The first shape mismatch if there are no other errors. */
static struct diagnostic *mismatch_of(const struct diags *diags) {
  struct diagnostic *first = NULL;
  for (size_t i = 0; i < diags->all.count; i++) {
    struct diagnostic *d = diags->all.at[i];
    if (d->severity != SEVERITY_ERROR)
      continue;
    if (d->slug != SHAPE_MISMATCH)
      return NULL;
    first = first ? first : d;
  }
  return first;
}

void meet_help(const struct expansion *expansion, const struct block *program,
               const struct model *model) {
  int64_t left = NODES;
  struct rebuild rebuild = {expansion, program, 0, &left};
  struct diagnostic *d = mismatch_of(expansion->diags);
  if (!d || model->sources.count != 1)
    return;
  struct shape shape = *model->nodes.at[model->sources.at[0]].out;
  if (shape_spatial(&shape) < 1 || shape.dtype != DTYPE_FLOAT ||
      !find_shape(&rebuild, &shape, total_stride(model)))
    return;
  diag_help(d, "with input %s all sizes match", shape_text(&shape).text);
}
