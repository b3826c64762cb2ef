/*
 * Turns of a `for` whose layers are the same but for their figures. One turn
 * stands for all where each takes from the one before it what that one takes
 * from its own, and where what else leaves a turn goes to a row that reads the
 * same of all turns, as the sum over WaveNet's skips does.
 */
#include "drawing/diagram/diagram.h"
#include "sema/repeat/iteration.h"

enum {
  MOST_CARRIED = 4, /* tensors that a turn hands to the next */
  MOST_FAILURES = 16,
  MOST_ROWS = 4000 /* beyond, loops are drawn turn by turn */
};

/* Rows of a loop: `count` turns of `length` rows each. */
struct diagram_loop {
  struct diagram *d;
  int64_t first, length, count;
  int64_t from[MOST_CARRIED];  /* of the turn before, by place in it */
  int64_t start[MOST_CARRIED]; /* what the first turn takes instead */
  int carried;
};

static const struct row *row_at(const struct diagram_loop *l, int64_t row) {
  return &l->d->rows.at[row];
}

static bool same_layers(const struct diagram_loop *l, int64_t a, int64_t b) {
  const struct model *model = l->d->c->model;
  const struct row *x = row_at(l, a), *y = row_at(l, b);
  if (row_only_moves(l->d, x) && row_only_moves(l->d, y))
    return !x->warning_count && !y->warning_count;
  if (x->end - x->first != y->end - y->first || x->warning_count ||
      y->warning_count || (x->group == NO_NODE) != (y->group == NO_NODE) ||
      call_of_group(l->d, x->group) != call_of_group(l->d, y->group))
    return false;
  for (int64_t i = 0; i < x->end - x->first; i++) {
    const struct node *m = &model->nodes.at[x->first + i];
    const struct node *n = &model->nodes.at[y->first + i];
    if (m->kind != n->kind || m->input_count != n->input_count)
      return false;
  }
  return true;
}

static bool same_carried(struct diagram_loop *l, int64_t place, int64_t start,
                         bool first) {
  for (int i = 0; i < l->carried; i++)
    if (l->from[i] == place || (first && l->start[i] == start))
      return l->from[i] == place && (!first || l->start[i] == start);
  if (!first || l->carried == MOST_CARRIED)
    return false;
  l->from[l->carried] = place;
  l->start[l->carried++] = start;
  return true;
}

/* Whether the same input of a turn at `a` and of the next one correspond. */
static bool same_input(struct diagram_loop *l, int64_t a, int64_t x,
                       int64_t y) {
  int64_t b = a + l->length;
  if (y >= b)
    return x == y - l->length;
  if (y >= a)
    return a == l->first ? x < a && same_carried(l, y - a, x, true)
                         : x == y - l->length;
  return x == y;
}

static bool same_inputs(struct diagram_loop *l, int64_t a, int64_t row) {
  const struct model *model = l->d->c->model;
  const struct diagram_section *section = section_of(l->d, (size_t)a);
  const struct row *x = row_at(l, row), *y = row_at(l, row + l->length);
  if (row_only_moves(l->d, x))
    return same_input(l, a, row_of_node(l->d, section, row_input(l->d, x)),
                      row_of_node(l->d, section, row_input(l->d, y)));
  for (int64_t i = 0; i < x->end - x->first; i++) {
    const struct node *m = &model->nodes.at[x->first + i];
    const struct node *n = &model->nodes.at[y->first + i];
    for (int k = 0; k < m->input_count; k++)
      if (!same_input(l, a, row_of_node(l->d, section, node_input(model, m, k)),
                      row_of_node(l->d, section, node_input(model, n, k))))
        return false;
  }
  return true;
}

static int64_t node_of(const struct diagram_loop *l, int64_t row) {
  return row_at(l, row)->first;
}

/* The turn that is one row's, of the innermost loop of which the other has the
 * next one; NULL: of none. */
static const struct frame *turn_of(const struct diagram_loop *l, int64_t a,
                                   int64_t b) {
  return iteration_before(l->d->c->model, node_of(l, a), node_of(l, b));
}

static bool is_inside(const struct diagram_loop *l, int64_t row,
                      const struct frame *turn) {
  return row >= 0 && (size_t)row < l->d->rows.count &&
         iteration_has(turn, node_of(l, row));
}

static bool same_text(const struct diagram_loop *l, int64_t a, int64_t b) {
  struct text x = text_new(l->d->arena), y = x;
  if (l->d->hash_of_row[a] == l->d->hash_of_row[b])
    return true;
  row_put_acting(&x, l->d->c, row_at(l, a), false);
  row_put_acting(&y, l->d->c, row_at(l, b), false);
  return same_but_figures(text_slice(&x), text_slice(&y));
}

/* The turn after a turn, which starts at a row, has no more rows. */
static bool last_is_whole(const struct diagram_loop *l, int64_t row,
                          const struct frame *before) {
  const struct frame *turn =
      iteration_apart(l->d->c->model, node_of(l, row), before->first);
  return turn && !is_inside(l, row + l->length, turn);
}

