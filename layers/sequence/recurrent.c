/* rnn, lstm, gru: a state that is updated along a sequence. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/tape/lowering.h"
#include "layers/sequence/recurrent.h"

enum {
  BIASES_NONE,
  BIASES_TWO,
  BIASES_ONE,
  /* flags for the runtime, beside the biases */
  LOWERED_RESET_FIRST = 4,
  LOWERED_GIVEN = 8,
  LOWERED_KEEP_CELL = 16
};

static const struct arg_spec recurrent_specs[] = {
    ARG(INT, POSITION, "units", recurrent, units, .required = true, .min = 1,
        .grows = true, .doc = "features of the state"),
    ARG(INT, KEY, "layers", recurrent, layers, .min = 1, .max = 10000,
        .initial = 1, .fallback = "1", .doc = "layers on top of each other"),
    ARG(WORDS, WORD, "bidir", recurrent, bidir, .words = "bidir",
        .doc = "bidirectional: 2N features"),
    ARG(WORDS, WORD, "batch_first", recurrent, batch_first,
        .words = "batch_first",
        .doc = "samples before steps in memory, as PyTorch's "
               "batch_first=True; else steps come first"),
    ARG(WORDS, WORD, "last", recurrent, last, .words = "last",
        .doc = "return only the last state: a vector"),
    ARG(REAL, KEY, "dropout", recurrent, dropout, .low = 0, .high = 1,
        .fallback = "0", .doc = "fraction that is dropped between layers"),
    ARG(WORDS, WORD, "nobias", recurrent, nobias, .words = "nobias",
        .doc = "without the biases of the gates"),
    ARG(CHOICE, KEY, "bias", recurrent, biases, .words = "two one",
        .initial = BIASES_TWO, .fallback = "two",
        .doc = "biases of each gate: PyTorch has two, Keras and Caffe one"),
    ARG(INT, KEY, "proj", recurrent, proj, .min = 1, .fallback = "none",
        .doc =
            "features that an lstm's state is projected to (arXiv 1402.1128)"),
    ARG(CHOICE, KEY, "norm", recurrent, norm, .words = "bn", .fallback = "none",
        .doc = "batch norm of both products in every step, which contains the "
               "biases: Darknet's batch_normalize=1, arXiv 1603.09025"),
    ARG(CHOICE, KEY, "reset", recurrent, reset_first, .words = "after before",
        .fallback = "after",
        .doc = "order of a gru's reset gate: after the state's product, as in "
               "PyTorch, or before it, as in arXiv 1406.1078"),
    ARG(INPUT, KEY, "state", recurrent, state, .fallback = "zeros",
        .doc = "label of the state before the first step: N features"),
    ARG(INPUT, KEY, "cell", recurrent, cell, .fallback = "zeros",
        .doc = "label of an lstm's cell before the first step, beside "
               "`state=`: N features"),
    ARG(WORDS, WORD, "keepcell", recurrent, keep_cell, .words = "keepcell",
        .doc = "an lstm's cell after the last step, as one more row after the "
               "states"),
    SPEC_END};

/* Biases of each gate of a direction. */
static int biases_of(const struct recurrent *recurrent) {
  return recurrent->nobias || recurrent->norm ? BIASES_NONE : recurrent->biases;
}

enum { NORM_PARAMS = 8 }; /* scale, shift, mean, variance of two products */

int recurrent_param_count(const struct recurrent *recurrent) {
  static const int biases[] = {
      [BIASES_NONE] = 0, [BIASES_TWO] = 2, [BIASES_ONE] = 1};
  return 2 + biases[biases_of(recurrent)] +
         (recurrent->norm ? NORM_PARAMS : 0) + (recurrent->proj > 0);
}

int64_t recurrent_state(const struct recurrent *recurrent) {
  return recurrent->proj ? recurrent->proj : recurrent->units;
}

int64_t recurrent_directions(const struct recurrent *recurrent) {
  return recurrent->bidir ? 2 : 1;
}

static int64_t directions(const struct layer *layer) {
  return recurrent_directions(layer->args);
}

