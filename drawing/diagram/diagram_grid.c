/*
 * Grids: where maps of several sizes meet again and again, as in a pyramid, a
 * U-Net or HRNet. Maps of one size share a row, and a column runs down while
 * maps shrink, or up while they grow. Each cell is a chain; the lines between
 * cells are led around them.
 */
#include "drawing/diagram/diagram_page.h"

enum {
  LEAST_ROWS = 3,  /* of different maps */
  LEAST_LINES = 2, /* that no chain draws */
  LEAST_LEAD = 4,  /* parts before the first line */
  MOST_BEADS = 120,
  MOST_READERS = 5, /* of a tensor without a map; else they have its name */
  MOST_COLUMNS = 16,
  MOST_BESIDE = 6, /* lines beside each other between columns, or rows */
};

/* The height of a node's map; 0: it has none, as a reshaped one. */
static int64_t map_of_node(const struct model *model, const struct node *node,
                           const int64_t *maps) {
  const struct shape *out = node->out;
  if (out->rank < 3)
    return 0;
  if (node->kind->windows || node->kind->spreads || node->input_count == 0)
    return out->dim[0];
  for (int k = 0; k < node->input_count; k++) {
    int64_t from = node_input(model, node, k);
    if (maps[from] == out->dim[0] &&
        model->nodes.at[from].out->dim[1] == out->dim[1])
      return out->dim[0];
  }
  return 0;
}

/* The heights of maps, by node. */
static const int64_t *maps_of(struct diagram *d) {
  const struct model *model = d->plain->model;
  if (d->maps)
    return d->maps;
  d->maps = arena_alloc(d->arena, model->nodes.count + 1, sizeof *d->maps);
  for (size_t i = 0; i < model->nodes.count; i++)
    d->maps[i] = map_of_node(model, &model->nodes.at[i], d->maps);
  return d->maps;
}

int64_t map_of(struct diagram *d, size_t item) {
  return maps_of(d)[item_row(d, item)->end - 1];
}

bool net_has_rows(struct diagram *d) {
  const int64_t *maps = maps_of(d);
  int64_t seen[LEAST_ROWS];
  size_t count = 0;
  for (size_t i = 0; i < d->plain->model->nodes.count; i++) {
    size_t at = 0;
    while (at < count && seen[at] != maps[i])
      at++;
    if (!maps[i] || at < count)
      continue;
    seen[count++] = maps[i];
    if (count == LEAST_ROWS)
      return true;
  }
  return false;
}

/* A part of a chain, in the order of the flow. */
struct grid_bead {
  struct diagram_part *part;
  int64_t map;   /* the size of its output; 0: none */
  int64_t depth; /* beads before it on the longest way */
  int64_t row;   /* -1: not known yet */
  size_t cell;   /* once it is placed */
  bool turns;    /* a bead that reads it has another map */
  size_t *from;  /* beads that it reads */
  size_t from_count;
};

struct grid_cell {
  struct diagram_part *chain, *last; /* its last part */
  size_t tail;                       /* the bead of that part */
  int64_t row;
  size_t column;
};

struct grid_making {
  struct diagram *d;
  struct grid_bead beads[MOST_BEADS];
  size_t count;
  size_t *bead_of; /* by item: its bead, or SIZE_MAX */
  struct grid_cell cells[MOST_BEADS];
  size_t cell_count;
  int way[MOST_COLUMNS]; /* of a column: down 1, up -1, not known yet 0 */
  int64_t maps[MOST_BEADS];
  int64_t rows; /* different maps, the largest first */
  size_t lines; /* that no chain has drawn */
};

void diagram_cut_shared(struct diagram *d) {
  size_t *readers = arena_alloc(d->arena, d->items.count + 1, sizeof *readers);
  d->cut = NULL;
  diagram_find_links(d);
  bool *cut = arena_alloc(d->arena, d->link_count + 1, sizeof *cut);
  for (size_t i = 0; i < d->links.count; i++)
    readers[d->links.at[i].from]++;
  for (size_t i = 0; i < d->links.count; i++)
    cut[d->links.at[i].number] = readers[d->links.at[i].from] > MOST_READERS &&
                                 !map_of(d, d->links.at[i].from);
  d->cut = cut;
}

