/* Draws placed parts: arrows end at boxes, titles are clear of arrows. */
#include "drawing/diagram/diagram.h"

#include "drawing/scene/palette.h"

void pen_to(struct diagram_pen *pen, int64_t across, int64_t along) {
  size_t room = sizeof pen->at / sizeof *pen->at;
  struct point *last = pen->count ? &pen->at[pen->count - 1] : NULL;
  if (last && last->x == across && last->y == along)
    return;
  /* Extend a straight piece instead of adding a point. */
  if (pen->count > 1 && ((last->x == across && last[-1].x == across) ||
                         (last->y == along && last[-1].y == along)))
    *last = (struct point){across, along};
  else if (pen->count < room)
    pen->at[pen->count++] = (struct point){across, along};
}

void pen_draw(struct diagram *d, const struct diagram_pen *pen, bool arrow) {
  if (!d->scene || pen->count < 2)
    return;
  struct point *points = arena_alloc(d->arena, pen->count, sizeof *points);
  for (size_t i = 0; i < pen->count; i++)
    points[i] = d->lr ? (struct point){pen->at[i].y, pen->at[i].x} : pen->at[i];
  scene_add(d->scene, (struct scene_item){.kind = SCENE_LINE,
                                          .points = points,
                                          .point_count = pen->count,
                                          .stroke = PALETTE_ARROWS,
                                          .stroke_width = 90,
                                          .arrow = arrow});
}

static void link_draw(struct diagram *d, size_t index,
                      const struct diagram_pen *pen) {
  struct diagram_item *item = &d->items.at[index];
  if (pen->item == NO_ITEM)
    return;
  for (size_t i = 0; i < item->link_count; i++) {
    size_t k = (item->next_link + i) % item->link_count;
    struct diagram_link *link = &d->links.at[item->first_link + k];
    if (link->from == pen->item) {
      item->next_link = k + 1;
      link->drawn = true;
      pen_draw(d, pen, true);
      return;
    }
  }
}

/* Boxes */

static void draw_rect(struct diagram *d, size_t index, int64_t shift,
                      bool warned, int64_t radius) {
  const struct diagram_item *item = &d->items.at[index];
  scene_add(d->scene,
            (struct scene_item){.kind = SCENE_BOX,
                                .x = item->x + shift,
                                .y = item->y + shift,
                                .width = item->width,
                                .height = item->height,
                                .radius = radius,
                                .fill = item_fill(d, index),
                                .stroke = warned ? PALETTE_WARNING
                                                 : item_edge(d, index),
                                .stroke_width = warned ? 150 : 75});
}

static void draw_lines(struct diagram *d, const struct diagram_item *item,
                       bool warned) {
  const struct diagram_label *label = item->label;
  int64_t leading = tightness(d)->leading;
  int64_t y = item->y + (item->height - label->line_count * leading) / 2;
  for (int i = 0; i < label->line_count; i++, y += leading) {
    bool note = i >= label->line_count - label->note_count;
    bool warning = warned && label->lines[i].at[0] == '!';
    scene_add(d->scene, (struct scene_item){.kind = SCENE_TEXT,
                                            .x = item->x + item->width / 2,
                                            .y = y + leading - 25,
                                            .size = note ? SMALL_SIZE
                                                         : tightness(d)->text,
                                            .anchor = ANCHOR_MIDDLE,
                                            .fill = warning ? 0x8a1c10
                                                    : note  ? PALETTE_NOTES
                                                            : PALETTE_INK,
                                            .text = label->lines[i]});
  }
}

/* The output shape, beside the arrow. */
static void draw_shape(struct diagram *d, size_t index, bool flip) {
  const struct diagram_item *item = &d->items.at[index];
  struct scene_item text = {.kind = SCENE_TEXT,
                            .size = SMALL_SIZE,
                            .fill = PALETTE_WORDS,
                            .text = item->out};
  int64_t extra = item->opens_repeat ? 2 * STACK : 0;
  bool beside = shape_is_beside(d, flip);
  if (d->lr) {
    text.x =
        flip ? item->x - 3 * POINT : item->x + item->width + extra + 3 * POINT;
    text.anchor = flip ? ANCHOR_END : ANCHOR_START;
    text.y = item->y + item->height / 2 - 25;
  } else if (beside) {
    text.x = item->x + item->width + extra + 3 * POINT +
             stubs_extent(d, index, STUB_RIGHT);
    text.y = item->y + item->height / 2 + 28;
  } else {
    text.x = item->x + item->width / 2 + BESIDE;
    text.y =
        flip ? item->y - 4 * POINT : item->y + item->height + extra + 9 * POINT;
  }
  if (item->out.length)
    scene_add(d->scene, text);
}

