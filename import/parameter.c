/*
 * Finds the parameters of alike runs. A column holds the values of one
 * argument, one for each run. Equal columns share a name, and so do multiples:
 * 64 128 256 and 256 512 1024 are `c` and `c*4`.
 */
#include "import/parameter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TENSORS = 3 };

typedef VEC(struct part_text *) part_list;

bool run_is_closed(const struct source_plan *plan, const struct source_run *run,
                   bool but_last) {
  const struct statement *s = &run->block->all.at[run->from];
  for (size_t i = 0; i < run->length; i++)
    if (s[i].reads < s[0].first)
      return false;
  return run_is_private(plan, run, but_last);
}

bool run_is_private(const struct source_plan *plan,
                    const struct source_run *run, bool but_last) {
  const struct statement *s = &run->block->all.at[run->from];
  int last = s[run->length - 1].last;
  for (size_t i = 0; i < run->length; i++) {
    bool named_outside = s[i].labelled && plan->read_until[s[i].node] > last;
    bool may_be = but_last && i + 1 == run->length && named_outside &&
                  !plan->graph->nodes.at[s[i].node]->shared;
    if (s[i].read_until > last || (named_outside && !may_be))
      return false;
  }
  return true;
}

int run_lines(const struct source_run *run) {
  int lines = 0;
  for (size_t i = 0; i < run->length; i++)
    lines += run->block->all.at[run->from + i].lines;
  return lines;
}

/* Collects a label as a part: a label from before `first`, or the index of a
 * label of a series. */
static void collect_label(struct source_plan *plan, struct source_piece *piece,
                          int first, part_list *out) {
  struct part_text *text = &piece->text;
  bool inside = plan->ordinal[piece->node] >= first;
  if (piece->index || (inside && !plan->series[piece->node]))
    return;
  bool is_name = text->value && isalpha((unsigned char)*text->value);
  if (!inside && (!text->value || *text->value != '#')) {
    text->part = PART_TENSOR;
    text->value = graph_text(plan->graph, "#%d", piece->node);
  } else if (inside && !is_name) {
    text->part = PART_COUNT;
    text->value = graph_text(plan->graph, "%d", plan->iteration[piece->node]);
  }
  *VEC_PUSH(plan->graph->arena, out) = &piece->text;
}

static void collect(struct source_plan *plan, struct statement *s, size_t count,
                    int first, part_list *out) {
  struct arena *arena = plan->graph->arena;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < s[i].pieces.count; k++) {
      struct source_piece *piece = &s[i].pieces.at[k];
      if (piece->kind == PIECE_LABEL)
        collect_label(plan, piece, first, out);
      if (piece->kind == PIECE_TEXT && piece->text.part != PART_NONE)
        *VEC_PUSH(arena, out) = &piece->text;
      for (size_t v = 0; v < piece->values.count; v++)
        *VEC_PUSH(arena, out) = &piece->values.at[v];
      if (piece->kind == PIECE_BLOCK)
        collect(plan, piece->block->all.at, piece->block->all.count, first,
                out);
    }
}

struct parameter_columns {
  const part_list *lists; /* by run */
  size_t runs;
  bool apart; /* the runs become calls of a def */
};

static const char *value_at(const struct parameter_columns *c, size_t run,
                            size_t row) {
  return c->lists[run].at[row]->value;
}

/* True if a column needs no parameter. A def has no access to parameters of
 * another def nor to labels of the net. */
static bool is_constant(const struct parameter_columns *c, size_t row) {
  if (*value_at(c, 0, row) == '#')
    return false;
  if (c->apart && isalpha((unsigned char)*value_at(c, 0, row)))
    return false;
  for (size_t i = 1; i < c->runs; i++)
    if (strcmp(value_at(c, i, row), value_at(c, 0, row)) != 0)
      return false;
  return true;
}

static bool is_equal(const struct parameter_columns *c, size_t a, size_t b) {
  for (size_t i = 0; i < c->runs; i++)
    if (strcmp(value_at(c, i, a), value_at(c, i, b)) != 0)
      return false;
  return true;
}

static bool integer(const char *text, int64_t *value) {
  char *end;
  if (*text < '1' || *text > '9' || strlen(text) > 15)
    return false;
  *value = strtoll(text, &end, 10);
  return *end == '\0';
}

/* Returns m if column `a` is m times column `b` in every run; else 0. */
static int64_t multiple(const struct parameter_columns *c, size_t a, size_t b) {
  int64_t factor = 0;
  for (size_t i = 0; i < c->runs; i++) {
    int64_t left, right;
    if (!integer(value_at(c, i, a), &left) ||
        !integer(value_at(c, i, b), &right) || left % right != 0 ||
        (factor && left / right != factor))
      return 0;
    factor = left / right;
  }
  return factor;
}

