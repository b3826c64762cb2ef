/* An ONNX model in memory: values, nodes and constants. */
#include "export/model.h"

#include <assert.h>
#include <stdio.h>

value_id model_value(struct onnx_model *m, enum value_from from,
                     const char *name, enum onnx_element type, int rank,
                     const int64_t *dims) {
  struct model_value *value = VEC_PUSH(m->arena, &m->values);
  *value = (struct model_value){
      .name = name, .from = from, .type = type, .rank = rank, .weight = -1};
  assert(rank <= LAYOUT_RANK);
  value->dim = arena_alloc(m->arena, (size_t)rank, sizeof *value->dim);
  for (int i = 0; i < rank; i++)
    value->dim[i] = dims[i];
  return (value_id)m->values.count - 1;
}

void model_open_axis(struct onnx_model *m, struct model_value *value, int axis,
                     const char *name) {
  if (!value->open)
    value->open =
        arena_alloc(m->arena, (size_t)value->rank, sizeof *value->open);
  value->open[axis] = name;
}

const char *model_name(struct onnx_model *m, const char *scope,
                       const char *word) {
  size_t before = strlen(scope), after = word ? strlen(word) + 1 : 0;
  char *name = arena_room(m->arena, before + after + 1, 1);
  memcpy(name, scope, before + 1);
  if (word) {
    name[before] = '/';
    memcpy(name + before + 1, word, after);
  }
  return name;
}

value_id model_node(struct onnx_model *m, const char *op,
                    enum onnx_element type, int rank, const int64_t *dims,
                    const value_id *ins, size_t in_count) {
  while (in_count && ins[in_count - 1] == NO_VALUE)
    in_count--;
  value_id *copy = arena_alloc(m->arena, in_count, sizeof *copy);
  for (size_t i = 0; i < in_count; i++)
    copy[i] = ins[i];
  value_id out =
      model_value(m, FROM_NODE, model_name(m, m->scope, op), type, rank, dims);
  *VEC_PUSH(m->arena, &m->nodes) = (struct onnx_node){.op = op,
                                                      .ins = copy,
                                                      .in_count = in_count,
                                                      .out = out,
                                                      .second = NO_VALUE};
  return out;
}

value_id model_other(struct onnx_model *m, enum onnx_element type, int rank,
                     const int64_t *dims) {
  struct onnx_node *node = &m->nodes.at[m->nodes.count - 1];
  node->second = model_value(m, FROM_NODE, model_name(m, m->scope, node->op),
                             type, rank, dims);
  return node->second;
}

value_id model_third(struct onnx_model *m, enum onnx_element type, int rank,
                     const int64_t *dims) {
  m->nodes.at[m->nodes.count - 1].skips = true;
  return model_other(m, type, rank, dims);
}

value_id model_second(struct onnx_model *m, enum onnx_element type) {
  const struct onnx_node *node = &m->nodes.at[m->nodes.count - 1];
  struct model_value first = m->values.at[node->out];
  return model_other(m, type, first.rank, first.dim);
}

/* Bodies */

static void swap_nodes(struct onnx_model *m, struct onnx_body *body) {
  onnx_nodes nodes = m->nodes;
  m->nodes = body->nodes;
  body->nodes = nodes;
}

struct onnx_body *model_open_body(struct onnx_model *m) {
  struct onnx_body *body = ARENA_NEW(m->arena, struct onnx_body);
  body->first = m->values.count;
  swap_nodes(m, body);
  return body;
}

value_id model_body_input(struct onnx_model *m, struct onnx_body *body,
                          int rank, const int64_t *dims) {
  value_id id = model_value(m, FROM_BODY, model_name(m, m->scope, "step"),
                            ELEMENT_FLOAT, rank, dims);
  *VEC_PUSH(m->arena, &body->ins) = id;
  return id;
}

void model_close_body(struct onnx_model *m, struct onnx_body *body,
                      const value_id *outs, size_t count) {
  value_id *copy = arena_alloc(m->arena, count + 1, sizeof *copy);
  for (size_t i = 0; i < count; i++)
    copy[i] = outs[i];
  body->outs = copy;
  body->out_count = count;
  for (size_t i = body->first; i < m->values.count; i++)
    if (m->values.at[i].from == FROM_NODE)
      m->values.at[i].from = FROM_BODY;
  swap_nodes(m, body);
}

struct attribute *model_attribute(struct onnx_model *m,
                                  struct onnx_node *node) {
  struct attribute **end = &node->attributes;
  while (*end)
    end = &(*end)->next;
  return *end = ARENA_NEW(m->arena, struct attribute);
}

/* Adds an attribute to the last node. */

