/* Order: the search for the best order of a part of a net. */
#include "plan/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum {
  MOST_STATES = 2000,    /* sets that are followed at the same time */
  ALL_EFFORT = 20000000, /* in all parts */
  MOST_EFFORT = 5000000, /* chains that are looked at in a part */
};

/* Chains that have run, and the best way to get there. */
struct state {
  uint64_t *done;
  uint64_t *ready; /* chains that may run now */
  int64_t live, peak;
  size_t parent; /* in the states of the level before */
  size_t chain;  /* that led here */
};

struct level {
  VEC(struct state) states;
  size_t *slots; /* hash table of states, from 1 */
  size_t room;
};

static bool has(const uint64_t *set, size_t i) {
  return set[i / 64] >> (i % 64) & 1;
}

static void put(uint64_t *set, size_t i) {
  set[i / 64] |= (uint64_t)1 << (i % 64);
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

static uint64_t hash(const uint64_t *set, size_t words) {
  uint64_t h = 0;
  for (size_t i = 0; i < words; i++) {
    h = (h ^ set[i]) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return h;
}

static const struct plan_task *chain_task(const struct order_part *part,
                                          size_t i) {
  return &part->graph->tasks.at[part->chains.tasks[i]];
}

/* Whether all that a chain needs has run. */
static bool may_run(const struct order_part *part, const uint64_t *done,
                    size_t chain) {
  for (size_t i = part->need_at[chain]; i < part->need_at[chain + 1]; i++)
    if (!has(done, part->needs.at[i]))
      return false;
  return true;
}

/* Readers to come of every tensor that the part reads, before it begins. */
static void begin_left(const struct order_part *part, const int64_t *before,
                       int64_t *left) {
  const struct task_graph *graph = part->graph;
  for (size_t i = part->from; i < part->from + part->count; i++) {
    const struct plan_task *task = &graph->tasks.at[i];
    for (int k = 0; k < task->read_count; k++) {
      size_t read = graph->reads.at[task->first_read + (size_t)k];
      left[read] = before[read];
    }
  }
}

/* The slot of the state of that set, or the free one where it belongs. */
static size_t *slot_of(const struct level *level, size_t words,
                       const uint64_t *done) {
  size_t at = hash(done, words) & (level->room - 1);
  while (level->slots[at] && memcmp(level->states.at[level->slots[at] - 1].done,
                                    done, words * sizeof *done) != 0)
    at = (at + 1) & (level->room - 1);
  return &level->slots[at];
}

static void grow_slots(struct arena *arena, struct level *level, size_t words) {
  level->room = level->room ? level->room * 2 : 64;
  level->slots = arena_alloc(arena, level->room, sizeof *level->slots);
  for (size_t i = 0; i < level->states.count; i++)
    *slot_of(level, words, level->states.at[i].done) = i + 1;
}

/* Adds a state or improves the one of the same set; true: it is new. */
static bool reach(struct arena *arena, struct level *level, size_t words,
                  const struct state *state) {
  if (2 * level->states.count >= level->room)
    grow_slots(arena, level, words);
  size_t *slot = slot_of(level, words, state->done);
  if (*slot) {
    struct state *old = &level->states.at[*slot - 1];
    if (state->peak < old->peak) {
      old->peak = state->peak;
      old->parent = state->parent;
      old->chain = state->chain;
    }
    return false;
  }
  struct state *new = VEC_PUSH(arena, &level->states);
  *new = *state;
  new->done = arena_alloc(arena, words, sizeof *new->done);
  memcpy(new->done, state->done, words * sizeof *new->done);
  *slot = level->states.count;
  return true;
}

static int compare_states(const void *a, const void *b) {
  const struct state *x = a, *y = b;
  if (x->peak != y->peak)
    return x->peak < y->peak ? -1 : 1;
  if (x->live != y->live)
    return x->live < y->live ? -1 : 1;
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  return x->chain < y->chain ? -1 : x->chain > y->chain; /* never equal */
}

/* Keeps those that have needed least so far. */
static void keep_best(struct level *level, size_t most) {
  qsort(level->states.at, level->states.count, sizeof *level->states.at,
        compare_states);
  level->states.count = most;
}

struct search {
  struct order_part part;
  struct order_walk walk;
  uint64_t *ran; /* chains that the walk's readers to come do not count */
  size_t most;   /* states that are followed at the same time */
  int64_t bound; /* ways that need as much are not followed */
  struct level *levels;
  uint64_t *scratch;
  uint64_t effort;
  bool complete; /* nothing was dropped */
};

/* As if the chain had not run; only what is alive is not put back. */
static void run_back(struct search *search, size_t chain) {
  const struct order_part *part = &search->part;
  for (size_t k = part->chains.begins[chain];
       k < part->chains.begins[chain + 1]; k++) {
    const struct plan_task *task = chain_task(part, k);
    for (int i = 0; i < task->read_count; i++)
      search->walk.left[part->graph->reads.at[task->first_read + (size_t)i]]++;
  }
}

/* Runs a chain; returns the most that is alive meanwhile. */
static int64_t run_chain(struct search *search, size_t chain) {
  const struct order_part *part = &search->part;
  int64_t most = 0;
  for (size_t k = part->chains.begins[chain];
       k < part->chains.begins[chain + 1]; k++)
    most = max_i64(most, order_step(&search->walk, chain_task(part, k)));
  return most;
}

/* What may run at first. */
static void find_ready(struct search *search, struct state *state) {
  const struct order_part *part = &search->part;
  state->ready = arena_alloc(part->arena, part->words, sizeof(uint64_t));
  for (size_t c = 0; c < part->chains.count; c++)
    if (part->need_at[c] == part->need_at[c + 1])
      put(state->ready, c);
}

/* What may run behind `from`, and now that its chain has run. */
static void add_ready(struct search *search, const struct state *from,
                      struct state *to) {
  const struct order_part *part = &search->part;
  size_t c = to->chain;
  to->ready = arena_alloc(part->arena, part->words, sizeof(uint64_t));
  memcpy(to->ready, from->ready, part->words * sizeof(uint64_t));
  to->ready[c / 64] &= ~((uint64_t)1 << c % 64);
  for (size_t i = part->follow_at[c]; i < part->follow_at[c + 1]; i++)
    if (may_run(part, to->done, part->followers[i]))
      put(to->ready, part->followers[i]);
}

/* The walk goes to a state; only what is alive is not set. */
static void walk_to(struct search *search, const uint64_t *done) {
  const struct order_part *part = &search->part;
  const struct task_graph *graph = part->graph;
  size_t count = part->chains.count;
  for (size_t w = 0; w < part->words; w++)
    search->scratch[w] = search->ran[w] ^ done[w];
  for (size_t c = next_in(search->scratch, 0, count); c < count;
       c = next_in(search->scratch, c + 1, count)) {
    /* Only a chain's first task reads from others. */
    const struct plan_task *task = chain_task(part, part->chains.begins[c]);
    for (int i = 0; i < task->read_count; i++)
      search->walk.left[graph->reads.at[task->first_read + (size_t)i]] +=
          has(done, c) ? -1 : 1;
  }
  memcpy(search->ran, done, part->words * sizeof *done);
}

/* What is alive while a chain runs, and behind it. */
struct turn {
  int64_t during, live;
};

static struct turn try_chain(struct search *search, const struct state *from,
                             size_t chain) {
  search->effort += search->part.chains.count;
  search->walk.live = from->live;
  int64_t during = run_chain(search, chain);
  run_back(search, chain);
  return (struct turn){during, search->walk.live};
}

static void follow_chain(struct search *search, size_t depth, size_t index,
                         size_t chain) {
  struct order_part *part = &search->part;
  struct level *next = &search->levels[depth + 1];
  const struct state *from = &search->levels[depth].states.at[index];
  struct turn turn = try_chain(search, from, chain);
  if (turn.during >= search->bound)
    return;
  memcpy(search->scratch, from->done, part->words * sizeof(uint64_t));
  put(search->scratch, chain);
  struct state to = {.done = search->scratch,
                     .live = turn.live,
                     .peak = max_i64(from->peak, turn.during),
                     .parent = index,
                     .chain = chain};
  if (reach(part->arena, next, part->words, &to))
    add_ready(search, from, &next->states.at[next->states.count - 1]);
}

/* Tries every chain that may run now. */
static void expand_state(struct search *search, size_t depth, size_t index) {
  const struct order_part *part = &search->part;
  const struct state *from = &search->levels[depth].states.at[index];
  walk_to(search, from->done);
  search->effort += part->chains.count;
  for (size_t c = next_in(from->ready, 0, part->chains.count);
       c < part->chains.count;
       c = next_in(from->ready, c + 1, part->chains.count)) {
    if (search->effort > 2 * MOST_EFFORT) { /* one state with many chains */
      search->complete = false;
      return;
    }
    follow_chain(search, depth, index, c);
  }
}

static bool search_levels(struct search *search) {
  struct order_part *part = &search->part;
  for (size_t depth = 0; depth < part->chains.count; depth++) {
    struct level *level = &search->levels[depth];
    if (level->states.count > search->most) {
      keep_best(level, search->most);
      search->complete = false;
    }
    struct level *next = level + 1;
    for (size_t i = 0; i < level->states.count; i++) {
      if (next->states.count > MOST_STATES * 64) {
        search->complete = false;
        break;
      }
      if (search->effort > MOST_EFFORT) {
        search->complete = false;
        return false;
      }
      expand_state(search, depth, i);
    }
    if (next->states.count == 0)
      return false; /* no way is better than the one at hand */
  }
  return true;
}

/* The needs, the other way round. */
static void find_followers(struct order_part *part) {
  size_t count = part->chains.count;
  size_t *at = arena_alloc(part->arena, count + 2, sizeof *at);
  part->followers =
      arena_alloc(part->arena, part->needs.count + 1, sizeof *part->followers);
  for (size_t i = 0; i < part->needs.count; i++)
    at[part->needs.at[i] + 2]++;
  for (size_t c = 2; c < count + 2; c++)
    at[c] += at[c - 1];
  for (size_t c = 0; c < count; c++)
    for (size_t i = part->need_at[c]; i < part->need_at[c + 1]; i++)
      part->followers[at[part->needs.at[i] + 1]++] = c;
  part->follow_at = at;
}

/* Which chains of the part must have run before each. */
static void find_needs(struct order_part *part) {
  struct task_graph *graph = part->graph;
  struct chains *chains = &part->chains;
  size_t *chain_of = arena_alloc(part->arena, part->count, sizeof *chain_of);
  chains_find(graph, part->from, part->count, part->room->reader, part->arena,
              chains);
  part->words = (chains->count + 63) / 64;
  part->need_at = arena_alloc(part->arena, chains->count + 1, sizeof(size_t));
  for (size_t c = 0; c < chains->count; c++)
    for (size_t k = chains->begins[c]; k < chains->begins[c + 1]; k++)
      chain_of[chains->tasks[k] - part->from] = c;
  for (size_t c = 0; c < chains->count; c++) {
    const struct plan_task *task = chain_task(part, chains->begins[c]);
    part->need_at[c] = part->needs.count;
    for (int k = 0; k < task->read_count; k++) {
      size_t by =
          part->room->maker[graph->reads.at[task->first_read + (size_t)k]];
      if (by != SIZE_MAX && by >= part->from)
        *VEC_PUSH(part->arena, &part->needs) = chain_of[by - part->from];
    }
  }
  part->need_at[chains->count] = part->needs.count;
  find_followers(part);
}

struct finding {
  int64_t peak;  /* of the part, in that order */
  bool complete; /* nothing was dropped on the way */
  bool better;   /* an order was found and written down */
};

static struct finding search_part(struct order_part *part,
                                  const struct order_walk *start, int64_t bound,
                                  size_t most, size_t *order) {
  struct arena *arena = part->arena;
  struct search search = {.part = *part,
                          .walk = *start,
                          .most = most,
                          .bound = bound,
                          .complete = true};
  search.walk.left = part->room->left;
  begin_left(part, start->left, search.walk.left);
  search.levels =
      arena_alloc(arena, part->chains.count + 1, sizeof *search.levels);
  search.scratch = arena_alloc(arena, part->words, sizeof *search.scratch);
  search.ran = arena_alloc(arena, part->words, sizeof *search.ran);
  struct state first = {.done = search.scratch, .live = start->live};
  struct level *level = &search.levels[0];
  reach(arena, level, part->words, &first);
  find_ready(&search, &level->states.at[0]);
  bool arrives = search_levels(&search);
  part->room->effort += search.effort;
  if (!arrives)
    return (struct finding){0, search.complete, false};
  size_t state = 0, place = part->from + part->count;
  for (size_t depth = part->chains.count; depth > 0; depth--) {
    const struct state *at = &search.levels[depth].states.at[state];
    for (size_t k = part->chains.begins[at->chain + 1];
         k-- > part->chains.begins[at->chain];)
      order[--place] = part->chains.tasks[k];
    state = at->parent;
  }
  const struct level *last = &search.levels[part->chains.count];
  return (struct finding){last->states.at[0].peak, search.complete, true};
}

/* Where the effort does not reach to the end, few ways are followed. */
static struct finding improve(struct order_part *part,
                              const struct order_walk *start, int64_t bound,
                              size_t *order) {
  part->needs.count = part->needs.room = 0;
  find_needs(part);
  struct finding found = search_part(part, start, bound, MOST_STATES, order);
  if (!found.complete && !found.better) {
    size_t count = part->chains.count < 1000 ? part->chains.count : 1000;
    size_t few = MOST_EFFORT / (count * count * count);
    search_part(part, start, bound, few ? few : 1, order);
  }
  return found;
}

bool order_improve(struct order_part *part, const struct order_walk *start,
                   int64_t bound, int64_t *least, size_t *order) {
  struct arena scratch;
  if (part->room->effort >= ALL_EFFORT)
    return false;
  arena_open_in(&scratch, part->graph->arena);
  part->arena = &scratch;
  struct finding found = improve(part, start, bound, order);
  arena_close(&scratch);
  if (found.complete)
    *least = max_i64(*least, found.better ? found.peak : bound);
  return found.complete;
}
