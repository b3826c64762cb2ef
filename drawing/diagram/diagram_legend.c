/* The legend of a diagram: the meaning of its fills and figures. */
#include "drawing/diagram/diagram.h"
#include "drawing/scene/palette.h"

/* Rows of swatches in the picture's width. */

struct legend {
  struct diagram *d;
  int64_t left, top, width, x, y;
  bool drawn;
};

static void add_swatch(struct legend *l, int fill, int edge,
                       struct slice words) {
  int64_t wide = (fill == NO_COLOUR ? 0 : 13 * POINT) +
                 text_extent(words, SMALL_SIZE, false);
  if (l->x > 0 && l->x + wide > l->width) {
    l->x = 0;
    l->y += LINE;
  }
  if (l->drawn) {
    if (fill != NO_COLOUR)
      scene_add(l->d->scene, (struct scene_item){.kind = SCENE_BOX,
                                                 .x = l->left + l->x,
                                                 .y = l->top + l->y,
                                                 .width = 10 * POINT,
                                                 .height = 8 * POINT,
                                                 .fill = fill,
                                                 .stroke = edge,
                                                 .stroke_width = 75});
    scene_add(l->d->scene,
              (struct scene_item){.kind = SCENE_TEXT,
                                  .x = l->left + l->x +
                                       (fill == NO_COLOUR ? 0 : 13 * POINT),
                                  .y = l->top + l->y + 7 * POINT,
                                  .size = SMALL_SIZE,
                                  .fill = PALETTE_WORDS,
                                  .text = words});
  }
  l->x += wide + 10 * POINT;
}

/* A heading of the manual in the words of papers. */
static void put_family(struct text *out, const char *heading) {
  static const char *const words[][2] = {
      {"Sequence", "embedding, attention, recurrence"},
      {"Shape", "reshaping"},
      {"Learned", "learned tensor"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i][0], heading) == 0)
      heading = words[i][1];
  text_printf(out, "%c%s", (char)(heading[0] | 0x20), heading + 1);
}

static void add_families(struct legend *l) {
  const char *const *names = l->d->shown;
  for (int i = 0; i < MOST_FAMILIES; i++) {
    if (!names[i] || palette_fill(i) == PALETTE_PAPER) /* a join says itself */
      continue;
    struct text word = text_new(l->d->arena);
    put_family(&word, names[i]);
    add_swatch(l, palette_fill(i), palette_outline(i), text_slice(&word));
  }
}

static void add_heats(struct legend *l) {
  static const char *const words[] = {[NETC_TINT_MACS] = " MACs",
                                      [NETC_TINT_SAVED] = "",
                                      [NETC_TINT_PARAMS] = " parameters"};
  struct diagram *d = l->d;
  int64_t step = d->most_heat / (PALETTE_HEATS - 1) + 1;
  add_swatch(l, palette_heat(0), PALETTE_EDGES, slice_of("none"));
  for (int i = 1; i < PALETTE_HEATS; i++) {
    struct text text = text_new(d->arena);
    int64_t most = i + 1 < PALETTE_HEATS ? i * step : d->most_heat;
    text_put(&text, "up to ");
    if (d->c->options->tint == NETC_TINT_SAVED)
      text_size(&text, most, output_units(d->c), 1);
    else
      text_count(&text, most);
    if (i + 1 == PALETTE_HEATS)
      text_put(&text, d->c->options->tint == NETC_TINT_SAVED
                          ? " kept for backward, a box"
                          : words[d->c->options->tint]);
    add_swatch(l, palette_heat(i), PALETTE_EDGES, text_slice(&text));
  }
}

static void add_tail(struct legend *l, size_t kind) {
  struct slice tail = l->d->tails[kind];
  struct text text = text_new(l->d->arena);
  if (!tail.length)
    return;
  text_printf(&text, "after each %s:", layer_kind_at(kind)->name);
  text_puts(&text, tail);
  add_swatch(l, NO_COLOUR, NO_COLOUR, text_slice(&text));
}

static int64_t legend_walk(struct legend *l) {
  if (l->d->c->options->tint == NETC_TINT_OP)
    add_families(l);
  else
    add_heats(l);
  if (!tightness(l->d)->few_facts &&
      l->d->c->options->notes == NETC_NOTE_PARAMS)
    add_swatch(l, NO_COLOUR, NO_COLOUR, slice_of("small numbers: parameters"));
  if (l->d->sections.count > 1)
    add_swatch(l, NO_COLOUR, NO_COLOUR,
               slice_of("(A): drawn once, in a frame of its own"));
  if (l->d->stubs.count)
    add_swatch(l, NO_COLOUR, NO_COLOUR,
               slice_of("a name at an arrow: a tensor from another place"));
  for (size_t i = 0; i < layer_kind_count() && tightness(l->d)->few_tails; i++)
    add_tail(l, i);
  return l->y + LINE;
}

int64_t legend_measure(struct diagram *d, int64_t width) {
  if (d->c->options->no_legend)
    return 0;
  struct legend l = {.d = d, .width = width};
  return legend_walk(&l);
}

void legend_draw(struct diagram *d, int64_t x, int64_t y, int64_t width) {
  struct legend l = {
      .d = d, .left = x, .top = y, .width = width, .drawn = true};
  if (!d->c->options->no_legend)
    legend_walk(&l);
}

/* The title above the picture, in as many lines as needed. */

int64_t title_draw(struct diagram *d, int64_t width, bool drawn) {
  enum { TITLE_LINE = 13 * POINT };
  const char *title = d->c->options->title;
  int64_t y = 0, wide;
  if (!title)
    return 0;
  struct slice words = text_tamed(d->arena, slice_of(title), false);
  while (words.length) {
    struct slice line = line_that_fits(words, TITLE_SIZE, width, &wide);
    if (!line.length)
      line = words;
    if (drawn)
      scene_add(d->scene,
                (struct scene_item){.kind = SCENE_TEXT,
                                    .x = edge_of(d),
                                    .y = y + edge_of(d) + TITLE_SIZE - 10,
                                    .size = TITLE_SIZE,
                                    .bold = true,
                                    .fill = PALETTE_WORDS,
                                    .text = line});
    size_t used = line.length + (line.length < words.length);
    words = slice_from(words, used);
    y += TITLE_LINE;
  }
  return y;
}