/* Input features of a layer of the stack. */
static int64_t features(const struct layer *layer, int64_t depth) {
  const struct recurrent *recurrent = layer->args;
  int64_t width;
  if (depth == 0)
    return shape_channels(layer->in[0]);
  return mul_i64(recurrent_state(recurrent), directions(layer), &width)
             ? width
             : INT64_MAX;
}

/* Refuses two arguments for the same setting. */
static bool check_biases(const struct layer *layer) {
  const struct recurrent *recurrent = layer->args;
  bool chosen = recurrent->biases != BIASES_TWO;
  if (recurrent->norm && (chosen || recurrent->nobias))
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT,
                                chosen ? "bias" : "nobias",
                                "`norm=bn` gives the gates their biases");
  if (recurrent->nobias && chosen)
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT, "bias",
                                "`nobias` removes the biases of all gates");
  return true;
}

/* Fails unless a given state has the units as its only values. */
static bool check_given(const struct layer *layer, int input,
                        const char *name) {
  const struct recurrent *recurrent = layer->args;
  const struct shape *given = layer->in[input];
  if (given->dtype == DTYPE_FLOAT &&
      shape_channels(given) == recurrent->units &&
      shape_values(given) == recurrent->units)
    return true;
  return layer_refuse(layer, SHAPE_MISMATCH, name,
                      "the state has %" PRId64 " features, not %s",
                      recurrent->units, shape_text(given).text);
}

/* Fails if states that come in or go out are not those of one plain layer. */
static bool check_states(const struct layer *layer) {
  const struct recurrent *recurrent = layer->args;
  bool given = recurrent_is_given(recurrent), cell = recurrent->cell.node >= 0;
  bool lstm = layer->kind->opcode == DOES_LSTM, keeps = recurrent->keep_cell;
  const char *first = given ? "state" : cell ? "cell" : "keepcell";
  if (!given && !cell && !keeps)
    return true;
  if ((cell || keeps) && !lstm)
    return layer_refuse_surplus(layer, OUT_OF_RANGE, cell ? "cell" : "keepcell",
                                "%s has no cell; only lstm has one",
                                layer->kind->name);
  if (given != cell && lstm && !(keeps && !given && !cell)) {
    struct diagnostic *d = layer_fail(layer, MISSING_ARGUMENT, first,
                                      "an lstm has a state and a cell");
    return diag_help(d, "name both: `state=LABEL cell=LABEL`");
  }
  if (recurrent->layers > 1 || recurrent->bidir || recurrent->proj ||
      recurrent->norm) {
    struct diagnostic *d =
        layer_fail(layer, OUT_OF_RANGE, first,
                   "`%s` is for one layer in one direction, without a "
                   "projection or norm",
                   first);
    return diag_help(d, "write a layer for each of the stack");
  }
  if (keeps && recurrent->last)
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT, "last",
                                "`keepcell` gives all states and the cell");
  return !given || (check_given(layer, 1, "state") &&
                    (!lstm || check_given(layer, 2, "cell")));
}

static bool recurrent_shape(struct layer *layer) {
  const struct recurrent *recurrent = layer->args;
  const struct shape *in = layer->in[0];
  if (!layer_check_sequence(layer))
    return false;
  if (!check_biases(layer))
    return false;
  if (recurrent->proj && layer->kind->opcode != DOES_LSTM)
    return layer_refuse_surplus(layer, OUT_OF_RANGE, "proj",
                                "%s has no projection; only lstm has one",
                                layer->kind->name);
  if (recurrent->reset_first && layer->kind->opcode != DOES_GRU)
    return layer_refuse_surplus(layer, OUT_OF_RANGE, "reset",
                                "%s has no reset gate; only gru has one",
                                layer->kind->name);
  if (recurrent->reset_first && recurrent->norm)
    return layer_refuse_surplus(
        layer, DUPLICATE_ARGUMENT, "reset",
        "`norm=bn` normalises the state's product for all gates at once, "
        "as Darknet does");
  if (recurrent->proj >= recurrent->units)
    return layer_refuse(layer, OUT_OF_RANGE, "proj",
                        "a projection of %" PRId64 " features to %" PRId64,
                        recurrent->units, recurrent->proj);
  if (!check_states(layer))
    return false;
  int64_t width = features(layer, 1);
  layer->out =
      recurrent->last ? shape_of(1, &width) : shape_with_channels(in, width);
  layer->out.dim[0] += recurrent->keep_cell; /* at most 2^31 */
  return true;
}

