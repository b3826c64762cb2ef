/*
 * Items: one for each box of a diagram. Rows whose repeats are equal share one;
 * repeats lie inside a group or hold whole groups, never across its border.
 */
#include <inttypes.h>

#include "diagrams/diagram.h"

/* A row, or a group that stands where the level is looked at. */
struct piece {
  size_t first, end; /* rows */
  int64_t group;
};

struct pieces {
  struct piece *at;
  size_t count, room;
};

const struct row *item_row(const struct diagram *d, size_t item) {
  return &d->rows.at[d->items.at[item].row];
}

static uint64_t hash_text(struct slice text) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < text.length; i++)
    hash = (hash ^ (unsigned char)text.at[i]) * 1099511628211u;
  return hash;
}

static void hash_rows(struct diagram *d) {
  struct text text = text_new(d->arena);
  for (size_t i = 0; i < d->rows.count; i++) {
    text.length = 0;
    row_put_layer(&text, d->c, &d->rows.at[i], false);
    d->hash_of_row[i] = hash_text(text_slice(&text));
  }
}

static int64_t row_of(const struct diagram *d, int64_t node) {
  return d->rows.of_node[node];
}

/* Who reads a row last; an output of the net is read for ever. */
static void find_readers(struct diagram *d) {
  const struct model *model = d->c->model;
  for (size_t i = 0; i < d->rows.count; i++)
    d->reader_of_row[i] = -1;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    int64_t row = row_of(d, (int64_t)i);
    for (int k = 0; k < node->input_count; k++) {
      int64_t from = row_of(d, node_input(model, node, k));
      if (from != row && d->reader_of_row[from] < row)
        d->reader_of_row[from] = row;
    }
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    d->reader_of_row[row_of(d, model->outputs.at[i].node)] = INT64_MAX;
}

/* The group inside `outer` that holds a group; NO_NODE: it is not inside. */
static int64_t group_inside(const struct model *model, int64_t outer,
                            int64_t group) {
  while (group > 0 && model->groups.at[group].parent != outer)
    group = model->groups.at[group].parent;
  return group > 0 ? group : NO_NODE;
}

static struct pieces find_pieces(struct diagram *d, size_t first, size_t end,
                                 int64_t group) {
  struct pieces pieces = {0};
  const struct model *model = d->c->model;
  for (size_t row = first; row < end;) {
    struct piece piece = {row, row + 1, NO_NODE};
    int64_t inside = d->rows.at[row].owner == group
                         ? NO_NODE
                         : group_inside(model, group, d->rows.at[row].owner);
    if (inside != NO_NODE) {
      piece.group = inside;
      while (
          piece.end < end &&
          (d->rows.at[piece.end].owner == inside ||
           group_inside(model, inside, d->rows.at[piece.end].owner) != NO_NODE))
        piece.end++;
    }
    *VEC_PUSH(d->arena, &pieces) = piece;
    row = piece.end;
  }
  return pieces;
}

/*
 * Repeats. Where fold.h asks what a reader of a table takes for equal, a
 * drawing needs more: turns that start where the one before ended, and that
 * nobody reads from inside. Then one turn can stand for all, with its arrows.
 * Sizes may differ where the author wrote `repeat`. Inputs of a row are
 * compared as seen from the start of its turn.
 */

enum { FROM_ENTRY = -1, OUTSIDE = -2 };

struct turn {
  int64_t first, entry; /* rows */
};

static int64_t seen_from(const struct turn *turn, int64_t row) {
  return row >= turn->first   ? row - turn->first
         : row == turn->entry ? FROM_ENTRY
                              : OUTSIDE - row;
}

/* The one row that a turn starts from. */
static int64_t entry_of(const struct diagram *d, size_t row) {
  const struct model *model = d->c->model;
  const struct row *r = &d->rows.at[row];
  for (int64_t i = r->first; i < r->end; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++) {
      int64_t from = row_of(d, node_input(model, &model->nodes.at[i], k));
      if (from != (int64_t)row)
        return from;
    }
  return NO_NODE;
}

static bool same_inputs(const struct diagram *d, const struct row *a,
                        const struct turn *at, const struct row *b,
                        const struct turn *bt) {
  const struct model *model = d->c->model;
  if (a->end - a->first != b->end - b->first)
    return false;
  for (int64_t i = 0; i < a->end - a->first; i++) {
    const struct node *x = &model->nodes.at[a->first + i];
    const struct node *y = &model->nodes.at[b->first + i];
    if (x->input_count != y->input_count || x->kind != y->kind)
      return false;
    for (int k = 0; k < x->input_count; k++)
      if (seen_from(at, row_of(d, node_input(model, x, k))) !=
          seen_from(bt, row_of(d, node_input(model, y, k))))
        return false;
  }
  return true;
}

static bool same_sizes(const struct diagram *d, size_t a, size_t b) {
  const struct row *x = &d->rows.at[a], *y = &d->rows.at[b];
  return x->cost.params == y->cost.params && x->cost.macs == y->cost.macs &&
         shape_equal(row_shape(d->c, x), row_shape(d->c, y));
}

