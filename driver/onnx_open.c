/*
 * Models with an open batch or open sizes: compiles the net with several sizes;
 * export/open.c finds the differences.
 */
#include "driver/onnx_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

enum {
  MOST_AXES = 16,
  UPPER_SAMPLES = 10, /* from the upper half, where no size is small */
  CHANCE_SAMPLES = 8, /* from the whole range */
  MOST_SAMPLES = UPPER_SAMPLES + CHANCE_SAMPLES + 2 * MOST_AXES + 2,
  FEWEST_SAMPLES = 3,
};

/* Batches that are seldom also sizes of a net. */
static const int64_t batches[] = {61, 59, 67, 53, 71, 47,
                                  73, 43, 79, 41, 83, 37};

/* An axis with bounds; equal axes refer to the first of them. */
struct open_axis {
  const char *name;
  size_t input;
  int axis;
  int64_t low, high;
  int64_t step; /* between sizes with which the net compiles */
  size_t first;
  int64_t now; /* in the current sample */
  int64_t *sizes;
};

struct open_input {
  const char *name;
  int rank;
  int64_t dims[LAYOUT_RANK];
  bool bounds;
};

struct opening_call {
  const struct export_request *request;
  struct arena *arena;
  struct text *why;
  int status;
  VEC(struct open_input) inputs;
  struct open_axis axes[MOST_AXES];
  size_t axis_count;
  struct onnx_sample samples[MOST_SAMPLES];
  size_t count;
};

/* Axes */

/* Names that frameworks use. */
static const char *word_of(const struct netc_shape *shape, int axis) {
  static const char *const words[] = {"depth", "height", "width"};
  int axes = shape->rank - (shape->type == NETC_FLOAT);
  if (axis >= axes)
    return "channels";
  return axes == 1 || axes > 3 ? "length" : words[3 - axes + axis];
}

static void find_input(struct opening_call *c, const struct netc_end *end,
                       const struct netc_layer *layer) {
  struct open_input *input = VEC_PUSH(c->arena, &c->inputs);
  input->name = arena_copy(c->arena, end->name, strlen(end->name));
  input->rank = layer->out.rank;
  for (int k = 0; k < layer->out.rank; k++) {
    int64_t high = layer->out.dims[k];
    input->dims[k] = high;
    if (!end->low || end->low[k] == high || c->axis_count == MOST_AXES)
      continue;
    input->bounds = true;
    c->axes[c->axis_count] = (struct open_axis){.name = word_of(&layer->out, k),
                                                .input = c->inputs.count - 1,
                                                .axis = k,
                                                .low = end->low[k],
                                                .high = high,
                                                .first = c->axis_count};
    c->axis_count++;
  }
}

static void find_inputs(struct opening_call *c) {
  struct netc *netc = c->request->netc;
  struct netc_end end = {.size = sizeof end};
  struct netc_layer layer = {.size = sizeof layer};
  for (size_t i = 0; netc_input(netc, i, &end) == NETC_OK &&
                     netc_layer(netc, (size_t)end.layer, &layer) == NETC_OK;
       i++)
    find_input(c, &end, &layer);
}

/* Compiling */

/* "320x64x3": a size for each axis; without sizes, the original bounds. */
static void give_sizes(struct opening_call *c, size_t index, bool sized) {
  const struct open_input *input = &c->inputs.at[index];
  struct text text = text_new(c->arena);
  for (int k = 0; k < input->rank; k++) {
    const struct open_axis *axis = NULL;
    for (size_t i = 0; i < c->axis_count; i++)
      if (c->axes[i].input == index && c->axes[i].axis == k)
        axis = &c->axes[i];
    text_put(&text, k ? "x" : "");
    if (axis && !sized)
      text_printf(&text, "%" PRId64 "..%" PRId64, axis->low, axis->high);
    else
      text_int(&text, axis ? axis->now : input->dims[k]);
  }
  bool alone = c->inputs.count == 1 && !c->request->names_input;
  netc_input_sizes(c->request->netc, alone ? "" : input->name,
                   arena_copy(c->arena, text.at, text.length));
}

static int compile(struct opening_call *c, bool sized, bool quiet) {
  for (size_t i = 0; i < c->inputs.count; i++)
    if (c->inputs.at[i].bounds)
      give_sizes(c, i, sized);
  return c->request->recompile(c->request->user, quiet);
}

static void set_ends(struct opening_call *c, bool low) {
  for (size_t i = 0; i < c->axis_count; i++)
    c->axes[i].now = low ? c->axes[i].low : c->axes[i].high;
}

