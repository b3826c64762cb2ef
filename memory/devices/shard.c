/* Shards: the tape of one of several devices that share each layer. */
#include "memory/devices/shard.h"

#include "base/check.h"

struct sharding {
  struct tape *tape;
  struct op_facts **facts; /* by operation: its own copy */
  const struct model *model;
  int64_t devices, context;
  int64_t within;    /* tensor-parallel devices of an expert */
  int64_t imbalance; /* of SETTING_ONE */
  bool sequence;     /* shard the rest by tokens */
  bool folded; /* an expert's devices have its rows, whole, and no others' */
  struct shards *shards;
  bool *wanted;  /* by value: all readers take a part */
  bool *read;    /* by value: it has a reader */
  bool *sharded; /* by value: sharded by channels */
};

static size_t input_of(const struct tape *tape, const struct tape_op *op,
                       int i) {
  return tape_input(tape, op, i);
}

static bool output_wanted(const struct sharding *s, const struct tape_op *op) {
  for (int i = 0; i < op->facts->out_count; i++)
    if (!s->wanted[op->first_out + (size_t)i])
      return false;
  return true;
}

/* From the end: layers with weights want a shard, and so do operations by
 * channel before them. */
static void find_wanted(struct sharding *s) {
  for (size_t i = s->tape->ops.count; i-- > 0;) {
    const struct tape_op *op = &s->tape->ops.at[i];
    bool takes = op->facts->splits || op->facts->scores ||
                 (op->facts->by_channel && output_wanted(s, op));
    for (int k = 0; k < op->facts->in_count; k++) {
      size_t in = input_of(s->tape, op, k);
      s->wanted[in] = takes && (!s->read[in] || s->wanted[in]);
      s->read[in] = true;
    }
  }
}

static void find_sharded(struct sharding *s) {
  for (size_t i = 0; i < s->tape->ops.count; i++) {
    const struct tape_op *op = &s->tape->ops.at[i];
    bool part = false;
    for (int k = 0; k < op->facts->in_count; k++)
      part = part || s->sharded[input_of(s->tape, op, k)];
    /* By columns if it reads all channels, then by rows to all of them. */
    bool out = op->facts->splits
                   ? !part && output_wanted(s, op)
                   : op->facts->by_channel && part && output_wanted(s, op);
    for (int k = 0; k < op->facts->out_count; k++)
      s->sharded[op->first_out + (size_t)k] = out;
  }
}

/* True if a node's output has tokens; then so do values inside it. */
static bool is_sequence(const struct sharding *s, int64_t node) {
  const struct shape *shape = s->model->nodes.at[node].out;
  return shape->rank > (shape->dtype == DTYPE_FLOAT);
}

static void divide(struct extent *extent, int64_t devices) {
  if (!extent->whole)
    extent->count = ceil_div_i64(extent->count, devices);
}

/* True for rows of experts, which other devices may have sent. */
static bool is_routed(const struct sharding *s, int64_t node,
                      const struct extent *extent) {
  return extent->routed || s->model->nodes.at[node].copies > 1;
}

/* Devices that share the channels of a layer. */
static int64_t devices_of(const struct sharding *s, bool routed) {
  return routed ? s->within : s->devices;
}

/* Rows of the device whose experts get the most. */
static void unbalance(const struct sharding *s, struct extent *extent) {
  int64_t rest = size_product(extent->count % SETTING_ONE, s->imbalance);
  extent->count =
      size_sum(size_product(extent->count / SETTING_ONE, s->imbalance),
               ceil_div_i64(rest, SETTING_ONE));
}

/* Divides by tokens; fixed extents have none. */
static void divide_positions(const struct sharding *s, struct extent *extent,
                             int64_t node, bool by_channel) {
  if (extent->fixed || !is_sequence(s, node))
    return;
  bool routed = is_routed(s, node, extent), folded = routed && s->folded;
  if (s->sequence && (folded || !by_channel))
    extent->count =
        ceil_div_i64(extent->count, s->devices / (folded ? s->within : 1));
  extent->count = ceil_div_i64(extent->count, s->context);
  if (routed)
    unbalance(s, extent);
}

enum { BY_CHANNELS = 1, BY_POSITIONS = 2 };

/* Views share a storage, which is sharded if its first value is. */
static void divide_values(struct sharding *s, unsigned char *done) {
  struct tape *tape = s->tape;
  for (size_t i = 0; i < tape->values.count; i++) {
    struct tape_value *value = &tape->values.at[i];
    struct tape_storage *storage = &tape->storages.at[value->storage];
    unsigned char *how = &done[value->storage];
    struct extent seen = *tape_extent(tape, i);
    struct extent held = *tape_storage_extent(tape, value->storage);
    bool part = s->sharded[i];
    int64_t devices = devices_of(s, is_routed(s, storage->node, &held));
    if (part)
      divide(&seen, devices);
    divide_positions(s, &seen, storage->node, part);
    if (part && !(*how & BY_CHANNELS))
      divide(&held, devices);
    if (!(*how & BY_POSITIONS))
      divide_positions(s, &held, storage->node, part);
    value->extent = tape_keep_extent(tape, seen);
    storage->extent = tape_keep_extent(tape, held);
    *how |= (unsigned char)(BY_POSITIONS | (part ? BY_CHANNELS : 0));
  }
}

