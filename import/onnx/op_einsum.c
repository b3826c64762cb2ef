/* Einsum of one tensor or two: sums over the letters that are not in the
 * result, a matrix product over those in both tensors. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "import/onnx/emit.h"

enum { MOST_LETTERS = 12 };

/* One letter for each axis of a tensor. */
struct einsum_term {
  char letters[MOST_LETTERS + 1];
};

/* Reads letters up to `,`, `->` or the end; false for unsupported forms. */
static bool next_term(const char **at, struct einsum_term *term) {
  size_t count = 0;
  for (; **at && **at != ',' && **at != '-'; (*at)++) {
    if (**at == ' ')
      continue;
    if (!isalpha((unsigned char)**at) || count == MOST_LETTERS ||
        memchr(term->letters, **at, count))
      return false; /* a diagonal, or `...` */
    term->letters[count++] = **at;
  }
  term->letters[count] = '\0';
  return true;
}

static int index_of(const struct einsum_term *term, char letter) {
  const char *at = strchr(term->letters, letter);
  return at ? (int)(at - term->letters) : -1;
}

/* The result without an arrow: letters that appear once, sorted. */
static void usual_result(const struct einsum_term *terms, int count,
                         struct einsum_term *out) {
  size_t length = 0;
  for (char c = 'A'; c <= 'z'; c++) {
    int times = 0;
    for (int i = 0; i < count; i++)
      times += isalpha((unsigned char)c) && index_of(&terms[i], c) >= 0;
    if (times == 1 && length < MOST_LETTERS)
      out->letters[length++] = c;
  }
  out->letters[length] = '\0';
}

/* Reads the terms of the inputs and the result; false with an error. */
static bool read_equation(struct onnx *x, struct einsum_term *terms,
                          struct einsum_term *out) {
  const Onnx__AttributeProto *a = onnx_attribute(x, "equation");
  const char *at = a && a->has_s ? graph_text(x->graph, "%.*s", (int)a->s.len,
                                              (const char *)a->s.data)
                                 : "";
  size_t count = 0;
  bool simple = *at && x->at->in_count >= 1 && x->at->in_count <= 2;
  for (; simple && count < x->at->in_count; count++) {
    simple = next_term(&at, &terms[count]);
    if (simple && count + 1 < x->at->in_count)
      simple = *at++ == ',';
  }
  if (simple && !*at)
    usual_result(terms, (int)count, out);
  else if (simple)
    simple =
        strncmp(at, "->", 2) == 0 && (at += 2, next_term(&at, out)) && !*at;
  return simple || onnx_fail(x, "only one or two tensors, each letter once "
                                "in each, are supported");
}

/* Sums over letters that are neither in the other tensor nor in the result. */
static int sum_away(struct onnx *x, int value, struct einsum_term *term,
                    const struct einsum_term *other,
                    const struct einsum_term *out) {
  int64_t axes[MOST_LETTERS];
  int count = 0, kept = 0;
  for (int i = 0; term->letters[i]; i++) {
    char letter = term->letters[i];
    if (index_of(out, letter) < 0 && (!other || index_of(other, letter) < 0))
      axes[count++] = i;
    else
      term->letters[kept++] = letter;
  }
  term->letters[kept] = '\0';
  if (count == 0)
    return value;
  Onnx__NodeProto *node = emit_open(x, "ReduceSum");
  const int ins[2] = {value, emit_numbers(x, axes, count)};
  emit_int(x, node, "keepdims", 0);
  if (x->opset >= 13)
    return emit(x, node, ins, 2);
  emit_ints(x, node, "axes", axes, count);
  return emit(x, node, ins, 1);
}

/* Transposes to the order of `want`, which has the same letters. */
static int turn(struct onnx *x, int value, const struct einsum_term *term,
                const char *want) {
  int64_t perm[MOST_LETTERS];
  int rank = 0;
  bool same = true;
  for (; want[rank]; rank++) {
    perm[rank] = index_of(term, want[rank]);
    same = same && perm[rank] == rank;
  }
  return same ? value : emit_transpose(x, value, perm, rank);
}

