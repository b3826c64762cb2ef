/* Degrees: whether devices can share a net as the settings say. */
#include "model/degrees.h"

#include <inttypes.h>

#include "base/check.h"

struct check {
  const struct model *model;
  const struct train_settings *train;
  struct diags *diags;
  bool good;
};

static struct diagnostic *fail(struct check *c, enum slug slug, int64_t node,
                               const char *text) {
  c->good = false;
  return diag(c->diags, slug, c->model->nodes.at[node].span, "%s", text);
}

/* `degree` shares `count` of something; says the nearest ones that can. */
static void check_divides(struct check *c, int64_t node, const char *setting,
                          int64_t degree, int64_t count, const char *what) {
  int64_t below, above;
  if (count % degree == 0)
    return;
  for (below = min_i64(degree, count); count % below != 0;)
    below--;
  for (above = min_i64(degree, count); count % above != 0;)
    above++;
  c->good = false;
  struct diagnostic *d =
      diag(c->diags, GROUPS_DO_NOT_DIVIDE, c->model->nodes.at[node].span,
           "%s=%" PRId64 " does not divide %" PRId64 " %s", setting, degree,
           count, what);
  if (below == above)
    diag_help(d, "`%s=%" PRId64 "` is the most", setting, below);
  else
    diag_help(d, "the nearest that do: `%s=%" PRId64 "` and `%s=%" PRId64 "`",
              setting, below, setting, above);
}

static void needs(struct check *c, const char *text, const char *help) {
  diag_help(fail(c, MISSING_ARGUMENT, 0, text), "%s", help);
}

static void check_heads(struct check *c) {
  const struct shape **in = model_layer_room(c->model);
  for (size_t i = 0; i < c->model->nodes.count && c->good; i++) {
    const struct layer_kind *kind = c->model->nodes.at[i].kind;
    if (!kind->heads || c->train->tensor_parallel == 1)
      continue;
    struct layer layer = model_layer(c->model, (int64_t)i, in);
    check_divides(c, (int64_t)i, "tensor_parallel", c->train->tensor_parallel,
                  kind->heads(&layer).queries, "heads");
  }
}

/* Positions of an input; 0: it has none. */
static int64_t positions_of(const struct shape *shape) {
  return shape->rank > (shape->dtype == DTYPE_FLOAT) ? shape->dim[0] : 0;
}

static void check_positions(struct check *c) {
  int64_t context = c->train->context_parallel, tensor = 1;
  bool found = false;
  if (c->train->sequence_parallel == TOGGLE_ON)
    tensor = c->train->tensor_parallel;
  for (size_t i = 0; i < c->model->sources.count; i++) {
    int64_t node = c->model->sources.at[i];
    int64_t positions = positions_of(c->model->nodes.at[node].out);
    if (!positions)
      continue;
    found = true;
    check_divides(c, node, "context_parallel", context, positions, "positions");
    if (c->good && positions % context == 0)
      check_divides(c, node, "tensor_parallel", tensor, positions / context,
                    "positions, which sequence_parallel shares");
  }
  if (!found && (context > 1 || tensor > 1))
    needs(c, "no input has positions that devices could share",
          "`context_parallel` and `sequence_parallel` are for sequences and "
          "maps: `input tokens 1024 : i32`");
}

/* The most that divides the devices and the experts, or other devices. */
static void say_data(struct check *c, int64_t experts) {
  int64_t degree = c->train->expert_parallel, data = c->train->data_parallel;
  int64_t most = gcd_i64(data, experts), below = data / degree * degree;
  c->good = false;
  struct diagnostic *d =
      diag(c->diags, GROUPS_DO_NOT_DIVIDE, c->model->nodes.at[0].span,
           "expert_parallel=%" PRId64 " does not divide %" PRId64
           " devices of data_parallel",
           degree, data);
  if (below)
    diag_help(d,
              "the nearest that work: `data_parallel=%" PRId64
              "` and `data_parallel=%" PRId64 "`; or `expert_parallel=%" PRId64
              "`",
              below, below + degree, most);
  else
    diag_help(d,
              "the nearest that works: `data_parallel=%" PRId64
              "`, or `expert_parallel=%" PRId64 "`",
              degree, most);
}

