/* Simulation of one training step: what is alive after each operation. */
#include "sema/simulate.h"

#include "base/check.h"

/* Bytes of a gradient that is no parameter's; shared ones are counted. */
struct buffer {
  int64_t bytes;
  int64_t users;
};

struct run {
  struct simulation *s;
  const struct tape *tape;
  int64_t *uses;      /* by storage: reads, saves and outputs to come */
  bool *saved;        /* by storage: it is kept for backward */
  size_t *gradient;   /* by value: its buffer, from 1 */
  bool *has_gradient; /* by parameter */
  VEC(struct buffer) buffers;
  struct moment now;
};

int64_t extent_bytes(const struct extent *extent, int64_t batch, int element,
                     int64_t block, bool *overflow) {
  static const int bytes_of[] = {
      [WIDTH_LOW] = 2,   [WIDTH_F32] = 4,  [WIDTH_I32] = 4,
      [WIDTH_INDEX] = 8, [WIDTH_MASK] = 1, [WIDTH_BOOL] = 1};
  int64_t count = extent->count, bytes = 0;
  bool fits = extent->fixed || mul_i64(count, batch, &count);
  if (extent->width == WIDTH_NET)
    fits = fits && element_bytes(element, count, &bytes);
  else
    fits = fits && mul_i64(count, bytes_of[extent->width], &bytes);
  fits = fits && add_i64(bytes, block - 1, &bytes);
  if (fits)
    return bytes / block * block;
  *overflow = true;
  return 0;
}

static int64_t bytes_of(struct run *run, const struct extent *extent) {
  return extent_bytes(extent, run->s->batch, run->s->element,
                      run->tape->profile->block, &run->s->overflow);
}

static void change(struct run *run, enum part part, int64_t bytes) {
  if (!add_i64(run->now.bytes, bytes, &run->now.bytes))
    run->s->overflow = true;
  run->now.parts[part] += bytes; /* never more than the sum */
}

/* Takes the state at hand into account, at an operation. */
static void sample(struct run *run, const struct tape_op *op) {
  struct simulation *s = run->s;
  struct moment *peak =
      run->now.phase == PHASE_FORWARD ? &s->forward : &s->backward;
  run->now.node = op->node;
  run->now.op = op->name;
  if (run->now.bytes > peak->bytes)
    *peak = run->now;
  if (s->each)
    s->each(s->user, &run->now);
}

/* Forward */

static const struct tape_value *value_at(const struct run *run, size_t value) {
  return &run->tape->values.at[value];
}

/* The storage that holds it: at a batch of 1, some copies are views. */
static size_t root_of(const struct run *run, size_t storage) {
  const struct tape_storage *at = run->tape->storages.at;
  while (run->s->batch == 1 && at[storage].view_of)
    storage = at[storage].view_of - 1;
  return storage;
}

static size_t storage_of(const struct run *run, size_t value) {
  return root_of(run, value_at(run, value)->storage);
}

static enum part part_of(const struct run *run, size_t storage) {
  return run->saved[storage] ? PART_SAVED : PART_TEMPORARY;
}

static int64_t storage_bytes(struct run *run, size_t storage) {
  return bytes_of(run, &run->tape->storages.at[storage].extent);
}

static void release_storage(struct run *run, size_t storage) {
  if (--run->uses[storage] == 0 && run->tape->storages.at[storage].owned)
    change(run, part_of(run, storage), -storage_bytes(run, storage));
}

/* Every read, save and output is a use of a storage. */
static void count_uses(struct run *run) {
  const struct tape *tape = run->tape;
  const struct model *model = run->s->model;
  for (size_t i = 0; i < tape->ins.count; i++)
    run->uses[storage_of(run, tape->ins.at[i])]++;
  for (size_t i = 0; i < tape->saved.count; i++) {
    size_t storage = root_of(run, tape->saved.at[i]);
    run->uses[storage]++;
    run->saved[storage] = true;
  }
  for (size_t i = 0; i < model->outputs.count; i++) {
    size_t value = run->s->trace->value_of[model->outputs.at[i].node];
    run->uses[storage_of(run, value)]++;
  }
  for (size_t i = 0; i < run->s->trace->ends.count; i++)
    run->uses[storage_of(run, run->s->trace->ends.at[i])]++;
}

