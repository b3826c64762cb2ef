/* Python as it is being written: text with holes for what may vary. */
#include "codegen/torch/code.h"

#include <stdarg.h>

struct code code_new(struct arena *arena) {
  return (struct code){.text = text_new(arena)};
}

void code_hole(struct code *code, struct hole hole) {
  text_putc(&code->text, CODE_HOLE);
  *VEC_PUSH(code->text.arena, &code->holes) = hole;
}

void code_append(struct code *code, const struct code *more) {
  text_puts(&code->text, text_slice(&more->text));
  for (size_t i = 0; i < more->holes.count; i++)
    *VEC_PUSH(code->text.arena, &code->holes) = more->holes.at[i];
}

static struct slice number(struct arena *arena, int64_t value) {
  struct text text = text_new(arena);
  text_int(&text, value);
  return text_slice(&text);
}

/* What one letter behind `%` stands for. */
static void put_argument(struct code *code, char letter, va_list *args) {
  struct hole hole = {.kind = HOLE_VALUE};
  switch (letter) {
  case 's': text_put(&code->text, va_arg(*args, const char *)); return;
  case 'd': text_int(&code->text, va_arg(*args, int64_t)); return;
  case 'S': text_puts(&code->text, va_arg(*args, struct slice)); return;
  case 'c': code_append(code, va_arg(*args, const struct code *)); return;
  case 'i':
    hole.hint = va_arg(*args, const char *);
    hole.value = number(code->text.arena, va_arg(*args, int64_t));
    break;
  case 'v':
    hole.hint = va_arg(*args, const char *);
    hole.value = va_arg(*args, struct slice);
    break;
  case 'k':
    hole.hint = hole.key = va_arg(*args, const char *);
    hole.usual = va_arg(*args, const char *);
    hole.value = va_arg(*args, struct slice);
    break;
  case 'm':
    hole = (struct hole){.kind = HOLE_MODULE, .node = va_arg(*args, int64_t)};
    break;
  default:
    hole = (struct hole){.kind = HOLE_INPUT,
                         .input = va_arg(*args, int),
                         .receiver = letter == 'r'};
  }
  code_hole(code, hole);
}

void code_format(struct code *code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  for (; *format; format++) {
    if (*format == '%')
      put_argument(code, *++format, &args);
    else
      text_putc(&code->text, *format);
  }
  va_end(args);
}

static bool same(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool hole_equal(const struct hole *a, const struct hole *b) {
  return a->kind == b->kind && same(a->hint, b->hint) && same(a->key, b->key) &&
         slice_equal(a->value, b->value) && slice_equal(a->stem, b->stem) &&
         a->ordinal == b->ordinal && a->indexed == b->indexed &&
         slice_equal(a->rest, b->rest) && a->local == b->local &&
         a->input == b->input;
}

bool code_equal(const struct code *a, const struct code *b) {
  bool equal = slice_equal(text_slice(&a->text), text_slice(&b->text)) &&
               a->holes.count == b->holes.count;
  for (size_t i = 0; equal && i < a->holes.count; i++)
    equal = hole_equal(&a->holes.at[i], &b->holes.at[i]);
  return equal;
}

size_t code_width(const struct code *code) {
  size_t width = code->text.length;
  for (size_t i = 0; i < code->holes.count; i++) {
    const struct hole *hole = &code->holes.at[i];
    if (hole->kind == HOLE_VALUE && !same(hole->key, NULL) &&
        slice_is(hole->value, hole->usual))
      continue;
    width += hole->value.length + (hole->key ? strlen(hole->key) + 3 : 0);
    if (hole->kind == HOLE_MODULE)
      width += hole->stem.length + hole->rest.length + 7;
  }
  return width;
}
