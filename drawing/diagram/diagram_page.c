/* Draws pages: columns, lines between them, and skips. */

#include "drawing/diagram/diagram_page.h"
#include "drawing/scene/palette.h"

enum { LEAST_WIDTH = 150 * POINT /* for the legend */ };

struct sheet {
  struct diagram_paper *l;
  size_t page;
  int64_t across, top, length; /* their start across, top and length */
  int64_t start, end;          /* of all columns, across */
  int64_t title;               /* height of the title above them */
  int used;                    /* corridors in use below them */
  int entered;                 /* lanes in use to the left of columns */
  struct diagram_pen pen;
};

static struct diagram *diagram_at(const struct sheet *s) {
  return s->l->d;
}

static int64_t item_side(const struct diagram *d, size_t item, bool right) {
  const struct diagram_item *it = &d->items.at[item];
  int64_t low = d->lr ? it->y : it->x;
  int64_t size = d->lr ? it->height : it->width;
  return right ? low + size + (it->opens_repeat ? 50 : 0) : low;
}

/* Places */

static void place_sides(struct sheet *s, const struct diagram_column *c,
                        const struct diagram_part *part) {
  for (struct diagram_part *side = part->side; side; side = side->next)
    part_place(diagram_at(s), side, c->across + side->shift,
               c->along + side->ahead);
}

static void place_column(struct sheet *s, struct diagram_column *c) {
  if (s->l->packed)
    s->across = s->start + c->x;
  c->across = s->across + c->left;
  c->along = s->top + c->y;
  for (size_t i = c->first; i < c->end; i++) {
    const struct diagram_stretch *stretch = &s->l->parts.at[i];
    part_place(diagram_at(s), stretch->part, c->across + stretch->shift,
               c->along + stretch->offset);
    place_sides(s, c, stretch->part);
  }
  s->across += column_width(c);
  s->end = most(s->end, s->across);
  s->across += gutter_of(s->l);
  s->length = most(s->length, c->y + c->length);
}

/* Drawing */

static void put_note(struct sheet *s, struct point at, const char *word,
                     size_t page) {
  struct diagram *d = diagram_at(s);
  struct text text = text_new(d->arena);
  text_printf(&text, "%s page %zu", word, page + 1);
  scene_add(d->scene,
            (struct scene_item){.kind = SCENE_TEXT,
                                .x = (d->lr ? at.y : at.x) + 4 * POINT,
                                .y = (d->lr ? at.x - 4 * POINT : at.y),
                                .size = SMALL_SIZE,
                                .fill = PALETTE_WORDS,
                                .text = text_slice(&text)});
}

/* The lower end of a column's last part and of all sides in it. */
static int64_t column_low(const struct sheet *s,
                          const struct diagram_column *c) {
  const struct diagram_part *last = s->l->parts.at[c->end - 1].part;
  int64_t low = last->along + last->length;
  for (size_t i = c->first; i < c->end; i++)
    for (const struct diagram_part *p = s->l->parts.at[i].part->side; p;
         p = p->next)
      low = low > p->along + p->length ? low : p->along + p->length;
  return low + 20;
}

/* Leads the pen from the end of a column up to the start of the next one. */
static void turn_pen(struct sheet *s, const struct diagram_column *from,
                     const struct diagram_column *to) {
  struct diagram_pen *pen = &s->pen;
  if (pen->count == 0)
    return;
  int64_t low = column_low(s, from);
  const struct diagram_part *part = s->l->parts.at[to->first].part;
  pen_to(pen, from->across + s->l->parts.at[from->end - 1].shift, low);
  int64_t gap = s->l->packed ? NARROW_GUTTER : gutter_of(s->l);
  int64_t gutter = to->across - to->left - gap / 2;
  pen_to(pen, gutter, low);
  pen_to(pen, gutter, s->top - OVER);
  pen_to(pen, part->grid ? part->first->across : to->across, s->top - OVER);
}

static void draw_column(struct sheet *s, size_t index) {
  struct diagram_paper *l = s->l;
  const struct diagram_column *c = &l->columns.at[index];
  bool starts = l->parts.at[c->first].starts;
  if (starts) {
    s->pen = (struct diagram_pen){.item = NO_ITEM};
  } else if (index > 0 && l->columns.at[index - 1].page != c->page) {
    s->pen.count = 0;
    put_note(s, (struct point){c->across, s->top}, "from", c->page - 1);
    pen_to(&s->pen, c->across, s->top - OVER);
  } else if (index > 0) {
    turn_pen(s, &l->columns.at[index - 1], c);
  }
  for (size_t i = c->first; i < c->end; i++) {
    const struct diagram_part *part = l->parts.at[i].part;
    if (l->parts.at[i].starts)
      s->pen = (struct diagram_pen){.item = NO_ITEM};
    part_draw(diagram_at(s), part, &s->pen);
    for (const struct diagram_part *side = part->side; side; side = side->next)
      part_draw_side(diagram_at(s), part, side, &s->pen);
  }
  bool last = index + 1 == l->columns.count;
  if (!last && l->columns.at[index + 1].page != c->page &&
      !l->parts.at[c->end].starts) {
    struct diagram_pen out = s->pen;
    int64_t along = out.at[out.count - 1].y + 18 * POINT;
    pen_to(&out, c->across, along);
    pen_draw(diagram_at(s), &out, true);
    put_note(s, (struct point){c->across, along}, "to", c->page + 1);
  }
}

