/* Simulation of one training step: what is alive after each operation. */
#include "memory/simulate.h"

#include "base/check.h"

/* Bytes of a gradient that is no parameter's; several may use it. */
struct buffer {
  int64_t bytes;
  int64_t users;
  int64_t node;
};

/* How a pass over operations uses a storage. */
struct use {
  int64_t left; /* reads, saves and outputs to come */
  bool saved;   /* it is kept for backward */
  bool there;   /* it is allocated */
};

struct run {
  struct simulation *s;
  const struct tape *tape;
  /* A part of the tape sees only some storages and values. */
  size_t first_storage, end_storage, first_value, end_value;
  struct use *once;               /* by storage: of the forward pass */
  struct use *again;              /* of a segment that is computed once more */
  const struct segment *repeated; /* which that is; NULL: none */
  bool keeps;                     /* operations keep what backward needs */
  size_t *gradient;               /* by value: its buffer, from 1 */
  bool *has_gradient;             /* by parameter */
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

static void change(struct run *run, enum memory_part part, int64_t bytes) {
  if (!add_i64(run->now.bytes, bytes, &run->now.bytes))
    run->s->overflow = true;
  else
    run->now.parts[part] += bytes; /* never more than the sum */
}

/* Storages */

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

static size_t input_of(const struct run *run, const struct tape_op *op, int i) {
  return run->tape->ins.at[op->first_in + (size_t)i];
}

/* Storages are numbered in the order of the operations that make them. */
static bool made_in(const struct run *run, const struct segment *segment,
                    size_t storage) {
  const struct tape *tape = run->tape;
  size_t end = segment->end < tape->ops.count
                   ? tape->ops.at[segment->end].first_storage
                   : tape->storages.count;
  return storage >= tape->ops.at[segment->first].first_storage && storage < end;
}

static struct use *once(const struct run *run, size_t storage) {
  return &run->once[storage - run->first_storage];
}

/* In the pass that goes on: what a segment makes, it makes again. */
static struct use *use_of(struct run *run, size_t storage) {
  if (run->repeated && made_in(run, run->repeated, storage))
    return &run->again[storage - run->first_storage];
  return once(run, storage);
}

static size_t *gradient_of(const struct run *run, size_t value) {
  return &run->gradient[value - run->first_value];
}

static int64_t storage_bytes(struct run *run, size_t storage) {
  return bytes_of(run, &run->tape->storages.at[storage].extent);
}

static void allocate_storage(struct run *run, size_t storage) {
  struct use *use = use_of(run, storage);
  use->there = true;
  change(run, use->saved ? PART_SAVED : PART_TEMPORARY,
         storage_bytes(run, storage));
}

static void release_storage(struct run *run, size_t storage) {
  struct use *use = use_of(run, storage);
  if (--use->left > 0 || !use->there)
    return;
  use->there = false;
  change(run, use->saved ? PART_SAVED : PART_TEMPORARY,
         -storage_bytes(run, storage));
}

/* Reads, and what backward needs, of the pass that goes on. */
static void count_reads(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->in_count; i++)
    use_of(run, storage_of(run, input_of(run, op, i)))->left++;
}

static void count_saves(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->saved_count; i++) {
    struct use *use = use_of(
        run, root_of(run, run->tape->saved.at[op->first_saved + (size_t)i]));
    use->left++;
    use->saved = true;
  }
}

/* What a segment reads from outside is held until it has run backward. */
static void hold_inputs(struct run *run, const struct segment *segment) {
  for (size_t i = segment->first; i < segment->end; i++) {
    const struct tape_op *op = &run->tape->ops.at[i];
    for (int k = 0; k < op->in_count; k++) {
      size_t storage = storage_of(run, input_of(run, op, k));
      if (made_in(run, segment, storage))
        continue;
      once(run, storage)->left++;
      once(run, storage)->saved = true;
    }
  }
}

static void release_inputs(struct run *run, const struct segment *segment) {
  for (size_t i = segment->first; i < segment->end; i++) {
    const struct tape_op *op = &run->tape->ops.at[i];
    for (int k = 0; k < op->in_count; k++) {
      size_t storage = storage_of(run, input_of(run, op, k));
      if (!made_in(run, segment, storage))
        release_storage(run, storage);
    }
  }
}

/* The segment that begins at an operation; NULL: none does. */
static const struct segment *segment_at(const struct run *run, size_t *next,
                                        size_t op) {
  const struct simulation *s = run->s;
  while (*next < s->segment_count && s->segments[*next].end <= op)
    ++*next;
  if (*next < s->segment_count && s->segments[*next].first <= op)
    return &s->segments[*next];
  return NULL;
}

