/*
 * Repeats. Where fold.h asks what a reader of a table takes for equal, a
 * drawing needs more: turns that start where the one before ended, and that
 * nobody reads from inside. Then one turn can stand for all, with its arrows.
 * Sizes may differ where the author wrote `repeat`. Inputs of a row are
 * compared as seen from the start of its turn; what all turns read from outside
 * is the same tensor.
 */
#include "drawing/diagram/diagram.h"
#include <stdio.h>

/* Two neighbouring turns: the first row of each. */
struct pair {
  const struct diagram *d;
  size_t a, b;
  int64_t entry; /* the one row before them that the first starts from */
};

/* Calls `look` with what the same input of both turns reads, until false. */
typedef bool look_fn(struct pair *pair, int64_t x, int64_t y);

static bool look_at_row(struct pair *pair, size_t offset, look_fn *look) {
  const struct diagram *d = pair->d;
  const struct model *model = d->c->model;
  const struct row *a = &d->rows.at[pair->a + offset];
  const struct row *b = &d->rows.at[pair->b + offset];
  const struct section *section = section_of(d, pair->a);
  if (a->end - a->first != b->end - b->first)
    return false;
  for (int64_t i = 0; i < a->end - a->first; i++) {
    const struct node *x = &model->nodes.at[a->first + i];
    const struct node *y = &model->nodes.at[b->first + i];
    if (x->input_count != y->input_count || x->kind != y->kind)
      return false;
    for (int k = 0; k < x->input_count; k++)
      if (!look(pair, row_of_node(d, section, node_input(model, x, k)),
                row_of_node(d, section, node_input(model, y, k))))
        return false;
  }
  return true;
}

/* The second turn starts from the end of the first: so where does this one? */
static bool find_entry(struct pair *pair, int64_t x, int64_t y) {
  if (pair->entry == NO_NODE && y + 1 == (int64_t)pair->b)
    pair->entry = x;
  return true;
}

static bool same_input(struct pair *pair, int64_t x, int64_t y) {
  int64_t a = (int64_t)pair->a, b = (int64_t)pair->b;
  if (y >= b)
    return x - a == y - b;
  if (y + 1 == b)
    return x == pair->entry;
  return x == y && x != pair->entry;
}

static bool same_sizes(const struct diagram *d, size_t a, size_t b) {
  const struct row *x = &d->rows.at[a], *y = &d->rows.at[b];
  return x->cost.params == y->cost.params && x->cost.macs == y->cost.macs &&
         shape_equal(row_shape(d->c, x), row_shape(d->c, y));
}

static bool same_turns(const struct diagram *d, size_t a, size_t b,
                       size_t length, bool sizes) {
  struct pair pair = {d, a, b, NO_NODE};
  for (size_t i = 0; i < length; i++) {
    const struct row *x = &d->rows.at[a + i], *y = &d->rows.at[b + i];
    if (d->hash_of_row[a + i] != d->hash_of_row[b + i] || x->warning_count ||
        y->warning_count || (sizes && !same_sizes(d, a + i, b + i)) ||
        !look_at_row(&pair, i, find_entry)) {
      return false;
    }
  }
  if (pair.entry < 0 || pair.entry >= (int64_t)a)
    return false;
  for (size_t i = 0; i < length; i++)
    if (!look_at_row(&pair, i, same_input)) {
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
      struct slice word = sources_slice(d->c->sources, x->stmt->span);
      if (frame_kind(x) == FRAME_LOOP && frame_kind(y) == FRAME_LOOP &&
          x->stmt->span.begin == y->stmt->span.begin &&
          x->parent == y->parent && y->ordinal == x->ordinal + 1 &&
          word.length > 6 && memcmp(word.at, "repeat", 6) == 0)
        return true;
    }
  return false;
}

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

struct run diagram_find_run(struct diagram *d, const struct pieces *p,
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
    if (d->effort >= EFFORT_LOOPS) {
      size_t turns = diagram_find_loop(d, p, at, end, period);
      if (turns > count) {
        count = turns;
        varies = true;
      }
    }
    if ((count - 1) * period > saved) {
      saved = (count - 1) * period;
      best = (struct run){period, count, varies};
    }
  }
  return best;
}
