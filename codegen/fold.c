/*
 * Folding. A row that could start the next iteration has the same hash as this
 * one; of the nearest few, the one that covers most rows wins. An iteration is
 * folded again inside, so that loops in loops are found.
 */
#include "codegen/fold.h"
#include "base/hash.h"
#include "sema/repeat/stretch.h"

enum {
  CANDIDATES = 8, /* next rows of this hash that may start an iteration */
};

struct folder {
  const struct compiled *c;
  const struct rows *rows;
  uint64_t *hash; /* by row: hash of its text and shapes */
  size_t *next;   /* by row: the next one with its hash; SIZE_MAX: none */
  bool alike;     /* sizes may differ */
  struct folds folds;
};

/* FNV-1a on eight bytes at a time, with high bits mixed into low ones. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length) {
  for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    size_t rest = length - i;
    memcpy(&word, (const char *)bytes + i, rest < 8 ? rest : 8);
    hash = hash_mix(hash, word);
  }
  return hash ^ length;
}

/*
 * An earlier row that is written alike, or SIZE_MAX. It saves writing, which is
 * slow. `late` has the last row for each like layer, from 1.
 */
static size_t written_alike(const struct model *model, const struct rows *rows,
                            size_t index, size_t *late) {
  const struct row *row = &rows->at[index];
  if (row->group != NO_NODE || row->first + 1 != row->end)
    return SIZE_MAX;
  size_t *place = &late[model->like[row->head]], known = *place;
  *place = index + 1;
  return known && model_put_alike(model, row->head, rows->at[known - 1].head)
             ? known - 1
             : SIZE_MAX;
}

/* Hashes the words without numbers between brackets, which it removes. */
static uint64_t hash_series(struct text *words) {
  size_t length = 0;
  bool inside = false;
  for (size_t i = 0; i < words->length; i++) {
    char at = words->at[i];
    inside = at == '[' || (inside && at != ']');
    if (!inside || !is_digit(at))
      words->at[length++] = at;
  }
  return hash_bytes(HASH_TEXT, words->at, length);
}

/* Hashes are kept: rows are folded twice if a page lacks room. */
static void hash_words(const struct compiled *c, struct rows *rows) {
  struct text words = text_new(c->arena);
  if (rows->words)
    return;
  rows->words = arena_alloc(c->arena, rows->count + 1, sizeof *rows->words);
  rows->series = arena_alloc(c->arena, rows->count + 1, sizeof *rows->series);
  size_t *late = arena_alloc(c->arena, c->model->costs.count + 1, sizeof *late);
  for (size_t i = 0; i < rows->count; i++) {
    size_t alike = written_alike(c->model, rows, i, late);
    words.length = 0;
    if (alike != SIZE_MAX) {
      rows->words[i] = rows->words[alike];
      rows->series[i] = rows->series[alike];
      continue;
    }
    row_put_layer(&words, c, &rows->at[i], false);
    rows->words[i] = hash_bytes(HASH_TEXT, words.at, words.length);
    rows->series[i] = words.length && memchr(words.at, '[', words.length)
                          ? hash_series(&words)
                          : rows->words[i];
  }
}

static uint64_t hash_row(const struct folder *f, size_t index) {
  const struct row *row = &f->rows->at[index];
  const struct shape *shape = row_shape(f->c, row);
  uint64_t hash = (f->alike ? f->rows->series : f->rows->words)[index];
  if (f->c->model->nodes.at[row->head].kind == &model_input_kind)
    return hash_bytes(hash, &row->head, sizeof row->head); /* never equal */
  if (f->alike)
    return hash;
  hash = hash_bytes(hash, shape->dim, (size_t)shape->rank * sizeof *shape->dim);
  hash = hash_bytes(hash, &row->cost.params, sizeof row->cost.params);
  hash = hash_bytes(hash, &row->cost.macs, sizeof row->cost.macs);
  int64_t more[3] = {row->end - row->first, (int64_t)row->warning_count,
                     row->shares};
  return hash_bytes(hash, more, sizeof more);
}

/* Links each row to the next one of its hash, from the back. */
static void link_rows(struct folder *f) {
  size_t count = f->rows->count, size = 16;
  while (size < 2 * count)
    size *= 2;
  size_t *table = arena_alloc(f->c->arena, size, sizeof *table); /* from 1 */
  for (size_t i = count; i-- > 0;) {
    size_t at = f->hash[i] & (size - 1);
    while (table[at] && f->hash[table[at] - 1] != f->hash[i])
      at = (at + 1) & (size - 1);
    f->next[i] = table[at] ? table[at] - 1 : SIZE_MAX;
    table[at] = i + 1;
  }
}

/* True if a group is another one, or encloses it. */
static bool group_holds(const struct model *model, int64_t group,
                        int64_t inner) {
  while (inner > 0 && inner != group)
    inner = model->groups.at[inner].parent;
  return inner == group || group == 0;
}

static int64_t common_group(const struct model *model, int64_t a, int64_t b) {
  while (a > 0 && !group_holds(model, a, b))
    a = model->groups.at[a].parent;
  return a;
}

static bool same_row(const struct folder *f, size_t i, size_t k) {
  const struct row *a = &f->rows->at[i], *b = &f->rows->at[k];
  if (f->hash[i] != f->hash[k])
    return false;
  for (int64_t n = 0; n < a->end - a->first && !f->alike; n++)
    if (!stretch_reads_alike(f->c->model, a->first + n, b->first + n))
      return false;
  return true;
}

