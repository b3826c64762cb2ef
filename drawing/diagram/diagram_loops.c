/*
 * Loops: iterations of a `for` whose layers differ only in figures. One is
 * drawn for all if each reads from the one before it as that one does, and if a
 * later row that reads one iteration reads all of them alike, such as the sum
 * over WaveNet's skips.
 */
#include "drawing/diagram/diagram.h"
#include "sema/repeat/iteration.h"

enum {
  MOST_CARRIED = 4, /* tensors that an iteration hands to the next */
  MOST_FAILURES = 16,
  MOST_ROWS = 4000 /* loops of larger nets are drawn in full */
};

/* Rows of a loop: `count` iterations of `length` rows each. */
struct diagram_loop {
  struct diagram *d;
  int64_t first, length, count;
  int64_t at;                 /* the iteration compared with the next one */
  int64_t from[MOST_CARRIED]; /* rows of the iteration before, from its first */
  int64_t start[MOST_CARRIED]; /* rows that the first iteration reads instead */
  int carried;
};

static const struct row *row_at(const struct diagram_loop *l, int64_t row) {
  return &l->d->rows.at[row];
}

/* True if neither warns and both are layers, or calls of one def. */
static bool same_rows(const struct diagram_loop *l, int64_t a, int64_t b) {
  const struct row *x = row_at(l, a), *y = row_at(l, b);
  return !x->warning_count && !y->warning_count &&
         ((row_only_moves(l->d, x) && row_only_moves(l->d, y)) ||
          ((x->group == NO_NODE) == (y->group == NO_NODE) &&
           call_of_group(l->d, x->group) == call_of_group(l->d, y->group)));
}

/* A carried tensor has one place in the iteration and one initial row. A box
 * for an iteration may give several tensors. */
static bool same_carried(struct diagram_loop *l, int64_t place, int64_t start) {
  bool several = l->d->effort >= EFFORT_BLOCKS && l->length == 1;
  for (int i = 0; i < l->carried; i++)
    if (l->from[i] == place && l->start[i] == start)
      return true;
    else if (!several && (l->from[i] == place || l->start[i] == start))
      return false;
  if (l->carried == MOST_CARRIED)
    return false;
  l->from[l->carried] = place;
  l->start[l->carried++] = start;
  return true;
}

/* True if an input of an iteration corresponds to that of the next one. */
static bool same_input(void *user, int64_t x, int64_t y) {
  struct diagram_loop *l = user;
  int64_t a = l->at, b = a + l->length;
  if (y >= b)
    return x == y - l->length;
  if (y >= a)
    return a == l->first ? x < a && same_carried(l, y - a, x)
                         : x == y - l->length;
  return x == y;
}

static int64_t node_of(const struct diagram_loop *l, int64_t row) {
  return row_at(l, row)->first;
}

/* The iteration of row `a` if row `b` is in the next one, or NULL. */
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

/* True if the iteration after `before`, from `row` on, has no more rows. */
static bool last_is_whole(const struct diagram_loop *l, int64_t row,
                          const struct frame *before) {
  const struct frame *turn =
      iteration_apart(l->d->c->model, node_of(l, row), before->first);
  return turn && !is_inside(l, row + l->length, turn);
}

/* The iteration that has exactly the rows of one period from `a` on, or
 * NULL. */
static const struct frame *whole_turn(const struct diagram_loop *l, int64_t a) {
  const struct frame *turn = turn_of(l, a, a + l->length);
  return !turn || is_inside(l, a - 1, turn) ||
                 !is_inside(l, a + l->length - 1, turn)
             ? NULL
             : turn;
}

static bool next_turn(struct diagram_loop *l, int64_t a) {
  const struct frame *turn = whole_turn(l, a);
  l->at = a;
  for (int64_t row = a; row < a + l->length; row++)
    if (--l->d->search < 0 || !same_rows(l, row, row + l->length) ||
        !diagram_look_at_rows(l->d, (size_t)row, (size_t)(row + l->length),
                              same_input, l) ||
        turn_of(l, row, row + l->length) != turn ||
        !same_text(l, row, row + l->length))
      return false;
  return l->carried > 0 && last_is_whole(l, a + l->length, turn);
}

/* Readers */

/*
 * True if a row after the loop reads a place of the last iteration, or of all
 * of them, when one name serves all. `seen` counts its reads by place.
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

/* True if the row is an output, unless only training outputs every
 * iteration. */
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

/* True if a loop failed too often to try again; each try costs as much. */
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
       diagram_same_groups(p, here, here + period, period) &&
       next_turn(&l, (int64_t)p->at[here].first);
       here += period)
    l.count++;
  if (l.count > 1 && is_closed(&l))
    return (size_t)l.count;
  if (l.count > 1)
    count_failure(d, &l);
  return 1;
}