/* Beads */

/* True for a frame that lines enter behind its first box, or leave before its
 * last one: its boxes are placed one by one. */
static bool is_open(const struct diagram *d, const struct diagram_part *part) {
  const struct diagram_unit *unit = part->unit;
  if (part->kind != PART_FRAME || unit->count > 1 || unit->call)
    return false;
  for (size_t i = unit->first + 1; i < d->items.count; i++)
    for (size_t k = 0; k < d->items.at[i].link_count; k++) {
      size_t from = d->links.at[d->items.at[i].first_link + k].from;
      if (i < unit->end ? from < unit->first
                        : from >= unit->first && from + 1 < unit->end)
        return true;
    }
  return false;
}

static bool add_beads(struct grid_making *g, const struct diagram_part *chain) {
  for (struct diagram_part *p = chain->first; p; p = p->next) {
    bool open = is_open(g->d, p);
    if (g->count == MOST_BEADS || (open && !add_beads(g, p->first)))
      return false;
    for (const struct diagram_part *side = p->side; open && side;
         side = side->next)
      if (!add_beads(g, side))
        return false;
    if (open)
      continue;
    struct diagram_part *part = ARENA_NEW(g->d->arena, struct diagram_part);
    *part = *p;
    part->next = part->side = NULL;
    g->beads[g->count++] = (struct grid_bead){.part = part,
                                              .map = map_of(g->d, p->item),
                                              .row = -1,
                                              .cell = SIZE_MAX};
    for (const struct diagram_part *side = p->side; side; side = side->next)
      if (!add_beads(g, side))
        return false;
  }
  return true;
}

static void sort_beads(struct grid_making *g) {
  for (size_t i = 1; i < g->count; i++) {
    struct grid_bead bead = g->beads[i];
    size_t at = i;
    for (; at > 0 && g->beads[at - 1].part->item > bead.part->item; at--)
      g->beads[at] = g->beads[at - 1];
    g->beads[at] = bead;
  }
}

/* Finds what each bead reads, and counts the lines that no chain has drawn. */
static void find_reads(struct grid_making *g) {
  struct diagram *d = g->d;
  int64_t map = 0;
  for (size_t i = 0; i < d->items.count; i++) {
    size_t to = g->bead_of[i];
    for (size_t k = 0; to != SIZE_MAX && k < d->items.at[i].link_count; k++) {
      const struct diagram_link *link =
          &d->links.at[d->items.at[i].first_link + k];
      size_t from = g->bead_of[link->from];
      struct grid_bead *bead = &g->beads[to];
      if (from >= to) /* also SIZE_MAX */
        continue;
      int64_t here = link->drawn ? 0 : g->beads[from].map;
      g->lines += !link->drawn;
      d->pyramid |= map && here && here != map;
      map = here ? here : map;
      size_t at = 0;
      while (at < bead->from_count && bead->from[at] != from)
        at++;
      if (at < bead->from_count)
        continue;
      if (!bead->from)
        bead->from = arena_alloc(d->arena, MOST_BEADS, sizeof *bead->from);
      bead->from[bead->from_count++] = from;
      if (bead->map && bead->map != g->beads[from].map)
        g->beads[from].turns = true;
    }
  }
  for (size_t i = 0; i < g->count; i++) /* a bead reads those before it */
    for (size_t k = 0; k < g->beads[i].from_count; k++)
      g->beads[i].depth =
          most(g->beads[i].depth, g->beads[g->beads[i].from[k]].depth + 1);
}

