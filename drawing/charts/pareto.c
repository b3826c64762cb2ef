/*
 * pareto.chart: the variants that a search compiled, as dots over two goals at
 * a time. The Pareto front is named: variants to which no other one is at least
 * equal in every goal.
 */
#include <math.h>
#include <stdlib.h>

#include "base/real.h"
#include "drawing/charts/chart.h"

enum {
  LEFT = 86,
  MOST_TICKS = 9,
  PLOT_HEIGHT = 230,
  ABOVE = 22, /* px above a panel, for the axis title */
  UNDER = 34, /* px below the last panel, for ticks and axis title */
  CELL = 2,   /* px of a dot's cell */
  COLUMNS = CHART_WIDTH / CELL + 1,
  ROWS = PLOT_HEIGHT / CELL + 1,
  MANY = 200,  /* dots of a front, above which they are drawn smaller */
  LABELS = 400 /* names that are tried; few of them fit */
};

/* An axis of a goal: linear ticks, or powers. */
struct goal_axis {
  const struct netc_goal *goal;
  double low, high; /* range of the dots, later of the ticks */
  bool powers;
  double ticks[MOST_TICKS + 1];
  int count;
  double zero, end; /* px */
};

/* A dot of the front. */
struct best_dot {
  int64_t across;
  const struct netc_dot *dot;
};

struct pareto {
  struct chart chart;
  const struct compiled *c;
  const struct netc_front *front;
  struct best_dot *best; /* from left to right */
  size_t best_count;
  struct goal_axis axes[NETC_MOST_GOALS];
  size_t across;           /* the goal along x */
  double right, top, step; /* px of the panels, and the distance between them */
  bool taken[COLUMNS][ROWS];
};

/* Axes */

/* The i-th of 1, 2, 5, 10, 20, ...; of bytes 1, 2, 4, ... */
static double rung(const struct goal_axis *axis, int i) {
  static const int digits[] = {1, 2, 5};
  if (axis->goal->amount == NETC_AMOUNT_BYTES)
    return ldexp(1, i);
  return digits[i % 3] * real_pow(10, i / 3);
}

enum { RUNGS = 63 };

/* The last rung, in steps of `stride`, that is not above a value. */
static int rung_below(const struct goal_axis *axis, double value, int stride) {
  int i = 0;
  while (i + stride < RUNGS && rung(axis, i + stride) <= value)
    i += stride;
  return i;
}

static bool climb(struct goal_axis *axis, int stride) {
  axis->count = 0;
  for (int i = rung_below(axis, axis->low, stride);; i += stride) {
    if (axis->count > MOST_TICKS)
      return false;
    axis->ticks[axis->count++] = rung(axis, i);
    if (rung(axis, i) >= axis->high)
      return axis->count > 1;
  }
}

static void find_powers(struct goal_axis *axis) {
  bool bytes = axis->goal->amount == NETC_AMOUNT_BYTES;
  int stride = 1;
  while (!climb(axis, stride))
    stride += bytes ? 1 : stride == 1 ? 2 : 3;
}

static void find_steps(struct goal_axis *axis) {
  double span = axis->high - axis->low;
  int i = 0;
  if (axis->low < axis->high / 2)
    span = axis->high;
  while (i + 1 < RUNGS && rung(axis, i) * 6 < span)
    i++;
  double step = rung(axis, i);
  double at = axis->low < axis->high / 2 ? 0 : floor(axis->low / step) * step;
  axis->count = 0;
  do {
    axis->ticks[axis->count] = at + step * axis->count;
    axis->count++;
  } while (axis->ticks[axis->count - 1] < axis->high || axis->count < 2);
}

static void find_axis(struct pareto *p, size_t goal) {
  struct goal_axis *axis = &p->axes[goal];
  axis->goal = &p->front->goals[goal];
  axis->low = HUGE_VAL;
  for (size_t i = 0; i < p->front->dot_count; i++) {
    double value = (double)p->front->dots[i].at[goal];
    axis->low = value < axis->low ? value : axis->low;
    axis->high = value > axis->high ? value : axis->high;
  }
  axis->powers = axis->low >= 1 && axis->high >= 10 * axis->low;
  if (axis->powers)
    find_powers(axis);
  else
    find_steps(axis);
  axis->low = axis->ticks[0];
  axis->high = axis->ticks[axis->count - 1];
}

