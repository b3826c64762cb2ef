/*
 * Nets on microcontrollers: the table of boards, what is said of
 * nets, and with Debian's compilers, what a linker makes of two of them.
 */
#include "tests/run.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "include/netc.h"
#include "memory/firmware.h"
#include "memory/tables.h"

#define RESNET "tests/data/import/tflite/pretrainedResnet_quant.tflite"
#define KWS "tests/data/q8/kws_ref_model.tflite"

/* The member of a JSON report that is called "board". */
static json_t *board_of_report(const char *arguments, json_t **all) {
  struct run r = run(NETC " %s --emit=json", arguments);
  json_error_t error;
  if (r.status)
    fail_msg("%s: status %d\n%s", arguments, r.status, r.err);
  *all = json_loads(r.out, 0, &error);
  assert_non_null(*all);
  run_free(&r);
  return json_object_get(*all, "board");
}

static long member(json_t *of, const char *key) {
  json_t *value = json_object_get(of, key);
  if (!json_is_integer(value))
    fail_msg("no number `%s`", key);
  return (long)json_integer_value(value);
}

static const char *word(json_t *of, const char *key) {
  const char *value = json_string_value(json_object_get(of, key));
  return value ? value : "";
}

/* The table */

static void must_set(struct netc *netc, const char *name) {
  if (netc_set(netc, "board", name) != NETC_OK)
    fail_msg("%s: %s", name, netc_message(netc));
}

static void every_board_has_figures_and_a_source(void **state) {
  (void)state;
  struct netc_board board = {.size = sizeof board};
  struct netc *netc = netc_open(NULL, NULL);
  size_t count = 0, measured = 0;
  for (; netc_board(count, &board) == NETC_OK; count++) {
    char name[64];
    assert_true(board.ram_bytes >= 32 << 10 && board.flash_bytes > 0);
    assert_true(board.block_bytes > 0 && board.block_bytes <= board.ram_bytes);
    assert_true(board.megahertz > 0 && *board.core);
    assert_memory_equal(board.source, "https://", strlen("https://"));
    measured += board.measured;
    must_set(netc, board.name);
    for (const char *at = board.names; *at; at += *at == '|') {
      size_t length = strcspn(at, "|");
      snprintf(name, sizeof name, "%.*s", (int)length, at);
      must_set(netc, name);
      at += length;
    }
  }
  assert_true(count >= 24 && measured >= 20 && measured < count);
  netc_close(netc);
}

static void boards_are_documented(void **state) {
  (void)state;
  char *page = read_text("docs/boards.md", NULL);
  struct run made = run(NETC " help boards --markdown");
  assert_non_null(page);
  assert_same_text("docs/boards.md (make docs)", page, made.out);
  run_free(&made);
  free(page);
}

/* Every kernel of the runtime has been measured, on every core. */
static void every_kernel_is_measured(void **state) {
  (void)state;
  static const struct {
    unsigned code;
    int bytes[CORES_MEASURED];
  } stacks[] = {
#define STACK(kernel, ...) {NETRT_##kernel, {__VA_ARGS__}},
#include "memory/kernels.def"
  };
  static const int states[] = {
#define RUNTIME(code, state, ends, run) state,
#include "memory/kernels.def"
  };
  assert_int_equal(sizeof stacks / sizeof *stacks, NETRT_CODES);
  assert_int_equal(sizeof states / sizeof *states, CORES_MEASURED);
  for (unsigned code = 0; code < NETRT_CODES; code++) {
    assert_int_equal(stacks[code].code, code);
    for (int core = 0; core < CORES_MEASURED; core++)
      assert_in_range(stacks[code].bytes[core], 1, 2048);
  }
}

/* Reports on nets */

/* 33,792 B of arena and 80,452 B of weights fit 256 KiB and 1 MiB; a card's
 * context and reserve have no part in it. */
static void a_quantised_net_fits_256_kib(void **state) {
  (void)state;
  json_t *all, *board = board_of_report(RESNET " --ram 256KiB", &all);
  json_t *answer = json_object_get(all, "answer");
  assert_string_equal(word(answer, "question"), "prediction");
  assert_int_equal(member(answer, "framework_bytes"), 0);
  assert_int_equal(member(answer, "reserve_bytes"), 0);
  assert_int_equal(member(board, "ram_bytes"), 256 << 10);
  assert_null(json_object_get(board, "flash_bytes"));
  assert_int_equal(member(board, "arena_bytes"), 33792);
  assert_int_equal(member(board, "weight_bytes"), 80452);
  assert_string_equal(word(board, "verdict"), "fits");
  assert_int_equal(member(board, "ram_need_bytes"),
                   member(board, "arena_bytes") + member(board, "stack_bytes") +
                       member(board, "state_bytes"));
  assert_int_equal(member(board, "flash_need_bytes"),
                   member(board, "weight_bytes") +
                       member(board, "table_bytes") +
                       member(board, "code_bytes"));
  json_decref(all);
}

