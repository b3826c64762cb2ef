/* netc sweep: its options and outputs. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/output.h"
#include "driver/search/sweep.h"

#define MOST_ROWS INT64_C(1000000000)

/* Options */

static int add_axis(void *user, enum option_id option, const char *name,
                    const char *values) {
  struct sweep_job *job = user;
  enum axis_kind kind = option == OPTION_DEFINE  ? AXIS_PARAM
                        : option == OPTION_SIZES ? AXIS_INPUT
                                                 : AXIS_SETTING;
  int status = space_add(&job->space, kind, *name ? name : "input", values);
  if (status == EXIT_DONE && kind == AXIS_INPUT)
    snprintf(job->space.axes[job->space.count - 1].target, AXIS_VALUE, "%s",
             name);
  return status;
}

/* "3/8": the third of eight parts; "8": the number of jobs. */
static int read_shard(struct sweep_job *job, const char *value) {
  char *end;
  if (!strchr(value, '/'))
    return option_number(OPTION_SHARD, value, 1, MOST_PARTS, &job->parts)
               ? EXIT_DONE
               : EXIT_USAGE;
  errno = 0;
  job->shard = strtoll(value, &end, 10);
  job->shards = *end == '/' ? strtoll(end + 1, &end, 10) : 0;
  if (!*end && errno == 0 && job->shard >= 1 && job->shard <= job->shards)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--shard takes K/N, from 1/N to N/N, not `%s`",
                  value);
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct sweep_job *job = user;
  (void)name;
  switch (option) {
  case OPTION_JOBS:
    return option_number(OPTION_JOBS, value, 1, MOST_JOBS, &job->jobs)
               ? EXIT_DONE
               : EXIT_USAGE;
  case OPTION_SHARD:
  case OPTION_SHARDS: return read_shard(job, value);
  case OPTION_PARETO: {
    struct goals goals;
    job->pareto = value;
    return goals_read_names(&goals, value);
  }
  case OPTION_ROWS:
    if (job->from_count == MOST_PARTS)
      return complain(EXIT_USAGE, "--from can be given at most %d times",
                      MOST_PARTS);
    job->from[job->from_count++] = value;
    return EXIT_DONE;
  default: job->append = true; return EXIT_DONE;
  }
}

static void job_close(struct sweep_job *job) {
  net_options_close(&job->options);
  netc_close(job->netc);
  bytes_free(&job->rows.made);
  free(job->variant);
  free(job);
}

/* NULL: nothing to do; *status is the exit status. */
static struct sweep_job *job_open(int argc, char **argv, int *status) {
  struct sweep_job *job = calloc(1, sizeof *job);
  *status = EXIT_IO;
  if (job) {
    job->netc = netc_open(NULL, NULL);
    job->variant = malloc(BLOCK * sizeof *job->variant);
  }
  if (!job || !job->netc || !job->variant) {
    complain(EXIT_IO, "out of memory");
    if (job)
      job_close(job);
    return NULL;
  }
  job->jobs = job->shard = job->shards = 1;
  job->options.axis = add_axis;
  if (net_options_read_more(&job->options, COMMAND_SWEEP, job->netc, argc, argv,
                            take, job))
    return job;
  *status = job->options.files.status;
  job_close(job);
  return NULL;
}

bool path_ends(const char *path, const char *end) {
  size_t length = strlen(path), more = strlen(end);
  return length >= more && strcmp(path + length - more, end) == 0;
}

static bool holds_rows(const char *path) {
  return strcmp(path, "-") == 0 || path_ends(path, ".csv") ||
         path_ends(path, ".jsonl");
}