static double place_on(const struct goal_axis *axis, double value) {
  double part = axis->powers ? real_log2(value / axis->low) /
                                   real_log2(axis->high / axis->low)
                             : (value - axis->low) / (axis->high - axis->low);
  return axis->zero + (axis->end - axis->zero) * part;
}

static double dot_on(const struct pareto *p, size_t goal,
                     const struct netc_dot *dot) {
  return place_on(&p->axes[goal], (double)dot->at[goal]);
}

/* Texts */

/* 20 M, 1.25 k, 350 µs: as few digits as possible. */
static void put_amount(const struct pareto *p, struct text *out,
                       const struct netc_goal *goal, double value, int most) {
  static const char *const counts[] = {"", " k", " M", " G", " T", " P", " E"};
  static const char *const times[] = {" ns", " \xC2\xB5s", " ms", " s",
                                      " ks", " Ms",        " Gs"};
  bool bytes = goal->amount == NETC_AMOUNT_BYTES;
  int64_t unit = bytes && output_units(p->c) == UNITS_IEC ? 1024 : 1000;
  int power = 0, digits = 0;
  double scaled = value;
  for (; scaled >= (double)unit && power < 6; power++)
    scaled /= (double)unit;
  for (double rest = scaled; digits < most && rest - floor(rest) > 1e-9;)
    rest = scaled * real_pow(10, ++digits);
  if (bytes)
    text_size(out, value < 9e18 ? (int64_t)value : INT64_MAX,
              output_units(p->c), digits);
  else {
    text_fixed(out, scaled, digits);
    text_put(out,
             goal->amount == NETC_AMOUNT_TIME ? times[power] : counts[power]);
  }
}

static struct slice title_of(struct pareto *p) {
  text_printf(&p->chart.note, "the best of %s variants",
              count_text(p->front->variants).text);
  return chart_note(&p->chart);
}

static struct slice subtitle_of(struct pareto *p, struct text *out) {
  static const char *const words[][2] = {
      [NETC_AMOUNT_COUNT] = {"more", "fewer"},
      [NETC_AMOUNT_BYTES] = {"more", "less"},
      [NETC_AMOUNT_TIME] = {"longer", "shorter"}};
  text_put(out, "Goals: ");
  for (size_t i = 0; i < p->front->goal_count; i++) {
    const struct netc_goal *goal = &p->front->goals[i];
    text_printf(out, "%s%s %s", i ? ", " : "", words[goal->amount][goal->less],
                goal->name);
  }
  text_printf(out,
              ". %s variant%s, named by %s, %s on the front: no other variant "
              "is at least as good in all goals. Grey: the others.",
              count_text((int64_t)p->best_count).text,
              p->best_count == 1 ? "" : "s", p->front->names,
              p->best_count == 1 ? "is" : "are");
  return text_slice(out);
}

static struct slice hover_of(struct pareto *p, const struct netc_dot *dot) {
  struct text *note = &p->chart.note;
  text_printf(note, "%s: %s", p->front->names, dot->name);
  for (size_t i = 0; i < p->front->goal_count; i++) {
    text_printf(note, "\n%s ", p->front->goals[i].name);
    if (p->front->goals[i].amount == NETC_AMOUNT_COUNT)
      text_count(note, dot->at[i]);
    else
      put_amount(p, note, &p->front->goals[i], (double)dot->at[i], 2);
  }
  return chart_note(&p->chart);
}

/* Drawing */

static void draw_axes(struct pareto *p, size_t goal, bool last) {
  const struct goal_axis *x = &p->axes[p->across], *y = &p->axes[goal];
  for (int i = 0; i < x->count; i++) {
    double at = place_on(x, x->ticks[i]);
    chart_line(&p->chart, "grid", at, y->zero, at, y->end);
    put_amount(p, &p->chart.note, x->goal, x->ticks[i], 2);
    struct slice mark = chart_note(&p->chart);
    if (last)
      chart_text(&p->chart, CHART_SMALL, CHART_MIDDLE, at, y->zero + 14, mark);
  }
  for (int i = 0; i < y->count; i++) {
    double at = place_on(y, y->ticks[i]);
    chart_line(&p->chart, i ? "grid" : "axis", x->zero, at, x->end, at);
    put_amount(p, &p->chart.note, y->goal, y->ticks[i], 2);
    chart_text(&p->chart, CHART_SMALL, CHART_END, LEFT - 5, at + 3.5,
               chart_note(&p->chart));
  }
  chart_text(&p->chart, CHART_TEXT, CHART_START, LEFT, y->end - 8,
             slice_of(y->goal->name));
  if (last)
    chart_text(&p->chart, CHART_TEXT, CHART_MIDDLE, (LEFT + p->right) / 2,
               y->zero + 28, slice_of(x->goal->name));
}

