/*
 * Weights: names and shapes against those of PyTorch's modules
 * (tools/weight_truth.py), flattened maps, and the block of a prediction.
 */
#include <glob.h>

#include "tests/nets.h"

static struct netc *load_text(const char *text) {
  struct netc *netc = netc_open(NULL, NULL);
  enum netc_status loaded = netc_load_text(netc, "net", text, strlen(text));
  assert_int_equal(show_errors(netc, loaded), NETC_OK);
  return netc;
}

/* "8x3x3" */
static void put_sizes(char *to, size_t room, int count, const int64_t *sizes) {
  *to = '\0';
  for (int i = 0; i < count; i++)
    snprintf(to + strlen(to), room - strlen(to), "%s%lld", i ? "x" : "",
             (long long)sizes[i]);
}

/* Names. */

struct named {
  char *net, *tensors;
};

/* What netc says, as tests/data/weights/names.txt has it. */
static void check_names(void **state) {
  const struct named *named = *state;
  struct netc *netc = load_text(named->net);
  struct netc_weight weight = {.size = sizeof weight};
  char found[4096] = "", sizes[128];
  for (size_t i = 0; netc_weight(netc, i, &weight) == NETC_OK; i++) {
    size_t used = strlen(found);
    put_sizes(sizes, sizeof sizes, weight.rank, weight.dims);
    snprintf(found + used, sizeof found - used, "  %s %s\n", weight.name,
             sizes);
  }
  assert_string_equal(found, named->tensors);
  netc_close(netc);
}

/* A case is a line, and those behind it that begin with blanks. */
static size_t read_cases(char *text, struct named *cases, size_t most) {
  size_t count = 0;
  while (*text && count < most) {
    struct named *named = &cases[count++];
    named->net = text;
    text += strcspn(text, "\n");
    *text++ = '\0';
    named->tensors = text;
    while (*text == ' ')
      text += strcspn(text, "\n") + 1;
    char *copy = malloc((size_t)(text - named->tensors) + 1);
    memcpy(copy, named->tensors, (size_t)(text - named->tensors));
    copy[text - named->tensors] = '\0';
    named->tensors = copy;
  }
  return count;
}

/* Where values of netc's order lie in files. */

struct lying {
  const char *name, *net;
  size_t tensor;
  const char *dims, *strides;
  int64_t first;
};

static const struct lying lyings[] = {
    {"a-convolution", "input 9x9x4; conv 6 3x2", 0, "3x2x4x6", "2x1x6x24", 0},
    {"a-transposed-convolution-of-groups", "input 9x9x4; deconv 6 3x2 groups=2",
     0, "3x2x2x2x3", "2x1x18x36x6", 0},
    {"a-flattened-map", "input 2x3x4; fc 5", 0, "2x3x4x5", "3x1x6x24", 0},
    {"a-map-flattened-before", "input 2x3x4; flatten; relu; linear 5", 0,
     "2x3x4x5", "3x1x6x24", 0},
    {"a-norm-of-a-flattened-map", "input 2x3x4; flatten; bn; fc 5", 0, "2x3x4",
     "3x1x6", 0},
    {"a-sequence-of-a-convolution", "input 5x4; conv 4 2; fc 3", 2, "4x4x3",
     "1x4x16", 0},
    {"a-sequence-of-vectors", "input 5x4; linear 4; fc 3", 2, "20x3", "1x20",
     0},
    {"a-vector-that-becomes-a-map", "input 7; fc 24 bn relu; reshape 2x3x4", 0,
     "7x2x3x4", "1x21x7x42", 0},
    {"a-norm-of-what-becomes-a-map", "input 7; fc 24 bn relu; reshape 2x3x4", 2,
     "2x3x4", "3x1x6", 0},
    {"a-vector-that-others-read",
     "input 7; a: fc 24; reshape 2x3x4; flatten; "
     "concat { from a }",
     0, "7x24", "1x7", 0},
    {"keys-and-values-in-one-tensor-with-queries",
     "input a 7x6; input b 5x6; from a; attention 2 packed cross=b", 2, "6x12",
     "1x6", 36},
    {"biases-of-keys-and-values",
     "input a 7x6; input b 5x6; from a; attention 2 packed cross=b", 3, "12",
     "1", 6},
    {"a-table-of-relative-positions",
     "input 4x6; attention 2 relative=2x2 nobias", 4, "3x3x2", "6x2x1", 0},
    {"more-axes-than-five", "weight 2x1x3x1x2x1x2", 0, "6x1x2x1x2", "4x4x2x2x1",
     0},
};

