/* Runs: what parts of a net took that have been run, for long searches. */
#ifndef NETC_MODEL_RUNS_H
#define NETC_MODEL_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/settings.h"

struct stage; /* memory/parallel.h */
struct chain; /* step/checkpoint.c */

/* All that a run depends on: alike.h has the key, of what it is. */
struct run_key {
  uint64_t part;
  int64_t microbatch;
  bool whole, moved; /* all of the net; what it keeps goes to the host */
};

struct ran {
  struct run_key key;
  bool there;
  int64_t kept, most;       /* bytes for backward; and with all beside */
  const struct stage *held; /* microbatch 0: what it holds for any batch */
};

/* Where a pipeline may be cut, by what the choice depends on. */
struct known_cuts {
  int64_t checkpoint, batch, most;
  const int64_t *at;
  size_t count;
};

struct runs {
  struct arena *arena;
  struct train_settings held_for; /* whose `held` are: stage.c */
  VEC(struct known_cuts) cuts;
  struct train_settings chain_for;
  const struct chain *chain; /* measured with these settings; NULL: none */
  struct ran *at; /* in `room` places, a power of two */
  size_t count, room;
};

/* The place of a run; `there` says whether it has been remembered. */
struct ran *runs_find(struct runs *runs, const struct run_key *key);

#endif
