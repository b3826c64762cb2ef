/* Values: results of expressions while a net is built. */
#ifndef NETC_SEMA_BINDING_VALUE_H
#define NETC_SEMA_BINDING_VALUE_H

#include "base/source.h"
#include "base/text.h"
#include "layers/layer.h"

enum value_kind {
  VALUE_POISON, /* erroneous, and reported */
  VALUE_INT,
  VALUE_REAL,
  VALUE_BOOL,
  VALUE_NAME,  /* a layer, def or label */
  VALUE_ANY,   /* _ */
  VALUE_SIZES, /* integers or `_` joined by x, or pairs a:b */
  VALUE_LIST,  /* values that a `for` takes one by one */
};

struct symbol;
struct binding;

/* A layer with arguments. */
struct layer_value {
  const struct binding *binding;
  struct slice text; /* `leaky(0.1)` */
};

struct value {
  enum value_kind kind;
  int64_t integer; /* VALUE_INT, VALUE_BOOL */
  double real;
  struct slice name;
  struct symbol *symbol; /* VALUE_NAME: the def or label; NULL: a layer */
  const struct layer_value *layer; /* VALUE_NAME: its arguments, or NULL */
  const struct value *items;       /* VALUE_LIST */
  int count;                       /* VALUE_SIZES, VALUE_LIST */
  bool paired;                     /* some are pairs; else `to` equals `at` */
  int64_t at[LIMIT_RANK];          /* SIZE_ANY: `_` */
  int64_t to[LIMIT_RANK];
  struct span span; /* latest place in the source */
};

extern const struct value value_poison;

/* "an integer", "a name", for messages. */
const char *value_words(enum value_kind kind);

void value_put(struct text *out, const struct value *value);

static inline double value_number(const struct value *value) {
  return value->kind == VALUE_REAL ? value->real : (double)value->integer;
}

static inline bool value_is_number(const struct value *value) {
  return value->kind == VALUE_INT || value->kind == VALUE_REAL;
}

/* True if two values are equal; an integer may equal a real number. */
bool value_equal(const struct value *a, const struct value *b);

/* Compares numbers, like strcmp. */
int value_compare(const struct value *a, const struct value *b);

#endif
