/* Backward: makes gradients, sums them and passes them on. */
#include "base/check.h"
#include "memory/step/leap.h"

size_t run_new_buffer(struct run *run, int64_t node, int64_t bytes) {
  run_note_change(run, CHANGE_BUFFER, run->buffers.count);
  run_change(run, PART_TEMPORARY, bytes);
  *VEC_PUSH(run->s->arena, &run->buffers) =
      (struct buffer){.bytes = bytes, .users = 1, .node = node};
  return run->buffers.count;
}

static void release_buffer(struct run *run, size_t buffer) {
  struct buffer *at = &run->buffers.at[buffer - 1];
  if (--at->users > 0)
    return;
  run_note_change(run, CHANGE_BUFFER, buffer - 1);
  run_change(run, PART_TEMPORARY, -at->bytes);
}

/* Sums the gradients per sample of a matrix that is the second input. */
static void sum_input(struct run *run, const struct tape_op *op, size_t *made) {
  size_t in = run_input_of(run, op, 1);
  size_t sum = run_new_buffer(run, op->node, run_value_bytes(run, in));
  run_sample(run, op);
  release_buffer(run, *made);
  *made = sum;
}

/* True if a gradient has no other user and is not part of a larger one: can_
 * accumulate_inplace() of torch/csrc/autograd/input_buffer.cpp. */
static bool may_add_to(struct run *run, size_t buffer, int64_t bytes) {
  const struct buffer *at = &run->buffers.at[buffer - 1];
  return run->tape->profile->sums_in_place && at->users == 1 && !at->view &&
         at->bytes == bytes;
}

/* Gives a tensor its gradient, or the sum with an earlier one. True if `buffer`
 * was added and may be freed. */
static bool deliver(struct run *run, const struct tape_op *op, size_t value,
                    size_t buffer, enum row_order rows) {
  const struct tape_value *to = run_value_at(run, value);
  size_t *held = run_gradient_of(run, value);
  if (to->param) {
    bool again = run->has_gradient[to->param - 1];
    for (size_t i = 0; i < to->param_count; i++)
      run_add_param_gradient(run, to->param - 1 + i, true);
    if (again)
      run_add_to_param(run, op, to->param - 1);
    return true;
  }
  if (!*held) {
    *held = buffer;
    *run_turned(run, value) = rows;
    return false;
  }
  if (may_add_to(run, *held, run_extent_bytes(run, to->extent))) {
    run_sample(run, op);
  } else {
    size_t sum =
        run_new_buffer(run, op->node, run_extent_bytes(run, to->extent));
    run_sample(run, op);
    release_buffer(run, *held);
    *held = sum;
    if (*run_turned(run, value) == ROWS_CUT)
      *run_turned(run, value) = ROWS_TOGETHER;
  }
  return true;
}

/* An expanded number, as of a sum, has no row order: the output's rules
 * hold. */
static bool is_number(struct run *run, size_t given) {
  struct extent one = extent_fixed(1, WIDTH_F32);
  return run->buffers.at[given - 1].bytes <= run_bytes_of(run, &one);
}

/* True if an input gets the output's gradient itself. An input smaller than the
 * output was broadcast. A tensor for all samples that is no parameter has an
 * axis of 1 for them. A gradient of another type is cast: validate_outputs() of
 * torch/csrc/autograd/engine.cpp. Under autocast it is left out: measured
 * peaks are between those with and without it. */
static bool shares_gradient(const struct run *run, const struct tape_op *op,
                            size_t in, bool number) {
  const struct extent *of = tape_extent(run->tape, in);
  const struct extent *out = tape_extent(run->tape, op->first_out);
  bool one = run->s->batch == 1 && !run_value_at(run, in)->param;
  return (op->facts->gradient == GRADIENT_SHARED ||
          (op->facts->gradient == GRADIENT_MOVED && number) ||
          (op->facts->gradient == GRADIENT_FIRST &&
           in == run_input_of(run, op, 0))) &&
         (!op->facts->elementwise ||
          (of->count == out->count &&
           (of->width == out->width || run->tape->mixed) &&
           (of->fixed == out->fixed || one)));
}

/* The gradient of its output, or of one of its outputs; 0: none. */
static size_t given_gradient(const struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->facts->out_count; i++)
    if (*run_gradient_of(run, op->first_out + (size_t)i))
      return *run_gradient_of(run, op->first_out + (size_t)i);
  return 0;
}

