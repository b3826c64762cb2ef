/* ops/: a row of ops.def has no gap that would be noticed later. */
#include <string.h>

#include "ops/function.h"
#include "runtime/netrt.h"
#include "tests/run.h"

static const char *const unary[] = {
#define OP(...)
#define UNARY(code, name, reals) #name,
#include "runtime/ops.def"
#undef OP
};

static bool is_unary(const char *opcode) {
  for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
    if (strcmp(unary[i], opcode) == 0)
      return true;
  return false;
}

/* Figures for papers have words for every layer. */
static void every_layer_has_plain_words(void **state) {
  static const struct {
    const char *word, *plain;
  } rows[] = {
#define LAYER(id, WORD, plain, ...) {#id, plain},
#include "ops/ops.def"
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strlen(rows[i].plain) < 2)
      fail_msg("`%s` has no plain words in ops.def", rows[i].word);
}

/* The operators of `steps` are known, and Mul is the last of them. */
static void check_steps(const struct function *function) {
  for (const char *at = function->steps; *at;) {
    struct slice step = {at, strcspn(at, " ")};
    at += step.length + (at[step.length] == ' ');
    if (slice_is(step, "Mul") ? *at : !function_of_onnx(step))
      fail_msg("steps of `%s`: %.*s", function->opcode, SLICE_ARG(step));
  }
}

/* A function runs in eight bits, and PyTorch, ONNX and OpenVINO have it. */
static void every_function_is_written_everywhere(void **state) {
  const struct function *function;
  (void)state;
  for (size_t i = 0; (function = function_at(i)); i++) {
    const char *own = function->names[IN_ONNX];
    if (!is_unary(function->opcode))
      fail_msg("`%s` is not UNARY in runtime/ops.def", function->opcode);
    if (!*function->call)
      fail_msg("`%s` has no form in PyTorch", function->opcode);
    if (!own && !*function->steps)
      fail_msg("`%s` has no form in ONNX", function->opcode);
    if (own && function->since && !*function->steps)
      fail_msg("`%s` has no form in older opsets", function->opcode);
    if (function->names[IN_OPENVINO] && !own)
      fail_msg("OpenVINO's `%s` needs a name in ONNX", function->opcode);
    check_steps(function);
    assert_ptr_equal(function_of(function->word), function);
  }
}

/* Each name leads to one function. */
static void names_are_found(void **state) {
  const struct function *function;
  struct slice name;
  size_t count = 0;
  (void)state;
  for (enum dialect d = 0; d < DIALECTS; d++)
    for (size_t i = 0; (function = function_name_at(d, i, &name)); i++) {
      assert_ptr_equal(function_find(d, name), function);
      assert_true(name.length > 0);
      count++;
    }
  assert_true(count > 80);
  assert_null(function_find(IN_ONNX, slice_of("Nobody")));
  assert_null(function_of(WORD_CONV));
  assert_string_equal(word_name(function_of_onnx(slice_of("Clip"))->word),
                      "relu6");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_layer_has_plain_words),
      cmocka_unit_test(every_function_is_written_everywhere),
      cmocka_unit_test(names_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
