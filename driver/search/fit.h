/*
 * netc fit: finds values of params and inputs at which a net is as large as a
 * budget allows. It bisects one axis along which all figures grow and tries all
 * values of the others. Each variant is compiled; nothing is estimated.
 */
#ifndef NETC_DRIVER_SEARCH_FIT_H
#define NETC_DRIVER_SEARCH_FIT_H

#include "driver/search/front.h"

enum { MOST_PROBES = 160 };

/* The measured variants of one line along the bisected axis. */
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
  size_t along; /* the bisected axis; space.count: none */
  const char *why_not[MOST_AXES];
  int64_t lines, tried_lines;  /* all lines; lines tried value by value */
  int64_t total;               /* variants of the space */
  struct search_front front;   /* of variants within budget */
  int64_t wrong;               /* variants that do not compile */
  struct measured_net nearest; /* the nearest variant above its budget */
  int64_t nearest_places[MOST_AXES];
  bool has_nearest;
  struct fit_line line;
};

/* Chooses the axis to bisect and counts the variants to try; returns an exit
 * status, with errors reported. */
int fit_plan(struct fit_search *s);

/* Fills the front; returns an exit status, with errors reported. */
int fit_search(struct fit_search *s);

/* Prints the best variant or the front, and how it was found; returns an exit
 * status. */
int fit_answer(struct fit_search *s);

#endif