/* Groups for iterations */

enum {
  LEAST_TURN = 4,     /* layers of an iteration that is drawn as a block */
  MOST_TURNED = 20000 /* layers of a net whose iterations get groups */
};

/* The innermost group that has all nodes of an iteration. */
static int64_t group_around(const struct model *model,
                            const struct frame *turn) {
  int64_t group = model->nodes.at[turn->first].group;
  while (group > 0 && (model->groups.at[group].first > turn->first ||
                       model->groups.at[group].end < turn->end))
    group = model->groups.at[group].parent;
  return group;
}

/* The name of an iteration that ends with `encoder[3]`, or "block". */
static struct slice word_of_turn(const struct model *model,
                                 const struct frame *turn) {
  const struct node_name *name = &model->nodes.at[turn->end - 1].name;
  int64_t group = model->nodes.at[turn->end - 1].group;
  for (; group > 0 && model->groups.at[group].first >= turn->first;
       group = model->groups.at[group].parent)
    if (model->groups.at[group].end == turn->end)
      name = &model->groups.at[group].name;
  struct slice word = name->ordinal ? (struct slice){0} : name_text(name);
  const char *index = word.length ? memchr(word.at, '[', word.length) : NULL;
  size_t length = index ? (size_t)(index - word.at) : 0;
  return length > 1 ? (struct slice){word.at, length} : slice_of("block");
}

/* Puts a group around an iteration, unless it consists of one. */
static void add_turn(struct arena *arena, struct model *model,
                     const struct frame *turn) {
  int64_t around = group_around(model, turn);
  int64_t new = (int64_t)model->groups.count;
  struct slice word = word_of_turn(model, turn);
  if (around > 0 && model->groups.at[around].first == turn->first &&
      model->groups.at[around].end == turn->end)
    return;
  for (int64_t i = turn->first; i < turn->end; i++)
    if (model->nodes.at[i].group == around)
      model->nodes.at[i].group = (int32_t) new;
  for (int64_t g = 1; g < new; g++) {
    struct group *group = &model->groups.at[g];
    if (group->parent == around && group->first < group->end &&
        turn->first <= group->first && group->end <= turn->end)
      group->parent = new;
  }
  *VEC_PUSH(arena, &model->groups) =
      (struct group){.parent = around,
                     .name = name_with(slice_of("for."), (int32_t) new),
                     .span = turn->stmt->span,
                     .stmt = turn->stmt,
                     .call = word,
                     .first = turn->first,
                     .end = turn->end,
                     .out = turn->end - 1};
}

/* The frame with a node that is directly in another one. */
static const struct frame *frame_in(const struct model *model, int64_t node,
                                    const struct frame *around) {
  const struct frame *frame = model->nodes.at[node].frame;
  while (frame && frame->parent != around)
    frame = frame->parent;
  return frame;
}

/* True for an iteration that consists of another loop. */
static bool holds_loop(const struct model *model, const struct frame *turn) {
  const struct frame *first = frame_in(model, turn->first, turn);
  const struct frame *last = frame_in(model, turn->end - 1, turn);
  return first && last && first != last && first->stmt == last->stmt &&
         frame_kind(first) == FRAME_LOOP;
}

/* Adds the iterations that start with a node, outer ones first. */
static void add_turns(struct arena *arena, struct model *model, int64_t node,
                      const struct frame *frame) {
  if (!frame || frame->first > node)
    return;
  add_turns(arena, model, node, frame->parent);
  if (frame_kind(frame) == FRAME_LOOP && frame->first == node &&
      frame->end - frame->first >= LEAST_TURN && !holds_loop(model, frame))
    add_turn(arena, model, frame);
}

const struct compiled *net_with_turns(const struct compiled *c) {
  size_t groups = c->model->groups.count, nodes = c->model->nodes.count;
  if (nodes > MOST_TURNED)
    return NULL;
  struct model *model = ARENA_NEW(c->arena, struct model);
  struct compiled *turned = ARENA_NEW(c->arena, struct compiled);
  *model = *c->model;
  model->groups.at = arena_alloc(c->arena, groups, sizeof *model->groups.at);
  model->groups.room = groups;
  memcpy(model->groups.at, c->model->groups.at,
         groups * sizeof *model->groups.at);
  model->nodes.at = arena_alloc(c->arena, nodes, sizeof *model->nodes.at);
  model->nodes.room = nodes;
  memcpy(model->nodes.at, c->model->nodes.at, nodes * sizeof *model->nodes.at);
  for (size_t i = 0; i < nodes; i++)
    add_turns(c->arena, model, (int64_t)i, model->nodes.at[i].frame);
  *turned = *c;
  turned->model = model;
  return turned;
}
