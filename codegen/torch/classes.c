/*
 * Classes: groups that are written alike, but for numbers, are one class. The
 * numbers that differ are its parameters; those that are always equal to each
 * other are one parameter, called as PyTorch calls the first of them.
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

/* After the def, the label, or the net. */
static struct slice name_class(struct python *p,
                               const struct python_unit *unit) {
  const struct group *group = &p->model->groups.at[unit->group];
  struct slice call = group->call;
  size_t end = 0;
  while (end < call.length && call.at[end] != ' ')
    end++;
  struct slice word = unit->group == 0 ? p->model->name
                      : end            ? (struct slice){call.at, end}
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

/* The values of a hole in all units of the class; "" if they are equal. */
static struct slice vector_of(struct python *p, const struct class *class,
                              size_t hole) {
  struct text vector = text_new(p->arena);
  const struct hole *first = hole_at(&p->units.at[class->first], hole);
  bool equal = true;
  for (size_t i = 0; i < class->units.count; i++) {
    const struct python_unit *unit = &p->units.at[class->units.at[i]];
    const struct hole *at = hole_at(unit, hole);
    equal = equal && slice_equal(at->value, first->value);
    text_puts(&vector, at->value);
    text_putc(&vector, '\x02');
  }
  return equal ? (struct slice){"", 0} : text_slice(&vector);
}

/* `hint`, or hint2 where another parameter is called so. */
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

static void find_params(struct python *p, struct class *class) {
  const struct python_unit *first = &p->units.at[class->first];
  size_t holes = first->make.holes.count + first->run.holes.count;
  struct map vectors = {0}, taken = {0};
  VEC(size_t) chosen = {0};
  class->hole_param = arena_alloc(p->arena, holes + 1, sizeof(int64_t));
  class->params = arena_alloc(p->arena, holes + 1, sizeof *class->params);
  for (size_t i = 0; i < holes; i++) {
    struct slice vector = vector_of(p, class, i);
    class->hole_param[i] = -1;
    if (!vector.length)
      continue;
    struct map_entry *entry = map_add(p->arena, &vectors, vector);
    if (!entry->number) {
      class->params[class->param_count] =
          name_param(p, &taken, hole_at(first, i)->hint);
      entry->number = (int64_t)++ class->param_count;
      *VEC_PUSH(p->arena, &chosen) = i;
    }
    class->hole_param[i] = entry->number - 1;
  }
  for (size_t i = 0; i < class->units.count; i++) {
    struct python_unit *unit = &p->units.at[class->units.at[i]];
    unit->values =
        arena_alloc(p->arena, chosen.count + 1, sizeof *unit->values);
    for (size_t k = 0; k < chosen.count; k++)
      unit->values[k] = hole_at(unit, chosen.at[k])->value;
  }
}

void python_find_classes(struct python *p, int height) {
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
