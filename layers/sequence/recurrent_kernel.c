/*
 * lstm on a CPU since PyTorch 2.0: a kernel of oneDNN for each direction of a
 * layer (mkldnn_rnn_layer() of aten/src/ATen/native/mkldnn/RNN.cpp). It keeps
 * its input, the first states, its results, and a workspace, whose sections are
 * those of src/cpu/rnn/rnn_utils.hpp in oneDNN 3.7: set_workspace_sizes() and
 * set_offsets().
 */
#include "base/check.h"
#include "layers/sequence/recurrent_steps.h"

/* Sections of the workspace. Offsets of the states of a layer are counted
 * twice. */
enum { SECTIONS_STATES = 5, SECTIONS_CELLS = 2 };

/* Operands: those of PyTorch, the sections, and biases of zeros. */
enum { MOST_OPERANDS = 3 + 2 + SECTIONS_STATES + SECTIONS_CELLS + 2 };

struct kernel_operands {
  size_t in[MOST_OPERANDS];
  int count;
};

/* get_good_ld() of oneDNN's rnn_utils.cpp: 64 bytes of floats, and no multiple
 * of 256 values. */
static int64_t good_row(int64_t values) {
  int64_t row = size_product(ceil_div_i64(values, 16), 16);
  return row % 256 ? row : size_sum(row, 16);
}

static struct extent sectioned(int64_t rows, int64_t row) {
  struct extent extent = extent_sample(size_product(rows, row), WIDTH_F32);
  extent.pages = true;
  return extent;
}

static void add_values(struct recurrent_run *s, struct kernel_operands *to,
                       const char *name, struct extent extent, int count) {
  size_t first = tape_run(
      s->tape, &(struct operation){.name = name, .out = extent, .outs = count});
  for (int i = 0; i < count; i++)
    to->in[to->count++] = first + (size_t)i;
}

/* Made wherever gradients are enabled. */
static void add_workspace(struct recurrent_run *s, struct kernel_operands *to,
                          int64_t features) {
  int64_t units = s->units, twice = size_product(2, size_sum(s->count, 1));
  int64_t wide = features > units ? features : units;
  if (!s->tape->training)
    return;
  add_values(s, to, "workspace",
             sectioned(s->count, good_row(size_product(s->gates, units))), 1);
  add_values(s, to, "workspace", sectioned(s->count, good_row(units)), 1);
  add_values(s, to, "workspace", sectioned(twice, good_row(wide)),
             SECTIONS_STATES);
  add_values(s, to, "workspace", sectioned(twice, units), SECTIONS_CELLS);
}

/* Without biases the kernel gets zeros, of the matrices' sizes. */
static void add_zeros(struct recurrent_run *s, struct kernel_operands *to,
                      int64_t features) {
  int64_t rows = size_product(s->gates, s->units);
  if (recurrent_has_bias(s, false))
    return;
  add_values(s, to, "zeros",
             extent_fixed(size_product(rows, features), WIDTH_NET), 1);
  add_values(s, to, "zeros",
             extent_fixed(size_product(rows, s->units), WIDTH_NET), 1);
}

/* One direction: its results are all states, and the last of both kinds. */
static size_t run_kernel(struct recurrent_run *s, size_t x, int64_t features,
                         size_t last) {
  struct kernel_operands at = {.in = {x, s->hidden, s->cell}, .count = 3};
  struct extent all = s->out;
  all.count = size_product(s->count, all.count);
  int zeros = 2 - recurrent_has_bias(s, false) - recurrent_has_bias(s, true);
  int64_t biases = size_product(zeros * s->gates, s->units);
  const int64_t sizes[] = {tape_extent(s->tape, x)->count, s->state, s->units};
  struct extent unwanted = extent_sample(0, WIDTH_NET); /* their gradients */
  for (int i = 0; i < at.count; i++)
    if (!s->tape->values.at[at.in[i]].needs_gradient)
      unwanted.count = size_sum(unwanted.count, sizes[i]);
  add_zeros(s, &at, features);
  add_workspace(s, &at, features);
  size_t out = tape_run(
      s->tape,
      &(struct operation){.name = "lstm",
                          .in = at.in,
                          .in_count = at.count,
                          .out = s->unit,
                          .outs = 3,
                          .layout = LAYOUT_ROWS,
                          .keeps = KEEPS_ALL | KEEPS_OUT,
                          .back_work = extent_fixed(biases, WIDTH_NET),
                          .back_more = unwanted,
                          .first_param = s->first_param,
                          .param_count = recurrent_param_count(s->recurrent),
                          .gives_frozen = true});
  tape_enlarge(s->tape, out, all.count);
  tape_resize(s->tape, out, all);
  s->last_hidden[last] = out + 1;
  s->last_cell[last] = out + 2;
  return out;
}

size_t recurrent_kernel(struct recurrent_run *s, size_t x, int64_t layer) {
  int64_t ways = recurrent_directions(s->recurrent);
  int64_t features = tape_extent(s->tape, x)->count / s->count;
  size_t way[2];
  for (int64_t i = 0; i < ways; i++) {
    size_t at = (size_t)(layer * ways + i);
    s->first_param = (int)at * recurrent_param_count(s->recurrent);
    way[i] = run_kernel(s, x, features, at);
  }
  if (ways == 1)
    return way[0];
  struct extent both = *tape_extent(s->tape, way[0]);
  both.count = size_product(2, both.count);
  return recurrent_many(s, way, 2, NULL, 0,
                        (struct operation){.name = "concat",
                                           .out = both,
                                           .gradient = GRADIENT_SHARED});
}
