/* The rule of thumb against the hand calculations that were published. */
#include "netc.h"
#include "sema/model/rule.h"
#include "tests/run.h"

static struct netc *load(const char *text) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_load_text(netc, "rule", text, strlen(text)), NETC_OK);
  return netc;
}

/* "CNN memory consumption": the net of the question, layer by layer. */
static void the_net_of_the_question_has_its_published_values(void **state) {
  (void)state;
  static const int64_t published[] = {7500, 80000, 20000, 40000, 9216, 500, 10};
  struct netc *netc = load("input 50x50x3\nconv 32 3x3 pad\npool 2x2\n"
                           "conv 64 3x3 pad\npool 2x2\nfc 500\nfc 10\n");
  int64_t sum = 0;
  for (size_t i = 0; i < 7; i++) {
    struct netc_layer layer = {.size = sizeof layer};
    assert_int_equal(netc_layer(netc, i, &layer), NETC_OK);
    assert_int_equal(layer.activation_count, published[i]);
    sum += published[i];
  }
  struct netc_totals totals = {.size = sizeof totals};
  netc_totals(netc, &totals);
  assert_int_equal(totals.activation_count, sum);
  assert_int_equal(sum, 157226);        /* published: 157.2K */
  assert_int_equal(sum - 9216, 148010); /* what its terms add up to */
  assert_int_equal(totals.activation_bytes, 628904); /* 628.9 kB */
  assert_int_equal(totals.param_count, 4632902);
  assert_int_equal(totals.mac_count, 18293000);
  netc_close(netc);
}

static void its_training_total_is_the_published_one(void **state) {
  (void)state;
  struct rule rule;
  struct rule_input in = {.params = 4632902,
                          .activation_bytes = 628904,
                          .input_bytes = 7500 * 4,
                          .batch = 64,
                          .misc = -1,
                          .element = ELEMENT_F32,
                          .optimizer = OPTIMIZER_MOMENTUM};
  assert_true(rule_apply(&in, &rule));
  assert_int_equal(rule.prediction, 18531608 + 628904);
  assert_int_equal(rule.training_params, 55594824);
  assert_int_equal(rule.training_activations, 80499712);
  assert_int_equal(rule.misc, 1920000);
  assert_int_equal(rule.training, 138014536);
}

/*
 * https://cs231n.github.io/convolutional-networks/#case: VGG-16's memory and
 * weights, without biases, row by row as the page prints them.
 */
static void vgg16_has_the_rows_of_cs231n(void **state) {
  (void)state;
  static const struct {
    int64_t memory, weights;
  } published[] = {
      {224 * 224 * 3, 0},
      {224 * 224 * 64, (3 * 3 * 3) * 64},
      {224 * 224 * 64, (3 * 3 * 64) * 64},
      {112 * 112 * 64, 0},
      {112 * 112 * 128, (3 * 3 * 64) * 128},
      {112 * 112 * 128, (3 * 3 * 128) * 128},
      {56 * 56 * 128, 0},
      {56 * 56 * 256, (3 * 3 * 128) * 256},
      {56 * 56 * 256, (3 * 3 * 256) * 256},
      {56 * 56 * 256, (3 * 3 * 256) * 256},
      {28 * 28 * 256, 0},
      {28 * 28 * 512, (3 * 3 * 256) * 512},
      {28 * 28 * 512, (3 * 3 * 512) * 512},
      {28 * 28 * 512, (3 * 3 * 512) * 512},
      {14 * 14 * 512, 0},
      {14 * 14 * 512, (3 * 3 * 512) * 512},
      {14 * 14 * 512, (3 * 3 * 512) * 512},
      {14 * 14 * 512, (3 * 3 * 512) * 512},
      {7 * 7 * 512, 0},
      {4096, 7 * 7 * 512 * 4096},
      {4096, 4096 * 4096},
      {1000, 4096 * 1000},
  };
  struct netc *netc =
      load("input 224x224x3\n"
           "for c n in [64 2; 128 2; 256 3; 512 3; 512 3] {\n"
           "  repeat n { conv c 3x3 pad nobias }\n  pool 2x2\n}\n"
           "repeat 2 { fc 4096 nobias }\nfc 1000 nobias\n");
  int64_t memory = 0, weights = 0;
  size_t rows = sizeof published / sizeof *published;
  assert_int_equal(netc_layer_count(netc), rows);
  for (size_t i = 0; i < rows; i++) {
    struct netc_layer layer = {.size = sizeof layer};
    assert_int_equal(netc_layer(netc, i, &layer), NETC_OK);
    assert_int_equal(layer.activation_count, published[i].memory);
    assert_int_equal(layer.param_count, published[i].weights);
    memory += layer.activation_count;
    weights += layer.param_count;
  }
  assert_int_equal(weights, 138344128); /* published: 138M */
  assert_int_equal(memory, 15237608);   /* published: 24M, not its rows */
  netc_close(netc);
}

