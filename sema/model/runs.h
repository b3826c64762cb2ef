/* Runs: remembered memory of parts of a net, for long searches. */
#ifndef NETC_SEMA_MODEL_RUNS_H
#define NETC_SEMA_MODEL_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "sema/model/settings.h"

/* Everything on which a run depends; `part` is a key of alike.h. */
struct run_key {
  uint64_t part;
  int64_t microbatch;
  bool whole, moved; /* all of the net; saved tensors go to the host */
};

struct unit_linked;

struct ran {
  struct run_key key;
  bool asked, there;
  const struct unit_linked *linked; /* chain.c: unit by unit; NULL: not yet */
  int64_t kept, most;               /* bytes for backward; peak */
};

/* Possible cuts of a pipeline, and the settings they depend on. */
struct known_cuts {
  int64_t checkpoint, batch, most, least;
  const int64_t *at;
  size_t count;
};

struct tape_known;
struct spans_known;
struct net_borders;

struct runs {
  struct arena *arena;
  struct tape_known *tapes;          /* of steps, the latest first */
  size_t ops;                        /* in all these tapes */
  const struct net_borders *borders; /* of the net; NULL: not computed yet */
  struct spans_known *spans; /* of the first step with checkpoint=auto */
  VEC(struct known_cuts) cuts;
  struct ran *at; /* `room` slots, a power of two */
  size_t count, room;
};

/* The slot of a run, valid until the next call; `there`: it is remembered. */
struct ran *runs_find(struct runs *runs, const struct run_key *key);

#endif
