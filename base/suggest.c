/* "Did you mean ...?": the closest of a set of known names. */
#include "base/suggest.h"

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/*
 * Optimal string alignment distance: insertions, deletions, substitutions
 * and swaps of neighbours (a restricted Damerau-Levenshtein distance).
 */
static size_t edit_distance(struct slice a, struct slice b) {
  size_t row[3][LONGEST + 1];
  size_t *before = row[0], *last = row[1], *now = row[2];
  for (size_t j = 0; j <= b.length; j++)
    last[j] = j;
  for (size_t i = 1; i <= a.length; i++) {
    now[0] = i;
    for (size_t j = 1; j <= b.length; j++) {
      char x = lower(a.at[i - 1]), y = lower(b.at[j - 1]);
      now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
      if (i > 1 && j > 1 && x == lower(b.at[j - 2]) && y == lower(a.at[i - 2]))
        now[j] = least(now[j], before[j - 2] + 1);
    }
    size_t *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[b.length];
}

/* A distant guess is worse than none: `--tp` is not `--top`. */
struct suggestion suggest_begin(struct slice wanted) {
  size_t length = wanted.length;
  size_t most = length < 3 ? 0 : length < 6 ? 1 : length < 9 ? 2 : 3;
  return (struct suggestion){.wanted = wanted, .distance = most};
}

/* Penalty for a different first letter, and for different digits. */
static size_t strangeness(struct slice a, struct slice b) {
  size_t i = 0, k = 0, more = 0;
  bool swapped =
      a.length > 1 && b.length > 1 && lower(a.at[1]) == lower(b.at[0]);
  more += lower(a.at[0]) != lower(b.at[0]) && !swapped;
  while (i < a.length && k < b.length) {
    while (i < a.length && !is_digit(a.at[i]))
      i++;
    while (k < b.length && !is_digit(b.at[k]))
      k++;
    if (i < a.length && k < b.length && a.at[i++] != b.at[k++])
      return more + 3;
  }
  return more;
}

void suggest_offer(struct suggestion *suggestion, struct slice known) {
  struct slice wanted = suggestion->wanted;
  if (wanted.length > LONGEST || known.length > LONGEST || !known.length)
    return;
  if (!wanted.length)
    return;
  size_t distance = edit_distance(wanted, known);
  if (distance)
    distance += strangeness(wanted, known);
  bool too_far = distance >= wanted.length; /* nothing in common */
  if (too_far || distance > suggestion->distance ||
      (suggestion->best.at && distance == suggestion->distance))
    return;
  suggestion->distance = distance;
  suggestion->best = known;
}
