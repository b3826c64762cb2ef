/*
 * netc fit: the values of params and inputs with which a net is as large as a
 * budget allows. One axis along which all figures grow is bisected; the others
 * are tried value by value. Nothing is estimated: each variant is compiled.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "driver/search/goal.h"

enum { MOST_FRONT = 4096, MOST_PROBES = 160 };
#define MOST_TRIED INT64_C(100000000)

/* A variant that holds its budget. */
struct fit_found {
  int64_t places[MOST_AXES];
  long double goals[MOST_GOALS];
  struct measured_net variant;
};

/* What is known of one line along the bisected axis. */
struct fit_line {
  int64_t place[MOST_PROBES];
  struct measured_net variant[MOST_PROBES];
  size_t count;
};

struct fit_search {
  struct net_options *options;
  struct bench bench;
  struct space space;
  struct goals goals;
  bool exhaustive;
  const char *free[MOST_AXES];
  size_t free_count;
  size_t along; /* the axis that is bisected; space.count: none */
  const char *why_not[MOST_AXES];
  int64_t lines, tried_lines; /* all; those tried value by value */
  int64_t total;              /* variants of the space */
  struct fit_found *front;    /* none better in all goals */
  size_t front_count;
  int64_t wrong;               /* variants that do not compile */
  struct measured_net nearest; /* one that does not hold */
  int64_t nearest_places[MOST_AXES];
  bool has_nearest;
  struct fit_line line;
};

/* Comparing */

/* Of variants that are alike in all goals the later one is taken, so that the
 * answer does not depend on which of them were tried. */
static bool is_later(const struct fit_search *s, const int64_t *a,
                     const int64_t *b) {
  for (size_t i = 0; i < s->space.count; i++)
    if (a[i] != b[i])
      return a[i] > b[i];
  return false;
}

/* Whether a is at least b in every goal. */
static bool covers(const struct fit_search *s, const struct fit_found *a,
                   const struct fit_found *b) {
  for (size_t i = 0; i < s->goals.count; i++)
    if (!(a->goals[i] >= b->goals[i]))
      return false;
  return true;
}

static int add_found(struct fit_search *s, const int64_t *places,
                     const struct measured_net *variant) {
  struct fit_found found = {.variant = *variant};
  memcpy(found.places, places, sizeof found.places);
  for (size_t i = 0; i < s->goals.count; i++) {
    found.goals[i] = goal_value(&s->goals.at[i], variant);
    if (found.goals[i] != found.goals[i]) /* it divides by 0 */
      return EXIT_DONE;
  }
  size_t kept = 0;
  for (size_t i = 0; i < s->front_count; i++) {
    const struct fit_found *other = &s->front[i];
    if (covers(s, other, &found) &&
        (!covers(s, &found, other) || is_later(s, other->places, places)))
      return EXIT_DONE;
  }
  for (size_t i = 0; i < s->front_count; i++)
    if (!covers(s, &found, &s->front[i]))
      s->front[kept++] = s->front[i];
  if (kept == MOST_FRONT)
    return complain(EXIT_USAGE,
                    "more than %d variants are best in some goal; "
                    "name fewer goals, or a larger step",
                    MOST_FRONT);
  s->front[kept] = found;
  s->front_count = kept + 1;
  return EXIT_DONE;
}

static int measure(struct fit_search *s, const int64_t *places,
                   struct measured_net *v) {
  int status = bench_measure(&s->bench, places, v);
  progress_show(&s->options->progress, "searching", s->bench.compiled,
                s->along < s->space.count ? 0 : s->total);
  if (status != EXIT_DONE)
    return status;
  s->wrong += v->state == VARIANT_WRONG;
  if (v->state == VARIANT_HOLDS)
    return add_found(s, places, v);
  if (!s->has_nearest || s->nearest.state == VARIANT_WRONG) {
    s->nearest = *v;
    s->has_nearest = true;
    memcpy(s->nearest_places, places, sizeof s->nearest_places);
  }
  return EXIT_DONE;
}

/* Lines */

