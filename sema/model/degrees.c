/* Degrees: checks that devices can share a net with the settings. */
#include "sema/model/degrees.h"

#include <inttypes.h>

#include "base/check.h"
#include "layers/layer.h"
#include "sema/model/given.h"

struct check {
  const struct model *model;
  const struct settings *settings;
  const struct train_settings *train;
  struct diags *diags;
  bool good;
};

static struct span place_of(const struct check *c, const char *setting) {
  return given_train(c->model, c->settings, setting);
}

/* Suggests the nearest degrees that divide `count`. */
static void say_nearest(const struct check *c, struct diagnostic *d,
                        const char *setting, int64_t degree, int64_t count) {
  int64_t below = min_i64(degree, count), above = below;
  while (count % below != 0)
    below--;
  while (count % above != 0)
    above++;
  bool nearer = degree - below <= above - degree;
  layer_offer_value(d, setting, nearer ? below : above);
  if (below == above)
    given_help(d, place_of(c, setting), "`%s=%" PRId64 "` is the maximum",
               setting, below);
  else
    given_help(d, place_of(c, setting),
               "the nearest that divide it: `%s=%" PRId64 "` and `%s=%" PRId64
               "`",
               setting, below, setting, above);
}

/* Checks that `degree` divides `count`; suggests the nearest that do. */
static void check_divides(struct check *c, struct span at, const char *setting,
                          int64_t degree, int64_t count, const char *what) {
  if (count % degree == 0)
    return;
  c->good = false;
  struct diagnostic *d = diag(c->diags, GROUPS_DO_NOT_DIVIDE, at,
                              "%s=%" PRId64 " does not divide %" PRId64 " %s",
                              setting, degree, count, what);
  say_nearest(c, d, setting, degree, count);
}

static struct span node_span(const struct check *c, size_t node) {
  return c->model->nodes.at[node].span;
}

/* Reports a setting that has no meaning without others. */
static void needs(struct check *c, const char *setting, const char *text,
                  const char *help) {
  struct span place = place_of(c, setting);
  c->good = false;
  struct diagnostic *d = diag(c->diags, MISSING_ARGUMENT, place, "%s", text);
  if (given_has(c->settings, setting))
    diag_offer_omission(d, place, "leave it out");
  given_help(d, place, "%s", help);
}

static void check_heads(struct check *c) {
  const struct shape **in = model_layer_room(c->model);
  for (size_t i = 0; i < c->model->nodes.count && c->good; i++) {
    const struct layer_kind *kind = c->model->nodes.at[i].kind;
    if (!kind->heads || c->train->tensor_parallel == 1)
      continue;
    struct layer layer = model_layer(c->model, (int64_t)i, in);
    check_divides(c, node_span(c, i), "tensor_parallel",
                  c->train->tensor_parallel, kind->heads(&layer).queries,
                  "heads");
  }
}

/* Tokens of a tensor; 0: none, or only one, as for a class. */
static int64_t positions_of(const struct shape *shape) {
  bool some = shape->rank > (shape->dtype == DTYPE_FLOAT);
  return some && shape->dim[0] > 1 ? shape->dim[0] : 0;
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
    struct span input = node_span(c, (size_t)node);
    found = true;
    check_divides(c, input, "context_parallel", context, positions,
                  "positions");
    if (c->good && positions % context == 0)
      check_divides(c, input, "tensor_parallel", tensor, positions / context,
                    "positions, which sequence_parallel divides");
  }
  if (!found && (context > 1 || tensor > 1))
    needs(c, context > 1 ? "context_parallel" : "sequence_parallel",
          "no input has positions to divide among devices",
          "`context_parallel` and `sequence_parallel` are for sequences and "
          "maps: `input tokens 1024 : i32`");
}

static void check_experts(struct check *c) {
  int64_t degree = c->train->expert_parallel;
  bool found = degree == 1;
  for (size_t i = 0; i < c->model->nodes.count && c->good && degree > 1; i++) {
    if (c->model->nodes.at[i].copies <= 1)
      continue;
    found = true;
    check_divides(c, node_span(c, i), "expert_parallel", degree,
                  c->model->nodes.at[i].copies, "experts");
  }
  if (!found)
    needs(c, "expert_parallel",
          "expert_parallel divides experts, but the net has none",
          "add `moe experts=8 top=2 { .. }`; or leave it out, or use "
          "`tensor_parallel`");
}

