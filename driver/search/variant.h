/* Variants: a net at one place of a space, compiled and measured. */
#ifndef NETC_DRIVER_SEARCH_VARIANT_H
#define NETC_DRIVER_SEARCH_VARIANT_H

#include "driver/search/space.h"

enum figure {
  FIGURE_PARAMS,
  FIGURE_MACS,
  FIGURE_INFER,
  FIGURE_TRAIN,
  FIGURE_ARENA,
  FIGURE_WEIGHTS,
  FIGURE_SECONDS, /* of a step on the device, in nanoseconds; 0: none */
  FIGURE_COUNT
};

/* The names of the figures, which are those of budgets. */
extern const char *const figure_names[FIGURE_COUNT];

enum variant_state {
  VARIANT_HOLDS, /* it compiles, and keeps its budget */
  VARIANT_OVER,  /* it compiles, and does not */
  VARIANT_WRONG  /* it does not compile */
};

struct measured_net {
  enum variant_state state;
  int64_t at[FIGURE_COUNT]; /* unless it is wrong */
  int64_t arena_bound;      /* no plan has less */
  const char *verdict;      /* of a step on the device; "" */
  char why[200];            /* it does not hold */
};

/* A context, and the place of the space that it was set to last. */
struct bench {
  struct netc *netc;
  struct net_options *options;
  const struct space *space;
  bool set;
  int64_t places[MOST_AXES];
  int64_t compiled;
};

/*
 * Opens the one net that the options name, compiles it as it is, errors and
 * all, and finds the ranks of inputs that `space` has sides of. An exit
 * status, said.
 */
int bench_open(struct bench *bench, struct net_options *options,
               struct space *space);

/* Errors of the net are in `variant`; an exit status, said. */
int bench_measure(struct bench *bench, const int64_t *places,
                  struct measured_net *variant);

#endif
