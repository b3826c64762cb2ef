/* Python code under construction: text with holes for parts that may vary. */
#include "codegen/torch/code.h"

#include <stdarg.h>

struct torch_code code_new(struct arena *arena) {
  return (struct torch_code){.text = text_new(arena)};
}

void code_hole(struct torch_code *code, struct hole hole) {
  text_putc(&code->text, CODE_HOLE);
  *VEC_PUSH(code->text.arena, &code->holes) = hole;
}

void code_append(struct torch_code *code, const struct torch_code *more) {
  text_puts(&code->text, text_slice(&more->text));
  for (size_t i = 0; i < more->holes.count; i++)
    *VEC_PUSH(code->text.arena, &code->holes) = more->holes.at[i];
}

static struct slice keep(struct arena *arena, struct slice slice) {
  return slice.length
             ? (struct slice){arena_copy(arena, slice.at, slice.length),
                              slice.length}
             : (struct slice){slice.at ? "" : NULL, 0};
}

struct torch_code code_keep(struct arena *arena,
                            const struct torch_code *code) {
  struct torch_code kept = code_new(arena);
  size_t count = code->holes.count;
  kept.text.at = (char *)keep(arena, text_slice(&code->text)).at;
  kept.text.length = kept.text.room = code->text.length;
  kept.holes.at =
      count ? arena_room(arena, count, sizeof *kept.holes.at) : NULL;
  kept.holes.count = kept.holes.room = count;
  for (size_t i = 0; i < count; i++) {
    struct hole hole = code->holes.at[i];
    if (hole.kind == HOLE_VALUE)
      hole.value = keep(arena, hole.value);
    kept.holes.at[i] = hole;
  }
  return kept;
}

static struct slice number(struct arena *arena, int64_t value) {
  struct text text = text_new(arena);
  text_int(&text, value);
  return text_slice(&text);
}

/* Appends the argument of one letter after `%`. */
static void put_argument(struct torch_code *code, char letter, va_list *args) {
  struct hole hole = {.kind = HOLE_VALUE};
  switch (letter) {
  case 's': text_put(&code->text, va_arg(*args, const char *)); return;
  case 'd': text_int(&code->text, va_arg(*args, int64_t)); return;
  case 'S': text_puts(&code->text, va_arg(*args, struct slice)); return;
  case 'c': code_append(code, va_arg(*args, const struct torch_code *)); return;
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
                         .receiver = letter == 'r',
                         .starred = letter == 'e'};
  }
  code_hole(code, hole);
}

void code_format(struct torch_code *code, const char *format, ...) {
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

bool hole_equal(const struct hole *a, const struct hole *b) {
  if (a->kind != b->kind)
    return false;
  switch (a->kind) {
  case HOLE_VALUE:
    return same(a->hint, b->hint) && same(a->key, b->key) &&
           slice_equal(a->value, b->value);
  case HOLE_MODULE: return a->node == b->node;
  case HOLE_INPUT: break;
  }
  return a->input == b->input && a->starred == b->starred;
}

bool code_equal(const struct torch_code *a, const struct torch_code *b) {
  bool equal = slice_equal(text_slice(&a->text), text_slice(&b->text)) &&
               a->holes.count == b->holes.count;
  for (size_t i = 0; equal && i < a->holes.count; i++)
    equal = hole_equal(&a->holes.at[i], &b->holes.at[i]);
  return equal;
}

size_t code_width(const struct torch_code *code) {
  size_t width = code->text.length;
  for (size_t i = 0; i < code->holes.count; i++) {
    const struct hole *hole = &code->holes.at[i];
    if (hole->kind == HOLE_MODULE)
      width += strlen("self.conv1");
    else if (hole->kind == HOLE_VALUE &&
             !(hole->key && slice_is(hole->value, hole->usual)))
      width += hole->value.length + (hole->key ? strlen(hole->key) + 3 : 0);
  }
  return width;
}