static void divide_op(const struct sharding *s, size_t index) {
  const struct tape_op *op = &s->tape->ops.at[index];
  struct op_facts *facts = s->facts[index];
  bool part = s->sharded[op->first_out] ||
              (facts->scores && s->sharded[input_of(s->tape, op, 0)]);
  bool by_channel = facts->by_channel || facts->scores;
  struct extent *extents[KEPT_COUNT + 3] = {&facts->work, &facts->back_work,
                                            &facts->back_more};
  for (int k = 0; k < KEPT_COUNT; k++)
    extents[3 + k] = &facts->kept[k];
  for (size_t k = 0; k < sizeof extents / sizeof *extents; k++) {
    if (facts->by_channel && part)
      divide(extents[k], devices_of(s, is_routed(s, op->node, extents[k])));
    divide_positions(s, extents[k], op->node, by_channel && part);
    /* The attention mask has a row for each token of the device. */
    if (facts->core && extents[k]->fixed)
      extents[k]->count = ceil_div_i64(extents[k]->count, s->context);
  }
}

/* Sharing out */

static struct extent whole_value(const struct sharding *s, size_t value) {
  const struct tape_value *of = &s->tape->values.at[value];
  struct extent extent = *tape_extent(s->tape, value);
  int64_t node = s->tape->storages.at[of->storage].node;
  if (!extent.fixed && is_sequence(s, node))
    extent.count = ceil_div_i64(extent.count, s->context);
  return extent;
}

static enum shard_role role_of(const struct sharding *s,
                               const struct tape_op *op) {
  bool part = false, routed = s->model->nodes.at[op->node].copies > 1;
  if (!op->facts->splits || s->devices == 1 || (routed && s->folded))
    return SHARD_NONE;
  for (int k = 0; k < op->facts->in_count; k++)
    part = part || s->sharded[input_of(s->tape, op, k)];
  const struct extent *in = tape_extent(s->tape, input_of(s->tape, op, 0));
  bool index = in->width == WIDTH_I32 || in->width == WIDTH_INDEX;
  if (index)
    return SHARD_LOOKUP;
  if (part)
    return SHARD_ROWS;
  /* With sharded tokens, an output without a reader is split like logits. */
  return s->sequence || s->sharded[op->first_out] ? SHARD_COLUMNS : SHARD_ROWS;
}

/* Before anything is divided: finds tensors that are gathered while an
 * operation runs. */
static void find_gathered(const struct sharding *s, size_t index) {
  const struct tape_op *op = &s->tape->ops.at[index];
  struct op_facts *facts = s->facts[index];
  enum shard_role role = s->shards->role[index] = role_of(s, op);
  struct extent *moved = &s->shards->moved[index];
  if (role == SHARD_COLUMNS)
    *moved = whole_value(s, input_of(s->tape, op, 0));
  else if (role != SHARD_NONE)
    *moved = whole_value(s, op->first_out);
  if (s->sequence && role == SHARD_COLUMNS) {
    facts->gathered = facts->back_gathered = *moved;
    /* In backward also the gradient, before it is summed. */
    facts->back_gathered.count = size_product(facts->gathered.count, 2);
  } else if (s->sequence && role != SHARD_NONE) {
    facts->gathered = facts->back_gathered = *moved;
  } else if (facts->attends && s->context > 1) {
    int64_t others = 0;
    for (int k = 1; k < facts->in_count - facts->held; k++)
      others += tape_extent(s->tape, input_of(s->tape, op, k))->count;
    bool part = s->sharded[op->first_out];
    s->shards->role[index] = SHARD_RING;
    *moved = *tape_extent(s->tape, op->first_out);
    moved->count = ceil_div_i64(others, part ? s->devices : 1);
    moved->count = ceil_div_i64(moved->count, s->context);
    facts->gathered = facts->back_gathered = *moved;
    facts->gathered.count = size_product(moved->count, s->context > 2 ? 2 : 1);
    /* Their gradients go around with them. */
    facts->back_gathered.count = size_product(facts->gathered.count, 2);
  }
}

/*
 * The input of column layers is kept gathered, once for all that read it, and
 * is not gathered again (nanotron's tp_recompute_allgather=false).
 */
static void keep_gathered(const struct sharding *s) {
  const struct tape *tape = s->tape;
  uint32_t last = UINT32_MAX;
  for (size_t i = 0; i < tape->ops.count; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    struct op_facts *facts = s->facts[i];
    if (s->shards->role[i] != SHARD_COLUMNS)
      continue;
    uint32_t in = tape->values.at[input_of(tape, op, 0)].storage;
    bool saves =
        facts->saved_count == 1 && tape->saved.at[op->first_saved] == in;
    facts->back_gathered = facts->gathered; /* only its gradient */
    if (!saves)
      continue;
    facts->saved_count = 0;
    if (in != last)
      facts->kept[facts->kept[0].count > 0] = s->shards->moved[i];
    last = in;
  }
}

