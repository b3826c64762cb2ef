/* Facts and extents of operations. Equal ones are stored once. */
#include "layers/tape/tape.h"

#include "base/hash.h"

enum { RECENT = 64 }; /* recent facts that are compared; a power of two */

/* Addresses are not hashed, so that every run finds the same slots. */
static size_t place_of(const struct op_facts *facts) {
  uint64_t sum = hash_text(HASH_TEXT, slice_of(facts->name));
  sum = hash_word(sum, (uint64_t)facts->work.count);
  sum = hash_word(sum, (uint64_t)facts->back_work.count);
  sum = hash_word(sum, (uint64_t)facts->kept[0].count);
  sum = hash_word(sum, (uint64_t)facts->macs);
  return (size_t)(sum >> 32) % RECENT;
}

static bool extents_equal(const void *a, const void *b, size_t size) {
  const struct extent *x = a, *y = b;
  for (size_t i = 0; i < size / sizeof *x; i++)
    if (!extent_equal(&x[i], &y[i]))
      return false;
  return true;
}

bool facts_equal(const struct op_facts *a, const struct op_facts *b) {
  if (a == b)
    return true;
#define FACT(type, member)    \
  if (a->member != b->member) \
    return false;
#define FOUND FACT
#include "layers/tape/facts.def"
#define FOUND_EXTENT(member)                                    \
  if (!extents_equal(&a->member, &b->member, sizeof a->member)) \
    return false;
#define EXTENT(member, said, found) FOUND_EXTENT(member)
#include "layers/tape/facts.def"
  return true;
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
         a->several == b->several && a->pages == b->pages &&
         a->at_once == b->at_once && a->routed == b->routed &&
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
  extent.width = tape_extent(tape, value)->width; /* autocast may have set it */
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
