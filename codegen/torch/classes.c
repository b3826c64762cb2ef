/*
 * Classes: groups whose code differs only in numbers are one class. The numbers
 * that differ are its parameters; numbers that are always equal are one
 * parameter, named as PyTorch names the first of them.
 */
#include "codegen/torch/python.h"

static void put_key(struct text *key, const struct torch_code *code) {
  text_puts(key, text_slice(&code->text));
  for (size_t i = 0; i < code->holes.count; i++) {
    const struct hole *hole = &code->holes.at[i];
    text_printf(key, "\x02%s\x02%s", hole->hint, hole->key ? hole->key : "");
  }
  text_putc(key, '\x03');
}

static struct slice key_of(struct python *p, const struct python_unit *unit) {
  struct text key = text_new(p->arena);
  put_key(&key, &unit->make);
  put_key(&key, &unit->run);
  for (size_t i = 0; i < unit->names.count; i++) {
    text_puts(&key, unit->names.at[i]);
    text_putc(&key, '\x03');
  }
  return text_slice(&key);
}

/* Named after the def, the label, or the net. */
static struct slice name_class(struct python *p,
                               const struct python_unit *unit) {
  const struct group *group = &p->model->groups.at[unit->group];
  struct slice call = group->call;
  size_t end = 0;
  while (end < call.length && call.at[end] != ' ')
    end++;
  struct slice word = unit->turn ? slice_of(unit->stage ? "stage" : "block")
                      : unit->group == 0 ? p->model->name
                      : end              ? (struct slice){call.at, end}
                                         : name_text(&group->name);
  const char *index = memchr(word.at, '[', word.length);
  if (index) /* skip[3] */
    word.length = (size_t)(index - word.at);
  struct slice name = python_class_word(p->arena, word), first = name;
  for (int number = 2; map_find(&p->class_names, name); number++) {
    struct text next = text_new(p->arena);
    text_printf(&next, "%.*s%d", SLICE_ARG(first), number);
    name = text_slice(&next);
  }
  map_add(p->arena, &p->class_names, name);
  return name;
}

static const struct hole *hole_at(const struct python_unit *unit, size_t i) {
  size_t makes = unit->make.holes.count;
  return i < makes ? &unit->make.holes.at[i] : &unit->run.holes.at[i - makes];
}

/* The values of a hole in all units of the class; NULL: unknown. */
static struct slice *values_of(struct python *p, const struct class *class,
                               size_t hole) {
  struct slice *values =
      arena_alloc(p->arena, class->units.count + 1, sizeof *values);
  for (size_t i = 0; i < class->units.count; i++)
    values[i] = hole_at(&p->units.at[class->units.at[i]], hole)->value;
  return values;
}

static bool agree(const struct slice *a, const struct slice *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (a[i].at && b[i].at && !slice_equal(a[i], b[i]))
      return false;
  return true;
}

/* The value that all known ones have, or one of length 0. */
static struct slice same_value(const struct slice *values, size_t count) {
  struct slice same = {NULL, 0};
  for (size_t i = 0; i < count; i++) {
    if (same.at && values[i].at && !slice_equal(same, values[i]))
      return (struct slice){NULL, 0};
    if (values[i].at)
      same = values[i];
  }
  return same;
}

/* `hint`, or hint2 if another parameter has that name. */
static struct slice name_param(struct python *p, struct map *taken,
                               const char *hint) {
  struct slice name = slice_of(hint);
  for (int number = 2; map_find(taken, name); number++) {
    struct text next = text_new(p->arena);
    text_printf(&next, "%s%d", hint, number);
    name = text_slice(&next);
    text_putc(&next, '\0');
    name.at = next.at;
  }
  map_add(p->arena, taken, name);
  return name;
}

