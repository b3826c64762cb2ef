/*
 * Goals: sums, products and quotients of figures and numbers. There is no tree;
 * the short text is parsed again for each variant.
 */
#include "driver/search/goal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

enum { MOST_DEPTH = 20 };

struct goal_reader {
  const char *at;
  const struct measured_net *variant; /* NULL: only check the text */
  bool wrong, grows, timed;
  int depth;
};

static long double read_sum(struct goal_reader *r);

static char peek(struct goal_reader *r) {
  while (*r->at == ' ')
    r->at++;
  return *r->at;
}

static bool take_char(struct goal_reader *r, char c) {
  if (peek(r) != c)
    return false;
  r->at++;
  return true;
}

static long double named(struct goal_reader *r, enum figure figure) {
  r->timed = r->timed || figure == FIGURE_SECONDS;
  if (!r->variant)
    return 1;
  return (long double)r->variant->at[figure] /
         (figure == FIGURE_SECONDS ? 1000000000 : 1);
}

static long double read_name(struct goal_reader *r) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  size_t length = strspn(r->at, letters);
  const char *name = r->at;
  r->at += length;
  for (int i = 0; i < FIGURE_COUNT; i++)
    if (strlen(figure_names[i]) == length &&
        memcmp(figure_names[i], name, length) == 0)
      return named(r, (enum figure)i);
  r->at = name;
  r->wrong = true;
  return 0;
}

static long double read_factor(struct goal_reader *r) {
  long double value = 0;
  if (r->wrong || ++r->depth > MOST_DEPTH) {
    r->wrong = true;
    return 0;
  }
  if (take_char(r, '-')) {
    r->grows = false;
    value = -read_factor(r);
  } else if (take_char(r, '(')) {
    value = read_sum(r);
    r->wrong = r->wrong || !take_char(r, ')');
  } else if (*r->at >= '0' && *r->at <= '9') {
    char *end;
    value = strtold(r->at, &end);
    r->at = end;
  } else {
    value = read_name(r);
  }
  r->depth--;
  return value;
}

static long double read_product(struct goal_reader *r) {
  long double value = read_factor(r);
  while (!r->wrong) {
    if (take_char(r, '*')) {
      value *= read_factor(r);
    } else if (take_char(r, '/')) {
      r->grows = false;
      value /= read_factor(r);
    } else {
      break;
    }
  }
  return value;
}

static long double read_sum(struct goal_reader *r) {
  long double value = read_product(r);
  while (!r->wrong) {
    if (take_char(r, '+')) {
      value += read_product(r);
    } else if (take_char(r, '-')) {
      r->grows = false;
      value -= read_product(r);
    } else {
      break;
    }
  }
  return value;
}

long double goal_value(const struct goal *goal,
                       const struct measured_net *variant) {
  struct goal_reader r = {.at = goal->text, .variant = variant};
  long double value = read_sum(&r);
  return isfinite(value) ? value : (long double)NAN;
}

static int complain_of_goal(const char *option, const char *list,
                            const char *at, const char *made_of) {
  char all[80] = "";
  struct slice word = {at, strspn(at, "abcdefghijklmnopqrstuvwxyz_")};
  struct suggestion s = suggest_begin(word);
  for (int i = 0; i < FIGURE_COUNT; i++) {
    size_t used = strlen(all);
    suggest_offer(&s, slice_of(figure_names[i]));
    snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "",
             figure_names[i]);
  }
  if (word.length && s.best.at && !slice_equal(word, s.best))
    return complain(EXIT_USAGE, "%s %s: did you mean `%.*s`?", option, list,
                    SLICE_ARG(s.best));
  return complain(EXIT_USAGE, made_of, option, list, all);
}

int goals_read(struct goals *goals, const char *list) {
  for (const char *at = list;; at++) {
    struct goal *goal = &goals->at[goals->count];
    size_t length = strcspn(at, ",");
    struct goal_reader r = {.at = goal->text, .grows = true};
    if (goals->count == MOST_GOALS || length >= sizeof goal->text)
      return complain(EXIT_USAGE,
                      "--maximize %s: at most %d goals of %zu letters are "
                      "supported",
                      list, MOST_GOALS, sizeof goal->text - 1);
    snprintf(goal->text, sizeof goal->text, "%.*s", (int)length, at);
    read_sum(&r);
    if (r.wrong || peek(&r))
      return complain_of_goal(
          "--maximize", list, r.at,
          "%s %s: a goal may contain %s, numbers and + - * / ( )");
    goal->grows = r.grows;
    goals->timed = goals->timed || r.timed;
    goals->count++;
    at += length;
    if (!*at)
      return EXIT_DONE;
  }
}

static bool find_figure(const char *name, size_t length, enum figure *figure) {
  for (int i = 0; i < FIGURE_COUNT; i++)
    if (strlen(figure_names[i]) == length &&
        memcmp(figure_names[i], name, length) == 0) {
      *figure = (enum figure)i;
      return true;
    }
  return false;
}

int goals_read_names(struct goals *goals, const char *list) {
  *goals = (struct goals){.count = 0};
  for (const char *at = list;; at++) {
    struct goal *goal = &goals->at[goals->count];
    bool minus = *at == '-';
    const char *name = at + minus;
    size_t length = strcspn(name, ",");
    if (goals->count == MOST_GOALS)
      return complain(EXIT_USAGE, "--pareto %s: at most %d goals are supported",
                      list, MOST_GOALS);
    if (!find_figure(name, length, &goal->figure))
      return complain_of_goal(
          "--pareto", list, name,
          "%s %s: separate the names of goals with commas: %s");
    for (size_t i = 0; i < goals->count; i++)
      if (goals->at[i].figure == goal->figure)
        return complain(EXIT_USAGE, "--pareto %s: `%s` is repeated", list,
                        figure_names[goal->figure]);
    goal->less =
        minus || (goal->figure != FIGURE_PARAMS && goal->figure != FIGURE_MACS);
    snprintf(goal->text, sizeof goal->text, "%s%s", goal->less ? "-" : "",
             figure_names[goal->figure]);
    goals->timed = goals->timed || goal->figure == FIGURE_SECONDS;
    goals->count++;
    at = name + length;
    if (!*at)
      break;
  }
  if (goals->count > 1)
    return EXIT_DONE;
  return complain(EXIT_USAGE,
                  "--pareto %s: a front needs several goals: `--pareto "
                  "macs,arena`; `netc fit --maximize` maximizes one",
                  list);
}
