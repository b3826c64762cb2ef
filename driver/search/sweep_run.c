/*
 * The run of a sweep. Each thread has a context and takes blocks of variants in
 * turn. Rows and the front are in the order of variants, so that any number of
 * threads writes the same bytes.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/output.h"
#include "driver/run/threads.h"
#include "driver/search/sweep.h"

#define NOT_OF_IT "not of this sweep"

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
    if (job->pareto)
      job->variant[i] = v;
    else if (!rows_add(&job->rows, &job->space, places, &v))
      job->status = complain(EXIT_IO, "out of memory");
  }
}

/* The front */

static int meet(struct sweep_run *run, int64_t variant,
                const struct measured_net *v) {
  int64_t places[MOST_AXES];
  if (v->state == VARIANT_WRONG)
    return EXIT_DONE;
  space_place(&run->jobs[0]->space, variant, places);
  dots_add(&run->dots, &run->front.goals, v);
  return front_add(&run->front, places, v);
}

static int meet_block(struct sweep_run *run, const struct sweep_job *job) {
  int status = EXIT_DONE;
  for (int64_t i = 0; i < job->count && status == EXIT_DONE; i++)
    status = meet(run, job->first + i, &job->variant[i]);
  return status;
}

/* Files */

static int write_rows(struct sweep_run *run, struct sweep_rows *rows) {
  struct bytes *made = &rows->made;
  bool written = fwrite(made->at, 1, made->length, run->file) == made->length &&
                 fflush(run->file) == 0;
  made->length = 0;
  return written ? EXIT_DONE : output_failed(run->path, errno);
}

/* Written with the first row, so that an error leaves no file. */
static int make_header(struct sweep_job *job) {
  return rows_header(&job->rows, &job->space)
             ? EXIT_DONE
             : complain(EXIT_IO, "out of memory");
}

static int complain_of_row(const struct sweep_run *run, int64_t line,
                           const char *why) {
  return complain(EXIT_USAGE,
                  "--append: line %" PRId64 " of %s is %s; write to another "
                  "file",
                  line, run->path, why);
}

/*
 * Skips existing rows if they are of this sweep. An incomplete last row, of a
 * writer that was killed, is cut off.
 */
static int skip_rows(struct sweep_run *run, struct sweep_job *job) {
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  int64_t places[MOST_AXES], number = 0;
  struct measured_net v;
  off_t whole = 0;
  int status = EXIT_DONE;
  bool header = !job->rows.json;
  while (status == EXIT_DONE &&
         (length = getline(&line, &room, run->file)) > 0) {
    if (line[length - 1] != '\n')
      break;
    number++;
    const char *why = NOT_OF_IT;
    struct slice text = {line, (size_t)length};
    if (header) {
      why = rows_is_header(&job->rows, &job->space, text) ? NULL : NOT_OF_IT;
    } else if (run->first < run->end) {
      space_place(&job->space, run->first++, places);
      why = rows_read(&job->rows, &job->space, places, text, &v);
    }
    if (why)
      status = complain_of_row(run, number, why);
    header = false;
    whole += length;
  }
  free(line);
  if (status == EXIT_DONE &&
      (ferror(run->file) || fseeko(run->file, whole, SEEK_SET) != 0 ||
       ftruncate(fileno(run->file), whole) != 0))
    return output_failed(run->path, errno);
  if (status == EXIT_DONE && header)
    status = make_header(job);
  return status;
}

/* Runs blocks of variants, one per job, until there are no more. */
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
        status =
            job->pareto ? meet_block(run, job) : write_rows(run, &job->rows);
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
  return status == EXIT_DONE && !run->jobs[0]->pareto
             ? write_rows(run, &run->jobs[0]->rows) /* only a header */
             : status;
}

/* Rows of parts that were written before, instead of compiling */

static int complain_of_part(const char *path, int64_t line, const char *why) {
  return complain(EXIT_USAGE,
                  "--from: line %" PRId64 " of %s is %s; give x.csv parts of "
                  "the same net and settings, in order",
                  line, path, why);
}

static int take_row(struct sweep_run *run, const struct measured_net *v,
                    const int64_t *places) {
  struct sweep_job *job = run->jobs[0];
  enum { FULL = 1 << 16 };
  if (v->state == VARIANT_WRONG && run->wrong++ == 0)
    snprintf(run->why, sizeof run->why, "row %" PRId64, run->first + 1);
  if (job->pareto)
    return meet(run, run->first, v);
  if (!rows_add(&job->rows, &job->space, places, v))
    return complain(EXIT_IO, "out of memory");
  return job->rows.made.length < FULL ? EXIT_DONE : write_rows(run, &job->rows);
}