/*
 * Rows sent to experts, and rows received from them. Where experts run in
 * groups, both are values; else one of them is there only for the exchange.
 */
static void find_exchanged(const struct sharding *s, size_t index,
                           const struct train_settings *train) {
  const struct tape_op *op = &s->tape->ops.at[index];
  if (!op->facts->exchanges || !experts_apart(train))
    return;
  struct op_facts *facts = s->facts[index];
  /* Returned rows are the second operand, next to the sum. */
  bool sum = op->facts->in_count > 2;
  struct extent *moved = &s->shards->moved[index];
  *moved = whole_value(s, sum ? input_of(s->tape, op, 1) : op->first_out);
  if (train->moe <= EXPERTS_ONE_BY_ONE)
    facts->gathered = facts->back_gathered = *moved;
  if (s->sequence && s->folded)
    divide(moved, s->devices);
  s->shards->role[index] = SHARD_EXCHANGE;
}

static void share_params(const struct sharding *s, int64_t experts) {
  const struct model *model = s->model;
  int64_t *share = s->shards->share;
  for (size_t i = 0; i < model->params.count; i++)
    share[i] = model->params.at[i].count;
  for (size_t i = 0; i < s->tape->ops.count; i++) {
    const struct tape_op *op = &s->tape->ops.at[i];
    int params = op->facts->param_count + op->facts->frozen_count;
    int64_t devices = devices_of(s, model->nodes.at[op->node].copies > 1);
    if (op->facts->splits)
      divide(&s->facts[i]->unpacked, devices);
    for (int k = 0; op->facts->splits && k < params; k++) {
      size_t param = s->tape->params.at[op->first_param + (size_t)k];
      if (model->params.at[param].rank > 1) /* biases are replicated */
        share[param] = ceil_div_i64(model->params.at[param].count, devices);
    }
  }
  if (experts == 1)
    return;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; node->copies > 1 && k < node->param_count; k++)
      if (k % node->copies >= ceil_div_i64(node->copies, experts))
        share[node->first_param + (size_t)k] = 0;
  }
}

/* Mixed precision's copies of matrices have the device's share. */
static void share_copies(const struct sharding *s) {
  const struct tape *tape = s->tape;
  for (size_t i = 0; i < tape->ops.count; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    struct op_facts *facts = s->facts[i];
    int64_t all = 0, here = 0;
    for (int k = 0; k < facts->param_count + facts->frozen_count; k++) {
      size_t param = tape->params.at[op->first_param + (size_t)k];
      if (s->model->params.at[param].rank < 2)
        continue;
      all += s->model->params.at[param].count; /* at most the net's */
      here += s->shards->share[param];
    }
    if (facts->kept[KEPT_CASTS].count == all)
      facts->kept[KEPT_CASTS].count = here;
    else if (facts->splits) /* some are copied already or packed */
      divide(&facts->kept[KEPT_CASTS], s->devices);
  }
}

void shard_trace(struct trace *trace, const struct model *model,
                 const struct train_settings *train, struct shards *shards,
                 struct arena *arena) {
  struct tape *tape = &trace->tape;
  size_t values = tape->values.count + 1;
  struct sharding s = {
      .tape = tape,
      .model = model,
      .devices = train->tensor_parallel,
      .context = train->context_parallel,
      .within = experts_tensor(train),
      .imbalance =
          min_i64(train->imbalance, train->expert_parallel * SETTING_ONE),
      .folded = train->moe > EXPERTS_ONE_BY_ONE ||
                experts_tensor(train) != train->tensor_parallel,
      .sequence =
          train->sequence_parallel == TOGGLE_ON && train->tensor_parallel > 1,
      .shards = shards,
      .wanted = arena_alloc(arena, values, sizeof(bool)),
      .read = arena_alloc(arena, values, sizeof(bool)),
      .sharded = arena_alloc(arena, values, sizeof(bool))};
  shards->share =
      arena_alloc(arena, model->params.count + 1, sizeof *shards->share);
  shards->role = arena_alloc(arena, tape->ops.count + 1, sizeof *shards->role);
  shards->moved =
      arena_alloc(arena, tape->ops.count + 1, sizeof *shards->moved);
  for (size_t i = 0; i < model->outputs.count && !trace->scores; i++)
    s.read[trace->value_of[model->outputs.at[i].node]] = true;
  find_wanted(&s);
  find_sharded(&s);
  s.facts = arena_alloc(arena, tape->ops.count + 1, sizeof *s.facts);
  for (size_t i = 0; i < tape->ops.count; i++)
    s.facts[i] = tape_own_facts(tape, i);
  for (size_t i = 0; i < tape->ops.count; i++) {
    find_gathered(&s, i);
    find_exchanged(&s, i, train);
  }
  divide_values(
      &s, arena_alloc(arena, tape->storages.count + 1, sizeof(unsigned char)));
  for (size_t i = 0; i < tape->ops.count; i++)
    divide_op(&s, i);
  if (s.sequence && train->keep_gathered == TOGGLE_ON)
    keep_gathered(&s);
  share_params(&s, train->expert_parallel);
  share_copies(&s);
  trace->turns.count = 0; /* iterations may now differ */
}
