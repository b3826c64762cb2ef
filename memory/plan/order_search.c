/*
 * Order search: raises a memory limit from a lower bound until an order fits.
 *
 * Below a limit, the search expands sets of chains that may have run, from the
 * beginning, and sets that may run last, from the end, all sets of one size
 * before larger ones. It commits to the first set Q that leaves no more in
 * memory than there was at the start, and continues from there, because some
 * best order passes through Q. Proof: the memory alive after a set is
 * submodular,
 *
 *   alive(D or Q) + alive(D and Q) <= alive(D) + alive(Q)
 *
 * for every set D that an order passes through. Also alive(D and Q) >=
 * alive(Q): all smaller sets within reach left more, and if any part of Q left
 * less, the smallest would be within reach. So alive(D or Q) <= alive(D), and
 * the order may run Q first and then the rest as before. (In trees, Q is a
 * segment between valleys: Liu 1987.) Results that overwrite freed tensors
 * change nothing. On top of the memory before it, a chain needs less the more
 * has run; on top of the memory after it, less the less has run.
 *
 * If the limit is too low, no set can be expanded; one end shows this sooner
 * than the other. So both get the same effort, which doubles.
 */
#include "memory/plan/order_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum {
  FIRST_EFFORT = 2000,  /* of the first walk */
  MOST_EFFORT = 200000, /* of all exact walks together, and of the last walk */
};

enum direction { FORWARD, BACKWARD };

/* Chains that have run; from the end, chains that have not. */
struct order_state {
  uint64_t hash;
  int64_t live, peak;
  size_t parent;  /* index in the states */
  uint32_t chain; /* last chain */
};

/* The decided chains: those that run first, or those that run last. */
struct end {
  uint64_t *set, *next; /* next: chains that may follow */
  int64_t live;         /* bytes between them and the rest */
  size_t count;
};

struct order_search {
  const struct order_problem *problem;
  size_t words;
  struct end ends[2];
  uint32_t *sequence;
  uint64_t effort;
  int64_t least; /* proven: no order needs less */

  /* The current walk: */
  enum direction direction;
  int64_t limit;
  int64_t beyond; /* smallest need above the limit */
  VEC(struct order_state) states;
  VEC(uint64_t) sets; /* by state: its chains, and those that may follow */
  size_t with_sets;   /* first state with sets */
  VEC(size_t) slots;  /* hash table of the last level: states, from 1 */
  size_t level;       /* first state of that level */
};

static bool has(const uint64_t *set, size_t i) {
  return set[i / 64] >> (i % 64) & 1;
}

static uint64_t bit(size_t i) {
  return (uint64_t)1 << (i % 64);
}

/* The first member of a set from `i` on; `end`: none. */
static size_t next_in(const uint64_t *set, size_t i, size_t end) {
  while (i < end) {
    uint64_t rest = set[i / 64] >> (i % 64);
    if (rest)
      return i + (size_t)__builtin_ctzll(rest);
    i = (i | 63) + 1;
  }
  return end;
}

/* The hash of a set is the sum of its members' hashes. */
static uint64_t hash_of(uint32_t chain) {
  uint64_t h = (chain + 1) * 0x9E3779B97F4A7C15u;
  h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9u;
  return h ^ h >> 32;
}

static const uint64_t *set_of(const struct order_search *s, size_t state) {
  return &s->sets.at[(state - s->with_sets) * 2 * s->words];
}

/* Chains that may come next. */
static uint64_t *next_of(struct order_search *s, size_t state) {
  return &s->sets.at[((state - s->with_sets) * 2 + 1) * s->words];
}

/* Bytes in memory while a chain runs, and after it in the walk's direction. */
struct order_turn {
  int64_t during, live;
};

/*
 * True if all readers of a value except that chain have run. Starts where most
 * readers that have not run are: at the end, or at the start.
 */
static bool dies_with(struct order_search *s, const uint64_t *set,
                      const struct order_value *value, uint32_t chain) {
  bool forward = s->direction == FORWARD;
  for (uint32_t i = value->readers; i < value->readers_end; i++) {
    uint32_t at = forward ? value->readers_end - 1 - (i - value->readers) : i;
    uint32_t reader = s->problem->readers[at];
    s->effort++;
    if (reader != chain && has(set, reader) != forward)
      return false;
  }
  return true;
}

