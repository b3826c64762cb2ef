/*
 * Whose memory inference is computed for, and what a runtime sets by itself;
 * the kernel of attention; and what commands print around an answer.
 */
#include "tests/report.h"
#include "tests/run.h"

#define LLAMA "examples/llama3.net"

static const char *runtime_of(json_t *json) {
  return json_string_value(find(json, "inference.runtime"));
}

static void expect_runtime(const char *file, const char *options,
                           const char *runtime) {
  json_t *json = predict_file(file, options);
  assert_string_equal(runtime_of(json), runtime);
  json_decref(json);
}

static void types_of_weights_choose_a_runtime(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"", "pytorch"},
      {"weight_dtype=q4_k_m", "llama.cpp"},
      {"weight_dtype=iq4_xs", "llama.cpp"},
      {"weight_dtype=awq", "vllm"},
      {"weight_dtype=gptq", "vllm"},
      {"weight_dtype=fp8", "vllm"},
      {"weight_dtype=nf4", "pytorch"},
      {"weight_dtype=mxfp4", "pytorch"},
      {"utilization=0.9 gpu=l4", "vllm"},
      {"step=llama.cpp", "llama.cpp"},
      {"weight_dtype=q4_k_m runtime=pytorch", "pytorch"},
      /* llama.cpp would refuse these. */
      {"weight_dtype=q4_k_m prefill=512", "pytorch"},
      {"weight_dtype=q4_k_m tensor_parallel=2", "pytorch"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_runtime(LLAMA, rows[i][0], rows[i][1]);
  expect_runtime("examples/resnet50.net", "dtype=i8", "netrt");
  expect_runtime("examples/resnet50.net", "dtype=i8 gpu=t4", "pytorch");
  expect_runtime("examples/resnet50.net", "dtype=i8 board=nucleo-f746zg",
                 "netrt");
  expect_runtime("examples/resnet50.net", "weight_dtype=q8_0", "pytorch");
}

/* It allocates once: the device less its context is there, and the counts have
 * one rule with the verdict. */
static void llama_cpp_keeps_no_reserve(void **state) {
  (void)state;
  for (int context = 1024; context <= 262144; context *= 2) {
    char options[128];
    snprintf(options, sizeof options,
             "weight_dtype=q4_k_m gpu=rtx4090 context=%d", context);
    json_t *json = predict_file(LLAMA, options);
    int64_t room = number(json, "answer.room_bytes");
    assert_int_equal(number(json, "answer.reserve_bytes"), 0);
    assert_int_equal(room, number(json, "answer.device_bytes") -
                               number(json, "answer.framework_bytes"));
    bool fits = number(json, "answer.bytes") <= room;
    assert_int_equal(number(json, "answer.most_sequences") > 0, fits);
    assert_int_equal(number(json, "answer.longest_context") >= context, fits);
    json_decref(json);
  }
}

/* Chunks of prompts: prefill does not grow with the context. */
static void vllm_cuts_prompts_into_chunks(void **state) {
  (void)state;
  json_t *all = predict_file(LLAMA, "weight_dtype=awq gpu=l4 context=8192");
  json_t *twice = predict_file(LLAMA, "weight_dtype=awq gpu=l4 context=16384");
  json_t *large =
      predict_file(LLAMA, "weight_dtype=awq gpu=h100 context=16384");
  assert_int_equal(number(all, "serving.prefill_bytes"),
                   number(twice, "serving.prefill_bytes"));
  assert_int_equal(number(large, "serving.prefill_bytes"),
                   4 * number(all, "serving.prefill_bytes"));
  json_decref(all);
  json_decref(twice);
  json_decref(large);
}

/* transformers keeps a softmax of 32 bits and its copy: 6 bytes a score, where
 * PyTorch's own steps keep 2. */
static void eager_attention_has_a_softmax_in_32_bits(void **state) {
  (void)state;
  enum { HEADS = 4, LENGTH = 128, SCORES = HEADS * LENGTH * LENGTH };
  const char *net = "net a\ninput tokens 128 : i32\nembed 50 64\n"
                    "attention 4 causal nobias\nlinear 10\n";
  static const char *const kernels[] = {"fused", "naive", "eager"};
  int64_t half[3], full[3];
  for (int i = 0; i < 3; i++) {
    char options[64];
    snprintf(options, sizeof options, "dtype=bf16 attention=%s", kernels[i]);
    json_t *json = compile(net, options);
    half[i] = number(json, "training.saved_bytes");
    json_decref(json);
    snprintf(options, sizeof options, "dtype=f32 attention=%s", kernels[i]);
    json = compile(net, options);
    full[i] = number(json, "training.saved_bytes");
    json_decref(json);
  }
  assert_int_equal(half[2] - half[1], 4 * SCORES);
  assert_int_equal(full[2], full[1]); /* nothing is wider than 32 bits */
  assert_true(half[1] - half[0] > SCORES);
  const char *own = "net a\ninput tokens 128 : i32\nembed 50 64\n"
                    "attention 4 causal nobias fused\nlinear 10\n";
  json_t *json = compile(own, "dtype=bf16 attention=eager");
  assert_int_equal(number(json, "training.saved_bytes"), half[0]);
  json_decref(json);
}

