/* Goals: what a search makes as large as it can. */
#ifndef NETC_DRIVER_SEARCH_GOAL_H
#define NETC_DRIVER_SEARCH_GOAL_H

#include "driver/search/variant.h"

enum { MOST_GOALS = 4 };

/* An expression of figures: "macs", "macs / params", "-arena". */
struct goal {
  char text[64];
  bool grows; /* with every figure: there are sums and products only */
  /* Of a name alone, goals_read_names: */
  enum figure figure;
  bool less; /* of it is better */
};

struct goals {
  struct goal at[MOST_GOALS];
  size_t count;
  bool timed; /* there are seconds among them */
};

/* Reads goals, apart by commas; an exit status, said. */
int goals_read(struct goals *goals, const char *list);

/*
 * Reads names of figures, apart by commas: "params,macs,arena". Of parameters
 * and MACs more is better, of bytes and seconds less, and so of what has a
 * minus before it. An exit status, said.
 */
int goals_read_names(struct goals *goals, const char *list);

/* NaN where it divides by 0. */
long double goal_value(const struct goal *goal,
                       const struct measured_net *variant);

#endif
