/*
 * Layers that only training runs, and parameters that are not trained, where
 * many devices, segments and ties see them; each number is computed by hand.
 * What a step keeps of such nets is measured: tests/data/steps.csv.
 */
#include "tests/report.h"

static int64_t stage(json_t *json, int index, const char *name) {
  char path[96];
  snprintf(path, sizeof path, "parallel.stages.%d.%s", index, name);
  return training(json, path);
}

/* 64*128 + 128 values that are frozen, 128*32 + 32 that are trained. */
enum { FROZEN = 8320, TRAINED = 4128 };
static const char half[] = "net half\ninput 64\nlinear 128 frozen relu\n"
                           "linear 32\n";

static void only_what_is_trained_has_gradients_and_state(void **state) {
  (void)state;
  json_t *json = compile(half, "optimizer=adam" CPU);
  assert_int_equal(training(json, "parameter_bytes"), 4 * (FROZEN + TRAINED));
  assert_int_equal(training(json, "gradient_bytes"), 4 * TRAINED);
  assert_int_equal(training(json, "optimizer_bytes"), 8 * TRAINED + 4 * 2);
  json_decref(json);
  json = compile(half, "optimizer=adafactor" CPU);
  assert_int_equal(training(json, "optimizer_bytes"), 4 * (128 + 32 + 32));
  json_decref(json);
}

/* Parameters are gathered whole, gradients only of what has some. */
static void zero_gathers_and_divides(void **state) {
  (void)state;
  static const char *const zeros[] = {"", " zero=1", " zero=2", " zero=3"};
  int64_t all = 4 * (FROZEN + TRAINED), adam = 8 * TRAINED + 4 * 2;
  for (int zero = 0; zero <= 3; zero++) {
    char options[96];
    snprintf(options, sizeof options,
             "batch=16 optimizer=adam data_parallel=8%s" CPU, zeros[zero]);
    json_t *json = compile(half, options);
    assert_int_equal(stage(json, 0, "parameter_bytes"),
                     zero >= 3 ? all / 8 : all);
    assert_int_equal(stage(json, 0, "gradient_bytes"),
                     zero >= 2 ? 4 * TRAINED / 8 : 4 * TRAINED);
    assert_int_equal(stage(json, 0, "optimizer_bytes"),
                     zero >= 1 ? adam / 8 : adam);
    assert_int_equal(stage(json, 0, "bucket_bytes"), zero ? 0 : 4 * TRAINED);
    assert_int_equal(stage(json, 0, "gathered_bytes"),
                     zero < 2    ? 0
                     : zero == 2 ? 4 * TRAINED
                                 : 4 * TRAINED + 2 * 4 * FROZEN);
    json_decref(json);
  }
}

/* Matrices are spread, also frozen ones; biases are on every device. */
static void tensor_parallel_spreads_frozen_matrices(void **state) {
  (void)state;
  json_t *json = compile(half, "tensor_parallel=4" CPU);
  assert_int_equal(stage(json, 0, "parameter_bytes"),
                   4 * ((64 * 128 + 128 * 32) / 4 + 128 + 32));
  assert_int_equal(stage(json, 0, "gradient_bytes"), 4 * (128 * 32 / 4 + 32));
  json_decref(json);
}

static void stages_of_a_pipeline_add_up(void **state) {
  (void)state;
  static const char *const rows[] = {"parameter_bytes", "gradient_bytes",
                                     "optimizer_bytes"};
  const char *net = "net deep\ninput 64\nfreeze { repeat 4 { linear 64 gelu } }"
                    "\nrepeat 4 { linear 64 gelu }\n";
  for (int stages = 2; stages <= 4; stages++) {
    char options[96];
    snprintf(options, sizeof options,
             "batch=8 optimizer=momentum pipeline=%d" CPU, stages);
    json_t *json = compile(net, options);
    for (size_t i = 0; i < 3; i++) {
      int64_t sum = 0;
      for (int k = 0; k < stages; k++)
        sum += stage(json, k, rows[i]);
      assert_int_equal(sum, training(json, rows[i]));
    }
    json_decref(json);
  }
}

/* Nothing in front of what is trained runs twice, or is held for that. */
static void frozen_segments_are_not_run_again(void **state) {
  (void)state;
  const char *front =
      "net a\ninput 16x64\nlinear 64 frozen\n"
      "checkpoint { linear 64 frozen gelu; linear 64 frozen }\nlinear 8\n";
  const char *plain = "net a\ninput 16x64\nlinear 64 frozen\n"
                      "linear 64 frozen gelu\nlinear 64 frozen\nlinear 8\n";
  const char *behind =
      "net a\ninput 16x64\nlinear 64\n"
      "checkpoint { linear 64 frozen gelu; linear 64 frozen }\nlinear 8\n";
  json_t *json = compile(front, "batch=4" CPU);
  assert_int_equal(training(json, "extra_mac_count"), 0);
  assert_int_equal(training(json, "saved_bytes"),
                   ask(plain, "batch=4" CPU, "saved_bytes"));
  assert_int_equal(training(json, "peak_bytes"),
                   ask(plain, "batch=4" CPU, "peak_bytes"));
  json_decref(json);
  assert_int_equal(ask(behind, "batch=4" CPU, "extra_mac_count"),
                   2 * 16 * 64 * 64);
}