static int try_all(struct fit_search *s, int64_t *places) {
  struct measured_net v;
  int status = EXIT_DONE;
  if (s->total > MOST_TRIED)
    return complain(EXIT_USAGE,
                    "%s cannot be bisected: a value does not compile, or a "
                    "figure falls; to try %s variants take larger steps",
                    s->space.axes[s->along].name, count_text(s->total).text);
  s->tried_lines++;
  for (int64_t i = 0; i < s->space.axes[s->along].count; i++) {
    places[s->along] = i;
    status = measure(s, places, &v);
    if (status != EXIT_DONE)
      return status;
  }
  return status;
}

/* No figure of a smaller one is larger. An arena may be: what no plan can be
 * below stands for it. */
static bool keeps_order(const struct measured_net *small,
                        const struct measured_net *large) {
  for (int i = 0; i < FIGURE_COUNT; i++)
    if (i != FIGURE_ARENA && i != FIGURE_INFER && small->at[i] > large->at[i])
      return false;
  return small->arena_bound <= large->arena_bound &&
         small->seconds <= large->seconds;
}

/* One more of a line; *odd: it does not compile, or is out of order. */
static int probe(struct fit_search *s, int64_t *places, int64_t place,
                 struct measured_net *v, bool *odd) {
  struct fit_line *line = &s->line;
  places[s->along] = place;
  int status = measure(s, places, v);
  if (status != EXIT_DONE)
    return status;
  *odd = *odd || v->state == VARIANT_WRONG || line->count == MOST_PROBES;
  for (size_t i = 0; i < line->count && !*odd; i++)
    *odd = line->place[i] < place ? !keeps_order(&line->variant[i], v)
                                  : !keeps_order(v, &line->variant[i]);
  if (*odd)
    return EXIT_DONE;
  line->place[line->count] = place;
  line->variant[line->count++] = *v;
  return EXIT_DONE;
}

/*
 * The largest that holds, and the next one, which does not. A plan may be
 * above what none can be below; then a larger one may hold once more, until
 * that bound passes the arena that was too large.
 */
static int bisect(struct fit_search *s, int64_t *places, bool *odd) {
  int64_t low = -1, high = s->space.axes[s->along].count;
  int64_t last = high - 1;
  struct measured_net v = {.verdict = ""}, over = v;
  int status = probe(s, places, 0, &v, odd);
  if (status != EXIT_DONE || *odd)
    return status;
  if (v.state == VARIANT_HOLDS) {
    low = 0;
  } else {
    high = 0;
    over = v;
  }
  if (low == 0 && last > 0) {
    status = probe(s, places, last, &v, odd);
    if (v.state == VARIANT_HOLDS)
      return status;
    high = last;
    over = v;
  }
  while (status == EXIT_DONE && !*odd && high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    status = probe(s, places, middle, &v, odd);
    if (v.state == VARIANT_HOLDS) {
      low = middle;
    } else {
      high = middle;
      over = v;
    }
  }
  v = over;
  while (status == EXIT_DONE && !*odd && high < last &&
         v.arena_bound < over.at[FIGURE_ARENA])
    status = probe(s, places, ++high, &v, odd);
  return status;
}

static int search_line(struct fit_search *s, int64_t *places) {
  bool odd = false;
  s->line.count = 0;
  if (s->along == s->space.count) {
    struct measured_net v;
    return measure(s, places, &v);
  }
  if (s->exhaustive)
    return try_all(s, places);
  int status = bisect(s, places, &odd);
  return status == EXIT_DONE && odd ? try_all(s, places) : status;
}

static int search(struct fit_search *s) {
  int64_t places[MOST_AXES] = {0};
  for (;;) {
    int status = search_line(s, places);
    if (status != EXIT_DONE)
      return status;
    size_t i = s->space.count;
    while (i > 0 && (i - 1 == s->along ||
                     places[i - 1] + 1 == s->space.axes[i - 1].count))
      i--;
    if (i == 0)
      return EXIT_DONE;
    places[i - 1]++;
    for (; i < s->space.count; i++)
      places[i] = 0;
  }
}

/* The space */