/* An output of the net stays, unless a part before this one makes it. */
static void hold(struct run *run, size_t value) {
  size_t storage = storage_of(run, value);
  if (storage >= run->first_storage)
    once(run, storage)->left++;
}

static void count_uses(struct run *run) {
  const struct simulation *s = run->s;
  size_t next = 0;
  for (size_t i = s->first; i < s->end; i++) {
    const struct tape_op *op = &run->tape->ops.at[i];
    const struct segment *segment = segment_at(run, &next, i);
    count_reads(run, op);
    if (!segment)
      count_saves(run, op);
    else if (segment->first == i)
      hold_inputs(run, segment);
  }
  if (s->end < run->tape->ops.count) /* a part: its result goes on */
    return;
  for (size_t i = 0; i < s->model->outputs.count; i++)
    hold(run, s->trace->value_of[s->model->outputs.at[i].node]);
  for (size_t i = 0; i < s->trace->ends.count; i++)
    hold(run, s->trace->ends.at[i]);
}

/* Moments */

static void note(struct run *run, int64_t node, int64_t bytes,
                 enum memory_part part) {
  if (bytes > 0)
    *VEC_PUSH(run->s->arena, &run->s->alive) =
        (struct alive){node, bytes, part};
}

static void collect_uses(struct run *run, const struct use *uses) {
  for (size_t i = run->first_storage; i < run->end_storage; i++) {
    const struct use *use = &uses[i - run->first_storage];
    if (use->there)
      note(run, run->tape->storages.at[i].node, storage_bytes(run, i),
           use->saved ? PART_SAVED : PART_TEMPORARY);
  }
}

static void collect(struct run *run) {
  collect_uses(run, run->once);
  if (run->s->segment_count)
    collect_uses(run, run->again);
  for (size_t i = 0; i < run->buffers.count; i++)
    if (run->buffers.at[i].users > 0)
      note(run, run->buffers.at[i].node, run->buffers.at[i].bytes,
           PART_TEMPORARY);
}

/* Takes the state at hand into account, at an operation. */
static void sample(struct run *run, const struct tape_op *op) {
  struct simulation *s = run->s;
  struct moment *peak =
      run->now.phase == PHASE_FORWARD ? &s->forward : &s->backward;
  run->now.node = op->node;
  run->now.op = op->name;
  run->now.number++;
  if (run->now.bytes > peak->bytes)
    *peak = run->now;
  if (s->each)
    s->each(s->user, &run->now);
  if (run->now.number == s->look_at)
    collect(run);
}

/* Forward */

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
  int64_t kept = kept_bytes(run, op), work = bytes_of(run, &op->work);
  enum memory_part part = run->keeps ? PART_SAVED : PART_TEMPORARY;
  for (int i = 0; i < op->out_count; i++) {
    size_t out = op->first_out + (size_t)i, storage = storage_of(run, out);
    if (makes(run, op, out))
      allocate_storage(run, storage);
    use_of(run, storage)->left++; /* until it has ended */
  }
  change(run, part, kept);
  change(run, PART_TEMPORARY, work);
  sample(run, op);
  change(run, PART_TEMPORARY, -work);
  if (!run->keeps)
    change(run, part, -kept);
  for (int i = 0; i < op->out_count; i++)
    release_storage(run, storage_of(run, op->first_out + (size_t)i));
  for (int i = 0; i < op->in_count; i++)
    release_storage(run, storage_of(run, input_of(run, op, i)));
}

static void forward_all(struct run *run) {
  const struct simulation *s = run->s;
  size_t next = 0;
  for (size_t i = s->first; i < s->end && !s->overflow; i++) {
    run->keeps = !segment_at(run, &next, i);
    forward(run, &run->tape->ops.at[i]);
  }
}

/* A segment once more, now with all that its backward needs. */
static void forward_again(struct run *run, const struct segment *segment) {
  for (size_t i = segment->first; i < segment->end; i++) {
    count_reads(run, &run->tape->ops.at[i]);
    count_saves(run, &run->tape->ops.at[i]);
  }
  run->keeps = true;
  for (size_t i = segment->first; i < segment->end && !run->s->overflow; i++)
    forward(run, &run->tape->ops.at[i]);
}

/* Backward */

static size_t new_buffer(struct run *run, int64_t node, int64_t bytes) {
  change(run, PART_TEMPORARY, bytes);
  *VEC_PUSH(run->s->arena, &run->buffers) = (struct buffer){bytes, 1, node};
  return run->buffers.count;
}

static void release_buffer(struct run *run, size_t buffer) {
  struct buffer *at = &run->buffers.at[buffer - 1];
  if (--at->users == 0)
    change(run, PART_TEMPORARY, -at->bytes);
}