/* Skips */

static void note_skip(struct sheet *s, const struct diagram_skip *skip,
                      const struct diagram_column *a,
                      const struct diagram_column *b) {
  struct diagram *d = diagram_at(s);
  bool leaves = a->page == s->page;
  size_t item = leaves ? skip->from : skip->to;
  struct point at = {item_side(d, item, true), item_low(d, item) + 60};
  if (leaves || b->page == s->page)
    put_note(s, at, leaves ? "also to" : "also from",
             leaves ? b->page : a->page);
}

static int64_t lane_of(struct diagram_column *c, int *used) {
  int lane = c->lanes ? (*used)++ % c->lanes : 0;
  return c->across + c->right + lane * LANE + LANE;
}

/* Beside the chain of its frame, or beside its column. */
static int64_t lane_of_skip(const struct diagram_skip *skip,
                            struct diagram_column *c, int *used) {
  if (!skip_is_framed(skip))
    return lane_of(c, used);
  const struct diagram_part *chain = skip->frame->first;
  return chain->across + chain->right + skip->lane * LANE + LANE;
}

enum { MOST_LOOKED_AT = 300 }; /* items; further boxes may be crossed */

/* True if a box is between an item and a lane beside it, at `along`. */
static bool is_blocked(const struct diagram *d, int64_t lane, size_t index,
                       int64_t along) {
  int64_t right = item_side(d, index, false), slack = 15;
  size_t first = index > MOST_LOOKED_AT ? index - MOST_LOOKED_AT : 0;
  for (size_t i = first; i < d->items.count && i < index + MOST_LOOKED_AT;
       i++) {
    const struct diagram_item *it = &d->items.at[i];
    int64_t low = (d->lr ? it->x : it->y) - slack;
    int64_t size = (d->lr ? it->width : it->height) + 2 * slack;
    if ((uint64_t)along - (uint64_t)low <= (uint64_t)size && i != index &&
        item_side(d, i, true) > right && item_side(d, i, false) < lane)
      return true;
  }
  return false;
}

/* Leaves an item at its side, or below it if the side is blocked. */
static void leave_item(struct diagram *d, int64_t lane, size_t index,
                       struct diagram_pen *pen) {
  const struct diagram_item *it = &d->items.at[index];
  int64_t along = item_middle(d, index);
  if (!item_sign(d, index) && !is_blocked(d, lane, index, along)) {
    pen_to(pen, item_side(d, index, true), along);
    return;
  }
  int64_t across = d->lr ? it->y + it->height / 2 : it->x + it->width / 2;
  int64_t exit = item_low(d, index);
  exit += d->lr ? it->width : it->height;
  along = exit + 25;
  for (int64_t far = 25; far <= 150; far += 15)
    if (!is_blocked(d, lane, index, exit + far)) {
      along = exit + far;
      break;
    }
  pen_to(pen, across, exit);
  pen_to(pen, across, along);
}

/* The way in a lane beside the column or in the frame. */
static struct diagram_pen
way_beside(struct sheet *s, const struct diagram_skip *skip, int *used) {
  struct diagram *d = diagram_at(s);
  size_t from = column_of(s->l, skip->from), to = column_of(s->l, skip->to);
  struct diagram_column *a = &s->l->columns.at[from],
                        *b = &s->l->columns.at[to];
  struct diagram_pen pen = {.item = skip->from};
  int64_t end = item_middle(d, skip->to);
  int64_t lane = lane_of_skip(skip, a, &used[from]);
  leave_item(d, lane, skip->from, &pen);
  pen_to(&pen, lane, pen.at[pen.count - 1].y);
  if (to > from + 1 || to < from) {
    int64_t corridor = s->top + s->length + ++s->used * LANE;
    pen_to(&pen, lane, corridor);
    lane = b->across - b->left - 35 - 45 * (s->entered++ % 5);
    pen_to(&pen, lane, corridor);
  }
  pen_to(&pen, lane, end);
  pen_to(&pen, item_side(d, skip->to, to == from), end);
  return pen;
}