static void release_gradients(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->facts->out_count; i++) {
    size_t *held = run_gradient_of(run, op->first_out + (size_t)i);
    if (*held)
      release_buffer(run, *held);
    *held = 0;
  }
}

static void release_saved(struct run *run, const struct tape_op *op) {
  run->released = true;
  if (run_moves(run))
    return;
  run_change(run, PART_SAVED, -run_stored_bytes(run, op));
  for (int i = 0; i < op->facts->saved_count; i++) {
    size_t storage =
        run_root_of(run, run->tape->saved.at[op->first_saved + (size_t)i]);
    if (run_packable(run, storage))
      run_unpack(run, storage);
    else
      run_release(run, storage);
  }
}

static int64_t gradient_bytes(struct run *run, const struct tape_op *op,
                              size_t in) {
  int64_t bytes = run_value_bytes(run, in);
  struct extent each = {0};
  if (op->facts->input_by_sample && in == run_input_of(run, op, 1)) {
    each.count = tape_extent(run->tape, in)->count;
    return run_bytes_of(run, &each);
  }
  return op->facts->gradient == GRADIENT_LARGER
             ? max_i64(bytes, run_value_bytes(run, op->first_out))
             : bytes;
}

/* True if what it passes on is a view of what it makes or gets: views around a
 * kernel are around its backward, too. */
static bool passes_view(const struct run *run, const struct tape_op *op) {
  const struct op_facts *facts = op->facts;
  bool view = run_value_at(run, op->first_out)->view;
  return (view && facts->result != RESULT_IN_PLACE) ||
         (facts->gradient == GRADIENT_SHARED && !facts->elementwise) ||
         (facts->matrix_last && !facts->elementwise && !facts->plain);
}

/* Makes the gradients of the inputs; `made` has room for them. */
static void input_gradients(struct run *run, const struct tape_op *op,
                            size_t given, size_t *made) {
  int read = op->facts->in_count - op->facts->held;
  bool number = op->facts->gradient == GRADIENT_MOVED && is_number(run, given);
  for (int i = 0; i < op->facts->in_count; i++) {
    size_t in = run_input_of(run, op, i);
    made[i] = 0;
    if (i >= read || !run_value_at(run, in)->needs_gradient)
      continue;
    if (shares_gradient(run, op, in, number)) {
      made[i] = given;
      run->buffers.at[given - 1].users++;
    } else {
      int64_t bytes = run_value_bytes(run, in);
      made[i] = run_new_buffer(run, op->node, gradient_bytes(run, op, in));
      run->buffers.at[made[i] - 1].room =
          run->buffers.at[made[i] - 1].bytes - bytes;
    }
    run->buffers.at[made[i] - 1].view |= passes_view(run, op);
  }
}

int64_t run_sum(struct run *run, int64_t a, int64_t b) {
  if (add_i64(a, b, &a))
    return a;
  run->s->overflow = true;
  return 0;
}

/* True if an input was broadcast; a parameter, which has no sample axis, is
 * summed over a batch of one as well. */
static bool is_summed(struct run *run, const struct tape_op *op, int i,
                      size_t made) {
  bool param = run_value_at(run, run_input_of(run, op, i))->param;
  int64_t out = run_value_bytes(run, op->first_out);
  int64_t bytes = run->buffers.at[made - 1].bytes;
  return bytes < out || (bytes == out && param && run->s->batch == 1);
}

/*
 * An input smaller than the output first gets a gradient as large as the
 * output, which is then summed. Returns how many bytes more these have.
 */
static int64_t before_sums(struct run *run, const struct tape_op *op,
                           const size_t *made, int64_t *large) {
  int64_t out = run_value_bytes(run, op->first_out);
  int64_t more = 0;
  *large = 0;
  if (!op->facts->reduces)
    return 0;
  for (int i = op->facts->gradient == GRADIENT_FIRST; i < op->facts->in_count;
       i++)
    if (made[i] && is_summed(run, op, i, made[i])) {
      more = run_sum(run, more, out - run->buffers.at[made[i] - 1].bytes);
      *large = run_sum(run, *large, out);
    }
  return more;
}

/* Bytes of a buffer beyond those of a value and the room behind it. */
static int64_t more_than(struct run *run, size_t buffer, size_t value) {
  const struct buffer *at = &run->buffers.at[buffer - 1];
  return at->bytes - at->room - run_value_bytes(run, value);
}

