/* Reads operators that stand for several. */
#include "import/onnx/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_ATTRIBUTES = 16,
  MOST_DEPTH = 8, /* nesting of parts; ends recursion */
};

/* protobuf-c's strings are not const, but are never changed. */
static char *copied(struct onnx *x, const char *text) {
  return arena_copy(x->arena, text, strlen(text));
}

Onnx__NodeProto *emit_open(struct onnx *x, const char *type) {
  Onnx__NodeProto *node = ARENA_NEW(x->arena, Onnx__NodeProto);
  *node = (Onnx__NodeProto)ONNX__NODE_PROTO__INIT;
  node->op_type = copied(x, type);
  node->attribute =
      arena_alloc(x->arena, MOST_ATTRIBUTES, sizeof(Onnx__AttributeProto *));
  return node;
}

static Onnx__AttributeProto *
add_attribute(struct onnx *x, Onnx__NodeProto *node, const char *name) {
  Onnx__AttributeProto *a = ARENA_NEW(x->arena, Onnx__AttributeProto);
  *a = (Onnx__AttributeProto)ONNX__ATTRIBUTE_PROTO__INIT;
  a->name = copied(x, name);
  if (node->n_attribute < MOST_ATTRIBUTES)
    node->attribute[node->n_attribute++] = a;
  return a;
}

void emit_int(struct onnx *x, Onnx__NodeProto *node, const char *name,
              int64_t value) {
  Onnx__AttributeProto *a = add_attribute(x, node, name);
  a->has_i = 1;
  a->i = value;
}

void emit_ints(struct onnx *x, Onnx__NodeProto *node, const char *name,
               const int64_t *values, int count) {
  Onnx__AttributeProto *a = add_attribute(x, node, name);
  a->n_ints = (size_t)count;
  a->ints = arena_alloc(x->arena, (size_t)count + 1, sizeof *a->ints);
  memcpy(a->ints, values, (size_t)count * sizeof *values);
}

void emit_real(struct onnx *x, Onnx__NodeProto *node, const char *name,
               double value) {
  Onnx__AttributeProto *a = add_attribute(x, node, name);
  a->has_f = 1;
  a->f = (float)value;
}

void emit_text(struct onnx *x, Onnx__NodeProto *node, const char *name,
               const char *value) {
  Onnx__AttributeProto *a = add_attribute(x, node, name);
  a->has_s = 1;
  a->s.len = strlen(value);
  a->s.data = (uint8_t *)copied(x, value);
}

void emit_same(struct onnx *x, Onnx__NodeProto *node) {
  const Onnx__NodeProto *from = x->at->proto;
  for (size_t i = 0; i < from->n_attribute; i++)
    if (node->n_attribute < MOST_ATTRIBUTES)
      node->attribute[node->n_attribute++] = from->attribute[i];
}

static int new_value(struct onnx *x) {
  struct onnx_value *value = VEC_PUSH(x->arena, &x->values);
  *value = (struct onnx_value){.name = x->at->name, .uses = 1};
  return (int)x->values.count - 1;
}

/* If a part is left out, the whole operator fails and is left out itself. */
int emit(struct onnx *x, Onnx__NodeProto *node, const int *ins, int count) {
  const struct onnx_op *outer = x->at;
  struct onnx_op *op = ARENA_NEW(x->arena, struct onnx_op);
  if (x->graph->failed)
    return -1;
  *op = (struct onnx_op){.proto = node,
                         .type = node->op_type,
                         .name = outer->name,
                         .depth = outer->depth + 1,
                         .in_count = (size_t)count,
                         .out_count = 1};
  op->ins = arena_alloc(x->arena, (size_t)count + 1, sizeof *op->ins);
  op->outs = arena_alloc(x->arena, 1, sizeof *op->outs);
  memcpy(op->ins, ins, (size_t)count * sizeof *ins);
  op->outs[0] = new_value(x);
  onnx_begin(x, op);
  bool right = op->depth < MOST_DEPTH && onnx_read_op(x) && !x->graph->failed &&
               !x->values.at[op->outs[0]].absent;
  if (!right)
    onnx_fail(x, "it is not supported");
  onnx_begin(x, outer);
  return right ? op->outs[0] : -1;
}

