/* Leaves: the lines of a folded net that a picture shows. */
#include "drawing/leaves.h"

#include "codegen/plain.h"

struct leaf_walk {
  struct leaves *leaves;
  int depth;      /* deeper lines are left out */
  size_t *leaf;   /* by line: its leaf, from 1; 0: none */
  int64_t *times; /* by depth: repeats around the current line */
};

static bool has_inner(const struct folds *folds, size_t line) {
  return line + 1 < folds->count &&
         folds->at[line + 1].depth > folds->at[line].depth;
}

/* Inputs of the net stay separate even if they look alike. */
static bool is_input(const struct leaves *leaves,
                     const struct fold_line *line) {
  const struct row *row = &leaves->rows.at[line->row];
  return line->period == 1 &&
         leaves->c->model->nodes.at[row->head].kind == &model_input_kind;
}

static void add_inputs(struct leaves *leaves, const struct fold_line *line) {
  struct fold_line *each =
      arena_alloc(leaves->c->arena, (size_t)line->times, sizeof *each);
  for (size_t i = 0; i < (size_t)line->times; i++) {
    each[i] = *line;
    each[i].row += i;
    each[i].times = 1;
    leaves->at[leaves->count++] = (struct leaf){&each[i], 1};
  }
}

static void find_leaves(struct leaf_walk *w) {
  struct leaves *leaves = w->leaves;
  const struct folds *folds = &leaves->folds;
  struct arena *arena = leaves->c->arena;
  leaves->at =
      arena_alloc(arena, folds->count + leaves->c->model->sources.count + 1,
                  sizeof *leaves->at);
  leaves->count = 0;
  for (size_t i = 0; i < folds->count; i++) {
    const struct fold_line *line = &folds->at[i];
    if (line->depth > w->depth)
      continue;
    int64_t turns = (line->depth ? w->times[line->depth - 1] : 1) * line->times;
    w->times[line->depth] = turns; /* at most the number of rows */
    if (line->depth < w->depth && has_inner(folds, i))
      continue;
    w->leaf[i] = leaves->count + 1;
    if (is_input(leaves, line))
      add_inputs(leaves, line);
    else
      leaves->at[leaves->count++] = (struct leaf){line, turns};
  }
}

/* Inner lines describe the first iteration; the others are like it. */
static void map_rows(struct leaf_walk *w) {
  struct leaves *leaves = w->leaves;
  const struct folds *folds = &leaves->folds;
  leaves->of_row = arena_alloc(leaves->c->arena, leaves->rows.count + 1,
                               sizeof *leaves->of_row);
  for (size_t i = folds->count; i-- > 0;) {
    const struct fold_line *line = &folds->at[i];
    size_t *first = &leaves->of_row[line->row];
    size_t all = line->period * (size_t)line->times;
    if (line->depth > w->depth)
      continue;
    bool each = w->leaf[i] && is_input(leaves, line);
    for (size_t k = w->leaf[i] ? 0 : line->period; k < all; k++)
      first[k] = w->leaf[i] ? w->leaf[i] - 1 + (each ? k : 0)
                            : first[k - line->period];
  }
}

static void find_frames(struct leaf_walk *w) {
  struct leaves *leaves = w->leaves;
  const struct folds *folds = &leaves->folds;
  leaves->frames.count = 0;
  for (size_t i = 0; i < folds->count; i++) {
    const struct fold_line *line = &folds->at[i];
    if (line->depth >= w->depth || w->leaf[i] || line->times < 2)
      continue;
    struct leaf_frame *frame = VEC_PUSH(leaves->c->arena, &leaves->frames);
    frame->first = leaves->of_row[line->row];
    frame->end = leaves->of_row[line->row + line->period - 1] + 1;
    frame->times = line->times;
  }
}

static void show(struct leaves *leaves, int depth) {
  struct arena *arena = leaves->c->arena;
  struct leaf_walk w = {.leaves = leaves, .depth = depth};
  w.leaf = arena_alloc(arena, leaves->folds.count + 1, sizeof *w.leaf);
  w.times =
      arena_alloc(arena, (size_t)leaves->folds.deepest + 1, sizeof *w.times);
  find_leaves(&w);
  map_rows(&w);
  find_frames(&w);
}

struct leaves leaves_of(const struct compiled *c, enum fold_how how) {
  struct leaves leaves = {.c = c, .rows = rows_of(c)};
  leaves.folds =
      folds_of(c, &leaves.rows, c->options->unfold ? FOLD_NONE : how);
  show(&leaves, leaves.folds.deepest);
  return leaves;
}

bool leaves_close(struct leaves *leaves, size_t fewest) {
  struct leaves closed = *leaves;
  if (leaves->folds.deepest == 0)
    return false;
  closed.folds.deepest--;
  closed.frames.at = NULL;
  closed.frames.count = closed.frames.room = 0;
  closed.closed = true;
  show(&closed, closed.folds.deepest);
  if (closed.count < fewest)
    return false;
  *leaves = closed;
  return true;
}

void leaf_put_name(struct text *out, const struct leaves *leaves,
                   const struct leaf *leaf) {
  const struct fold_line *line = leaf->line;
  const struct row *first = &leaves->rows.at[line->row];
  if (line->group != NO_NODE) {
    model_put_group_name(out, leaves->c->model, line->group);
    return;
  }
  row_put_name(out, leaves->c, first);
  if (line->period == 1)
    return;
  text_put(out, "..");
  row_put_name_inside(out, leaves->c, leaf_row(leaves, leaf), line->inside);
}

void leaf_put_own_name(struct text *out, const struct leaves *leaves,
                       const struct leaf *leaf) {
  const struct fold_line *line = leaf->line;
  const struct model *model = leaves->c->model;
  const struct row *row = &leaves->rows.at[line->row];
  if (line->group != NO_NODE || row->group != NO_NODE) {
    leaf_put_name(out, leaves, leaf);
    return;
  }
  name_put(out, &model->nodes.at[row->head].name);
  if (line->period > 1)
    text_put(out, "..");
}

void leaf_put_layer(struct text *out, const struct leaves *leaves,
                    const struct leaf *leaf) {
  const struct fold_line *line = leaf->line;
  struct slice call = {"", 0};
  if (line->group != NO_NODE)
    call = leaves->c->model->groups.at[line->group].call;
  bool plain = !leaves->c->options->source_labels;
  if (line->period == 1 && plain)
    row_put_plain(out, leaves->c, &leaves->rows.at[line->row], NULL);
  else if (line->period == 1)
    row_put_acting(out, leaves->c, &leaves->rows.at[line->row], false);
  else if (call.length && plain)
    plain_put_call(out, call);
  else if (call.length)
    text_puts(out, call);
  else if (plain) {
    row_put_plain(out, leaves->c, &leaves->rows.at[line->row], NULL);
    text_printf(out, " and %zu more", line->period - 1);
  } else
    text_printf(out, "%zu rows", line->period);
}