/* True if the gradient has fewer values, expanded over some axes. */
static bool is_spread(struct run *run, const struct tape_op *op, size_t given) {
  const struct tape_value *out = run_value_at(run, op->first_out);
  return run->buffers.at[given - 1].bytes < run_extent_bytes(run, out->extent);
}

/*
 * A write over a view needs, beside its gradient, the gradient of the whole
 * tensor, a copy of it, and the viewed part of the copy (AsStridedBackward,
 * then CopySlices of torch/csrc/autograd/functions/tensor.cpp). The given
 * gradient is free by then, unless others use it.
 */
static int64_t view_bytes(struct run *run, const struct tape_op *op) {
  if (!op->facts->on_view)
    return 0;
  size_t in = run_input_of(run, op, 0);
  const struct buffer *given = &run->buffers.at[given_gradient(run, op) - 1];
  int64_t whole = run_storage_bytes(run, run_storage_of(run, in));
  int64_t all =
      run_sum(run, run_sum(run, whole, whole), run_value_bytes(run, in));
  return max_i64(all - (given->users > 1 ? 0 : given->bytes), whole);
}

/* Bytes of the copy for a kernel that needs a contiguous gradient. */
static int64_t packed_bytes(struct run *run, const struct tape_op *op) {
  enum tape_packing packs = op->facts->packs_gradient;
  if (packs == PACKS_NOTHING)
    return 0;
  size_t given = given_gradient(run, op), out = op->first_out;
  int64_t own = run_value_bytes(run, out);
  uint32_t lies = run_value_at(run, out)->strides;
  bool part = run->s->batch > 1 && more_than(run, given, out) > 0;
  bool last = (lies == LAYOUT_ROWS || layout_of_axes(run->tape, lies)) &&
              !*run_turned(run, out);
  bool copies = (packs > PACKS_PARTS && part) ||
                (packs >= PACKS_VALUES && is_spread(run, op, given)) ||
                (packs == PACKS_MAPS && last) ||
                (packs == PACKS_FIRST && *run_turned(run, out));
  return copies ? own : 0;
}

/*
 * Bytes in use while the gradients of the inputs are computed. Outputs of a
 * split that have no gradient get zeros.
 */
static int64_t work_of(struct run *run, const struct tape_op *op) {
  int64_t work =
      run_work_bytes(run, op, &op->facts->back_work, &op->facts->back_gathered);
  int64_t more = run_bytes_of(run, &op->facts->back_more);
  work = run_sum(run, work, run_fetched_bytes(run, op));
  work = run_sum(run, work, view_bytes(run, op));
  work = run_sum(run, work, packed_bytes(run, op));
  if (op->facts->gives_frozen)
    work = run_sum(run, work, run_frozen_bytes(run, op));
  bool apart = op->facts->out_count > 1 && !op->facts->gives_frozen;
  for (int i = 0; apart && i < op->facts->out_count; i++) {
    size_t value = op->first_out + (size_t)i;
    if (!*run_gradient_of(run, value))
      more = run_sum(run, more, run_value_bytes(run, value));
  }
  return run_sum(run, work, more);
}

/* Samples the bytes that exist only while gradients are computed. */
static void look_at_work(struct run *run, const struct tape_op *op,
                         const size_t *made) {
  int64_t large, work = work_of(run, op);
  work = run_sum(run, work, before_sums(run, op, made, &large));
  run_change(run, PART_TEMPORARY, work);
  run_sample(run, op);
  run_change(run, PART_TEMPORARY, -work);
  run_change(run, PART_TEMPORARY, large);
  if (large)
    run_sample(run, op);
  run_change(run, PART_TEMPORARY, -large);
}

/* Not in the order of its axes; the rows of one sample are still a matrix. */
static enum row_order rows_if(bool turned) {
  return turned ? ROWS_OF_ONE : ROWS_TOGETHER;
}

static bool lies_apart(const struct run *run, enum row_order rows) {
  return rows >= ROWS_APART || (rows && run->s->batch > 1);
}

/* A product copies rows that are no matrix, a norm of each map copies maps
 * within larger ones, and a view copies expanded values. */
static bool is_copied(struct run *run, const struct tape_op *op, size_t held,
                      enum row_order rows) {
  switch (op->facts->packs_gradient) {
  case PACKS_PLACES: return rows == ROWS_APART && is_spread(run, op, held);
  case PACKS_PARTS: {
    uint32_t lies = run_value_at(run, op->first_out)->strides;
    return run->s->batch > 1 && (more_than(run, held, op->first_out) > 0 ||
                                 (!rows && layout_turned(run->tape, lies)));
  }
  default:
    return op->facts->by_rows && !op->facts->by_sample && lies_apart(run, rows);
  }
}