/* The parameter with these values; adds it if needed. */
static size_t param_of(struct python *p, struct class *class,
                       struct slice **known, struct map *taken,
                       const struct hole *hole, struct slice *values) {
  size_t count = class->units.count, i = 0;
  while (i < class->param_count && !(class->param_flags[i] == hole->flag &&
                                     agree(known[i], values, count)))
    i++;
  if (i == class->param_count) {
    class->params[i] = name_param(p, taken, hole->hint);
    class->param_flags[i] = hole->flag;
    known[class->param_count++] = values;
  }
  for (size_t u = 0; u < count; u++)
    if (!known[i][u].at)
      known[i][u] = values[u];
  return i;
}

static void find_params(struct python *p, struct class *class) {
  const struct python_unit *first = &p->units.at[class->first];
  size_t holes = first->make.holes.count + first->run.holes.count;
  size_t count = class->units.count;
  struct map taken = {0};
  struct slice **known = arena_alloc(p->arena, holes + 1, sizeof *known);
  class->hole_param = arena_alloc(p->arena, holes + 1, sizeof(int64_t));
  class->params = arena_alloc(p->arena, holes + 1, sizeof *class->params);
  class->param_flags =
      arena_alloc(p->arena, holes + 1, sizeof *class->param_flags);
  for (size_t i = 0; i < holes; i++) {
    struct slice *values = values_of(p, class, i);
    struct slice same = same_value(values, count);
    class->hole_param[i] = -1;
    if (same.at)
      ((struct hole *)hole_at(first, i))->value = same;
    else
      class->hole_param[i] =
          (int64_t)param_of(p, class, known, &taken, hole_at(first, i), values);
  }
  for (size_t u = 0; u < count; u++) {
    struct python_unit *unit = &p->units.at[class->units.at[u]];
    unit->values =
        arena_alloc(p->arena, class->param_count + 1, sizeof *unit->values);
    for (size_t k = 0; k < class->param_count; k++)
      unit->values[k] = known[k][u].at ? known[k][u] : slice_of("None");
  }
}

static void write_one(struct python *p, int64_t unit) {
  struct python_variants v = {.units = &unit, .count = 1};
  python_align(p, &v);
  python_name_modules(p, &v);
  python_write_units(p, &v);
}

static void write_variants(struct python *p, const int64_t *units,
                           size_t count) {
  struct python_variants v = {.units = units, .count = count};
  if (python_align(p, &v)) {
    python_name_modules(p, &v);
    if (python_write_units(p, &v))
      return;
  }
  for (size_t i = 0; i < count; i++)
    write_one(p, units[i]);
}

struct origin {
  VEC(int64_t) units;
};

static void write_bodies(struct python *p, int height) {
  struct map keys = {0};
  VEC(struct origin) origins = {0};
  for (size_t i = 0; i < p->units.count; i++) {
    if (p->units.at[i].height != height || p->units.at[i].again)
      continue;
    python_write_items(p, (int64_t)i);
    struct map_entry *entry =
        map_add(p->arena, &keys, python_origin(p, (int64_t)i));
    if (!entry->number) {
      *VEC_PUSH(p->arena, &origins) = (struct origin){0};
      entry->number = (int64_t)origins.count;
    }
    *VEC_PUSH(p->arena, &origins.at[entry->number - 1].units) = (int64_t)i;
  }
  for (size_t i = 0; i < origins.count; i++)
    write_variants(p, origins.at[i].units.at, origins.at[i].units.count);
}

void python_find_classes(struct python *p, int height) {
  write_bodies(p, height);
  struct map keys = {0};
  size_t begin = p->classes.count;
  for (size_t i = 0; i < p->units.count; i++) {
    struct python_unit *unit = &p->units.at[i];
    if (unit->height != height || unit->again)
      continue;
    struct map_entry *entry = map_add(p->arena, &keys, key_of(p, unit));
    if (!entry->number) {
      *VEC_PUSH(p->arena, &p->classes) =
          (struct class){.name = name_class(p, unit), .first = (int64_t)i};
      entry->number = (int64_t)p->classes.count;
    }
    unit->class_index = entry->number - 1;
    *VEC_PUSH(p->arena, &p->classes.at[unit->class_index].units) = (int64_t)i;
  }
  for (size_t i = begin; i < p->classes.count; i++)
    find_params(p, &p->classes.at[i]);
}
