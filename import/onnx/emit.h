/* Operators that stand for several: their parts are read as if they were single
 * operators of the file. */
#ifndef NETC_IMPORT_ONNX_EMIT_H
#define NETC_IMPORT_ONNX_EMIT_H

#include "import/onnx/reader.h"

/* Creates an operator with the file's name, without inputs. */
Onnx__NodeProto *emit_open(struct onnx *x, const char *type);
void emit_int(struct onnx *x, Onnx__NodeProto *node, const char *name,
              int64_t value);
void emit_ints(struct onnx *x, Onnx__NodeProto *node, const char *name,
               const int64_t *values, int count);
void emit_real(struct onnx *x, Onnx__NodeProto *node, const char *name,
               double value);
void emit_text(struct onnx *x, Onnx__NodeProto *node, const char *name,
               const char *value);
/* Copies the current node's attributes. */
void emit_same(struct onnx *x, Onnx__NodeProto *node);

/* Reads the operator; inputs are values, -1 for a missing one. Returns its
 * first output as a value; -1 with an error. */
int emit(struct onnx *x, Onnx__NodeProto *node, const int *ins, int count);
/* Reads an operator without attributes. */
int emit_one(struct onnx *x, const char *type, int a);
int emit_two(struct onnx *x, const char *type, int a, int b);

/* Reads operators of one or two operands, written in postfix: "a b Mul 2 Add"
 * is a b + 2. `a`, `b`, .. are `ins`; `alpha=2` is an attribute of the current
 * node, or 2. */
int emit_formula(struct onnx *x, const char *formula, const int *ins);

/* Adds a constant as a value. */
int emit_constant(struct onnx *x, struct constant *c);
int emit_numbers(struct onnx *x, const int64_t *numbers, int count);
int emit_scalar(struct onnx *x, double number);

/* Moves of values. */
int emit_reshape(struct onnx *x, int value, const int64_t *dims, int rank);
int emit_transpose(struct onnx *x, int value, const int64_t *perm, int rank);
int emit_slice(struct onnx *x, int value, int64_t axis, int64_t from,
               int64_t to);
int emit_concat(struct onnx *x, int a, int b, int64_t axis);

/* The rank and sizes of a value; -1: it has none. */
int emit_dims(struct onnx *x, int value, int64_t *dims);
/* Input `index` of the current node as a value; -1: missing. */
int emit_input(const struct onnx *x, size_t index);
/* Sets an output of the current node. */
bool emit_give(struct onnx *x, size_t out, int value);

#endif