static int read_part(struct sweep_run *run, const char *path, FILE *file) {
  struct sweep_job *job = run->jobs[0];
  struct sweep_rows read = {.with = job->rows.with, .origin = job->rows.origin};
  struct measured_net v;
  int64_t places[MOST_AXES], number = 0;
  int status = EXIT_DONE;
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  while (status == EXIT_DONE && (length = getline(&line, &room, file)) > 0) {
    const char *why = NOT_OF_IT;
    struct slice text = {line, (size_t)length};
    if (number++ == 0) {
      why = rows_is_header(&read, &job->space, text) ? NULL : NOT_OF_IT;
    } else if (run->first < run->end) {
      space_place(&job->space, run->first, places);
      why = rows_read(&read, &job->space, places, text, &v);
      if (!why)
        status = take_row(run, &v, places);
      run->first++;
    }
    if (why)
      status = complain_of_part(path, number, why);
  }
  if (status == EXIT_DONE && number == 0)
    status = complain_of_part(path, 1, NOT_OF_IT);
  free(line);
  bytes_free(&read.made);
  return status;
}

static int read_parts(struct sweep_run *run) {
  struct sweep_job *job = run->jobs[0];
  int status = EXIT_DONE;
  run->begin = run->first;
  for (size_t i = 0; i < job->from_count && status == EXIT_DONE; i++) {
    FILE *file = fopen(job->from[i], "r");
    if (!file)
      return complain(EXIT_IO, "cannot read %s: %s", job->from[i],
                      strerror(errno));
    status = read_part(run, job->from[i], file);
    if (ferror(file) && status == EXIT_DONE)
      status = complain(EXIT_IO, "cannot read %s: %s", job->from[i],
                        strerror(errno));
    fclose(file);
  }
  if (status == EXIT_DONE && run->first < run->end)
    return complain(
        EXIT_USAGE,
        "--from: only %s of %s rows are there; name all parts, in order",
        count_text(run->first).text, count_text(run->end).text);
  return status == EXIT_DONE && !job->pareto ? write_rows(run, &job->rows)
                                             : status;
}

/* Outputs */

/* Reports variants that do not compile; an error if none does. */
static int say_wrong(const struct sweep_run *run) {
  int64_t all = run->end - run->begin;
  if (run->wrong == 0)
    return EXIT_DONE;
  return complain(run->wrong == all ? EXIT_SOURCE : EXIT_DONE,
                  "%" PRId64 " of %" PRId64 " variants do not compile, and "
                  "%s; the first: %s",
                  run->wrong, all,
                  run->jobs[0]->pareto ? "are left out" : "have empty cells",
                  run->why);
}

static int make_all(struct sweep_run *run) {
  return run->jobs[0]->from_count ? read_parts(run) : run_blocks(run);
}

static int write_front(struct sweep_run *run) {
  struct sweep_job *job = run->jobs[0];
  for (size_t i = 0; i < run->front.count; i++)
    if (!rows_add(&job->rows, &job->space, run->front.at[i].places,
                  &run->front.at[i].variant))
      return complain(EXIT_IO, "out of memory");
  return write_rows(run, &job->rows);
}

static int write_file(struct sweep_run *run, int (*put)(struct sweep_run *)) {
  struct output_file output;
  if (!output_open(&output, run->path))
    return output_failed(run->path, errno);
  run->file = output.file;
  int status = make_header(run->jobs[0]);
  if (status == EXIT_DONE)
    status = put(run);
  if (status != EXIT_DONE) {
    output_abandon(&output);
    return status;
  }
  return output_commit(&output, false) ? EXIT_DONE
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
  return status;
}

static int draw_charts(struct sweep_run *run) {
  struct sweep_job *job = run->jobs[0];
  int status = EXIT_DONE;
  for (size_t i = 0; i < job->options.wanted_count && status == EXIT_DONE; i++)
    if (chart_kind(job->options.wanted[i].path))
      status = chart_write(&job->bench, &run->front, &run->dots,
                           job->options.wanted[i].path);
  return status;
}

static int find_front(struct sweep_run *run) {
  struct sweep_job *job = run->jobs[0];
  run->front.axes = job->space.count;
  if (!dots_open(&run->dots))
    return complain(EXIT_IO, "out of memory");
  int status = make_all(run);
  if (status == EXIT_DONE && run->front.count == 0)
    return say_wrong(run);
  front_sort(&run->front);
  if (status == EXIT_DONE && run->path)
    status = write_file(run, write_front);
  if (status == EXIT_DONE)
    status = draw_charts(run);
  return status;
}

int sweep_run(struct sweep_run *run) {
  int status = run->jobs[0]->pareto   ? find_front(run)
               : run->jobs[0]->append ? append_to(run)
                                      : write_file(run, make_all);
  dots_close(&run->dots);
  front_close(&run->front);
  return status == EXIT_DONE ? say_wrong(run) : status;
}