static void a_board_says_what_it_has(void **state) {
  (void)state;
  json_t *all, *board = board_of_report(RESNET " --board STM32F746", &all);
  assert_string_equal(word(board, "name"), "nucleo-f746zg");
  assert_string_equal(word(board, "core"), "cortex-m7");
  assert_string_equal(word(board, "runtime"), "netrt");
  assert_int_equal(member(board, "ram_bytes"), 320 << 10);
  assert_int_equal(member(board, "flash_bytes"), 1 << 20);
  assert_true(json_is_true(json_object_get(board, "measured")));
  assert_in_range(member(board, "code_bytes"), 6000, 20000);
  assert_in_range(member(board, "stack_bytes"), 800, 2048);
  json_decref(all);
}

/* Other settings than the named one may leave less of a board. */
static void settings_leave_less_of_a_board(void **state) {
  (void)state;
  json_t *all, *board = board_of_report(
                   RESNET " --board STM32F746 --ram 32KiB --flash 90KiB", &all);
  assert_int_equal(member(board, "ram_bytes"), 32 << 10);
  assert_int_equal(member(board, "flash_bytes"), 90 << 10);
  assert_string_equal(word(board, "verdict"), "does not fit");
  json_decref(all);
}

static void a_core_that_is_not_measured_has_no_code(void **state) {
  (void)state;
  json_t *all, *board = board_of_report(KWS " --board ESP32", &all);
  assert_true(json_is_false(json_object_get(board, "measured")));
  assert_int_equal(member(board, "code_bytes"), 0);
  assert_int_equal(member(board, "stack_bytes"), 0);
  assert_int_equal(member(board, "ram_need_bytes"), 8640);
  json_decref(all);
  expect(NETC " " KWS " --brief --board ESP32", 0,
         "code, stack and time are not measured on xtensa-lx6", "");
}

static void a_board_may_run_from_ram(void **state) {
  (void)state;
  json_t *all, *board = board_of_report(KWS " --board stm32n6570-dk", &all);
  assert_int_equal(member(board, "loaded_bytes"),
                   member(board, "flash_need_bytes"));
  assert_true(member(board, "ram_need_bytes") >
              member(board, "flash_need_bytes") + 8640);
  json_decref(all);
}

/* The planner of TensorFlow Lite Micro, as docs/microcontrollers.md has it. */
static void tensorflow_lite_micro_takes_more(void **state) {
  (void)state;
  static const struct {
    const char *file;
    long arena, instead;
  } nets[] = {{"tests/data/q8/ad01_int8.tflite", 768, 768},
              {KWS, 8640, 16000},
              {RESNET, 33792, 49152},
              {"tests/data/q8/vww_96_int8.tflite", 37248, 64512},
              {"tests/data/q8/str_ww_ref_model.tflite", 3712, 6656}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    json_t *all, *board = board_of_report(
                     text_of("%s --board nrf52840-dk", nets[i].file), &all);
    assert_int_equal(member(board, "arena_bytes"), nets[i].arena);
    assert_int_equal(member(board, "tflm_arena_bytes"), nets[i].instead);
    json_decref(all);
  }
  expect(NETC " " RESNET " --brief --board STM32F746", 0,
         "the planner of TensorFlow Lite Micro needs 48 KiB for the tensors\n"
         "             alone\n",
         "");
}

/* Words and exit statuses */

static void the_report_answers_in_a_few_lines(void **state) {
  (void)state;
  struct run r = run(NETC " " RESNET " --brief --board STM32F746");
  assert_int_equal(r.status, 0);
  assert_memory_equal(r.out, "pretrainedResnet_quant   77,706 parameters", 42);
  assert_non_null(strstr(r.out, "  FITS\n"));
  assert_non_null(strstr(r.out, "\ninference, batch 1, int8, netrt (netc's "
                                "runtime) on nucleo-f746zg (cortex-m7,\n"
                                "  216 MHz)\n"));
  assert_non_null(strstr(r.out, "\n  RAM        34.2 of 320 KiB   arena 33,"));
  assert_non_null(strstr(r.out, " of 1,024 KiB   weights 78.6, code "));
  assert_null(strstr(r.out, "raining"));
  run_free(&r);
}

