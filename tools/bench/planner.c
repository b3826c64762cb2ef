/* The arena planner beside the usual greedy ones; see tools/bench/README.md. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory/plan/plan.h"

enum { MOST = 100000 };

static struct plan_buffer buffers[MOST];
static size_t count;

/* What the greedy planners look at: buffers placed so far, lowest first. */
static size_t order[MOST], placed[MOST];
static int64_t breadth[MOST]; /* the most that lives during its life */

static int by_size(const void *a, const void *b) {
  const struct plan_buffer *x = &buffers[*(const size_t *)a];
  const struct plan_buffer *y = &buffers[*(const size_t *)b];
  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return x < y ? -1 : x > y;
}

static int by_breadth(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  if (breadth[x] != breadth[y])
    return breadth[x] > breadth[y] ? -1 : 1;
  return by_size(a, b);
}

static bool live_together(const struct plan_buffer *a,
                          const struct plan_buffer *b) {
  return a->lower < b->upper && b->lower < a->upper;
}

static void find_breadths(void) {
  for (size_t i = 0; i < count; i++) {
    int64_t load = 0; /* when a buffer is born, others may be alive */
    for (size_t k = 0; k < count; k++)
      if (buffers[k].lower <= buffers[i].lower &&
          buffers[i].lower < buffers[k].upper)
        load += buffers[k].size;
    for (size_t k = 0; k < count; k++)
      if (buffers[k].lower <= buffers[i].lower &&
          buffers[i].lower < buffers[k].upper && breadth[k] < load)
        breadth[k] = load;
  }
}

/* The lowest gap that is large enough, or the smallest such one. */
static int64_t find_gap(const struct plan_buffer *b, size_t placed_count,
                        bool best_fit) {
  int64_t top = 0, found = -1, smallest = INT64_MAX;
  for (size_t i = 0; i < placed_count; i++) {
    const struct plan_buffer *other = &buffers[placed[i]];
    if (!live_together(b, other))
      continue;
    int64_t gap = other->offset - top;
    if (gap >= b->size && gap < smallest) {
      found = top;
      smallest = gap;
      if (!best_fit)
        return found;
    }
    if (other->offset + other->size > top)
      top = other->offset + other->size;
  }
  return found >= 0 ? found : top;
}

static int64_t place_greedily(int (*compare)(const void *, const void *),
                              bool best_fit) {
  int64_t height = 0;
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  qsort(order, count, sizeof *order, compare);
  for (size_t i = 0; i < count; i++) {
    struct plan_buffer *b = &buffers[order[i]];
    size_t at = i;
    b->offset = find_gap(b, i, best_fit);
    for (; at > 0 && buffers[placed[at - 1]].offset > b->offset; at--)
      placed[at] = placed[at - 1];
    placed[at] = order[i];
    if (b->offset + b->size > height)
      height = b->offset + b->size;
  }
  return height;
}

/* Milliseconds of the processor: others may keep the machine busy. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint64_t state = 88172645463325252u;

static int64_t draw(int64_t most) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)(state % (uint64_t)most);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/*
 * Seeds of the search, and with each the rows in another order: one run may
 * be luck.
 */
enum { SEEDS = 20 };

struct luck {
  double ms[SEEDS], nodes[SEEDS]; /* in order */
  int solved;
};

static void shuffle(uint64_t seed) {
  state = seed;
  for (size_t left = count; left > 1; left--) {
    size_t other = (size_t)draw((int64_t)left);
    struct plan_buffer last = buffers[left - 1];
    buffers[left - 1] = buffers[other];
    buffers[other] = last;
  }
}

static struct luck try_luck(int64_t capacity) {
  struct luck luck = {.solved = 0};
  for (int i = 0; i < SEEDS; i++) {
    struct arena arena;
    struct plan plan;
    uint64_t seed = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
    struct plan_options options = {.capacity = capacity, .seed = seed};
    shuffle(seed);
    arena_open(&arena, NULL, NULL);
    double start = now();
    if (plan_arena(&arena, buffers, count, &options, &plan) != PLAN_DONE)
      abort();
    luck.ms[i] = now() - start;
    luck.nodes[i] = (double)plan.nodes;
    luck.solved += capacity ? plan.height <= capacity : plan.optimal;
    arena_close(&arena);
  }
  qsort(luck.ms, SEEDS, sizeof *luck.ms, by_value);
  qsort(luck.nodes, SEEDS, sizeof *luck.nodes, by_value);
  return luck;
}

static struct {
  double ms, nodes; /* sums of medians */
  int missed;
} all;