/* Chooses by suffix what to write to a path: x.csv, x.svg, x.ninja. */
static int choose_output(struct sweep_run *run, const struct sweep_job *job,
                         const char *path) {
  bool rows = holds_rows(path), picture = chart_kind(path) != NULL;
  bool list = path_ends(path, ".ninja") || path_ends(path, ".sbatch");
  const char **place = rows ? &run->path : &run->list;
  if (picture && !job->pareto)
    return complain(EXIT_USAGE,
                    "%s: the chart needs --pareto: `--pareto macs,arena`",
                    path);
  if (picture)
    return EXIT_DONE;
  if (!rows && !list)
    return complain(EXIT_USAGE,
                    "%s: a sweep writes x.csv or x.jsonl; with --pareto "
                    "x.svg, x.pdf, x.tex or x.png; jobs as x.ninja or x.sbatch",
                    path);
  if (*place)
    return complain(EXIT_USAGE, "give one file of %s: `%s` or `%s`",
                    rows ? "rows" : "jobs", *place, path);
  *place = path;
  return EXIT_DONE;
}

static int choose_outputs(struct sweep_run *run, struct sweep_job *job) {
  const struct net_options *o = &job->options;
  int status = EXIT_DONE;
  for (size_t i = 0; i < o->wanted_count && status == EXIT_DONE; i++) {
    status = choose_output(run, job, o->wanted[i].path);
    for (size_t k = 0; k < i && status == EXIT_DONE; k++)
      if (output_same_file(o->wanted[k].path, o->wanted[i].path))
        status = complain(EXIT_USAGE, "two outputs have the file %s",
                          o->wanted[i].path);
    for (size_t k = 0; k < job->from_count && status == EXIT_DONE; k++)
      if (output_same_file(job->from[k], o->wanted[i].path))
        status = complain(EXIT_USAGE, "--from reads %s; write to another file",
                          o->wanted[i].path);
    if (status == EXIT_DONE)
      status = output_spares_sources(o->wanted[i].path, job->netc);
  }
  if (o->wanted_count == 0)
    run->path = "-";
  job->rows.json = run->path && path_ends(run->path, ".jsonl");
  return status;
}

/* Refuses options that exclude one another. */
static int check_options(const struct sweep_run *run,
                         const struct sweep_job *job) {
  bool part = job->shards > 1;
  if (job->append && (!run->path || strcmp(run->path, "-") == 0))
    return complain(EXIT_USAGE, "--append needs a file: `-o all.csv`");
  if (job->append && (job->pareto || job->from_count || run->list))
    return complain(EXIT_USAGE,
                    "--append writes all rows of a sweep; leave it out with "
                    "--pareto, --from and jobs");
  if (part && (job->pareto || job->from_count || run->list))
    return complain(EXIT_USAGE,
                    "--shard writes all rows of a part; leave it out, and "
                    "name the parts: `--from PART.csv`");
  if (job->parts && !run->list)
    return complain(EXIT_USAGE, "--shard N sets the number of jobs: add `-o "
                                "x.ninja` or `-o x.sbatch`; a part is "
                                "--shard K/N");
  if (run->list && job->from_count)
    return complain(EXIT_USAGE,
                    "%s: jobs compile the variants; leave out --from",
                    run->list);
  if (run->list && strcmp(job->options.files.at[0], "-") == 0)
    return complain(EXIT_USAGE, "%s: jobs need a file, not standard input",
                    run->list);
  if (run->list && run->path && strcmp(run->path, "-") == 0)
    return complain(EXIT_USAGE, "%s: jobs write files: `-o all.csv`",
                    run->list);
  for (size_t i = 0; i < job->from_count && job->pareto; i++)
    if (strstr(job->pareto, "infer"))
      return complain(
          EXIT_USAGE,
          "--pareto %s: rows of a file have no `infer`; leave out --from",
          job->pareto);
  return EXIT_DONE;
}

static int choose_rows(struct sweep_run *run, const struct sweep_job *job) {
  int64_t all;
  if (!space_size(&job->space, &all))
    return complain(
        EXIT_USAGE,
        "there are more than 2^63 variants; use larger steps, A..B:STEP");
  int64_t each = all / job->shards, more = all % job->shards;
  int64_t before = job->shard - 1;
  run->first = each * before + (before < more ? before : more);
  run->end = run->first + each + (before < more);
  if (run->end - run->first <= MOST_ROWS)
    return EXIT_DONE;
  return complain(EXIT_USAGE,
                  "there are %s variants, but at most %s can be written; use "
                  "larger steps, A..B:STEP, or parts, --shard K/N",
                  count_text(run->end - run->first).text,
                  count_text(MOST_ROWS).text);
}

