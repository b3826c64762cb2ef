/* Names of nodes and groups, unique within their group. */
#include <inttypes.h>

#include "base/check.h"
#include "sema/binding/expander.h"

enum { GROUP_STEPS = 4 }; /* so that empty groups do not exceed layers */

static struct map *counters(struct expander *e) {
  while (e->counters.count <= (size_t)e->group)
    VEC_PUSH(e->arena, &e->counters);
  return &e->counters.at[e->group];
}

static struct slice numbered(struct expander *e, struct slice text,
                             const char *between, int64_t number) {
  struct text name = text_new(e->arena);
  text_printf(&name, "%.*s%s%" PRId64, SLICE_ARG(text), between, number);
  return text_slice(&name);
}

/* A label that ends in a digit may equal a word with a number. */
static bool ends_in_digit(struct slice text) {
  char last = text.length ? text.at[text.length - 1] : 'a';
  return last >= '0' && last <= '9';
}

/* A mark in the map: some label of the group ends in a digit. */
static const struct slice digit_mark = {"0", 1};

/* True for a label like `conv2` if an unnamed conv has that name already. */
static bool taken_by_word(const struct map *map, struct slice label) {
  size_t digits = 0;
  int64_t number = 0;
  while (digits < label.length && digits < 18 &&
         ends_in_digit(slice_less(label, digits)))
    digits++;
  struct slice word = slice_less(label, digits);
  for (size_t i = word.length; i < label.length; i++)
    number = number * 10 + (label.at[i] - '0');
  const struct map_entry *entry = map_find(map, word);
  return digits && entry && entry->number >= number;
}

struct node_name name_label(struct expander *e, struct slice label) {
  struct map *map = counters(e);
  int64_t *count = &map_add(e->arena, map, label)->number;
  if (*count == 0) {
    bool taken = ends_in_digit(label) && taken_by_word(map, label);
    *count = 1;
    if (ends_in_digit(label))
      map_add(e->arena, map, digit_mark)->number = 1;
    if (!taken)
      return name_with(label, 0);
  }
  int64_t number = map_add(e->arena, map, label)->number;
  do
    number++;
  while (map_find(map, numbered(e, label, "_", number)));
  map_add(e->arena, map, label)->number = number;
  struct node_name name = name_with(label, (int32_t)number);
  name.repeated = true;
  return name;
}

bool name_is_repeated(const struct expander *e, struct slice label) {
  if (e->counters.count == 0)
    return false;
  const struct map_entry *entry = map_find(&e->counters.at[0], label);
  return entry && entry->number > 1;
}

struct node_name name_word(struct expander *e, struct slice word) {
  struct map *map = counters(e);
  int64_t *last = &map_add(e->arena, map, word)->number;
  int64_t number = *last + 1;
  if (map_find(map, digit_mark))
    while (map_find(map, numbered(e, word, "", number)))
      number++;
  *last = number;
  return name_with(word, (int32_t)number);
}

bool names_are_counted(struct expander *e) {
  return !map_find(counters(e), digit_mark);
}

void name_given(struct expander *e, const struct node_name *name) {
  int64_t *last = &map_add(e->arena, counters(e), name_text(name))->number;
  *last = max_i64(*last, name->ordinal);
}

int64_t group_enter(struct expander *e, struct slice label, struct slice word,
                    const struct stmt *stmt) {
  int64_t outer = e->group;
  e->steps += GROUP_STEPS;
  struct node_name name = label.at ? name_label(e, label) : name_word(e, word);
  struct group *group = VEC_PUSH(e->arena, &e->model->groups);
  group->parent = outer;
  group->name = name;
  group->span = stmt->span;
  group->stmt = stmt;
  group->first = (int64_t)e->model->nodes.count;
  group->out = GROUP_OPEN;
  e->group = (int64_t)e->model->groups.count - 1;
  return outer;
}

void group_leave(struct expander *e, int64_t outer) {
  struct group *group = &e->model->groups.at[e->group];
  group->end = (int64_t)e->model->nodes.count;
  group->out = e->lost ? NO_NODE : e->current;
  e->group = outer;
}
