/* Facts of operations, and extents: most are alike, and so kept once. */
#include "layers/tape/tape.h"

#include "base/hash.h"

enum { RECENT = 64 }; /* a power of two: kinds of operations that alternate */

/* By some members, none of them an address: equal bytes on every run. */
static size_t place_of(const struct op_facts *facts) {
  uint64_t sum = hash_text(HASH_TEXT, slice_of(facts->name));
  sum = hash_word(sum, (uint64_t)facts->work.count);
  sum = hash_word(sum, (uint64_t)facts->back_work.count);
  sum = hash_word(sum, (uint64_t)facts->kept[0].count);
  sum = hash_word(sum, (uint64_t)facts->macs);
  return (size_t)(sum >> 32) % RECENT;
}

static bool same_form(const struct op_facts *a, const struct op_facts *b) {
  return a->name == b->name && a->in_count == b->in_count &&
         a->out_count == b->out_count && a->saved_count == b->saved_count &&
         a->held_count == b->held_count && a->param_count == b->param_count &&
         a->frozen_count == b->frozen_count && a->result == b->result &&
         a->gradient == b->gradient && a->elementwise == b->elementwise &&
         a->folds == b->folds && a->listed == b->listed &&
         a->splits == b->splits && a->by_channel == b->by_channel &&
         a->scores == b->scores && a->rings == b->rings &&
         a->exchanges == b->exchanges && a->core == b->core &&
         a->macs == b->macs && a->ahead == b->ahead &&
         a->by_sample == b->by_sample &&
         a->input_by_sample == b->input_by_sample && a->packs == b->packs &&
         a->on_view == b->on_view && a->turns == b->turns && a->map == b->map &&
         a->parts == b->parts && a->by_rows == b->by_rows &&
         a->matrix_last == b->matrix_last &&
         a->packs_gradient == b->packs_gradient && a->reduces == b->reduces &&
         a->gradient_as_in == b->gradient_as_in &&
         a->gives_frozen == b->gives_frozen && a->quiet == b->quiet &&
         a->inner == b->inner && a->drops == b->drops;
}

bool facts_equal(const struct op_facts *a, const struct op_facts *b) {
  if (a == b)
    return true;
  bool same = same_form(a, b) && extent_equal(&a->work, &b->work) &&
              extent_equal(&a->back_work, &b->back_work) &&
              extent_equal(&a->back_more, &b->back_more) &&
              extent_equal(&a->unpacked, &b->unpacked) &&
              extent_equal(&a->gathered, &b->gathered) &&
              extent_equal(&a->back_gathered, &b->back_gathered);
  for (size_t i = 0; same && i < sizeof a->kept / sizeof *a->kept; i++)
    same = extent_equal(&a->kept[i], &b->kept[i]);
  return same;
}

const struct op_facts *tape_facts(struct tape *tape,
                                  const struct op_facts *facts) {
  if (!tape->recent)
    tape->recent = arena_alloc(tape->arena, RECENT, sizeof *tape->recent);
  const struct op_facts **seen = &tape->recent[place_of(facts)];
  if (*seen && facts_equal(*seen, facts))
    return *seen;
  struct op_facts *kept = ARENA_NEW(tape->arena, struct op_facts);
  memcpy(kept, facts, sizeof *kept);
  return *seen = kept;
}

struct op_facts *tape_own_facts(struct tape *tape, size_t index) {
  struct op_facts *own = ARENA_NEW(tape->arena, struct op_facts);
  *own = *tape->ops.at[index].facts;
  tape->ops.at[index].facts = own;
  return own;
}

bool extent_equal(const struct extent *a, const struct extent *b) {
  return a->count == b->count && a->share == b->share && a->fixed == b->fixed &&
         a->mask == b->mask && a->whole == b->whole && a->meets == b->meets &&
         a->several == b->several && a->at_once == b->at_once &&
         a->width == b->width;
}

bool tape_alike(const struct tape *tape, const struct tape_value *a,
                const struct tape_value *b) {
  return tape_same_extent(tape, a->extent, b->extent) &&
         tape_same_strides(tape, a->strides, b->strides) &&
         a->needs_gradient == b->needs_gradient && a->still == b->still &&
         a->shared == b->shared && a->part == b->part && a->view == b->view;
}

bool tape_same_extent(const struct tape *tape, size_t a, size_t b) {
  return a == b || extent_equal(&tape->extents.at[a], &tape->extents.at[b]);
}

uint32_t tape_keep_extent(struct tape *tape, struct extent extent) {
  uint64_t count = (uint64_t)extent.count;
  size_t hash = (size_t)(count ^ count >> 6) + extent.width;
  if (!tape->recent_extents)
    tape->recent_extents =
        arena_alloc(tape->arena, RECENT, sizeof *tape->recent_extents);
  uint32_t *seen = &tape->recent_extents[hash % RECENT];
  if (*seen < tape->extents.count &&
      extent_equal(&tape->extents.at[*seen], &extent))
    return *seen;
  *seen = tape_place(tape, tape->extents.count);
  *VEC_PUSH(tape->arena, &tape->extents) = extent;
  return *seen;
}

void tape_resize(struct tape *tape, size_t value, struct extent extent) {
  tape->values.at[value].extent = tape_keep_extent(tape, extent);
}

void tape_enlarge(struct tape *tape, size_t value, int64_t count) {
  struct extent extent = *tape_extent(tape, value);
  struct tape_storage *to = &tape->storages.at[tape->values.at[value].storage];
  if (count <= extent.count)
    return;
  extent.count = count;
  to->extent = tape_keep_extent(tape, extent);
}