/* Checks that experts' devices divide those of a stage; offers some that do. */
static void check_data(struct check *c) {
  const struct train_settings *train = c->train;
  int64_t degree = train->expert_parallel, within = experts_tensor(train);
  int64_t rest = train->tensor_parallel * train->context_parallel / within;
  int64_t data = train->data_parallel, all = data * rest, most = all;
  int64_t step = degree / gcd_i64(degree, rest), below = data / step * step;
  if (all % degree == 0)
    return;
  for (size_t i = 0; i < c->model->nodes.count; i++)
    if (c->model->nodes.at[i].copies > 1)
      most = gcd_i64(c->model->nodes.at[i].copies, most);
  struct span place = place_of(c, "expert_parallel");
  c->good = false;
  struct diagnostic *d =
      rest == 1 ? diag(c->diags, GROUPS_DO_NOT_DIVIDE, place,
                       "expert_parallel=%" PRId64 " does not divide %" PRId64
                       " devices of data_parallel",
                       degree, data)
                : diag(c->diags, GROUPS_DO_NOT_DIVIDE, place,
                       "expert_parallel=%" PRId64 " does not divide %" PRId64
                       " devices that have the same layers",
                       degree, all);
  if (below)
    given_help(d, place,
               "the nearest that work: `data_parallel=%" PRId64
               "` and `data_parallel=%" PRId64 "`; or `expert_parallel=%" PRId64
               "`",
               below, below + step, most);
  else
    given_help(d, place,
               "the nearest that works: `data_parallel=%" PRId64
               "`, or `expert_parallel=%" PRId64 "`",
               step, most);
}

/* Checks tensor-parallel devices of experts: some of those of layers. */
static void check_within(struct check *c) {
  const struct train_settings *train = c->train;
  int64_t within = experts_tensor(train);
  if (within == train->tensor_parallel)
    return;
  if (!model_has_experts(c->model)) {
    needs(c, "expert_tensor_parallel",
          "expert_tensor_parallel splits experts, but the net has none",
          "add `moe experts=8 top=2 { .. }`; or leave it out");
    return;
  }
  check_divides(c, place_of(c, "expert_tensor_parallel"),
                "expert_tensor_parallel", within, train->tensor_parallel,
                "devices of tensor_parallel");
  if (c->good && train->sequence_parallel != TOGGLE_ON)
    needs(c, "expert_tensor_parallel",
          "expert_tensor_parallel differs from tensor_parallel only where "
          "tokens are split, too",
          "add `sequence_parallel=on`");
}

/* Checks that no device gets more rows than there are. */
static void check_imbalance(struct check *c) {
  int64_t most = c->train->expert_parallel;
  if (c->train->imbalance <= most * SETTING_ONE)
    return;
  if (most == 1) {
    needs(c, "imbalance", "imbalance needs devices that share experts",
          "add `expert_parallel=8`; one device gets all rows");
    return;
  }
  struct span place = place_of(c, "imbalance");
  c->good = false;
  given_help(diag(c->diags, OUT_OF_RANGE, place,
                  "the %" PRId64 " devices of expert_parallel cannot get more "
                  "than all rows",
                  most),
             place, "`imbalance=%" PRId64 "` is the maximum: one gets all",
             most);
}

static void check_zero(struct check *c) {
  const struct train_settings *train = c->train;
  int64_t same = train->data_parallel * train->context_parallel;
  if (!train->shard_devices)
    return;
  if (!train->zero)
    needs(c, "shard_devices",
          "shard_devices sets the size of a ZeRO group, but ZeRO is off",
          "write `zero=3 shard_devices=8`");
  else if (same == 1 && train->shard_devices > 1)
    needs(c, "shard_devices",
          "shard_devices needs data-parallel devices, but there is only one",
          "write `data_parallel=16 shard_devices=8`");
  else
    check_divides(c, place_of(c, "shard_devices"), "shard_devices",
                  train->shard_devices, same, "data-parallel devices");
}

static void check_offload(struct check *c) {
  if (c->train->offload & OFFLOAD_PARAMETERS && c->train->zero != 3)
    needs(c, "offload",
          "offloading parameters needs zero=3, which gathers them unit by unit",
          "use `zero=3`, or `offload=optimizer`, `activations` or both: "
          "`optimizer_activations`");
}

static void check_schedule(struct check *c) {
  if (c->train->virtual_stages > 1 && c->train->schedule != PIPELINE_PIPEDREAM)
    needs(c, "schedule",
          "virtual_stages needs the schedule of one forward, one backward",
          "leave out `schedule`, or `virtual_stages`; zb_v itself has two "
          "parts of each stage");
}

