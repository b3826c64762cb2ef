/* Fronts: variants to which no other is at least equal in every goal. */
#ifndef NETC_DRIVER_SEARCH_FRONT_H
#define NETC_DRIVER_SEARCH_FRONT_H

#include "driver/search/goal.h"

enum { MOST_FRONT = 16384 };

struct front_member {
  int64_t places[MOST_AXES];
  long double goals[MOST_GOALS];
  struct measured_net variant;
};

struct search_front {
  struct goals goals;
  size_t axes; /* number of axes in the space */
  struct front_member *at;
  size_t count, room;
};

/*
 * Adds a variant if it belongs to the front, and drops those that it dominates.
 * Among variants that are equal in all goals, the later one stays, so
 * that the front does not depend on the order. Returns an exit status, with
 * errors reported.
 */
int front_add(struct search_front *front, const int64_t *places,
              const struct measured_net *variant);

/* Sorts in the order of the space. */
void front_sort(struct search_front *front);

void front_close(struct search_front *front);

#endif
