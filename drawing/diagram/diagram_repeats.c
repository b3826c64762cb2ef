/*
 * Repeats. Where fold.h asks what a reader of a table takes for equal, a
 * drawing needs more: turns that start where the one before ended, and that
 * nobody reads from inside. Then one turn can stand for all, with its arrows.
 * Sizes may differ where the author wrote `repeat`. Inputs of a row are
 * compared as seen from the start of its turn; what all turns read from outside
 * is the same tensor.
 */
#include "drawing/diagram/diagram.h"
#include "sema/repeat/iteration.h"

/* Two neighbouring turns: the first row of each. */
struct diagram_pair {
  struct diagram *d;
  size_t a, b;
  int64_t entry; /* the one row before them that the first starts from */
};

/* Calls `look` with what the same input of both turns reads, until false. */
typedef bool look_fn(struct diagram_pair *pair, int64_t x, int64_t y);

static bool look_at_row(struct diagram_pair *pair, size_t offset,
                        look_fn *look) {
  struct diagram *d = pair->d;
  const struct model *model = d->c->model;
  const struct row *a = &d->rows.at[pair->a + offset];
  const struct row *b = &d->rows.at[pair->b + offset];
  const struct diagram_section *section = section_of(d, pair->a);
  d->search--;
  if (row_only_moves(d, a) && row_only_moves(d, b))
    return look(pair, row_of_node(d, section, row_input(d, a)),
                row_of_node(d, section, row_input(d, b)));
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
static bool find_entry(struct diagram_pair *pair, int64_t x, int64_t y) {
  if (pair->entry == NO_NODE && y + 1 == (int64_t)pair->b)
    pair->entry = x;
  return true;
}

static bool same_input(struct diagram_pair *pair, int64_t x, int64_t y) {
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

static bool same_turns(struct diagram *d, size_t a, size_t b, size_t length,
                       bool sizes) {
  struct diagram_pair pair = {d, a, b, NO_NODE};
  size_t checked = 0; /* rows, as soon as it is known where the first starts */
  for (size_t i = 0; i < length; i++) {
    if ((sizes && !same_sizes(d, a + i, b + i)) ||
        !look_at_row(&pair, i, find_entry) || pair.entry >= (int64_t)a)
      return false;
    for (; checked <= i && pair.entry >= 0; checked++)
      if (!look_at_row(&pair, checked, same_input))
        return false;
  }
  return checked == length;
}

/* Whether nobody after a turn reads what is inside it. */
static bool is_closed(const struct diagram *d, size_t first, size_t end) {
  for (size_t row = first; row + 1 < end; row++)
    if (d->reader_of_row[row] >= (int64_t)end)
      return false;
  return true;
}

/* The turn of the outermost loop that a row is in, or NULL. */
static const struct frame *outermost_turn(const struct diagram *d, size_t row) {
  const struct frame *turn = NULL;
  for (const struct frame *f =
           d->c->model->nodes.at[d->rows.at[row].first].frame;
       f; f = f->parent)
    if (frame_kind(f) == FRAME_LOOP)
      turn = f;
  return turn;
}

/* Whether a row is in that turn or in the next one. */
static bool is_near(const struct diagram *d, const struct frame *turn,
                    size_t row) {
  int64_t node = d->rows.at[row].first;
  return iteration_has(turn, node) ||
         iteration_before(d->c->model, turn->first, node) == turn;
}

/* Two turns of one `repeat`: the author calls them the same. */
static bool are_repeated(const struct diagram *d, size_t a, size_t b) {
  const struct frame *turn =
      iteration_before(d->c->model, d->rows.at[a].head, d->rows.at[b].head);
  if (!turn)
    return false;
  struct slice word = sources_slice(d->c->sources, turn->stmt->span);
  return word.length > 6 && memcmp(word.at, "repeat", 6) == 0;
}

/* Sums: those of equal texts are equal, whatever stands before them. */

enum { LONGEST_TURN = 256 }; /* pieces: keeps the search near to linear */

static const uint64_t base = 0x9e3779b97f4a7c15u;

/* What a reader is warned of stands for itself. */
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

static bool same_texts(const struct diagram *d, const struct diagram_pieces *p,
                       size_t a, size_t b, size_t period) {
  size_t first = p->at[a].first, second = p->at[b].first;
  for (size_t i = 0; i < period; i++)
    if (p->at[a + i].end - first != p->at[b + i].end - second ||
        (p->at[a + i].group == NO_NODE) != (p->at[b + i].group == NO_NODE))
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

/* How many turns start at a piece, of so many pieces each. */
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
      break; /* equal ones first; those that differ are another run */
    *varies = now;
    strict = !now;
    count++;
  }
  return count;
}

/*
 * What may be compared: so often each row, and so much in any net. Nothing
 * that people write comes near; beyond, rows are drawn one by one.
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
  int64_t reader = -1; /* of all rows of a turn but its last */
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
      break; /* it is read outside of all turns */
    if (reader < (int64_t)next)
      count = count_turns(d, p, at, end, period, power, &varies);
    if (turn && !is_near(d, turn, p->at[at + period].first))
      turn = NULL; /* what is longer ends after the next turn, too */
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
