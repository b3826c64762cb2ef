/*
 * Source: the encoder that a decoder attends to, or that makes a part of the
 * prompt. The tokens are one input of the net. Values that do not depend on
 * them are an encoder's: it runs once per sequence, and its keys and values are
 * kept.
 */
#include "layers/sequence/attention.h"
#include "memory/serving/serving.h"

enum { MOST_SOURCES = 63 }; /* one bit each */

bool serving_grows(const struct layer *layer) {
  return layer->kind->state || layer_keeps_tokens(layer);
}

/* True for keys and values from a second input (`cross=`), which a layer only
 * attends to. `values=` alone have the tokens of the query. */
static bool only_looks(const struct node *node, int input) {
  return node->kind->cache && input > 0 &&
         (node->kind->trace != attention_trace || attention_keys(node->args));
}

/* Bits of the inputs that are indices, as tokens are. */
static uint64_t indices_of(const struct model *model) {
  uint64_t bits = 0;
  for (size_t i = 0; i < model->predicted_sources; i++)
    if (model->nodes.at[model->sources.at[i]].out->dtype != DTYPE_FLOAT)
      bits |= (uint64_t)1 << i;
  return bits;
}

/* True for what a concatenation puts beside the tokens' rows, as those of a
 * picture: they are part of the prompt, and made once. */
static bool is_beside(const struct model *model, const struct node *node,
                      int input, const uint64_t *from, uint64_t indices) {
  const struct shape *in = model->nodes.at[node_input(model, node, input)].out;
  bool longer = node->kind->join && in->rank == 2 && node->out->rank == 2 &&
                node->out->dim[0] > in->dim[0] && in->dim[0] > 1;
  uint64_t tokens = 0;
  for (int k = 0; longer && k < node->input_count; k++)
    tokens |= from[node_input(model, node, k)] & indices;
  return tokens && !(from[node_input(model, node, input)] & indices);
}

/* Inputs of a net as bits: sources of growing layers, and attended ones. */
struct ends {
  uint64_t grow, seen;
};

static struct ends find_ends(const struct model *model, uint64_t *from) {
  const struct shape **in = model_layer_room(model);
  struct ends ends = {0, 0};
  uint64_t indices = indices_of(model);
  for (size_t i = 0; i < model->predicted_sources; i++)
    from[model->sources.at[i]] = (uint64_t)1 << i;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++) {
      uint64_t comes = from[node_input(model, node, k)];
      if (only_looks(node, k) || is_beside(model, node, k, from, indices))
        ends.seen |= comes;
      else
        from[i] |= comes;
    }
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (!node->train_only && serving_grows(&layer))
      ends.grow |= from[i];
  }
  return ends;
}

int64_t serving_words(const struct model *model) {
  struct arena scratch;
  size_t count = model->predicted_sources;
  if (count > MOST_SOURCES)
    return NO_WORDS;
  arena_open_in(&scratch, model->arena);
  struct ends ends = find_ends(
      model, arena_alloc(&scratch, model->nodes.count + 1, sizeof(uint64_t)));
  arena_close(&scratch);
  if (!ends.grow)
    return NOTHING_GROWS;
  for (size_t i = 0; i < count; i++) {
    uint64_t words = (uint64_t)1 << i;
    int64_t node = model->sources.at[i];
    if (ends.grow == words &&
        (ends.seen | words) == ((uint64_t)1 << count) - 1 &&
        model->nodes.at[node].out->dtype != DTYPE_FLOAT)
      return node;
  }
  return NO_WORDS;
}

int64_t serving_length(const struct model *model) {
  const struct shape **in = model_layer_room(model);
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    int64_t values;
    if (!model->nodes.at[i].train_only && serving_grows(&layer) &&
        shape_count(layer.in[0], &values))
      return values / shape_channels(layer.in[0]);
  }
  return 0;
}

bool *serving_after(const struct model *model, int64_t words,
                    struct arena *arena) {
  bool *after = arena_alloc(arena, model->nodes.count + 1, sizeof *after);
  after[words] = true;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      after[i] = after[i] || after[node_input(model, node, k)];
  }
  return after;
}

bool serving_tower_is_whole(const struct model *model, int64_t degree) {
  const struct shape **in = model_layer_room(model);
  int64_t words = serving_words(model);
  struct arena scratch;
  bool whole = false;
  if (words < 0)
    return false;
  arena_open_in(&scratch, model->arena);
  const bool *after = serving_after(model, words, &scratch);
  for (size_t i = 0; i < model->nodes.count && !whole; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    whole = !after[i] && layer.kind->heads &&
            layer.kind->heads(&layer).queries % degree != 0;
  }
  arena_close(&scratch);
  return whole;
}

bool *serving_values_after(const struct trace *trace, int64_t words,
                           struct arena *arena) {
  const struct tape *tape = &trace->tape;
  bool *after = arena_alloc(arena, tape->values.count + 1, sizeof *after);
  after[trace->value_of[words]] = true;
  for (size_t i = 0; i < tape->ops.count; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    bool reads = false;
    for (int k = 0; k < op->facts->in_count; k++)
      reads = reads || after[tape_input(tape, op, k)];
    for (int k = 0; k < op->facts->out_count && reads; k++)
      after[op->first_out + (size_t)k] = true;
  }
  return after;
}