/* The longest axis along which everything grows. */
static void choose_axis(struct fit_search *s) {
  bool goals_grow = true;
  s->along = s->space.count;
  for (size_t i = 0; i < s->goals.count; i++)
    goals_grow = goals_grow && s->goals.at[i].grows;
  for (size_t i = 0; i < s->space.count; i++) {
    const struct axis *axis = &s->space.axes[i];
    bool grows = false;
    s->why_not[i] =
        axis->kind != AXIS_PARAM ? "it is not a `param`"
        : !axis_grows(axis)      ? "its values are a list"
        : !goals_grow            ? "the goal may fall as it grows"
        : netc_param_grows(s->bench.netc, axis->name, &grows) != NETC_OK ||
                !grows
            ? "the source does more with it than widen layers"
            : NULL;
    if (!s->why_not[i] && (s->along == s->space.count ||
                           axis->count > s->space.axes[s->along].count))
      s->along = i;
  }
}

static int check_size(struct fit_search *s) {
  const struct space *space = &s->space;
  bool counted = space_size(space, &s->total);
  s->lines = 1;
  for (size_t i = 0; i < space->count; i++)
    if (i != s->along && !mul_i64(s->lines, space->axes[i].count, &s->lines))
      s->lines = INT64_MAX;
  int64_t least = s->exhaustive ? counted ? s->total : INT64_MAX : s->lines;
  if (counted && least <= MOST_TRIED)
    return EXIT_DONE;
  return complain(EXIT_USAGE,
                  "these are %s variants to try, and at most %s are: take "
                  "larger steps, A..B:STEP",
                  least == INT64_MAX || !counted ? "more than 2^63"
                                                 : count_text(least).text,
                  count_text(MOST_TRIED).text);
}

/* "[18 34 50]" as a list, "1..8" as it is. */
static char *allowed_values(const char *allowed) {
  size_t length = strlen(allowed);
  char *values = malloc(length + 1);
  if (!values)
    return NULL;
  bool list = *allowed == '[';
  snprintf(values, length + 1, "%.*s", (int)(list ? length - 2 : length),
           allowed + list);
  for (char *at = values; *at; at++)
    if (*at == ' ')
      *at = ',';
  return values;
}

static bool find_param(struct netc *netc, const char *name,
                       struct netc_param *p) {
  for (size_t i = 0; netc_param(netc, i, p) == NETC_OK; i++)
    if (strcmp(p->name, name) == 0)
      return true;
  return false;
}

static bool is_setting(char *name) {
  struct netc_setting setting = {.size = sizeof setting};
  for (char *at = name; *at; at++)
    *at = *at == '-' ? '_' : *at;
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++)
    if (strcmp(setting.name, name) == 0)
      return true;
  return false;
}

static bool is_input(struct netc *netc, const char *name) {
  struct netc_end end = {.size = sizeof end};
  for (size_t i = 0; netc_input(netc, i, &end) == NETC_OK; i++)
    if (strcmp(end.name, name) == 0)
      return true;
  return false;
}

/* NAME=VALUES, or NAME of what the source limits. */
static int free_one(struct fit_search *s, const char *argument, char **owned) {
  char name[AXIS_VALUE];
  struct netc_param p = {.size = sizeof p};
  size_t length = strcspn(argument, "=");
  const char *values = argument[length] ? argument + length + 1 : "";
  if (length == 0 || length >= sizeof name)
    return complain(EXIT_USAGE, "--free takes NAME=A..B, not `%s`", argument);
  snprintf(name, sizeof name, "%.*s", (int)length, argument);
  bool param = find_param(s->bench.netc, name, &p);
  bool only = !param && strcmp(name, "input") == 0;
  bool input = !param && !only && is_input(s->bench.netc, name);
  enum axis_kind kind = param           ? AXIS_PARAM
                        : only || input ? AXIS_INPUT
                                        : AXIS_SETTING;
  if (kind == AXIS_SETTING && !is_setting(name))
    return complain(EXIT_USAGE,
                    "--free %s: the source has no `param %s` and no such "
                    "input; `netc params %s` lists what there is",
                    argument, name, s->options->files.at[0]);
  if (!*values && param && *p.allowed)
    values = *owned = allowed_values(p.allowed);
  if (!values)
    return complain(EXIT_IO, "out of memory");
  if (!*values)
    return complain(EXIT_USAGE, "--free %s: write its values, `--free %s=A..B`",
                    argument, name);
  int status = space_add(&s->space, kind, name, values);
  if (status == EXIT_DONE && input)
    snprintf(s->space.axes[s->space.count - 1].target, AXIS_VALUE, "%s", name);
  return status;
}