static int64_t kept_bytes(struct run *run, const struct tape_op *op) {
  int64_t sum = 0;
  for (int i = 0; i < 4; i++)
    if (op->kept[i].count && !add_i64(sum, bytes_of(run, &op->kept[i]), &sum))
      run->s->overflow = true;
  return sum;
}

/* Whether the output has a storage of its own. */
static bool makes(const struct run *run, const struct tape_op *op, size_t out) {
  return op->result == RESULT_NEW &&
         storage_of(run, out) == value_at(run, out)->storage;
}

static void forward(struct run *run, const struct tape_op *op) {
  const struct tape *tape = run->tape;
  int64_t kept = kept_bytes(run, op), work = bytes_of(run, &op->work);
  for (int i = 0; i < op->out_count; i++) {
    size_t storage = storage_of(run, op->first_out + (size_t)i);
    if (makes(run, op, op->first_out + (size_t)i))
      change(run, part_of(run, storage), storage_bytes(run, storage));
    run->uses[storage]++; /* until the operation has ended */
  }
  change(run, PART_SAVED, kept);
  change(run, PART_TEMPORARY, work);
  sample(run, op);
  change(run, PART_TEMPORARY, -work);
  for (int i = 0; i < op->out_count; i++)
    release_storage(run, storage_of(run, op->first_out + (size_t)i));
  for (int i = 0; i < op->in_count; i++)
    release_storage(run,
                    storage_of(run, tape->ins.at[op->first_in + (size_t)i]));
}

/* Backward */

static size_t new_buffer(struct run *run, int64_t bytes) {
  change(run, PART_TEMPORARY, bytes);
  *VEC_PUSH(run->s->arena, &run->buffers) = (struct buffer){bytes, 1};
  return run->buffers.count;
}

static void release_buffer(struct run *run, size_t buffer) {
  struct buffer *at = &run->buffers.at[buffer - 1];
  if (--at->users == 0)
    change(run, PART_TEMPORARY, -at->bytes);
}

/* The gradient of a parameter, which stays; 0: it was there before. */
static int64_t param_bytes(struct run *run, size_t param) {
  struct extent extent = {.count = run->s->model->params.at[param].count,
                          .fixed = true};
  return bytes_of(run, &extent);
}

static void add_param_gradient(struct run *run, size_t param) {
  if (!run->has_gradient[param])
    change(run, PART_GRADIENTS, param_bytes(run, param));
  run->has_gradient[param] = true;
}

/* A tensor that several read gets the sum of their gradients. */
static void deliver(struct run *run, const struct tape_op *op, size_t value,
                    size_t buffer) {
  const struct tape_value *to = value_at(run, value);
  size_t *held = &run->gradient[value];
  if (to->param) {
    add_param_gradient(run, to->param - 1);
    sample(run, op);
    release_buffer(run, buffer);
  } else if (!*held) {
    *held = buffer;
  } else {
    size_t sum = new_buffer(run, bytes_of(run, &to->extent));
    sample(run, op);
    release_buffer(run, *held);
    release_buffer(run, buffer);
    *held = sum;
  }
}

/* An input that is smaller than the output was spread over it. */
static bool shares_gradient(const struct run *run, const struct tape_op *op,
                            size_t in) {
  const struct extent *of = &value_at(run, in)->extent;
  const struct extent *out = &value_at(run, op->first_out)->extent;
  return op->gradient == GRADIENT_SHARED &&
         (!op->elementwise ||
          (of->count == out->count && of->fixed == out->fixed));
}

/* Gradients of its parameters; returns bytes that are added to others. */
static int64_t param_gradients(struct run *run, const struct tape_op *op) {
  int64_t added = 0;
  for (int i = 0; i < op->param_count; i++) {
    size_t param = run->tape->params.at[op->first_param + (size_t)i];
    int64_t bytes = param_bytes(run, param);
    if (run->has_gradient[param]) {
      change(run, PART_TEMPORARY, bytes);
      added += bytes;
    }
    add_param_gradient(run, param);
  }
  return added;
}

/* The gradient of its output, or of its outputs; 0 without any. */
static bool take_gradients(struct run *run, const struct tape_op *op,
                           size_t *first) {
  *first = 0;
  for (int i = 0; i < op->out_count && !*first; i++)
    *first = run->gradient[op->first_out + (size_t)i];
  return *first != 0;
}

static void release_gradients(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->out_count; i++) {
    size_t *held = &run->gradient[op->first_out + (size_t)i];
    if (*held)
      release_buffer(run, *held);
    *held = 0;
  }
}