static int64_t param_bytes(struct run *run, size_t param) {
  struct extent extent = {.count = run->s->model->params.at[param].count,
                          .fixed = true};
  return bytes_of(run, &extent);
}

/* The gradient of a parameter stays until the next step. */
static void add_param_gradient(struct run *run, size_t param) {
  if (!run->has_gradient[param])
    change(run, PART_GRADIENTS, param_bytes(run, param));
  run->has_gradient[param] = true;
}

/* A gradient that nothing else uses, and that is not a part of a larger one. */
static bool may_add_to(struct run *run, size_t buffer, int64_t bytes) {
  const struct buffer *at = &run->buffers.at[buffer - 1];
  return run->tape->profile->sums_in_place && at->users == 1 &&
         at->bytes == bytes;
}

/* A tensor that several read gets the sum of their gradients. */
static void deliver(struct run *run, const struct tape_op *op, size_t value,
                    size_t buffer) {
  const struct tape_value *to = value_at(run, value);
  size_t *held = gradient_of(run, value);
  if (to->param) {
    add_param_gradient(run, to->param - 1);
    sample(run, op);
    release_buffer(run, buffer);
  } else if (!*held) {
    *held = buffer;
  } else if (may_add_to(run, *held, bytes_of(run, &to->extent))) {
    sample(run, op);
    release_buffer(run, buffer);
  } else {
    size_t sum = new_buffer(run, op->node, bytes_of(run, &to->extent));
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

/* The gradient of its output, or of one of its outputs; 0 without any. */
static size_t given_gradient(const struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->out_count; i++)
    if (*gradient_of(run, op->first_out + (size_t)i))
      return *gradient_of(run, op->first_out + (size_t)i);
  return 0;
}

static void release_gradients(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->out_count; i++) {
    size_t *held = gradient_of(run, op->first_out + (size_t)i);
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

/* Makes the gradients of the inputs; `made` has room for them. */
static void input_gradients(struct run *run, const struct tape_op *op,
                            size_t given, size_t *made) {
  for (int i = 0; i < op->in_count; i++) {
    size_t in = input_of(run, op, i);
    made[i] = 0;
    if (!value_at(run, in)->needs_gradient)
      continue;
    if (shares_gradient(run, op, in)) {
      made[i] = given;
      run->buffers.at[given - 1].users++;
    } else {
      made[i] =
          new_buffer(run, op->node, bytes_of(run, &value_at(run, in)->extent));
    }
  }
}

static void backward(struct run *run, const struct tape_op *op) {
  size_t few[8], *made = few, given = given_gradient(run, op);
  if (!given)
    return;
  if (op->in_count > 8)
    made = arena_alloc(run->s->arena, (size_t)op->in_count, sizeof *made);
  input_gradients(run, op, given, made);
  int64_t work = bytes_of(run, &op->back_work);
  change(run, PART_TEMPORARY, work);
  work += param_gradients(run, op);
  sample(run, op);
  change(run, PART_TEMPORARY, -work);
  release_gradients(run, op);
  release_saved(run, op);
  for (int i = 0; i < op->in_count; i++)
    if (made[i])
      deliver(run, op, input_of(run, op, i), made[i]);
}

static bool gets_gradient(const struct run *run,
                          const struct segment *segment) {
  for (size_t i = segment->first; i < segment->end; i++)
    if (given_gradient(run, &run->tape->ops.at[i]))
      return true;
  return false;
}

static void backward_segment(struct run *run, const struct segment *segment) {
  if (!gets_gradient(run, segment))
    return;
  run->repeated = segment;
  forward_again(run, segment);
  for (size_t i = segment->end; i-- > segment->first && !run->s->overflow;)
    backward(run, &run->tape->ops.at[i]);
  run->repeated = NULL;
  release_inputs(run, segment);
}

static void backward_all(struct run *run) {
  const struct simulation *s = run->s;
  size_t last = s->segment_count;
  for (size_t i = s->end; i > s->first && !s->overflow;) {
    while (last > 0 && s->segments[last - 1].first >= i)
      last--;
    if (last > 0 && s->segments[last - 1].end >= i) {
      backward_segment(run, &s->segments[last - 1]);
      i = s->segments[last - 1].first;
    } else {
      backward(run, &run->tape->ops.at[--i]);
    }
  }
}

/*
 * A loss starts from a gradient of 1, which its caller holds. Without one,
 * a number is spread over each output, which takes no memory.
 */
static void start_backward(struct run *run, size_t end) {
  if (end < run->first_value)
    return; /* a part before this one makes it */
  const struct tape_value *value = value_at(run, end);
  bool number = run->s->trace->has_loss;
  size_t buffer =
      new_buffer(run, NO_NODE, number ? bytes_of(run, &value->extent) : 0);
  if (number)
    run->buffers.at[buffer - 1].users++;
  *gradient_of(run, end) = buffer;
}

static void add_saved(struct run *run, int64_t node, int64_t bytes) {
  struct simulation *s = run->s;
  if (!add_i64(s->saved, bytes, &s->saved))
    s->overflow = true;
  else if (s->saved_by_node)
    s->saved_by_node[node] += bytes;
}

/* What is kept once forward has ended. */
static void find_saved(struct run *run) {
  const struct tape *tape = run->tape;
  size_t next = 0;
  size_t own = run->s->first < run->s->end
                   ? tape->ops.at[run->s->first].first_storage
                   : 0;
  for (size_t i = run->first_storage; i < run->end_storage; i++) {
    if (!tape->storages.at[i].owned || !once(run, i)->saved)
      continue;
    add_saved(run, tape->storages.at[i].node, storage_bytes(run, i));
    if (i < own)
      run->s->received += storage_bytes(run, i); /* at most the sum */
  }
  if (run->s->first < run->s->end) {
    size_t out = storage_of(run, tape->ops.at[run->s->end - 1].first_out);
    run->s->result_saved = once(run, out)->saved;
  }
  for (size_t i = run->s->first; i < run->s->end; i++)
    if (!segment_at(run, &next, i))
      add_saved(run, tape->ops.at[i].node, kept_bytes(run, &tape->ops.at[i]));
}

static void widen(struct run *run, size_t value) {
  size_t storage = storage_of(run, value);
  if (value < run->first_value)
    run->first_value = value;
  if (storage < run->first_storage)
    run->first_storage = storage;
}

/* What the operations that run see: of a part of the net only a part. */
static void find_bounds(struct run *run) {
  const struct tape *tape = run->tape;
  const struct simulation *s = run->s;
  run->end_storage = tape->storages.count;
  run->end_value = tape->values.count;
  if (s->first == 0 && s->end == tape->ops.count)
    return;
  run->first_storage = run->end_storage;
  run->first_value = run->end_value;
  for (size_t i = s->first; i < s->end; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    for (int k = 0; k < op->in_count; k++)
      widen(run, input_of(run, op, k));
    for (int k = 0; k < op->out_count; k++)
      widen(run, op->first_out + (size_t)k);
  }
  if (s->end < tape->ops.count && s->end > s->first) {
    run->end_storage = tape->ops.at[s->end].first_storage;
    run->end_value = tape->ops.at[s->end].first_out;
  }
}

static void begin(struct run *run) {
  const struct model *model = run->s->model;
  struct arena *arena = run->s->arena;
  find_bounds(run);
  size_t storages = run->end_storage - run->first_storage + 1;
  size_t values = run->end_value - run->first_value + 1;
  run->once = arena_alloc(arena, storages, sizeof *run->once);
  run->again = run->once;
  if (run->s->segment_count)
    run->again = arena_alloc(arena, storages, sizeof *run->again);
  run->gradient = arena_alloc(arena, values, sizeof *run->gradient);
  run->has_gradient =
      arena_alloc(arena, model->params.count + 1, sizeof *run->has_gradient);
  count_uses(run);
  for (size_t i = 0; i < model->params.count && run->s->gradients_before; i++) {
    const struct model_param *param = &model->params.at[i];
    if (!param->buffer && !param->fixed && param->same == i)
      add_param_gradient(run, i);
  }
}

/* What came from the device before: alive until it has been used. */
static void receive_inputs(struct run *run) {
  const struct tape *tape = run->tape;
  size_t end = tape->ops.at[run->s->first].first_storage;
  for (size_t i = run->first_storage; i < end; i++)
    if (tape->storages.at[i].owned && once(run, i)->left > 0)
      allocate_storage(run, i);
}

void simulate(struct simulation *s) {
  struct run run = {.s = s, .tape = &s->trace->tape};
  if (s->end == 0)
    s->end = run.tape->ops.count;
  bool to_the_end = s->end == run.tape->ops.count;
  begin(&run);
  find_saved(&run);
  if (s->own_inputs && s->first < s->end)
    receive_inputs(&run);
  forward_all(&run);
  run.now.phase = PHASE_BACKWARD;
  for (size_t i = 0; i < s->trace->ends.count && to_the_end; i++)
    start_backward(&run, s->trace->ends.at[i]);
  if (!to_the_end && s->end > s->first) { /* a part: its result gets one */
    size_t out = run.tape->ops.at[s->end - 1].first_out;
    *gradient_of(&run, out) =
        new_buffer(&run, NO_NODE, bytes_of(&run, &value_at(&run, out)->extent));
  }
  if (run.tape->training)
    backward_all(&run);
}