/* Draws the variants that are not on the front; a cell has one dot. */
static void draw_others(struct pareto *p, size_t goal) {
  memset(p->taken, 0, sizeof p->taken);
  for (size_t i = 0; i < p->front->dot_count; i++) {
    const struct netc_dot *dot = &p->front->dots[i];
    double x = dot_on(p, p->across, dot), y = dot_on(p, goal, dot);
    int column = (int)(x / CELL), row = (int)((y - p->axes[goal].end) / CELL);
    if (dot->name || p->taken[column][row])
      continue;
    p->taken[column][row] = true;
    chart_rect(&p->chart, "tip", (struct chart_box){x - 1.5, y - 1.5, 3, 3},
               (struct slice){"", 0});
  }
}

static void draw_best(struct pareto *p, size_t goal) {
  double half = p->best_count > MANY ? 2.5 : 4;
  for (size_t i = 0; i < p->best_count; i++) {
    double x = dot_on(p, p->across, p->best[i].dot);
    double y = dot_on(p, goal, p->best[i].dot);
    chart_path(&p->chart, "edge c0");
    chart_to(&p->chart, x - half, y);
    chart_to(&p->chart, x, y - half);
    chart_to(&p->chart, x + half, y);
    chart_to(&p->chart, x, y + half);
    chart_path_close(&p->chart, hover_of(p, p->best[i].dot));
  }
}

static bool overlap(const struct chart_box *a, const struct chart_box *b) {
  return a->x < b->x + b->width && b->x < a->x + a->width &&
         a->y < b->y + b->height && b->y < a->y + a->height;
}

/* Places names on the better side of the front, where it has no dots. */
static struct chart_box label_box(const struct pareto *p, size_t goal,
                                  const struct netc_dot *dot) {
  double width = chart_text_width(slice_of(dot->name), CHART_SMALL);
  double x = dot_on(p, p->across, dot), y = dot_on(p, goal, dot);
  bool left = p->front->goals[p->across].less;
  bool below = p->front->goals[goal].less;
  if (left ? x - width - 7 < LEFT : x + width + 7 > p->chart.width)
    left = !left;
  if (below ? y + 12 > p->axes[goal].zero : y - 12 < p->axes[goal].end - 4)
    below = !below;
  return (struct chart_box){left ? x - width - 6 : x + 6,
                            below ? y + 1 : y - 12, width, 11};
}

static bool is_free(const struct pareto *p, size_t goal,
                    const struct chart_box *box, const struct chart_box *taken,
                    int count) {
  if (box->x + box->width > p->chart.width - 4 ||
      box->y < p->axes[goal].end - 4 ||
      box->y + box->height > p->axes[goal].zero + 2)
    return false;
  for (int i = 0; i < count; i++)
    if (overlap(box, &taken[i]))
      return false;
  for (size_t i = 0; i < p->best_count; i++) {
    struct chart_box dot = {dot_on(p, p->across, p->best[i].dot) - 3,
                            dot_on(p, goal, p->best[i].dot) - 3, 6, 6};
    if (overlap(box, &dot))
      return false;
  }
  return true;
}

/* Tries names at the ends, then in the middle, then between, while there is
 * room. */
