/*
 * Repeats. fold.h decides what is equal in a table. A drawing needs more:
 * iterations that start where the one before ended, and whose inside nothing
 * outside reads. Then one iteration, with its arrows, stands for all. Sizes may
 * differ where the author wrote `repeat`. Inputs are compared relative to their
 * iteration; those from outside must be the same tensor.
 */
#include "drawing/diagram/diagram.h"
#include "sema/repeat/iteration.h"

bool diagram_look_at_rows(struct diagram *d, size_t a, size_t b,
                          diagram_look_fn *look, void *user) {
  const struct model *model = d->c->model;
  const struct row *x = &d->rows.at[a], *y = &d->rows.at[b];
  const struct diagram_section *section = section_of(d, a);
  if (row_only_moves(d, x) && row_only_moves(d, y))
    return look(user, row_of_node(d, section, row_input(d, x)),
                row_of_node(d, section, row_input(d, y)));
  if (x->end - x->first != y->end - y->first)
    return false;
  for (int64_t i = 0; i < x->end - x->first; i++) {
    const struct node *m = &model->nodes.at[x->first + i];
    const struct node *n = &model->nodes.at[y->first + i];
    if (m->input_count != n->input_count || m->kind != n->kind)
      return false;
    for (int k = 0; k < m->input_count; k++)
      if (!look(user, row_of_node(d, section, node_input(model, m, k)),
                row_of_node(d, section, node_input(model, n, k))))
        return false;
  }
  return true;
}

/* Two neighbouring iterations, by the first row of each. */
struct diagram_pair {
  int64_t a, b;
  int64_t entry; /* the row from which the first one starts */
};

/* The second one starts from the end of the first, which gives the entry. */
static bool find_entry(void *user, int64_t x, int64_t y) {
  struct diagram_pair *pair = user;
  if (pair->entry == NO_NODE && y + 1 == pair->b)
    pair->entry = x;
  return true;
}

static bool same_input(void *user, int64_t x, int64_t y) {
  const struct diagram_pair *pair = user;
  if (y >= pair->b)
    return x - pair->a == y - pair->b;
  if (y + 1 == pair->b)
    return x == pair->entry;
  return x == y && x != pair->entry;
}

static bool look_at_row(struct diagram *d, struct diagram_pair *pair,
                        size_t offset, diagram_look_fn *look) {
  d->search--;
  return diagram_look_at_rows(d, (size_t)pair->a + offset,
                              (size_t)pair->b + offset, look, pair);
}

static bool same_sizes(const struct diagram *d, size_t a, size_t b) {
  const struct row *x = &d->rows.at[a], *y = &d->rows.at[b];
  return x->cost.params == y->cost.params && x->cost.macs == y->cost.macs &&
         shape_equal(row_shape(d->c, x), row_shape(d->c, y));
}

static bool same_turns(struct diagram *d, size_t a, size_t b, size_t length,
                       bool sizes) {
  struct diagram_pair pair = {(int64_t)a, (int64_t)b, NO_NODE};
  size_t checked = 0; /* rows compared so far, once the entry is known */
  for (size_t i = 0; i < length; i++) {
    if ((sizes && !same_sizes(d, a + i, b + i)) ||
        !look_at_row(d, &pair, i, find_entry) || pair.entry >= (int64_t)a)
      return false;
    for (; checked <= i && pair.entry >= 0; checked++)
      if (!look_at_row(d, &pair, checked, same_input))
        return false;
  }
  return checked == length;
}

/* No row after an iteration reads what is inside it. */
static bool is_closed(const struct diagram *d, size_t first, size_t end) {
  for (size_t row = first; row + 1 < end; row++)
    if (d->reader_of_row[row] >= (int64_t)end)
      return false;
  return true;
}

/* The outermost loop's iteration that a row is in, or NULL. */
static const struct frame *outermost_turn(const struct diagram *d, size_t row) {
  const struct frame *turn = NULL;
  for (const struct frame *f =
           d->c->model->nodes.at[d->rows.at[row].first].frame;
       f; f = f->parent)
    if (frame_kind(f) == FRAME_LOOP)
      turn = f;
  return turn;
}

/* A row is in that iteration or in the next one. */
static bool is_near(const struct diagram *d, const struct frame *turn,
                    size_t row) {
  int64_t node = d->rows.at[row].first;
  return iteration_has(turn, node) ||
         iteration_before(d->c->model, turn->first, node) == turn;
}

/* Two iterations of one `repeat`, which the author calls the same. */
static bool are_repeated(const struct diagram *d, size_t a, size_t b) {
  const struct frame *turn =
      iteration_before(d->c->model, d->rows.at[a].head, d->rows.at[b].head);
  if (!turn)
    return false;
  struct slice word = sources_slice(d->c->sources, turn->stmt->span);
  return word.length > 6 && memcmp(word.at, "repeat", 6) == 0;
}

/* Polynomial sums: their differences are equal for equal texts. */

enum { LONGEST_TURN = 256 }; /* pieces: keeps the search near to linear */

static const uint64_t base = 0x9e3779b97f4a7c15u;

