/*
 * netc sweep: every variant of a net, a row for each. Threads have a context
 * each and take blocks of variants in turn; rows are written in their order,
 * so that any number of threads writes the same bytes.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/output.h"
#include "driver/run/threads.h"
#include "driver/search/rows.h"

enum { BLOCK = 256, MOST_JOBS = 256 };
#define MOST_ROWS INT64_C(1000000000)

/* A context with all options, and the rows that it makes. */
struct sweep_job {
  struct net_options options;
  struct netc *netc;
  struct space space;
  struct bench bench;
  int64_t jobs, shard, shards;
  bool append;
  struct sweep_rows rows;
  int64_t first, count; /* variants of its block */
  int64_t wrong;        /* of which so many do not compile */
  char why[200];        /* the first of them */
  int status;
};

struct sweep_run {
  struct sweep_job **jobs;
  int count;
  int64_t first, end; /* variants to come */
  int64_t wrong, done, begin;
  char why[200];
  FILE *file;
  const char *path;
};

static void make_rows(void *user, size_t index) {
  struct sweep_job *job = ((struct sweep_job **)user)[index];
  int64_t places[MOST_AXES];
  struct measured_net v;
  for (int64_t i = 0; i < job->count && job->status == EXIT_DONE; i++) {
    space_place(&job->space, job->first + i, places);
    job->status = bench_measure(&job->bench, places, &v);
    if (job->status != EXIT_DONE)
      return;
    if (v.state == VARIANT_WRONG && job->wrong++ == 0)
      snprintf(job->why, sizeof job->why, "%s", v.why);
    if (!rows_add(&job->rows, &job->space, places, &v))
      job->status = complain(EXIT_IO, "out of memory");
  }
}

/* Files */

static int write_rows(struct sweep_run *run, struct sweep_rows *rows) {
  struct bytes *made = &rows->made;
  bool written = fwrite(made->at, 1, made->length, run->file) == made->length &&
                 fflush(run->file) == 0;
  made->length = 0;
  return written ? EXIT_DONE : output_failed(run->path, errno);
}

static int write_header(struct sweep_run *run, struct sweep_job *job) {
  if (!rows_header(&job->rows, &job->space))
    return complain(EXIT_IO, "out of memory");
  return write_rows(run, &job->rows);
}

static int complain_of_row(const struct sweep_run *run, int64_t line) {
  return complain(EXIT_USAGE,
                  "--append: line %" PRId64
                  " of %s is not of this sweep; write "
                  "to another file",
                  line, run->path);
}

/*
 * Skips the rows that stand, if they are of this sweep; a last one without an
 * end, of a writer that was killed, is cut off.
 */
static int skip_rows(struct sweep_run *run, struct sweep_job *job) {
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  int64_t places[MOST_AXES], number = 0;
  off_t whole = 0;
  int status = EXIT_DONE;
  struct bytes *made = &job->rows.made;
  bool header = !job->rows.json, known = true;
  while (status == EXIT_DONE &&
         (length = getline(&line, &room, run->file)) > 0) {
    if (line[length - 1] != '\n')
      break;
    number++;
    made->length = 0;
    if (header) {
      known = rows_header(&job->rows, &job->space);
    } else if (run->first < run->end) {
      space_place(&job->space, run->first++, places);
      known = rows_key(&job->rows, &job->space, places);
    }
    if (!known)
      status = complain(EXIT_IO, "out of memory");
    else if (made->length == 0 || (size_t)length < made->length ||
             memcmp(line, made->at, made->length) != 0)
      status = complain_of_row(run, number);
    header = false;
    whole += length;
  }
  free(line);
  made->length = 0;
  if (status == EXIT_DONE &&
      (ferror(run->file) || fseeko(run->file, whole, SEEK_SET) != 0 ||
       ftruncate(fileno(run->file), whole) != 0))
    return output_failed(run->path, errno);
  if (status == EXIT_DONE && header)
    status = write_header(run, job);
  return status;
}

/* Blocks of variants, one for each job, until there are no more. */
static int run_blocks(struct sweep_run *run) {
  struct progress_line *progress = &run->jobs[0]->options.progress;
  struct threads *threads = threads_open(run->count);
  int status = EXIT_DONE;
  if (!threads)
    return complain(EXIT_IO, "no %d threads can be had", run->count);
  run->begin = run->first;
  while (run->first < run->end && status == EXIT_DONE) {
    int64_t left = run->end - run->first;
    int64_t share = (left + run->count - 1) / run->count;
    for (int i = 0; i < run->count; i++) {
      struct sweep_job *job = run->jobs[i];
      left = run->end - run->first;
      job->count = share < BLOCK ? share : BLOCK;
      job->count = job->count < left ? job->count : left;
      job->first = run->first;
      run->first += job->count;
    }
    threads_run(threads, (size_t)run->count, make_rows, run->jobs);
    for (int i = 0; i < run->count && status == EXIT_DONE; i++) {
      struct sweep_job *job = run->jobs[i];
      status = job->status;
      if (status == EXIT_DONE)
        status = write_rows(run, &job->rows);
      if (job->wrong && run->wrong == 0)
        memcpy(run->why, job->why, sizeof run->why);
      run->wrong += job->wrong;
      job->wrong = 0;
    }
    progress_show(progress, "sweeping", run->first - run->begin,
                  run->end - run->begin);
  }
  progress_erase(progress);
  threads_close(threads);
  return status;
}