static void report_luck(const char *name, int64_t capacity) {
  struct luck luck = try_luck(capacity);
  double ms = (luck.ms[SEEDS / 2 - 1] + luck.ms[SEEDS / 2]) / 2;
  double nodes = (luck.nodes[SEEDS / 2 - 1] + luck.nodes[SEEDS / 2]) / 2;
  all.ms += ms;
  all.nodes += nodes;
  all.missed += SEEDS - luck.solved;
  printf("%-26s %6zu %9d %9.2f %9.2f %9.0f %9.0f\n", name, count, luck.solved,
         ms, luck.ms[SEEDS - 1], nodes, luck.nodes[SEEDS - 1]);
  fflush(stdout);
}

static struct plan plan_ours(int64_t capacity, double *least) {
  struct plan plan = {0};
  struct plan_options options = {.capacity = capacity};
  for (int run = 0; run < 3; run++) {
    struct arena arena;
    arena_open(&arena, NULL, NULL);
    double start = now();
    if (plan_arena(&arena, buffers, count, &options, &plan) != PLAN_DONE)
      abort();
    double took = now() - start;
    if (run == 0 || took < *least)
      *least = took;
    arena_close(&arena);
    if (took > 1000)
      break;
  }
  return plan;
}

static double excess(int64_t height, int64_t bound) {
  return bound ? 100.0 * (double)(height - bound) / (double)bound : 0;
}

static void report(const char *name, int64_t capacity) {
  double took = 0;
  struct plan plan = plan_ours(capacity, &took);
  printf("%-26s %6zu %12" PRId64 " %9.2f %8" PRIu64 " %7.3f%s", name, count,
         plan.lower_bound, took, plan.nodes,
         excess(plan.height, plan.lower_bound), plan.optimal ? "*" : " ");
  if (count <= 20000) {
    memset(breadth, 0, sizeof breadth);
    find_breadths();
    printf(" %8.2f %8.2f %8.2f\n",
           excess(place_greedily(by_size, false), plan.lower_bound),
           excess(place_greedily(by_breadth, false), plan.lower_bound),
           excess(place_greedily(by_size, true), plan.lower_bound));
  } else {
    printf(" %8s %8s %8s\n", "-", "-", "-");
  }
  fflush(stdout);
}

/* Columns id,lower,upper,size, as in the published files. */
static bool read_table(const char *path) {
  char line[1024];
  FILE *file = fopen(path, "r");
  if (!file)
    return false;
  count = 0;
  while (count < MOST && fgets(line, sizeof line, file)) {
    struct plan_buffer *b = &buffers[count];
    *b = (struct plan_buffer){0};
    count +=
        sscanf(line + strcspn(line, ","), ",%" SCNd64 ",%" SCNd64 ",%" SCNd64,
               &b->lower, &b->upper, &b->size) == 3;
  }
  fclose(file);
  return true;
}

/* A step of training: what goes forward is needed again on the way back. */
static void make_training(size_t n) {
  static const int64_t units[] = {512, 4096, 65536, 1048576};
  int64_t end = (int64_t)n / 2;
  count = n;
  for (size_t i = 0; i < n; i++) {
    int64_t kind = draw(100), at = draw(end);
    struct plan_buffer *b = &buffers[i];
    *b = (struct plan_buffer){.lower = at, .upper = at + 1 + draw(7)};
    if (kind < 35)
      *b = (struct plan_buffer){.lower = at / 2, .upper = end - at / 2};
    else if (kind < 45)
      b->upper = at + 1 + draw(2000);
    b->size = (1 + draw(64)) * units[draw(4)];
  }
}

/* FILE or FILE@CAPACITY; training=N; after `seeds`, each with many. */
int main(int argc, char **argv) {
  bool seeds = argc > 1 && strcmp(argv[1], "seeds") == 0;
  if (seeds)
    printf("%-26s %6s %6s/%2d %9s %9s %9s %9s\n", "instance", "n", "solved",
           SEEDS, "median ms", "worst", "nodes", "worst");
  else
    printf("%-26s %6s %12s %9s %8s %7s  %8s %8s %8s\n", "instance", "n",
           "bound", "ms", "nodes", "+ %", "size", "breadth", "best fit");
  for (int i = 1 + seeds; i < argc; i++) {
    char *at = strchr(argv[i], '@');
    const char *slash = strrchr(argv[i], '/');
    const char *name = slash ? slash + 1 : argv[i];
    int64_t capacity = at ? strtoll(at + 1, NULL, 10) : 0;
    if (at)
      *at = '\0';
    if (strncmp(argv[i], "training=", 9) == 0) {
      make_training((size_t)strtoul(argv[i] + 9, NULL, 10));
    } else if (!read_table(argv[i])) {
      perror(argv[i]);
      return 1;
    }
    if (at)
      *at = '@';
    (seeds ? report_luck : report)(name, capacity);
  }
  if (seeds)
    printf("%-26s %6s %6d no %9.2f %9s %9.0f\n", "sums of medians", "",
           all.missed, all.ms, "", all.nodes);
  return 0;
}
