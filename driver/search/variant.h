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
  FIGURE_SECONDS, /* a step on the device, in nanoseconds; 0: none */
  FIGURE_COUNT,
  /* Figures of an answer on inference; -1: unknown. They are no goals. */
  ANSWER_BYTES = FIGURE_COUNT,
  ANSWER_HOST,
  ANSWER_CONTEXT,
  ANSWER_SEQUENCES,
  ANSWER_RAM,
  ANSWER_FLASH,
  ANSWER_END
};

/* The names of the figures, as in budgets. */
extern const char *const figure_names[FIGURE_COUNT];

enum variant_state {
  VARIANT_HOLDS, /* it compiles and is within budget */
  VARIANT_OVER,  /* it compiles and is above budget */
  VARIANT_WRONG  /* it does not compile */
};

struct measured_net {
  enum variant_state state;
  int64_t at[ANSWER_END]; /* unset if VARIANT_WRONG */
  int64_t arena_bound;    /* lower bound for any plan */
  const char *verdict;    /* of the device, or "" */
  char why[200];          /* error or exceeded budget */
};

/* A context, and the place in the space to which it is set. */
struct bench {
  struct netc *netc;
  struct net_options *options;
  const struct space *space;
  bool set;
  bool predict; /* verdicts and answers are about inference */
  int64_t places[MOST_AXES];
  int64_t compiled;
};

/*
 * Opens the one net that the options name, compiles it as it is, possibly with
 * errors, and finds the ranks of inputs in `space`. Returns an exit status,
 * with errors reported.
 */
int bench_open(struct bench *bench, struct net_options *options,
               struct space *space);

/* Measures a variant; errors of the net are in `variant`. Returns an exit
 * status, with others reported. */
int bench_measure(struct bench *bench, const int64_t *places,
                  struct measured_net *variant);

#endif
