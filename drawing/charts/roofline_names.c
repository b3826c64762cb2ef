/*
 * Names of the layers that take most time in a roofline chart, at their dots
 * and above their bars. Names do not touch.
 */
#include "drawing/charts/roofline.h"

#include <math.h>

#include "sema/model/gpu.h"

enum { LABELS = 8, FLAGS = 12, LINE = 13, WIDE_NAME = 120 /* px */ };

double roof_bin_x(const struct roofline *r, const struct roof_bin *bin) {
  if (bin == &r->idle)
    return (ROOF_LEFT + ROOF_LOG_LEFT) / 2.0 - 8;
  return roof_x(r, bin->flops / bin->bytes);
}

/* Leaves out the groups of a wide name. */
static struct slice name_of(struct roofline *r, const struct roof_bin *bin) {
  const struct model *model = r->c->model;
  struct text *note = &r->chart.note;
  model_put_name(note, model, bin->largest);
  if (chart_text_width(text_slice(note), CHART_SMALL) > WIDE_NAME) {
    note->length = 0;
    name_put(note, &model->nodes.at[bin->largest].name);
  }
  if (bin->count > 1)
    text_printf(note, " +%zu", bin->count - 1);
  return chart_note(&r->chart);
}

/* Above bars */

/* True if the bar of a bin covers the place of a text. */
static bool crosses(const struct roofline *r, const struct roof_bin *bin,
                    const struct chart_scale *scale, double x, double half,
                    double y) {
  double at = bin->count ? roof_bin_x(r, bin) : 0;
  return bin->count && at > x - half - ROOF_BIN && at < x + half + ROOF_BIN &&
         chart_at(scale, bin->seconds) < y + 1;
}

/* True if a text around at.x would touch one of those in `taken`. */
static bool touches(const struct chart_box *taken, int count,
                    struct chart_box at) {
  for (int k = 0; k < count; k++)
    if (at.x - at.width / 2 <= taken[k].x + taken[k].width + 4 &&
        at.x + at.width / 2 >= taken[k].x - 4 && at.y >= taken[k].y - 12 &&
        at.y <= taken[k].y + 12)
      return true;
  return false;
}

void roof_name_bars(struct roofline *r, const struct chart_scale *scale) {
  struct chart_box taken[LABELS];
  int count = 0;
  for (int i = 0; i <= ROOF_BINS && count < LABELS; i++) {
    const struct roof_bin *bin = r->dearest[i];
    double x, y = chart_at(scale, bin->seconds) - 4;
    bool free = bin->count > 0;
    if (!free)
      return;
    struct slice name = name_of(r, bin);
    double width = chart_text_width(name, CHART_SMALL);
    x = roof_bin_x(r, bin);
    x = x - width / 2 < ROOF_LEFT ? ROOF_LEFT + width / 2 : x;
    for (int k = 0; k <= ROOF_BINS && free; k++)
      free = k == i || !crosses(r, r->dearest[k], scale, x, width / 2, y);
    if (!free || touches(taken, count, (struct chart_box){x, y, width, 0}))
      continue;
    chart_text_as(&r->chart, "over", CHART_SMALL, CHART_MIDDLE, x, y, name);
    taken[count++] = (struct chart_box){x - width / 2, y, width, 0};
  }
}

/* At dots */

/* A name below a dot, to the right of a line to the dot. */
struct flag {
  const struct roof_bin *bin;
  struct slice name;
  double x, dot, y, width;
};

static struct flag flag_of(struct roofline *r, const struct roof_bin *bin) {
  struct flag flag = {.bin = bin, .name = name_of(r, bin)};
  flag.x = roof_bin_x(r, bin);
  flag.dot = roof_y(r, roof_rate(r, bin->flops / bin->bytes));
  flag.width = chart_text_width(flag.name, CHART_SMALL);
  return flag;
}

/* True if the word of a type is beside the plot at that height. */
static bool has_type(const struct roofline *r, double y) {
  for (int e = 1; e <= ELEMENT_BF16; e++) {
    double rate = (double)gpu_rate(r->gpu, e) * 1e9;
    if (rate > 0 && fabs(roof_y(r, rate) + 3.5 - y) < LINE - 2)
      return true;
  }
  return false;
}

/*
 * From right to left: a name that reaches below other dots is placed below
 * their names, so that it crosses none of their lines. False: it would leave
 * the plot.
 */
static bool place_flags(const struct roofline *r, struct flag *flags,
                        int count) {
  for (int i = count; i-- > 0;) {
    struct flag *f = &flags[i];
    double end = f->x + f->width + 8;
    f->y = f->dot + LINE + 5;
    for (int k = i + 1; k < count; k++)
      if (flags[k].x - 2 < end && flags[k].y + LINE > f->y)
        f->y = flags[k].y + LINE;
    while (end > r->right + 4 && has_type(r, f->y))
      f->y += LINE;
    if (f->y > r->top + ROOF_HEIGHT - 3 || end > r->chart.width)
      return false;
  }
  return true;
}

/* In the order of their dots. */
static void insert_flag(struct flag *flags, int *count, struct flag flag) {
  int at = (*count)++;
  for (; at > 0 && flags[at - 1].x > flag.x; at--)
    flags[at] = flags[at - 1];
  flags[at] = flag;
}

void roof_name_dots(struct roofline *r) {
  struct flag flags[FLAGS], tried[FLAGS];
  int count = 0;
  for (int i = 0; i <= ROOF_BINS && count < FLAGS && r->dearest[i]->count;
       i++) {
    int more = count;
    if (r->dearest[i] == &r->idle)
      continue;
    memcpy(tried, flags, (size_t)count * sizeof *flags);
    insert_flag(tried, &more, flag_of(r, r->dearest[i]));
    if (!place_flags(r, tried, more))
      continue;
    memcpy(flags, tried, (size_t)more * sizeof *flags);
    count = more;
  }
  place_flags(r, flags, count);
  for (int i = 0; i < count; i++)
    chart_line(&r->chart, "grid", flags[i].x, flags[i].dot + 6, flags[i].x,
               flags[i].y);
  for (int i = 0; i < count; i++)
    chart_text_as(&r->chart, "over", CHART_SMALL, CHART_START, flags[i].x + 3,
                  flags[i].y, flags[i].name);
}
