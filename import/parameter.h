/* Turns the differences between alike runs of statements into parameters. */
#ifndef NETC_IMPORT_PARAMETER_H
#define NETC_IMPORT_PARAMETER_H

#include "import/statement.h"

enum { MOST_PARAMETERS = 8 };

/* Statements [from, from + length) of a block. */
struct source_run {
  struct source_block *block;
  size_t from, length;
};

struct parameters {
  size_t count; /* more than MOST_PARAMETERS: the result is unusable */
  const char *name[MOST_PARAMETERS];
  enum graph_part part[MOST_PARAMETERS];
  /* values[run * count + parameter] */
  struct part_text *values;
};

/* True if no outside statement names a tensor of the run. With `but_last`, the
 * last tensor may be named, but not as a layer to use again. */
bool run_is_private(const struct source_plan *plan,
                    const struct source_run *run, bool but_last);

/* True if the run is private and names no outside tensor. */
bool run_is_closed(const struct source_plan *plan, const struct source_run *run,
                   bool but_last);

/* Number of source lines. */
int run_lines(const struct source_run *run);

/*
 * Compares runs of the same form. Labels from before a run are parts, too:
 * PART_TENSOR, with "#" and the node as value. If MOST_PARAMETERS are enough,
 * writes the names into the first run, which becomes the common body, and
 * returns true; else changes nothing. `apart`: the runs become calls of a def,
 * which has no access to names at the place of the call.
 */
bool parameters_find(struct source_plan *plan, const struct source_run *runs,
                     size_t count, bool apart, struct parameters *parameters);

/* The number of parameters that would result, at most MOST_PARAMETERS + 1. */
size_t parameters_count(struct source_plan *plan, const struct source_run *runs,
                        size_t count, bool apart);

#endif
