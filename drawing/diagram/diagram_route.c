/*
 * Leads lines around what a picture has: on a grid, the path with the fewest
 * steps, bends and crossings that touches no box and lies on no other line
 * (A*, Hart, Nilsson and Raphael 1968).
 */
#include "drawing/diagram/diagram_page.h"
#include "drawing/scene/palette.h"

enum {
  MOST_CELLS = 1 << 18,  /* of a larger picture the grid is coarser */
  MOST_STATES = 1 << 21, /* then lines pass beside columns */
  HEAD = 9 * POINT,      /* of an arrow, with what leads to it */
  CORNER = 5 * POINT,    /* of a box, where no line ends */
};

/* The price of a step, and what is added. */
enum {
  PRICE_STEP = 2,
  PRICE_BEND = 12,
  PRICE_CROSS = 16,
  PRICE_BORDER = 6, /* of a frame */
  PRICE_TEXT = 80,
  PRICE_SHARED = -1, /* on a line of the same tensor */
};

enum { FREE = 0, OTHER = -1, BORDER = -2 }; /* else the item of a line + 1 */

struct route_cell {
  bool box, text;
  int32_t line[2]; /* across, and along x: FREE or what is there */
};

struct route_step {
  int64_t price, from; /* so far; state before */
  int run;             /* the line that it is of */
  bool done;
};

struct route_entry {
  int64_t total;
  int64_t state;
};

/* Where lines reach a box. */
struct route_side {
  int direction;
  int64_t fixed;       /* the cell across the side */
  int64_t first, last; /* cells along the side */
  int64_t end;         /* of the box: where the line ends */
};

struct router {
  struct arena *arena;
  int64_t step, columns, rows;
  int64_t clear;       /* between a line and a box */
  struct point origin; /* of the grid */
  struct route_cell *cells;
  struct route_step *steps; /* by state: cell and direction */
  VEC(struct route_entry) heap;
  struct point low, high; /* the box that is looked for */
  struct route_side sides[4];
  int closed;               /* of its sides */
  struct point least, last; /* the cells in which a line stays */
  int run;                  /* number of the line */
  int64_t left;             /* states to look at, for all lines together */
  int32_t owner;
};

enum { ALONG_X, ALONG_Y, DIRECTIONS };

/* Marks */

static int64_t clamp(int64_t at, int64_t count) {
  return at < 0 ? 0 : at >= count ? count - 1 : at;
}

static int64_t column_at(const struct router *r, int64_t x) {
  return clamp((x - r->origin.x + r->step / 2) / r->step, r->columns);
}

static int64_t line_at(const struct router *r, int64_t y) {
  return clamp((y - r->origin.y + r->step / 2) / r->step, r->rows);
}

static struct point point_at(const struct router *r, int64_t cell) {
  return (struct point){cell % r->columns * r->step + r->origin.x,
                        cell / r->columns * r->step + r->origin.y};
}

static struct route_cell *cell_at(const struct router *r, int64_t x,
                                  int64_t y) {
  return &r->cells[y * r->columns + x];
}

static void mark_box(struct router *r, const struct scene_item *box, int64_t by,
                     bool text) {
  for (int64_t y = line_at(r, box->y - by);
       y <= line_at(r, box->y + box->height + by); y++)
    for (int64_t x = column_at(r, box->x - by);
         x <= column_at(r, box->x + box->width + by); x++) {
      struct route_cell *cell = cell_at(r, x, y);
      cell->box |= !text;
      cell->text |= text;
    }
}

static void mark_line(struct router *r, struct point a, struct point b,
                      int32_t owner) {
  int64_t x0 = column_at(r, a.x < b.x ? a.x : b.x);
  int64_t x1 = column_at(r, most(a.x, b.x));
  int64_t y0 = line_at(r, a.y < b.y ? a.y : b.y);
  int64_t y1 = line_at(r, most(a.y, b.y));
  for (int64_t y = y0; y <= y1; y++)
    for (int64_t x = x0; x <= x1; x++)
      cell_at(r, x, y)->line[x1 > x0 ? ALONG_X : ALONG_Y] = owner;
}

