/* The chart of a sweep, which may have a million variants. */
#define _POSIX_C_SOURCE 200809L
#include "driver/search/chart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "driver/graphviz.h"
#include "driver/output.h"

/* A hash table that is at most half full. */
enum { SLOTS = 1 << 14, MOST_DOTS = SLOTS / 2, FIRST_DIGITS = 12 };

bool dots_open(struct dots *dots) {
  *dots = (struct dots){.digits = FIRST_DIGITS};
  dots->at = malloc(SLOTS * sizeof *dots->at);
  dots->spare = malloc(MOST_DOTS * sizeof *dots->spare);
  for (size_t i = 0; dots->at && i < SLOTS; i++)
    dots->at[i][0] = -1;
  return dots->at && dots->spare;
}

void dots_close(struct dots *dots) {
  free(dots->at);
  free(dots->spare);
}

static int64_t rounded(int64_t value, int digits) {
  int shift = 0;
  while (value >> shift >> digits)
    shift++;
  return value >> shift << shift;
}

static void put_dot(struct dots *dots, const int64_t *figures) {
  uint64_t hash = 0;
  for (int i = 0; i < MOST_GOALS; i++)
    hash = (hash ^ (uint64_t)figures[i]) * 0x9E3779B97F4A7C15u;
  size_t slot = (size_t)(hash >> 50); /* the upper 14 bits */
  while (dots->at[slot][0] >= 0) {
    if (memcmp(dots->at[slot], figures, sizeof *dots->at) == 0)
      return;
    slot = (slot + 1) % SLOTS;
  }
  memcpy(dots->at[slot], figures, sizeof *dots->at);
  dots->count++;
}

/* Rounds all dots to one digit less. */
static void round_all(struct dots *dots) {
  int64_t(*figures)[MOST_GOALS] = dots->spare;
  size_t count = 0;
  dots->digits--;
  for (size_t i = 0; i < SLOTS; i++) {
    if (dots->at[i][0] < 0)
      continue;
    for (int k = 0; k < MOST_GOALS; k++)
      figures[count][k] = rounded(dots->at[i][k], dots->digits);
    count++;
    dots->at[i][0] = -1;
  }
  dots->count = 0;
  for (size_t i = 0; i < count; i++)
    put_dot(dots, figures[i]);
}

void dots_add(struct dots *dots, const struct goals *goals,
              const struct measured_net *variant) {
  int64_t figures[MOST_GOALS] = {0};
  while (dots->count == MOST_DOTS && dots->digits > 1)
    round_all(dots);
  for (size_t i = 0; i < goals->count; i++)
    figures[i] = rounded(variant->at[goals->at[i].figure], dots->digits);
  if (dots->count < MOST_DOTS)
    put_dot(dots, figures);
  dots->variants++;
}

/* Drawing */

const char *chart_kind(const char *path) {
  static const char *const kinds[] = {"pareto.svg", "pareto.pdf", "pareto.tex",
                                      "pareto.png"};
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
    if (strcasecmp(strchr(kinds[i], '.'), dot) == 0)
      return kinds[i];
  return NULL;
}

/* Writes the names of the axes, or their values at `places`. */
static bool put_names(struct bytes *to, const struct space *space,
                      const int64_t *places) {
  char value[AXIS_VALUE];
  for (size_t i = 0; i < space->count; i++) {
    axis_value(&space->axes[i], places ? places[i] : 0, value, sizeof value);
    const char *name = places ? value : space->axes[i].name;
    if (!bytes_sink(to, ", ", i ? 2 : 0) || !bytes_sink(to, name, strlen(name)))
      return false;
  }
  return bytes_sink(to, "", 1);
}

/* The input of netc_emit for a front and dots. */
struct drawn {
  struct netc_front front;
  struct netc_goal goals[MOST_GOALS];
  struct netc_dot *dots;
  int64_t (*at)[MOST_GOALS]; /* figures of the front */
  size_t *starts;
  struct bytes names; /* of the space, and of each named variant */
};