/* Answers */

static struct count_text amount(enum figure figure, int64_t value) {
  return figure == FIGURE_PARAMS || figure == FIGURE_MACS
             ? count_text(value)
             : size_text(value, UNITS_IEC);
}

static void put_place(const struct fit_search *s, size_t axis, int64_t place,
                      const char *before) {
  char value[AXIS_VALUE];
  axis_value(&s->space.axes[axis], place, value, sizeof value);
  tell("%s%s = %s", before, s->space.axes[axis].name, value);
}

/* The neighbour of the answer on an axis, compiled for this. */
static int put_next(struct fit_search *s, const struct fit_found *best,
                    size_t axis) {
  int64_t places[MOST_AXES];
  struct measured_net v;
  memcpy(places, best->places, sizeof places);
  if (++places[axis] == s->space.axes[axis].count) {
    put_place(s, axis, best->places[axis], "the last     ");
    puts(" is the end of what was asked");
    return EXIT_DONE;
  }
  int status = bench_measure(&s->bench, places, &v);
  if (status != EXIT_DONE)
    return status;
  put_place(s, axis, places[axis], "the next     ");
  tell(v.state == VARIANT_HOLDS   ? " holds, and is not better%s"
       : v.state == VARIANT_WRONG ? " does not compile: %s"
                                  : " does not fit: %s",
       v.why);
  putchar('\n');
  return EXIT_DONE;
}

static void put_how(const struct fit_search *s) {
  for (size_t i = 0; i < s->space.count; i++) {
    const struct axis *axis = &s->space.axes[i];
    if (i == s->along && !s->exhaustive && s->tried_lines < s->lines)
      tell("%s: bisected, for every figure grows with it", axis->name);
    else
      tell("%s: each of %s values tried", axis->name,
           count_text(axis->count).text);
    if (i == s->along && !s->exhaustive && s->tried_lines)
      tell("; in %s of %s cases value by value, where one did not compile or "
           "a figure fell",
           count_text(s->tried_lines).text, count_text(s->lines).text);
    else if (i != s->along && !s->exhaustive && s->why_not[i])
      tell(" (%s)", s->why_not[i]);
    putchar('\n');
  }
  tell("%s variants, %s compiled", count_text(s->total).text,
       count_text(s->bench.compiled).text);
  if (s->wrong)
    tell(", %s of them in error", count_text(s->wrong).text);
  putchar('\n');
}

static int put_best(struct fit_search *s) {
  const struct fit_found best = s->front[0];
  int status = EXIT_DONE;
  for (size_t i = 0; i < s->space.count; i++) {
    put_place(s, i, best.places[i], "");
    putchar('\n');
  }
  putchar('\n');
  for (int i = 0; i < FIGURE_COUNT; i++)
    if (i != FIGURE_TRAIN || *best.variant.verdict)
      printf("%-12s %s\n", figure_names[i],
             amount((enum figure)i, best.variant.at[i]).text);
  if (best.variant.seconds > 0)
    printf("%-12s %.6g\n", "seconds", best.variant.seconds);
  for (size_t i = 0; i < s->space.count && status == EXIT_DONE; i++)
    status = put_next(s, &best, i);
  return status;
}

static int by_first_goal(const void *a, const void *b) {
  const struct fit_found *left = a, *right = b;
  return (left->goals[0] < right->goals[0]) -
         (left->goals[0] > right->goals[0]);
}