static struct order_turn try_chain(struct order_search *s, size_t state,
                                   uint32_t number) {
  const struct order_problem *problem = s->problem;
  const struct order_chain *chain = &problem->chains[number];
  int64_t freed = 0, over = 0;
  for (uint32_t i = chain->reads; i < chain->reads_end; i++) {
    const struct order_read *read = &problem->reads.at[i];
    const struct order_value *value = &problem->values.at[read->value];
    if (!dies_with(s, set_of(s, state), value, number))
      continue;
    freed += value->bytes;
    if (read->replaces)
      over = value->bytes;
  }
  s->effort += 2;
  int64_t live = s->states.at[state].live, before = live;
  if (s->direction == FORWARD)
    live += chain->left - freed;
  else
    before = live -= chain->left - freed;
  int64_t during = max_i64(chain->first - over, chain->later - freed);
  return (struct order_turn){before + during, live};
}

/* True if a set is that of a state plus one chain. */
static bool is_set(const struct order_search *s, const uint64_t *set,
                   size_t state, uint32_t chain) {
  const uint64_t *without = set_of(s, state);
  for (size_t w = 0; w < s->words; w++)
    if (set[w] != (w == chain / 64 ? without[w] | bit(chain) : without[w]))
      return false;
  return true;
}

static size_t *free_slot(struct order_search *s, uint64_t hash) {
  size_t at = hash & (s->slots.count - 1);
  while (s->slots.at[at])
    at = (at + 1) & (s->slots.count - 1);
  return &s->slots.at[at];
}

static void grow_slots(struct order_search *s) {
  size_t count = s->slots.count ? 2 * s->slots.count : 64;
  s->slots.count = 0;
  memset(VEC_MORE(s->problem->arena, &s->slots, count), 0,
         count * sizeof *s->slots.at);
  for (size_t i = s->level; i < s->states.count; i++)
    *free_slot(s, s->states.at[i].hash) = i + 1;
}

/* Adds the chains that were waiting only for chain `number`. */
static void find_next(struct order_search *s, size_t state, uint32_t number) {
  const struct order_problem *problem = s->problem;
  const struct order_chain *chain = &problem->chains[number];
  const uint64_t *set = set_of(s, state), *other = s->ends[!s->direction].set;
  uint64_t *next = next_of(s, state);
  bool forward = s->direction == FORWARD;
  const uint32_t *behind = forward ? problem->followers : problem->needs.at;
  const uint32_t *before = forward ? problem->needs.at : problem->followers;
  uint32_t i = forward ? chain->followers : chain->needs;
  uint32_t end = forward ? chain->followers_end : chain->needs_end;
  next[number / 64] &= ~bit(number);
  for (; i < end; i++) {
    const struct order_chain *to = &problem->chains[behind[i]];
    uint32_t k = forward ? to->needs : to->followers;
    uint32_t last = forward ? to->needs_end : to->followers_end;
    while (k < last && has(set, before[k]))
      k++;
    if (k == last && !has(other, behind[i]))
      next[behind[i] / 64] |= bit(behind[i]);
  }
}

static size_t add_state(struct order_search *s, size_t from, uint32_t chain,
                        const struct order_turn *turn) {
  struct arena *arena = s->problem->arena;
  size_t state = s->states.count, bytes = 2 * s->words * sizeof(uint64_t);
  uint64_t *set = VEC_MORE(arena, &s->sets, 2 * s->words);
  struct order_state *new = VEC_PUSH(arena, &s->states);
  *new = (struct order_state){.hash = s->states.at[from].hash + hash_of(chain),
                              .live = turn->live,
                              .peak = INT64_MAX,
                              .parent = from,
                              .chain = chain};
  memcpy(set, set_of(s, from), bytes);
  set[chain / 64] |= bit(chain);
  find_next(s, state, chain);
  return state;
}