static void pass_beside(struct sheet *s, const struct diagram_skip *skip,
                        int *used) {
  struct diagram *d = diagram_at(s);
  struct diagram_pen pen = way_beside(s, skip, used);
  d->links.at[skip->link].drawn = true;
  pen_draw(d, &pen, true);
}

/* True if a line crosses a box, which may be one of its ends. */
static bool crosses(const struct diagram *d, const struct diagram_pen *pen) {
  for (size_t k = 1; k < pen->count; k++) {
    struct point a = pen->at[k - 1], b = pen->at[k];
    for (size_t i = 0; i < d->items.count; i++) {
      const struct diagram_item *it = &d->items.at[i];
      int64_t x = d->lr ? it->y : it->x, y = d->lr ? it->x : it->y;
      if (most(a.x, b.x) > x &&
          (a.x < b.x ? a.x : b.x) < x + item_across(d, it) &&
          most(a.y, b.y) > y && (a.y < b.y ? a.y : b.y) < y + item_along(d, it))
        return true;
    }
  }
  return false;
}

static struct route_box route_box_of(const struct diagram *d, size_t item,
                                     bool leaves) {
  const struct diagram_item *it = &d->items.at[item];
  return (struct route_box){.x = it->x,
                            .y = it->y,
                            .width = it->width,
                            .height = it->height,
                            .stack = it->opens_repeat ? 2 * STACK : 0,
                            .closed = (d->lr ? 0 : 2) + (leaves == it->flip)};
}

/* The way of a skip around everything; without points: there is none. */
static struct diagram_pen way_around(struct sheet *s, struct router *router,
                                     const struct diagram_skip *skip) {
  struct diagram *d = diagram_at(s);
  struct diagram_pen pen = {.item = skip->from};
  size_t room = sizeof pen.at / sizeof *pen.at;
  struct route_box from = route_box_of(d, skip->from, true);
  struct route_box to = route_box_of(d, skip->to, false);
  struct scene_item frame = {0};
  if (skip_is_framed(skip))
    frame = frame_box(d, skip->frame);
  router_stay(router, skip_is_framed(skip) ? &frame : NULL);
  pen.count = router_lead(router, &from, &to, skip->from, pen.at, room);
  return pen;
}

static void draw_way(struct sheet *s, const struct diagram_skip *skip,
                     struct diagram_pen *pen) {
  struct diagram *d = diagram_at(s);
  for (size_t i = 0; i < pen->count; i++) {
    int64_t x = pen->at[i].x, y = pen->at[i].y;
    if (d->lr)
      pen->at[i] = (struct point){y, x};
    s->across = most(s->across, (d->lr ? y : x) + 2 * POINT);
    s->length = most(s->length, (d->lr ? x : y) + 2 * POINT - s->top);
  }
  d->links.at[skip->link].drawn = true;
  pen_draw(d, pen, true);
}

enum { MOST_ROUTED = 100 }; /* skips; more make no picture clear */

/* In a frame, a lane is the clearest way where no box is between. */
static bool is_routed(struct sheet *s, const struct diagram_skip *skip,
                      int *used) {
  if (s->l->skips.count > MOST_ROUTED)
    return false;
  if (!skip_is_framed(skip) || skip->in_grid)
    return true;
  struct diagram_pen pen = way_beside(s, skip, used);
  return crosses(diagram_at(s), &pen);
}

/* Leads skips in an order on a grid of `step`: their pens, by skip. Returns how
 * many have no way; `*failed` is the place of the first. */
static size_t lead_in_order(struct sheet *s, const size_t *order, size_t count,
                            int64_t step, struct diagram_pen *pens,
                            size_t *failed) {
  struct diagram_paper *l = s->l;
  size_t failures = 0;
  struct point low = {NARROW_EDGE, NARROW_EDGE + s->title};
  struct point high = {s->across + gutter_of(l),
                       s->top + s->length + l->corridors * LANE};
  if (l->d->lr)
    high = (struct point){high.y, high.x};
  struct router *router = router_new(l->d->scene, low, high, step);
  for (size_t i = 0; i < count; i++) {
    struct diagram_pen *pen = &pens[order[i]];
    *pen = way_around(s, router, &l->skips.at[order[i]]);
    if (pen->count == 0 && failures++ == 0)
      *failed = i;
  }
  return failures;
}

/* Leads skips around boxes once the others are drawn. One for which nothing is
 * left becomes the first; then the grid is finer; then it passes beside. */
