/* Makes a `def` of runs of statements that appear in several places. Families
 * of alike runs that save the most lines come first, until none saves any. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import/parameter.h"

enum { LONGEST_DEF = 24, MOST_STATEMENTS = 20000, MOST_DEFS = 24 };

/* Runs of the same form. */
struct def_family {
  uint64_t form;
  size_t length;
  int lines, saved;
  VEC(struct source_run) runs;
};

typedef VEC(struct def_family *) family_list;

struct define_search {
  struct source_plan *plan;
  struct arena *arena;
  struct map by_form;
  family_list all;
  size_t longest;
};

static bool overlaps(const struct def_family *f, const struct source_run *run) {
  if (f->runs.count == 0)
    return false;
  const struct source_run *last = &f->runs.at[f->runs.count - 1];
  return last->block == run->block && last->from + last->length > run->from;
}

static bool runs_alike(const struct source_plan *plan,
                       const struct source_run *a, const struct source_run *b) {
  struct likeness how = {plan, true, a->block->all.at[a->from].first,
                         b->block->all.at[b->from].first};
  for (size_t i = 0; i < a->length; i++) {
    const struct statement *x = &a->block->all.at[a->from + i];
    const struct statement *y = &b->block->all.at[b->from + i];
    if ((x->labelled != y->labelled && i + 1 < a->length) ||
        !statement_same(&how, x, y))
      return false;
  }
  return true;
}

/*
 * True if a statement may move into a def. Names of outputs belong to the net:
 * a def would give them twice. A tensor from before `first` can be an argument
 * of the def. A layer that is used again cannot, nor can the iteration of an
 * enclosing loop: only a loop inside the def (`looped`) has an index there.
 */
static bool may_move(const struct source_plan *plan, const struct statement *s,
                     int first, bool looped) {
  if (statement_is(s, "input") || statement_is(s, "output"))
    return false;
  if (s->series_until > 0 && s->series_from < first)
    return false;
  bool of_layer = statement_names_layer(s);
  if (s->index && !looped)
    return false;
  looped = looped || s->series_until > 0;
  for (size_t i = 0; i < s->pieces.count; i++) {
    const struct source_piece *piece = &s->pieces.at[i];
    if (piece->kind == PIECE_LABEL && piece->index && !looped)
      return false;
    if (piece->kind == PIECE_LABEL && plan->ordinal[piece->node] < first &&
        (of_layer || *piece->text.before))
      return false;
    const struct source_block *inner = piece->block;
    for (size_t k = 0; inner && k < inner->all.count; k++)
      if (!may_move(plan, &inner->all.at[k], first, looped))
        return false;
  }
  return true;
}

static void note_run(struct define_search *search, struct source_run run,
                     uint64_t form) {
  struct slice key = {arena_copy(search->arena, (char *)&form, sizeof form),
                      sizeof form};
  struct map_entry *entry = map_add(search->arena, &search->by_form, key);
  struct def_family *f = entry->pointer;
  if (!f) {
    entry->pointer = f = ARENA_NEW(search->arena, struct def_family);
    *f = (struct def_family){.form = form, .length = run.length};
    f->lines = run_lines(&run);
    *VEC_PUSH(search->arena, &search->all) = f;
  }
  if (f->length == run.length && !overlaps(f, &run) &&
      (f->runs.count == 0 || runs_alike(search->plan, &f->runs.at[0], &run)))
    *VEC_PUSH(search->arena, &f->runs) = run;
}

/* True if `from` is the only statement of a run that reads an outside tensor.
 * Such a run is better called after its `from`. */
static bool only_begins_outside(const struct source_plan *plan,
                                const struct source_run *run) {
  const struct statement *s = &run->block->all.at[run->from];
  if (!statement_is(s, "from"))
    return false;
  struct source_run rest = {run->block, run->from + 1, run->length - 1};
  return run->length == 1 || run_is_closed(plan, &rest, true);
}

