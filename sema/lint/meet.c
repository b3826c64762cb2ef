/* Meeting: input sizes at which the inputs of a join have equal sizes. */
#include "sema/lint/meet.h"

#include "sema/lint/rebuild.h"

enum {
  TRIALS = 64,    /* sizes tried per axis */
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

/* The smallest size from one axis's own on, for all axes alike; 0: none. */
static int64_t search(const struct rebuild *rebuild, const struct shape *shape,
                      int axis) {
  struct shape tried = *shape;
  for (int64_t more = 0; more < TRIALS; more++) {
    for (int i = 0; i < shape_spatial(shape); i++)
      tried.dim[i] = shape->dim[axis] + more;
    if (builds(rebuild, &tried))
      return tried.dim[axis];
  }
  return 0;
}

/* Axes rarely interact: each size is found with all axes equal. */
static bool find_shape(const struct rebuild *rebuild, struct shape *shape) {
  struct shape found = *shape;
  for (int i = 0; i < shape_spatial(shape); i++) {
    if (i > 0 && shape->dim[i] == shape->dim[i - 1])
      found.dim[i] = found.dim[i - 1];
    else
      found.dim[i] = search(rebuild, shape, i);
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
      !find_shape(&rebuild, &shape))
    return;
  diag_help(d, "with input %s all sizes meet", shape_text(&shape).text);
}