static bool same_turns(const struct diagram *d, size_t a, size_t b,
                       size_t length, bool sizes) {
  struct turn at = {(int64_t)a, entry_of(d, a)};
  struct turn bt = {(int64_t)b, entry_of(d, b)};
  if (bt.entry != (int64_t)b - 1 || at.entry < 0 || at.entry >= (int64_t)a)
    return false;
  for (size_t i = 0; i < length; i++) {
    const struct row *x = &d->rows.at[a + i], *y = &d->rows.at[b + i];
    if (d->hash_of_row[a + i] != d->hash_of_row[b + i] || x->warning_count ||
        y->warning_count || (sizes && !same_sizes(d, a + i, b + i)) ||
        !same_inputs(d, x, &at, y, &bt))
      return false;
  }
  return true;
}

/* Whether nobody behind a turn reads what is inside it. */
static bool is_closed(const struct diagram *d, size_t first, size_t end) {
  for (size_t row = first; row + 1 < end; row++)
    if (d->reader_of_row[row] >= (int64_t)end)
      return false;
  return true;
}

/* Two turns of one `repeat`: the author calls them the same. */
static bool are_repeated(const struct diagram *d, size_t a, size_t b) {
  const struct model *model = d->c->model;
  const struct frame *x = model->nodes.at[d->rows.at[a].head].frame;
  for (; x; x = x->parent)
    for (const struct frame *y = model->nodes.at[d->rows.at[b].head].frame; y;
         y = y->parent) {
      struct slice word = sources_slice(d->c->sources, x->span);
      if (x->kind == FRAME_LOOP && y->kind == FRAME_LOOP &&
          x->span.begin == y->span.begin && x->parent == y->parent &&
          y->ordinal == x->ordinal + 1 && word.length > 6 &&
          memcmp(word.at, "repeat", 6) == 0)
        return true;
    }
  return false;
}

struct run {
  size_t period, count; /* pieces of a turn; turns */
  bool varies;
};

static bool same_pieces(const struct diagram *d, const struct pieces *p,
                        size_t a, size_t b, size_t period, bool *varies) {
  size_t first = p->at[a].first, second = p->at[b].first;
  size_t length = p->at[a + period - 1].end - first;
  if (p->at[b + period - 1].end - second != length ||
      d->hash_of_row[first] != d->hash_of_row[second])
    return false;
  for (size_t i = 0; i < period; i++)
    if (p->at[a + i].end - first != p->at[b + i].end - second ||
        (p->at[a + i].group == NO_NODE) != (p->at[b + i].group == NO_NODE))
      return false;
  if (!is_closed(d, first, first + length) ||
      d->reader_of_row[first + length - 1] >= (int64_t)(second + length))
    return false;
  if (!*varies && same_turns(d, first, second, length, true))
    return true;
  *varies = true;
  return length > 1 && are_repeated(d, first, second) &&
         same_turns(d, first, second, length, false);
}

enum { LONGEST_TURN = 256 }; /* pieces: keeps the search near to linear */

/* The turns from piece `at` on that save most; at least two. */
static struct run find_run(const struct diagram *d, const struct pieces *p,
                           size_t at, size_t end) {
  struct run best = {1, 1, false};
  size_t saved = 0;
  if (d->options->unfold)
    return best;
  for (size_t period = 1; period <= LONGEST_TURN && at + 2 * period <= end;
       period++) {
    size_t count = 1, here = at;
    bool varies = false, strict = true;
    while (here + 2 * period <= end) {
      bool now = !strict;
      if (!same_pieces(d, p, here, here + period, period, &now))
        break;
      if (now && strict && count > 1)
        break; /* equal ones first; those that differ are another run */
      varies = now;
      strict = !now;
      here += period;
      count++;
    }
    if ((count - 1) * period > saved) {
      saved = (count - 1) * period;
      best = (struct run){period, count, varies};
    }
  }
  return best;
}

/* Units */

static struct unit *make_units(struct diagram *d, const struct pieces *p,
                               size_t from, size_t to);

static void add_item(struct diagram *d, size_t row, struct unit *unit) {
  struct item *item = VEC_PUSH(d->arena, &d->items);
  item->row = item->last_row = row;
  item->times = 1;
  item->reader = -1;
  d->item_of_row[row] = unit->first;
}

static void fill_unit(struct diagram *d, struct unit *unit,
                      const struct piece *piece) {
  unit->first = d->items.count;
  unit->group = piece->group;
  if (piece->group == NO_NODE) {
    add_item(d, piece->first, unit);
  } else {
    struct pieces inner =
        find_pieces(d, piece->first, piece->end, piece->group);
    unit->child = make_units(d, &inner, 0, inner.count);
  }
  unit->end = d->items.count;
}