static void find_rows(struct grid_making *g) {
  for (size_t i = 0; i < g->count; i++) {
    int64_t map = g->beads[i].map;
    int64_t at = 0;
    while (at < g->rows && g->maps[at] > map)
      at++;
    if (!map || (at < g->rows && g->maps[at] == map))
      continue;
    memmove(&g->maps[at + 1], &g->maps[at],
            (size_t)(g->rows++ - at) * sizeof *g->maps);
    g->maps[at] = map;
  }
  for (size_t i = 0; i < g->count; i++)
    for (int64_t row = 0; row < g->rows; row++)
      if (g->beads[i].map && g->maps[row] == g->beads[i].map)
        g->beads[i].row = row;
}

/* Cells */

static const struct grid_cell *cell_at(const struct grid_making *g,
                                       size_t column, int64_t row) {
  for (size_t i = 0; i < g->cell_count; i++)
    if (g->cells[i].column == column && g->cells[i].row == row)
      return &g->cells[i];
  return NULL;
}

static void append(struct grid_making *g, size_t bead, size_t cell) {
  struct grid_cell *c = &g->cells[cell];
  struct diagram_part *part = g->beads[bead].part;
  if (c->last)
    c->last->next = part;
  else
    c->chain->first = part;
  c->last = part;
  c->tail = bead;
  g->beads[bead].cell = cell;
}

static void open_cell(struct grid_making *g, size_t bead, size_t column,
                      int64_t row) {
  struct grid_cell *c = &g->cells[g->cell_count++];
  *c = (struct grid_cell){.chain = ARENA_NEW(g->d->arena, struct diagram_part),
                          .row = row,
                          .column = column};
  c->chain->kind = PART_CHAIN;
  c->chain->item = NO_ITEM;
  append(g, bead, g->cell_count - 1);
}

static bool is_tail(const struct grid_making *g, size_t bead) {
  return g->cells[g->beads[bead].cell].tail == bead;
}

/* True if a column goes on from the cell of `from` to a row. */
static bool runs_on(struct grid_making *g, const struct grid_cell *from,
                    int64_t row) {
  int way = row > from->row ? 1 : -1;
  if (g->way[from->column] == -way)
    return false;
  for (int64_t at = from->row + way; at != row + way; at += way)
    if (cell_at(g, from->column, at))
      return false;
  g->way[from->column] = way;
  return true;
}

/* A further input or a learned tensor, placed beside the first reader. */
static bool is_source(const struct grid_making *g, size_t bead) {
  const struct diagram_part *part = g->beads[bead].part;
  return bead > 0 && part->kind == PART_BOX &&
         g->d->items.at[part->item].link_count +
                 g->d->items.at[part->item].stub_count ==
             0;
}

/* The cell of a read bead; NULL for a source. */
static const struct grid_cell *cell_read(const struct grid_making *g,
                                         const struct grid_bead *bead,
                                         size_t number) {
  size_t from = bead->from[number];
  return is_source(g, from) ? NULL : &g->cells[g->beads[from].cell];
}

/* The row of a bead without a map: in the middle of those that it reads. */
static int64_t middle_row(const struct grid_making *g,
                          const struct grid_bead *bead) {
  int64_t low = INT64_MAX, high = 0;
  for (size_t i = 0; i < bead->from_count; i++) {
    const struct grid_cell *cell = cell_read(g, bead, i);
    low = cell && cell->row < low ? cell->row : low;
    high = cell ? most(high, cell->row) : high;
  }
  return low > high ? 0 : low + (high - low) / 2;
}

/* The bead that another one goes on from, the one farthest right: SIZE_MAX if
 * it reads none. */
static size_t main_of(const struct grid_making *g,
                      const struct grid_bead *bead) {
  size_t main = SIZE_MAX, column = 0;
  for (size_t i = 0; i < bead->from_count; i++) {
    const struct grid_cell *cell = cell_read(g, bead, i);
    if (!cell || (main != SIZE_MAX && cell->column < column))
      continue;
    if (main == SIZE_MAX || cell->column > column || cell->row == bead->row)
      main = bead->from[i];
    column = cell->column;
  }
  return main;
}