static void search_block(struct define_search *search,
                         struct source_block *block) {
  for (size_t i = 0; i < block->all.count; i++) {
    uint64_t form = 0;
    for (size_t n = 1; n <= search->longest && i + n <= block->all.count; n++) {
      const struct statement *s = &block->all.at[i + n - 1];
      struct source_run run = {block, i, n};
      if (!may_move(search->plan, s, block->all.at[i].first, false))
        break;
      form = (form ^ s->form) * UINT64_C(0x9E3779B97F4A7C15) + n;
      if (run_is_private(search->plan, &run, true) && run_lines(&run) > 1 &&
          !only_begins_outside(search->plan, &run))
        note_run(search, run, form);
    }
    const struct statement *s = &block->all.at[i];
    for (size_t k = 0; k < s->pieces.count; k++)
      if (s->pieces.at[k].kind == PIECE_BLOCK)
        search_block(search, s->pieces.at[k].block);
  }
}

static size_t count_statements(const struct source_block *block) {
  size_t count = block->all.count;
  for (size_t i = 0; i < block->all.count; i++)
    for (size_t k = 0; k < block->all.at[i].pieces.count; k++)
      if (block->all.at[i].pieces.at[k].kind == PIECE_BLOCK)
        count += count_statements(block->all.at[i].pieces.at[k].block);
  return count;
}

/* True if the runs follow each other: they become a table and need no def. */
static bool are_neighbours(const struct source_plan *plan,
                           const struct def_family *f) {
  if (!run_is_closed(plan, &f->runs.at[0], true))
    return false;
  for (size_t i = 1; i < f->runs.count; i++)
    if (f->runs.at[i].block != f->runs.at[0].block ||
        f->runs.at[i].from != f->runs.at[i - 1].from + f->length)
      return false;
  return true;
}

static bool comes_before(const struct source_plan *plan,
                         const struct def_family *a,
                         const struct def_family *b) {
  if (plan->layout.small_defs && a->lines != b->lines)
    return a->lines < b->lines;
  return a->saved != b->saved ? a->saved > b->saved : a->length < b->length;
}

static struct def_family *best_family(struct define_search *search) {
  struct def_family *best = NULL;
  for (size_t i = 0; i < search->all.count; i++) {
    struct def_family *f = search->all.at[i];
    int count = (int)f->runs.count;
    f->saved = count * (f->lines - 1) - f->lines - 2;
    bool better = f->saved > 0 && count > 1 &&
                  (!best || comes_before(search->plan, f, best));
    if (better && !are_neighbours(search->plan, f) &&
        parameters_count(search->plan, f->runs.at, f->runs.count, true) <=
            MOST_PARAMETERS)
      best = f;
  }
  return best;
}

/* Names. */

/* A def's name: the letters that the file's names of all runs begin with. If a
 * run takes several tensors, the name of its result says more. */
static const char *common_name(struct source_plan *plan,
                               const struct def_family *f) {
  const char *common = NULL;
  size_t length = 0;
  for (size_t i = 0; i < f->runs.count; i++) {
    const struct source_run *run = &f->runs.at[i];
    const struct statement *s = &run->block->all.at[run->from];
    const struct statement *last = &s[run->length - 1];
    bool closed = run_is_closed(plan, run, true);
    int node = plan->order[closed ? s->first : last->last];
    const char *name = plan->graph->nodes.at[node]->name;
    size_t same = 0;
    while (name && isalpha((unsigned char)name[same]) &&
           (!common || (same < length && name[same] == common[same])))
      same++;
    common = name;
    length = same;
    if (length < 4 || length > 20)
      return NULL;
  }
  return graph_text(plan->graph, "%.*s", (int)length, common);
}

static bool has_loop(const struct def_family *f) {
  const struct source_run *run = &f->runs.at[0];
  for (size_t i = 0; i < run->length; i++)
    if (statement_is(&run->block->all.at[run->from + i], "repeat"))
      return true;
  return false;
}

static const char *name_def(struct source_plan *plan,
                            const struct def_family *f) {
  const char *name = common_name(plan, f);
  if (!name || word_index("conv layer model node", slice_of(name)))
    name = has_loop(f) ? "stage" : "block";
  const char *whole = graph_identifier(plan->graph, name);
  for (int i = 2; source_has_word(plan, whole); i++)
    whole = graph_text(plan->graph, "%s%d", name, i);
  return whole;
}

