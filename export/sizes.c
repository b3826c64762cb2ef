/* Open sizes, as numbers that a model computes. */
#include "export/sizes.h"

#include "base/check.h"

enum {
  MOST_FACTORS = 3,   /* of a product */
  FEWEST_SAMPLES = 3, /* samples that determine a line */
  MOST_DIVISOR = 64   /* of a floor */
};

static struct slice key_of(const struct open_sizes *o, const int64_t *numbers) {
  return (struct slice){(const char *)numbers, o->samples * sizeof *numbers};
}

void sizes_add(struct open_sizes *o, value_id value, int axis,
               const int64_t *sizes) {
  struct map_entry *entry = map_add(o->m->arena, &o->known, key_of(o, sizes));
  if (entry->number)
    return;
  *VEC_PUSH(o->m->arena, &o->dims) = (struct open_dim){sizes, value, axis};
  entry->number = (int64_t)o->dims.count;
}

/* Adds a node whose output is a list of int64 of that length. */
static value_id sizes_node(struct open_sizes *o, const char *op, int64_t length,
                           const value_id *ins, size_t count) {
  struct onnx_model *m = o->m;
  m->scope = "sizes";
  value_id out = model_node(m, op, ELEMENT_INT64, 1, &length, ins, count);
  *VEC_PUSH(m->arena, &o->nodes) = m->nodes.at[--m->nodes.count];
  return out;
}

static value_id computed(struct open_sizes *o, const char *op, value_id a,
                         value_id b) {
  const value_id ins[2] = {a, b};
  return sizes_node(o, op, 1, ins, 2);
}

value_id sizes_list(struct open_sizes *o, const value_id *numbers, int count) {
  if (count == 1)
    return numbers[0];
  value_id list = sizes_node(o, "Concat", count, numbers, (size_t)count);
  struct onnx_node *node = &o->nodes.at[o->nodes.count - 1];
  *model_attribute(o->m, node) =
      (struct attribute){.name = "axis", .type = ATTRIBUTE_INT};
  return list;
}

static value_id number(struct open_sizes *o, int64_t value) {
  return model_numbers(o->m, &value, 1);
}

static value_id size_of(struct open_sizes *o, const struct open_dim *dim) {
  int64_t *value = ARENA_NEW(o->m->arena, int64_t);
  *value = dim->value;
  struct map_entry *shape =
      map_add(o->m->arena, &o->shapes,
              (struct slice){(const char *)value, sizeof *value});
  if (!shape->number)
    shape->number =
        sizes_node(o, "Shape", model_at(o->m, dim->value)->rank, value, 1) + 1;
  return computed(o, "Gather", shape->number - 1, number(o, dim->axis));
}

/* The common quotient large / small of all samples; 0: not constant or not
 * integral. */
static int64_t ratio(const struct open_sizes *o, const int64_t *large,
                     const int64_t *small) {
  int64_t by = small[0] > 0 && large[0] > 0 ? large[0] / small[0] : 0;
  for (size_t s = 0; s < o->samples; s++)
    if (small[s] < 1 || large[s] % small[s] != 0 || large[s] / small[s] != by)
      return 0;
  return by;
}

static value_id sized(struct open_sizes *o, const int64_t *numbers);

/* numbers = by * size, or size / by */
static value_id by_ratio(struct open_sizes *o, const int64_t *numbers) {
  for (size_t i = 0; i < o->dims.count; i++) {
    int64_t by = ratio(o, numbers, o->dims.at[i].sizes);
    if (by)
      return computed(o, "Mul", sized(o, o->dims.at[i].sizes), number(o, by));
  }
  for (size_t i = 0; i < o->dims.count; i++) {
    int64_t by = ratio(o, o->dims.at[i].sizes, numbers);
    if (by)
      return computed(o, "Div", sized(o, o->dims.at[i].sizes), number(o, by));
  }
  return NO_VALUE;
}

/* numbers = floor((by * size + more) / part) in all samples. */
struct size_line {
  int64_t by, more, part;
};