/* True if a device is named, or is an axis. */
static bool names_device(struct sweep_job *job) {
  struct netc_verdict verdict = {.size = sizeof verdict};
  for (size_t i = 0; i < job->space.count; i++)
    if (setting_row(slice_of(job->space.axes[i].name)).devices)
      return true;
  return netc_verdict(job->netc, &verdict) == NETC_OK && verdict.asked;
}

/* Columns follow the question of the first variant that compiles. */
static int choose_columns(struct sweep_run *run, struct sweep_job *job) {
  enum { TRIES = 64 };
  struct measured_net v = {.state = VARIANT_WRONG};
  struct netc_answer answer = {.size = sizeof answer};
  int64_t places[MOST_AXES], end = run->end;
  int status = EXIT_DONE;
  if (end - run->first > TRIES)
    end = run->first + TRIES;
  for (int64_t i = run->first;
       i < end && v.state == VARIANT_WRONG && status == EXIT_DONE; i++) {
    space_place(&job->space, i, places);
    status = bench_measure(&job->bench, places, &v);
  }
  bool device = names_device(job), predict = netc_asks_inference(job->netc);
  if (predict)
    predict = netc_answer(job->netc, true, &answer) == NETC_OK;
  bool board = predict && (answer.ram_bytes || answer.flash_bytes);
  bool serves = predict && answer.question == NETC_SERVING;
  job->bench.predict = predict && (device || board || serves);
  job->rows.with = (device || board ? WITH_VERDICT : 0) |
                   (board                ? WITH_BOARD
                    : job->bench.predict ? WITH_ANSWER
                    : device             ? WITH_SECONDS
                                         : 0) |
                   (serves ? WITH_SERVING : 0);
  return status;
}

static int sweep(struct sweep_run *run, int argc, char **argv) {
  struct sweep_job *first = run->jobs[0];
  int status = bench_open(&first->bench, &first->options, &first->space);
  if (status == EXIT_DONE)
    status = choose_outputs(run, first);
  if (status == EXIT_DONE)
    status = check_options(run, first);
  if (status == EXIT_DONE)
    status = choose_rows(run, first);
  if (status == EXIT_DONE && run->list)
    return sweep_write_jobs(run);
  if (status == EXIT_DONE && first->pareto)
    status = goals_read_names(&run->front.goals, first->pareto);
  if (status != EXIT_DONE)
    return status;
  status = choose_columns(run, first);
  first->rows.origin = origin_of_rows(&first->options);
  int64_t wanted = first->jobs;
  if (strcmp(first->options.files.at[0], "-") == 0 || first->from_count)
    wanted = 1; /* it can be read once, or nothing is compiled */
  for (; run->count < wanted && status == EXIT_DONE; run->count++) {
    struct sweep_job *job = run->jobs[run->count] =
        job_open(argc, argv, &status);
    if (!job)
      return status;
    status = bench_open(&job->bench, &job->options, &job->space);
    job->rows.json = first->rows.json;
    job->rows.with = first->rows.with;
    job->bench.predict = first->bench.predict;
    job->rows.origin = first->rows.origin;
  }
  return status == EXIT_DONE ? sweep_run(run) : status;
}

int command_sweep(int argc, char **argv) {
  struct sweep_job *jobs[MOST_JOBS] = {NULL};
  struct sweep_run run = {.jobs = jobs};
  int status;
  jobs[0] = job_open(argc, argv, &status);
  if (!jobs[0])
    return status;
  run.count = 1;
  status = sweep(&run, argc, argv);
  for (int i = 0; i < run.count; i++)
    job_close(jobs[i]);
  return status;
}
