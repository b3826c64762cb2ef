/* The chart of a sweep, which may have a million variants. */
#ifndef NETC_DRIVER_SEARCH_CHART_H
#define NETC_DRIVER_SEARCH_CHART_H

#include "driver/search/front.h"

/*
 * Distinct dots of all variants at the chart's resolution. Figures are rounded
 * to fewer binary digits as dots become more, so that memory stays bounded.
 */
struct dots {
  int64_t (*at)[MOST_GOALS]; /* a hash table; -1: free */
  int64_t (*spare)[MOST_GOALS];
  size_t count;
  int digits; /* binary digits of each figure */
  int64_t variants;
};

bool dots_open(struct dots *dots);
void dots_add(struct dots *dots, const struct goals *goals,
              const struct measured_net *variant);
void dots_close(struct dots *dots);

/* The picture format of a path's suffix, such as "pareto.svg", or NULL. */
const char *chart_kind(const char *path);

/*
 * Writes the chart to a path, with the name of the bench's net. Returns an exit
 * status; errors have been reported.
 */
int chart_write(struct bench *bench, const struct search_front *front,
                const struct dots *dots, const char *path);

#endif
