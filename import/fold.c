/* Folds runs of alike statements into loops: `repeat` if they are equal, `for`
 * with a row for each if only numbers differ. */
#include <limits.h>
#include <stdlib.h>

#include "import/series.h"

enum { LONGEST_BODY = 64, MOST_DROPPED = 3 };

/* Kinds of loop, in the order in which they are tried. */
enum fold_loop {
  LOOP_REPEAT, /* equal runs */
  LOOP_TABLE,  /* a row for each run */
  LOOP_SERIES, /* each run takes tensors of earlier ones */
};

/* `count` runs of `length` statements from `from`, and the lines saved. */
struct source_fold {
  size_t from, length, count;
  int saved;
  enum fold_loop loop;
};

typedef VEC(struct source_fold) fold_list;

static int better(const void *a, const void *b) {
  const struct source_fold *x = a, *y = b;
  if (x->saved != y->saved)
    return x->saved < y->saved ? 1 : -1;
  if (x->length != y->length)
    return x->length > y->length ? 1 : -1;
  return x->from > y->from ? 1 : x->from < y->from ? -1 : 0;
}

static struct source_run run_at(struct source_block *block,
                                const struct source_fold *f, size_t i) {
  return (struct source_run){block, f->from + i * f->length, f->length};
}

static struct series_runs series_of(struct source_block *block,
                                    const struct source_fold *f) {
  return (struct series_runs){{block, f->from, f->length}, f->count};
}

/* True if no run uses tensors of another. Equal runs may also read a tensor
 * that is made before all of them. */
static bool all_closed(struct source_plan *plan, struct source_block *block,
                       const struct source_fold *f) {
  bool reads = false;
  for (size_t i = 0; i < f->count; i++) {
    struct source_run run = run_at(block, f, i);
    bool last = i + 1 == f->count;
    bool closed = run_is_closed(plan, &run, last);
    if (!closed &&
        (f->loop != LOOP_REPEAT || !run_is_private(plan, &run, last)))
      return false;
    reads = reads || !closed;
  }
  struct series_runs runs = series_of(block, f);
  return !reads || series_is_repeat(plan, &runs);
}

static int saved_by(struct source_plan *plan, struct source_block *block,
                    const struct source_fold *f) {
  struct source_run first = run_at(block, f, 0);
  int lines = run_lines(&first), whole = lines * (int)f->count;
  bool short_body = f->length == 1 && block->all.at[f->from].width < LINE - 24;
  if (f->loop != LOOP_TABLE)
    return whole - (short_body ? 1 : lines + 2);
  struct source_run *runs =
      arena_alloc(plan->graph->arena, f->count, sizeof *runs);
  for (size_t i = 0; i < f->count; i++)
    runs[i] = run_at(block, f, i);
  size_t names = parameters_count(plan, runs, f->count, false);
  if (names > MOST_PARAMETERS || names == 0)
    return 0;
  int rows = names > 1 ? (int)f->count + 1 : 0;
  return whole - lines - rows - 2;
}

/* The first runs may take their tensors from anywhere: up to MOST_DROPPED of
 * them stay outside the loop. */
static bool fit_series(struct source_plan *plan, struct source_block *block,
                       struct source_fold *f) {
  for (int i = 0; i < MOST_DROPPED && f->count > 1; i++) {
    struct series_runs runs = series_of(block, f);
    if (series_fits(plan, &runs))
      return true;
    f->from += f->length;
    f->count--;
  }
  return false;
}

static void offer(struct source_plan *plan, struct source_block *block,
                  fold_list *list, struct source_fold f) {
  if (f.loop == LOOP_SERIES ? !fit_series(plan, block, &f)
                            : !all_closed(plan, block, &f))
    return;
  f.saved = saved_by(plan, block, &f) - (f.loop == LOOP_SERIES);
  if (f.saved > 0)
    *VEC_PUSH(plan->graph->arena, list) = f;
}

/* True if statement i + p is the same as i. Only the last statement of a run
 * may have a label. */
