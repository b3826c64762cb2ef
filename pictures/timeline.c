/*
 * timeline.svg: the memory of one training step, stacked by what it is for.
 * A column is an operation, or the largest of as many as share its place.
 */
#include "pictures/svg.h"

enum {
  MOST_COLUMNS = 400, /* thinner ones could not be hovered over */
  LEFT = 70,
  RIGHT = 736,
  STEP_WIDTH = 34, /* of the optimizer's step, which is one moment */
  PLOT_HEIGHT = 280,
  NAMED = 6, /* tensors at the peak */
  BELOW = 34 /* px between the plot and the legend */
};

/* Moments [first, last] of a phase: the one with most bytes. */
struct column {
  struct moment most;
  size_t first, last;
};

struct timeline {
  const struct compiled *c;
  const struct emit_options *options;
  struct svg svg;
  struct column columns[2 * MOST_COLUMNS];
  size_t count;
  size_t span; /* moments that make a column */
  size_t moments;
  struct svg_scale scale;
  double top;
};

/* From the bottom up. */
enum band { PARAMETERS, STATE, OTHER, GRADIENTS, SAVED, TEMPORARY, BANDS };
static const char *const band_names[BANDS] = {
    "parameters", "optimizer's state",  "batch, buffers, rounding",
    "gradients",  "saved for backward", "temporaries"};
static const int band_fills[BANDS] = {0, 1, 5, 2, 3, 4};
static const char *const part_names[] = {"gradients", "saved", "temporary"};

/* Columns */

static void join(struct column *to, const struct column *next) {
  to->last = next->last;
  if (next->most.bytes > to->most.bytes)
    to->most = next->most;
}

/* Twice as many moments in a column, and half as many columns. */
static void halve(struct timeline *t) {
  size_t kept = 0;
  for (size_t i = 0; i < t->count; i++) {
    bool pair = i + 1 < t->count &&
                t->columns[i].most.phase == t->columns[i + 1].most.phase;
    t->columns[kept] = t->columns[i];
    if (pair)
      join(&t->columns[kept], &t->columns[++i]);
    kept++;
  }
  t->count = kept;
  t->span *= 2;
}

static void note_moment(void *user, const struct moment *moment) {
  struct timeline *t = user;
  struct column column = {*moment, moment->number, moment->number};
  struct column *last = t->count ? &t->columns[t->count - 1] : NULL;
  t->moments = moment->number;
  if (last && last->most.phase == moment->phase &&
      last->last - last->first + 1 < t->span) {
    join(last, &column);
    return;
  }
  if (t->count == 2 * MOST_COLUMNS)
    halve(t);
  t->columns[t->count++] = column;
}

/* The optimizer's step: no operation of the net, but a part of the picture. */
static struct moment step_moment(const struct training *t) {
  struct moment m = {.phase = PHASE_STEP, .node = NO_NODE};
  m.parts[PART_GRADIENTS] = t->gradients;
  m.parts[PART_TEMPORARY] = t->workspace;
  m.bytes = t->gradients + t->workspace; /* at most the peak */
  return m;
}

static int64_t band_bytes(const struct training *t, const struct moment *m,
                          enum band band) {
  switch (band) {
  case PARAMETERS: return t->parameters;
  case STATE: return t->optimizer;
  case OTHER: return t->buffers + t->input + t->rounding;
  case GRADIENTS: return m->parts[PART_GRADIENTS];
  case SAVED: return m->parts[PART_SAVED];
  default: return m->parts[PART_TEMPORARY];
  }
}

/* Below the upper edge of a band, all bands up to it. */
static double edge_of(const struct timeline *t, const struct moment *m,
                      int bands) {
  int64_t sum = 0;
  for (int b = 0; b < bands; b++)
    sum += band_bytes(&t->c->memory.training, m, (enum band)b);
  return svg_at(&t->scale, (double)sum);
}

static double left_of(const struct timeline *t, size_t column) {
  double width = RIGHT - STEP_WIDTH - LEFT;
  size_t before = t->columns[column].first - 1;
  if (t->columns[column].most.phase == PHASE_STEP)
    return RIGHT - STEP_WIDTH;
  return LEFT + width * (double)before / (double)t->moments;
}

