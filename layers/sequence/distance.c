/* distances: table indices by the distance of two positions. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/layer.h"
#include "layers/tape/lowering.h"
#include "runtime/distance.h"

struct distances {
  struct sizes window;
  int64_t buckets, most;
  int causal, buffer;
};

static const struct arg_spec distances_specs[] = {
    ARG(SIZES, POSITION, "window", distances, window, .required = true,
        .min = 1, .max = INT32_MAX,
        .doc = "number of positions, or the sizes of a window"),
    ARG(INT, KEY, "buckets", distances, buckets, .min = 2, .max = INT32_MAX,
        .fallback = "none",
        .doc = "number of buckets of distances, coarser the farther (T5)"),
    ARG(INT, KEY, "most", distances, most, .min = 1, .max = INT32_MAX,
        .initial = 128, .fallback = "128",
        .doc =
            "with buckets: distance from which on all share the last bucket"),
    ARG(WORDS, WORD, "causal", distances, causal, .words = "causal",
        .doc = "with buckets: none for later positions"),
    ARG(WORDS, WORD, "buffer", distances, buffer, .words = "buffer",
        .doc = "a buffer of the module, computed once and not saved (Swin)"),
    SPEC_END};

/* With buckets: the number of buckets with a single distance. */
static int64_t exact_ones(const struct distances *distances) {
  return distances->buckets / (distances->causal ? 2 : 4);
}

static bool check_buckets(const struct layer *layer) {
  const struct distances *distances = layer->args;
  const char *words[] = {"most", "causal"};
  bool given[] = {distances->most != 128, distances->causal != 0};
  for (int i = 0; i < 2 && !distances->buckets; i++)
    if (given[i]) {
      struct diagnostic *d = layer_fail(layer, MISSING_ARGUMENT, words[i],
                                        "`%s` needs `buckets=`", words[i]);
      layer_offer_omission(layer, d);
      return diag_help(d, "`buckets=32` is T5's number");
    }
  if (!distances->buckets)
    return true;
  if (distances->window.rank > 1)
    return layer_refuse(layer, WRONG_RANK, "buckets",
                        "buckets need one axis, not a window of %d",
                        distances->window.rank);
  if (exact_ones(distances) < 1 ||
      (!distances->causal && distances->buckets % 2)) {
    struct diagnostic *d = layer_fail(
        layer, OUT_OF_RANGE, "buckets",
        "half of the buckets is for later positions, and %" PRId64 " cannot "
        "be halved",
        distances->buckets);
    layer_offer_value(d, "buckets", max_i64(4, distances->buckets / 2 * 2));
    return diag_help(d, "use an even number from 4 on, such as 32");
  }
  if (distances->most <= exact_ones(distances))
    return layer_refuse(layer, OUT_OF_RANGE, "most",
                        "distances up to %" PRId64
                        " have a bucket each already",
                        exact_ones(distances));
  return true;
}

static bool distances_shape(struct layer *layer) {
  const struct distances *distances = layer->args;
  int64_t both[2] = {1, 1};
  if (!check_buckets(layer))
    return false;
  for (int i = 0; i < distances->window.rank; i++)
    both[0] = size_product(both[0], distances->window.at[i]);
  both[1] = both[0];
  layer->out = shape_of(2, both);
  layer->out.dtype = DTYPE_I64;
  return true;
}

/*
 * Workspace. T5's buckets (_relative_position_bucket of transformers/models/t5)
 * take several tensors of the result's size, and the positions. Inference has
 * those that are operands at once: two inputs of a minimum, its result, the
 * distances, and their signs unless causal.
 */
static int64_t work_of(const struct distances *distances, int64_t all,
                       bool training) {
  int64_t steps = distances->window.at[0];
  if (!distances->buckets)
    return all;
  all = size_product(3 + !distances->causal + training, all);
  return training ? size_sum(all, steps) : all;
}

/* Bytes of the buffer: 64 bits each. */
static int64_t distances_bytes(const void *args, const struct shape *out) {
  const struct distances *distances = args;
  return distances->buffer ? size_product(8, shape_values(out)) : 0;
}

/* Computed in every forward pass, once for all samples, or
 * read from a buffer. */
static size_t distances_trace(const struct layer *layer, struct tape *tape,
                              const size_t *in) {
  const struct distances *distances = layer->args;
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_DISTANCES, .out = &out};
  struct extent all = extent_of(&layer->out), more;
  int axes = distances->window.rank;
  (void)in;
  lowering_add(&does, distances->buckets);
  lowering_add(&does, distances->most);
  lowering_add(&does, distances->causal);
  for (int i = 0; i < DISTANCE_AXES; i++) {
    int axis = i - (DISTANCE_AXES - axes);
    lowering_add(&does, axis < 0 ? 1 : distances->window.at[axis]);
  }
  all.fixed = !tape->lowers;
  if (distances->buffer && !tape->lowers) {
    size_t value = tape_outside(tape, all, false);
    tape->values.at[value].still = true;
    return value;
  }
  more = all;
  more.count = tape->lowers ? 0 : work_of(distances, all.count, tape->training);
  return tape_run(tape, &(struct operation){.name = "distances",
                                            .does = &does,
                                            .out = all,
                                            .work = more,
                                            .still = !tape->lowers});
}

LAYER_KIND(distances, "Sequence",
           "indices into a table by the distance of two positions",
           LAYER_ARGS(distances, distances_specs), .source = true,
           .shape = distances_shape, .trace = distances_trace,
           .index_bytes = distances_bytes, .opcode = DOES_DISTANCES);
