/* Facts of operations, and extents: most are alike, and so kept once. */
#include "tape/tape.h"

enum { RECENT = 64 }; /* a power of two: kinds of operations that take turns */

/* Of bytes: what differs only in what no member has is kept twice. */
static size_t place_of(const struct op_facts *facts) {
  uint64_t words[sizeof *facts / sizeof(uint64_t)], sum = 0;
  memcpy(words, facts, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15;
  return (size_t)(sum >> 32) % RECENT;
}

const struct op_facts *tape_facts(struct tape *tape,
                                  const struct op_facts *facts) {
  if (!tape->recent)
    tape->recent = arena_alloc(tape->arena, RECENT, sizeof *tape->recent);
  const struct op_facts **seen = &tape->recent[place_of(facts)];
  if (*seen && memcmp(*seen, facts, sizeof *facts) == 0)
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
         a->mask == b->mask && a->whole == b->whole && a->width == b->width;
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
