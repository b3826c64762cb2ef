/* The chart of a sweep: what is drawn of variants that may be a million. */
#ifndef NETC_DRIVER_SEARCH_CHART_H
#define NETC_DRIVER_SEARCH_CHART_H

#include "driver/search/front.h"

/*
 * Dots of all variants, apart by so much as a chart shows: their figures are
 * rounded to fewer digits as they become more, so that memory does not grow.
 */
struct dots {
  int64_t (*at)[MOST_GOALS]; /* a hash table; -1: free */
  int64_t (*spare)[MOST_GOALS];
  size_t count;
  int digits; /* of two, of each figure */
  int64_t variants;
};

bool dots_open(struct dots *dots);
void dots_add(struct dots *dots, const struct goals *goals,
              const struct measured_net *variant);
void dots_close(struct dots *dots);

/* The kind that a path's suffix names: "pareto.svg"; NULL: no picture. */
const char *chart_kind(const char *path);

/*
 * Writes the chart to a path; the net of the bench gives it its name. An exit
 * status, said.
 */
int chart_write(struct bench *bench, const struct search_front *front,
                const struct dots *dots, const char *path);

#endif
