/* Remainders: windows whose steps do not tile the map they read. */
#include "sema/lint/remainder.h"

#include "base/check.h"
#include "layers/window.h"
#include "sema/lint/rebuild.h"
#include "sema/lint/replay.h"

enum {
  TRIALS = 512, /* sizes tried in each direction */
  REPLAYS = 16, /* replays that cost as much as building the nodes again */
  NODES_ALWAYS = 50000, /* built for small nets */
  NODES_EACH = 8,       /* plus this per node, in all searches of a net */
};

/*
 * Padding may stay unread, and as many values as are skipped between two
 * windows.
 */
static struct remainder remainder_of(const struct window *w) {
  int64_t extent = window_extent(w);
  int64_t read = (w->out - 1) * w->stride + extent;
  int64_t left = w->in + w->before + w->after - read;
  int64_t skipped = max_i64(0, w->stride - extent);
  return (struct remainder){
      .unread = max_i64(0, left - w->after - skipped),
      .skipped = w->out > 1 ? skipped : 0,
  };
}

static int remainders_of_layer(const struct layer *layer,
                               struct window *windows,
                               struct remainder *remainders) {
  if (!layer->kind->windows)
    return 0;
  int count = layer->kind->windows(layer, windows);
  for (int i = 0; i < count; i++)
    remainders[i] = remainder_of(&windows[i]);
  return count;
}

int remainders_of(const struct model *model, int64_t index,
                  const struct shape **in, struct window *windows,
                  struct remainder *remainders) {
  struct layer layer = model_layer(model, index, in);
  return remainders_of_layer(&layer, windows, remainders);
}

struct remainder_search {
  struct rebuild rebuild;    /* with another size of one input */
  const struct shape *shape; /* its current shape */
  bool together;             /* all axes are equal and change together */
  struct replay replay;
};

/* The axis that matters for an input with so many axes; -1: all. */
struct remainder_axis {
  int spatial, axis;
};

/* True if a layer leaves no remainder there. */
static bool is_clean_layer(const void *user, const struct layer *layer) {
  const struct remainder_axis *along = user;
  struct window windows[3];
  struct remainder r[3];
  int count = remainders_of_layer(layer, windows, r);
  for (int a = 0; a < count; a++) {
    bool matters =
        along->axis < 0 || (count == along->spatial && a == along->axis);
    if (matters && r[a].unread > 0)
      return false;
  }
  return true;
}

static bool is_clean(const struct replay *replay,
                     const struct remainder_axis *along) {
  for (size_t i = 0; i < replay->nodes.count; i++) {
    struct layer layer = replay_layer(replay, replay->nodes.at[i]);
    if (!is_clean_layer(along, &layer))
      return false;
  }
  return true;
}

/* Builds the net with another input; true if it has no remainder. */
static bool build_and_check(struct remainder_search *s, struct arena *arena,
                            const struct remainder_axis *along,
                            const struct shape *shape) {
  struct model model;
  struct replay built;
  if (!rebuild_net(&s->rebuild, shape, arena, &model))
    return false;
  replay_open(&built, &model, model.sources.at[s->rebuild.input], arena,
              s->rebuild.expansion->diags->sources);
  return is_clean(&built, along);
}

static bool try_shape(struct remainder_search *s, int axis,
                      const struct shape *shape) {
  struct arena scratch;
  struct remainder_axis along = {shape_spatial(shape), axis};
  *s->rebuild.left -= (int64_t)s->replay.nodes.count / REPLAYS + 1;
  enum replay_result result =
      replay_run(&s->replay, shape, is_clean_layer, &along);
  if (result != REPLAY_UNKNOWN)
    return result == REPLAY_DONE;
  arena_open_in(&scratch, s->replay.arena);
  bool clean = build_and_check(s, &scratch, &along, shape);
  arena_close(&scratch);
  return clean;
}

/* The nearest size without remainder in steps of `step`; 0: none found. */
static int64_t search_axis(struct remainder_search *s, int axis, int64_t step) {
  int64_t size = s->shape->dim[axis], enough = *s->rebuild.left / 2;
  for (int i = 1; i <= TRIALS; i++) {
    struct shape shape = *s->shape;
    int64_t tried = size + step * i;
    if (tried < 1 || *s->rebuild.left <= enough)
      break;
    for (int k = 0; k < shape_spatial(&shape); k++)
      if (s->together || k == axis)
        shape.dim[k] = tried;
    if (try_shape(s, s->together ? -1 : axis, &shape))
      return tried;
  }
  return 0;
}

/* Axes without a remainder keep their size. */
static bool search_sizes(struct remainder_search *s, int64_t step,
                         struct shape *found) {
  int spatial = shape_spatial(s->shape);
  *found = *s->shape;
  if (s->together) {
    int64_t size = search_axis(s, 0, step);
    for (int i = 0; i < spatial; i++)
      found->dim[i] = size;
    return size > 0;
  }
  for (int i = 0; i < spatial; i++) {
    replay_run(&s->replay, s->shape, NULL, NULL);
    if (is_clean(&s->replay, &(struct remainder_axis){spatial, i}))
      continue;
    found->dim[i] = search_axis(s, i, step);
    if (found->dim[i] == 0)
      return false;
  }
  return true;
}

int64_t clean_sizes_effort(const struct model *model) {
  return NODES_ALWAYS + NODES_EACH * (int64_t)model->nodes.count;
}

struct clean_sizes clean_sizes_find(const struct expansion *expansion,
                                    const struct block *program,
                                    const struct model *model, int64_t input,
                                    int64_t *left) {
  struct clean_sizes result = {.searched = true};
  struct arena scratch;
  struct remainder_search s = {.rebuild = {expansion, program, input, left},
                               .together = true};
  s.shape = model->nodes.at[model->sources.at[input]].out;
  int spatial = shape_spatial(s.shape);
  for (int i = 1; i < spatial; i++)
    s.together = s.together && s.shape->dim[i] == s.shape->dim[0];
  *left -= (int64_t)model->nodes.count / REPLAYS;
  if (spatial < 1 || s.shape->dtype != DTYPE_FLOAT || *left <= 0)
    return result;
  arena_open_in(&scratch, expansion->arena);
  replay_open(&s.replay, model, model->sources.at[input], &scratch,
              expansion->diags->sources);
  result.has_below = search_sizes(&s, -1, &result.below);
  result.has_above = search_sizes(&s, 1, &result.above);
  arena_close(&scratch);
  return result;
}