/* Finds or adds the state after another one; keeps the better path to it. */
static size_t reach(struct order_search *s, size_t from, uint32_t chain,
                    const struct order_turn *turn) {
  if (2 * (s->states.count - s->level) >= s->slots.count)
    grow_slots(s);
  uint64_t hash = s->states.at[from].hash + hash_of(chain);
  size_t mask = s->slots.count - 1, at = hash & mask;
  while (s->slots.at[at] &&
         (s->states.at[s->slots.at[at] - 1].hash != hash ||
          !is_set(s, set_of(s, s->slots.at[at] - 1), from, chain)))
    at = (at + 1) & mask;
  if (!s->slots.at[at])
    s->slots.at[at] = add_state(s, from, chain, turn) + 1;
  size_t number = s->slots.at[at] - 1;
  struct order_state *state = &s->states.at[number];
  int64_t peak = max_i64(s->states.at[from].peak, turn->during);
  if (peak < state->peak) {
    state->peak = peak;
    state->parent = from;
    state->chain = chain;
  }
  return number;
}

/* Commits to the path to a state. */
static void settle(struct order_search *s, size_t state) {
  struct end *end = &s->ends[s->direction], *other = &s->ends[!s->direction];
  size_t steps = 0, at;
  end->live = s->states.at[state].live;
  memcpy(end->set, set_of(s, state), s->words * sizeof *end->set);
  memcpy(end->next, next_of(s, state), s->words * sizeof *end->next);
  for (size_t w = 0; w < s->words; w++)
    other->next[w] &= ~end->set[w];
  for (at = state; at > 0; at = s->states.at[at].parent)
    steps++;
  end->count += steps;
  for (at = 0; at < steps; at++, state = s->states.at[state].parent)
    s->sequence[s->direction == FORWARD ? end->count - 1 - at
                                        : s->problem->count - end->count + at] =
        s->states.at[state].chain;
}

static size_t chains_left(const struct order_search *s) {
  return s->problem->count - s->ends[FORWARD].count - s->ends[BACKWARD].count;
}

static void begin_walk(struct order_search *s, enum direction direction,
                       int64_t limit) {
  const struct end *end = &s->ends[direction];
  struct arena *arena = s->problem->arena;
  size_t bytes = s->words * sizeof *end->set;
  s->direction = direction;
  s->limit = limit;
  s->beyond = INT64_MAX;
  s->states.count = s->sets.count = s->level = s->with_sets = 0;
  uint64_t *set = VEC_MORE(arena, &s->sets, 2 * s->words);
  memcpy(set, end->set, bytes);
  memcpy(set + s->words, end->next, bytes);
  *VEC_PUSH(arena, &s->states) = (struct order_state){.live = end->live};
}

enum order_outcome {
  SETTLED, /* an end has advanced */
  DEAD,    /* no path within the limit */
  GAVE_UP, /* effort exhausted */
};

/* Adds every chain that may follow a state. */
static enum order_outcome expand(struct order_search *s, size_t state,
                                 uint64_t until, bool exact) {
  size_t count = s->problem->count;
  s->effort += s->words;
  for (size_t c = next_in(next_of(s, state), 0, count); c < count;
       c = next_in(next_of(s, state), c + 1, count)) {
    if (s->effort > until)
      return GAVE_UP;
    struct order_turn turn = try_chain(s, state, (uint32_t)c);
    if (turn.during > s->limit) {
      s->beyond = min_i64(s->beyond, turn.during);
      continue;
    }
    size_t to = reach(s, state, (uint32_t)c, &turn);
    s->effort += s->words;
    if (exact && s->states.at[to].live <= s->states.at[0].live) {
      settle(s, to);
      return SETTLED;
    }
  }
  return DEAD;
}

/* Starts the next level, whose states are one chain larger. Earlier levels keep
 * only their paths, not their sets. */
static void next_level(struct order_search *s) {
  size_t gone = (s->level - s->with_sets) * 2 * s->words;
  s->sets.count -= gone;
  memmove(s->sets.at, s->sets.at + gone, s->sets.count * sizeof *s->sets.at);
  s->with_sets = s->level;
  s->level = s->states.count;
  s->slots.count = 0;
}

