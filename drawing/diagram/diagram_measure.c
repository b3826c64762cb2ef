/*
 * Measures and places parts in the flow's axes: `along` it, and `across`, where
 * 0 is the spine that arrows run on. So a chain never drifts.
 */
#include "drawing/diagram/diagram.h"

const struct diagram_tightness *tightness(const struct diagram *d) {
  static const struct diagram_tightness levels[LEVELS] = {
      {110, 170, 120, 90, 110, 1280, false, false, false, false, false},
      {90, 140, 70, 90, 110, 700, false, false, false, false, false},
      {80, 130, 60, 80, 110, 640, true, false, false, false, false},
      {80, 130, 60, 80, 110, 640, true, true, false, false, false},
      {72, 115, 60, 80, 110, 600, true, true, false, true, false},
      {58, 96, 50, 80, 96, 600, true, true, false, true, true},
      {72, 115, 60, 80, 110, 540, true, true, true, true, false}};
  return &levels[d->level];
}

bool is_bare(const struct diagram *d, const struct diagram_part *frame) {
  const struct diagram_unit *unit = frame->unit;
  if (unit->count > 1)
    return false;
  return (tightness(d)->few_frames && frame->nested) ||
         (unit->group > 0 && !unit->call && d->c == d->turned &&
          (size_t)unit->group >= d->plain->model->groups.count);
}

bool shape_is_beside(const struct diagram *d, bool flip) {
  return flip && !d->lr && d->level >= BESIDE_FROM;
}

/* The sheets of a stack below its box. */
static int64_t stack_of(const struct diagram_item *item) {
  return item->opens_repeat ? 2 * STACK : 0;
}

static int64_t gap_after(const struct diagram *d,
                         const struct diagram_item *item, bool flip) {
  int64_t gap = tightness(d)->wide_gap;
  if (!item->out.length || shape_is_beside(d, flip))
    gap = tightness(d)->gap;
  else if (d->lr)
    gap = text_extent(item->out, SMALL_SIZE, false) + 10 * POINT;
  return gap + stack_of(item);
}

static void measure_box(struct diagram *d, struct diagram_part *part) {
  struct diagram_item *item = &d->items.at[part->item];
  item_find_text(d, part->item);
  stubs_measure(d, part->item, true, true);
  int64_t half = item_across(d, item) / 2;
  int64_t stack = stack_of(item);
  int64_t label =
      !d->lr && item->out.length
          ? text_extent(item->out, SMALL_SIZE, false) + BESIDE + POINT
          : 0;
  if (label && shape_is_beside(d, part->flip))
    label += half + stack + stubs_extent(d, part->item, STUB_RIGHT);
  part->left = half + stubs_extent(d, part->item, STUB_LEFT);
  part->right =
      most(half + stack + stubs_extent(d, part->item, STUB_RIGHT), label);
  int64_t ahead = stub_ahead_width(d, part->item) / 2;
  part->left = most(part->left, ahead);
  part->right = most(part->right, ahead);
  int64_t over = stubs_overhang(d, part->item);
  part->after = gap_after(d, item, part->flip) + over;
  part->length = stubs_extent(d, part->item, STUB_AHEAD) + over +
                 item_along(d, item) + part->after;
}

/* True if a chain begins with a box that only a stub leads to. */
static bool starts_alone(const struct diagram *d,
                         const struct diagram_part *part) {
  while (part && part->kind != PART_BOX && !part->forks)
    part = part->first;
  return part && part->kind == PART_BOX &&
         d->items.at[part->item].link_count == 0 &&
         d->items.at[part->item].stub_count > 0;
}

/* Sides with a line, one below the other; then rows of the other sides. */
struct pile {
  size_t led;        /* sides in the first column */
  int64_t edge;      /* the end of rows */
  int64_t start;     /* start of rows, across */
  int64_t at, ahead; /* place of the next side */
  int64_t free;      /* free from here: below the row or column */
  int64_t right, length;
  bool wraps; /* there is more than one row */
};

static void pile_side(const struct diagram *d, struct pile *pile,
                      struct diagram_part *side, int64_t least, bool led) {
  int64_t gap = tightness(d)->branch_gap;
  int64_t width = gap + side->left + side->right;
  if (led) {
    pile->ahead = pile->free > least ? pile->free + BUS : least;
    pile->at = pile->start;
  } else if (pile->at > pile->start && pile->at + width > pile->edge) {
    pile->at = pile->start;
    pile->ahead = pile->free > 0 ? pile->free + BUS : 0;
    pile->wraps = true;
  }
  side->ahead = pile->ahead;
  side->shift = pile->at + gap + side->left;
  pile->at += width;
  pile->free = most(pile->free, side->ahead + side->length);
  pile->right = most(pile->right, pile->at);
  pile->length = most(pile->length, pile->free);
}

