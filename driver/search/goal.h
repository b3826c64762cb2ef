/* Goals: expressions that a search maximizes. */
#ifndef NETC_DRIVER_SEARCH_GOAL_H
#define NETC_DRIVER_SEARCH_GOAL_H

#include "driver/search/variant.h"

enum { MOST_GOALS = 4 };

/* An expression of figures: "macs", "macs / params", "-arena". */
struct goal {
  char text[64];
  bool grows; /* grows with every figure: only sums and products */
  /* For a single name, goals_read_names: */
  enum figure figure;
  bool less; /* smaller is better */
};

struct goals {
  struct goal at[MOST_GOALS];
  size_t count;
  bool timed; /* seconds are among them */
};

/* Reads goals separated by commas; returns an exit status, with errors
 * reported. */
int goals_read(struct goals *goals, const char *list);

/*
 * Reads names of figures separated by commas: "params,macs,arena". More
 * parameters and MACs are better, fewer bytes and seconds, and less of a figure
 * after a minus. Returns an exit status, with errors reported.
 */
int goals_read_names(struct goals *goals, const char *list);

/* NaN if it divides by 0. */
long double goal_value(const struct goal *goal,
                       const struct measured_net *variant);

#endif
