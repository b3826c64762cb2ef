/* Remainders: windows whose steps do not tile the map they read. */
#include "sema/remainder.h"

#include "base/check.h"
#include "layers/window.h"

enum {
  TRIALS = 512,                 /* sizes tried in each direction */
  NODES_TRIED = 4 * 1000 * 1000 /* of all trials together */
};

/*
 * What is padded may stay unread, and so may as many values as are skipped
 * between two windows.
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

int remainders_of(const struct model *model, int64_t index,
                  const struct shape **in, struct window *windows,
                  struct remainder *remainders) {
  struct layer layer = model_layer(model, index, in);
  if (!layer.kind->windows)
    return 0;
  int count = layer.kind->windows(&layer, windows);
  for (int i = 0; i < count; i++)
    remainders[i] = remainder_of(&windows[i]);
  return count;
}

struct search {
  const struct expansion *expansion;
  const struct block *program;
  int64_t input;             /* which of the inputs changes */
  const struct shape *shape; /* as it is */
  int64_t nodes;             /* built so far */
  bool together;             /* all axes are equal and change together */
};

/* Marks the nodes that depend on an input. */
static bool *find_dependent(const struct model *model, int64_t input) {
  bool *depends = arena_alloc(model->arena, model->nodes.count + 1, 1);
  depends[model->sources.at[input]] = true;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      depends[i] = depends[i] || depends[node_input(model, node, k)];
  }
  return depends;
}

/* Whether no layer leaves a remainder along `axis`, or along any (-1). */
static bool is_clean(const struct model *model, const struct search *s,
                     int axis) {
  int spatial = shape_spatial(s->shape);
  const bool *depends = find_dependent(model, s->input);
  const struct shape **in = model_layer_room(model);
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct window windows[3];
    struct remainder r[3];
    int count =
        depends[i] ? remainders_of(model, (int64_t)i, in, windows, r) : 0;
    for (int a = 0; a < count; a++) {
      bool matters = axis < 0 || (count == spatial && a == axis);
      if (matters && r[a].unread > 0)
        return false;
    }
  }
  return true;
}

static bool build_and_check(struct search *s, struct arena *arena, int axis,
                            int64_t size) {
  struct expansion trial = *s->expansion;
  struct diags quiet;
  struct settings settings = *s->expansion->settings;
  struct model model = {0};
  diags_open(&quiet, arena, s->expansion->diags->sources);
  quiet.quiet = true;
  trial.arena = arena;
  trial.diags = &quiet;
  trial.settings = &settings;
  trial.ignore_marks = true;
  trial.node_budget = NODES_TRIED - s->nodes;
  trial.override = (struct input_override){true, s->input, *s->shape};
  for (int i = 0; i < shape_spatial(s->shape); i++)
    if (s->together || i == axis)
      trial.override.shape.dim[i] = size;
  expand_program(&trial, s->program, &model);
  s->nodes += (int64_t)model.nodes.count;
  return quiet.errors == 0 && is_clean(&model, s, s->together ? -1 : axis);
}

static bool try_size(struct search *s, int axis, int64_t size) {
  struct arena scratch;
  arena_open_in(&scratch, s->expansion->arena);
  bool clean = build_and_check(s, &scratch, axis, size);
  arena_close(&scratch);
  return clean;
}

/* The nearest clean size in steps of `step`; 0: none was found. */
static int64_t search_axis(struct search *s, int axis, int64_t step) {
  int64_t size = s->shape->dim[axis];
  for (int i = 1; i <= TRIALS; i++) {
    int64_t tried = size + step * i;
    if (tried < 1 || s->nodes >= NODES_TRIED)
      break;
    if (try_size(s, axis, tried))
      return tried;
  }
  return 0;
}

/* Axes that leave no remainder keep their size. */
static bool search_sizes(struct search *s, const struct model *model,
                         int64_t step, struct shape *found) {
  int spatial = shape_spatial(s->shape);
  *found = *s->shape;
  if (s->together) {
    int64_t size = search_axis(s, 0, step);
    for (int i = 0; i < spatial; i++)
      found->dim[i] = size;
    return size > 0;
  }
  for (int i = 0; i < spatial; i++) {
    if (is_clean(model, s, i))
      continue;
    found->dim[i] = search_axis(s, i, step);
    if (found->dim[i] == 0)
      return false;
  }
  return true;
}

struct clean_sizes clean_sizes_find(const struct expansion *expansion,
                                    const struct block *program,
                                    const struct model *model, int64_t input) {
  struct clean_sizes result = {.searched = true};
  struct search s = {.expansion = expansion,
                     .program = program,
                     .input = input,
                     .together = true};
  s.shape = &model->nodes.at[model->sources.at[input]].out;
  int spatial = shape_spatial(s.shape);
  for (int i = 1; i < spatial; i++)
    s.together = s.together && s.shape->dim[i] == s.shape->dim[0];
  if (spatial < 1 || s.shape->dtype != DTYPE_FLOAT ||
      (int64_t)model->nodes.count > NODES_TRIED / 2)
    return result;
  result.has_below = search_sizes(&s, model, -1, &result.below);
  result.has_above = search_sizes(&s, model, 1, &result.above);
  return result;
}