static void lead_skips(struct sheet *s, size_t *order, size_t count,
                       int *used) {
  enum { TRIES = 6, COARSE = 2 };
  struct diagram_paper *l = s->l;
  struct diagram_pen *best = NULL;
  size_t least = SIZE_MAX, at = 0;
  for (int i = 0; i < TRIES && least > 0; i++) {
    int64_t step = (i < COARSE ? 5 : 3) * POINT;
    struct diagram_pen *pens =
        arena_alloc(l->d->arena, l->skips.count, sizeof *pens);
    size_t failed = order[at];
    memmove(order + 1, order, at * sizeof *order);
    *order = failed;
    size_t failures = lead_in_order(s, order, count, step, pens, &at);
    if (failures < least) {
      least = failures;
      best = pens;
    }
  }
  for (size_t i = 0; i < count; i++) {
    const struct diagram_skip *skip = &l->skips.at[order[i]];
    if (best[order[i]].count)
      draw_way(s, skip, &best[order[i]]);
    else
      pass_beside(s, skip, used);
  }
}

static void draw_skips(struct sheet *s) {
  struct diagram_paper *l = s->l;
  int *used = arena_alloc(l->d->arena, l->columns.count, sizeof *used);
  size_t *led = arena_alloc(l->d->arena, l->skips.count + 1, sizeof *led);
  size_t count = 0;
  for (size_t i = 0; i < l->skips.count; i++) {
    const struct diagram_skip *skip = &l->skips.at[i];
    struct diagram_column *a = &l->columns.at[column_of(l, skip->from)];
    struct diagram_column *b = &l->columns.at[column_of(l, skip->to)];
    if (a->page != b->page || a->page != s->page)
      note_skip(s, skip, a, b);
    else if (is_routed(s, skip, used))
      led[count++] = i;
    else
      pass_beside(s, skip, used);
  }
  if (count)
    lead_skips(s, led, count, used);
}

/* Sets the size of a scene on a page of a given size, and notes it if the page
 * has no room. */
static void print_scene(struct diagram_paper *l, struct scene *scene) {
  const struct compiled *c = l->d->c;
  int64_t scale = paper_scale(l, scene->width, scene->height);
  if (l->raised && scene->width <= paper_width(l))
    scale = most(scale, READABLE); /* corridors add to what was measured */
  int64_t high = scene->height * scale / WHOLE;
  int64_t limit = c->options->picture_height;
  if (!paper_is_given(l))
    return;
  scene->print_width = scene->width * scale / WHOLE;
  if (scale >= READABLE && (!limit || high <= limit))
    return;
  struct text note = text_new(c->arena);
  text_put(&note, "the page is too small: the diagram is ");
  put_length(&note, high);
  text_put(&note, " pt high with letters of ");
  put_length(&note, SMALL_SIZE * scale / WHOLE);
  text_put(&note, " pt");
  *c->note = text_string(&note);
}

void page_draw(struct diagram_paper *l, size_t page, struct scene *scene) {
  struct diagram *d = l->d;
  struct sheet s = {
      .l = l,
      .page = page,
      .across = edge_of(d),
      .top = edge_of(d) + (l->columns.count > 1 ? 3 * POINT + OVER : 8 * POINT),
      .pen = {.item = NO_ITEM}};
  d->scene = scene;
  columns_number(l);
  int64_t title = title_draw(d, paper_width(l) - 2 * edge_of(d), false);
  *(d->lr ? &s.across : &s.top) += title;
  s.title = title;
  int64_t narrow = LEAST_WIDTH - columns_width(l);
  if (!d->lr && l->page_count == 1 && narrow > 0)
    s.across += narrow / 2;
  s.start = s.across;
  for (size_t i = 0; i < l->columns.count; i++)
    if (l->columns.at[i].page == page)
      place_column(&s, &l->columns.at[i]);
  s.across = s.end ? s.end : s.across;
  for (size_t i = 0; i < l->columns.count; i++) {
    if (i > 0 && l->columns.at[i].page == page &&
        l->columns.at[i - 1].page != page && l->columns.at[i - 1].end > 0)
      s.pen = (struct diagram_pen){
          .item = l->parts.at[l->columns.at[i].first - 1].part->item};
    if (l->columns.at[i].page == page)
      draw_column(&s, i);
  }
  draw_skips(&s);
  int64_t across = s.across + edge_of(d);
  int64_t along = s.top + s.length + s.used * LANE + edge_of(d);
  scene->width = d->lr ? along : across;
  scene->height = d->lr ? across : along;
  if (scene->width < LEAST_WIDTH)
    scene->width = LEAST_WIDTH;
  if (title_draw(d, scene->width - 2 * edge_of(d), false) > title)
    scene->width = paper_width(l);
  title_draw(d, scene->width - 2 * edge_of(d), true);
  int64_t legend = legend_measure(d, scene->width - 2 * edge_of(d));
  legend_draw(d, edge_of(d), scene->height, scene->width - 2 * edge_of(d));
  scene->height += legend + edge_of(d) / 2;
  print_scene(l, scene);
}
