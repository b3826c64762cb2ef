/* The search of netc fit: bisects lines, or tries them value by value. */
#include "driver/search/fit.h"

#include <string.h>

#include "base/check.h"

#define MOST_TRIED INT64_C(100000000)

/* Chooses the longest axis along which all figures grow. */
static void choose_axis(struct fit_search *s) {
  bool goals_grow = true;
  s->along = s->space.count;
  for (size_t i = 0; i < s->front.goals.count; i++)
    goals_grow = goals_grow && s->front.goals.at[i].grows;
  for (size_t i = 0; i < s->space.count; i++) {
    const struct axis *axis = &s->space.axes[i];
    bool grows = false;
    s->why_not[i] =
        axis->kind != AXIS_PARAM ? "it is not a `param`"
        : !axis_grows(axis)      ? "its values are a list"
        : !goals_grow            ? "the goal may fall as it grows"
        : netc_param_grows(s->bench.netc, axis->name, &grows) != NETC_OK ||
                !grows
            ? "the source uses it for more than widths of layers"
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
                  "there are %s variants to try, but at most %s are tried: use "
                  "larger steps, A..B:STEP",
                  least == INT64_MAX || !counted ? "more than 2^63"
                                                 : count_text(least).text,
                  count_text(MOST_TRIED).text);
}

int fit_plan(struct fit_search *s) {
  choose_axis(s);
  return check_size(s);
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
    return front_add(&s->front, places, v);
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
    return complain(
        EXIT_USAGE,
        "%s cannot be bisected, because a value does not compile or a figure "
        "falls; use larger steps instead of %s variants",
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

/* True if the smaller net has no larger figure. Arenas may be out of order, so
 * their lower bounds are compared. */
static bool keeps_order(const struct measured_net *small,
                        const struct measured_net *large) {
  for (int i = 0; i < FIGURE_COUNT; i++)
    if (i != FIGURE_ARENA && i != FIGURE_INFER && small->at[i] > large->at[i])
      return false;
  return small->arena_bound <= large->arena_bound;
}

/* Measures one place of a line. *odd: it does not compile or is out of
 * order. */
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
 * Finds the largest variant within budget and the next one, which is above. A
 * plan may exceed its lower bound, so a larger variant may be within budget
 * again, until the bound exceeds the arena that was too large.
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

int fit_search(struct fit_search *s) {
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
