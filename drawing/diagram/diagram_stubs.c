/*
 * Stubs: a link that would be long, or one of a tensor with many readers, is a
 * short arrow with the tensor's name.
 */
#include "drawing/diagram/diagram.h"

#include "drawing/scene/palette.h"

enum {
  ARROW = 13 * POINT, /* length of a stub, with its head */
  HEIGHT = 9 * POINT, /* height of a name */
  PILL = 12 * POINT,  /* height of a framed name */
  PILL_SIDE = 2 * POINT,
  APART = 15, /* between a source and the neighbours of its reader */
};

/* Links to cut */

/* Each step applies only if the one before cuts nothing more. */
enum cut_step { CUT_MANY, CUT_BETWEEN_NETS, CUT_FAR, CUT_NEAR };

struct cutter {
  struct diagram *d;
  size_t *lines; /* by item: undrawn links that leave it */
  size_t *readers;
  size_t *nets; /* by item: the separate chain that has it */
  bool *framed; /* by item: it is in a frame */
  enum cut_step step;
};

static void number_nets(struct cutter *c, const struct diagram_part *part,
                        size_t net, bool framed) {
  bool inside = framed || part->kind == PART_FRAME;
  for (const struct diagram_part *p = part->first; p; p = p->next)
    number_nets(c, p, net, inside);
  for (const struct diagram_part *p = part->side; p; p = p->next)
    number_nets(c, p, net, framed);
  if (part->kind == PART_BOX || part->kind == PART_SPLIT) {
    c->nets[part->item] = net;
    c->framed[part->item] = framed;
  }
}

/* The name of a tensor that only the first iteration reads is of no use. */
static bool is_kept(const struct cutter *c, const struct diagram_item *item,
                    const struct diagram_link *link) {
  return link->carried && item->stride > 1 && item_turns(c->d, item) < 2;
}

/* Maximum boxes that a line passes; calls that are boxes name their inputs. */
static size_t longest_line(const struct cutter *c, size_t index,
                           const struct diagram_link *link) {
  const struct diagram_item *item = &c->d->items.at[index];
  bool framed = c->framed[index] || c->framed[link->from];
  bool call = call_of_group(c->d, item_row(c->d, index)->group) != NULL;
  if (framed && c->step == CUT_NEAR)
    return 0;
  if (!item_has_name(c->d, link->from))
    return LONG_LINE;
  return call || (c->step == CUT_NEAR && item->stub_count > 0)
             ? 1
             : LONG_NAMED_LINE;
}

/*
 * True for a tensor that all iterations read, for a line to a call that is a
 * box, and, where many lines are cut, for a line that starts a chain.
 */
static bool is_cut(const struct cutter *c, size_t index,
                   const struct diagram_link *link) {
  const struct diagram_item *item = &c->d->items.at[index];
  size_t lines = c->lines[link->from], readers = c->readers[link->from];
  bool many = lines >= MANY_LINES || (lines > 0 && readers > MANY_LINES);
  bool far =
      c->step >= CUT_FAR && index - link->from > longest_line(c, index, link);
  bool call = call_of_group(c->d, item_row(c->d, index)->group) != NULL;
  if (is_kept(c, item, link))
    return false;
  if (link->constant)
    return true;
  if (link->drawn)
    return (many && item->link_count == 1 && index != link->from + 1) ||
           (call && far && index != link->from + 1 && item->link_count > 1 &&
            item_has_name(c->d, link->from));
  return many || far ||
         (c->step == CUT_BETWEEN_NETS && c->nets[index] != c->nets[link->from]);
}

/* True in an overview, in which no link is cut, and from a block's entry. */
static bool is_whole(const struct diagram *d, size_t item,
                     const struct diagram_link *link) {
  return d->effort == EFFORT_BLOCKS &&
         (d->items.at[item].row < d->sections.at[0].end ||
          d->items.at[link->from].is_entry);
}

static bool cut_in_step(const struct cutter *c) {
  struct diagram *d = c->d;
  bool found = false;
  for (size_t i = 0; i < d->items.count; i++)
    for (size_t k = 0; k < d->items.at[i].link_count; k++) {
      const struct diagram_link *link =
          &d->links.at[d->items.at[i].first_link + k];
      bool cut = !is_whole(d, i, link) && is_cut(c, i, link);
      d->cut[link->number] |= cut;
      found |= cut;
    }
  return found;
}

static void count_line(struct cutter *c, size_t from, bool cut) {
  if (from == NO_ITEM)
    return;
  c->readers[from]++;
  c->lines[from] += cut;
}