/* The first row begins with an ending chain and is below sides with a line. */
static void pile_sides(const struct diagram *d,
                       const struct diagram_part *chain, struct pile *pile) {
  int64_t at = 0;
  size_t number = 0;
  bool row = chain->ends && pile->led == 0;
  pile->at = pile->right = pile->start = chain->right;
  pile->length = chain->length;
  pile->free = pile->ahead = 0;
  pile->wraps = false;
  if (row) {
    pile->start = -chain->left - tightness(d)->branch_gap;
    pile->free = chain->length;
  }
  for (struct diagram_part *p = chain->first; p; p = p->next) {
    at += p->length;
    for (struct diagram_part *side = p->side; side; side = side->next) {
      bool led = number++ < pile->led;
      pile_side(d, pile, side, starts_alone(d, side) ? 0 : at, led);
      if (number == pile->led) {
        pile->at = pile->start;
        pile->ahead = pile->free + BUS;
      }
    }
  }
}

enum {
  LONG = PAGE_WIDTH * SMALL_SIZE / LEAST_TEXT - 100 * POINT /* a page in
                                                             * landscape */
};

/* The area of a pile; one longer than a page in landscape costs more. */
static int64_t pile_cost(const struct diagram_part *chain,
                         const struct pile *pile) {
  int64_t area = (chain->left + pile->right) / POINT * pile->length;
  return pile->length > LONG ? area / LONG * pile->length : area;
}

/*
 * Sides are right of their chain. Rows have the length with the least area, up
 * to the width of the paper.
 */
static void measure_sides(struct diagram *d, struct diagram_part *chain) {
  int64_t paper = d->c->options->picture_width * SMALL_SIZE / LEAST_TEXT;
  struct pile pile = {.edge = chain->right}, best;
  size_t number = 0;
  for (struct diagram_part *p = chain->first; p; p = p->next)
    for (struct diagram_part *side = p->side; side; side = side->next) {
      part_measure(d, side);
      number++;
      if (!starts_alone(d, side))
        pile.led = number;
    }
  if (number == 0)
    return;
  pile_sides(d, chain, &pile);
  pile.edge = pile.right;
  pile_sides(d, chain, &pile);
  best = pile;
  while (pile.wraps && (!paper || chain->left + pile.edge < paper)) {
    pile.edge += 2 * BUS;
    pile_sides(d, chain, &pile);
    if (pile_cost(chain, &pile) < pile_cost(chain, &best))
      best = pile;
  }
  pile_sides(d, chain, &best);
  chain->right = best.right;
  chain->length = best.length;
}

static void measure_chain(struct diagram *d, struct diagram_part *chain) {
  chain->left = chain->right = chain->length = 0;
  for (struct diagram_part *p = chain->first; p; p = p->next) {
    part_measure(d, p);
    if (p->side) {
      p->after += BUS;
      p->length += BUS;
    }
    chain->left = most(chain->left, p->left);
    chain->right = most(chain->right, p->right);
    chain->length += p->length;
    chain->after = p->after;
  }
  measure_sides(d, chain);
}

static void measure_frame(struct diagram *d, struct diagram_part *part) {
  struct diagram_part *chain = part->first;
  int64_t gap = tightness(d)->gap;
  if (is_bare(d, part)) {
    part_measure(d, chain);
    part->left = chain->left;
    part->right = chain->right + part->lanes * LANE;
    part->length = chain->length;
    part->after = chain->after;
    return;
  }
  if (!part->title.at)
    part->title = frame_title(d, part->unit);
  int64_t title = text_extent(part->title, SMALL_SIZE, true) + BESIDE_TITLE;
  bool band = title > BESIDE_TITLE;
  part_measure(d, chain);
  part->left = chain->left + PAD;
  part->right = chain->right + part->lanes * LANE + PAD;
  if (!d->lr && band && title > part->left)
    part->right = most(part->right, title);
  if (d->lr && band) {
    part->left += BAND - PAD / 2;
  }
  if (part->unit->count > 1)
    part->right += 2 * STACK;
  part->after = gap + (part->unit->count > 1 ? 2 * STACK : 0);
  int64_t ahead = d->lr || part->flip || !band ? PAD + 30 : BAND + 40;
  int64_t after = !d->lr && part->flip && band ? BAND : PAD;
  int64_t inner = chain->length;
  if (chain->after == gap && !chain->first->side)
    inner -= gap - after;
  else if (!d->lr && part->flip && band)
    inner += BAND - PAD;
  part->length = ahead + inner + part->after;
  if (d->lr)
    part->length = most(part->length, title + PAD + part->after);
}

