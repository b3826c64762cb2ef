/* Values: results of expressions while a net is built. */
#include "sema/binding/value.h"

#include "sema/model/model.h"

const struct value value_poison = {.kind = VALUE_POISON};

const char *value_words(enum value_kind kind) {
  switch (kind) {
  case VALUE_POISON: return "nothing";
  case VALUE_INT: return "an integer";
  case VALUE_REAL: return "a real number";
  case VALUE_BOOL: return "true or false";
  case VALUE_NAME: return "a name";
  case VALUE_ANY: return "`_`";
  case VALUE_SIZES: return "sizes";
  case VALUE_LIST: return "a list";
  }
  return "";
}

void value_put(struct text *out, const struct value *value) {
  switch (value->kind) {
  case VALUE_POISON: text_putc(out, '?'); break;
  case VALUE_INT: text_int(out, value->integer); break;
  case VALUE_REAL: text_real(out, value->real); break;
  case VALUE_BOOL: text_put(out, value->integer ? "true" : "false"); break;
  case VALUE_NAME:
    text_puts(out, value->layer ? value->layer->text : value->name);
    break;
  case VALUE_ANY: text_putc(out, '_'); break;
  case VALUE_SIZES:
    for (int i = 0; i < value->count; i++) {
      if (i)
        text_putc(out, 'x');
      model_put_size(out, value->at[i]);
      if (value->paired) {
        text_putc(out, ':');
        model_put_size(out, value->to[i]);
      }
    }
    break;
  case VALUE_LIST:
    for (int i = 0; i < value->count; i++) {
      text_putc(out, i ? ' ' : '[');
      value_put(out, &value->items[i]);
    }
    text_put(out, value->count ? "]" : "[]");
  }
}

static bool items_equal(const struct value *a, const struct value *b) {
  int i = 0;
  while (i < a->count && i < b->count &&
         value_equal(&a->items[i], &b->items[i]))
    i++;
  return i == a->count && i == b->count;
}

bool value_equal(const struct value *a, const struct value *b) {
  if (value_is_number(a) && value_is_number(b))
    return value_compare(a, b) == 0;
  if (a->kind != b->kind)
    return false;
  if (a->kind == VALUE_NAME)
    return !a->layer == !b->layer &&
           (a->layer ? slice_equal(a->layer->text, b->layer->text)
                     : slice_equal(a->name, b->name));
  if (a->kind == VALUE_LIST)
    return items_equal(a, b);
  if (a->kind != VALUE_SIZES)
    return a->integer == b->integer;
  size_t bytes = (size_t)a->count * sizeof *a->at;
  return a->count == b->count && memcmp(a->at, b->at, bytes) == 0 &&
         memcmp(a->to, b->to, bytes) == 0;
}

int value_compare(const struct value *a, const struct value *b) {
  if (a->kind == VALUE_INT && b->kind == VALUE_INT)
    return (a->integer > b->integer) - (a->integer < b->integer);
  double x = value_number(a), y = value_number(b);
  return (x > y) - (x < y);
}