bool diagram_cut_links(struct diagram *d) {
  size_t items = d->items.count + 1, net = 0;
  struct cutter c = {d,
                     arena_alloc(d->arena, items, sizeof *c.lines),
                     arena_alloc(d->arena, items, sizeof *c.readers),
                     arena_alloc(d->arena, items, sizeof *c.nets),
                     arena_alloc(d->arena, items, sizeof *c.framed),
                     CUT_MANY};
  if (!d->cut)
    d->cut = arena_alloc(d->arena, d->link_count + 1, sizeof *d->cut);
  for (const struct diagram_part *part = d->parts; part; part = part->next)
    number_nets(&c, part, net++, false);
  for (size_t i = 0; i < d->links.count; i++)
    count_line(&c, d->links.at[i].from, !d->links.at[i].drawn);
  for (size_t i = 0; i < d->stubs.count; i++)
    count_line(&c, d->stubs.at[i].from, true);
  while (!cut_in_step(&c))
    if (c.step++ == CUT_NEAR)
      return false;
  return true;
}

/* Sizes */

static const struct diagram_stub *
stub_at(const struct diagram *d, const struct diagram_item *item, size_t k) {
  return &d->stubs.at[item->first_stub + k];
}

static void count_sides(const struct diagram *d,
                        const struct diagram_item *item, size_t counts[3]) {
  for (size_t k = 0; k < item->stub_count; k++)
    counts[stub_at(d, item, k)->side]++;
}

/* True for an input of a block that is drawn once, whose name has a frame. */
static bool is_pill(const struct diagram_stub *stub) {
  return stub->from == NO_ITEM;
}

/* The size of a name, or of the source in its place. */
static struct point size_of_end(const struct diagram *d,
                                const struct diagram_stub *stub) {
  size_t source = stub_source(d, stub);
  int64_t width = text_extent(stub->name, SMALL_SIZE, false) + 4 * POINT;
  if (is_pill(stub))
    width += 2 * PILL_SIDE;
  return source == NO_ITEM
             ? (struct point){width, is_pill(stub) ? PILL : HEIGHT}
             : (struct point){d->items.at[source].width,
                              d->items.at[source].height};
}

/* The room of several stubs at one side, which share it equally. */
static int64_t room_of_stubs(const struct diagram *d,
                             const struct diagram_item *item,
                             enum stub_side side) {
  int64_t count = 0, each = d->lr ? 30 * POINT : HEIGHT + 2 * POINT;
  bool source = false, pill = false;
  for (size_t k = 0; k < item->stub_count; k++) {
    const struct diagram_stub *stub = stub_at(d, item, k);
    struct point end = size_of_end(d, stub);
    bool here = stub->side == side && stub_source(d, stub) != NO_ITEM;
    count += stub->side == side;
    source = source || here;
    pill = pill || (stub->side == side && is_pill(stub));
    if (here)
      each = most(each, (d->lr ? end.x : end.y) + 3 * POINT);
  }
  if (pill && count > 1 && !d->lr)
    each = most(each, (PILL + POINT) * (count + 1) / count);
  return count > 1 || (source && item->width != SIGN) ? count * each : 0;
}

/* A box that nothing leads to starts with a stub; others are at free sides. */
void stubs_measure(struct diagram *d, size_t index, bool left, bool right) {
  struct diagram_item *item = &d->items.at[index];
  size_t counts[3] = {0};
  for (size_t k = 0; k < item->stub_count; k++) {
    size_t source = stub_source(d, stub_at(d, item, k));
    if (source != NO_ITEM)
      source_measure(d, source);
  }
  for (size_t k = 0; k < item->link_count; k++)
    right = right && d->links.at[item->first_link + k].drawn;
  for (size_t k = 0; k < item->stub_count; k++) {
    struct diagram_stub *stub = &d->stubs.at[item->first_stub + k];
    stub->side = k == 0 && item->link_count == 0 ? STUB_AHEAD
                 : right && !(left && counts[STUB_RIGHT] > counts[STUB_LEFT])
                     ? STUB_RIGHT
                     : STUB_LEFT;
    counts[stub->side]++;
  }
  int64_t left_room = room_of_stubs(d, item, STUB_LEFT);
  int64_t least = most(left_room, room_of_stubs(d, item, STUB_RIGHT));
  if (d->lr && item->width < least)
    item->width = least;
  if (!d->lr && item->height < least)
    item->height = least;
}

int64_t stubs_extent(const struct diagram *d, size_t index,
                     enum stub_side side) {
  const struct diagram_item *item = &d->items.at[index];
  int64_t extent = 0;
  for (size_t k = 0; k < item->stub_count; k++) {
    const struct diagram_stub *stub = stub_at(d, item, k);
    struct point end = size_of_end(d, stub);
    bool beside = d->lr == (side == STUB_AHEAD);
    if (stub->side == side)
      extent = most(extent, ARROW + (beside ? end.x : end.y));
  }
  return extent;
}