/* Opens a cell in the first column from `column` on that is free in a row;
 * false: there are too many. */
static bool open_beside(struct grid_making *g, size_t bead, size_t column,
                        int64_t row) {
  while (column < MOST_COLUMNS && cell_at(g, column, row))
    column++;
  if (column == MOST_COLUMNS)
    return false;
  open_cell(g, bead, column, row);
  return true;
}

/* True for a bead that puts an earlier one of the same cell beside the main
 * one, as the way up of a U does. */
static bool reads_back(const struct grid_making *g,
                       const struct grid_bead *bead, size_t main) {
  if (item_sign(g->d, bead->part->item))
    return false;
  for (size_t i = 0; i < bead->from_count; i++)
    if (bead->from[i] != main &&
        g->beads[bead->from[i]].cell == g->beads[main].cell)
      return true;
  return false;
}

/* Places a bead after those that it reads. */
static bool place_after(struct grid_making *g, size_t index) {
  struct grid_bead *bead = &g->beads[index];
  size_t main = main_of(g, bead);
  if (bead->row < 0)
    bead->row = middle_row(g, bead);
  if (main == SIZE_MAX)
    return open_beside(g, index, 0, bead->row);
  const struct grid_cell *cell = &g->cells[g->beads[main].cell];
  size_t column = cell->column;
  if (is_tail(g, main) && cell->row == bead->row &&
      !reads_back(g, bead, main) && (!g->beads[main].turns || bead->turns)) {
    append(g, index, g->beads[main].cell);
    return true;
  }
  if (is_tail(g, main) && cell->row != bead->row &&
      runs_on(g, cell, bead->row)) {
    open_cell(g, index, column, bead->row);
    return true;
  }
  return open_beside(g, index, column + 1, bead->row);
}

/* Places a bead and the sources that it is the first to read. */
static bool place_bead(struct grid_making *g, size_t index) {
  struct grid_bead *bead = &g->beads[index];
  if (!place_after(g, index))
    return false;
  for (size_t i = 0; i < bead->from_count; i++) {
    size_t from = bead->from[i];
    const struct grid_cell *cell = &g->cells[bead->cell];
    if (is_source(g, from) && g->beads[from].cell == SIZE_MAX &&
        !open_beside(g, from, cell->column + 1, cell->row))
      return false;
  }
  return true;
}

/* Beads in the order of their depth. */
static bool place_beads(struct grid_making *g) {
  int64_t deepest = 0;
  for (size_t i = 0; i < g->count; i++)
    deepest = most(deepest, g->beads[i].depth);
  for (int64_t depth = 0; depth <= deepest; depth++)
    for (size_t i = 0; i < g->count; i++)
      if (g->beads[i].depth == depth && !is_source(g, i) && !place_bead(g, i))
        return false;
  for (size_t i = 0; i < g->count; i++)
    if (g->beads[i].cell == SIZE_MAX)
      return false;
  return true;
}

/* Nets */

/* Nets that lines join. */
struct grid_nets {
  struct diagram_part **at; /* all nets */
  size_t *first;            /* by net: the first one that lines join to it */
  size_t count;
};

/* The chain of a block that is drawn once, or of the net. */
static struct diagram_part *chain_of(struct diagram_part *net) {
  struct diagram_part *last = net->first;
  while (last && last->next)
    last = last->next;
  return last && last->kind == PART_FRAME && last->unit->call ? last->first
                                                              : net;
}

