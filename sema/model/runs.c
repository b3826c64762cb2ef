/* Runs: remembered memory of parts of a net, for long searches. */
#include "sema/model/runs.h"

#include "base/hash.h"

enum { FIRST_ROOM = 1 << 8 };

static bool same(const struct run_key *a, const struct run_key *b) {
  return a->part == b->part && a->microbatch == b->microbatch &&
         a->whole == b->whole && a->moved == b->moved;
}

static struct ran *place_of(const struct runs *runs,
                            const struct run_key *key) {
  uint64_t hash = hash_word(key->part, (uint64_t)key->microbatch);
  size_t at = (size_t)(hash >> 32) & (runs->room - 1);
  while (runs->at[at].asked && !same(&runs->at[at].key, key))
    at = (at + 1) & (runs->room - 1);
  return &runs->at[at];
}

static void grow(struct runs *runs) {
  struct runs old = *runs;
  runs->room = old.room ? 2 * old.room : FIRST_ROOM;
  runs->at = arena_alloc(runs->arena, runs->room, sizeof *runs->at);
  for (size_t i = 0; i < old.room; i++)
    if (old.at[i].asked)
      *place_of(runs, &old.at[i].key) = old.at[i];
}

struct ran *runs_find(struct runs *runs, const struct run_key *key) {
  if (2 * runs->count >= runs->room)
    grow(runs);
  struct ran *ran = place_of(runs, key);
  runs->count += !ran->asked;
  ran->key = *key;
  ran->asked = true;
  return ran;
}