/* Nothing compiles: an error; some do not: a word on them. */
static int say_wrong(const struct sweep_run *run) {
  int64_t all = run->end - run->begin;
  if (run->wrong == 0)
    return EXIT_DONE;
  return complain(run->wrong == all ? EXIT_SOURCE : EXIT_DONE,
                  "%" PRId64 " of %" PRId64 " variants do not compile, and "
                  "have empty cells; the first: %s",
                  run->wrong, all, run->why);
}

static int sweep_into(struct sweep_run *run) {
  struct output_file output;
  if (!output_open(&output, run->path))
    return output_failed(run->path, errno);
  run->file = output.file;
  int status = write_header(run, run->jobs[0]);
  if (status == EXIT_DONE)
    status = run_blocks(run);
  if (status != EXIT_DONE) {
    output_abandon(&output);
    return status;
  }
  return output_commit(&output, false) ? say_wrong(run)
                                       : output_failed(run->path, errno);
}

static int append_to(struct sweep_run *run) {
  run->file = fopen(run->path, "r+");
  if (!run->file && errno == ENOENT)
    run->file = fopen(run->path, "w+");
  if (!run->file)
    return output_failed(run->path, errno);
  int status = skip_rows(run, run->jobs[0]);
  if (status == EXIT_DONE)
    status = run_blocks(run);
  if (fclose(run->file) != 0 && status == EXIT_DONE)
    status = output_failed(run->path, errno);
  return status == EXIT_DONE ? say_wrong(run) : status;
}

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

/* "3/8": the third of eight parts. */
static int read_shard(struct sweep_job *job, const char *value) {
  char *end;
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
  case OPTION_SHARD: return read_shard(job, value);
  default: job->append = true; return EXIT_DONE;
  }
}

static void job_close(struct sweep_job *job) {
  net_options_close(&job->options);
  netc_close(job->netc);
  bytes_free(&job->rows.made);
  free(job);
}

/* NULL: there is nothing to do, and *status is how to exit. */
static struct sweep_job *job_open(int argc, char **argv, int *status) {
  struct sweep_job *job = calloc(1, sizeof *job);
  *status = EXIT_IO;
  if (!job || !(job->netc = netc_open(NULL, NULL))) {
    complain(EXIT_IO, "out of memory");
    free(job);
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

static bool ends_with(const char *path, const char *end) {
  size_t length = strlen(path), more = strlen(end);
  return length >= more && strcmp(path + length - more, end) == 0;
}

static int choose_output(struct sweep_run *run, struct sweep_job *job) {
  const char *path;
  if (!net_options_output(&job->options, &path))
    return EXIT_USAGE;
  run->path = path ? path : "-";
  job->rows.json = ends_with(run->path, ".jsonl");
  bool standard = strcmp(run->path, "-") == 0;
  if (!standard && !job->rows.json && !ends_with(run->path, ".csv"))
    return complain(EXIT_USAGE, "%s: a sweep writes x.csv or x.jsonl",
                    run->path);
  if (standard && job->append)
    return complain(EXIT_USAGE, "--append needs a file: `-o all.csv`");
  return output_spares_sources(run->path, job->netc);
}

static int choose_rows(struct sweep_run *run, const struct sweep_job *job) {
  int64_t all;
  if (!space_size(&job->space, &all))
    return complain(EXIT_USAGE, "these are more than 2^63 variants; take "
                                "larger steps, A..B:STEP");
  int64_t each = all / job->shards, more = all % job->shards;
  int64_t before = job->shard - 1;
  run->first = each * before + (before < more ? before : more);
  run->end = run->first + each + (before < more);
  if (run->end - run->first <= MOST_ROWS)
    return EXIT_DONE;
  return complain(EXIT_USAGE,
                  "these are %s variants, and at most %s are written; take "
                  "larger steps, A..B:STEP, or parts, --shard K/N",
                  count_text(run->end - run->first).text,
                  count_text(MOST_ROWS).text);
}

/* A device was named, or is an axis. */
static bool names_device(struct sweep_job *job) {
  struct netc_verdict verdict = {.size = sizeof verdict};
  for (size_t i = 0; i < job->space.count; i++)
    if (strcmp(job->space.axes[i].name, "gpu") == 0)
      return true;
  return netc_verdict(job->netc, &verdict) == NETC_OK && verdict.asked;
}

static int sweep(struct sweep_run *run, int argc, char **argv) {
  struct sweep_job *first = run->jobs[0];
  int status = bench_open(&first->bench, &first->options, &first->space);
  if (status == EXIT_DONE)
    status = choose_output(run, first);
  if (status == EXIT_DONE)
    status = choose_rows(run, first);
  if (status != EXIT_DONE)
    return status;
  first->rows.on_device = names_device(first);
  int64_t wanted = first->jobs;
  if (strcmp(first->options.files.at[0], "-") == 0)
    wanted = 1; /* it can be read once */
  for (; run->count < wanted && status == EXIT_DONE; run->count++) {
    struct sweep_job *job = run->jobs[run->count] =
        job_open(argc, argv, &status);
    if (!job)
      return status;
    status = bench_open(&job->bench, &job->options, &job->space);
    job->rows.json = first->rows.json;
    job->rows.on_device = first->rows.on_device;
  }
  if (status != EXIT_DONE)
    return status;
  return first->append ? append_to(run) : sweep_into(run);
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