static double right_of(const struct timeline *t, size_t column) {
  return column + 1 < t->count ? left_of(t, column + 1) : RIGHT;
}

/* Texts */

static void put_size(struct timeline *t, struct text *out, int64_t bytes) {
  text_size(out, bytes, t->options->units, 2);
}

static void put_place(struct timeline *t, struct text *out,
                      const struct moment *m) {
  static const char *const places[] = {"forward pass of ", "backward pass of "};
  if (m->phase == PHASE_STEP) {
    text_put(out, "the optimizer's step");
    return;
  }
  text_put(out, places[m->phase]);
  model_put_name(out, t->c->model, m->node);
}

static struct slice title_of(struct timeline *t) {
  text_puts(&t->svg.note, t->c->model->name);
  text_put(&t->svg.note, ": memory through one training step");
  return svg_note(&t->svg);
}

static struct slice subtitle_of(struct timeline *t, struct text *out) {
  const struct train_settings *train = &t->c->settings->train;
  const struct training *training = &t->c->memory.training;
  text_printf(out, "%s; %s, batch ",
              training->profile->measured ? "Exact"
                                          : "Simulated, not yet measured",
              training->profile->name);
  text_count(out, train->batch);
  text_printf(out, ", %s%s, %s", optimizer_word(train->optimizer),
              train->precision == PRECISION_MIXED ? ", mixed precision" : "",
              element_long_name(train->dtype));
  if (t->c->memory.ranges.count)
    text_printf(out, ", %zu checkpointed segment%s", t->c->memory.ranges.count,
                t->c->memory.ranges.count == 1 ? "" : "s");
  if (t->c->memory.parallel.stages.count)
    text_put(out, "; one device without the others: the report has them");
  text_put(out, ". Operations in their order, not to scale in time");
  if (t->span > 1) {
    text_put(out, "; ");
    text_count(out, (int64_t)t->moments);
    text_printf(out, " of them, and a column shows the largest of %zu",
                t->span);
  }
  text_putc(out, '.');
  return text_slice(out);
}

static void put_peak(struct timeline *t, struct text *out) {
  const struct memory *m = &t->c->memory;
  text_put(out, "Peak ");
  put_size(t, out, m->training.peak);
  text_put(out, " in the ");
  if (m->training.at.phase == PHASE_STEP)
    text_put(out, "optimizer's step");
  else
    put_place(t, out, &m->training.at);
  if (m->alive.count)
    text_put(out, "; alive there, besides what is always:");
  for (size_t i = 0; i < m->alive.count && i < NAMED; i++) {
    text_put(out, i ? ", " : " ");
    if (m->alive.at[i].node == NO_NODE)
      text_put(out, "loss");
    else
      model_put_name(out, t->c->model, m->alive.at[i].node);
    text_printf(out, " (%s, ", part_names[m->alive.at[i].part]);
    put_size(t, out, m->alive.at[i].bytes);
    text_putc(out, ')');
  }
  if (m->alive.count > NAMED)
    text_printf(out, " and %zu more", m->alive.count - NAMED);
  text_putc(out, '.');
}

static void put_device(struct timeline *t, struct text *out) {
  const struct memory *m = &t->c->memory;
  int64_t peak = m->training.peak, room = m->fit.room;
  text_put(out, "Dashed: ");
  put_size(t, out, room);
  text_put(out, " for the step on a device of ");
  put_size(t, out, m->fit.device);
  if (m->fit.taken) {
    text_put(out, " whose framework takes ");
    put_size(t, out, m->fit.taken);
  }
  if (m->fit.reserve > 0) {
    text_put(out, " and of which ");
    put_size(t, out, m->fit.reserve);
    text_put(out, " are a reserve");
  }
  text_put(out, peak <= room ? "; it fits, " : "; it does not fit, ");
  put_size(t, out, peak <= room ? room - peak : peak - room);
  text_put(out, peak <= room ? " are left" : " too much");
  if ((double)room > t->scale.high)
    text_put(out, " (the line is above the picture)");
  text_putc(out, '.');
}

