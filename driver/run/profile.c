/* netc run: times of layers, and progress on a terminal. */
#define _POSIX_C_SOURCE 200809L
#include "driver/run/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Progress, as the share of operations that are done. */

#define QUIET_SECONDS 0.7 /* before the first report, and between two */

struct run_progress {
  double last;
  bool shown;
};

static int show_progress(void *user, const struct netrt *net, uint32_t op,
                         enum netrt_when when) {
  struct run_progress *p = user;
  if (when == NETRT_BEFORE && now() - p->last > QUIET_SECONDS) {
    const struct netrt_model *model = net->model;
    fprintf(stderr, "\r\033[K%" PRIu32 " of %" PRIu32 " operations, ", op,
            model->op_count);
    say("%.40s", model->layers[model->ops[op].layer]);
    p->last = now();
    p->shown = true;
  }
  return 0;
}

enum netrt_status run_once(struct running *r) {
  struct run_progress p = {now(), false};
  if (isatty(STDERR_FILENO)) {
    r->net.hook = show_progress;
    r->net.hook_user = &p;
  }
  enum netrt_status status = netrt_run(&r->net);
  r->net.hook = NULL;
  if (p.shown)
    fputs("\r\033[K", stderr);
  return status;
}

/* Times */

enum { MOST_ROUNDS = 50 };
#define ENOUGH_SECONDS 1.0

struct run_row {
  const char *name, *kernel;
  double seconds, flops;
};

struct run_profile {
  struct run_row *rows; /* by layer of the model */
  double began;
};

static int note_time(void *user, const struct netrt *net, uint32_t op,
                     enum netrt_when when) {
  struct run_profile *p = user;
  const struct netrt_op *at = &net->model->ops[op];
  if (when == NETRT_BEFORE)
    p->began = now();
  else
    p->rows[at->layer].seconds += now() - p->began;
  return 0;
}

/* Finds FLOPs by name; names are the library's, in about the same order. */
static void find_flops(struct running *r, struct run_profile *p) {
  struct netc *netc = r->options.netc;
  struct netc_layer layer = {.size = sizeof layer};
  size_t at = 0, count = netc_layer_count(netc);
  for (uint32_t i = 0; i < r->model.layer_count; i++) {
    p->rows[i].name = r->model.layers[i];
    for (size_t tried = 0; tried < count; tried++, at = (at + 1) % count) {
      netc_layer(netc, at, &layer);
      if (strcmp(layer.name, p->rows[i].name) == 0)
        break;
    }
    p->rows[i].kernel = layer.op;
    p->rows[i].flops = 2 * (double)layer.mac_count * (double)r->model.batch;
  }
}

/* Adds FLOPs of layers whose operations another layer runs; these take no
 * time. */
static void give_flops(struct running *r, struct run_profile *p) {
  const struct netrt_model *m = &r->model;
  for (uint32_t i = 0; i < m->op_count; i++) {
    if (m->ops[i].kernel != NETRT_LINEBUFFER)
      continue;
    struct run_row *all = &p->rows[m->ops[i].layer];
    uint32_t count = (uint32_t)m->numbers[m->ops[i].args];
    all->kernel = "row by row";
    for (uint32_t k = 1; k <= count; k++) {
      struct run_row *one = &p->rows[m->ops[i + k].layer];
      if (one == all)
        continue;
      all->flops += one->flops;
      one->flops = 0;
    }
  }
}

static int by_time(const void *a, const void *b) {
  const struct run_row *x = a, *y = b;
  if (x->seconds != y->seconds)
    return x->seconds > y->seconds ? -1 : 1;
  return strcmp(x->name, y->name);
}

static void put_row(FILE *out, int width, const char *name, const char *kernel,
                    double seconds, double flops, double whole) {
  fprintf(out, "%-*s  %-12s %10.3f", width, name, kernel, 1e3 * seconds);
  if (flops > 0 && seconds > 0)
    fprintf(out, " %9.2f", 1e-9 * flops / seconds);
  else
    fprintf(out, " %9s", "-");
  fprintf(out, " %6.1f %%\n", whole > 0 ? 100 * seconds / whole : 0);
}

static void put_profile(struct running *r, struct run_row *rows, double whole,
                        int rounds) {
  FILE *out = r->options.wanted_count ? stderr : stdout;
  double sum = 0, flops = 0;
  int width = 5;
  for (uint32_t i = 0; i < r->model.layer_count; i++) {
    int length = (int)strlen(rows[i].name);
    width = length > width ? length : width;
    rows[i].seconds /= rounds;
    sum += rows[i].seconds;
    flops += rows[i].flops;
  }
  qsort(rows, r->model.layer_count, sizeof *rows, by_time);
  fprintf(out, "%-*s  %-12s %10s %9s %8s\n", width, "layer", "kind", "ms",
          "GFLOP/s", "share");
  for (uint32_t i = 0; i < r->model.layer_count; i++)
    put_row(out, width, rows[i].name, rows[i].kernel, rows[i].seconds,
            rows[i].flops, sum);
  put_row(out, width, "all", "", whole / rounds, flops, sum);
  fprintf(out, "mean of %d run%s, %" PRId64 " thread%s\n", rounds,
          rounds == 1 ? "" : "s", r->threads > 1 ? r->threads : INT64_C(1),
          r->threads > 1 ? "s" : "");
}

/* The run before this one has filled the caches. */
int run_profile(struct running *r) {
  struct run_profile p = {
      .rows =
          arena_alloc(&r->arena, r->model.layer_count + 1U, sizeof *p.rows)};
  double whole = 0;
  int rounds = 0;
  find_flops(r, &p);
  give_flops(r, &p);
  r->net.hook = note_time;
  r->net.hook_user = &p;
  while (rounds == 0 || (whole < ENOUGH_SECONDS && rounds < MOST_ROUNDS)) {
    run_put_inputs(r);
    double began = now();
    if (netrt_run(&r->net) != NETRT_OK)
      return EXIT_BUG;
    whole += now() - began;
    rounds++;
  }
  r->net.hook = NULL;
  put_profile(r, p.rows, whole, rounds);
  return r->options.wanted_count ? EXIT_DONE : finish_stdout();
}