static void mark_frame(struct router *r, const struct scene_item *box) {
  struct point a = {box->x, box->y};
  struct point b = {box->x + box->width, box->y + box->height};
  mark_line(r, a, (struct point){b.x, a.y}, BORDER);
  mark_line(r, (struct point){a.x, b.y}, b, BORDER);
  mark_line(r, a, (struct point){a.x, b.y}, BORDER);
  mark_line(r, (struct point){b.x, a.y}, b, BORDER);
}

static void mark_text(struct router *r, const struct scene_item *text) {
  int64_t width = text_extent(text->text, text->size, text->bold);
  struct scene_item box = {.x = text->x,
                           .y = text->y - text->size * 3 / 4,
                           .width = width,
                           .height = text->size};
  box.x -= text->anchor == ANCHOR_MIDDLE ? width / 2
           : text->anchor == ANCHOR_END  ? width
                                         : 0;
  mark_box(r, &box, 0, true);
}

static void mark_item(struct router *r, const struct scene_item *item) {
  bool frame = item->stroke == PALETTE_FRAMES;
  if (item->kind == SCENE_TEXT)
    mark_text(r, item);
  else if (item->kind == SCENE_BOX && frame)
    mark_frame(r, item);
  else if (item->kind == SCENE_BOX)
    mark_box(r, item, r->clear, false);
  else if (item->kind == SCENE_LINE)
    for (size_t i = 1; i < item->point_count; i++)
      mark_line(r, item->points[i - 1], item->points[i], OTHER);
}

struct router *router_new(const struct scene *scene, struct point low,
                          struct point high, int64_t step) {
  struct router *r = ARENA_NEW(scene->arena, struct router);
  r->arena = scene->arena;
  r->origin = low;
  r->left = MOST_STATES;
  r->clear = step / 2;
  for (r->step = step;; r->step *= 2) {
    r->columns = (high.x - low.x) / r->step + 1;
    r->rows = (high.y - low.y) / r->step + 1;
    if (r->columns * r->rows <= MOST_CELLS)
      break;
  }
  size_t cells = (size_t)(r->columns * r->rows);
  r->cells = arena_alloc(r->arena, cells, sizeof *r->cells);
  r->steps = arena_alloc(r->arena, cells * DIRECTIONS, sizeof *r->steps);
  for (size_t i = 0; i < scene->items.count; i++)
    mark_item(r, &scene->items.at[i]);
  return r;
}

/* The heap of states, the cheapest first */

static void heap_push(struct router *r, struct route_entry entry) {
  size_t at = r->heap.count;
  *VEC_PUSH(r->arena, &r->heap) = entry;
  for (; at > 0 && r->heap.at[(at - 1) / 2].total > entry.total;
       at = (at - 1) / 2)
    r->heap.at[at] = r->heap.at[(at - 1) / 2];
  r->heap.at[at] = entry;
}

static struct route_entry heap_pop(struct router *r) {
  struct route_entry first = r->heap.at[0], last = r->heap.at[--r->heap.count];
  size_t at = 0, child;
  while ((child = 2 * at + 1) < r->heap.count) {
    if (child + 1 < r->heap.count &&
        r->heap.at[child + 1].total < r->heap.at[child].total)
      child++;
    if (r->heap.at[child].total >= last.total)
      break;
    r->heap.at[at] = r->heap.at[child];
    at = child;
  }
  r->heap.at[at] = last;
  return first;
}

/* States */

static int64_t beyond(int64_t at, int64_t low, int64_t high) {
  return at < low ? low - at : at > high ? at - high : 0;
}

/* The least price from a cell to the box. */
static int64_t price_left(const struct router *r, int64_t x, int64_t y) {
  return PRICE_STEP *
         (beyond(x, r->low.x, r->high.x) + beyond(y, r->low.y, r->high.y));
}

