/* Goals: what a search makes as large as it can. */
#ifndef NETC_DRIVER_SEARCH_GOAL_H
#define NETC_DRIVER_SEARCH_GOAL_H

#include "driver/search/variant.h"

enum { MOST_GOALS = 4 };

/* An expression of figures: "macs", "macs / params", "-arena". */
struct goal {
  char text[64];
  bool grows; /* with every figure: there are sums and products only */
};

struct goals {
  struct goal at[MOST_GOALS];
  size_t count;
};

/* Reads goals, apart by commas; an exit status, said. */
int goals_read(struct goals *goals, const char *list);

/* NaN where it divides by 0. */
long double goal_value(const struct goal *goal,
                       const struct measured_net *variant);

#endif
