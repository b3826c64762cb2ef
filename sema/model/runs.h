/* Runs: what parts of a net took that have been run, for long searches. */
#ifndef NETC_SEMA_MODEL_RUNS_H
#define NETC_SEMA_MODEL_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "sema/model/settings.h"

/* All that a run depends on: alike.h has the key, of what it is. */
struct run_key {
  uint64_t part;
  int64_t microbatch;
  bool whole, moved; /* all of the net; what it keeps goes to the host */
};

struct unit_linked;

struct ran {
  struct run_key key;
  bool asked, there;
  const struct unit_linked *linked; /* chain.c: unit by unit; NULL: not yet */
  int64_t kept, most; /* bytes for backward; and with all beside */
};

/* Where a pipeline may be cut, by what the choice depends on. */
struct known_cuts {
  int64_t checkpoint, batch, most, least;
  const int64_t *at;
  size_t count;
};

struct tape_known;
struct net_borders;

struct runs {
  struct arena *arena;
  struct tape_known *tapes;          /* of steps, the last one first */
  size_t ops;                        /* of all these tapes */
  const struct net_borders *borders; /* of the net; NULL: not yet looked for */
  VEC(struct known_cuts) cuts;
  struct ran *at; /* in `room` places, a power of two */
  size_t count, room;
};

/* The place of a run, until the next one is asked for; `there` says whether
   it has been remembered. */
struct ran *runs_find(struct runs *runs, const struct run_key *key);

#endif