void box_draw(struct diagram *d, size_t index) {
  const struct diagram_item *item = &d->items.at[index];
  bool warned = item_row(d, index)->warning_count > 0;
  bool sign = item->width == SIGN && item->height == SIGN;
  bool source = item->link_count + item->stub_count == 0;
  int64_t radius = sign || source ? item->height / 2 : 25;
  item_open(d, index);
  for (int64_t sheet = item->opens_repeat ? 2 : 0; sheet > 0; sheet--)
    draw_rect(d, index, sheet * STACK, false, radius);
  draw_rect(d, index, 0, warned, radius);
  draw_lines(d, item, warned);
  scene_add(d->scene, (struct scene_item){.kind = SCENE_CLOSE});
}

static void draw_item(struct diagram *d, size_t index, bool flip) {
  if (!d->scene)
    return;
  box_draw(d, index);
  draw_shape(d, index, flip);
  stubs_draw(d, index, flip);
}

static int64_t entry_of(const struct diagram *d, size_t index, bool flip) {
  const struct diagram_item *item = &d->items.at[index];
  int64_t stack = item->opens_repeat ? 2 * STACK : 0;
  return item_low(d, index) + (flip ? item_along(d, item) + stack : 0);
}

static void leave(const struct diagram *d, size_t index, int64_t across,
                  bool flip, struct diagram_pen *pen) {
  const struct diagram_item *item = &d->items.at[index];
  int64_t along = item_low(d, index) + (flip ? 0 : item_along(d, item));
  if (item->opens_repeat && !flip)
    along += 2 * STACK;
  pen->item = index;
  pen->count = 0;
  pen_to(pen, across, along);
}

/* Frames */

struct scene_item frame_box(const struct diagram *d,
                            const struct diagram_part *part) {
  bool repeats = part->unit->count > 1;
  int64_t low = part->flip ? part->along + part->after : part->along;
  int64_t size = part->length - part->after;
  int64_t left = part->across - part->left;
  int64_t wide = part->left + part->right - (repeats ? 2 * STACK : 0);
  return (struct scene_item){.kind = SCENE_BOX,
                             .x = d->lr ? low : left,
                             .y = d->lr ? left : low,
                             .width = d->lr ? size : wide,
                             .height = d->lr ? wide : size,
                             .radius = 40,
                             .fill = repeats ? PALETTE_REPEATS : NO_COLOUR,
                             .stroke = PALETTE_FRAMES,
                             .stroke_width = 60};
}

static void draw_frame(struct diagram *d, const struct diagram_part *part) {
  struct scene_item box = frame_box(d, part);
  int64_t title = text_extent(part->title, SMALL_SIZE, true) + BESIDE_TITLE;
  for (int64_t sheet = part->unit->count > 1 ? 2 : 0; sheet > 0; sheet--) {
    struct scene_item below = box;
    below.x += sheet * STACK;
    below.y += sheet * STACK;
    scene_add(d->scene, below);
  }
  scene_add(d->scene, box);
  bool before = d->lr || title <= part->left;
  scene_add(d->scene,
            (struct scene_item){.kind = SCENE_TEXT,
                                .x = before ? box.x + 4 * POINT
                                            : part->across + 4 * POINT,
                                .y = box.y + 95,
                                .size = SMALL_SIZE,
                                .bold = true,
                                .fill = PALETTE_WORDS,
                                .text = part->title});
}

/* Parts */

static bool reads(const struct diagram *d, const struct diagram_part *part,
                  size_t from) {
  while (part && (part->kind == PART_CHAIN || part->kind == PART_FRAME))
    part = part->first;
  if (!part)
    return false;
  if (part->kind == PART_SPLIT)
    return part->forks;
  const struct diagram_item *item = &d->items.at[part->item];
  for (size_t k = 0; k < item->link_count; k++)
    if (d->links.at[item->first_link + k].from == from)
      return true;
  return false;
}