/* Bytes of gradients of what `again` and ties share. */
static void shared_parameters_follow_their_first_layer(void **state) {
  (void)state;
  assert_int_equal(ask("net a\ninput 8\none: linear 8 frozen\nagain one\n"
                       "linear 4\n",
                       "batch=1" CPU, "gradient_bytes"),
                   4 * (8 * 4 + 4));
  assert_int_equal(ask("net a\ninput 8\none: linear 8\nfreeze { again one }\n"
                       "linear 4 frozen\n",
                       "batch=1" CPU, "gradient_bytes"),
                   4 * (8 * 8 + 8));
  assert_int_equal(ask("net a\ninput 6 : i32\none: embed 10 8 frozen\n"
                       "linear 10 tie=one\n",
                       "batch=1" CPU, "gradient_bytes"),
                   4 * 10); /* the bias is its own */
}

/* A choice of segments that fits, by a net of which half is frozen. */
static void checkpoints_that_fit_are_found(void **state) {
  (void)state;
  const char *net = "net deep\ninput 32x64\nlinear 64\nfreeze { repeat 6 { add "
                    "{ linear 64 gelu } {} } }\nrepeat 6 { add { linear 64 "
                    "gelu } {} }\n";
  int64_t most = ask(net, "batch=16" CPU, "peak_bytes");
  char options[96];
  snprintf(options, sizeof options, "batch=16 checkpoint=auto memory=%lld" CPU,
           (long long)most * 7 / 10);
  json_t *json = compile(net, options);
  assert_true(training(json, "peak_bytes") <= most * 7 / 10);
  assert_true(training(json, "extra_mac_count") > 0);
  json_decref(json);
}

/* `fork train` leaves nothing in inference, and a fork in training. */
static void only_training_runs_a_fork_of_training(void **state) {
  (void)state;
  static const char *const inside[] = {"weight_bytes", "arena.bytes",
                                       "framework_peak_bytes",
                                       "parameter_bytes", "buffer_bytes"};
  const char *head = "{ from stem; conv 64 3x3 pad bn relu; gap; fc 10\n"
                     "matmul { reshape 1x10 } { reshape 10x1 }; output aux }";
  const char *rest = "conv 8 3x3 pad bn relu\ngap\nfc 10\noutput main\n";
  char trains[512], forks[512], plain[512];
  const char *format = "net a\ninput 16x16x3\n"
                       "stem: conv 8 3x3 pad bn relu\n%s%s\n%s";
  snprintf(trains, sizeof trains, format, "fork train ", head, rest);
  snprintf(forks, sizeof forks, format, "fork ", head, rest);
  snprintf(plain, sizeof plain, format, "", "", rest);
  json_t *a = compile(trains, "batch=3" CPU),
         *b = compile(forks, "batch=3" CPU);
  json_t *c = compile(plain, "batch=3" CPU);
  for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
    assert_int_equal(inference(a, inside[i]), inference(c, inside[i]));
  assert_int_equal(number(a, "totals.mac_count"),
                   number(c, "totals.mac_count"));
  assert_int_equal(number(a, "totals.param_count"),
                   number(b, "totals.param_count"));
  assert_int_equal(training(a, "saved_bytes"), training(b, "saved_bytes"));
  assert_int_equal(training(a, "peak_bytes"), training(b, "peak_bytes"));
  assert_true(inference(b, "weight_bytes") > inference(c, "weight_bytes"));
  json_decref(a);
  json_decref(b);
  json_decref(c);
  assert_int_equal(
      ask("net a\ninput 64\nlinear 64\n"
          "fork train { checkpoint { linear 64 gelu; linear 64 }; output b }\n"
          "linear 8\noutput a\n",
          "batch=1" CPU, "extra_mac_count"),
      2 * 64 * 64);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_what_is_trained_has_gradients_and_state),
      cmocka_unit_test(zero_gathers_and_divides),
      cmocka_unit_test(tensor_parallel_spreads_frozen_matrices),
      cmocka_unit_test(stages_of_a_pipeline_add_up),
      cmocka_unit_test(frozen_segments_are_not_run_again),
      cmocka_unit_test(shared_parameters_follow_their_first_layer),
      cmocka_unit_test(checkpoints_that_fit_are_found),
      cmocka_unit_test(only_training_runs_a_fork_of_training),
  };
  return cmocka_run_group_tests_name("frozen", tests, NULL, NULL);
}
