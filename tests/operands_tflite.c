/*
 * Models of TensorFlow Lite for tests/test_operands.c. A table is stored
 * behind its offsets, what it refers to behind it (flatbuffers.dev).
 */
#include "tests/operands.h"

#include <string.h>

enum { FIELD = 8, ROOM = 1 << 16 }; /* bytes of a field, of a file */

static const char *const codes[] = {
#include "import/tflite/names.def"
};

enum { CUSTOM = 32 };

struct flat {
  unsigned char *at;
  size_t length;
};

static void put(struct flat *f, size_t at, int64_t number, int bytes) {
  for (int i = 0; i < bytes; i++)
    f->at[at + (size_t)i] = (unsigned char)((uint64_t)number >> 8 * i);
}

/* A table that has the fields of the mask; where the first of them is. */
static size_t table(struct flat *f, unsigned mask) {
  size_t offsets = f->length = (f->length + 3) / 4 * 4, count = 0;
  while (mask >> count)
    count++;
  size_t at = offsets + (4 + 2 * count + 3) / 4 * 4;
  put(f, offsets, (int64_t)(4 + 2 * count), 2);
  put(f, offsets + 2, (int64_t)(4 + FIELD * count), 2);
  for (size_t i = 0; i < count; i++)
    if (mask >> i & 1)
      put(f, offsets + 4 + 2 * i, (int64_t)(4 + FIELD * i), 2);
  put(f, at, (int64_t)(at - offsets), 4);
  f->length = at + 4 + FIELD * count;
  return at + 4;
}

/* The end of the file is what the place refers to. */
static void refer(struct flat *f, size_t at, size_t to) {
  put(f, at, (int64_t)(to - at), 4);
}

static void refer_table(struct flat *f, size_t from, size_t fields) {
  refer(f, from, fields - 4);
}

/* A vector of `count`; where its first item is. */
static size_t vector(struct flat *f, size_t from, size_t count, int bytes) {
  f->length = (f->length + 3) / 4 * 4;
  refer(f, from, f->length);
  put(f, f->length, (int64_t)count, 4);
  size_t first = f->length + 4;
  f->length = first + count * (size_t)bytes;
  return first;
}

static void text_field(struct flat *f, size_t from, const char *text) {
  size_t at = vector(f, from, strlen(text) + 1, 1);
  put(f, at - 4, (int64_t)strlen(text), 4);
  memcpy(f->at + at, text, strlen(text));
}

/* The operator of that name; one that netc does not know is CUSTOM. */
static int code_of(const char *name) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(codes[i], name) == 0)
      return (int)i;
  return CUSTOM;
}

static const char letters[] = {INPUT,   CONSTANT, SCALAR, EMPTY,
                               UNKNOWN, OWN,      'z'};

enum { LETTERS = sizeof letters, KINDS = 3, CONSTANT_BYTES = 4 * 64 };

static int64_t index_of(char letter) {
  const char *at = memchr(letters, letter, LETTERS);
  return at ? at - letters : -1;
}

static void put_code(struct flat *f, size_t from, const char *name) {
  int code = code_of(name);
  size_t at = table(f, 1U << 0 | 1U << 1 | 1U << 3);
  refer_table(f, from, at);
  put(f, at, code < 127 ? code : 127, 1);
  put(f, at + 3 * FIELD, code, 4);
  text_field(f, at + FIELD, name);
}

static void put_tensor(struct flat *f, size_t from, const struct trial *t,
                       char letter) {
  static const int ranks[] = {4, 3, 2, 1}, changes[] = {0, 1, -1};
  bool constant = letter == CONSTANT || letter == SCALAR || letter == EMPTY;
  int rank = letter == SCALAR ? 0 : letter == EMPTY ? 1 : ranks[t->seed % 4];
  bool result = letter == OWN || letter == 'z';
  rank += result ? changes[t->seed / 4 % 3] : 0;
  size_t at = table(f, 15);
  refer_table(f, from, at);
  size_t shape = vector(f, at, (size_t)rank, 4);
  for (int i = 0; i < rank; i++)
    put(f, shape + 4 * (size_t)i, letter == EMPTY ? 0 : i ? 4 : 1, 4);
  put(f, at + FIELD, constant && t->seed % 3 == 0 ? 2 : 0, 1);
  put(f, at + 2 * FIELD, constant ? 1 + index_of(letter) : 0, 4);
  char name[2] = {letter, '\0'};
  text_field(f, at + 3 * FIELD, name);
}