static struct statement call(struct source_plan *plan, const char *name,
                             const struct source_run *run,
                             const struct parameters *p,
                             const struct part_text *values) {
  const struct statement *last =
      &run->block->all.at[run->from + run->length - 1];
  struct statement s = {.node = last->node,
                        .first = run->block->all.at[run->from].first,
                        .last = last->last};
  statement_put_text(plan, &s, PART_NONE, name);
  for (size_t i = 0; i < p->count; i++) {
    bool label = values[i].part == PART_TENSOR && *values[i].value == '#';
    struct source_piece *piece =
        statement_put(plan, &s, label ? PIECE_LABEL : PIECE_TEXT);
    piece->text = values[i];
    if (label)
      piece->node = atoi(values[i].value + 1);
  }
  statement_measure(plan, &s);
  return s;
}

/* Replaces a run by one statement. */
static void replace(struct source_run *run, struct statement by) {
  struct statement *at = run->block->all.at;
  size_t rest = run->block->all.count - run->from - run->length;
  at[run->from] = by;
  memmove(&at[run->from + 1], &at[run->from + run->length], rest * sizeof *at);
  run->block->all.count -= run->length - 1;
}

/* Turns labels that have become parameters into texts. */
static void name_tensors(struct source_block *block) {
  for (size_t i = 0; i < block->all.count; i++)
    for (size_t k = 0; k < block->all.at[i].pieces.count; k++) {
      struct source_piece *piece = &block->all.at[i].pieces.at[k];
      if (piece->kind == PIECE_BLOCK)
        name_tensors(piece->block);
      else if (piece->kind == PIECE_LABEL && piece->text.value &&
               piece->text.part == PART_TENSOR && *piece->text.value != '#')
        piece->kind = PIECE_TEXT;
    }
}

static bool define(struct source_plan *plan, struct def_family *f) {
  struct parameters p;
  const char *name = name_def(plan, f);
  if (!parameters_find(plan, f->runs.at, f->runs.count, true, &p))
    return false;
  struct statement def = {.node = -1};
  statement_put_text(plan, &def, PART_NONE, "def");
  statement_put_text(plan, &def, PART_NONE, name);
  for (size_t i = 0; i < p.count; i++)
    statement_put_text(plan, &def, PART_NONE, p.name[i]);
  struct source_block *body =
      ARENA_NEW(plan->graph->arena, struct source_block);
  const struct source_run *first = &f->runs.at[0];
  for (size_t i = 0; i < first->length; i++)
    *VEC_PUSH(plan->graph->arena, &body->all) =
        first->block->all.at[first->from + i];
  body->all.at[first->length - 1].node = -1; /* the label is on the call */
  name_tensors(body);
  block_measure(plan, body);
  statement_put(plan, &def, PIECE_BLOCK)->block = body;
  for (size_t i = f->runs.count; i-- > 0;)
    replace(&f->runs.at[i],
            call(plan, name, &f->runs.at[i], &p, &p.values[i * p.count]));
  *VEC_PUSH(plan->graph->arena, &plan->defs.all) = def;
  return true;
}

void source_fold_defs(struct source_plan *plan) {
  for (int round = 0; round < MOST_DEFS; round++) {
    struct arena scratch;
    arena_open_in(&scratch, plan->graph->arena);
    struct define_search search = {.plan = plan, .arena = &scratch};
    search.longest =
        count_statements(&plan->top) > MOST_STATEMENTS ? 4 : LONGEST_DEF;
    search_block(&search, &plan->top);
    for (size_t i = 0; i < plan->defs.all.count; i++) {
      struct statement *def = &plan->defs.all.at[i];
      search_block(&search, def->pieces.at[def->pieces.count - 1].block);
    }
    struct def_family *best = best_family(&search);
    bool found = best && define(plan, best);
    arena_close(&scratch);
    if (!found)
      break;
    block_measure(plan, &plan->top);
    source_fold_block(plan, &plan->top, false);
  }
}