static void release_saved(struct run *run, const struct tape_op *op) {
  change(run, PART_SAVED, -kept_bytes(run, op));
  for (int i = 0; i < op->saved_count; i++)
    release_storage(
        run, root_of(run, run->tape->saved.at[op->first_saved + (size_t)i]));
}

static void backward(struct run *run, const struct tape_op *op) {
  size_t given, few[8], *made = few;
  if (!take_gradients(run, op, &given))
    return;
  if (op->in_count > 8)
    made = arena_alloc(run->s->arena, (size_t)op->in_count, sizeof *made);
  for (int i = 0; i < op->in_count; i++) {
    size_t in = run->tape->ins.at[op->first_in + (size_t)i];
    made[i] = 0;
    if (!value_at(run, in)->needs_gradient)
      continue;
    if (shares_gradient(run, op, in)) {
      made[i] = given;
      run->buffers.at[given - 1].users++;
    } else {
      made[i] = new_buffer(run, bytes_of(run, &value_at(run, in)->extent));
    }
  }
  int64_t work = bytes_of(run, &op->back_work) + param_gradients(run, op);
  change(run, PART_TEMPORARY, bytes_of(run, &op->back_work));
  sample(run, op);
  change(run, PART_TEMPORARY, -work);
  release_gradients(run, op);
  release_saved(run, op);
  for (int i = 0; i < op->in_count; i++)
    if (made[i])
      deliver(run, op, run->tape->ins.at[op->first_in + (size_t)i], made[i]);
}

static void find_saved(struct run *run) {
  const struct tape *tape = run->tape;
  struct simulation *s = run->s;
  for (size_t i = 0; i < tape->storages.count; i++) {
    const struct tape_storage *storage = &tape->storages.at[i];
    if (!storage->owned || !run->saved[i])
      continue;
    int64_t bytes = storage_bytes(run, i);
    if (!add_i64(s->saved, bytes, &s->saved))
      s->overflow = true;
    if (s->saved_by_node)
      s->saved_by_node[storage->node] += bytes;
  }
  for (size_t i = 0; i < tape->ops.count; i++) {
    int64_t bytes = kept_bytes(run, &tape->ops.at[i]);
    if (!add_i64(s->saved, bytes, &s->saved))
      s->overflow = true;
    if (s->saved_by_node)
      s->saved_by_node[tape->ops.at[i].node] += bytes;
  }
}

static void begin(struct run *run) {
  const struct tape *tape = run->tape;
  const struct model *model = run->s->model;
  struct arena *arena = run->s->arena;
  run->uses = arena_alloc(arena, tape->storages.count + 1, sizeof *run->uses);
  run->saved = arena_alloc(arena, tape->storages.count + 1, sizeof *run->saved);
  run->gradient =
      arena_alloc(arena, tape->values.count + 1, sizeof *run->gradient);
  run->has_gradient =
      arena_alloc(arena, model->params.count + 1, sizeof *run->has_gradient);
  count_uses(run);
  for (size_t i = 0; i < model->params.count && run->s->gradients_before; i++) {
    const struct model_param *param = &model->params.at[i];
    if (!param->buffer && !param->fixed && param->same == i)
      add_param_gradient(run, i);
  }
}

/*
 * A loss starts from a gradient of 1, which its caller holds. Without one,
 * a number is spread over each output, which takes no memory.
 */
static void start_backward(struct run *run, size_t end) {
  const struct tape_value *value = value_at(run, end);
  bool number = run->s->trace->has_loss;
  size_t buffer = new_buffer(run, number ? bytes_of(run, &value->extent) : 0);
  if (number)
    run->buffers.at[buffer - 1].users++;
  run->gradient[end] = buffer;
}

void simulate(struct simulation *s) {
  struct run run = {.s = s, .tape = &s->trace->tape};
  const struct tape *tape = run.tape;
  begin(&run);
  find_saved(&run);
  for (size_t i = 0; i < tape->ops.count && !s->overflow; i++)
    forward(&run, &tape->ops.at[i]);
  run.now.phase = PHASE_BACKWARD;
  for (size_t i = 0; i < s->trace->ends.count; i++)
    start_backward(&run, s->trace->ends.at[i]);
  for (size_t i = tape->ops.count; i-- > 0 && !s->overflow;)
    backward(&run, &tape->ops.at[i]);
  s->outputs = run.now.bytes - run.now.parts[PART_GRADIENTS];
}