/*
 * The row order of the given gradient; a product copies it where its rows are
 * no matrix.
 */
static enum row_order put_together(struct run *run, const struct tape_op *op) {
  size_t *held = run_gradient_of(run, op->first_out);
  enum row_order *rows = run_turned(run, op->first_out);
  if (!*held)
    return ROWS_TOGETHER;
  if (is_number(run, *held)) { /* expanded: as what is kept, or as the axes */
    uint32_t lies = run_value_at(run, op->first_out)->strides;
    bool kept = op->facts->saved_count || op->facts->kept[KEPT_CLONE].count;
    if (op->facts->elementwise && op->facts->matrix_last)
      kept = false; /* times factors: the input's gradient does not read it */
    return rows_if(kept ? layout_turned(run->tape, lies)
                        : layout_of_axes(run->tape, lies));
  }
  bool together = !*rows && op->facts->packs_gradient != PACKS_PARTS;
  if (together || !is_copied(run, op, *held, *rows))
    return *rows;
  int64_t bias = run_bias_bytes(run, op);
  size_t copy =
      run_new_buffer(run, op->node, run_value_bytes(run, op->first_out));
  run_change(run, PART_TEMPORARY, bias);
  run_sample(run, op);
  run_change(run, PART_TEMPORARY, -bias);
  release_buffer(run, *held);
  *held = copy;
  return *rows = ROWS_TOGETHER;
}

/* True for a copy of several samples that is a view of one. */
static bool is_view_of_one(const struct run *run, const struct tape_op *op) {
  size_t storage = run_value_at(run, op->first_out)->storage;
  return run->s->batch == 1 && op->facts->result == RESULT_NEW &&
         run->tape->storages.at[storage].view_of;
}

/* True for a view of a map that is in the order of its axes. */
static bool is_seen_otherwise(const struct run *run, const struct tape_op *op) {
  uint32_t lies = run_value_at(run, op->first_out)->strides;
  return op->facts->result == RESULT_VIEW && op->facts->out_count == 1 &&
         op->facts->in_count == 1 && !layout_of_axes(run->tape, lies);
}

/*
 * Results computed value by value have the order of their operand; those of a
 * map, and zeros around a part of one, have the order of maps.
 */
static enum row_order stays_turned(const struct run *run,
                                   const struct tape_op *op, size_t in,
                                   enum row_order rows) {
  const struct op_facts *facts = op->facts;
  uint32_t lies = run_value_at(run, in)->strides;
  if (facts->map == MAP_AS_OUT && rows < ROWS_APART &&
      layout_of_axes(run->tape, run_value_at(run, op->first_out)->strides))
    return rows_if(rows);
  if (facts->map)
    return rows_if(lies >= LAYOUT_KNOWN ||
                   (facts->map == MAP_FIRST &&
                    (lies == LAYOUT_ROWS || lies == LAYOUT_LAST)));
  if (facts->gradient_rows && rows) /* transposed back, as its value is */
    return rows_if(layout_of_axes(run->tape, lies));
  if (facts->gradient_rows)
    return facts->gradient_rows;
  if (!rows && is_view_of_one(run, op)) /* the product passes it on as it was */
    return rows_if(layout_of_axes(run->tape, lies) || run_lies_turned(run, in));
  if (!rows && is_seen_otherwise(run, op))
    return rows_if(layout_of_axes(run->tape, lies));
  if (facts->gradient == GRADIENT_SHARED)
    return rows;
  if (facts->elementwise && !facts->packs)
    return facts->gradient_as_in ? rows_if(run_lies_turned(run, in)) : rows;
  bool by_rows = run_value_at(run, op->first_out)->strides == LAYOUT_ROWS;
  return rows_if(layout_of_axes(run->tape, lies) && !by_rows);
}

/* The row order of the gradient `made` for an input. */
static enum row_order made_rows(struct run *run, const struct tape_op *op,
                                size_t in, size_t made, enum row_order rows) {
  bool cut = rows == ROWS_CUT || (!rows && lies_apart(run, op->facts->parts));
  if (cut && !op->facts->gradient_rows && more_than(run, made, in) > 0)
    return ROWS_CUT;
  if (op->facts->gradient_rows == ROWS_APART && more_than(run, made, in) < 0)
    return ROWS_APART;
  return stays_turned(run, op, in, cut ? ROWS_TOGETHER : rows);
}