static void check_pipeline(struct check *c) {
  const struct train_settings *train = c->train;
  int64_t parts = train->microbatches;
  if (train->virtual_stages == 1)
    return;
  if (train->pipeline == 1) {
    needs(c, "virtual_stages", "virtual_stages needs a pipeline",
          "write `pipeline=4 virtual_stages=2`");
    return;
  }
  if (parts % train->pipeline == 0)
    return;
  int64_t least = parts / train->pipeline * train->pipeline;
  struct span place = place_of(c, "virtual_stages");
  c->good = false;
  struct diagnostic *d =
      diag(c->diags, GROUPS_DO_NOT_DIVIDE, place,
           "virtual_stages alternate after pipeline=%" PRId64 " microbatches, "
           "which does not divide microbatches=%" PRId64,
           train->pipeline, parts);
  if (least)
    given_help(d, place,
               "the nearest that work: `microbatches=%" PRId64
               "` and `microbatches=%" PRId64 "`",
               least, least + train->pipeline);
  else
    given_help(d, place, "`microbatches=%" PRId64 "` is the minimum",
               train->pipeline);
}

static void check_base(struct check *c) {
  bool frozen = !c->train->base;
  for (size_t i = 0; i < c->model->params.count && !frozen; i++)
    frozen = c->model->params.at[i].fixed && c->model->params.at[i].rank > 1;
  if (!frozen)
    needs(c, "base",
          "base sets the type of frozen matrices, but all matrices are trained",
          "use `lora=16` after a layer, `freeze { .. }` around layers, or the "
          "option `--lora 16`");
}

/* A function of single values, which nothing but the next layer reads. */
static bool is_passed(const struct model *model, int64_t node) {
  const struct node *at = &model->nodes.at[node];
  int64_t readers = 0, before = at->input_count ? node_input(model, at, 0) : -1;
  for (size_t i = 0; i < model->nodes.count; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++)
      readers += node_input(model, &model->nodes.at[i], k) == before;
  for (size_t i = 0; i < model->outputs.count; i++)
    readers += model->outputs.at[i].node == before;
  return at->input_count == 1 && !at->param_count && !at->repeated &&
         at->kind->opcode && !at->kind->loss && readers == 1 &&
         (at->kind->memory == OUTPUT_IN_PLACE || at->kind->alone);
}

int64_t degrees_head(const struct model *model, int64_t node) {
  while (is_passed(model, node))
    node = node_input(model, &model->nodes.at[node], 0);
  const struct node *head = &model->nodes.at[node];
  bool product = head->kind->per_position && head->param_count <= 2;
  return product ? node : -1; /* more: adapters, whose sum comes last */
}

/* Checks a list, and fused_crossentropy, which includes the last product. */
static void check_loss(struct check *c) {
  const struct model *model = c->model;
  if (c->train->loss == LOSS_LIST &&
      (size_t)c->train->losses->count != model->outputs.count) {
    needs(c, "loss", "the list of losses needs one for each output of the net",
          "write as many as there are outputs: `loss=\"sum focal\"`");
    return;
  }
  for (size_t i = 0; i < model->outputs.count; i++) {
    if (loss_of_output(c->train, i) != LOSS_FUSED_CROSSENTROPY)
      continue;
    int64_t node = model->outputs.at[i].node;
    if (degrees_head(model, node) >= 0)
      continue;
    bool adapted = model->nodes.at[node].kind->per_position;
    c->good = false;
    given_help(diag(c->diags, OUT_OF_RANGE, node_span(c, (size_t)node),
                    "fused_crossentropy multiplies by the last matrix itself, "
                    "but %s",
                    adapted ? "this one has an adapter, which no kernel adds"
                            : "the net does not end with one"),
               place_of(c, "loss"),
               adapted ? "leave the last layer without `lora=`; or use "
                         "`loss=crossentropy`"
                       : "end the net with `linear`, without softmax; or use "
                         "`loss=crossentropy`");
    return;
  }
}