int64_t stub_ahead_width(const struct diagram *d, size_t index) {
  const struct diagram_item *item = &d->items.at[index];
  for (size_t k = 0; k < item->stub_count; k++) {
    const struct diagram_stub *stub = stub_at(d, item, k);
    struct point end = size_of_end(d, stub);
    if (stub->side == STUB_AHEAD && stub_source(d, stub) != NO_ITEM)
      return d->lr ? end.y : end.x;
  }
  return 0;
}

int64_t stubs_overhang(const struct diagram *d, size_t index) {
  const struct diagram_item *item = &d->items.at[index];
  int64_t most_over = 0;
  for (size_t k = 0; k < item->stub_count; k++) {
    const struct diagram_stub *stub = stub_at(d, item, k);
    struct point end = size_of_end(d, stub);
    if (stub->side == STUB_AHEAD || stub_source(d, stub) == NO_ITEM)
      continue;
    int64_t over = (d->lr ? end.x : end.y) - item_along(d, item);
    /* The gap to the neighbours is already counted. */
    most_over = most(most_over, over / 2 - tightness(d)->gap + APART);
  }
  return most_over;
}

/* Drawing of placed boxes */

struct point stub_corner(struct point end, int dx, int dy, struct point size) {
  return (struct point){end.x + (dx - 1) * size.x / 2,
                        end.y + (dy - 1) * size.y / 2};
}

/* The frame of a name that a block drawn once gets from outside. */
static void draw_pill(struct diagram *d, struct point size, struct point end,
                      int dx, int dy) {
  struct point at = stub_corner(end, dx, dy, size);
  scene_add(d->scene, (struct scene_item){.kind = SCENE_BOX,
                                          .x = at.x,
                                          .y = at.y,
                                          .width = size.x,
                                          .height = size.y,
                                          .radius = size.y / 2,
                                          .fill = NO_COLOUR,
                                          .stroke = PALETTE_FRAMES,
                                          .stroke_width = 60});
}

static void draw_name(struct diagram *d, const struct diagram_stub *stub,
                      struct point end, int dx, int dy) {
  if (is_pill(stub)) {
    draw_pill(d, size_of_end(d, stub), end, dx, dy);
    end.x += dx * PILL_SIDE;
    end.y += dy * PILL / 2;
  }
  struct scene_item text = {.kind = SCENE_TEXT,
                            .x = end.x + dx * 2 * POINT,
                            .y = end.y + 28,
                            .size = SMALL_SIZE,
                            .anchor = dx > 0   ? ANCHOR_START
                                      : dx < 0 ? ANCHOR_END
                                               : ANCHOR_MIDDLE,
                            .fill = PALETTE_WORDS,
                            .text = stub->name};
  if (dy && !is_pill(stub))
    text.y = dy < 0 ? end.y - 2 * POINT : end.y + 8 * POINT;
  scene_add(d->scene, text);
}

static void draw_stub(struct diagram *d, const struct diagram_item *item,
                      const struct diagram_stub *stub, size_t number,
                      size_t count, bool flip) {
  int64_t stack = item->opens_repeat ? 2 * STACK : 0;
  struct point middle = {item->x + item->width / 2, item->y + item->height / 2};
  struct point at = middle;
  bool ahead = stub->side == STUB_AHEAD;
  int sign = ahead ? (flip ? 1 : -1) : stub->side == STUB_RIGHT ? 1 : -1;
  bool across = d->lr == ahead; /* the arrow runs along x */
  int64_t part = (int64_t)(number + 1), parts = (int64_t)(count + 1);
  if (across) {
    at.x = sign > 0 ? item->x + item->width + stack : item->x;
    at.y = ahead ? middle.y : item->y + item->height * part / parts;
  } else {
    at.y = sign > 0 ? item->y + item->height + stack : item->y;
    at.x = ahead ? middle.x : item->x + item->width * part / parts;
  }
  struct point *points = arena_alloc(d->arena, 2, sizeof *points);
  points[0] = points[1] = at;
  if (across)
    points[0].x += sign * (ARROW - 2 * POINT);
  else
    points[0].y += sign * (ARROW - 2 * POINT);
  scene_add(d->scene, (struct scene_item){.kind = SCENE_LINE,
                                          .points = points,
                                          .point_count = 2,
                                          .stroke = PALETTE_ARROWS,
                                          .stroke_width = 100,
                                          .arrow = true});
  size_t source = stub_source(d, stub);
  int dx = across ? sign : 0, dy = across ? 0 : sign;
  if (source == NO_ITEM)
    draw_name(d, stub, points[0], dx, dy);
  else
    source_draw(d, source, points[0], dx, dy);
}

void stubs_draw(struct diagram *d, size_t index, bool flip) {
  const struct diagram_item *item = &d->items.at[index];
  size_t number[3] = {0}, counts[3] = {0};
  count_sides(d, item, counts);
  for (size_t k = 0; k < item->stub_count; k++) {
    const struct diagram_stub *stub = stub_at(d, item, k);
    draw_stub(d, item, stub, number[stub->side]++, counts[stub->side], flip);
  }
}