/* An empty branch is a line. */
static bool is_empty(const struct diagram_part *branch) {
  return branch->kind == PART_CHAIN && !branch->first;
}

static void measure_branches(struct diagram *d, struct diagram_part *split,
                             int64_t *longest, size_t *real) {
  size_t index = 0;
  int64_t items = -1;
  split->main = SIZE_MAX;
  for (struct diagram_part *b = split->first; b; b = b->next, index++) {
    part_measure(d, b);
    if (is_empty(b)) {
      b->left = b->right = LANE / 2;
      b->length = tightness(d)->gap;
      if (split->forks || items >= 0)
        continue;
      items = 0;
      split->main = index;
      continue;
    }
    ++*real;
    *longest = most(*longest, b->length);
    if (split->forks && b->length > items) {
      items = b->length;
      split->main = index;
    }
  }
}

/* Places branches side by side in source order, then moves the spine to 0. */
static void spread_branches(const struct diagram *d, struct diagram_part *split,
                            bool centred) {
  int64_t gap = tightness(d)->branch_gap;
  int64_t at = 0, first = 0, last = 0, spine = 0;
  size_t index = 0;
  for (struct diagram_part *b = split->first; b; b = b->next, index++) {
    b->shift = at + b->left;
    at = b->shift + b->right + gap;
    first = index ? first : b->shift;
    last = b->shift;
    if (index == split->main)
      spine = b->shift;
  }
  if (centred)
    spine = first + (last - first) / 2;
  split->left = spine;
  split->right = at - gap - spine;
  for (struct diagram_part *b = split->first; b; b = b->next)
    b->shift -= spine;
}

static void measure_split(struct diagram *d, struct diagram_part *split) {
  struct diagram_item *join = &d->items.at[split->item];
  int64_t longest = tightness(d)->gap, span_left, span_right;
  size_t real = 0;
  measure_branches(d, split, &longest, &real);
  item_find_text(d, split->item);
  if (join->stub_count && (split->main == SIZE_MAX || split->first->next->next))
    split->bar = true; /* leaves its sides free */
  spread_branches(d, split,
                  split->main == SIZE_MAX || (split->bar && real > 1));
  int64_t half = item_across(d, join) / 2;
  split->after = gap_after(d, join, split->flip);
  if (split->bar && !d->lr) { /* as wide as the branches that end on it */
    span_left = split->first->shift - 8 * POINT;
    struct diagram_part *last = split->first;
    while (last->next)
      last = last->next;
    span_right = last->shift + 8 * POINT;
    half = most(half, most(-span_left, span_right));
    join->width = 2 * half;
  } else if (split->bar) {
    struct diagram_part *last = split->first;
    while (last->next)
      last = last->next;
    half = most(half, most(-split->first->shift, last->shift) + 5 * POINT);
    join->height = 2 * half;
  }
  bool left = split->bar, right = left;
  for (const struct diagram_part *b = split->first; b && !split->bar;
       b = b->next) {
    left = left || b->shift > 0;
    right = right || b->shift < 0;
  }
  stubs_measure(d, split->item, left, right);
  split->left =
      most(split->left, half + stubs_extent(d, split->item, STUB_LEFT));
  split->right =
      most(split->right,
           half + stack_of(join) + stubs_extent(d, split->item, STUB_RIGHT));
  if (!d->lr && join->out.length) {
    int64_t label = text_extent(join->out, SMALL_SIZE, false) + BESIDE + POINT;
    if (shape_is_beside(d, split->flip))
      label += half + stubs_extent(d, split->item, STUB_RIGHT);
    split->right = most(split->right, label);
  }
  int64_t over = stubs_overhang(d, split->item);
  split->after += over;
  split->length = BUS + longest + over + item_along(d, join) + split->after;
}