/* Offers a way to a state. */
static void offer(struct router *r, int64_t x, int64_t y, int direction,
                  int64_t price, int64_t from) {
  const struct route_cell *cell = cell_at(r, x, y);
  int64_t state = (y * r->columns + x) * DIRECTIONS + direction;
  struct route_step *step = &r->steps[state];
  int32_t on = cell->line[direction], over = cell->line[!direction];
  if (cell->box || (on != FREE && on != r->owner) || x < r->least.x ||
      y < r->least.y || x > r->last.x || y > r->last.y)
    return;
  price += PRICE_STEP + (cell->text ? PRICE_TEXT : 0) +
           (on == r->owner ? PRICE_SHARED : 0) +
           (over == BORDER                     ? PRICE_BORDER
            : over != FREE && over != r->owner ? PRICE_CROSS
                                               : 0);
  if (step->run == r->run && (step->done || step->price <= price))
    return;
  *step = (struct route_step){.price = price, .from = from, .run = r->run};
  heap_push(r, (struct route_entry){price + price_left(r, x, y), state});
}

static void look_around(struct router *r, int64_t state) {
  static const int sides[2] = {-1, 1};
  int64_t cell = state / DIRECTIONS;
  int64_t x = cell % r->columns, y = cell / r->columns;
  int from = (int)(state % DIRECTIONS);
  for (int direction = 0; direction < DIRECTIONS; direction++)
    for (int i = 0; i < 2; i++) {
      int64_t u = x + (direction == ALONG_X ? sides[i] : 0);
      int64_t v = y + (direction == ALONG_Y ? sides[i] : 0);
      bool bends = direction != from;
      const struct route_cell *here = cell_at(r, x, y);
      int32_t over = here->line[direction];
      if (u < 0 || v < 0 || u >= r->columns || v >= r->rows ||
          (bends && over != FREE && over != r->owner))
        continue;
      offer(r, u, v, direction, r->steps[state].price + bends * PRICE_BEND,
            state + 1);
    }
}

/* Ends: cells beside a box, each with the way to its side. */

/* The sides of a box: left, right, top and bottom. */
static struct route_side side_of(const struct router *r,
                                 const struct route_box *box, int number,
                                 int64_t clear) {
  bool x = number < 2, low = number % 2 == 0;
  int64_t at = x ? box->x : box->y, size = x ? box->width : box->height;
  int64_t other = x ? box->y : box->x, length = x ? box->height : box->width;
  int64_t end = low ? at : at + size + box->stack;
  int64_t count = x ? r->columns : r->rows;
  int64_t ahead = x ? r->origin.x : r->origin.y;
  int64_t beside = x ? r->origin.y : r->origin.x;
  int64_t cell = (end - ahead + (low ? -clear : clear + r->step - 1)) / r->step;
  int64_t corner = length > 4 * CORNER ? CORNER : length / 4;
  struct route_side side = {
      .direction = x ? ALONG_X : ALONG_Y,
      .fixed = clamp(cell, count),
      .first = (other + corner - beside + r->step - 1) / r->step,
      .last = (other + length - corner - beside) / r->step,
      .end = end};
  if (side.first > side.last) /* no line of the grid is between the corners */
    side.first = side.last = (other + length / 2 - beside) / r->step;
  return side;
}

static int64_t state_at(const struct router *r, const struct route_side *side,
                        int64_t i, int direction) {
  bool x = side->direction == ALONG_X;
  int64_t column = x ? side->fixed : i, row = x ? i : side->fixed;
  return (row * r->columns + column) * DIRECTIONS + direction;
}

/* The side of the box at which a state ends; NULL: none. The line may bend
 * there. */
