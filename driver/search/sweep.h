/* netc sweep: every variant of a net, one row each. */
#ifndef NETC_DRIVER_SEARCH_SWEEP_H
#define NETC_DRIVER_SEARCH_SWEEP_H

#include "driver/search/chart.h"
#include "driver/search/rows.h"

enum { BLOCK = 256, MOST_JOBS = 256, MOST_PARTS = 500 };

/* A context with all options, and the results of a block of variants. */
struct sweep_job {
  struct net_options options;
  struct netc *netc;
  struct space space;
  struct bench bench;
  int64_t jobs, shard, shards, parts;
  const char *pareto;           /* --pareto; NULL: write all rows */
  const char *from[MOST_PARTS]; /* --from */
  size_t from_count;
  bool append;
  struct sweep_rows rows;
  int64_t first, count;         /* variants in its block */
  struct measured_net *variant; /* of the block, for the front */
  int64_t wrong;                /* variants in it that do not compile */
  char why[200];                /* the first error */
  int status;
};

struct sweep_run {
  struct sweep_job **jobs;
  int count;
  int64_t first, end; /* remaining variants */
  int64_t wrong, begin;
  char why[200];
  struct search_front front; /* of --pareto */
  struct dots dots;
  const char *path; /* of the rows; NULL: write none */
  FILE *file;
  const char *list; /* x.ninja or x.sbatch; NULL: none */
};

/* Compiles all variants or reads their rows, and writes the requested files.
 * Returns an exit status, with errors reported. */
int sweep_run(struct sweep_run *run);

/* Writes the jobs of a sweep, for Ninja or Slurm; returns an exit status, with
 * errors reported. */
int sweep_write_jobs(struct sweep_run *run);

/* True if a path ends so. */
bool path_ends(const char *path, const char *end);

#endif