static void a_check_fails_where_it_does_not_fit(void **state) {
  (void)state;
  expect(NETC " check " RESNET " --board STM32F746", 0, "", "");
  expect(NETC " check " RESNET " --board STM32F746 --ram 32KiB", 1, "",
         "of RAM, but the board has 32.00 KiB");
  expect(NETC " check " RESNET " --flash 80KiB", 1, "",
         "of flash, but the board has 80.00 KiB");
  expect(NETC " " RESNET " --brief --must-fit --ram 16KiB", 1, "DOES NOT FIT",
         "");
  expect(NETC " " RESNET " --brief --ram 16KiB", 0, "DOES NOT FIT", "");
}

static void an_unknown_board_has_a_way_out(void **state) {
  (void)state;
  const char *dir = scratch("boards");
  expect(NETC " " RESNET " --board nucleo-f746z", 2, "",
         "unknown board `nucleo-f746z`; did you mean `nucleo-f746zg`?");
  expect(NETC " " RESNET " --board attiny85", 2, "",
         "--ram 256KiB --flash 1MiB");
  expect(NETC " " RESNET " --ram 0", 2, "", "--ram 0: ");
  expect(NETC " " RESNET " --board rp2040 --gpu t4", 2, "", "use one of them");
  write_in(dir, "a.net", "net a\ninput 8\nfc 3\ninfer board=nucleo-f74\n");
  expect(text_of(NETC " %s/a.net", dir), 1, "",
         "did you mean `nucleo-f746zg`?");
}

/* `infer board=..` asks as --board does; --gpu asks about a card instead. */
static void a_source_may_name_a_board(void **state) {
  (void)state;
  const char *dir = scratch("boards");
  json_t *all;
  write_in(dir, "b.net",
           "net b\ninput 8x8x2\nconv 4 3x3 pad relu\nfc 3\n"
           "infer board=nucleo-u575zi-q flash=16KiB\n");
  json_t *board = board_of_report(text_of("%s/b.net", dir), &all);
  assert_string_equal(word(board, "name"), "nucleo-u575zi-q");
  assert_int_equal(member(board, "flash_bytes"), 16 << 10);
  assert_string_equal(word(board, "verdict"), "fits");
  json_decref(all);
  assert_null(board_of_report(text_of("%s/b.net --gpu t4", dir), &all));
  assert_string_equal(word(json_object_get(all, "answer"), "question"),
                      "training");
  json_decref(all);
}

/* On and off are llama.cpp's attention, a size is a board's. */
static void flash_is_a_size_or_a_kernel(void **state) {
  (void)state;
  json_t *all;
  assert_null(board_of_report(
      "examples/zoo/llama.net -Dnum_hidden_layers=2 --predict --context 256 "
      "--step llama.cpp --flash off",
      &all));
  json_t *settings = json_object_get(json_object_get(all, "settings"), "infer");
  assert_string_equal(word(settings, "flash"), "off");
  json_decref(all);
  assert_non_null(board_of_report(KWS " --flash 1MiB", &all));
  settings = json_object_get(json_object_get(all, "settings"), "infer");
  assert_int_equal(member(settings, "flash"), 1 << 20);
  json_decref(all);
  expect(NETC " " KWS " --flash maybe", 2, "", "--flash maybe: ");
}

/* A net that the runtime cannot run has an arena and weights alone. */
static void a_net_that_does_not_run_says_so(void **state) {
  (void)state;
  json_t *all,
      *board = board_of_report(
          "examples/firmware/kws.net --dtype f16 --board rp2040", &all);
  assert_non_null(strstr(word(board, "refusal"), "float32 or int8"));
  assert_int_equal(member(board, "code_bytes"), 0);
  assert_true(member(board, "arena_bytes") > 0);
  json_decref(all);
}

/* The arena must be in one piece. */
static void an_arena_must_be_in_one_piece(void **state) {
  (void)state;
  const char *dir = scratch("boards");
  /* 320 KiB of input and output: an ESP32 has 320, but 160 at a time. */
  write_in(dir, "d.net", "net d\ninput 64x64x16\npool 2x2\n");
  expect(text_of(NETC " %s/d.net --brief --board esp32", dir), 0,
         "the arena must be in one piece; the largest piece of RAM has\n"
         "             160 KiB\n",
         "");
  expect(text_of(NETC " check %s/d.net --board esp32", dir), 1, "",
         "contiguous RAM");
}