static void measure_grid(struct diagram *d, struct diagram_part *part) {
  struct diagram_grid *grid = part->grid;
  size_t columns = (size_t)grid->columns, rows = (size_t)grid->rows;
  int64_t *left = arena_alloc(d->arena, columns, sizeof *left);
  int64_t *right = arena_alloc(d->arena, columns, sizeof *right);
  int64_t *length = arena_alloc(d->arena, rows, sizeof *length);
  for (struct diagram_part *c = part->first; c; c = c->next)
    part_measure(d, c);
  grid_level(d, part);
  for (struct diagram_part *c = part->first; c; c = c->next) {
    left[c->column] = most(left[c->column], c->left);
    right[c->column] = most(right[c->column], c->right);
    length[c->row] = most(length[c->row], c->length);
  }
  int64_t at = -left[0];
  for (size_t i = 0; i < columns; i++) {
    if (i > 0)
      at += tightness(d)->branch_gap;
    at += grid->beside[i] * LANE;
    grid->across[i] = at + left[i];
    at = grid->across[i] + right[i];
  }
  part->left = left[0];
  part->right = at + grid->beside[columns] * LANE;
  grid->along[0] = 0;
  for (size_t i = 0; i < rows; i++) {
    grid->along[i] += grid->above[i] * LANE;
    grid->along[i + 1] = grid->along[i] + length[i];
  }
  part->length = grid->along[rows];
  part->after = tightness(d)->gap;
}

void part_measure(struct diagram *d, struct diagram_part *part) {
  switch (part->kind) {
  case PART_BOX: measure_box(d, part); break;
  case PART_CHAIN: measure_chain(d, part); break;
  case PART_SPLIT: measure_split(d, part); break;
  case PART_FRAME: measure_frame(d, part); break;
  case PART_GRID: measure_grid(d, part); break;
  }
}

void part_flip(struct diagram_part *part) {
  part->flip = true;
  for (struct diagram_part *p = part->first; p; p = p->next)
    part_flip(p);
  for (struct diagram_part *p = part->side; p; p = p->next)
    part_flip(p);
}

/* Placing */

/* The smaller end of something at that offset from the entry of a part. */
static int64_t end_at(const struct diagram_part *part, int64_t offset,
                      int64_t size) {
  return part->flip ? part->along + part->length - offset - size
                    : part->along + offset;
}

static void place_item(struct diagram *d, const struct diagram_part *part,
                       size_t index, int64_t offset) {
  struct diagram_item *item = &d->items.at[index];
  int64_t along = end_at(part, offset, item_along(d, item));
  item->flip = part->flip;
  int64_t across = part->across - item_across(d, item) / 2;
  item->x = d->lr ? along : across;
  item->y = d->lr ? across : along;
}

static void place_sides(struct diagram *d, struct diagram_part *chain) {
  for (struct diagram_part *p = chain->first; p; p = p->next)
    for (struct diagram_part *side = p->side; side; side = side->next)
      part_place(d, side, chain->across + side->shift,
                 end_at(chain, side->ahead, side->length));
}

static void place_chain(struct diagram *d, struct diagram_part *chain) {
  int64_t offset = 0;
  for (struct diagram_part *p = chain->first; p; p = p->next) {
    part_place(d, p, chain->across, end_at(chain, offset, p->length));
    offset += p->length;
  }
  place_sides(d, chain);
}

static void place_split(struct diagram *d, struct diagram_part *split) {
  const struct diagram_item *join = &d->items.at[split->item];
  for (struct diagram_part *b = split->first; b; b = b->next)
    part_place(d, b, split->across + b->shift, end_at(split, BUS, b->length));
  place_item(d, split, split->item,
             split->length - split->after - item_along(d, join));
}

static void place_grid(struct diagram *d, struct diagram_part *part) {
  const struct diagram_grid *grid = part->grid;
  for (struct diagram_part *c = part->first; c; c = c->next) {
    part_place(d, c, part->across + grid->across[c->column],
               part->along + grid->along[c->row] + c->ahead);
  }
}

void part_place(struct diagram *d, struct diagram_part *part, int64_t across,
                int64_t along) {
  part->across = across;
  part->along = along;
  if (part->kind == PART_BOX) {
    const struct diagram_item *item = &d->items.at[part->item];
    place_item(d, part, part->item,
               stubs_extent(d, part->item, STUB_AHEAD) +
                   stubs_overhang(d, part->item) +
                   (part->flip ? stack_of(item) : 0)); /* entered below it */
  } else if (part->kind == PART_CHAIN) {
    place_chain(d, part);
  } else if (part->kind == PART_SPLIT) {
    place_split(d, part);
  } else if (part->kind == PART_GRID) {
    place_grid(d, part);
  } else {
    bool band = part->title.length > 0;
    int64_t ahead = is_bare(d, part)               ? 0
                    : d->lr || part->flip || !band ? PAD + 30
                                                   : BAND + 40;
    part_place(d, part->first, across,
               end_at(part, ahead, part->first->length));
  }
}