static void put_op(struct flat *f, size_t from, const struct trial *t, int code,
                   const char *operands, char result) {
  size_t at =
      table(f, 1U << 0 | 1U << 1 | 1U << 2 | (t->attributes ? 1U << 4 : 0U));
  refer_table(f, from, at);
  put(f, at, code, 4);
  size_t ins = vector(f, at + FIELD, strlen(operands), 4);
  for (size_t i = 0; operands[i]; i++)
    put(f, ins + 4 * i, index_of(operands[i]), 4);
  put(f, vector(f, at + 2 * FIELD, 1, 4), index_of(result), 4);
  if (!t->attributes)
    return;
  unsigned mask = 0;
  for (unsigned i = 0; i < 16; i++)
    mask |= trial_has(t, i) ? 1U << i : 0U;
  size_t options = table(f, mask);
  refer_table(f, at + 4 * FIELD, options);
  for (size_t i = 0; mask >> i; i++)
    put(f, options + FIELD * i, t->number, FIELD);
}

static void put_graph(struct flat *f, size_t from, const struct trial *t) {
  size_t at = table(f, 15), count = 0, op = 0;
  bool leads = strchr(t->operands, UNKNOWN);
  refer_table(f, from, at);
  size_t tensors = vector(f, at, LETTERS, 4);
  put(f, vector(f, at + FIELD, 1, 4), index_of(INPUT), 4);
  put(f, vector(f, at + 2 * FIELD, 1, 4), index_of(t->behind ? 'z' : OWN), 4);
  count = 1U + leads + (t->behind != NULL);
  size_t ops = vector(f, at + 3 * FIELD, count, 4);
  for (size_t i = 0; i < LETTERS; i++)
    put_tensor(f, tensors + 4 * i, t, letters[i]);
  if (leads)
    put_op(f, ops + 4 * op++, t, 0, "x", UNKNOWN);
  put_op(f, ops + 4 * op++, t, 1, t->operands, OWN);
  if (t->behind)
    put_op(f, ops + 4 * op, t, 2, trial_behind(t), 'z');
}

struct slice tflite_trial(const struct trial *t) {
  struct flat f = {.at = arena_alloc(t->arena, ROOM, 1), .length = 8};
  memcpy(f.at + 4, "TFL3", 4);
  size_t model = table(&f, 1U << 0 | 1U << 1 | 1U << 2 | 1U << 4);
  refer_table(&f, 0, model);
  put(&f, model, 3, 4); /* the version */
  size_t kinds = vector(&f, model + FIELD, KINDS, 4);
  size_t graph = vector(&f, model + 2 * FIELD, 1, 4);
  size_t buffers = vector(&f, model + 4 * FIELD, LETTERS + 1, 4);
  put_code(&f, kinds, "WARP");
  put_code(&f, kinds + 4, t->type);
  put_code(&f, kinds + 8, t->behind ? t->behind : "WARP");
  put_graph(&f, graph, t);
  for (size_t i = 0; i <= LETTERS; i++) {
    size_t buffer = table(&f, 1);
    refer_table(&f, buffers + 4 * i, buffer);
    char letter = i ? letters[i - 1] : INPUT;
    vector(&f, buffer,
           letter == CONSTANT ? CONSTANT_BYTES
           : letter == SCALAR ? 4
                              : 0,
           1);
  }
  return (struct slice){(const char *)f.at, f.length};
}