static void describe_goals(struct drawn *d, const struct goals *goals) {
  static const char *const names[FIGURE_COUNT] = {
      [FIGURE_PARAMS] = "parameters",     [FIGURE_MACS] = "MACs",
      [FIGURE_INFER] = "inference",       [FIGURE_TRAIN] = "training step",
      [FIGURE_ARENA] = "arena",           [FIGURE_WEIGHTS] = "weights",
      [FIGURE_SECONDS] = "training step",
  };
  for (size_t i = 0; i < goals->count; i++) {
    enum figure figure = goals->at[i].figure;
    d->goals[i] = (struct netc_goal){
        .name = names[figure],
        .amount = figure == FIGURE_PARAMS || figure == FIGURE_MACS
                      ? NETC_AMOUNT_COUNT
                  : figure == FIGURE_SECONDS ? NETC_AMOUNT_TIME
                                             : NETC_AMOUNT_BYTES,
        .less = goals->at[i].less};
  }
}

/* Adds the front, after the other dots. */
static bool describe_front(struct drawn *d, const struct space *space,
                           const struct search_front *front, size_t first) {
  bool whole = put_names(&d->names, space, NULL);
  for (size_t i = 0; i < front->count && whole; i++) {
    d->starts[i] = d->names.length;
    whole = put_names(&d->names, space, front->at[i].places);
    for (size_t k = 0; k < front->goals.count; k++)
      d->at[i][k] = front->at[i].variant.at[front->goals.at[k].figure];
  }
  for (size_t i = 0; i < front->count && whole; i++)
    d->dots[first + i] =
        (struct netc_dot){d->names.at + d->starts[i], d->at[i]};
  return whole;
}

static bool describe(struct drawn *d, const struct space *space,
                     const struct search_front *front,
                     const struct dots *dots) {
  size_t count = 0;
  d->dots = calloc(front->count + dots->count, sizeof *d->dots);
  d->starts = calloc(front->count, sizeof *d->starts);
  d->at = calloc(front->count, sizeof *d->at);
  if (!d->dots || !d->starts || !d->at)
    return false;
  for (size_t i = 0; i < SLOTS; i++)
    if (dots->at[i][0] >= 0)
      d->dots[count++].at = dots->at[i];
  bool whole = describe_front(d, space, front, count);
  describe_goals(d, &front->goals);
  d->front = (struct netc_front){.size = sizeof d->front,
                                 .goals = d->goals,
                                 .goal_count = front->goals.count,
                                 .names = d->names.at,
                                 .dots = d->dots,
                                 .dot_count = count + front->count,
                                 .variants = dots->variants};
  return whole;
}

struct chart_sink {
  FILE *file;
  int error;
};

static bool write_chart(void *user, const char *bytes, size_t length) {
  struct chart_sink *sink = user;
  if (file_sink(sink->file, bytes, length))
    return true;
  sink->error = errno;
  return false;
}

static int emit(struct bench *bench, const struct netc_options *look,
                const char *path, FILE *file) {
  const char *kind = chart_kind(path);
  struct bytes drawing = {0};
  struct chart_sink sink = {.file = file};
  if (strcmp(kind, "pareto.png") != 0) {
    enum netc_status status =
        netc_emit(bench->netc, kind, look, write_chart, &sink);
    return sink.error ? output_failed(path, sink.error)
                      : exit_status_of(bench->netc, status);
  }
  enum netc_status status =
      netc_emit(bench->netc, "pareto.drawing", look, bytes_sink, &drawing);
  int result = status == NETC_OK ? graphviz_render(&drawing, file)
                                 : exit_status_of(bench->netc, status);
  bytes_free(&drawing);
  return result;
}

static int write_to(struct bench *bench, const struct drawn *d,
                    const char *path) {
  struct output_file output;
  struct netc_options look = bench->options->look;
  look.front = &d->front;
  if (!output_open(&output, path))
    return output_failed(path, errno);
  int status = emit(bench, &look, path, output.file);
  if (status == EXIT_DONE && fflush(output.file) != 0)
    status = output_failed(path, errno);
  if (status != EXIT_DONE) {
    output_abandon(&output);
    return status;
  }
  return output_commit(&output, false) ? EXIT_DONE : output_failed(path, errno);
}

int chart_write(struct bench *bench, const struct search_front *front,
                const struct dots *dots, const char *path) {
  struct drawn d = {.front = {.size = sizeof d.front}};
  struct measured_net v;
  int status = bench_measure(bench, front->at[0].places, &v);
  if (status == EXIT_DONE && !describe(&d, bench->space, front, dots))
    status = complain(EXIT_IO, "out of memory");
  if (status == EXIT_DONE)
    status = write_to(bench, &d, path);
  free(d.dots);
  free(d.starts);
  free(d.at);
  bytes_free(&d.names);
  return status;
}