static void check_lying(void **state) {
  const struct lying *lying = *state;
  struct netc *netc = load_text(lying->net);
  struct netc_tensor tensor = {.size = sizeof tensor};
  char text[128];
  assert_int_equal(netc_tensor(netc, lying->tensor, &tensor), NETC_OK);
  put_sizes(text, sizeof text, tensor.rank, tensor.dims);
  assert_string_equal(text, lying->dims);
  put_sizes(text, sizeof text, tensor.rank, tensor.strides);
  assert_string_equal(text, lying->strides);
  assert_int_equal(tensor.first, lying->first);
  netc_close(netc);
}

/* The block has no gaps and is as large as the plan says. */
static void check_block(const char *path, struct netc *netc) {
  struct netc_inference inference = {.size = sizeof inference};
  struct netc_tensor tensor = {.size = sizeof tensor};
  int64_t end = 0;
  netc_set(netc, "dtype", "f32");
  assert_int_equal(show_errors(netc, netc_load_file(netc, path)), NETC_OK);
  assert_int_equal(netc_inference(netc, &inference), NETC_OK);
  for (size_t i = 0; netc_tensor(netc, i, &tensor) == NETC_OK; i++) {
    if (tensor.offset < 0)
      continue;
    assert_int_equal(tensor.offset, end);
    end += 4 * tensor.count;
  }
  if (end != inference.weight_bytes)
    print_error("%s: ", path);
  assert_int_equal(end, inference.weight_bytes);
}

static void blocks_are_as_large_as_plans_say(void **state) {
  glob_t found;
  (void)state;
  assert_int_equal(glob("examples/zoo/*.net", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    struct netc *netc = netc_open(NULL, NULL);
    check_block(found.gl_pathv[i], netc);
    netc_close(netc);
  }
  globfree(&found);
}

static void nothing_is_known_of_no_net(void **state) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_weight weight = {.size = sizeof weight};
  struct netc_tensor tensor = {.size = sizeof tensor};
  (void)state;
  assert_int_equal(netc_weight(netc, 0, &weight), NETC_USAGE);
  assert_int_equal(netc_tensor(netc, 0, &tensor), NETC_USAGE);
  netc_close(netc);
}

enum { MOST_CASES = 256 };

int main(void) {
  size_t length, count = 0;
  char *text = read_text("tests/data/weights/names.txt", &length);
  static struct named cases[MOST_CASES];
  static struct CMUnitTest tests[2 * MOST_CASES];
  size_t cases_count = read_cases(text, cases, MOST_CASES);
  for (size_t i = 0; i < cases_count; i++)
    tests[count++] = (struct CMUnitTest){.name = cases[i].net,
                                         .test_func = check_names,
                                         .initial_state = &cases[i]};
  for (size_t i = 0; i < sizeof lyings / sizeof *lyings; i++)
    tests[count++] = (struct CMUnitTest){.name = lyings[i].name,
                                         .test_func = check_lying,
                                         .initial_state = (void *)&lyings[i]};
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(blocks_are_as_large_as_plans_say);
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(nothing_is_known_of_no_net);
  int failed =
      cases_count ? _cmocka_run_group_tests("weights", tests, count, NULL, NULL)
                  : 1;
  for (size_t i = 0; i < cases_count; i++)
    free(cases[i].tensors);
  free(text);
  return failed;
}
