/* Storages in a simulated step: their users and when they are freed. */
#include "base/check.h"
#include "memory/step/loose.h"
#include "memory/step/run.h"

enum { PAGE = 4096 };

/* Bytes of `count` values, in whole blocks. */
static bool bytes_of(const struct extent *extent, int64_t count, int element,
                     int64_t block, int64_t *bytes) {
  static const int each[] = {
      [WIDTH_LOW] = 2,   [WIDTH_F32] = 4,  [WIDTH_I32] = 4,
      [WIDTH_INDEX] = 8, [WIDTH_MASK] = 1, [WIDTH_BOOL] = 1};
  int own = extent->width == WIDTH_NET ? element : width_element(extent->width);
  bool fits = own ? element_bytes(own, count, bytes)
                  : mul_i64(count, each[extent->width], bytes);
  fits = fits && add_i64(*bytes, block - 1, bytes);
  *bytes = *bytes / block * block;
  return fits;
}

/* Each expert of a share has a tensor, some with one row more. */
static bool shared_bytes(const struct extent *extent, int64_t batch,
                         int element, int64_t block, int64_t *bytes) {
  const struct share *share = extent->share;
  int64_t rows, values, most, least, row;
  row = ceil_div_i64(extent->count, share->rows);
  if (!mul_i64(share->rows, batch, &rows) ||
      !mul_i64(rows / share->of + 1, row, &values))
    return false;
  int64_t more = rows % share->of - share->first; /* number with one row more */
  more = more < 0 ? 0 : more < share->count ? more : share->count;
  return bytes_of(extent, values, element, block, &most) &&
         bytes_of(extent, values - row, element, block, &least) &&
         mul_i64(most, more, &most) &&
         mul_i64(least, share->count - more, &least) &&
         add_i64(most, least, bytes);
}

int64_t extent_bytes(const struct extent *extent, int64_t batch, int element,
                     int64_t block, bool *overflow) {
  int64_t count = extent->count, bytes = 0;
  if (count == 0 || (extent->several && batch == 1))
    return 0;
  if (extent->pages)
    block = max_i64(block, PAGE);
  if (extent->at_once)
    batch = min_i64(batch, extent->at_once);
  bool fits = extent->share && !extent->fixed
                  ? shared_bytes(extent, batch, element, block, &bytes)
                  : (extent->fixed || mul_i64(count, batch, &count)) &&
                        bytes_of(extent, count, element, block, &bytes);
  if (fits)
    return bytes;
  *overflow = true;
  return 0;
}

int64_t run_some_bytes(struct run *run, const struct extent *extent) {
  uint64_t count = (uint64_t)extent->count;
  struct run_sized *late = &run->sized[(count ^ count >> 6) % SIZED];
  const struct extent *known = &late->extent;
  if (known->count != extent->count || known->share != extent->share ||
      known->fixed != extent->fixed || known->width != extent->width ||
      known->several != extent->several || known->pages != extent->pages ||
      known->at_once != extent->at_once) {
    late->extent = *extent;
    late->bytes = extent_bytes(extent, run->s->batch, run->s->element,
                               run->tape->profile->block, &run->s->overflow);
  }
  return late->bytes;
}

int64_t run_work_bytes(struct run *run, const struct tape_op *op,
                       const struct extent *work,
                       const struct extent *gathered) {
  int64_t sum = 0;
  if (!add_i64(run_bytes_of(run, work), run_bytes_of(run, &op->facts->unpacked),
               &sum) ||
      !add_i64(sum, run_bytes_of(run, gathered), &sum))
    run->s->overflow = true;
  return sum;
}

void run_change(struct run *run, enum memory_part part, int64_t bytes) {
  if (!add_i64(run->now.bytes, bytes, &run->now.bytes))
    run->s->overflow = true;
  else
    run->now.parts[part] += bytes; /* never more than the sum */
  if (run->s->asks && bytes != 0)
    *VEC_PUSH(run->s->arena, &run->s->requests) =
        (struct step_request){run->key, bytes, part};
  run->key = 0;
}

int64_t run_storage_bytes(struct run *run, size_t storage) {
  return run_extent_bytes(run, run->tape->storages.at[storage].extent);
}

static void put_there(struct run *run, struct run_use *use, size_t storage,
                      bool there) {
  use->there = there;
  run_note_change(
      run, use == run_once(run, storage) ? CHANGE_ONCE : CHANGE_AGAIN, storage);
}

/* A tensor that is kept elsewhere or in groups is in memory only while it is
 * read. */
static enum memory_part part_of(const struct run *run,
                                const struct run_use *use) {
  return use->saved && !use->packs && !run->s->offload ? PART_SAVED
                                                       : PART_TEMPORARY;
}

void run_allocate(struct run *run, size_t storage) {
  struct run_use *use = run_use_of(run, storage);
  put_there(run, use, storage, true);
  run_change(run, part_of(run, use), run_storage_bytes(run, storage));
}

static void release_use(struct run *run, struct run_use *use, size_t storage) {
  if (--use->left > 0 || !use->there)
    return;
  put_there(run, use, storage, false);
  run_change(run, part_of(run, use), -run_storage_bytes(run, storage));
}

void run_release(struct run *run, size_t storage) {
  release_use(run, run_use_of(run, storage), storage);
}