/* The rows of all turns are those of the first one. */
static void share_turns(struct diagram *d, const struct unit *unit,
                        size_t first, size_t length) {
  for (size_t i = unit->first; i < unit->end; i++) {
    struct item *item = &d->items.at[i];
    item->last_row += ((size_t)unit->count - 1) * length;
    item->times *= unit->count;
    item->varies |= unit->varies;
  }
  d->items.at[unit->end - 1].ends_repeat |= unit->varies;
  for (size_t turn = 1; turn < (size_t)unit->count; turn++)
    for (size_t i = 0; i < length; i++)
      d->item_of_row[first + turn * length + i] = d->item_of_row[first + i];
}

static struct unit *make_units(struct diagram *d, const struct pieces *p,
                               size_t from, size_t to) {
  struct unit *list = NULL, **tail = &list;
  for (size_t at = from; at < to;) {
    struct run run = find_run(d, p, at, to);
    struct unit *unit = ARENA_NEW(d->arena, struct unit);
    size_t first = p->at[at].first;
    size_t length = p->at[at + run.period - 1].end - first;
    unit->group = NO_NODE;
    unit->first = d->items.count;
    if (run.period == 1)
      fill_unit(d, unit, &p->at[at]);
    else
      unit->child = make_units(d, p, at, at + run.period);
    unit->end = d->items.count;
    unit->count = (int64_t)run.count;
    unit->varies = run.varies;
    if (run.count > 1)
      share_turns(d, unit, first, length);
    *tail = unit;
    tail = &unit->next;
    at += run.period * run.count;
  }
  return list;
}

/* A box alone in what repeats is a stack. */
void diagram_mark_repeat(struct diagram *d, const struct unit *unit) {
  struct item *item = &d->items.at[unit->first];
  for (; unit; unit = unit->child)
    item->opens_repeat = item->opens_repeat || unit->count > 1;
}

/* Links */

static bool is_linked(const struct diagram *d, const struct item *item,
                      size_t from) {
  for (size_t k = 0; k < item->link_count; k++)
    if (d->links.at[item->first_link + k].from == from)
      return true;
  return false;
}

static void find_links(struct diagram *d, size_t index) {
  const struct model *model = d->c->model;
  struct item *item = &d->items.at[index];
  const struct row *row = &d->rows.at[item->row];
  item->first_link = d->links.count;
  for (int64_t i = row->first; i < row->end; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++) {
      int64_t from = row_of(d, node_input(model, &model->nodes.at[i], k));
      size_t other = d->item_of_row[from];
      if (from == (int64_t)item->row || other >= index ||
          (item->link_count < 1000 && is_linked(d, item, other)))
        continue;
      VEC_PUSH(d->arena, &d->links)->from = other;
      item->link_count++;
      d->items.at[other].reader = (int64_t)index;
    }
}

/* Rows that only change values go into the tail of the one before them. */

static bool is_tail(const struct diagram *d, const struct row *row,
                    const struct row *before) {
  const struct model *model = d->c->model;
  const struct node *node = &model->nodes.at[row->first];
  const struct layer_kind *kind = node->kind;
  bool labelled = !node->name.ordinal || node->name.repeated;
  if (row->group != NO_NODE || before->group != NO_NODE || labelled ||
      row->end - row->first != 1 || node->input_count != 1 ||
      row->owner != before->owner || node_joins(node) || kind->source ||
      kind->windows || kind->memory == OUTPUT_VIEW || row->cost.params ||
      row->cost.macs || before->first == before->end ||
      model->nodes.at[before->head].kind == &model_input_kind)
    return false;
  return node_input(model, node, 0) == before->end - 1 &&
         shape_equal(&node->out, row_shape(d->c, before));
}

static void merge_tails(struct diagram *d) {
  struct rows *rows = &d->rows;
  size_t kept = 0;
  for (size_t i = 0; i < rows->count; i++) {
    struct row *row = &rows->at[i], *before = kept ? &rows->at[kept - 1] : NULL;
    if (before && !d->options->expand &&
        d->reader_of_row[i - 1] == (int64_t)i && is_tail(d, row, before)) {
      before->end = row->end;
      before->warning_count += row->warning_count;
      cost_add(&before->cost, &row->cost);
    } else {
      rows->at[kept++] = *row;
    }
    for (int64_t node = row->first; node < row->end; node++)
      rows->of_node[node] = (int64_t)kept - 1;
  }
  rows->count = kept;
}

void diagram_find_items(struct diagram *d) {
  size_t rows = d->rows.count;
  d->item_of_row = arena_alloc(d->arena, rows + 1, sizeof *d->item_of_row);
  d->reader_of_row = arena_alloc(d->arena, rows + 1, sizeof *d->reader_of_row);
  d->hash_of_row = arena_alloc(d->arena, rows + 1, sizeof *d->hash_of_row);
  find_readers(d);
  merge_tails(d);
  find_readers(d);
  hash_rows(d);
  struct pieces all = find_pieces(d, 0, d->rows.count, 0);
  d->units = make_units(d, &all, 0, all.count);
  for (size_t i = 0; i < d->items.count; i++)
    find_links(d, i);
}