static const struct route_side *side_at(const struct router *r, int64_t state) {
  int direction = (int)(state % DIRECTIONS);
  int64_t cell = state / DIRECTIONS;
  int64_t x = cell % r->columns, y = cell / r->columns;
  for (int s = 0; s < 4; s++) {
    const struct route_side *side = &r->sides[s];
    int32_t on = r->cells[cell].line[side->direction];
    bool along_x = side->direction == ALONG_X;
    int64_t at = along_x ? y : x;
    if (s != r->closed && (along_x ? x : y) == side->fixed &&
        at >= side->first && at <= side->last &&
        (direction == side->direction || on == FREE || on == r->owner))
      return side;
  }
  return NULL;
}

/* Begins at the sides of a box. The number of a side is -2 - `from`. */
static void start(struct router *r, const struct route_box *from) {
  for (int s = 0; s < 4; s++) {
    struct route_side side = side_of(r, from, s, r->clear + r->step / 2);
    for (int64_t i = side.first; s != from->closed && i <= side.last; i++) {
      int64_t cell = state_at(r, &side, i, 0) / DIRECTIONS;
      int64_t x = cell % r->columns, y = cell / r->columns;
      if (x < r->columns && y < r->rows)
        offer(r, x, y, side.direction, 0, -2 - s);
    }
  }
}

/* Follows the way back from its end: its points, the last one first. */
static size_t follow(const struct router *r, int64_t state,
                     const struct route_box *from, struct point *points,
                     size_t room) {
  struct route_side side = *side_at(r, state);
  size_t count = 0;
  int64_t next = 0;
  bool x = side.direction == ALONG_X;
  for (;; state = next - 1) {
    int64_t cell = state / DIRECTIONS;
    struct point at = point_at(r, cell);
    if (count == 0)
      points[count++] =
          (struct point){x ? side.end : at.x, x ? at.y : side.end};
    if (count == 1 && state % DIRECTIONS != side.direction)
      points[count++] = at;
    next = r->steps[state].from;
    bool bends = next > 0 && (next - 1) % DIRECTIONS != state % DIRECTIONS;
    if (bends && count + 2 < room) { /* in the cell before this one */
      points[count++] = point_at(r, (next - 1) / DIRECTIONS);
    }
    if (next > 0)
      continue;
    side = side_of(r, from, (int)(-2 - next), 0);
    x = side.direction == ALONG_X;
    points[count++] = (struct point){x ? side.end : at.x, x ? at.y : side.end};
    return count;
  }
}

void router_stay(struct router *r, const struct scene_item *in) {
  r->least = (struct point){0};
  r->last = (struct point){r->columns - 1, r->rows - 1};
  if (!in)
    return;
  r->least = (struct point){column_at(r, in->x) + 1, line_at(r, in->y) + 1};
  r->last = (struct point){column_at(r, in->x + in->width) - 1,
                           line_at(r, in->y + in->height) - 1};
}

size_t router_lead(struct router *r, const struct route_box *from,
                   const struct route_box *to, size_t owner,
                   struct point *points, size_t room) {
  r->owner = (int32_t)owner + 1;
  r->heap.count = 0;
  r->run++;
  r->low = (struct point){column_at(r, to->x), line_at(r, to->y)};
  r->high = (struct point){column_at(r, to->x + to->width),
                           line_at(r, to->y + to->height)};
  for (int s = 0; s < 4; s++)
    r->sides[s] = side_of(r, to, s, HEAD);
  r->closed = to->closed;
  start(r, from);
  while (r->heap.count && r->left-- > 0) {
    int64_t state = heap_pop(r).state;
    if (r->steps[state].done)
      continue;
    r->steps[state].done = true;
    if (!side_at(r, state)) {
      look_around(r, state);
      continue;
    }
    size_t count = follow(r, state, from, points, room);
    for (size_t i = 1; i < count; i++)
      mark_line(r, points[i - 1], points[i], r->owner);
    for (size_t i = 0; i < count / 2; i++) {
      struct point swap = points[i];
      points[i] = points[count - 1 - i];
      points[count - 1 - i] = swap;
    }
    return count;
  }
  return 0;
}