static void give_batch(struct opening_call *c) {
  char number[32];
  if (!c->request->dynamic)
    return;
  snprintf(number, sizeof number, "%" PRId64,
           batches[c->count % (sizeof batches / sizeof *batches)]);
  netc_set(c->request->netc, "batch", number);
}

/* Adds a sample; false if the net cannot be exported. */
static bool add_sample(struct opening_call *c, bool perhaps) {
  const struct export_request *r = c->request;
  give_batch(c);
  int status = compile(c, true, c->axis_count > 0);
  if (status != EXIT_DONE && !c->axis_count)
    c->status = status;
  if (status != EXIT_DONE)
    return c->axis_count > 0;
  struct text why = text_new(c->arena);
  struct onnx_model *model =
      onnx_build(r->netc, (int)r->opset, c->arena, perhaps ? &why : c->why);
  if (!model)
    return perhaps;
  for (size_t i = 0; i < c->axis_count; i++)
    c->axes[i].sizes[c->count] = c->axes[i].now;
  c->samples[c->count++] = (struct onnx_sample){model, perhaps};
  return true;
}

/* Steps */

static bool is_with(const struct open_axis *a, const struct open_axis *b) {
  return a == b || (a->low == b->low && a->high == b->high);
}

/* True if the net compiles with a smaller axis, alone or together with those of
 * equal bounds. */
static bool compiles(struct opening_call *c, size_t axis, int64_t by,
                     bool alone) {
  set_ends(c, false);
  for (size_t i = 0; i < c->axis_count; i++)
    if (i == axis || (!alone && is_with(&c->axes[i], &c->axes[axis])))
      c->axes[i].now -= by;
  return compile(c, true, true) == EXIT_DONE;
}

static void find_step(struct opening_call *c, size_t axis) {
  struct open_axis *a = &c->axes[axis];
  bool alone = true, found = false;
  a->step = 1;
  while (!found && a->step <= (a->high - a->low) / 2) {
    alone = true;
    found = compiles(c, axis, a->step, true);
    if (!found) {
      alone = false;
      found = compiles(c, axis, a->step, false);
    }
    if (!found)
      a->step *= 2;
  }
  if (!found) { /* only both ends compile */
    a->step = a->high - a->low;
    alone = false;
  }
  for (size_t i = axis; i-- > 0 && !alone;)
    if (is_with(&c->axes[i], a))
      a->first = c->axes[i].first;
}

/* Samples */

/* Steps below the upper end, within the upper half: some near, some far, so
 * that divisors of a size show. False if there are not that many. */
static bool steps_below(const struct open_axis *a, size_t which,
                        int64_t *steps) {
  int64_t n = (a->high - a->low) / a->step;
  const int64_t tries[UPPER_SAMPLES] = {1,     n / 2, 2,     n / 3,     3,
                                        n / 4, 5,     n / 5, 2 * n / 5, 4};
  for (size_t i = 0; i < UPPER_SAMPLES; i++) {
    bool fits = tries[i] >= 1 && tries[i] <= max_i64(n / 2, 1);
    for (size_t k = 0; k < i && fits; k++)
      fits = tries[k] != tries[i];
    if (fits && which-- == 0) {
      *steps = tries[i];
      return true;
    }
  }
  return false;
}

/* Sets sizes of the axes that differ and do not follow from each other. */
static void set_between(struct opening_call *c, size_t sample) {
  for (size_t i = 0; i < c->axis_count; i++) {
    struct open_axis *a = &c->axes[i];
    size_t count = 0;
    int64_t steps = 0;
    if (a->first != i) {
      a->now = c->axes[a->first].now;
      continue;
    }
    while (steps_below(a, count, &steps))
      count++;
    steps_below(a, (sample + 3 * i) % count, &steps);
    a->now = a->high - steps * a->step;
  }
}

/* Sets pseudorandom sizes, equal in each run. */
static void set_by_chance(struct opening_call *c, uint64_t *state) {
  for (size_t i = 0; i < c->axis_count; i++) {
    struct open_axis *a = &c->axes[i];
    int64_t n = (a->high - a->low) / a->step;
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    int64_t steps = (int64_t)((*state >> 33) % (uint64_t)(n + 1));
    a->now = a->first == i ? a->high - steps * a->step : c->axes[a->first].now;
  }
}

/* Varies each axis alone, so that no two have equal sizes in all samples. */
static void add_alone(struct opening_call *c) {
  for (size_t i = 0; i < c->axis_count; i++) {
    for (int low = 0; low < 2 && c->axes[i].first == i; low++) {
      set_ends(c, false);
      for (size_t k = 0; k < c->axis_count; k++)
        if (c->axes[k].first == i)
          c->axes[k].now =
              low ? c->axes[k].low : c->axes[k].high - c->axes[k].step;
      add_sample(c, true);
    }
  }
}