void part_draw_side(struct diagram *d, const struct diagram_part *part,
                    const struct diagram_part *side,
                    const struct diagram_pen *pen) {
  int64_t bus =
      part->flip ? part->along + BUS : part->along + part->length - BUS;
  struct diagram_pen branch = *pen;
  if (!reads(d, side, pen->item))
    branch = (struct diagram_pen){.item = NO_ITEM};
  if (branch.count) {
    pen_to(&branch, part->across, bus);
    /* Avoid sides that are above it, in the gap before them. */
    if (!part->flip && side->along > bus + 2 * BUS) {
      int64_t gap = side->across - side->left - 3 * POINT;
      pen_to(&branch, gap, bus);
      pen_to(&branch, gap, side->along - BUS);
      bus = side->along - BUS;
    }
    pen_to(&branch, side->across, bus);
  }
  part_draw(d, side, &branch);
}

static void draw_branch(struct diagram *d, const struct diagram_part *split,
                        const struct diagram_part *branch,
                        const struct diagram_pen *from) {
  struct diagram_pen pen = *from;
  const struct diagram_item *join = &d->items.at[split->item];
  int64_t sign = split->flip ? -1 : 1;
  int64_t bus = split->flip ? split->along + split->length - 3 * POINT
                            : split->along + 3 * POINT;
  int64_t entry = entry_of(d, split->item, split->flip);
  int64_t across = branch->across;
  if (pen.count && across != split->across) {
    pen_to(&pen, split->across, bus);
    pen_to(&pen, across, bus);
  }
  if (branch->first)
    part_draw(d, branch, &pen);
  if (split->bar || across == split->across) {
    pen_to(&pen, across, entry);
  } else {
    int64_t middle = entry + sign * item_along(d, join) / 2;
    int64_t half = (d->lr ? join->height : join->width) / 2;
    pen_to(&pen, across, middle);
    pen_to(&pen,
           across < split->across ? split->across - half : split->across + half,
           middle);
  }
  link_draw(d, split->item, &pen);
}

static void draw_split(struct diagram *d, const struct diagram_part *split,
                       struct diagram_pen *pen) {
  static const struct diagram_pen none = {.item = NO_ITEM};
  bool empty = false;
  for (const struct diagram_part *b = split->first; b; b = b->next) {
    bool led = split->forks || (!b->first && !empty);
    empty = empty || !b->first;
    draw_branch(d, split, b, led ? pen : &none);
  }
  draw_item(d, split->item, split->flip);
  leave(d, split->item, split->across, split->flip, pen);
}

static void draw_chain(struct diagram *d, const struct diagram_part *chain,
                       struct diagram_pen *pen) {
  for (const struct diagram_part *p = chain->first; p; p = p->next) {
    part_draw(d, p, pen);
    for (const struct diagram_part *side = p->side; side; side = side->next)
      part_draw_side(d, p, side, pen);
  }
}

/* The columns of a grid; lines between its cells are led later. */
static void draw_grid(struct diagram *d, const struct diagram_part *part,
                      struct diagram_pen *pen) {
  int64_t column = 0;
  for (const struct diagram_part *c = part->first; c; c = c->next) {
    if (c->column != column)
      *pen = (struct diagram_pen){.item = NO_ITEM};
    column = c->column;
    part_draw(d, c, pen);
  }
}

void part_draw(struct diagram *d, const struct diagram_part *part,
               struct diagram_pen *pen) {
  switch (part->kind) {
  case PART_BOX:
    if (pen->count)
      pen_to(pen, part->across, entry_of(d, part->item, part->flip));
    link_draw(d, part->item, pen);
    draw_item(d, part->item, part->flip);
    leave(d, part->item, part->across, part->flip, pen);
    break;
  case PART_CHAIN: draw_chain(d, part, pen); break;
  case PART_SPLIT: draw_split(d, part, pen); break;
  case PART_FRAME:
    if (d->scene && !is_bare(d, part))
      draw_frame(d, part);
    part_draw(d, part->first, pen);
    break;
  case PART_GRID: draw_grid(d, part, pen); break;
  }
}