/* weight_ih_l0, weight_ih_l0_reverse, weight_ih_l1 ... */
static const char *name_at(const struct layer *layer, struct params *params,
                           const char *name, int64_t i) {
  struct text text = text_new(params->arena);
  text_printf(&text, "%s_l%" PRId64 "%s", name, i / directions(layer),
              i % directions(layer) ? "_reverse" : "");
  return arena_copy(params->arena, text.at, text.length);
}

/* Norms of both products of a direction: the input's and the state's. */
static void norm_params(const struct layer *layer, struct params *params,
                        int64_t rows, int64_t i) {
  static const char *const products[] = {"bn_ih", "bn_hh"};
  static const struct {
    const char *name;
    double center;
    bool buffer;
  } vectors[] = {{"weight", 1, false},
                 {"bias", 0, false},
                 {"running_mean", 0, true},
                 {"running_var", 1, true}};
  for (int k = 0; k < 2; k++)
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
      struct text text = text_new(params->arena);
      text_printf(&text, "%s.%s", name_at(layer, params, products[k], i),
                  vectors[v].name);
      params_add(params,
                 (struct param){
                     .name = arena_copy(params->arena, text.at, text.length),
                     .rank = 1,
                     .dim = {rows},
                     .buffer = vectors[v].buffer,
                     .center = vectors[v].center});
    }
}

/* PyTorch's parameters: two matrices and their biases for each direction. */
static void recurrent_params(const struct layer *layer, struct params *params,
                             int64_t gates) {
  const struct recurrent *recurrent = layer->args;
  int64_t units = recurrent->units, rows;
  if (!mul_i64(gates, units, &rows))
    rows = INT64_MAX; /* reported as an overflow later */
  for (int64_t i = 0; i < recurrent->layers * directions(layer); i++) {
    const int64_t in[2] = {features(layer, i / directions(layer)),
                           recurrent_state(recurrent)};
    int biases = biases_of(recurrent) == BIASES_TWO
                     ? 2
                     : biases_of(recurrent) == BIASES_ONE;
    static const char *const names[2][2] = {{"weight_ih", "bias_ih"},
                                            {"weight_hh", "bias_hh"}};
    for (int bias = 0; bias < 2; bias++)
      for (int k = 0; k < (bias ? biases : 2); k++)
        params_add(
            params,
            (struct param){.name = name_at(layer, params, names[k][bias], i),
                           .rank = bias ? 1 : 2,
                           .dim = {bias ? rows : in[k], rows},
                           .order = bias ? FILE_SAME : FILE_OUT_FIRST,
                           .spread = spread_bias(units)});
    if (recurrent->norm)
      norm_params(layer, params, rows, i);
    if (recurrent->proj)
      params_add(params,
                 (struct param){.name = name_at(layer, params, "weight_hr", i),
                                .rank = 2,
                                .dim = {units, recurrent->proj},
                                .order = FILE_OUT_FIRST,
                                .spread = spread_bias(units)});
  }
}

static void recurrent_macs(const struct layer *layer, struct terms *terms,
                           int64_t gates) {
  const struct recurrent *recurrent = layer->args;
  int64_t units = recurrent->units, steps = layer->in[0]->dim[0];
  for (int64_t i = 0; i < recurrent->layers * directions(layer); i++) {
    int64_t in = features(layer, i / directions(layer)), row;
    if (!add_i64(in, recurrent_state(recurrent), &row))
      row = INT64_MAX;
    terms_add(terms, (struct term){.factor = {steps, gates, units, row},
                                   .count = 4,
                                   .split = 1});
    if (recurrent->proj)
      terms_add_product(terms, steps, units, recurrent->proj);
  }
}

/*
 * Values that a direction of a layer keeps for all steps. The states before
 * each step are kept only for the gradients of its matrices.
 */