/* A row with a warning is equal to no other, so that it is shown. */
static uint64_t piece_hash(const struct diagram *d,
                           const struct diagram_piece *p) {
  uint64_t hash = p->group == NO_NODE;
  for (size_t row = p->first; row < p->end; row++)
    hash = hash * base + d->hash_of_row[row] +
           (d->rows.at[row].warning_count ? row : 0);
  return hash * 31 + (p->end - p->first);
}

void diagram_sum_pieces(struct diagram *d, struct diagram_pieces *p) {
  p->sums = arena_alloc(d->arena, p->count + 1, sizeof *p->sums);
  for (size_t i = 0; i < p->count; i++)
    p->sums[i + 1] = p->sums[i] * base + piece_hash(d, &p->at[i]);
}

static bool same_sums(const struct diagram_pieces *p, size_t a, size_t period,
                      uint64_t power) {
  size_t b = a + period, end = b + period;
  return p->sums[b] - p->sums[a] * power == p->sums[end] - p->sums[b] * power;
}

bool diagram_same_groups(const struct diagram_pieces *p, size_t a, size_t b,
                         size_t period) {
  size_t first = p->at[a].first, second = p->at[b].first;
  for (size_t i = 0; i < period; i++)
    if (p->at[a + i].end - first != p->at[b + i].end - second ||
        (p->at[a + i].group == NO_NODE) != (p->at[b + i].group == NO_NODE))
      return false;
  return true;
}

static bool same_texts(const struct diagram *d, const struct diagram_pieces *p,
                       size_t a, size_t b, size_t period) {
  size_t first = p->at[a].first, second = p->at[b].first;
  if (!diagram_same_groups(p, a, b, period))
    return false;
  for (size_t i = 0; i < p->at[a + period - 1].end - first; i++)
    if (d->hash_of_row[first + i] != d->hash_of_row[second + i] ||
        d->rows.at[first + i].warning_count ||
        d->rows.at[second + i].warning_count)
      return false;
  return true;
}

static bool same_pieces(struct diagram *d, const struct diagram_pieces *p,
                        size_t a, size_t period, bool *varies) {
  size_t b = a + period, first = p->at[a].first, second = p->at[b].first;
  size_t length = second - first;
  if (d->reader_of_row[second - 1] >= (int64_t)(second + length) ||
      p->at[b + period - 1].end != second + length)
    return false;
  if (*varies || !same_turns(d, first, second, length, true)) {
    *varies = true;
    if (length == 1 || !are_repeated(d, first, second) ||
        !same_turns(d, first, second, length, false))
      return false;
  }
  return same_texts(d, p, a, b, period) && is_closed(d, first, second);
}

/* The number of iterations that start at a piece, of `period` pieces. */
static size_t count_turns(struct diagram *d, const struct diagram_pieces *p,
                          size_t at, size_t end, size_t period, uint64_t power,
                          bool *varies) {
  size_t count = 1;
  bool strict = true;
  for (size_t here = at;
       here + 2 * period <= end && same_sums(p, here, period, power);
       here += period) {
    bool now = !strict;
    if (!same_pieces(d, p, here, period, &now))
      break;
    if (now && strict && count > 1)
      break; /* equal iterations first; different ones are another run */
    *varies = now;
    strict = !now;
    count++;
  }
  return count;
}

/*
 * The budget of comparisons, per row and for any net. Nets that people write
 * do not come near it; beyond it, rows are drawn one by one.
 */
enum { SEARCH_ROW = 200, SEARCH_LEAST = 100000 };

void diagram_open_search(struct diagram *d) {
  d->search = SEARCH_LEAST + SEARCH_ROW * (int64_t)d->rows.count;
}

struct diagram_run diagram_find_run(struct diagram *d,
                                    const struct diagram_pieces *p, size_t at,
                                    size_t end) {
  struct diagram_run best = {1, 1, false};
  size_t saved = 0, row = p->at[at].first;
  int64_t reader = -1; /* of all rows but the iteration's last */
  uint64_t power = 1;
  if (d->c->options->unfold)
    return best;
  const struct frame *turn =
      d->effort >= EFFORT_LOOPS ? outermost_turn(d, row) : NULL;
  size_t most = (end - at) / 2 < LONGEST_TURN ? (end - at) / 2 : LONGEST_TURN;
  for (size_t period = 1;
       period <= most && saved + period < end - at && d->search > 0; period++) {
    size_t next = p->at[at + period - 1].end, count = 1;
    bool varies = false;
    power *= base;
    for (; row + 1 < next; row++)
      reader = d->reader_of_row[row] > reader ? d->reader_of_row[row] : reader;
    if (!turn && reader >= (int64_t)p->at[at + most - 1].end)
      break; /* something outside of all iterations reads it */
    if (reader < (int64_t)next)
      count = count_turns(d, p, at, end, period, power, &varies);
    if (turn && !is_near(d, turn, p->at[at + period].first))
      turn = NULL; /* longer periods also end after the next iteration */
    if (turn) {
      size_t turns = diagram_find_loop(d, p, at, end, period);
      if (turns > count) {
        count = turns;
        varies = true;
      }
    }
    if ((count - 1) * period > saved) {
      saved = (count - 1) * period;
      best = (struct diagram_run){period, count, varies};
    }
  }
  return best;
}
