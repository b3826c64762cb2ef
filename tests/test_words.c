/*
 * Words of the field: what `netc explain` knows, where unknown options lead,
 * and values that are accepted as meant. Then advice that every thread gives.
 */

#include "tests/run.h"

/* Each page of the table is there, and each of its words leads to it. */
static void other_names_lead_to_a_page(void **state) {
  (void)state;
  static const struct {
    const char *page, *words;
  } rows[] = {
#define PAGE(page, words) {page, words},
#include "driver/foreign_options.def"
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char title[100], words[200];
    snprintf(title, sizeof title, "# %s\n", rows[i].page);
    snprintf(words, sizeof words, "%s", rows[i].words);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
      struct run r = run(NETC " explain %s", word);
      assert_int_equal(r.status, 0);
      assert_true(strncmp(r.out, title, strlen(title)) == 0);
      run_free(&r);
    }
  }
}

static void words_of_the_field_are_explained(void **state) {
  (void)state;
  static const char *const words[] = {
      "tight",      "receptive field", "FLOPs",
      "checkpoint", "KV cache",        "VRAM",
      "OOM",        "inference",       "gradient accumulation",
      "prefill",    "decode",          "non-trainable",
      "frozen",     "activation",      "activations",
      "reserve",    "optimizer state", "runtime",
      "attention",  "fused",           "naive",
      "eager",      "quantization",    "arena",
      "batch",      "optimizers_state"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    struct run r = run(NETC " explain '%s'", words[i]);
    assert_int_equal(r.status, 0);
    assert_true(strncmp(r.out, "# ", 2) == 0);
    run_free(&r);
  }
  expect(NETC " explain tp", 0, "tp: write `--tensor-parallel N`\n", "");
  expect(NETC " explain inferrence", 2, "", "did you mean `inference`?");
}

static void words_lead_to_options(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"--receptive-field", "write `--columns name,output,rf,stride`"},
      {"--rf", "write `--columns name,output,rf,stride`"},
      {"--vram", "write `--memory 24GiB`"},
      {"--quant", "write `--weight-dtype q4_k_m`"},
      {"--4bit", "write `--weight-dtype q4_k_m`"},
      {"--flops", "write `--columns name,macs`"},
      {"--inference", "write `--predict`"},
      {"--oom", "write `--gpu NAME`"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char command[200];
    snprintf(command, sizeof command, NETC " examples/vgg16.net %s",
             rows[i][0]);
    expect(command, 2, "", rows[i][1]);
  }
}

static void units_are_in_small_letters_too(void **state) {
  (void)state;
  static const char llama[] = NETC " examples/llama3.net --predict --emit=json";
  struct run large = run("%s --context 32K", llama);
  struct run small = run("%s --context 32k", llama);
  assert_int_equal(small.status, 0);
  assert_string_equal(small.out, large.out);
  run_free(&large);
  run_free(&small);
}

static void words_with_several_meanings_name_them(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"--weight-dtype 4bit", "choose one of: q4_k_m, nf4, awq, gptq"},
      {"--weight-dtype 8bit", "choose one of: q8_0, int8, i8"},
      {"--gpu 2xrtx3090", "write `--gpu rtx3090 --data-parallel 2`, or for "
                          "inference `--tensor-parallel 2`"},
      {"--gpu 8xa100-80", "`netc place NET --gpus 8xa100-80`"},
      {"--gpu 3090x4", "write `--gpu 3090 --data-parallel 4`"},
      {"--gpu 2xmine", "give its memory: `--memory 48GiB`; `netc help gpus` "
                       "lists the known"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char command[200];
    snprintf(command, sizeof command, NETC " examples/llama3.net --predict %s",
             rows[i][0]);
    expect(command, 2, "", rows[i][1]);
  }
}

