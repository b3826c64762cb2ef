/* Bounds of inputs: compiles the net again with the smallest sizes. */
#include "library/bounds.h"

#include "sema/expand.h"
#include "sema/repeat/node_turns.h"

static void report_low(struct load *load, const struct diagnostic *first) {
  struct diagnostic *d =
      diag(&load->diags, OUT_OF_RANGE, load->expansion.bounds,
           "the net does not compile at the lower bound");
  diag_label(d, first->span, "%.*s", SLICE_ARG(first->message));
  diag_help(d, "use a larger lower bound");
}

/* Reports a layer whose weights depend on the size of the input. */
static bool same_weights(struct load *load) {
  const struct model *high = &load->model, *low = &load->low_model;
  size_t param = 0, node = high->nodes.count;
  if (high->total.params == low->total.params &&
      high->params.count == low->params.count)
    return true;
  while (param + 1 < high->params.count && param < low->params.count &&
         high->params.at[param].count == low->params.at[param].count)
    param++;
  while (node-- > 0 && (!high->nodes.at[node].param_count ||
                        high->nodes.at[node].first_param > param))
    continue;
  if (node == SIZE_MAX)
    node = 0;
  struct diagnostic *d = diag(
      &load->diags, OUT_OF_RANGE, load->expansion.bounds,
      "the number of weights depends on this size: %s parameters at the upper "
      "bound, %s at the lower",
      count_text(high->total.params).text, count_text(low->total.params).text);
  diag_label(d, high->nodes.at[node].span, "this layer has them");
  diag_help(d, "`rope`, `posembed fixed` and `gap` before `fc` have no such "
               "weights; or give one size without bounds");
  return false;
}

static bool grows(struct load *load) {
  const struct memory *high = &load->compiled.memory, *low = &load->low.memory;
  if (low->training.peak <= high->training.peak &&
      low->inference.plan.height <= high->inference.plan.height)
    return true;
  struct diagnostic *d =
      diag(&load->diags, OUT_OF_RANGE, load->expansion.bounds,
           "the net takes more memory at the lower bound than at the upper");
  diag_help(d, "all figures are for the upper bound: give the size that takes "
               "the most memory, without bounds");
  return false;
}

static bool has_bounds(const struct load *load) {
  const struct model *high = &load->model, *low = &load->low_model;
  for (size_t i = 0; i < high->sources.count; i++)
    if (!shape_equal(high->nodes.at[high->sources.at[i]].out,
                     low->nodes.at[low->sources.at[i]].out))
      return true;
  return false; /* --input has replaced the bounds */
}

static bool expand_low(struct load *load, struct diags *diags) {
  struct settings settings = load->settings;
  struct expansion low = load->expansion;
  low.diags = diags;
  low.settings = &settings;
  low.low = low.ignore_marks = true;
  low.records = NULL;
  low.inputs =
      arena_room(&load->arena, low.input_count + 1, sizeof *low.inputs);
  for (size_t i = 0; i < low.input_count; i++) {
    low.inputs[i] = load->expansion.inputs[i];
    low.inputs[i].used = false;
  }
  load->low_model.name = load->model.name;
  load->low_model.progress = load->model.progress;
  expand_program(&low, load->compiled.program, &load->low_model);
  return !diags->errors;
}

void bounds_find(struct load *load) {
  struct diags diags;
  if (!load->expansion.bounds.end)
    return;
  diags_open(&diags, &load->arena, &load->sources);
  if (expand_low(load, &diags))
    cost_find(&load->low_model, &load->settings, &diags);
  if (diags.errors) {
    report_low(load, diags.all.at[0]);
    return;
  }
  if (!has_bounds(load) || !same_weights(load) || !load->compiled.model)
    return;
  load->low = load->compiled;
  load->low.model = &load->low_model;
  load->low.memory = (struct memory){0};
  load->low.memory.fit.alone = true; /* answers are for the upper end */
  node_turns_find(&load->low_model);
  if (memory_find(&load->low_model, &load->settings, &diags,
                  &load->low.memory) &&
      grows(load))
    load->compiled.low = &load->low;
}