/* Checks update=backward, which frees each gradient on its device. */
static void check_update(struct check *c) {
  const struct train_settings *t = c->train;
  const struct {
    bool said;
    const char *setting;
  } others[] = {{t->accumulate > 1, "accumulate"},
                {t->keep_gradients == TOGGLE_ON, "keep_gradients"},
                {t->clip != CLIP_OFF, "clip"},
                {t->gradient_dtype != 0, "gradient_dtype"},
                {t->precision == PRECISION_MASTER, "precision"},
                {t->offload != OFFLOAD_NONE, "offload"},
                {t->data_parallel > 1, "data_parallel"},
                {t->tensor_parallel > 1, "tensor_parallel"},
                {t->context_parallel > 1, "context_parallel"},
                {t->pipeline > 1, "pipeline"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (t->update != UPDATE_BACKWARD || !others[i].said || !c->good)
      continue;
    struct span place = place_of(c, others[i].setting);
    c->good = false;
    struct diagnostic *d = diag(c->diags, OUT_OF_RANGE, place,
                                "update=backward frees each gradient after its "
                                "step, which is not supported with %s",
                                others[i].setting);
    if (given_has(c->settings, others[i].setting))
      diag_offer_omission(d, place, "leave it out");
    given_help(d, place, "leave out `%s`, or `update=backward`",
               others[i].setting);
  }
}

/* Checks that no other degree can affect. */
static void check_alone(struct check *c) {
  check_heads(c);
  check_positions(c);
  check_experts(c);
  check_schedule(c);
  check_base(c);
  check_loss(c);
  check_update(c);
}

static void check_others(struct check *c) {
  if (c->train->sequence_parallel == TOGGLE_ON &&
      c->train->tensor_parallel == 1)
    needs(c, "sequence_parallel", "sequence_parallel needs tensor_parallel",
          "write `tensor_parallel=8 sequence_parallel=on`");
  check_within(c);
  check_imbalance(c);
  check_data(c);
  check_zero(c);
  check_offload(c);
  check_pipeline(c);
}

bool degrees_check(const struct model *model, const struct settings *settings,
                   struct diags *diags) {
  struct check c = {model, settings, &settings->train, diags, true};
  check_alone(&c);
  if (c.good)
    check_others(&c);
  return c.good;
}

bool degrees_divide(const struct model *model, const struct settings *settings,
                    struct diags *diags) {
  struct check c = {model, settings, &settings->train, diags, true};
  check_alone(&c);
  return c.good;
}

/* Warnings: degrees that divide nothing */

static struct diagnostic *warn(struct check *c, const char *setting,
                               int64_t degree, const char *what) {
  c->good = false;
  return diag(c->diags, SHARES_NOTHING, place_of(c, setting),
              "%s=%" PRId64 " %s", setting, degree, what);
}

static bool has_matrix(const struct model *model, const struct node *node) {
  for (int k = 0; k < node->param_count; k++) {
    const struct model_param *param =
        &model->params.at[node->first_param + (size_t)k];
    if (param->rank > 1 && !param->buffer)
      return true;
  }
  return false;
}

static int64_t features_of(const struct model *model, int64_t node) {
  const struct shape *shape = model->nodes.at[node].out;
  return shape->dim[shape->rank - 1];
}

/* True if a sum over a vector may be split by its terms. */
static bool divides_rows(const struct model *model, const struct node *node,
                         int64_t degree) {
  return node->input_count && model_input(model, node)->rank == 1 &&
         model_input(model, node)->dim[0] % degree == 0;
}

/* The node with the most features; -1: the degree divides some node's. */
static int64_t widest(const struct model *model, int64_t degree) {
  int64_t found = -1;
  for (int64_t i = 0; i < (int64_t)model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    if (!has_matrix(model, node))
      continue;
    if (features_of(model, i) % degree == 0 ||
        divides_rows(model, node, degree))
      return -1;
    if (found < 0 || features_of(model, i) > features_of(model, found))
      found = i;
  }
  return found;
}

static void share_features(struct check *c) {
  int64_t degree = c->train->tensor_parallel;
  int64_t node = degree > 1 ? widest(c->model, degree) : -1;
  if (node < 0)
    return;
  int64_t most = features_of(c->model, node);
  struct diagnostic *d = warn(c, "tensor_parallel", degree,
                              "does not divide the features of any layer");
  diag_label(d, node_span(c, (size_t)node),
             "this layer has the most features: %" PRId64, most);
  say_nearest(c, d, "tensor_parallel", degree, most);
}

/* True if a layer has tokens that devices could share. */
static bool has_positions(const struct model *model) {
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].input_count && positions_of(model->nodes.at[i].out))
      return true;
  return false;
}

static void share_positions(struct check *c) {
  int64_t degree = c->train->context_parallel;
  if (degree > 1 && !has_positions(c->model))
    given_help(warn(c, "context_parallel", degree,
                    "divides positions, but no layer keeps the positions of "
                    "the input"),
               place_of(c, "context_parallel"),
               "leave it out, or use `data_parallel=%" PRId64 "`", degree);
}

