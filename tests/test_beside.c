/*
 * Several nets in one process: what each keeps between its passes is added up,
 * and the largest pass of any is on top. The figures of each net alone come
 * from its own report.
 */
#include "tests/report.h"
#include "tests/run.h"

static const char policy[] = "net policy\ninput 64\nfc 512 relu\nfc 10\n";
static const char wide[] = "net wide\ninput 256\nfc 4096 relu\nfc 4096 relu\n"
                           "fc 10\n";

static struct netc *opened(const char *net) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_non_null(netc);
  assert_int_equal(netc_set(netc, "batch", "32"), NETC_OK);
  assert_int_equal(netc_set(netc, "optimizer", "adam"), NETC_OK);
  assert_int_equal(netc_load_text(netc, "x.net", net, strlen(net)), NETC_OK);
  return netc;
}

/* Bytes between the steps of a trained net, and of its peak. */
struct alone {
  int64_t standing, peak;
};

static struct alone trained(const char *net) {
  json_t *json = compile(net, "batch=32 optimizer=adam");
  struct alone a = {.peak = number(json, "training.alone_peak_bytes")};
  a.standing = number(json, "training.parameter_bytes") +
               number(json, "training.optimizer_bytes") +
               number(json, "training.input_bytes") +
               number(json, "training.rounding_bytes");
  json_decref(json);
  return a;
}

static struct alone frozen(const char *net) {
  json_t *json = compile(net, "batch=32 optimizer=adam");
  struct alone a = {.standing = number(json, "inference.parameter_bytes")};
  a.peak = a.standing + number(json, "inference.framework_peak_bytes");
  json_decref(json);
  return a;
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void check(const char *net, const char *other, bool is_frozen) {
  struct alone own = trained(net);
  struct alone beside = is_frozen ? frozen(other) : trained(other);
  struct netc *second = opened(other), *netc = opened(net);
  struct netc_answer a = {.size = sizeof a};
  assert_int_equal(netc_beside(netc, second, is_frozen), NETC_OK);
  netc_close(second); /* its figures were copied */
  assert_int_equal(netc_load_text(netc, "x.net", net, strlen(net)), NETC_OK);
  assert_int_equal(netc_answer(netc, false, &a), NETC_OK);
  assert_int_equal(a.bytes, own.standing + beside.standing +
                                larger(own.peak - own.standing,
                                       beside.peak - beside.standing));
  netc_close(netc);
}

static void passes_follow_each_other(void **state) {
  (void)state;
  check(policy, wide, true);
  check(policy, wide, false);
  check(wide, policy, true);
  check(wide, policy, false);
}

/* Nothing trains in inference, whatever the net would do in a step. */
static void all_run_forward_in_inference(void **state) {
  (void)state;
  struct alone own = frozen(policy), beside = frozen(wide);
  struct netc *second = opened(wide), *netc = opened(policy);
  struct netc_answer a = {.size = sizeof a};
  assert_int_equal(netc_beside(netc, second, false), NETC_OK);
  netc_close(second);
  assert_int_equal(netc_load_text(netc, "x.net", policy, strlen(policy)),
                   NETC_OK);
  assert_int_equal(netc_answer(netc, true, &a), NETC_OK);
  assert_int_equal(a.bytes, own.standing + beside.standing +
                                larger(own.peak - own.standing,
                                       beside.peak - beside.standing));
  netc_close(netc);
}

/* A served net keeps its cache; the others are not served. */
static void a_served_net_has_others_beside(void **state) {
  (void)state;
  static const char net[] = NETC " examples/llama3.net --context 1024 %s "
                                 "--emit=json";
  struct run alone = run(net, ""), both = run(net, "--beside zoo:bert:frozen");
  json_t *one = json_loads(alone.out, 0, NULL);
  json_t *two = json_loads(both.out, 0, NULL);
  json_t *bert = json_array_get(json_object_get(two, "beside"), 0);
  assert_int_equal(number(two, "answer.bytes"),
                   number(one, "answer.bytes") +
                       number(bert, "standing_bytes"));
  json_decref(one);
  json_decref(two);
  run_free(&alone);
  run_free(&both);
}

static void a_net_that_is_not_loaded_is_refused(void **state) {
  (void)state;
  struct netc *netc = opened(policy), *empty = netc_open(NULL, NULL);
  assert_int_equal(netc_beside(netc, empty, true), NETC_USAGE);
  assert_int_equal(netc_beside(netc, netc, true), NETC_USAGE);
  netc_close(empty);
  netc_close(netc);
}

/* The report has a row for each, JSON a member; the device holds all. */
static void options_name_the_other_nets(void **state) {
  (void)state;
  expect(NETC " examples/simple_cnn.net -Wno-pool-remainder --batch 8 "
              "--beside examples/vgg16.net:frozen:batch=2",
         0, "vgg16, 138 M parameters, frozen, batch 2", "");
  expect(NETC " examples/simple_cnn.net -Wno-pool-remainder --emit=json "
              "--beside examples/vgg16.net",
         0, "\"net\": \"vgg16\", \"frozen\": false", "");
  expect(NETC " check examples/simple_cnn.net --memory 1GiB --batch 8 "
              "--beside examples/vgg16.net",
         1, "", "a training step needs");
  expect(NETC " examples/simple_cnn.net --beside no.net", 3, "",
         "cannot read no.net");
  expect(NETC " examples/simple_cnn.net --beside examples/vgg16.net:batch=0", 2,
         "", "--beside examples/vgg16.net:batch=0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_follow_each_other),
      cmocka_unit_test(all_run_forward_in_inference),
      cmocka_unit_test(a_served_net_has_others_beside),
      cmocka_unit_test(a_net_that_is_not_loaded_is_refused),
      cmocka_unit_test(options_name_the_other_nets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
