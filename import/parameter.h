/* What differs between alike runs of statements becomes parameters. */
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
  size_t count; /* names; more than MOST_PARAMETERS: too many to be of use */
  const char *name[MOST_PARAMETERS];
  enum graph_part part[MOST_PARAMETERS];
  /* values[run * count + parameter] */
  struct part_text *values;
};

/*
 * Whether nothing outside names what is inside; `but_last`: what it ends with
 * may be named, but not as that layer.
 */
bool run_is_private(const struct source_plan *plan,
                    const struct source_run *run, bool but_last);

/* The same, and nothing inside names what is outside. */
bool run_is_closed(const struct source_plan *plan, const struct source_run *run,
                   bool but_last);

/* Lines of a run. */
int run_lines(const struct source_run *run);

/*
 * Compares runs of one form. Labels of what is before a run are parts, too,
 * PART_TENSOR, with "#" and the node as value. If they can do with
 * MOST_PARAMETERS, puts the names into the first of them, which thereby becomes
 * the body for all, and returns true; else nothing is changed. `apart`: the
 * runs become calls of a def, which sees no names of where it is called.
 */
bool parameters_find(struct source_plan *plan, const struct source_run *runs,
                     size_t count, bool apart, struct parameters *parameters);

/* How many there would be; at most MOST_PARAMETERS + 1. */
size_t parameters_count(struct source_plan *plan, const struct source_run *runs,
                        size_t count, bool apart);

#endif