static void share_batch(struct check *c) {
  const struct train_settings *train = c->train;
  int64_t parts = train->microbatches;
  if (!parts || (train->pipeline > 1 && train->batch % parts == 0))
    return;
  if (train->pipeline == 1) {
    given_help(warn(c, "microbatches", parts, "needs the stages of a pipeline"),
               place_of(c, "microbatches"),
               "use `pipeline=4`, or `accumulate=%" PRId64 "`", parts);
    return;
  }
  struct diagnostic *d =
      warn(c, "microbatches", parts, "does not divide the batch");
  diag_here(d, "the batch is %" PRId64, train->batch);
  say_nearest(c, d, "microbatches", parts, train->batch);
}

bool degrees_share(const struct model *model, const struct settings *settings,
                   struct diags *diags) {
  struct check c = {model, settings, &settings->train, diags, true};
  share_features(&c);
  share_positions(&c);
  share_batch(&c);
  return c.good;
}

/* Settings without effect */

/* A recipe may hold settings for devices that are not asked about. */
static void idle(struct check *c, const char *setting, bool given, bool used,
                 const char *of, const char *help) {
  if (!given || used || !given_has(c->settings, setting))
    return;
  struct span place = place_of(c, setting);
  given_help(diag(c->diags, SHARES_NOTHING, place, "%s needs %s", setting, of),
             place, "%s", help);
}

void degrees_idle(const struct model *model, const struct settings *settings,
                  struct diags *diags) {
  const struct train_settings *t = &settings->train;
  struct check c = {model, settings, t, diags, true};
  bool copies = t->data_parallel > 1 || t->context_parallel > 1;
  bool gathers = copies && t->zero == 3;
  const char *zero = "ZeRO 3, which gathers parameters";
  const char *with = "use `data_parallel=8 zero=3`, or leave it out";
  idle(&c, "gather",
       t->unit != UNIT_BLOCK || t->reshard == TOGGLE_OFF ||
           t->prefetch == TOGGLE_OFF || t->keep_small > 0,
       gathers, zero, with);
  idle(&c, "bucket", t->bucket != 0, copies,
       "several devices that sum gradients",
       "use `data_parallel=8`, or leave it out");
  idle(&c, "keep_gathered", t->keep_gathered == TOGGLE_ON,
       t->tensor_parallel > 1 && t->sequence_parallel == TOGGLE_ON,
       "sequence_parallel, which gathers tokens",
       "use `tensor_parallel=8 sequence_parallel=keep`, or leave it out");
  idle(&c, "gather", t->flat_gather == TOGGLE_ON,
       copies && (t->zero == 1 || t->zero == 2), "ZeRO 1 or 2 for flat copies",
       "use `data_parallel=8 zero=1`, or leave it out");
  idle(&c, "keep_outputs", t->keep_outputs == TOGGLE_OFF,
       !has_loss(t, LOSS_NONE), "a loss that reads the outputs",
       "use `loss=crossentropy`, or leave it out");
  idle(&c, "schedule", t->schedule != PIPELINE_PIPEDREAM, t->pipeline > 1,
       "a pipeline", "use `pipeline=4`, or leave it out");
  idle(&c, "cut", t->cut != CUT_LAYERS, t->pipeline > 1, "a pipeline",
       "use `pipeline=4`, or leave it out");
  idle(&c, "loss_dtype", t->loss_dtype == LOSS_DTYPE_SAME,
       t->loss != LOSS_NONE && t->loss != LOSS_SUM &&
           t->loss != LOSS_FUSED_CROSSENTROPY,
       "a loss that the framework computes on an output",
       "use `loss=crossentropy`, or leave it out");
  idle(&c, "loss_dtype", t->loss_dtype == LOSS_DTYPE_REGISTERS,
       has_loss(t, LOSS_CROSSENTROPY),
       "a loss whose kernel computes in registers",
       "use `loss=crossentropy`, or leave it out");
  idle(&c, "loss_dtype",
       t->loss_dtype == LOSS_DTYPE_INPLACE ||
           t->loss_dtype == LOSS_DTYPE_OVERWRITTEN,
       has_loss(t, LOSS_CROSSENTROPY), "a loss with a softmax",
       "use `loss=crossentropy`, or leave it out");
  idle(&c, "loss_dtype", t->loss_dtype == LOSS_DTYPE_SHIFTED,
       has_loss(t, LOSS_CROSSENTROPY) && t->loss_chunks <= 1,
       "crossentropy of all rows at once",
       "use `loss=crossentropy` without loss_chunks, or leave it out");
  idle(&c, "loss_chunks", t->loss_chunks > 0,
       has_loss(t, LOSS_FUSED_CROSSENTROPY) || has_loss(t, LOSS_CROSSENTROPY),
       "cross-entropy", "use `loss=crossentropy`, or leave it out");
}
