/*
 * netc fit: the values of params and inputs with which a net is as large as a
 * budget allows. One axis along which all figures grow is bisected; the others
 * are tried value by value. Nothing is estimated: each variant is compiled.
 */
#ifndef NETC_DRIVER_SEARCH_FIT_H
#define NETC_DRIVER_SEARCH_FIT_H

#include "driver/search/front.h"

enum { MOST_PROBES = 160 };

/* What is known of one line along the bisected axis. */
struct fit_line {
  int64_t place[MOST_PROBES];
  struct measured_net variant[MOST_PROBES];
  size_t count;
};

struct fit_search {
  struct net_options *options;
  struct bench bench;
  struct space space;
  bool exhaustive;
  const char *free[MOST_AXES];
  size_t free_count;
  size_t along; /* the axis that is bisected; space.count: none */
  const char *why_not[MOST_AXES];
  int64_t lines, tried_lines;  /* all; those tried value by value */
  int64_t total;               /* variants of the space */
  struct search_front front;   /* of those that hold their budget */
  int64_t wrong;               /* variants that do not compile */
  struct measured_net nearest; /* one that does not hold */
  int64_t nearest_places[MOST_AXES];
  bool has_nearest;
  struct fit_line line;
};

/* Chooses the axis that is bisected, and counts what is to be tried; an exit
 * status, said. */
int fit_plan(struct fit_search *s);

/* Fills the front; an exit status, said. */
int fit_search(struct fit_search *s);

/* Prints the best one or the front, and how it was found; an exit status. */
int fit_answer(struct fit_search *s);

#endif
