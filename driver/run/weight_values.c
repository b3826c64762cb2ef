/* Finds invalid values in files of weights: NaN, infinity, negative
 * variances. */
#include <inttypes.h>
#include <math.h>

#include "driver/run/weight_set.h"

enum { MOST_COMPLAINTS = 20, PIECE = 1 << 14 };

/* The number of invalid values in a tensor, and the first of them. */
struct wrong_values {
  int64_t count, first;
};

static void note(struct wrong_values *wrong, int64_t at) {
  if (wrong->count++ == 0)
    wrong->first = at;
}

static void look(const struct weight_set *set, size_t weight,
                 struct wrong_values *infinite, struct wrong_values *negative) {
  const struct netc_weight *w = &set->weights.at[weight];
  bool variance = slice_ends(slice_of(w->name), "running_var");
  float piece[PIECE];
  for (int64_t i = 0; i < w->count; i += PIECE) {
    int64_t n = w->count - i < PIECE ? w->count - i : PIECE;
    weight_set_values(set, weight, i, n, piece);
    for (int64_t k = 0; k < n; k++) {
      if (!isfinite(piece[k]))
        note(infinite, i + k);
      else if (variance && piece[k] < 0)
        note(negative, i + k);
    }
  }
}

static void object(const char *path, const char *name,
                   const struct wrong_values *wrong, const char *what) {
  if (wrong->count)
    complain_of(EXIT_SOURCE, path, NULL,
                "tensor `%s` has %" PRId64 " %s, the first at %" PRId64, name,
                wrong->count, what, wrong->first);
}

int weight_set_judge(const struct weight_set *set, const char *path) {
  size_t complaints = 0;
  for (size_t i = 0; i < set->weights.count; i++) {
    struct wrong_values infinite = {0}, negative = {0};
    if (!set->from[i])
      continue;
    look(set, i, &infinite, &negative);
    complaints += infinite.count > 0;
    complaints += negative.count > 0;
    if (complaints > MOST_COMPLAINTS)
      continue;
    const char *name = set->from[i]->name;
    object(path, name, &infinite,
           infinite.count == 1 ? "value that is NaN or infinite"
                               : "values that are NaN or infinite");
    object(path, name, &negative,
           negative.count == 1 ? "variance below 0" : "variances below 0");
  }
  return complaints ? EXIT_SOURCE : weight_set_check(set, path);
}