static int64_t kept_values(const struct recurrent *recurrent, int64_t gates,
                           int64_t steps, bool trained) {
  int64_t units = recurrent->units, projected;
  bool normed = recurrent->norm, reset_first = recurrent->reset_first;
  /* Cell by cell: both products (the state's from the second step on if nothing
   * is trained), gates, states; gru: also a term of a sum, and 1 - z. */
  int64_t products = normed ? size_product(2 * steps - !trained, gates) : 0;
  if (gates == 1) /* the states, and the first one */
    return size_product(size_sum(products, steps + trained), units);
  int each = (normed && gates == 3 ? 8 : 6 + trained) - reset_first;
  /* lstm: 4 gates, c before, tanh c, h before. gru: 7 as well, or with reset
   * first 3 gates, 1 - z, h before and its reset part. */
  int64_t kept =
      size_product(size_sum(products, size_product(each, steps)), units);
  /* with a projection also its input; h before is the projected one */
  return add_i64(kept, size_product(steps, recurrent->proj), &projected)
             ? projected
             : INT64_MAX;
}

/* Mean and deviation of every row of both products, by step. */
static struct extent statistics(const struct layer *layer, int64_t gates,
                                bool trained) {
  const struct recurrent *recurrent = layer->args;
  int64_t steps = recurrent->norm ? layer->in[0]->dim[0] : 0;
  int64_t products = steps ? 2 * steps - !trained : 0;
  int64_t rows = size_product(gates, recurrent->units);
  rows = size_product(size_product(2, rows), products);
  return extent_fixed(size_product(directions(layer), rows), WIDTH_F32);
}

size_t recurrent_dropout(const struct recurrent *recurrent, struct tape *tape,
                         size_t in, struct extent extent) {
  if (recurrent->dropout <= 0 || !tape->training)
    return in;
  return tape_run_on(
      tape, in,
      (struct operation){.name = "dropout",
                         .out = extent,
                         .kept = {extent_sample(extent.count, WIDTH_MASK)}});
}

static int64_t lowered_flags(const struct recurrent *recurrent) {
  return biases_of(recurrent) |
         (recurrent->reset_first ? LOWERED_RESET_FIRST : 0) |
         (recurrent_is_given(recurrent) ? LOWERED_GIVEN : 0) |
         (recurrent->keep_cell ? LOWERED_KEEP_CELL : 0);
}

/* The strides of a value whose last axis has all its values. */
static struct strides as_vector(const struct tape *tape, size_t value) {
  struct strides at = tape_strides(tape, value);
  int last = at.rank - 1;
  if (!tape->lowers)
    return at;
  at.dim[0] = at.dim[last];
  at.stride[0] = at.stride[last];
  at.rank = 1;
  return at;
}

/* A row for the cell, after all states. */
static size_t add_cell(const struct layer *layer, struct tape *tape, size_t x) {
  const struct recurrent *recurrent = layer->args;
  if (!recurrent->keep_cell || tape->lowers)
    return x;
  return tape_run_on(tape, x,
                     (struct operation){.name = "concat",
                                        .out = extent_of(&layer->out),
                                        .gradient = GRADIENT_SHARED});
}