static void draw_names(struct pareto *p, size_t goal) {
  struct chart_box taken[LABELS];
  size_t count = p->best_count, stride = 1, tried = 0;
  int used = 0;
  while (stride < count - 1)
    stride *= 2;
  for (; stride && tried < LABELS; stride /= 2)
    for (size_t i = 0; i < count && tried < LABELS; i += stride, tried++) {
      size_t at = i;
      if (stride >= count - 1 && i) /* the other end */
        at = count - 1;
      struct chart_box box = label_box(p, goal, p->best[at].dot);
      if (!is_free(p, goal, &box, taken, used))
        continue;
      taken[used++] = box;
      chart_text_as(&p->chart, "over", CHART_SMALL, CHART_START, box.x,
                    box.y + 9, slice_of(p->best[at].dot->name));
    }
}

/* The front of two goals is a stair: anything better is beyond it. */
static void draw_stair(struct pareto *p, size_t goal) {
  chart_path(&p->chart, "skip");
  for (size_t i = 0; i < p->best_count; i++) {
    double x = dot_on(p, p->across, p->best[i].dot);
    double y = dot_on(p, goal, p->best[i].dot);
    if (i && p->front->goals[p->across].less)
      chart_to(&p->chart, x, dot_on(p, goal, p->best[i - 1].dot));
    else if (i)
      chart_to(&p->chart, dot_on(p, p->across, p->best[i - 1].dot), y);
    chart_to(&p->chart, x, y);
  }
  chart_path_end(&p->chart);
}

static void draw_panel(struct pareto *p, size_t goal, size_t number) {
  struct goal_axis *y = &p->axes[goal];
  y->end = p->top + p->step * (double)number;
  y->zero = y->end + PLOT_HEIGHT;
  draw_axes(p, goal, number + 2 == p->front->goal_count);
  draw_others(p, goal);
  if (p->front->goal_count == 2 && p->best_count > 1)
    draw_stair(p, goal);
  draw_best(p, goal);
  if (p->best_count)
    draw_names(p, goal);
}

/* The front */

static int from_left(const void *a, const void *b) {
  const struct best_dot *x = a, *y = b;
  if (x->across != y->across)
    return x->across < y->across ? -1 : 1;
  return x->dot < y->dot ? -1 : x->dot > y->dot;
}

static void find_best(struct pareto *p) {
  const struct netc_front *front = p->front;
  p->best = arena_alloc(p->c->arena, front->dot_count, sizeof *p->best);
  for (size_t i = 0; i < front->dot_count; i++)
    if (front->dots[i].name)
      p->best[p->best_count++] =
          (struct best_dot){front->dots[i].at[p->across], &front->dots[i]};
  qsort(p->best, p->best_count, sizeof *p->best, from_left);
}

/* The x axis has a goal to minimize, so that the best is at the upper left. */
static void choose_across(struct pareto *p) {
  p->across = p->front->goal_count - 1;
  for (size_t i = p->front->goal_count; i-- > 0;)
    if (p->front->goals[i].less)
      p->across = i;
}

const char *pareto_refuses(const struct compiled *c) {
  const struct netc_front *front = c->options->front;
  if (!front)
    return "this chart needs many nets: `netc sweep --pareto` draws it";
  if (front->goal_count < 2 || front->goal_count > NETC_MOST_GOALS ||
      front->dot_count == 0)
    return "a front needs 2 to 4 goals and at least one point";
  return NULL;
}

struct scene *pareto_scene(const struct compiled *c) {
  struct pareto *p = ARENA_NEW(c->arena, struct pareto);
  struct text above = text_new(c->arena);
  p->c = c;
  p->front = c->options->front;
  p->chart = chart_new(c, "pareto");
  p->right = p->chart.width - CHART_MARGIN - 12;
  choose_across(p);
  find_best(p);
  for (size_t i = 0; i < p->front->goal_count; i++)
    find_axis(p, i);
  p->axes[p->across].zero = LEFT;
  p->axes[p->across].end = p->right;
  struct slice title = title_of(p), subtitle = subtitle_of(p, &above);
  p->top = chart_head_height(&p->chart, subtitle) + ABOVE + 4;
  p->step = PLOT_HEIGHT + ABOVE + 8;
  size_t panels = p->front->goal_count - 1;
  chart_open(&p->chart,
             p->top + p->step * (double)panels - ABOVE - 8 + UNDER + 8, title,
             subtitle, subtitle);
  for (size_t goal = 0, number = 0; goal < p->front->goal_count; goal++)
    if (goal != p->across)
      draw_panel(p, goal, number++);
  return p->chart.scene;
}