/* A concat may have thousands of inputs, and a net thousands of concats. */
static size_t *made_room(struct run *run, size_t inputs) {
  if (inputs > run->made_room) {
    run->made_room = inputs * 2 + 8;
    run->made = arena_room(run->s->arena, run->made_room, sizeof *run->made);
  }
  return run->made;
}

/*
 * Passes on the inputs' gradients. Those that are added to others stay until
 * all are passed on (InputBuffer::accumulate of
 * torch/csrc/autograd/input_buffer.cpp moves nothing): returns their number,
 * with them first in `made`. Products have views around them, which pass on
 * alone.
 */
static int give_on(struct run *run, const struct tape_op *op, size_t *made,
                   enum row_order rows) {
  int added = 0;
  for (int i = 0; i < op->facts->in_count; i++) {
    if (!made[i])
      continue;
    size_t in = run_input_of(run, op, i), buffer = made[i];
    if (!deliver(run, op, in, buffer, made_rows(run, op, in, buffer, rows)))
      continue;
    if (op->facts->matrix_last && !op->facts->plain)
      release_buffer(run, buffer);
    else
      made[added++] = buffer;
  }
  return added;
}

static void backward(struct run *run, const struct tape_op *op) {
  bool few_again[8], *again = few_again;
  run->released = false;
  if (!given_gradient(run, op))
    return;
  enum row_order rows = put_together(run, op);
  size_t given = given_gradient(run, op);
  if (op->facts->param_count > 8)
    again = arena_alloc(run->s->arena, (size_t)op->facts->param_count,
                        sizeof *again);
  size_t *made = made_room(run, (size_t)op->facts->in_count);
  input_gradients(run, op, given, made);
  int64_t samples = run_sample_gradients(run, op);
  run_param_gradients(run, op, again);
  if (op->facts->by_sample) /* the bias is added after it */
    run_sum_param_gradients(run, op, again);
  run_change(run, PART_TEMPORARY, samples);
  look_at_work(run, op, made);
  release_gradients(run, op);
  release_saved(run, op);
  if (op->facts->by_sample)
    run_sum_samples(run, op, samples);
  else if (op->facts->input_by_sample)
    sum_input(run, op, &made[1]);
  bool bias = run_sum_bias(run, op, again);
  int added = give_on(run, op, made, rows);
  while (op->facts->matrix_last && added > 0)
    release_buffer(run, made[--added]);
  if (bias)
    run_drop_bias(run, op);
  if (op->facts->by_sample)
    run_turn_sum(run, op);
  else
    run_sum_param_gradients(run, op, again);
  while (added > 0)
    release_buffer(run, made[--added]);
  if (run->s->stepped)
    run_step_params(run, op);
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
  run_fetch_inputs(run, segment);
  run->repeated = segment;
  run_segment_again(run, segment);
  for (size_t i = segment->end; i-- > segment->first && !run->s->overflow;)
    backward(run, &run->tape->ops.at[i]);
  run->repeated = NULL;
  run_release_inputs(run, segment);
}

void run_backward(struct run *run) {
  const struct simulation *s = run->s;
  size_t last = s->segment_count;
  leap_begin(run);
  run_begin_back(run);
  for (size_t i = s->end; i > s->first && !s->overflow;) {
    if (i == run->leap_at)
      leap_pass(run);
    if (i == run->due)
      i = run_turn_back(run, i);
    if (run->leg > 0 && s->marks[run->leg - 1].op == i)
      run_pass_mark(run);
    while (last > 0 && s->segments[last - 1].first >= i)
      last--;
    if (last > 0 && s->segments[last - 1].end >= i) {
      backward_segment(run, &s->segments[last - 1]);
      i = s->segments[last - 1].first;
    } else {
      backward(run, &run->tape->ops.at[--i]);
      if (s->levels)
        s->levels[i].rest = run_beside(run);
    }
  }
}

void run_start_backward(struct run *run, size_t end) {
  if (end < run->first_value)
    return; /* a part before this one makes it */
  const struct tape_value *value = run_value_at(run, end);
  bool number = run->s->trace->has_loss;
  size_t buffer = run_new_buffer(
      run, NO_NODE, number ? run_extent_bytes(run, value->extent) : 0);
  if (number)
    run->buffers.at[buffer - 1].users++;
  *run_gradient_of(run, end) = buffer;
}