/* Each layer as one operation for all steps and directions. */
static size_t whole_layers(const struct layer *layer, struct tape *tape,
                           const size_t *ins, int64_t gates) {
  const struct recurrent *recurrent = layer->args;
  int64_t steps = layer->in[0]->dim[0], units = recurrent->units;
  size_t x = ins[0];
  int64_t ways = directions(layer);
  int params = recurrent_param_count(recurrent);
  int64_t rows = steps + (recurrent->keep_cell && tape->lowers);
  struct extent out =
      extent_sample(size_product(rows, features(layer, 1)), WIDTH_NET);
  const int64_t state[2] = {rows, features(layer, 1)};
  struct strides lies = strides_dense(2, state), from[3];
  bool runs = !recurrent->proj && !recurrent->norm;
  struct lowering does = {.opcode = runs ? layer->kind->opcode : DOES_UNKNOWN,
                          .out = &lies};
  size_t read[3] = {x};
  int count = 1;
  for (; recurrent_is_given(recurrent) && count < layer->input_count; count++) {
    read[count] = ins[count];
    from[count] = as_vector(tape, ins[count]);
    does.in = from;
  }
  lowering_add(&does, ways);
  lowering_add(&does, lowered_flags(recurrent));

  /* Cell by cell, training needs one step; inference has all of them. */
  bool by_cell = recurrent->reset_first && tape->training;
  int64_t at_once = recurrent->norm ? 3 : by_cell ? 1 : steps;
  struct extent all = extent_sample(
      size_product(size_product(at_once, gates), units), WIDTH_NET);
  struct extent work = all;
  if (!tape->lowers && !layout_lies_by_steps(tape, x, recurrent->batch_first))
    work.count = size_sum(work.count, tape_extent(tape, x)->count);
  for (int64_t i = 0; i < recurrent->layers; i++) {
    bool trained = tape_trains(tape, (int)(i * ways) * params);
    int64_t kept =
        size_product(ways, kept_values(recurrent, gates, steps, trained));
    read[0] = x;
    from[0] = tape_strides(tape, x);
    x = tape_run(
        tape, &(struct operation){.name = layer->kind->name,
                                  .in = read,
                                  .in_count = count,
                                  .does = &does,
                                  .out = out,
                                  .keeps = KEEPS_IN(0),
                                  .kept = {extent_sample(kept, WIDTH_NET),
                                           statistics(layer, gates, trained)},
                                  .work = work,
                                  .back_work = work,
                                  .first_param = (int)(i * ways) * params,
                                  .param_count = (int)ways * params,
                                  .guarded = true,
                                  .cast = CAST_LOW});
    work = all;
    if (i + 1 < recurrent->layers)
      x = recurrent_dropout(recurrent, tape, x, out);
  }
  return x;
}

/* A view with samples before steps. */
static size_t by_samples(const struct layer *layer, struct tape *tape,
                         size_t x) {
  const struct recurrent *recurrent = layer->args;
  if (!recurrent->batch_first || tape->lowers || recurrent_has_cells(recurrent))
    return x;
  struct operation op = {.name = "transpose",
                         .out = *tape_extent(tape, x),
                         .result = RESULT_VIEW,
                         .gradient = GRADIENT_SHARED,
                         .gradient_rows = ROWS_OF_ONE};
  op.layout = layout_by_steps(tape, &layer->out, false);
  return tape_run_on(tape, x, op);
}

static size_t recurrent_trace(const struct layer *layer, struct tape *tape,
                              const size_t *in, int64_t gates) {
  const struct recurrent *recurrent = layer->args;
  bool steps = recurrent_has_steps(layer, tape, gates);
  size_t x = steps ? recurrent_steps(layer, tape, in, gates)
                   : whole_layers(layer, tape, in, gates);
  if (recurrent->last && steps && !recurrent_has_cells(recurrent))
    return x;
  if (!recurrent->last && !tape->lowers)
    tape->values.at[x].strides = LAYOUT_ROWS; /* contiguous by step */
  if (!recurrent->last)
    return add_cell(layer, tape, by_samples(layer, tape, x));
  struct strides one = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_LAST, .out = &one};
  lowering_add(&does, directions(layer));
  return layer_run(layer, tape, x,
                   (struct operation){.name = "last", .does = &does});
}

#define RECURRENT(id, code, text, gates)                                      \
  static void id##_params(const struct layer *layer, struct params *params) { \
    recurrent_params(layer, params, gates);                                   \
  }                                                                           \
  static void id##_macs(const struct layer *layer, struct terms *terms) {     \
    recurrent_macs(layer, terms, gates);                                      \
  }                                                                           \
  static size_t id##_trace(const struct layer *layer, struct tape *tape,      \
                           const size_t *in) {                                \
    return recurrent_trace(layer, tape, in, gates);                           \
  }                                                                           \
  LAYER_KIND(id, "Sequence", text, LAYER_ARGS(recurrent, recurrent_specs),    \
             .shape = recurrent_shape, .params = id##_params,                 \
             .macs = id##_macs, .trace = id##_trace, .opcode = DOES_##code)

RECURRENT(rnn, RNN, "a plain recurrent layer: tanh of input and state", 1);
RECURRENT(lstm, LSTM, "long short-term memory: four gates", 4);
RECURRENT(gru, GRU, "gated recurrent unit: three gates", 3);