/* Expands every state within the limit until one is safe to commit to. */
static enum order_outcome walk(struct order_search *s, enum direction direction,
                               uint64_t effort) {
  size_t left = chains_left(s), begin = 0, end = 1;
  uint64_t until = s->effort + effort;
  begin_walk(s, direction, s->least);
  for (; begin < end; begin = end, end = s->states.count) {
    if (left-- == 0) {
      settle(s, begin);
      return SETTLED;
    }
    next_level(s);
    for (size_t i = begin; i < end; i++) {
      enum order_outcome outcome = expand(s, i, until, true);
      if (outcome != DEAD)
        return outcome;
    }
  }
  s->least = s->beyond;
  return DEAD;
}

struct order_scored {
  int64_t peak, live;
  size_t state;
};

static int compare_scored(const void *a, const void *b) {
  const struct order_scored *x = a, *y = b;
  int order = compare_i64(x->peak, y->peak);
  order = order ? order : compare_i64(x->live, y->live);
  return order ? order : compare_i64((int64_t)x->state, (int64_t)y->state);
}

/* Expands some states within the limit, as many per level as the effort allows,
 * to the other end. */
static bool find_some_way(struct order_search *s, int64_t limit,
                          uint64_t effort) {
  struct arena *arena = s->problem->arena;
  uint64_t begun = s->effort, until = begun + effort, done = 1;
  VEC(struct order_scored) level = {0};
  begin_walk(s, FORWARD, limit);
  VEC_PUSH(arena, &level);
  for (size_t left = chains_left(s); left > 0; left--) {
    uint64_t spent = s->effort - begun,
             rest = s->effort < until ? until - s->effort : 0;
    uint64_t most = rest / left / (spent / done + 1) + 1;
    if (level.count > most) {
      qsort(level.at, level.count, sizeof *level.at, compare_scored);
      level.count = (size_t)most;
    }
    next_level(s);
    for (size_t i = 0; i < level.count; i++)
      if (expand(s, level.at[i].state, until + effort, false) == GAVE_UP)
        return false;
    done += level.count;
    level.count = 0;
    for (size_t i = s->level; i < s->states.count; i++)
      *VEC_PUSH(arena, &level) =
          (struct order_scored){s->states.at[i].peak, s->states.at[i].live, i};
    if (level.count == 0)
      return false;
  }
  settle(s, s->states.count - 1);
  return true;
}

static void open_ends(struct order_search *s) {
  const struct order_problem *problem = s->problem;
  for (int i = 0; i < 2; i++) {
    s->ends[i].set = arena_alloc(problem->arena, s->words, sizeof(uint64_t));
    s->ends[i].next = arena_alloc(problem->arena, s->words, sizeof(uint64_t));
    s->ends[i].live = problem->live;
  }
  for (size_t i = 0; i < problem->count; i++) {
    const struct order_chain *chain = &problem->chains[i];
    s->ends[BACKWARD].live += chain->left;
    if (chain->needs == chain->needs_end)
      s->ends[FORWARD].next[i / 64] |= bit(i);
    if (chain->followers == chain->followers_end)
      s->ends[BACKWARD].next[i / 64] |= bit(i);
  }
  for (size_t i = 0; i < problem->values.count; i++)
    s->ends[BACKWARD].live -= problem->values.at[i].bytes;
}

/* Advances both ends while effort is left and a better order is possible. */
static void walk_ends(struct order_search *s, uint64_t effort) {
  for (int i = 0; i < 2; i++)
    while (chains_left(s) && s->least < s->problem->bound &&
           s->effort < MOST_EFFORT &&
           walk(s, (enum direction)i, effort) != GAVE_UP)
      continue;
}

struct order_found order_search(const struct order_problem *problem,
                                uint32_t *sequence) {
  struct order_search s = {.problem = problem,
                           .words = (problem->count + 63) / 64,
                           .sequence = sequence,
                           .least = problem->least};
  struct order_found found = {0};
  open_ends(&s);
  for (uint64_t effort = FIRST_EFFORT; s.effort < MOST_EFFORT; effort *= 2) {
    walk_ends(&s, effort);
    found.better = chains_left(&s) == 0;
    found.complete = found.better || s.least >= problem->bound;
    if (found.complete)
      break;
    found.better = found.complete = find_some_way(&s, s.least, effort);
    if (found.better)
      break;
  }
  if (!found.complete)
    found.better = find_some_way(&s, problem->bound - 1, MOST_EFFORT);
  found.least = min_i64(s.least, problem->bound);
  found.effort = s.effort;
  return found;
}