/* A row for each that none is better than in all goals. */
static void put_front(struct fit_search *s) {
  char value[AXIS_VALUE];
  qsort(s->front, s->front_count, sizeof *s->front, by_first_goal);
  for (size_t i = 0; i < s->space.count; i++)
    tell("%12s  ", s->space.axes[i].name);
  for (int f = 0; f < FIGURE_COUNT; f++)
    printf("%16s%s", figure_names[f], f + 1 < FIGURE_COUNT ? "  " : "\n");
  for (size_t k = 0; k < s->front_count; k++) {
    for (size_t i = 0; i < s->space.count; i++) {
      axis_value(&s->space.axes[i], s->front[k].places[i], value, sizeof value);
      tell("%12s  ", value);
    }
    for (int f = 0; f < FIGURE_COUNT; f++)
      printf("%16s%s", amount((enum figure)f, s->front[k].variant.at[f]).text,
             f + 1 < FIGURE_COUNT ? "  " : "\n");
  }
}

static int complain_of_none(const struct fit_search *s) {
  char at[512] = "", value[AXIS_VALUE];
  for (size_t i = 0; i < s->space.count; i++) {
    size_t used = strlen(at);
    axis_value(&s->space.axes[i], s->nearest_places[i], value, sizeof value);
    if (used < sizeof at)
      snprintf(at + used, sizeof at - used, "%s%s = %s", i ? ", " : "",
               s->space.axes[i].name, value);
  }
  return complain(EXIT_SOURCE, "nothing fits; %s: %s", at,
                  s->has_nearest ? s->nearest.why : "the goal is not a number");
}

static int answer(struct fit_search *s) {
  progress_erase(&s->options->progress);
  if (s->front_count == 0)
    return complain_of_none(s);
  int status = EXIT_DONE;
  if (s->goals.count > 1)
    put_front(s);
  else
    status = put_best(s);
  putchar('\n');
  put_how(s);
  int end = finish_stdout();
  return status ? status : end;
}

static int fit(struct fit_search *s) {
  char *owned[MOST_AXES] = {NULL};
  int status = EXIT_DONE;
  if (s->free_count == 0)
    return complain(EXIT_USAGE, "nothing is free: `--free width=1..256`");
  if (s->goals.count == 0)
    return complain(EXIT_USAGE, "no goal: `--maximize macs`");
  s->front = calloc(MOST_FRONT, sizeof *s->front);
  if (!s->front)
    return complain(EXIT_IO, "out of memory");
  struct space none = {.count = 0};
  status = bench_open(&s->bench, s->options, &none);
  for (size_t i = 0; i < s->free_count && status == EXIT_DONE; i++)
    status = free_one(s, s->free[i], &owned[i]);
  if (status == EXIT_DONE)
    choose_axis(s);
  if (status == EXIT_DONE)
    status = check_size(s);
  if (status == EXIT_DONE)
    status = bench_open(&s->bench, s->options, &s->space);
  if (status == EXIT_DONE)
    status = search(s);
  if (status == EXIT_DONE)
    status = answer(s);
  for (size_t i = 0; i < s->free_count; i++)
    free(owned[i]);
  free(s->front);
  return status;
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct fit_search *s = user;
  (void)name;
  if (option == OPTION_MAXIMIZE)
    return goals_read(&s->goals, value);
  if (option == OPTION_EXHAUSTIVE)
    s->exhaustive = true;
  if (option != OPTION_FREE)
    return EXIT_DONE;
  if (s->free_count == MOST_AXES)
    return complain(EXIT_USAGE, "at most %d names are free", MOST_AXES);
  s->free[s->free_count++] = value;
  return EXIT_DONE;
}

int command_fit(int argc, char **argv) {
  struct net_options options = {.argc = 0};
  struct fit_search *s = calloc(1, sizeof *s);
  struct netc *netc = netc_open(NULL, NULL);
  int status = EXIT_IO;
  if (!netc || !s) {
    complain(EXIT_IO, "out of memory");
  } else {
    s->options = &options;
    status =
        net_options_read_more(&options, COMMAND_FIT, netc, argc, argv, take, s)
            ? fit(s)
            : options.files.status;
    net_options_close(&options);
  }
  netc_close(netc);
  free(s);
  return status;
}