/* A way out that is offered has the peak that is promised. */
static void parts_and_shorter_sequences_are_offered(void **state) {
  (void)state;
  static const struct {
    const char *net, *way, *peak;
  } rows[] = {
      {"zoo:resnet --optimizer adam --batch 256", "--batch 128 --accumulate 2",
       "11,508,001,192 B"},
      {"zoo:gpt2 --batch 32", "--batch 4 --accumulate 8", "7,807,603,712 B"},
      {"zoo:gpt2 --batch 32", "-D length=256", "13,126,410,240 B"},
      {"zoo:mamba --batch 4", "--input 1024", "7,668,492,288 B"},
      {"examples/llama3.net --lora 16 --base nf4", "-D context=1024",
       "12,897,793,024 B"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char command[300], plain[40];
    size_t length = 0;
    snprintf(command, sizeof command,
             NETC " %s --gpu t4 --details --units=bytes", rows[i].net);
    struct run r = run("%s | tr -s ' '", command);
    assert_non_null(strstr(r.out, rows[i].way));
    assert_non_null(strstr(r.out, rows[i].peak));
    run_free(&r);
    for (const char *c = rows[i].peak; *c; c++)
      if (*c >= '0' && *c <= '9')
        plain[length++] = *c;
    plain[length] = '\0';
    r = run(NETC " %s %s --gpu t4 --emit=json", rows[i].net, rows[i].way);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, plain));
    run_free(&r);
  }
}

/*
 * Head 1 of YOLOv3 has a receptive field of 917 (AlexeyAB/darknet#1206); those
 * after it enlarge its map, which adds none, and their windows of 3x3 do.
 */
static void fields_pass_enlargements(void **state) {
  (void)state;
  static const char yolo[] = NETC " zoo:yolov3 --columns name,output,rf,stride "
                                  "--unfold | tr -s ' ' | grep ";
  static const struct {
    const char *row, *cells;
  } rows[] = {{"'head1.conv1 '", "13x13x255 917 32"},
              {"'up1 '", "26x26x256 853 16"},
              {"'head2.conv1 '", "26x26x255 949 16"},
              {"'head3.conv1 '", "52x52x255 981 8"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct run r = run("%s%s", yolo, rows[i].row);
    if (!strstr(r.out, rows[i].cells))
      print_message("%s: %s", rows[i].row, r.out);
    assert_non_null(strstr(r.out, rows[i].cells));
    run_free(&r);
  }
  /* A position finer than the input's; 3 of its
   * positions are of 2 of the input, 4 of 3. */
  expect("printf 'input 8x8x1\\nup 2\\nconv 1 3x3 pad\\ndeconv 1 4x4 /2 "
         "pad=1\\n' | " NETC " - --columns name,rf,stride | tr -s ' ' | "
         "grep -A2 '^ up1 1'",
         0, " up1 1 1/2\n conv1 2 1/2\n deconv1 3 1/4\n", "");
}

/* Sizes of PyTorch's ConvTranspose2d, and TensorFlow's padding. */
static void sizes_have_their_formulas(void **state) {
  (void)state;
  struct run r = run("printf 'input 5x5x3\\ndeconv 8 3x3 /2 pad=1 outpad=1\\n"
                     "conv 8 3x3 /2 pad=tf\\n' | " NETC " - --explain");
  assert_non_null(strstr(r.out, "(5 - 1)*2 - 1 - 1 + 3 + 1 = 10\n"));
  assert_non_null(strstr(r.out, "max((ceil(10 / 2) - 1)*2 + 3 - 10, 0) = 1, 0 "
                                "before and 1 after\n"));
  assert_non_null(strstr(r.out, "floor((10 + 0 + 1 - 3) / 2) + 1 = 5\n"));
  run_free(&r);
}

static void frozen_nets_say_what_is_trained(void **state) {
  (void)state;
  expect("printf 'input 8x8x3\\nconv 4 3x3 frozen\\n' | " NETC " - --brief", 0,
         "   112 parameters, 0 trained\n", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_names_lead_to_a_page),
      cmocka_unit_test(words_of_the_field_are_explained),
      cmocka_unit_test(words_lead_to_options),
      cmocka_unit_test(units_are_in_small_letters_too),
      cmocka_unit_test(words_with_several_meanings_name_them),
      cmocka_unit_test(parts_and_shorter_sequences_are_offered),
      cmocka_unit_test(fields_pass_enlargements),
      cmocka_unit_test(sizes_have_their_formulas),
      cmocka_unit_test(frozen_nets_say_what_is_trained),
  };
  return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