static struct slice words_below(struct timeline *t, struct text *out) {
  put_peak(t, out);
  if (t->c->memory.fit.device) {
    text_putc(out, ' ');
    put_device(t, out);
  }
  return text_slice(out);
}

/* Drawing */

static void draw_standing(struct timeline *t, int band) {
  struct moment none = {.bytes = 0};
  double high = edge_of(t, &none, band + 1), low = edge_of(t, &none, band);
  char class[] = "c0";
  class[1] = (char)('0' + band_fills[band]);
  put_size(t, &t->svg.note,
           band_bytes(&t->c->memory.training, &none, (enum band)band));
  text_printf(&t->svg.note, " of %s, all the time", band_names[band]);
  svg_rect(&t->svg, class,
           (struct svg_box){LEFT, high, RIGHT - LEFT, low - high},
           svg_note(&t->svg));
}

/* Along the upper edge to the right, along the lower one back. */
static void draw_band(struct timeline *t, int band) {
  char class[] = "c0";
  double y = edge_of(t, &t->columns[0].most, band), last = y;
  class[1] = (char)('0' + band_fills[band]);
  svg_path(&t->svg, class);
  svg_to(&t->svg, 'M', LEFT, y);
  for (size_t i = 0; i < t->count; i++) {
    y = edge_of(t, &t->columns[i].most, band + 1);
    if (svg_tenths(y) != svg_tenths(last)) {
      svg_to(&t->svg, 'H', left_of(t, i), 0);
      svg_to(&t->svg, 'V', 0, y);
      last = y;
    }
  }
  svg_to(&t->svg, 'H', RIGHT, 0);
  for (size_t i = t->count; i-- > 0;) {
    y = edge_of(t, &t->columns[i].most, band);
    if (svg_tenths(y) != svg_tenths(last)) {
      svg_to(&t->svg, 'H', right_of(t, i), 0);
      svg_to(&t->svg, 'V', 0, y);
      last = y;
    }
  }
  svg_to(&t->svg, 'H', LEFT, 0);
  text_putc(t->svg.out, 'Z');
  svg_path_end(&t->svg, (struct slice){"", 0});
}

static void draw_hover(struct timeline *t, size_t column) {
  const struct column *at = &t->columns[column];
  const struct moment *m = &at->most;
  struct text *note = &t->svg.note;
  double left = left_of(t, column), right = right_of(t, column);
  put_size(t, note, m->bytes + t->c->memory.training.standing);
  text_put(note, " in the ");
  if (m->phase == PHASE_STEP) {
    text_put(note, "optimizer's step");
  } else {
    put_place(t, note, m);
    text_printf(note, " (%s)", m->op);
  }
  for (int p = 0; p < PART_COUNT; p++) {
    if (!m->parts[p])
      continue;
    text_printf(note, "\n%s ", part_names[p]);
    put_size(t, note, m->parts[p]);
  }
  if (at->last > at->first)
    text_printf(note, "\nthe largest of %zu operations",
                at->last - at->first + 1);
  svg_rect(&t->svg, "hit",
           (struct svg_box){left, t->top, right - left, PLOT_HEIGHT},
           svg_note(&t->svg));
}

/* Under the axis: which pass it is. */
static void draw_phases(struct timeline *t) {
  static const char *const names[] = {"forward", "backward", "step"};
  double y = t->top + PLOT_HEIGHT;
  for (size_t first = 0, end; first < t->count; first = end) {
    enum phase phase = t->columns[first].most.phase;
    for (end = first; end < t->count && t->columns[end].most.phase == phase;)
      end++;
    double left = left_of(t, first), right = right_of(t, end - 1);
    if (first)
      svg_line(&t->svg, "axis", left, t->top, left, y + 20);
    svg_text_fit(&t->svg, "", SVG_TEXT, SVG_MIDDLE, (left + right) / 2, y + 15,
                 right - left, slice_of(names[phase]));
  }
}

static double peak_x(const struct timeline *t) {
  const struct moment *peak = &t->c->memory.training.at;
  for (size_t i = 0; i < t->count; i++) {
    const struct column *at = &t->columns[i];
    if (at->most.phase == peak->phase &&
        (peak->phase == PHASE_STEP ||
         (at->first <= peak->number && peak->number <= at->last)))
      return (left_of(t, i) + right_of(t, i)) / 2;
  }
  return LEFT;
}

