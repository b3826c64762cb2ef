/* Replay: shapes of a net for another input shape, without expansion. */
#include "sema/lint/replay.h"

#include "sema/statements.h"

static bool shares_params(const struct model *model, const struct node *node) {
  bool shares = node->shares != NO_NODE;
  for (int i = 0; i < node->param_count; i++)
    shares = shares || model->params.at[node->first_param + (size_t)i].shared;
  return shares;
}

static bool reads_any(const struct model *model, const struct node *node,
                      const bool *marked) {
  for (int k = 0; k < node->input_count; k++)
    if (marked[node_input(model, node, k)])
      return true;
  return false;
}

void replay_open(struct replay *replay, const struct model *model,
                 int64_t source, struct arena *arena, struct sources *sources) {
  size_t count = model->nodes.count;
  *replay = (struct replay){
      .model = model,
      .arena = arena,
      .shapes = arena_alloc(arena, count, sizeof *replay->shapes),
      .changed = arena_alloc(arena, count, sizeof *replay->changed),
      .in = arena_alloc(arena, (size_t)model->most_inputs + 1,
                        sizeof *replay->in),
      .in_spans = arena_alloc(arena, (size_t)model->most_inputs + 1,
                              sizeof *replay->in_spans),
      .params = {.arena = arena},
      .possible = true};
  diags_open(&replay->quiet, arena, sources);
  replay->quiet.quiet = true;
  bool *depends = arena_alloc(arena, count, sizeof *depends);
  for (size_t i = 0; i < count; i++) {
    const struct node *node = &model->nodes.at[i];
    replay->shapes[i] = *node->out;
    depends[i] = (int64_t)i == source || reads_any(model, node, depends);
    if (!depends[i])
      continue;
    *VEC_PUSH(arena, &replay->nodes) = (int64_t)i;
    replay->possible = replay->possible && !shares_params(model, node);
  }
}

struct layer replay_layer(const struct replay *replay, int64_t index) {
  const struct model *model = replay->model;
  const struct node *node = &model->nodes.at[index];
  for (int i = 0; i < node->input_count; i++)
    replay->in[i] = &replay->shapes[node_input(model, node, i)];
  return (struct layer){.kind = node->kind,
                        .args = node->args,
                        .input_count = node->input_count,
                        .in = replay->in,
                        .out = replay->shapes[index],
                        .copies = node->copies};
}

/* Infers a layer's shape; false where expansion would report an error. */
static bool infer(struct replay *replay, struct layer *layer) {
  static const struct span nowhere[LIMIT_SPECS];
  struct layer_site site = {.diags = &replay->quiet,
                            .arg_spans = nowhere,
                            .in_spans = replay->in_spans};
  int64_t count;
  bool fits = true;
  layer->site = &site;
  if (!node_infer(layer))
    return false;
  replay->params.all.count = 0;
  layer_params(layer, &replay->params);
  for (size_t i = 0; i < replay->params.all.count; i++)
    fits = fits && node_count_param(&replay->params.all.at[i], &count);
  return fits;
}

/* True if expressions asked this node for a size that has changed. */
static bool was_asked(const struct node *node, const struct shape *now) {
  const struct shape *then = node->out;
  return node->sizes_asked || (node->channels_asked &&
                               (now->rank != then->rank ||
                                shape_channels(now) != shape_channels(then)));
}

enum replay_result replay_run(struct replay *replay, const struct shape *input,
                              replay_fn *wants, const void *user) {
  const struct model *model = replay->model;
  if (!replay->possible)
    return REPLAY_UNKNOWN;
  for (size_t i = 0; i < replay->nodes.count; i++) {
    int64_t index = replay->nodes.at[i];
    const struct node *node = &model->nodes.at[index];
    bool first = i == 0;
    struct layer layer = replay_layer(replay, index);
    layer.out = first ? *input : *node->out;
    if (!first && reads_any(model, node, replay->changed) &&
        !infer(replay, &layer))
      return REPLAY_FAILED;
    replay->shapes[index] = layer.out;
    replay->changed[index] = !shape_equal(&layer.out, node->out);
    if (wants && !wants(user, &layer))
      return REPLAY_STOPPED;
    if (replay->changed[index] && was_asked(node, &layer.out))
      return REPLAY_UNKNOWN;
  }
  return REPLAY_DONE;
}
