/* embed, posembed, token: the first layers of a sequence model. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/layer.h"
#include "layers/tape/lowering.h"

/* Spread of learned positions and tokens, small beside inputs of about 1. */
#define SMALL 0.1

struct embed {
  int64_t entries, features;
};

static const struct arg_spec embed_specs[] = {
    ARG(INT, POSITION, "entries", embed, entries, .required = true, .min = 1,
        .doc = "size of the vocabulary"),
    ARG(INT, POSITION, "features", embed, features, .required = true, .min = 1,
        .doc = "features of each vector"),
    SPEC_END};

static bool embed_shape(struct layer *layer) {
  const struct embed *embed = layer->args;
  const struct shape *in = layer->in[0];
  if (in->rank == LIMIT_RANK)
    return layer_refuse(layer, WRONG_RANK, NULL, "a tensor has at most %d axes",
                        LIMIT_RANK);
  layer->out = shape_of(in->rank, in->dim);
  layer->out.dim[layer->out.rank++] = embed->features;
  return true;
}

static void embed_params(const struct layer *layer, struct params *params) {
  const struct embed *embed = layer->args;
  params_add(params, (struct param){.name = "weight",
                                    .rank = 2,
                                    .dim = {embed->entries, embed->features},
                                    .spread = spread_linear(embed->features)});
}

/* torch.nn.Embedding: the gradient is a dense table. */
static size_t embed_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  struct strides out = strides_of(&layer->out);
  return layer_run(layer, tape, in[0],
                   (struct operation){.name = "embed",
                                      .does = LOWERS(EMBED, .out = &out),
                                      .keeps = KEEPS_IN(0),
                                      .layout = LAYOUT_ROWS,
                                      .all_params = true,
                                      .splits = true});
}

LAYER_KIND(embed, "Sequence",
           "a learned vector for each index: a row of a table",
           LAYER_ARGS(embed, embed_specs), .input = INPUT_INDEX,
           .shape = embed_shape, .params = embed_params, .trace = embed_trace);

enum { ROW_OF_POSITION = -1 };

struct posembed {
  int64_t longest; /* 0: the length of the input */
  int64_t at;      /* row of all positions, or ROW_OF_POSITION */
  int fixed;
};

static const struct arg_spec posembed_specs[] = {
    ARG(INT, POSITION, "longest", posembed, longest, .min = 1,
        .fallback = "the input's", .doc = "number of positions in the table"),
    ARG(WORDS, WORD, "fixed", posembed, fixed, .words = "fixed",
        .doc = "fixed sines and cosines, which are not learned"),
    ARG(INT, KEY, "at", posembed, at, .min = 0, .max = INT32_MAX,
        .initial = ROW_OF_POSITION, .fallback = "its own",
        .doc = "row that every position gets; BERT's first segment is 0"),
    SPEC_END};

/* Rows of the table. */
static int64_t table_rows(const struct layer *layer) {
  const struct posembed *posembed = layer->args;
  if (posembed->longest)
    return posembed->longest;
  return posembed->at == ROW_OF_POSITION ? shape_rows(layer->in[0])
                                         : posembed->at + 1;
}

static bool posembed_shape(struct layer *layer) {
  const struct posembed *posembed = layer->args;
  const struct shape *in = layer->in[0];
  if (in->rank < 2) {
    struct diagnostic *d = layer_fail(layer, WRONG_RANK, NULL,
                                      "posembed needs a sequence (LxC), not %s",
                                      shape_text(in).text);
    return diag_help(d,
                     "a vector has no positions; `reshape` makes a sequence");
  }
  if (posembed->at >= table_rows(layer))
    return layer_refuse(layer, OUT_OF_RANGE, "at",
                        "row %" PRId64
                        ", counted from 0, is not in a table of %" PRId64,
                        posembed->at, posembed->longest);
  if (posembed->at == ROW_OF_POSITION && posembed->longest &&
      shape_rows(in) > posembed->longest) {
    struct diagnostic *d = layer_fail(layer, OUT_OF_RANGE, "longest",
                                      "a table of %" PRId64 " positions is "
                                      "too short for a sequence of %" PRId64,
                                      posembed->longest, shape_rows(in));
    layer_offer_value(d, "longest", shape_rows(in));
    return diag_help(d, "give at least %" PRId64 ", or a shorter input",
                     shape_rows(in));
  }
  return layer_same_shape(layer);
}