static void add_attribute(struct onnx_model *m, struct attribute attribute) {
  if (m->nodes.count > 0) /* none after a refusal */
    *model_attribute(m, &m->nodes.at[m->nodes.count - 1]) = attribute;
}

void model_int(struct onnx_model *m, const char *name, int64_t number) {
  add_attribute(m, (struct attribute){
                       .name = name, .type = ATTRIBUTE_INT, .number = number});
}

void model_ints(struct onnx_model *m, const char *name, const int64_t *numbers,
                size_t count) {
  int64_t *copy = arena_alloc(m->arena, count, sizeof *copy);
  for (size_t i = 0; i < count; i++)
    copy[i] = numbers[i];
  add_attribute(m, (struct attribute){.name = name,
                                      .type = ATTRIBUTE_INTS,
                                      .count = count,
                                      .numbers = copy});
}

void model_real(struct onnx_model *m, const char *name, double real) {
  add_attribute(m, (struct attribute){.name = name,
                                      .type = ATTRIBUTE_FLOAT,
                                      .real = (float)real});
}

void model_text(struct onnx_model *m, const char *name, const char *text) {
  add_attribute(m, (struct attribute){
                       .name = name, .type = ATTRIBUTE_TEXT, .text = text});
}

void model_body(struct onnx_model *m, const char *name,
                const struct onnx_body *body) {
  add_attribute(m, (struct attribute){
                       .name = name, .type = ATTRIBUTE_BODY, .body = body});
}

/* Constants */

size_t model_element_bytes(enum onnx_element type) {
  return type == ELEMENT_INT64                          ? 8
         : type == ELEMENT_BOOL || type == ELEMENT_INT8 ? 1
                                                        : 4;
}

value_id model_tensor(struct onnx_model *m, enum onnx_element type, int rank,
                      const int64_t *dims, const void *data) {
  size_t bytes = model_element_bytes(type);
  for (int i = 0; i < rank; i++)
    bytes *= (size_t)dims[i];
  struct text *key = &m->key;
  key->arena = m->arena;
  key->length = 0;
  text_printf(key, "%d %d", (int)type, rank);
  for (int i = 0; i < rank; i++)
    text_printf(key, " %lld", (long long)dims[i]);
  text_putc(key, ':');
  text_fill(key, ' ', (size_t)-key->length % sizeof(int64_t)); /* aligned */
  size_t head = key->length;
  text_bytes(key, data, bytes);
  struct map_entry *entry = map_add(m->arena, &m->constants, text_slice(key));
  if (entry->number)
    return entry->number - 1;
  value_id id = model_value(m, FROM_CONSTANT, "constant", type, rank, dims);
  entry->key.at = arena_copy(m->arena, key->at, key->length);
  m->values.at[id].data = entry->key.at + head;
  m->values.at[id].bytes = bytes;
  entry->number = id + 1;
  return id;
}

value_id model_numbers(struct onnx_model *m, const int64_t *numbers,
                       int count) {
  const int64_t dims[1] = {count};
  return model_tensor(m, ELEMENT_INT64, 1, dims, numbers);
}

value_id model_scalar(struct onnx_model *m, double real) {
  float value = (float)real;
  return model_tensor(m, ELEMENT_FLOAT, 0, NULL, &value);
}

/* Names */

static void name_value(struct onnx_model *m, struct map *taken,
                       struct map *next, value_id id) {
  struct model_value *value = &m->values.at[id];
  struct slice wish = slice_of(value->name);
  struct map_entry *entry = map_add(m->arena, taken, wish);
  if (!entry->number++)
    return;
  for (;;) {
    char digits[TEXT_DIGITS + 1];
    int64_t number = ++map_add(m->arena, next, wish)->number + 1;
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    const char *name = model_name(m, value->name, digits);
    entry = map_add(m->arena, taken, slice_of(name));
    if (entry->number++)
      continue;
    value->name = name;
    return;
  }
}

void model_name_values(struct onnx_model *m) {
  struct map taken = {0}, next = {0};
  for (size_t i = 0; i < m->inputs.count; i++)
    name_value(m, &taken, &next, m->inputs.at[i]);
  for (size_t i = 0; i < m->outputs.count; i++)
    name_value(m, &taken, &next, m->outputs.at[i]);
  for (int weights = 1; weights >= 0; weights--)
    for (size_t i = 0; i < m->values.count; i++) {
      const struct model_value *value = &m->values.at[i];
      if (value->from != FROM_INPUT && value->from != FROM_NOTHING &&
          !value->output && (value->weight >= 0) == weights)
        name_value(m, &taken, &next, (value_id)i);
    }
}
