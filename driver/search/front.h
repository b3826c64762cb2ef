/* Fronts: variants to which no other one is at least equal in every goal. */
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
  size_t axes; /* of the space */
  struct front_member *at;
  size_t count, room;
};

/*
 * Adds a variant if it belongs there, and drops those that it beats. Of
 * variants that are equal in all goals the one that comes later in the space
 * stays, so that the front does not depend on the order. An exit status, said.
 */
int front_add(struct search_front *front, const int64_t *places,
              const struct measured_net *variant);

/* In the order of the space. */
void front_sort(struct search_front *front);

void front_close(struct search_front *front);

#endif