static void draw_peak(struct timeline *t) {
  const struct training *training = &t->c->memory.training;
  double x = peak_x(t), y = svg_at(&t->scale, (double)training->peak);
  bool left = x > (LEFT + RIGHT) / 2.0;
  svg_rect(&t->svg, "ring", (struct svg_box){x - 3.5, y - 3.5, 7, 7},
           (struct slice){"", 0});
  text_put(&t->svg.note, "peak ");
  put_size(t, &t->svg.note, training->peak);
  text_put(&t->svg.note, ", ");
  put_place(t, &t->svg.note, &training->at);
  svg_text_fit(&t->svg, "over", SVG_TEXT, left ? SVG_END : SVG_START,
               left ? x + 3.5 : x - 3.5, y - 8, left ? x - LEFT : RIGHT - x,
               svg_note(&t->svg));
}

static void draw_device(struct timeline *t) {
  const struct fit *fit = &t->c->memory.fit;
  const struct train_settings *train = &t->c->settings->train;
  double y = svg_at(&t->scale, (double)fit->room);
  if (!fit->device || (double)fit->room > t->scale.high)
    return;
  svg_line(&t->svg, "halo", LEFT, y, RIGHT, y);
  svg_line(&t->svg, "mark", LEFT, y, RIGHT, y);
  if (train->memory)
    text_size(&t->svg.note, train->memory, t->options->units, 0);
  else
    text_put(&t->svg.note, gpu_word(train->gpu));
  svg_text_fit(&t->svg, "", SVG_SMALL, SVG_START, RIGHT + 6, y + 3.5,
               SVG_WIDTH - RIGHT - 8, svg_note(&t->svg));
}

/* Room for the label above the peak, and for the device if it is near. */
static double high_of(const struct timeline *t) {
  const struct memory *m = &t->c->memory;
  double high = (double)m->training.peak * 1.1;
  double room = (double)m->fit.room * 1.04;
  return room > high && room < 2.5 * high ? room : high;
}

static void draw_plot(struct timeline *t) {
  static const enum band standing = GRADIENTS;
  svg_byte_axis(&t->svg, &t->scale, LEFT, RIGHT, t->options->units);
  for (int band = 0; band < (int)standing; band++)
    draw_standing(t, band);
  for (int band = (int)standing; band < BANDS; band++)
    draw_band(t, band);
  draw_phases(t);
  draw_device(t);
  for (size_t i = 0; i < t->count; i++)
    draw_hover(t, i);
  draw_peak(t);
}

void emit_timeline(const struct compiled *c, const struct emit_options *options,
                   struct text *out) {
  struct timeline *t = ARENA_NEW(c->arena, struct timeline);
  struct text above = text_new(c->arena), below = text_new(c->arena);
  t->c = c;
  t->options = options;
  t->svg = svg_new(c, "timeline", out);
  t->span = 1;
  memory_moments(c->model, c->settings, &c->memory, note_moment, t);
  while (t->count > MOST_COLUMNS)
    halve(t);
  t->columns[t->count++] = (struct column){step_moment(&c->memory.training),
                                           t->moments + 1, t->moments + 1};
  struct slice subtitle = subtitle_of(t, &above);
  t->top = svg_head_height(subtitle) + 8;
  t->scale = (struct svg_scale){high_of(t), t->top + PLOT_HEIGHT, t->top};
  struct slice words = words_below(t, &below);
  double width = SVG_WIDTH - 2 * SVG_MARGIN;
  double y = t->top + PLOT_HEIGHT + BELOW + 2 * 15;
  svg_open(&t->svg, y + 15 * svg_lines(SVG_SMALL, width, words), title_of(t),
           words);
  svg_head(&t->svg, title_of(t), subtitle);
  draw_plot(t);
  y = svg_legend(&t->svg, LEFT, t->top + PLOT_HEIGHT + BELOW + 6, RIGHT - LEFT,
                 band_names, band_fills, BANDS);
  svg_paragraph(&t->svg, SVG_SMALL, SVG_MARGIN, y + 3, width, words);
  svg_close(&t->svg);
}