/* The turn that starts with a row and ends before the next one; or NULL. */
static const struct frame *whole_turn(const struct diagram_loop *l, int64_t a) {
  const struct frame *turn = turn_of(l, a, a + l->length);
  return !turn || is_inside(l, a - 1, turn) ||
                 !is_inside(l, a + l->length - 1, turn)
             ? NULL
             : turn;
}

static bool next_turn(struct diagram_loop *l, int64_t a) {
  const struct frame *turn = whole_turn(l, a);
  for (int64_t row = a; row < a + l->length; row++)
    if (--l->d->search < 0 || !same_layers(l, row, row + l->length) ||
        !same_inputs(l, a, row) || turn_of(l, row, row + l->length) != turn ||
        !same_text(l, row, row + l->length))
      return false;
  return l->carried > 0 && last_is_whole(l, a + l->length, turn);
}

/* Readers */

/*
 * What is after the loop reads of a place its last turn, or all turns: then
 * the names of the turns are one name. `seen` has the turns read, by place.
 */
static bool collects(const struct diagram_loop *l,
                     const struct diagram_section *s, int64_t row,
                     int64_t *seen) {
  const struct model *model = l->d->c->model;
  int64_t last = l->first + (l->count - 1) * l->length;
  bool whole = true;
  for (int pass = 0; pass < 3; pass++) /* clear, count, compare */
    for (int64_t i = row_at(l, row)->first; i < row_at(l, row)->end; i++)
      for (int k = 0; k < model->nodes.at[i].input_count; k++) {
        int64_t from =
            row_of_node(l->d, s, node_input(model, &model->nodes.at[i], k));
        l->d->search--;
        if (from < l->first || from >= last + l->length)
          continue;
        int64_t *count = &seen[(from - l->first) % l->length];
        if (pass == 0)
          *count = 0;
        else if (pass == 1)
          ++*count;
        else
          whole = whole && (*count == l->count || from >= last);
      }
  return whole;
}

/* An output of the net; not one that training alone has, of all turns. */
static bool leaves_net(const struct diagram_loop *l, int64_t row) {
  const struct model *model = l->d->c->model;
  if (l->d->reader_of_row[row] != INT64_MAX)
    return false;
  for (size_t i = 0; i < model->outputs.count; i++)
    if ((int64_t)l->d->rows.of_node[model->outputs.at[i].node] == row &&
        model->outputs.at[i].train_only)
      return l->d->reader_of_row[row + l->length] != INT64_MAX;
  return true;
}

static bool is_closed(const struct diagram_loop *l) {
  const struct diagram_section *s = section_of(l->d, (size_t)l->first);
  int64_t end = l->first + l->count * l->length, last = end - 1;
  int64_t *seen = arena_alloc(l->d->arena, (size_t)l->length, sizeof *seen);
  for (int64_t row = l->first; row < end; row++) {
    if (row < end - l->length && leaves_net(l, row))
      return false;
    if (l->d->reader_of_row[row] < (int64_t)s->end)
      last = l->d->reader_of_row[row] > last ? l->d->reader_of_row[row] : last;
    else
      last = (int64_t)s->end - 1;
  }
  for (int64_t row = end; row <= last; row++)
    if (!collects(l, s, row, seen))
      return false;
  return true;
}

static bool same_groups(const struct diagram_pieces *p, size_t a, size_t b,
                        size_t period) {
  size_t first = p->at[a].first, second = p->at[b].first;
  for (size_t i = 0; i < period; i++)
    if (p->at[a + i].end - first != p->at[b + i].end - second ||
        (p->at[a + i].group == NO_NODE) != (p->at[b + i].group == NO_NODE))
      return false;
  return true;
}

/* A loop that is read from inside again and again is left as it is. */
static bool has_failed(const struct diagram *d, const struct diagram_loop *l) {
  const struct model *model = d->c->model;
  const struct frame *turn =
      iteration_around(model->nodes.at[node_of(l, l->first)].frame);
  return turn && turn->parent == d->failed.parent &&
         turn->stmt->span.begin == d->failed.begin &&
         d->failed.count > MOST_FAILURES;
}

static void count_failure(struct diagram *d, const struct diagram_loop *l) {
  const struct frame *turn = turn_of(l, l->first, l->first + l->length);
  if (turn->parent != d->failed.parent ||
      turn->stmt->span.begin != d->failed.begin)
    d->failed.count = 0;
  d->failed.parent = turn->parent;
  d->failed.begin = turn->stmt->span.begin;
  d->failed.count++;
}

size_t diagram_find_loop(struct diagram *d, const struct diagram_pieces *p,
                         size_t at, size_t end, size_t period) {
  struct diagram_loop l = {
      .d = d, .first = (int64_t)p->at[at].first, .count = 1};
  l.length = (int64_t)p->at[at + period - 1].end - l.first;
  if (d->rows.count > MOST_ROWS || has_failed(d, &l))
    return 1;
  for (size_t here = at;
       here + 2 * period <= end && whole_turn(&l, (int64_t)p->at[here].first) &&
       same_groups(p, here, here + period, period) &&
       next_turn(&l, (int64_t)p->at[here].first);
       here += period)
    l.count++;
  if (l.count > 1 && is_closed(&l))
    return (size_t)l.count;
  if (l.count > 1)
    count_failure(d, &l);
  return 1;
}
