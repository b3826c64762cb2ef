/* Finds rope's base and stretching from the angles in a file. */
#include <math.h>

#include "import/onnx/op_attention.h"
#include "runtime/turn.h"

/* True if the speeds follow a rule within float32, or, `coarse`, float16: many
 * files' tables were computed so, and their smallest speeds have few digits. */
static bool fits(const struct rope *rope, const double rule[TURN_REALS],
                 bool coarse) {
  float of[TURN_REALS];
  for (int i = 0; i < TURN_REALS; i++)
    of[i] = (float)rule[i];
  for (int64_t i = 0; i < rope->half; i++) {
    double usual =
        (double)netrt_turn(of, (ptrdiff_t)i, (ptrdiff_t)(2 * rope->half));
    double far = fabs(rope->speed[i] - usual);
    if (!(far <= (coarse ? 6e-3 * usual + 1e-7 : 1e-5 * usual)))
      return false;
  }
  return true;
}

static double rounded(double value, int digits) {
  double step = pow(10, floor(log10(value)) + 1 - digits);
  return round(value / step) * step;
}

/* A number of positions: a power of two if it is near one. */
static double positions(double value, int digits) {
  double power = exp2(round(log2(value)));
  return fabs(value - power) < 0.03 * power ? power
                                            : round(rounded(value, digits));
}

/* The shortest numbers near `rule` that fit. */
static bool settle(const struct rope *rope, double rule[TURN_REALS],
                   bool coarse) {
  double guess[TURN_REALS];
  for (int i = 0; i < TURN_REALS; i++) {
    if (!isfinite(rule[i]) || rule[i] > 1e12 ||
        (i < TURN_TRAINED && rule[i] < 1))
      return false;
    guess[i] = rule[i];
  }
  for (int digits = 1; digits <= 7; digits++) {
    rule[TURN_BASE] = rounded(guess[TURN_BASE], digits);
    rule[TURN_STRETCH] = rounded(guess[TURN_STRETCH], digits);
    if (guess[TURN_TRAINED] > 0)
      rule[TURN_TRAINED] = positions(guess[TURN_TRAINED], digits);
    if (rule[TURN_BASE] >= 2 && fits(rope, rule, coarse))
      return true;
  }
  return false;
}

/* The slowest pair; coarse: the slowest with all digits of float16. */
static int64_t slowest(const struct rope *rope, bool coarse) {
  int64_t last = rope->half - 1;
  while (coarse && last > 1 && rope->speed[last] < 3e-5)
    last--;
  return last;
}

/* The same stretching for all pairs, or none. */
static bool find_even(const struct rope *rope, double rule[TURN_REALS],
                      bool coarse) {
  int64_t last = slowest(rope, coarse);
  double first = rope->speed[0];
  rule[TURN_BASE] =
      last ? pow(first / rope->speed[last], (double)rope->half / (double)last)
           : 10000;
  rule[TURN_STRETCH] = fabs(first - 1) < 6e-3 ? 1 : 1 / first;
  rule[TURN_TRAINED] = 0;
  return settle(rope, rule, coarse);
}

/* Llama 3.1 stretches the last pairs but not the first. A pair in between gives
 * the number of positions in training. */
static bool find_uneven(const struct rope *rope, double rule[TURN_REALS],
                        bool coarse) {
  double half = (double)rope->half, best = 1;
  if (rope->half < (coarse ? 16 : 3)) /* too few pairs for three unknowns */
    return false;
  rule[TURN_BASE] = pow(rope->speed[1], -half);
  int64_t last = slowest(rope, coarse);
  double usually = pow(rule[TURN_BASE], -(double)last / half);
  double slow = rule[TURN_STRETCH] = usually / rope->speed[last];
  for (int64_t i = 1; i < rope->half; i++) {
    double usual = pow(rule[TURN_BASE], -(double)i / half);
    double kept = (rope->speed[i] / usual - 1 / slow) / (1 - 1 / slow);
    double turns = TURN_SELDOM + kept * (TURN_OFTEN - TURN_SELDOM);
    if (!(fabs(kept - 0.5) < best))
      continue;
    best = fabs(kept - 0.5);
    rule[TURN_TRAINED] = turns * 2 * acos(-1) / usual;
  }
  return best < 0.49 && settle(rope, rule, coarse);
}

static bool find_rule(const struct rope *rope, double rule[TURN_REALS]) {
  return find_even(rope, rule, false) || find_uneven(rope, rule, false) ||
         find_even(rope, rule, true) || find_uneven(rope, rule, true);
}

static bool same_speeds(const struct rope *a, const struct rope *b) {
  for (int64_t i = 0; i < a->half; i++)
    if (!a->speed || !b->speed ||
        !(fabs(a->speed[i] - b->speed[i]) <= 6e-3 * a->speed[i]))
      return a->speed == b->speed;
  return true;
}

static void put_real(struct onnx *x, struct graph_node *node, const char *key,
                     double value) {
  if (value > floor(value))
    graph_arg(x->graph, node, PART_NONE, key, onnx_real_text(x, value));
  else
    graph_int(x->graph, node, PART_NONE, key, (int64_t)value);
}

void rope_put(struct onnx *x, struct graph_node *node, const struct rope *rope,
              const struct rope *keys, int64_t dim) {
  double rule[TURN_REALS] = {10000, 1, 0};
  graph_flag(x->graph, node, "rope");
  if (2 * rope->half != dim)
    graph_int(x->graph, node, PART_NONE, "rotary=", 2 * rope->half);
  if (!same_speeds(rope, keys) || (rope->speed && !find_rule(rope, rule))) {
    graph_note(x->graph, "The file's rope does not follow from a base (yarn, "
                         "longrope): netc uses base 10000.");
    return;
  }
  if (fabs(rule[TURN_BASE] - 10000) > 0)
    put_real(x, node, "base=", rule[TURN_BASE]);
  if (rule[TURN_STRETCH] > 1)
    put_real(x, node, "stretch=", rule[TURN_STRETCH]);
  if (rule[TURN_TRAINED] > 0)
    graph_int(x->graph, node, PART_NONE,
              "trained=", (int64_t)rule[TURN_TRAINED]);
}