static struct grid_nets join_nets(struct diagram *d) {
  struct grid_nets nets = {0};
  for (const struct diagram_part *net = d->parts; net; net = net->next)
    nets.count++;
  nets.at = arena_alloc(d->arena, nets.count + 1, sizeof(void *));
  nets.first = arena_alloc(d->arena, nets.count + 1, sizeof *nets.first);
  size_t *of = arena_alloc(d->arena, d->items.count + 1, sizeof *of), i = 0;
  for (struct diagram_part *net = d->parts; net; net = net->next, i++) {
    nets.at[i] = net;
    nets.first[i] = i;
    part_number(net, of, i);
  }
  for (i = 0; i < d->items.count; i++)
    for (size_t k = 0; k < d->items.at[i].link_count; k++) {
      const struct diagram_item *item = &d->items.at[i];
      size_t a = nets.first[of[i]];
      size_t b = nets.first[of[d->links.at[item->first_link + k].from]];
      size_t later = a > b ? a : b;
      for (size_t n = 0; n < nets.count && a != b; n++)
        if (nets.first[n] == later)
          nets.first[n] = a + b - later;
    }
  return nets;
}

/* Making */

static bool gather(struct grid_making *g, struct diagram *d,
                   const struct grid_nets *nets, size_t first) {
  *g = (struct grid_making){.d = d};
  g->bead_of = arena_alloc(d->arena, d->items.count + 1, sizeof *g->bead_of);
  for (size_t i = 0; i < d->items.count; i++)
    g->bead_of[i] = SIZE_MAX;
  for (size_t i = first; i < nets->count; i++)
    if (nets->first[i] == first && !add_beads(g, chain_of(nets->at[i])))
      return false;
  sort_beads(g);
  for (size_t i = 0; i < g->count; i++)
    part_number(g->beads[i].part, g->bead_of, i);
  find_reads(g);
  find_rows(g);
  return g->rows >= LEAST_ROWS && g->lines >= LEAST_LINES;
}

/* True for a line that its column draws, from cell to cell. */
static bool is_straight(const struct grid_making *g, size_t from, size_t to) {
  const struct grid_cell *a = &g->cells[g->beads[from].cell];
  const struct grid_cell *b = &g->cells[g->beads[to].cell];
  return a->column == b->column && a->tail == from &&
         b->chain->first == g->beads[to].part;
}

/* Counts lines between columns and between rows, one for each source. */
static void count_lines(const struct grid_making *g,
                        struct diagram_grid *grid) {
  for (size_t from = 0; from < g->count; from++) {
    bool seen[MOST_COLUMNS + 1] = {false};
    for (size_t to = from + 1; to < g->count; to++) {
      const struct grid_bead *bead = &g->beads[to];
      const struct grid_cell *a = &g->cells[g->beads[from].cell];
      const struct grid_cell *b = &g->cells[bead->cell];
      size_t at = 0;
      while (at < bead->from_count && bead->from[at] != from)
        at++;
      if (at == bead->from_count || is_straight(g, from, to) ||
          g->beads[from].part->next == bead->part)
        continue;
      size_t column = b->column > a->column ? b->column : a->column + 1;
      bool level = a->row == b->row && b->column == a->column + 1 &&
                   g->way[a->column] != g->way[b->column];
      if (level && grid->beside[column])
        continue;
      if (!seen[column] && grid->beside[column] < MOST_BESIDE)
        grid->beside[column]++;
      if (!seen[column] && b->column > a->column + 1 &&
          grid->above[b->row] < MOST_BESIDE)
        grid->above[b->row]++;
      seen[column] = true;
    }
  }
}