/* The number of iterations of `period` rows from `row` on, up to `end`. */
static int64_t count_turns(const struct folder *f, size_t row, size_t period,
                           size_t end) {
  int64_t times = 1;
  for (size_t at = row + period; at + period <= end; at += period, times++)
    for (size_t i = 0; i < period; i++)
      if (!same_row(f, at - period + i, at + i))
        return times;
  return times;
}

/*
 * An iteration must not cut a group in two: at each border, the group that
 * holds both sides must hold all iterations.
 */
static bool keeps_to_groups(const struct folder *f, size_t row, size_t period,
                            int64_t times) {
  const struct model *model = f->c->model;
  const struct row *at = f->rows->at;
  size_t end = row + period * (size_t)times;
  int64_t all = common_group(model, at[row].owner, at[end - 1].owner);
  for (size_t cut = row; cut <= end; cut += period) {
    if (cut == 0 || cut == f->rows->count)
      continue;
    int64_t both = common_group(model, at[cut - 1].owner, at[cut].owner);
    if (!group_holds(model, both, all))
      return false;
  }
  return true;
}

/* The line for what repeats from `row` on; `times` is 1 if nothing repeats. */
static struct fold_line find_turns(const struct folder *f, size_t row,
                                   size_t end, size_t least) {
  struct fold_line best = {.row = row, .period = 1, .times = 1};
  size_t next = f->next[row], covered = 1;
  for (int i = 0; i < CANDIDATES && next < end; i++, next = f->next[next]) {
    size_t period = next - row;
    if (period < least)
      continue;
    int64_t times = count_turns(f, row, period, end);
    if (times > 1 && !keeps_to_groups(f, row, period, times))
      times = keeps_to_groups(f, row, period, times - 1) ? times - 1 : 1;
    if (times > 1 && period * (size_t)times > covered) {
      covered = period * (size_t)times;
      best.period = period;
      best.times = times;
    }
  }
  return best;
}

/* The outermost group inside `around` that begins with a row, or NO_NODE. */
static int64_t group_at(const struct folder *f, size_t row, int64_t around) {
  const struct model *model = f->c->model;
  int64_t found = NO_NODE;
  for (int64_t g = f->rows->at[row].owner; g > 0 && g != around;
       g = model->groups.at[g].parent)
    if (model->groups.at[g].first == f->rows->at[row].first)
      found = g;
  return found;
}

static size_t rows_of_group(const struct folder *f, size_t row, size_t end,
                            int64_t group) {
  size_t at = row;
  while (at < end && f->rows->at[at].end <= f->c->model->groups.at[group].end)
    at++;
  return at - row;
}

/* Deeper parts are not folded: each row is a line. */
enum { DEEPEST = 32 };

static void add_line(struct folder *f, struct fold_line line) {
  if (line.depth > f->folds.deepest)
    f->folds.deepest = line.depth;
  f->folds.at[f->folds.count++] = line;
}

/* True if a row of an iteration is not as large as that of the next one. */
static bool turns_differ(const struct folder *f, const struct fold_line *line) {
  for (size_t i = 0; i + line->period < line->period * (size_t)line->times;
       i++) {
    size_t at = line->row + i, next = at + line->period;
    const struct row *a = &f->rows->at[at], *b = &f->rows->at[next];
    if (f->rows->words[at] != f->rows->words[next] ||
        a->cost.params != b->cost.params || a->cost.macs != b->cost.macs ||
        !shape_equal(row_shape(f->c, a), row_shape(f->c, b)))
      return true;
  }
  return false;
}

static void fold(struct folder *f, size_t row, size_t end, int depth,
                 int64_t around) {
  while (row < end) {
    struct fold_line line = {.row = row, .period = 1, .times = 1};
    int64_t group = NO_NODE;
    size_t rows = 1; /* the group that begins here stays whole */
    if (f->next && depth < DEEPEST) {
      group = group_at(f, row, around);
      if (group != NO_NODE)
        rows = rows_of_group(f, row, end, group);
      line = find_turns(f, row, end, rows);
    }
    if (line.times == 1)
      line.period = rows;
    else if (rows != line.period)
      group = NO_NODE;
    line.varies = f->alike && turns_differ(f, &line);
    line.depth = depth;
    line.inside = around;
    line.group = line.period > 1 ? group : NO_NODE;
    add_line(f, line);
    if (line.period > 1)
      fold(f, row, row + line.period, depth + 1,
           line.group == NO_NODE ? around : line.group);
    row += line.period * (size_t)line.times;
  }
}

struct folds folds_of(const struct compiled *c, struct rows *rows,
                      enum fold_how how) {
  size_t count = rows->count;
  struct folder f = {.c = c, .rows = rows, .alike = how == FOLD_ALIKE};
  /* A part has at least two rows, so there are fewer parts than rows. */
  f.folds.at = arena_room(c->arena, 2 * count + 1, sizeof *f.folds.at);
  if (how != FOLD_NONE) {
    f.hash = arena_room(c->arena, count + 1, sizeof *f.hash);
    f.next = arena_room(c->arena, count + 1, sizeof *f.next);
    hash_words(c, rows);
    for (size_t i = 0; i < count; i++)
      f.hash[i] = hash_row(&f, i);
    link_rows(&f);
  }
  fold(&f, 0, count, 0, 0);
  return f.folds;
}

struct cost fold_cost(const struct rows *rows, const struct fold_line *line) {
  struct cost sum = {0};
  for (size_t i = 0; i < line->period * (size_t)line->times; i++)
    cost_add(&sum, &rows->at[line->row + i].cost);
  return sum;
}