/* Adds both ends; the upper one has the longest constants. */
static const struct onnx_model *add_ends(struct opening_call *c) {
  const struct onnx_model *upper = NULL;
  for (int low = 0; low < 2 && c->axis_count; low++) {
    size_t count = c->count;
    set_ends(c, low);
    add_sample(c, true);
    if (!low && c->count > count)
      upper = c->samples[count].model;
  }
  return upper;
}

/* False if the net cannot be exported. */
static bool add_samples(struct opening_call *c,
                        const struct onnx_model **upper) {
  size_t wanted = c->axis_count ? UPPER_SAMPLES : FEWEST_SAMPLES;
  uint64_t state = 1;
  for (size_t i = 0; i < wanted; i++) {
    set_between(c, i);
    if (!add_sample(c, false))
      return false;
  }
  *upper = add_ends(c);
  add_alone(c);
  for (size_t i = 0; i < CHANCE_SAMPLES && c->axis_count; i++) {
    set_by_chance(c, &state);
    add_sample(c, true);
  }
  return true;
}

/* Names */

/* Names different axes with the same word after their inputs. */
static void name_axes(struct opening_call *c) {
  const char *names[MOST_AXES];
  for (size_t i = 0; i < c->axis_count; i++) {
    const struct open_axis *a = &c->axes[i];
    names[i] = a->name;
    for (size_t k = 0; k < c->axis_count; k++) {
      const struct open_axis *other = &c->axes[k];
      if (other->first == a->first || strcmp(other->name, a->name) != 0)
        continue;
      struct text text = text_new(c->arena);
      text_printf(&text, "%s_%s", c->inputs.at[a->input].name, a->name);
      names[i] = arena_copy(c->arena, text.at, text.length);
    }
  }
  for (size_t i = 0; i < c->axis_count; i++)
    c->axes[i].name = names[c->axes[i].first];
}

static size_t different(const struct opening_call *c) {
  size_t count = 0;
  for (size_t s = 0; s < c->count; s++) {
    bool fresh = true;
    for (size_t k = 0; k < s && fresh; k++) {
      bool same = true;
      for (size_t i = 0; i < c->axis_count && same; i++)
        same = c->axes[i].sizes[k] == c->axes[i].sizes[s];
      fresh = !same;
    }
    count += fresh;
  }
  return count;
}

static bool refuse_few(struct opening_call *c) {
  const struct open_axis *a = &c->axes[0];
  if (!c->axis_count || different(c) >= FEWEST_SAMPLES)
    return false;
  text_printf(c->why,
              "the net compiles at too few sizes between the bounds %" PRId64
              "..%" PRId64 " of `%s` to leave the axis open: give one size, "
              "`--input SIZES`",
              a->low, a->high, c->inputs.at[a->input].name);
  return true;
}

static struct onnx_model *build(struct opening_call *c) {
  struct onnx_axis axes[MOST_AXES];
  const struct onnx_model *upper = NULL;
  for (size_t i = 0; i < c->axis_count; i++)
    find_step(c, i);
  name_axes(c);
  if (!add_samples(c, &upper) || refuse_few(c))
    return NULL;
  for (size_t i = 0; i < c->axis_count; i++)
    axes[i] = (struct onnx_axis){c->axes[i].name, c->axes[i].sizes};
  const struct onnx_opening opening = {
      c->samples, c->count, c->request->dynamic, axes, c->axis_count, upper};
  return onnx_open(&opening, c->why) ? c->samples[0].model : NULL;
}

bool onnx_has_bounds(struct netc *netc) {
  struct netc_end end = {.size = sizeof end};
  for (size_t i = 0; netc_input(netc, i, &end) == NETC_OK; i++)
    if (end.low)
      return true;
  return false;
}

struct onnx_model *onnx_build_open(const struct export_request *request,
                                   struct arena *arena, struct text *why,
                                   int *status) {
  struct opening_call *c = ARENA_NEW(arena, struct opening_call);
  *c = (struct opening_call){
      .request = request, .arena = arena, .why = why, .status = EXIT_DONE};
  find_inputs(c);
  for (size_t i = 0; i < c->axis_count; i++)
    c->axes[i].sizes = arena_alloc(arena, MOST_SAMPLES, sizeof(int64_t));
  struct onnx_model *model = build(c);
  if (c->axis_count && c->status == EXIT_DONE)
    c->status = compile(c, false, false);
  *status = c->status;
  return c->status == EXIT_DONE ? model : NULL;
}