/* Letters of `a` that are (not) in `b` and (not) in the result. */
static void pick(const struct einsum_term *a, const struct einsum_term *b,
                 bool in_b, const struct einsum_term *out, bool in_out,
                 char *to) {
  for (const char *at = a->letters; *at; at++)
    if ((index_of(b, *at) >= 0) == in_b && (index_of(out, *at) >= 0) == in_out)
      *to++ = *at;
  *to = '\0';
}

/* Merges the letters of each group into one axis, after the batch's. */
static int merged(struct onnx *x, int value, size_t batch, size_t first,
                  size_t second) {
  int64_t dims[MOST_AXES], sizes[MOST_AXES];
  if (value < 0 || (first == 1 && second == 1))
    return value;
  int rank = emit_dims(x, value, dims), count = 0;
  if (rank != (int)(batch + first + second))
    return -1;
  for (size_t i = 0; i < batch; i++)
    sizes[count++] = dims[i];
  for (size_t i = 0, at = batch; i < 2; i++) {
    sizes[count] = 1;
    for (size_t k = i ? second : first; k-- > 0; at++)
      sizes[count] *= dims[at];
    count++;
  }
  return emit_reshape(x, value, sizes, count);
}

static int product_of(struct onnx *x, const int *values,
                      const struct einsum_term *terms,
                      const struct einsum_term *out) {
  char batch[16], left[16], right[16], inner[16], a[64], b[64], c[64];
  int64_t dims[2][MOST_AXES], sizes[MOST_AXES];
  int count = 0;
  pick(&terms[0], &terms[1], true, out, true, batch);
  pick(&terms[0], &terms[1], false, out, true, left);
  pick(&terms[1], &terms[0], false, out, true, right);
  pick(&terms[0], &terms[1], true, out, false, inner);
  snprintf(a, sizeof a, "%s%s%s", batch, left, inner);
  snprintf(b, sizeof b, "%s%s%s", batch, inner, right);
  snprintf(c, sizeof c, "%s%s%s", batch, left, right);
  for (int i = 0; i < 2; i++)
    if (emit_dims(x, values[i], dims[i]) != (int)strlen(terms[i].letters))
      return ONNX_NONE(x, "its letters are not those of its inputs' axes");
  int one = merged(x, turn(x, values[0], &terms[0], a), strlen(batch),
                   strlen(left), strlen(inner));
  int two = merged(x, turn(x, values[1], &terms[1], b), strlen(batch),
                   strlen(inner), strlen(right));
  int product = emit_two(x, "MatMul", one, two);
  for (const char *at = c; *at; at++) {
    int i = index_of(&terms[0], *at), k = index_of(&terms[1], *at);
    sizes[count++] = i >= 0 ? dims[0][i] : dims[1][k];
  }
  if (strlen(left) != 1 || strlen(right) != 1)
    product = emit_reshape(x, product, sizes, count);
  struct einsum_term given = {{0}};
  memcpy(given.letters, c, strlen(c) + 1 < sizeof given ? strlen(c) + 1 : 0);
  return turn(x, product, &given, out->letters);
}

bool op_einsum(struct onnx *x) {
  struct einsum_term terms[2] = {{{0}}}, out = {{0}};
  int values[2];
  if (!read_equation(x, terms, &out))
    return false;
  int count = (int)x->at->in_count;
  for (int i = 0; i < count; i++) {
    values[i] = sum_away(x, emit_input(x, (size_t)i), &terms[i],
                         count > 1 ? &terms[1 - i] : NULL, &out);
    if (values[i] < 0)
      return false;
  }
  for (const char *at = out.letters; *at; at++)
    if (index_of(&terms[0], *at) < 0 &&
        (count < 2 || index_of(&terms[1], *at) < 0))
      return onnx_fail(x, "its result has a letter that no input has");
  return emit_give(x, 0,
                   count == 1 ? turn(x, values[0], &terms[0], out.letters)
                              : product_of(x, values, terms, &out));
}