/* A setting of inference asks about it; one of a step does not. */
static void settings_say_what_is_asked(void **state) {
  (void)state;
  expect(NETC " " LLAMA " --weight-dtype q4_k_m --gpu rtx4090 --brief", 0,
         "llama.cpp on RTX 4090\n", "");
  expect(NETC " " LLAMA " --context 32k --brief", 0,
         "inference, 1 sequence of 32,000 tokens", "");
  expect(NETC " " LLAMA " --attention naive --brief", 0,
         "naive attention, PyTorch on\n", "");
  expect(NETC " " LLAMA " --weight-dtype q4_k_m --optimizer adam --gpu t4", 2,
         "", "--weight-dtype q4_k_m is not used here");
  expect(NETC " examples/resnet50.net --runtime vllm", 1, "",
         "only language models can be served");
}

static void a_length_is_that_of_any_language_model(void **state) {
  (void)state;
  static const char *const nets[] = {"bert", "gpt2", "llama", "t5", "mamba"};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    struct run r = run(NETC " zoo:%s --length 96 --emit=json | grep -c "
                            "'\"shape\": \\[96\\]'",
                       nets[i]);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  expect(NETC " examples/resnet50.net --length 5", 2, "",
         "this net has no input of tokens");
}

static void a_check_counts_and_writes_documents(void **state) {
  (void)state;
  const char *dir = scratch("findings");
  expect(NETC " check examples/unet.net", 0, "",
         "no errors or warnings in 1 file\n");
  expect(NETC " check examples/simple_cnn.net examples/vgg16.net "
              "--budget params=5M",
         1, "", "1 error and 2 warnings in 2 files\n");
  struct run r = run(NETC " check examples/simple_cnn.net no.net --gpu t4 "
                          "--batch 99999 --diagnostics=sarif >%s/x.sarif",
                     dir);
  assert_int_equal(r.status, 3);
  assert_string_equal(r.err, "");
  run_free(&r);
  char path[512];
  snprintf(path, sizeof path, "%s/x.sarif", dir);
  json_t *json = json_load_file(path, 0, NULL);
  assert_non_null(json);
  json_t *sarif = json_array_get(json_object_get(json, "runs"), 0);
  json_t *results = json_object_get(sarif, "results");
  static const char *const rules[] = {"pool-remainder", "does-not-fit",
                                      "input-output"};
  assert_int_equal(json_array_size(results), 3);
  for (size_t i = 0; i < 3; i++) {
    json_t *result = json_array_get(results, i);
    assert_string_equal(json_string_value(json_object_get(result, "ruleId")),
                        rules[i]);
    assert_non_null(json_object_get(result, "locations"));
  }
  json_decref(json);
  expect(NETC " check examples/simple_cnn.net no.net --diagnostics=junit", 3,
         "<testsuite name=\"netc\" tests=\"2\" failures=\"1\">", "");
  expect(NETC " examples/simple_cnn.net --diagnostics=junit", 2, "",
         "only `netc check` writes SARIF and JUnit; --diagnostics=json works");
}

static void tables_show_what_is_asked_most(void **state) {
  (void)state;
  expect(NETC " examples/zoo/yolo11.net", 0,
         "\n  20 smaller rows: --unfold.  --", NULL);
  struct run r = run(NETC " zoo");
  assert_int_equal(r.status, 0);
  assert_null(strstr(r.out, "\nother\n")); /* every net has a group */
  assert_non_null(strstr(r.out, "\n  resnet          2015   25.6 M   4.09 G  "
                                "Deep Residual Learning"));
  run_free(&r);
  r = run(NETC " examples/resnet50.net --gpu all --batch 256");
  assert_int_equal(r.status, 0);
  assert_non_null(strstr(r.out, "with less memory are too small\n"));
  assert_non_null(strstr(r.out, "with more memory are large enough\n"));
  assert_non_null(strstr(r.out, "--details: all devices\n"));
  run_free(&r);
}

/* At most 24 lines, and none is wider than a terminal. */
static void a_report_is_one_screen(void **state) {
  (void)state;
  struct run r =
      run("for n in examples/zoo/*.net examples/huggingface/*.net; do "
          "for o in '' '--gpu t4' '--predict --gpu rtx4090'; do " NETC
          " $n $o 2>/dev/null | awk -v n=\"$n $o\" 'length > 80 { wide++ } "
          "END { if (NR > 24 || wide) print n, NR, wide + 0 }'; done; done");
  assert_string_equal(r.out, "");
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_of_weights_choose_a_runtime),
      cmocka_unit_test(llama_cpp_keeps_no_reserve),
      cmocka_unit_test(vllm_cuts_prompts_into_chunks),
      cmocka_unit_test(eager_attention_has_a_softmax_in_32_bits),
      cmocka_unit_test(settings_say_what_is_asked),
      cmocka_unit_test(a_length_is_that_of_any_language_model),
      cmocka_unit_test(a_check_counts_and_writes_documents),
      cmocka_unit_test(tables_show_what_is_asked_most),
      cmocka_unit_test(a_report_is_one_screen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