/* True if its module keeps the result until the end of the step. */
static bool stays(const struct run *run, const struct tape_op *op) {
  size_t made = run_value_at(run, op->first_out)->storage;
  return op->facts->result == RESULT_NEW && run->tape->storages.at[made].stays;
}

void run_replace(struct run *run, const struct tape_op *op) {
  size_t made = run_storage_of(run, op->first_out);
  if (run->repeated && stays(run, op))
    release_use(run, run_once(run, made), made);
}

void run_count_reads(struct run *run, const struct tape_op *op) {
  if (stays(run, op))
    run_use_of(run, run_storage_of(run, op->first_out))->left++;
  for (int i = 0; i < op->facts->in_count; i++)
    run_use_of(run, run_storage_of(run, run_input_of(run, op, i)))->left++;
}

/* Keeps a storage for one more backward, unchanged or in groups. */
static void keep(struct run *run, size_t storage) {
  struct run_use *use = run_use_of(run, storage);
  use->saved = true;
  if (run_moves(run))
    return;
  if (run_packable(run, storage)) {
    use->packs = true;
    use->packed++;
  } else {
    use->left++;
  }
}

/* Keeps what a loose operation saves until its node is freed. */
static void count_loose(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->facts->saved_count && !run_moves(run); i++) {
    size_t saved = run->tape->saved.at[op->first_saved + (size_t)i];
    run_use_of(run, run_root_of(run, saved))->left++;
  }
}

void run_count_saves(struct run *run, const struct tape_op *op) {
  if (run->until && loose_is(run, op)) {
    count_loose(run, op);
    return;
  }
  for (int i = 0; i < op->facts->saved_count; i++)
    keep(run,
         run_root_of(run, run->tape->saved.at[op->first_saved + (size_t)i]));
}

void run_fetch_inputs(struct run *run, const struct segment *segment) {
  bool away = run->s->offload || run->s->saved_bits;
  for (size_t i = segment->first; i < segment->end && away; i++) {
    const struct tape_op *op = &run->tape->ops.at[i];
    for (int k = 0; k < op->facts->in_count; k++) {
      size_t storage = run_storage_of(run, run_input_of(run, op, k));
      if (run_made_in(run, segment, storage) ||
          (!run->s->offload && !run_once(run, storage)->packs))
        continue;
      run_once(run, storage)->left++;
      if (!run_once(run, storage)->there &&
          run->tape->storages.at[storage].owned)
        run_allocate(run, storage);
    }
  }
}

int64_t run_fetched_bytes(struct run *run, const struct tape_op *op) {
  bool moves = run_moves(run);
  if (!moves && !run->s->saved_bits)
    return 0;
  int64_t kept = run_kept_bytes(run, op), sum = 0;
  if (moves || run_stored_bytes(run, op) != kept)
    sum = kept;
  for (int i = 0; i < op->facts->saved_count; i++) {
    size_t saved =
        run_root_of(run, run->tape->saved.at[op->first_saved + (size_t)i]);
    if ((moves || run_packable(run, saved)) &&
        !add_i64(sum, run_storage_bytes(run, saved), &sum))
      run->s->overflow = true;
  }
  return sum;
}

static void release_input(struct run *run, size_t storage) {
  run_release(run, storage);
  if (run_packable(run, storage))
    run_unpack(run, storage);
}

void run_release_inputs(struct run *run, const struct segment *segment) {
  run_each_input(run, segment, release_input);
}

const struct segment *run_segment_at(const struct run *run, size_t *next,
                                     size_t op) {
  const struct simulation *s = run->s;
  while (*next < s->segment_count && s->segments[*next].end <= op)
    ++*next;
  if (*next < s->segment_count && s->segments[*next].first <= op)
    return &s->segments[*next];
  return NULL;
}

/* Holds an output of the net, unless a part before this one makes it. */
static void hold(struct run *run, size_t value) {
  size_t storage = run_storage_of(run, value);
  if (storage >= run->first_storage)
    run_once(run, storage)->left++;
}

/* Results that a segment holds, as create_selective_checkpoint_contexts() of
 * torch/utils/checkpoint.py caches them. */
static void hold_results(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->facts->out_count; i++) {
    size_t storage = run_storage_of(run, op->first_out + (size_t)i);
    struct run_use *use = run_once(run, storage);
    use->held = use->saved = true;
    use->left++;
  }
}

void run_count_uses(struct run *run) {
  const struct simulation *s = run->s;
  size_t next = 0;
  for (size_t i = s->first; i < s->end; i++) {
    const struct tape_op *op = &run->tape->ops.at[i];
    const struct segment *segment = run_segment_at(run, &next, i);
    run_count_reads(run, op);
    if (!segment)
      run_count_saves(run, op);
    else if (segment->first == i)
      run_each_input(run, segment, keep); /* until its backward has run */
    if (segment && run_holds(run, op))
      hold_results(run, op);
  }
  if (s->end < run->tape->ops.count) /* a part: the next one reads its result */
    return;
  size_t outputs = trace_outputs(s->model, run->tape->training);
  for (size_t i = 0; i < outputs && !s->trace->drops_outputs; i++)
    hold(run, s->trace->value_of[s->model->outputs.at[i].node]);
  for (size_t i = 0; i < s->trace->ends.count; i++)
    hold(run, s->trace->ends.at[i]);
}