static struct diagram_part *make_grid(struct grid_making *g) {
  struct arena *arena = g->d->arena;
  struct diagram_part *part = ARENA_NEW(arena, struct diagram_part);
  struct diagram_part **tail = &part->first;
  struct diagram_grid *grid = ARENA_NEW(arena, struct diagram_grid);
  part->kind = PART_GRID;
  part->item = g->beads[g->count - 1].part->item;
  part->grid = grid;
  for (size_t i = 0; i < g->cell_count; i++) {
    struct grid_cell *cell = &g->cells[i];
    grid->rows = most(grid->rows, cell->row + 1);
    grid->columns = most(grid->columns, (int64_t)cell->column + 1);
    cell->chain->row = cell->row;
    cell->chain->column = (int64_t)cell->column;
    if (g->way[cell->column] < 0)
      part_flip(cell->chain);
  }
  size_t columns = (size_t)grid->columns + 1, rows = (size_t)grid->rows + 1;
  grid->beside = arena_alloc(arena, 2 * (columns + rows), sizeof *grid->beside);
  grid->across = grid->beside + columns;
  grid->above = grid->across + columns;
  grid->along = grid->above + rows;
  count_lines(g, grid);
  for (size_t column = 0; column + 1 < columns; column++)
    for (int64_t i = 0; i < grid->rows; i++) {
      bool up = g->way[column] < 0;
      const struct grid_cell *cell =
          cell_at(g, column, up ? grid->rows - 1 - i : i);
      if (!cell)
        continue;
      *tail = cell->chain;
      tail = &cell->chain->next;
    }
  return part;
}

/* The end of a net's beginning, where the first line leaves that the chain does
 * not draw; NULL: it is short. */
static struct diagram_part *find_lead(struct diagram *d,
                                      const struct diagram_part *net) {
  size_t *of = arena_alloc(d->arena, d->items.count + 1, sizeof *of);
  size_t *tail = arena_alloc(d->arena, d->items.count + 1, sizeof *tail);
  size_t parts = 0, i = 0;
  for (struct diagram_part *p = net->first; p; p = p->next)
    part_number(p, of, ++parts);
  for (size_t to = 0; to < d->items.count; to++)
    for (size_t k = 0; k < d->items.at[to].link_count && of[to]; k++) {
      size_t from = d->links.at[d->items.at[to].first_link + k].from;
      bool next = of[from] + 1 == of[to];
      for (size_t at = of[from]; at < of[to]; at++)
        tail[at] =
            next && (!tail[at] || tail[at] == from + 1) ? from + 1 : SIZE_MAX;
    }
  struct diagram_part *lead = NULL;
  for (struct diagram_part *p = net->first;
       p && !p->side && tail[++i] && tail[i] < SIZE_MAX; p = p->next)
    lead = p;
  return tail[0] || i <= LEAST_LEAD ? NULL : lead;
}

/* Makes one grid of the nets that are joined to one; the others then hold
 * nothing. */
static bool grid_from(struct diagram *d, const struct grid_nets *nets,
                      size_t first) {
  struct grid_making *g = ARENA_NEW(d->arena, struct grid_making);
  struct diagram_part *net = nets->at[first], *chain = chain_of(net);
  struct diagram_part *begin = chain->first;
  bool led = d->led && chain == net;
  struct diagram_part *lead = led ? find_lead(d, net) : NULL;
  if (lead)
    chain->first = lead->next;
  if ((led && !lead) || !gather(g, d, nets, first) || !place_beads(g)) {
    chain->first = begin;
    return false;
  }
  for (size_t i = first + 1; i < nets->count; i++)
    if (nets->first[i] == first)
      nets->at[i]->first = NULL;
  struct diagram_part *grid = make_grid(g);
  grid->grid->led = lead != NULL;
  if (lead)
    lead->next = grid;
  chain->first = lead ? begin : grid;
  chain->side = NULL;
  return true;
}

bool diagram_find_grids(struct diagram *d) {
  struct grid_nets nets = join_nets(d);
  struct diagram_part *grids = NULL, *others = NULL;
  struct diagram_part **grid = &grids, **other = &others;
  bool found = false;
  d->pyramid = false;
  for (size_t i = 0; i < nets.count; i++) {
    struct diagram_part *net = nets.at[i];
    bool made = nets.first[i] == i && grid_from(d, &nets, i);
    if (made && chain_of(net) == net) {
      *grid = net;
      grid = &net->next;
    } else if (net->first) {
      *other = net;
      other = &net->next;
    }
    found |= made;
  }
  *other = NULL;
  *grid = others;
  d->parts = grids;
  return found;
}
