/* The answer of netc fit: the best variant, its neighbours, or the front. */
#include "driver/search/fit.h"

#include <stdlib.h>
#include <string.h>

static struct count_text amount(enum figure figure, int64_t value) {
  struct count_text shown;
  if (figure == FIGURE_PARAMS || figure == FIGURE_MACS)
    return count_text(value);
  if (figure != FIGURE_SECONDS)
    return size_text(value, UNITS_IEC);
  snprintf(shown.text, sizeof shown.text, "%.6g", (double)value / 1e9);
  return shown;
}

/* Figures of a training step are shown if a device is named. */
static bool is_shown(const struct fit_search *s, int figure) {
  const struct measured_net *v = &s->front.at[0].variant;
  return figure == FIGURE_SECONDS ? v->at[figure] > 0
         : figure == FIGURE_TRAIN ? *v->verdict || s->front.goals.count > 1
                                  : true;
}

static void put_place(const struct fit_search *s, size_t axis, int64_t place,
                      const char *before) {
  char value[AXIS_VALUE];
  axis_value(&s->space.axes[axis], place, value, sizeof value);
  tell("%s%s = %s", before, s->space.axes[axis].name, value);
}

/* Compiles and prints the next variant on an axis. */
static int put_next(struct fit_search *s, const struct front_member *best,
                    size_t axis) {
  int64_t places[MOST_AXES];
  struct measured_net v;
  memcpy(places, best->places, sizeof places);
  if (++places[axis] == s->space.axes[axis].count) {
    put_place(s, axis, best->places[axis], "the last     ");
    puts(" is the end of the range");
    return EXIT_DONE;
  }
  int status = bench_measure(&s->bench, places, &v);
  if (status != EXIT_DONE)
    return status;
  put_place(s, axis, places[axis], "the next     ");
  tell(v.state == VARIANT_HOLDS   ? " fits, but is not better%s"
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
      tell("%s: found by bisection, because every figure grows with it",
           axis->name);
    else
      tell("%s: tried all %s values", axis->name, count_text(axis->count).text);
    if (i == s->along && !s->exhaustive && s->tried_lines)
      tell("; in %s of %s cases value by value, because one did not compile or "
           "a figure fell",
           count_text(s->tried_lines).text, count_text(s->lines).text);
    else if (i != s->along && !s->exhaustive && s->why_not[i])
      tell(" (%s)", s->why_not[i]);
    putchar('\n');
  }
  tell("%s variants, %s compiled", count_text(s->total).text,
       count_text(s->bench.compiled).text);
  if (s->wrong)
    tell(", %s of them with errors", count_text(s->wrong).text);
  putchar('\n');
}

static int put_best(struct fit_search *s) {
  const struct front_member best = s->front.at[0];
  int status = EXIT_DONE;
  for (size_t i = 0; i < s->space.count; i++) {
    put_place(s, i, best.places[i], "");
    putchar('\n');
  }
  putchar('\n');
  for (int i = 0; i < FIGURE_COUNT; i++)
    if (is_shown(s, i))
      printf("%-12s %s\n", figure_names[i],
             amount((enum figure)i, best.variant.at[i]).text);
  for (size_t i = 0; i < s->space.count && status == EXIT_DONE; i++)
    status = put_next(s, &best, i);
  return status;
}

static int by_first_goal(const void *a, const void *b) {
  const struct front_member *left = a, *right = b;
  int order =
      (left->goals[0] < right->goals[0]) - (left->goals[0] > right->goals[0]);
  for (size_t i = 0; order == 0 && i < MOST_AXES; i++)
    order = (left->places[i] > right->places[i]) -
            (left->places[i] < right->places[i]);
  return order;
}

/* Prints a row for each variant on the front. */
static void put_front(struct fit_search *s) {
  char value[AXIS_VALUE];
  qsort(s->front.at, s->front.count, sizeof *s->front.at, by_first_goal);
  for (size_t i = 0; i < s->space.count; i++)
    tell("%s%12s", i ? "  " : "", s->space.axes[i].name);
  for (int f = 0; f < FIGURE_COUNT; f++)
    if (is_shown(s, f))
      printf("  %16s", figure_names[f]);
  putchar('\n');
  for (size_t k = 0; k < s->front.count; k++) {
    const struct front_member *member = &s->front.at[k];
    for (size_t i = 0; i < s->space.count; i++) {
      axis_value(&s->space.axes[i], member->places[i], value, sizeof value);
      tell("%s%12s", i ? "  " : "", value);
    }
    for (int f = 0; f < FIGURE_COUNT; f++)
      if (is_shown(s, f))
        printf("  %16s", amount((enum figure)f, member->variant.at[f]).text);
    putchar('\n');
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
  bool wrong = s->has_nearest && s->nearest.state == VARIANT_WRONG;
  return complain(EXIT_SOURCE, "%s; %s: %s",
                  wrong ? "nothing compiles" : "nothing fits", at,
                  s->has_nearest ? s->nearest.why : "the goal is not a number");
}

int fit_answer(struct fit_search *s) {
  progress_erase(&s->options->progress);
  if (s->front.count == 0)
    return complain_of_none(s);
  int status = EXIT_DONE;
  if (s->front.goals.count > 1)
    put_front(s);
  else
    status = put_best(s);
  putchar('\n');
  put_how(s);
  int end = finish_stdout();
  return status ? status : end;
}
