/* Tables of layer words and of functions. */
#include <string.h>

#include "ops/function.h"

const char *word_name(enum layer_word word) {
  static const char *const names[] = {
      [WORD_NONE] = "",
#define LAYER(id, WORD, ...) [WORD_##WORD] = #id,
#include "ops/ops.def"
      [WORD_PART] = "part",   [WORD_ROUTER] = "router", [WORD_INPUT] = "input",
      [WORD_AGAIN] = "again", [WORD_ERF] = "erf",       [WORD_CENTRE] = "mean",
  };
  return names[word];
}

enum trait { PLAIN, IN_PLACE, CLIPS, CHANCE, ARITHMETIC };

static const struct function functions[] = {
#define FUNCTION(id, WORD, plain, call, trace, trait, formula, since, steps, \
                 ...)                                                        \
  {WORD_##WORD, #id, trait == ARITHMETIC, call, since, steps, {__VA_ARGS__}},
#include "ops/ops.def"
};

const struct function *function_at(size_t index) {
  return index < sizeof functions / sizeof *functions ? &functions[index]
                                                      : NULL;
}

const struct function *function_of(enum layer_word word) {
  for (size_t i = 0; function_at(i); i++)
    if (functions[i].word == word)
      return &functions[i];
  return NULL;
}

const struct function *function_of_onnx(struct slice op) {
  for (size_t i = 0; function_at(i); i++)
    if (slice_is(op, functions[i].steps))
      return &functions[i];
  return function_find(IN_ONNX, op);
}

const struct function *function_name_at(enum dialect dialect, size_t index,
                                        struct slice *name) {
  for (size_t i = 0; function_at(i); i++)
    for (const char *at = functions[i].names[dialect]; at && *at;) {
      *name = (struct slice){at, strcspn(at, " ")};
      if (index-- == 0)
        return &functions[i];
      at += name->length + (at[name->length] == ' ');
    }
  return NULL;
}

const struct function *function_find(enum dialect dialect, struct slice name) {
  struct slice other;
  const struct function *function;
  for (size_t i = 0; (function = function_name_at(dialect, i, &other)); i++)
    if (slice_equal(name, other))
      return function;
  return NULL;
}
