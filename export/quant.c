/*
 * A net of 8 bits: adds QuantizeLinear and DequantizeLinear after all values
 * with a scale, and stores weights as integers.
 */
#include <string.h>

#include "export/onnx.h"

struct quantising {
  struct onnx_model *m;
  const struct onnx_scales *from;
  size_t count;              /* values before quantisation */
  value_id *now;             /* by value: the one to read instead */
  struct onnx_q8_steps *are; /* by value; count 0: unknown */
};

/* Operators whose output has the steps of their input. */
static bool keeps_steps(const char *op) {
  static const char *const ops[] = {
      "MaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean", "Concat",
      "Pad",     "Reshape",     "Transpose",         "Flatten",    "Squeeze",
      "Slice",   "Unsqueeze",   "Identity"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strcmp(op, ops[i]) == 0)
      return true;
  return false;
}

/* Scales or zeros; a single number has no axis. */
static value_id scales_of(struct quantising *q, const struct onnx_q8_steps *s) {
  const int64_t count = (int64_t)s->count;
  return model_tensor(q->m, ELEMENT_FLOAT, count > 1, &count, s->scale);
}

static value_id zeros_of(struct quantising *q, const struct onnx_q8_steps *s) {
  const int64_t count = (int64_t)s->count;
  int8_t *zeros = arena_alloc(q->m->arena, s->count + 1, sizeof *zeros);
  for (size_t i = 0; i < s->count; i++)
    zeros[i] = (int8_t)s->zero[i];
  return model_tensor(q->m, ELEMENT_INT8, count > 1, &count, zeros);
}

static value_id add(struct quantising *q, const char *op,
                    enum onnx_element type, value_id in, value_id scale,
                    value_id zero) {
  const struct model_value from = q->m->values.at[in];
  const value_id ins[] = {in, scale, zero};
  value_id out = model_node(q->m, op, type, from.rank, from.dim, ins, 3);
  q->m->values.at[out].open = from.open;
  return out;
}

/* Adds the value to read in place of a value with steps. */
static void round_value(struct quantising *q, value_id id) {
  const struct onnx_q8_steps *s = &q->are[id];
  struct model_value *value = &q->m->values.at[id];
  const char *name = value->name;
  bool output = value->output;
  q->m->scope = name;
  value->output = false;
  value_id scale = scales_of(q, s), zero = zeros_of(q, s);
  value_id whole = add(q, "QuantizeLinear", ELEMENT_INT8, id, scale, zero);
  q->now[id] = add(q, "DequantizeLinear", ELEMENT_FLOAT, whole, scale, zero);
  if (!output)
    return;
  q->m->values.at[q->now[id]].name = name;
  q->m->values.at[q->now[id]].output = true;
  for (size_t i = 0; i < q->m->outputs.count; i++)
    if (q->m->outputs.at[i] == id)
      q->m->outputs.at[i] = q->now[id];
}

static void read_weight(struct quantising *q, value_id id) {
  struct model_value *value = &q->m->values.at[id];
  struct onnx_q8_steps s = {0};
  if (!q->from->weight(q->from->user, (size_t)value->weight, &s))
    return;
  bool wide = s.wide;
  q->m->scope = value->name;
  value->type = wide ? ELEMENT_INT32 : ELEMENT_INT8;
  value_id scale = scales_of(q, &s), zero = wide ? NO_VALUE : zeros_of(q, &s);
  q->now[id] = add(q, "DequantizeLinear", ELEMENT_FLOAT, id, scale, zero);
  if (s.count > 1)
    model_int(q->m, "axis", 0);
}

static void copy_node(struct quantising *q, const struct onnx_node *node) {
  value_id *ins = arena_alloc(q->m->arena, node->in_count + 1, sizeof *ins);
  for (size_t i = 0; i < node->in_count; i++)
    ins[i] = node->ins[i] == NO_VALUE ? NO_VALUE : q->now[node->ins[i]];
  *VEC_PUSH(q->m->arena, &q->m->nodes) = *node;
  q->m->nodes.at[q->m->nodes.count - 1].ins = ins;
}

/* Steps of a layer's output, or those of its input if the operator keeps
 * them. */
static bool find_steps(struct quantising *q, const struct onnx_node *node) {
  struct onnx_q8_steps *s = &q->are[node->out];
  if (q->from->output(q->from->user, q->m->values.at[node->out].name, s))
    return true;
  value_id first = node->in_count ? node->ins[0] : NO_VALUE;
  if (!keeps_steps(node->op) || first == NO_VALUE)
    return false;
  *s = q->are[first];
  return s->count > 0;
}

/* True if any layer has a scale. */
static bool is_known(const struct quantising *q) {
  struct onnx_q8_steps s;
  for (size_t i = 0; i < q->m->nodes.count; i++)
    if (q->from->output(q->from->user,
                        q->m->values.at[q->m->nodes.at[i].out].name, &s))
      return true;
  return false;
}

bool onnx_quantise(struct onnx_model *m, const struct onnx_scales *from) {
  struct quantising q = {.m = m, .from = from, .count = m->values.count};
  if (!is_known(&q))
    return false;
  q.now = arena_alloc(m->arena, q.count + 1, sizeof *q.now);
  q.are = arena_alloc(m->arena, q.count + 1, sizeof *q.are);
  struct onnx_node *nodes = m->nodes.at;
  size_t count = m->nodes.count;
  memset(&m->nodes, 0, sizeof m->nodes);
  for (size_t i = 0; i < q.count; i++)
    q.now[i] = (value_id)i;
  for (size_t i = 0; i < q.count; i++)
    if (m->values.at[i].from == FROM_CONSTANT && m->values.at[i].weight >= 0)
      read_weight(&q, (value_id)i);
  for (size_t i = 0; i < m->inputs.count; i++) {
    value_id id = m->inputs.at[i];
    if (from->output(from->user, m->values.at[id].name, &q.are[id]))
      round_value(&q, id);
  }
  for (size_t i = 0; i < count; i++) {
    copy_node(&q, &nodes[i]);
    if (find_steps(&q, &nodes[i]))
      round_value(&q, nodes[i].out);
  }
  m->source = (struct slice){NULL, 0}; /* it describes another graph */
  return true;
}