/* An expression of a column by an earlier one. */
struct said {
  size_t by;       /* the row of the parameter */
  int64_t times;   /* factor, or 1 */
  int64_t divided; /* divisor, or 1 */
};

static bool say(const struct parameter_columns *c, size_t row,
                const size_t *rows, size_t count, const part_list *list,
                struct said *said) {
  for (size_t p = 0; p < count; p++) {
    bool alike = list->at[rows[p]]->part == list->at[row]->part;
    *said = (struct said){p, 1, 1};
    if (alike && is_equal(c, row, rows[p]))
      return true;
    if (!alike || list->at[row]->part != PART_CHANNELS)
      continue;
    if ((said->times = multiple(c, row, rows[p])) > 1)
      return true;
    said->times = 1;
    if ((said->divided = multiple(c, rows[p], row)) > 1)
      return true;
  }
  return false;
}

/* Chooses the rows that become parameters; returns their number. */
static size_t choose(const struct parameter_columns *c,
                     size_t rows[MOST_PARAMETERS + 1], struct said *said) {
  const part_list *list = &c->lists[0];
  size_t count = 0, tensors = 0;
  for (size_t row = 0; row < list->count; row++) {
    said[row].by = SIZE_MAX;
    if (is_constant(c, row) || say(c, row, rows, count, list, &said[row]))
      continue;
    tensors += list->at[row]->part == PART_TENSOR;
    if (count == MOST_PARAMETERS || tensors > MOST_TENSORS)
      return MOST_PARAMETERS + 1;
    said[row] = (struct said){count, 1, 1};
    rows[count++] = row;
  }
  return count;
}

static void name_parameters(struct source_plan *plan, struct parameters *p) {
  static const char letters[] = "vckspgdnvt"; /* by enum graph_part */
  for (size_t i = 0; i < p->count; i++) {
    int same = 0, before = 0;
    char letter = letters[p->part[i]];
    for (size_t k = 0; k < p->count; k++) {
      same += letters[p->part[k]] == letter;
      before += k < i && letters[p->part[k]] == letter;
    }
    p->name[i] = same == 1
                     ? graph_text(plan->graph, "%c", letter)
                     : graph_text(plan->graph, "%c%d", letter, before + 1);
  }
}

static struct parameter_columns collect_runs(struct source_plan *plan,
                                             const struct source_run *runs,
                                             size_t count, bool apart) {
  struct arena *arena = plan->graph->arena;
  part_list *lists = arena_alloc(arena, count, sizeof *lists);
  for (size_t i = 0; i < count; i++) {
    struct statement *s = &runs[i].block->all.at[runs[i].from];
    collect(plan, s, runs[i].length, s->first, &lists[i]);
  }
  return (struct parameter_columns){lists, count, apart};
}

size_t parameters_count(struct source_plan *plan, const struct source_run *runs,
                        size_t count, bool apart) {
  size_t rows[MOST_PARAMETERS + 1];
  struct parameter_columns c = collect_runs(plan, runs, count, apart);
  struct said *said =
      arena_alloc(plan->graph->arena, c.lists[0].count + 1, sizeof *said);
  return choose(&c, rows, said);
}

static const char *expression(struct source_plan *plan, const char *name,
                              const struct said *said) {
  if (said->times > 1)
    return graph_text(plan->graph, "%s*%lld", name, (long long)said->times);
  if (said->divided > 1)
    return graph_text(plan->graph, "%s/%lld", name, (long long)said->divided);
  return name;
}

bool parameters_find(struct source_plan *plan, const struct source_run *runs,
                     size_t count, bool apart, struct parameters *p) {
  size_t rows[MOST_PARAMETERS + 1];
  struct parameter_columns c = collect_runs(plan, runs, count, apart);
  const part_list *body = &c.lists[0];
  struct said *said =
      arena_alloc(plan->graph->arena, body->count + 1, sizeof *said);
  *p = (struct parameters){.count = choose(&c, rows, said)};
  if (p->count > MOST_PARAMETERS)
    return false;
  p->values =
      arena_alloc(plan->graph->arena, count * p->count + 1, sizeof *p->values);
  for (size_t i = 0; i < p->count; i++)
    p->part[i] = body->at[rows[i]]->part;
  name_parameters(plan, p);
  for (size_t run = 0; run < count; run++)
    for (size_t i = 0; i < p->count; i++)
      p->values[run * p->count + i] = (struct part_text){
          p->part[i], "", value_at(&c, run, rows[i]), NULL, NULL};
  for (size_t row = 0; row < body->count; row++)
    if (said[row].by != SIZE_MAX)
      body->at[row]->value =
          expression(plan, p->name[said[row].by], &said[row]);
  return true;
}
