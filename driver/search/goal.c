/*
 * Goals: sums, products, quotients of figures and numbers. There is no tree:
 * a text of a few words is read again for each variant.
 */
#include "driver/search/goal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

enum { MOST_DEPTH = 20 };

struct goal_reader {
  const char *at;
  const struct measured_net *variant; /* NULL: it is only checked */
  bool wrong, grows;
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

static long double read_name(struct goal_reader *r) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  size_t length = strspn(r->at, letters);
  const char *name = r->at;
  r->at += length;
  for (int i = 0; i < FIGURE_COUNT; i++)
    if (strlen(figure_names[i]) == length &&
        memcmp(figure_names[i], name, length) == 0)
      return r->variant ? (long double)r->variant->at[i] : 1;
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

static int complain_of_goal(const char *list, const char *at) {
  char all[80] = "";
  struct slice word = {at, strspn(at, "abcdefghijklmnopqrstuvwxyz_")};
  struct suggestion s = suggest_begin(word);
  for (int i = 0; i < FIGURE_COUNT; i++) {
    size_t used = strlen(all);
    suggest_offer(&s, slice_of(figure_names[i]));
    snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "",
             figure_names[i]);
  }
  if (word.length && s.best.at)
    return complain(EXIT_USAGE, "--maximize %s: did you mean `%.*s`?", list,
                    SLICE_ARG(s.best));
  return complain(EXIT_USAGE,
                  "--maximize %s: a goal is made of %s, numbers and + - * / "
                  "( )",
                  list, all);
}

int goals_read(struct goals *goals, const char *list) {
  for (const char *at = list;; at++) {
    struct goal *goal = &goals->at[goals->count];
    size_t length = strcspn(at, ",");
    struct goal_reader r = {.at = goal->text, .grows = true};
    if (goals->count == MOST_GOALS || length >= sizeof goal->text)
      return complain(EXIT_USAGE,
                      "--maximize %s: at most %d goals of %zu letters", list,
                      MOST_GOALS, sizeof goal->text - 1);
    snprintf(goal->text, sizeof goal->text, "%.*s", (int)length, at);
    read_sum(&r);
    if (r.wrong || peek(&r))
      return complain_of_goal(list, r.at);
    goal->grows = r.grows;
    goals->count++;
    at += length;
    if (!*at)
      return EXIT_DONE;
  }
}