static bool repeats(const struct source_plan *plan,
                    const struct source_block *block, size_t i, size_t p,
                    enum fold_loop loop) {
  const struct statement *a = &block->all.at[i], *b = &block->all.at[i + p];
  bool series = loop == LOOP_SERIES;
  int first = series ? INT_MAX : 0;
  struct likeness how = {plan, loop == LOOP_TABLE, first, first};
  return (series || !a->labelled >= !b->labelled) && statement_same(&how, a, b);
}

/* For each statement, the number of statements right after it that equal it. */
static size_t *count_same(struct source_plan *plan, struct source_block *block,
                          enum fold_loop loop) {
  size_t count = block->all.count;
  size_t *same = arena_alloc(plan->graph->arena, count + 1, sizeof *same);
  for (size_t i = count; i-- > 1;)
    if (repeats(plan, block, i - 1, 1, loop))
      same[i - 1] = same[i] + 1;
  return same;
}

static void find(struct source_plan *plan, struct source_block *block,
                 enum fold_loop loop, fold_list *list) {
  size_t count = block->all.count;
  const size_t *same = count_same(plan, block, loop);
  for (size_t p = 1; p <= LONGEST_BODY && p * 2 <= count; p++)
    for (size_t i = 0, equal = 0; i + p <= count; i++) {
      if (i + p < count && repeats(plan, block, i, p, loop)) {
        equal++;
        continue;
      }
      size_t first = i - equal;
      if (p > 1 && same[first] >= equal + p - 1)
        equal = 0; /* a shorter period covers this stretch */
      for (size_t shift = 0; equal >= p && shift <= equal % p; shift++)
        offer(plan, block, list,
              (struct source_fold){first + shift, p, equal / p + 1, 0, loop});
      equal = 0;
    }
}

static struct source_block *body_of(struct source_plan *plan,
                                    struct source_run run) {
  struct source_block *body =
      ARENA_NEW(plan->graph->arena, struct source_block);
  for (size_t i = 0; i < run.length; i++)
    *VEC_PUSH(plan->graph->arena, &body->all) = run.block->all.at[run.from + i];
  return body;
}

static bool make_table(struct source_plan *plan, struct source_block *block,
                       const struct source_fold *f, struct statement *s) {
  struct source_run *runs =
      arena_alloc(plan->graph->arena, f->count, sizeof *runs);
  struct parameters p;
  for (size_t i = 0; i < f->count; i++)
    runs[i] = run_at(block, f, i);
  if (!parameters_find(plan, runs, f->count, false, &p))
    return false;
  statement_put_text(plan, s, PART_NONE, "for");
  for (size_t i = 0; i < p.count; i++)
    statement_put_text(plan, s, PART_NONE, p.name[i]);
  statement_put_text(plan, s, PART_NONE, "in");
  struct source_piece *rows = statement_put(plan, s, PIECE_ROWS);
  rows->columns = p.count;
  for (size_t i = 0; i < p.count * f->count; i++)
    *VEC_PUSH(plan->graph->arena, &rows->values) = p.values[i];
  return true;
}

/* `for i in 1..4` */
static void make_series(struct source_plan *plan, struct source_block *block,
                        const struct source_fold *f, struct statement *s) {
  struct series_runs runs = series_of(block, f);
  int64_t iterations[2] = {0};
  series_make(plan, &runs, s, iterations);
  if (s->node >= 0 && plan->series[s->node])
    s->node = -1; /* the label has an index */
  statement_put_text(plan, s, PART_NONE, "for");
  statement_put_text(plan, s, PART_NONE, "i");
  statement_put_text(plan, s, PART_NONE, "in");
  statement_put_text(plan, s, PART_COUNT,
                     graph_text(plan->graph, "%lld", (long long)iterations[1]));
  s->pieces.at[3].text.before =
      graph_text(plan->graph, "%lld..", (long long)iterations[0]);
}