static void check_experts(struct check *c) {
  int64_t degree = c->train->expert_parallel, experts = 0;
  bool found = false;
  if (degree == 1)
    return;
  for (size_t i = 0; i < c->model->nodes.count && c->good; i++) {
    if (c->model->nodes.at[i].copies <= 1)
      continue;
    found = true;
    experts = gcd_i64(c->model->nodes.at[i].copies, experts);
    check_divides(c, (int64_t)i, "expert_parallel", degree,
                  c->model->nodes.at[i].copies, "experts");
  }
  if (!found)
    needs(c, "expert_parallel shares experts, but the net has none",
          "`moe experts=8 top=2 { .. }` has; leave it out, or use "
          "`tensor_parallel`");
  else if (c->good && c->train->data_parallel % degree != 0)
    say_data(c, experts);
}

static void check_zero(struct check *c) {
  const struct train_settings *train = c->train;
  if (!train->shard_devices)
    return;
  if (!train->zero)
    needs(c, "shard_devices says which devices share by ZeRO, which is not on",
          "`zero=3 shard_devices=8`");
  else
    check_divides(c, 0, "shard_devices", train->shard_devices,
                  train->data_parallel * train->context_parallel,
                  "devices that have the same");
}

static void check_offload(struct check *c) {
  const struct train_settings *train = c->train;
  if (!train->offload)
    return;
  if (!train->host_memory)
    needs(c, "offload needs the size of the host's memory",
          "`host_memory=512GiB`, and `host_devices=8` if that many share it");
  else if (train->offload & OFFLOAD_PARAMETERS && train->zero != 3)
    needs(c, "parameters are offloaded unit by unit, as zero=3 gathers them",
          "`zero=3`, or `offload=optimizer`, `activations` or both: "
          "`optimizer_activations`");
}

static void check_pipeline(struct check *c) {
  const struct train_settings *train = c->train;
  if (train->virtual_stages == 1)
    return;
  if (train->pipeline == 1)
    needs(c, "virtual_stages are parts of the stages of a pipeline",
          "`pipeline=4 virtual_stages=2`");
  else if (train->schedule != PIPELINE_PIPEDREAM)
    needs(c, "with virtual_stages the schedule is one forward, one backward",
          "leave out `schedule`, or `virtual_stages`; zb_v has two parts of "
          "each stage by itself");
  else if (train->microbatches % train->pipeline != 0) {
    int64_t least = train->microbatches / train->pipeline * train->pipeline;
    c->good = false;
    struct diagnostic *d =
        diag(c->diags, GROUPS_DO_NOT_DIVIDE, c->model->nodes.at[0].span,
             "virtual_stages take turns by pipeline=%" PRId64 " microbatches, "
             "which does not divide microbatches=%" PRId64,
             train->pipeline, train->microbatches);
    if (least)
      diag_help(d,
                "the nearest that work: `microbatches=%" PRId64
                "` and `microbatches=%" PRId64 "`",
                least, least + train->pipeline);
    else
      diag_help(d, "`microbatches=%" PRId64 "` is the least", train->pipeline);
  }
}

static void check_base(struct check *c) {
  bool frozen = !c->train->base;
  for (size_t i = 0; i < c->model->params.count && !frozen; i++)
    frozen = c->model->params.at[i].fixed && c->model->params.at[i].rank > 1;
  if (!frozen)
    needs(c, "base is the type of frozen matrices, but all are trained",
          "`lora=16` behind a layer, or `freeze { .. }` around some");
}

/* One kernel computes the last product and the loss. */
static void check_loss(struct check *c) {
  const struct model *model = c->model;
  if (c->train->loss != LOSS_FUSED_CROSSENTROPY)
    return;
  for (size_t i = 0; i < model->outputs.count; i++) {
    int64_t node = model->outputs.at[i].node;
    const struct layer_kind *kind = model->nodes.at[node].kind;
    if (kind->per_position && model->nodes.at[node].param_count <= 2)
      continue; /* more of them: adapters, whose sum comes last */
    diag_help(fail(c, OUT_OF_RANGE, node,
                   "fused_crossentropy multiplies by the last matrix itself, "
                   "but the net does not end with one"),
              "end with `linear`, without softmax; or `loss=crossentropy`");
    return;
  }
}

bool degrees_check(const struct model *model,
                   const struct train_settings *train, struct diags *diags) {
  struct check c = {model, train, diags, true};
  if (train->sequence_parallel == TOGGLE_ON && train->tensor_parallel == 1)
    needs(&c, "sequence_parallel is for the devices of tensor_parallel",
          "`tensor_parallel=8 sequence_parallel=on`");
  check_heads(&c);
  check_positions(&c);
  check_experts(&c);
  check_zero(&c);
  check_offload(&c);
  check_pipeline(&c);
  check_base(&c);
  check_loss(&c);
  return c.good;
}