/*
 * A published estimate for training: 4.06 MB, 218.27 MB, 4.39 MB, 742.34 MB
 * (of 2^20). Its total multiplies the rounded 4.06 by the batch; the exact
 * one is 742.93.
 */
static void a_published_training_estimate_is_reproduced(void **state) {
  (void)state;
  struct rule rule;
  struct rule_input in = {.params = 19072984,
                          .activation_bytes = 532752 * 4,
                          .input_bytes = 9000 * 4,
                          .batch = 128,
                          .misc = -1,
                          .element = ELEMENT_F32,
                          .optimizer = OPTIMIZER_ADAM,
                          .x3 = true};
  assert_true(rule_apply(&in, &rule));
  double mib = 1 << 20;
  char text[64];
  snprintf(text, sizeof text, "%.2f %.2f %.2f",
           (double)in.activation_bytes * 2 / mib,
           (double)rule.training_params / mib, (double)rule.misc / mib);
  assert_string_equal(text, "4.06 218.27 4.39");
  snprintf(text, sizeof text, "%.2f", 4.06 * 128 + 218.27 + 4.39);
  assert_string_equal(text, "742.34");
  snprintf(text, sizeof text, "%.2f", (double)rule.training / mib);
  assert_string_equal(text, "742.93");
}

static void copies_of_the_parameters_follow_the_optimizer(void **state) {
  (void)state;
  static const struct {
    int optimizer;
    int64_t bytes;
  } cases[] = {
      {OPTIMIZER_SGD, 8000},   {OPTIMIZER_MOMENTUM, 12000},
      {OPTIMIZER_ADAM, 16000}, {OPTIMIZER_ADADELTA, 16000},
      {OPTIMIZER_LION, 12000}, {OPTIMIZER_ADAM8BIT, 10000},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct rule rule;
    struct rule_input in = {.params = 1000,
                            .batch = 1,
                            .element = ELEMENT_F32,
                            .optimizer = cases[i].optimizer};
    assert_true(rule_apply(&in, &rule));
    assert_int_equal(rule.training_params, cases[i].bytes);
  }
}

static void an_overflow_is_noticed(void **state) {
  (void)state;
  struct rule rule;
  struct rule_input in = {.params = INT64_MAX / 64,
                          .batch = 1,
                          .element = ELEMENT_F32,
                          .optimizer = OPTIMIZER_ADAM};
  assert_true(rule_apply(&in, &rule));
  in.params = INT64_MAX / 8;
  assert_false(rule_apply(&in, &rule));
  in.params = 0;
  in.activation_bytes = INT64_MAX / 4;
  in.batch = 4;
  assert_false(rule_apply(&in, &rule));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_net_of_the_question_has_its_published_values),
      cmocka_unit_test(its_training_total_is_the_published_one),
      cmocka_unit_test(vgg16_has_the_rows_of_cs231n),
      cmocka_unit_test(a_published_training_estimate_is_reproduced),
      cmocka_unit_test(copies_of_the_parameters_follow_the_optimizer),
      cmocka_unit_test(an_overflow_is_noticed),
  };
  return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}