static void make(struct source_plan *plan, struct source_block *block,
                 const struct source_fold *f, struct statement *s) {
  struct source_run first = run_at(block, f, 0);
  const struct statement *last =
      &block->all.at[f->from + f->count * f->length - 1];
  *s = (struct statement){.node = last->node,
                          .first = block->all.at[f->from].first,
                          .last = last->last};
  if (f->loop == LOOP_SERIES) {
    make_series(plan, block, f, s);
  } else if (f->loop == LOOP_REPEAT) {
    statement_put_text(plan, s, PART_NONE, "repeat");
    statement_put_text(plan, s, PART_COUNT,
                       graph_text(plan->graph, "%zu", f->count));
  } else if (!make_table(plan, block, f, s)) {
    return;
  }
  struct source_block *body = body_of(plan, first);
  block_measure(plan, body);
  statement_put(plan, s, PIECE_BLOCK)->block = body;
  statement_measure(plan, s);
}

/* Applies the best folds that do not overlap; false if there are none. */
static bool apply(struct source_plan *plan, struct source_block *block,
                  fold_list *list) {
  struct arena *arena = plan->graph->arena;
  size_t count = block->all.count;
  size_t *taken = arena_alloc(arena, count + 1, sizeof *taken);
  if (list->count == 0)
    return false;
  qsort(list->at, list->count, sizeof *list->at, better);
  for (size_t k = 0; k < list->count; k++) {
    const struct source_fold *f = &list->at[k];
    size_t end = f->from + f->count * f->length;
    bool free = true;
    for (size_t i = f->from; i < end && free; i++)
      free = taken[i] == 0;
    for (size_t i = f->from; i < end && free; i++)
      taken[i] = k + 1;
  }
  struct source_block next = {0};
  for (size_t i = 0; i < count;) {
    struct statement *s = VEC_PUSH(arena, &next.all);
    if (taken[i] == 0) {
      *s = block->all.at[i++];
      continue;
    }
    const struct source_fold *f = &list->at[taken[i] - 1];
    make(plan, block, f, s);
    i = f->from + f->count * f->length;
  }
  *block = next;
  return true;
}

void source_fold_block(struct source_plan *plan, struct source_block *block,
                       bool tables) {
  for (size_t i = 0; i < block->all.count; i++) {
    struct statement *s = &block->all.at[i];
    for (size_t k = 0; k < s->pieces.count; k++)
      if (s->pieces.at[k].kind == PIECE_BLOCK)
        source_fold_block(plan, s->pieces.at[k].block, tables);
    statement_measure(plan, s);
  }
  for (int round = 0; round < 20; round++) {
    fold_list list = {0};
    find(plan, block, LOOP_REPEAT, &list);
    if (tables && list.count == 0)
      find(plan, block, LOOP_TABLE, &list);
    if ((tables || plan->layout.series_early) && list.count == 0)
      find(plan, block, LOOP_SERIES, &list);
    if (!apply(plan, block, &list))
      break;
  }
}

/* Leaves out `pad` after windows of 1x1 that have not become a parameter. */
static void hide_pads(struct source_block *block) {
  for (size_t i = 0; i < block->all.count; i++) {
    bool one = false;
    for (size_t k = 0; k < block->all.at[i].pieces.count; k++) {
      struct source_piece *piece = &block->all.at[i].pieces.at[k];
      if (piece->kind == PIECE_BLOCK)
        hide_pads(piece->block);
      if (piece->kind != PIECE_TEXT)
        continue;
      one = one || part_is_one(&piece->text);
      if (one && strcmp(piece->text.value, "pad") == 0)
        piece->text.usual = piece->text.value;
    }
  }
}

void source_fold(struct source_plan *plan) {
  source_fold_block(plan, &plan->top, false);
  source_fold_defs(plan);
  source_fold_block(plan, &plan->top, true);
  for (size_t i = 0; i < plan->defs.all.count; i++) {
    struct statement *def = &plan->defs.all.at[i];
    source_fold_block(plan, def->pieces.at[def->pieces.count - 1].block, true);
  }
  source_inline_defs(plan);
  if (plan->layout.pads) {
    hide_pads(&plan->top);
    hide_pads(&plan->defs);
    block_measure(plan, &plan->top);
    block_measure(plan, &plan->defs);
  }
}