/* Several boards, or sizes, make a table. */
static void boards_make_a_table(void **state) {
  (void)state;
  expect(NETC " examples/firmware/kws.net --board esp32,STM32F746", 0,
         "kws.net: inference with netc's runtime (netrt)\n"
         "\n"
         "board               RAM         flash\n"
         "esp32         62.50 KiB     90.44 KiB  fits\n",
         "");
  expect(NETC " examples/firmware/kws.net --ram 32KiB,128KiB", 0,
         "  does not fit\n128KiB ", "");
}

static long bound_of(const char *net, const char *options, double *seconds) {
  char arguments[200];
  json_t *all;
  write_text(BUILD "/tests/boards-time.net", net, strlen(net));
  snprintf(arguments, sizeof arguments, BUILD "/tests/boards-time.net %s",
           options);
  json_t *board = board_of_report(arguments, &all);
  json_t *time = json_object_get(board, "bound_seconds");
  long bound = time ? member(board, "bound_instructions") : 0;
  *seconds = json_number_value(time);
  json_decref(all);
  return bound;
}

/* Products at the fewest instructions that memory/instructions.def has. */
static void the_time_is_a_bound(void **state) {
  (void)state;
  double seconds, slow;
  long bound = bound_of("input 10x10x32\nconv 32 3x3\n",
                        "--board nucleo-f746zg", &seconds);
  const long products = 8 * 8 * 32 * 9 * 32;
  assert_true(bound > products && bound < 8 * products);
  assert_true(fabs(seconds * 2 * 216e6 - (double)bound) < 2);
  /* Zeros around a map of 3x3: 7 of 9 taps are inside, on each axis. */
  long padded = bound_of("input 3x3x32\nconv 32 3x3 pad\n",
                         "--board nucleo-f746zg", &slow);
  assert_true(labs(padded * 64 * 9 - bound * 49) <= 64 * 9 + 49);
  assert_true(bound_of("input 10x10x32\nconv 32 3x3\n", "--board nucleo-f446re",
                       &slow) == bound);
  assert_true(fabs(slow - seconds * 2 * 216 / 180) < 1e-6); /* one a cycle */
  assert_true(bound_of("input 10x10x32\nconv 32 3x3\n",
                       "--board nucleo-f446re --batch 4", &slow) == 4 * bound);
  /* In 8 bits fewer, without a unit for floating point many more. */
  assert_true(bound_of("input 10x10x32\nconv 32 3x3\n",
                       "--board nucleo-f746zg --dtype i8", &slow) < bound);
  assert_true(bound_of("input 10x10x32\nconv 32 3x3\n", "--board rpi-pico",
                       &slow) > 20 * bound);
  assert_int_equal(bound_of("input 10x10x32\nconv 32 3x3\n",
                            "--board esp32-s3-devkitc-1", &slow),
                   0);
}

static void the_schema_describes_a_board(void **state) {
  (void)state;
  skip_without_python("jsonschema");
  const char *dir = scratch("boards-schema");
  static const char *const asked[] = {
      KWS " --board stm32n6570-dk", RESNET " --ram 1KiB",
      "examples/firmware/kws.net --dtype f16 --board esp32"};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
    expect(text_of(NETC " %s -o %s/a.json && /usr/bin/python3 "
                        "tests/validate.py docs/report.schema.json %s/a.json",
                   asked[i], dir, dir),
           0, "", "");
}

/* Linked programs */

static const struct linked_core {
  const char *compiler, *flags, *board;
} linked_cores[] = {
    {"arm-none-eabi-",
     "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard",
     "nucleo-f746zg"},
    {"riscv64-unknown-elf-", "-march=rv32imc -mabi=ilp32",
     "esp32-c3-devkitm-1"}};

/* Links a net with the runtime and nothing else; returns bytes of its flash
 * and of its RAM, without the linker script's 2 KiB of stack. */
static void link_net(const struct linked_core *core, const char *dir,
                     const char *net, const char *weights, long bytes[2]) {
  long text, data, bss;
  struct run r = run(
      "cd %s && for f in \"$OLDPWD\"/runtime/*.c; do %sgcc %s -c $f || exit 1; "
      "done && %s %s --header=deploy --prefix=kws -o kws.h -o kws.c && "
      "%s weights %s %s --fold --prefix=kws -o weights.S && %sgcc %s -I. "
      "-I\"$OLDPWD\"/runtime -c kws.c weights.S && %sgcc %s -nostartfiles "
      "-Wl,-e,kws_run,--gc-sections,--defsym=__flash=0x10000,--defsym=__flash_"
      "size=0x400000,--defsym=__ram=0x20000000,--defsym=__ram_size=0x100000 "
      "*.o -lm -o a.elf && %ssize a.elf | tail -1",
      dir, core->compiler, core->flags, NETC_PATH, net, NETC_PATH, net, weights,
      core->compiler, core->flags, core->compiler, core->flags, core->compiler);
  if (r.status || sscanf(r.out, "%ld %ld %ld", &text, &data, &bss) != 3)
    fail_msg("status %d\n%s%s", r.status, r.out, r.err);
  bytes[0] = text + data;
  bytes[1] = data + bss - 2048;
  run_free(&r);
}