static void posembed_params(const struct layer *layer, struct params *params) {
  const struct posembed *posembed = layer->args;
  const struct shape *in = layer->in[0];
  int64_t rows = table_rows(layer);
  params_add(params, (struct param){.name = "weight",
                                    .rank = 2,
                                    .dim = {rows, shape_channels(in)},
                                    .buffer = posembed->fixed,
                                    .spread = SMALL,
                                    .sines = posembed->fixed});
}

/* The table's gradient is the sum over the batch. A row for all
 * positions is looked up. */
static size_t posembed_trace(const struct layer *layer, struct tape *tape,
                             const size_t *in) {
  const struct posembed *posembed = layer->args;
  bool one = posembed->at != ROW_OF_POSITION;
  int64_t values = shape_values(layer->in[0]);
  size_t pair[2] = {in[0]};
  struct strides lies[2] = {tape_strides(tape, in[0])};
  struct lowering does = {.opcode = DOES_ADD, .in = lies};
  if (tape->lowers) { /* first rows of the table, for every sample */
    pair[1] = tape_parameter(tape, 0);
    lies[1] = strides_dense(lies[0].rank, lies[0].dim);
    for (int i = 0; one && i < lies[1].rank - 1; i++)
      lies[1].stride[i] = 0;
    if (one)
      lies[1].offset = posembed->at * shape_channels(layer->in[0]);
  }
  return tape_run(
      tape,
      &(struct operation){
          .name = "posembed",
          .does = &does,
          .in = pair,
          .in_count = tape->lowers ? 2 : 1,
          .out = extent_of(&layer->out),
          .gradient = GRADIENT_SHARED,
          .all_params = !tape->lowers,
          .elementwise = true,
          .work = extent_sample(one && !tape->lowers ? values : 0, WIDTH_NET),
          .back_work =
              extent_fixed(posembed->longest && !one ? values : 0, WIDTH_NET)});
}

LAYER_KIND(posembed, "Sequence", "adds a learned vector for each position",
           LAYER_ARGS(posembed, posembed_specs), .shape = posembed_shape,
           .params = posembed_params, .trace = posembed_trace);

struct token_args {
  int64_t count;
};

static const struct arg_spec token_specs[] = {
    ARG(INT, POSITION, "count", token_args, count, .min = 1, .initial = 1,
        .fallback = "1", .doc = "number of tokens that are prepended"),
    SPEC_END};

static bool token_shape(struct layer *layer) {
  const struct token_args *token = layer->args;
  layer->out = *layer->in[0];
  if (!layer_check_sequence(layer))
    return false;
  if (add_i64(layer->out.dim[0], token->count, &layer->out.dim[0]))
    return true;
  return layer_refuse(layer, TOO_LARGE, "count",
                      "the length of the sequence passes 2^63 - 1");
}

static void token_params(const struct layer *layer, struct params *params) {
  const struct token_args *token = layer->args;
  params_add(params,
             (struct param){.name = "weight",
                            .rank = 2,
                            .dim = {token->count, shape_channels(layer->in[0])},
                            .spread = SMALL});
}

static size_t token_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  const struct token_args *token = layer->args;
  struct strides out = strides_of(&layer->out);
  int64_t sizes[2] = {token->count, shape_channels(&layer->out)};
  struct strides lies[2] = {strides_dense(2, sizes), tape_strides(tape, in[0])};
  struct lowering does = {.opcode = DOES_CONCAT, .in = lies, .out = &out};
  size_t pair[2];
  lowering_add(&does, 1); /* axis 0 is the batch */
  if (tape->lowers) {
    pair[0] = tape_parameter(tape, 0);
    pair[1] = in[0];
    in = pair;
  }
  return tape_run(tape, &(struct operation){.name = "token",
                                            .does = &does,
                                            .in = in,
                                            .in_count = tape->lowers ? 2 : 1,
                                            .out = extent_of(&layer->out),
                                            .layout = LAYOUT_ROWS,
                                            .gradient = GRADIENT_SHARED,
                                            .parts = ROWS_OF_ONE,
                                            .all_params = !tape->lowers});
}

LAYER_KIND(token, "Sequence", "prepends learned tokens to a sequence",
           LAYER_ARGS(token_args, token_specs), .shape = token_shape,
           .params = token_params, .trace = token_trace);