static bool is_on(const struct open_sizes *o, const struct size_line *line,
                  const int64_t *sizes, const int64_t *numbers) {
  for (size_t s = 0; s < o->samples; s++) {
    int64_t value;
    if (!mul_i64(sizes[s], line->by, &value) ||
        !add_i64(value, line->more, &value) || value < 0 ||
        value / line->part != numbers[s])
      return false;
  }
  return true;
}

static bool find_line(const struct open_sizes *o, const int64_t *sizes,
                      const int64_t *numbers, struct size_line *line) {
  size_t other = 1;
  while (other < o->samples && sizes[other] == sizes[0])
    other++;
  if (other == o->samples)
    return false;
  *line = (struct size_line){.by = (numbers[other] - numbers[0]) /
                                   (sizes[other] - sizes[0]),
                             .part = 1};
  int64_t most;
  if (line->by > 0 && mul_i64(sizes[0], line->by, &most)) {
    line->more = numbers[0] - most;
    if (is_on(o, line, sizes, numbers))
      return true;
  }
  line->by = 1;
  for (line->part = 2; line->part <= MOST_DIVISOR; line->part++)
    for (line->more = -line->part; line->more <= line->part; line->more++)
      if (is_on(o, line, sizes, numbers))
        return true;
  return false;
}

static value_id by_line(struct open_sizes *o, const int64_t *numbers) {
  struct size_line line;
  for (size_t i = 0; i < o->dims.count && o->samples >= FEWEST_SAMPLES; i++) {
    const int64_t *sizes = o->dims.at[i].sizes;
    if (!find_line(o, sizes, numbers, &line))
      continue;
    value_id y = sized(o, sizes);
    if (line.by != 1)
      y = computed(o, "Mul", y, number(o, line.by));
    if (line.more)
      y = computed(o, "Add", y, number(o, line.more));
    return line.part == 1 ? y : computed(o, "Div", y, number(o, line.part));
  }
  return NO_VALUE;
}

static value_id find(struct open_sizes *o, const int64_t *numbers, int factors);

/* numbers = size * the rest */
static value_id by_product(struct open_sizes *o, const int64_t *numbers,
                           int factors) {
  for (size_t i = 0; i < o->dims.count; i++) {
    const int64_t *sizes = o->dims.at[i].sizes;
    int64_t *left = arena_alloc(o->m->arena, o->samples + 1, sizeof *left);
    bool divides = true;
    for (size_t s = 0; s < o->samples && divides; s++) {
      divides = sizes[s] > 0 && numbers[s] % sizes[s] == 0;
      left[s] = divides ? numbers[s] / sizes[s] : 0;
    }
    value_id rest = divides ? find(o, left, factors - 1) : NO_VALUE;
    if (rest != NO_VALUE)
      return computed(o, "Mul", sized(o, sizes), rest);
  }
  return NO_VALUE;
}

static value_id find(struct open_sizes *o, const int64_t *numbers,
                     int factors) {
  struct map_entry *known = map_find(&o->numbers, key_of(o, numbers));
  if (known)
    return known->number;
  const struct map_entry *dim = map_find(&o->known, key_of(o, numbers));
  value_id y = NO_VALUE;
  if (dim)
    y = size_of(o, &o->dims.at[dim->number - 1]);
  if (y == NO_VALUE)
    y = by_ratio(o, numbers);
  if (y == NO_VALUE && factors > 1)
    y = by_product(o, numbers, factors);
  if (y == NO_VALUE)
    y = by_line(o, numbers);
  if (y == NO_VALUE)
    return NO_VALUE;
  int64_t *key = arena_alloc(o->m->arena, o->samples + 1, sizeof *key);
  for (size_t s = 0; s < o->samples; s++)
    key[s] = numbers[s];
  map_add(o->m->arena, &o->numbers, key_of(o, key))->number = y;
  return y;
}

static value_id sized(struct open_sizes *o, const int64_t *numbers) {
  return find(o, numbers, 1);
}

value_id sizes_number(struct open_sizes *o, const int64_t *numbers) {
  for (size_t s = 1; s < o->samples; s++)
    if (numbers[s] != numbers[0])
      return find(o, numbers, MOST_FACTORS);
  return number(o, numbers[0]);
}