/* kernels.def was measured with Debian 12's compilers. */
static bool is_measured_with(const char *compiler) {
  struct run r = run("%sgcc -dumpversion", compiler);
  bool known = r.status == 0 && strncmp(r.out, "12.2", 4) == 0;
  run_free(&r);
  return known;
}

static void is_near(const char *what, long predicted, long linked, long most) {
  if (labs(predicted - linked) > most)
    fail_msg("%s: predicted %ld, linked %ld", what, predicted, linked);
}

/* RAM and flash are those of the linked program, but for alignment: 150 bytes
 * and, in RAM, variables of libm that not every kernel has. */
static void check_linked(const char *name, const char *net,
                         const char *weights) {
  for (size_t i = 0; i < sizeof linked_cores / sizeof *linked_cores; i++) {
    const struct linked_core *core = &linked_cores[i];
    struct linked_core all = *core;
    char flags[512], dir[1100];
    long bytes[2];
    json_t *report, *board;
    if (!is_measured_with(core->compiler))
      skip();
    snprintf(flags, sizeof flags,
             "%s -Os -DNETRT_SMALL -DNETRT_RUN -ffunction-sections "
             "-fdata-sections --specs=picolibc.specs",
             core->flags);
    all.flags = flags;
    snprintf(dir, sizeof dir, "%s", scratch(text_of("%s-%zu", name, i)));
    link_net(&all, dir, net, weights, bytes);
    board =
        board_of_report(text_of("%s --board %s", net, core->board), &report);
    is_near(text_of("%s, flash on %s", name, core->board),
            member(board, "flash_need_bytes"), bytes[0], 150);
    is_near(text_of("%s, RAM on %s", name, core->board),
            member(board, "ram_need_bytes") - member(board, "stack_bytes"),
            bytes[1], 64);
    json_decref(report);
  }
}

static void the_linker_agrees_in_float32(void **state) {
  char net[1100];
  (void)state;
  struct run r = run("pwd");
  r.out[strcspn(r.out, "\n")] = '\0';
  snprintf(net, sizeof net, "%s/examples/firmware/kws.net", r.out);
  run_free(&r);
  check_linked("linked-f32", net, "--random 1");
}

static void the_linker_agrees_in_8_bits(void **state) {
  char net[1100], weights[1200];
  (void)state;
  struct run r = run("cd %s && pwd", scratch("linked-net"));
  r.out[strcspn(r.out, "\n")] = '\0';
  snprintf(net, sizeof net, "%s/a.net", r.out);
  snprintf(weights, sizeof weights, "--from %s/a.safetensors", r.out);
  run_free(&r);
  r = run(NETC " import " RESNET " -o %s --weights %s", net,
          weights + strlen("--from "));
  assert_int_equal(r.status, 0);
  run_free(&r);
  check_linked("linked-q8", net, weights);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_board_has_figures_and_a_source),
      cmocka_unit_test(boards_are_documented),
      cmocka_unit_test(every_kernel_is_measured),
      cmocka_unit_test(a_quantised_net_fits_256_kib),
      cmocka_unit_test(a_board_says_what_it_has),
      cmocka_unit_test(settings_leave_less_of_a_board),
      cmocka_unit_test(a_core_that_is_not_measured_has_no_code),
      cmocka_unit_test(a_board_may_run_from_ram),
      cmocka_unit_test(tensorflow_lite_micro_takes_more),
      cmocka_unit_test(the_report_answers_in_a_few_lines),
      cmocka_unit_test(a_check_fails_where_it_does_not_fit),
      cmocka_unit_test(an_unknown_board_has_a_way_out),
      cmocka_unit_test(a_source_may_name_a_board),
      cmocka_unit_test(flash_is_a_size_or_a_kernel),
      cmocka_unit_test(a_net_that_does_not_run_says_so),
      cmocka_unit_test(an_arena_must_be_in_one_piece),
      cmocka_unit_test(boards_make_a_table),
      cmocka_unit_test(the_time_is_a_bound),
      cmocka_unit_test(the_schema_describes_a_board),
      slow_test(the_linker_agrees_in_float32),
      slow_test(the_linker_agrees_in_8_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