int emit_one(struct onnx *x, const char *type, int a) {
  return emit(x, emit_open(x, type), &a, 1);
}

int emit_two(struct onnx *x, const char *type, int a, int b) {
  const int ins[2] = {a, b};
  return emit(x, emit_open(x, type), ins, 2);
}

/* A letter, a number or an attribute of a formula as a value. */
static int formula_value(struct onnx *x, const char *word, const int *ins) {
  const char *usual = strchr(word, '=');
  if (!usual)
    return islower((unsigned char)*word) ? ins[*word - 'a']
                                         : emit_scalar(x, strtod(word, NULL));
  const char *name = graph_text(x->graph, "%.*s", (int)(usual - word), word);
  return emit_scalar(x, onnx_real(x, name, strtod(usual + 1, NULL)));
}

int emit_formula(struct onnx *x, const char *formula, const int *ins) {
  enum { MOST_PENDING = 8 };
  int pending[MOST_PENDING], count = 0;
  while (*formula) {
    size_t length = strcspn(formula, " ");
    const char *word = graph_text(x->graph, "%.*s", (int)length, formula);
    formula += length + (formula[length] == ' ');
    if (!isupper((unsigned char)*word)) {
      pending[count++] = formula_value(x, word, ins);
      continue;
    }
    int used = word_index("Add Sub Mul Div Max MatMul", slice_of(word)) ? 2 : 1;
    count -= used;
    pending[count] = emit(x, emit_open(x, word), pending + count, used);
    count++;
  }
  return pending[0];
}

int emit_constant(struct onnx *x, struct constant *c) {
  int value = new_value(x);
  x->values.at[value].made = true;
  x->values.at[value].constant = c;
  return value;
}

int emit_numbers(struct onnx *x, const int64_t *numbers, int count) {
  return emit_constant(x, constant_ints(x, numbers, count));
}

int emit_scalar(struct onnx *x, double number) {
  struct constant *c = constant_new(x, TYPE_FLOAT, 0, NULL);
  float *to = arena_alloc(x->arena, 1, sizeof *to);
  *to = (float)number;
  c->real = to;
  return emit_constant(x, c);
}

int emit_reshape(struct onnx *x, int value, const int64_t *dims, int rank) {
  return emit_two(x, "Reshape", value, emit_numbers(x, dims, rank));
}

int emit_transpose(struct onnx *x, int value, const int64_t *perm, int rank) {
  Onnx__NodeProto *node = emit_open(x, "Transpose");
  emit_ints(x, node, "perm", perm, rank);
  return emit(x, node, &value, 1);
}

int emit_slice(struct onnx *x, int value, int64_t axis, int64_t from,
               int64_t to) {
  const int ins[4] = {value, emit_numbers(x, &from, 1), emit_numbers(x, &to, 1),
                      emit_numbers(x, &axis, 1)};
  return emit(x, emit_open(x, "Slice"), ins, 4);
}

int emit_concat(struct onnx *x, int a, int b, int64_t axis) {
  Onnx__NodeProto *node = emit_open(x, "Concat");
  const int ins[2] = {a, b};
  emit_int(x, node, "axis", axis);
  return emit(x, node, ins, 2);
}

int emit_dims(struct onnx *x, int value, int64_t *dims) {
  const struct onnx_value *v = value < 0 ? NULL : &x->values.at[value];
  if (v && v->view) {
    memcpy(dims, v->view->at.dim, (size_t)v->view->at.rank * sizeof *dims);
    return v->view->at.rank;
  }
  if (!v || !v->constant)
    return -1;
  memcpy(dims, v->constant->dims, (size_t)v->constant->rank * sizeof *dims);
  return v->constant->rank;
}

int emit_input(const struct onnx *x, size_t index) {
  return index < x->at->in_count ? x->at->ins[index] : -1;
}

bool emit_give(struct onnx *x, size_t out, int value) {
  if (value < 0 || x->graph->failed)
    return false;
  const struct onnx_value v = x->values.at[value];
  if (v.view)
    onnx_give(x, out, v.view);
  else
    onnx_give_constant(x, out, v.constant);
  return !x->graph->failed;
}
