/*
 * The function that brings an arena, and the programs of examples/cortex-m and
 * examples/riscv in QEMU, which compute what this machine does.
 */
#include "tests/run.h"

/* Inputs and outputs of several types, indices among them. */
static const char several[] = "net several\n"
                              "input picture 4x6x2\n"
                              "input words 5 : i32\n"
                              "embed 9 4\na: fc 3\noutput a\n"
                              "from picture\nconv 3 3x3\nb: relu\noutput b\n";

static const char caller[] =
    "#include <stdio.h>\n#include <string.h>\n"
    "#include \"several.h\"\n#include \"netrt.h\"\n"
    "static NETRT_ARENA unsigned char own[SEVERAL_ARENA_BYTES];\n"
    "static float picture[48], a[3], b[24];\n"
    "int main(void) {\n"
    "  struct netrt net;\n  INDEX words[5] = {1, 8, 0, 3, 2};\n"
    "  for (int i = 0; i < 48; i++) picture[i] = (float)(i % 7) - 3;\n"
    "  for (int twice = 0; twice < 2; twice++)\n"
    "    if (several_run(picture, words, a, b)) return 1;\n"
    "  if (netrt_open(&net, &several_model, several_weights,\n"
    "                 SEVERAL_WEIGHT_BYTES, own, sizeof own)) return 2;\n"
    "  memcpy(netrt_input(&net, 0), picture, sizeof picture);\n"
    "  memcpy(netrt_input(&net, 1), words, sizeof words);\n"
    "  if (netrt_run(&net)) return 3;\n"
    "  if (memcmp(netrt_output(&net, 0), a, sizeof a)) return 4;\n"
    "  if (memcmp(netrt_output(&net, 1), b, sizeof b)) return 5;\n"
    "  words[0] = 9;\n"
    "  return several_run(picture, words, a, b) != NETRT_BAD_INDEX;\n}\n";

static void must(struct run r) {
  if (r.status)
    print_error("status %d\n%s%s", r.status, r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void a_function_brings_an_arena(void **state) {
  (void)state;
  static const char *const compilers[] = {
      "cc -std=c99 -pedantic -Wall -Wextra -Wconversion -Werror",
      "g++ -x c++ -std=c++11 -Wall -Wextra -Werror"};
  const char *dir = scratch("firmware-run");
  write_in(dir, "several.net", several);
  write_in(dir, "main.c", caller);
  must(run(NETC " %s/several.net -o %s/several.h -o %s/several.c && " NETC
                " weights %s/several.net --random 1 --fold -o %s/weights.c",
           dir, dir, dir, dir, dir));
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
    must(run(
        "%s -DNETRT_RUN -Iruntime -I%s "
        "-DINDEX=$(grep -o 'int[0-9]*_t \\*' %s/several.h | cut -d' ' -f1) "
        "-DNETRT_ARENA_SECTION='\".ram2\"' "
        "-DNETC_WEIGHTS_SECTION='\".flash2\"' "
        "%s/main.c %s/several.c %s/weights.c -x none " BUILD
        "/libnetrt.a -lm -o %s/p && %s/p && objdump -h %s/p >%s/h && "
        "grep -q '\\.ram2' %s/h && grep -q '\\.flash2' %s/h",
        compilers[i], dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir));
}

/* The line of numbers that a board prints, and what it says before. */
struct printed {
  long arena, weights, stack, scores[12];
};

static struct printed read_scores(struct run r, int scores) {
  struct printed p = {0};
  int read = 0, at = 0;
  const char *line = strstr(r.out, "arena ");
  if (r.status || !line)
    print_error("status %d\n%s%s", r.status, r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_non_null(line);
  assert_int_equal(sscanf(line, "arena %ld B, weights %ld B, stack %ld B\n%n",
                          &p.arena, &p.weights, &p.stack, &at),
                   3);
  for (int i = 0; i < scores; i++) {
    line += at;
    assert_int_equal(sscanf(line, "%d %ld\n%n", &read, &p.scores[i], &at), 2);
    assert_int_equal(read, i);
  }
  run_free(&r);
  return p;
}

/* A target in a folder of examples/, with what it makes in `out`. */
#define MAKE_OF(target)                                       \
  "unset MAKEFLAGS MAKELEVEL; make -s -C examples/%s " target \
  " NETC=" NETC_PATH " RUNTIME=\"$PWD\"/runtime out=\"$PWD\"/%s %s %s"
#define MAKE MAKE_OF("run")
#define MAKE_FIGURES MAKE_OF("figures")
#define MAKE_INSTRUCTIONS MAKE_OF("instructions")

/* A number of docs/microcontrollers.md: column 1 is float32, 2 is int8. */
static long documented(const char *row, int column) {
  char *page = read_text("docs/microcontrollers.md", NULL);
  const char *at = strstr(page, text_of("\n| %s |", row));
  long value = 0;
  if (!at)
    fail_msg("no row `%s`", row);
  for (at += 2; column-- > 0; at++)
    at += strcspn(at, "|");
  for (at += *at == ' '; (*at >= '0' && *at <= '9') || *at == ','; at++)
    value = *at == ',' ? value : 10 * value + *at - '0';
  free(page);
  return value;
}

/* Of `make figures`: what a compiler makes, but the same one each time. */
struct figures {
  long arena, weights, stack, code, reached;
};

static struct figures figures_of(struct run r) {
  struct figures f;
  const char *line = strstr(r.out, "arena ");
  int read = !line
                 ? 0
                 : sscanf(line,
                          "arena %ld B, weights %ld B, stack %ld B\n"
                          "code %ld B, kernels and tables %ld B",
                          &f.arena, &f.weights, &f.stack, &f.code, &f.reached);
  if (r.status || read != 5)
    fail_msg("status %d\n%s%s", r.status, r.out, r.err);
  run_free(&r);
  return f;
}

/* The page was measured with Debian 12's compilers. */
static bool is_documented(const char *compiler) {
  struct run r = run("%s -dumpversion", compiler);
  bool known = r.status == 0 && strncmp(r.out, "12.2", 4) == 0;
  run_free(&r);
  return known;
}

static void is_row(const char *row, int column, long measured) {
  if (documented(row, column) != measured)
    fail_msg("docs/microcontrollers.md, `%s`: %ld, measured are %ld", row,
             documented(row, column), measured);
}

static void check_page(struct figures f, bool arm, int column) {
  is_row("arena", column, f.arena);
  is_row("weights", column, f.weights);
  is_row(arm ? "code, Cortex-M7" : "code, rv32imafc", column, f.code);
  is_row(arm ? "kernels and tables" : "its kernels and tables", column,
         f.reached);
  is_row(arm ? "stack" : "its stack", column, f.stack);
}

/* Scores of each board are within `apart` millionths of this machine's. */
static void check_boards(const char *name, const char *net, long arena,
                         long apart) {
  static const struct {
    const char *folder, *compiler, *emulator, *core;
  } boards[] = {
      {"cortex-m", "arm-none-eabi-gcc", "qemu-system-arm", ""}, /* smlad */
      {"cortex-m", "arm-none-eabi-gcc", "qemu-system-arm",
       "CORE=-mcpu=cortex-m55 MACHINE=mps3-an547"}, /* Helium */
      {"riscv", "riscv64-unknown-elf-gcc", "qemu-system-riscv32", ""}};
  struct printed here =
      read_scores(run(MAKE, "cortex-m", scratch(text_of("%s-here", name)), net,
                      "CC=cc SIZE=true BOARD= LINK= EMULATOR="),
                  12);
  assert_int_equal(here.arena, arena);
  for (size_t i = 0; i < sizeof boards / sizeof *boards; i++) {
    if (!on_path(boards[i].compiler) || !on_path(boards[i].emulator))
      skip(); /* docs/microcontrollers.md names the packages */
    struct printed p = read_scores(
        run(MAKE, boards[i].folder,
            scratch(text_of("%s-%s-%zu", name, boards[i].folder, i)), net,
            boards[i].core),
        12);
    assert_int_equal(p.arena, here.arena);
    assert_int_equal(p.weights, here.weights);
    assert_true(p.stack > 256 && p.stack < 2048); /* of NETRT_SMALL */
    for (int k = 0; k < 12; k++)
      assert_true(labs(p.scores[k] - here.scores[k]) <= apart);
    if (is_documented(boards[i].compiler) && !*boards[i].core)
      check_page(
          figures_of(run(MAKE_FIGURES, boards[i].folder,
                         scratch(text_of("%s-%s", name, boards[i].folder)), net,
                         "")),
          strcmp(boards[i].folder, "cortex-m") == 0, apart ? 1 : 2);
  }
}

static void boards_compute_what_this_machine_does(void **state) {
  (void)state;
  check_boards("float", "", 64000, 1);
}

/* `make` options for a .tflite, whose files are in a scratch folder. */
static const char *import_options(const char *name, const char *path) {
  static char options[2400];
  char dir[1100];
  snprintf(dir, sizeof dir, "%s", scratch(name));
  must(run(NETC " import %s -o %s/a.net --weights %s/a.safetensors", path, dir,
           dir));
  snprintf(options, sizeof options,
           "NET=\"$PWD\"/%s/a.net WEIGHTS=\"--from $PWD/%s/a.safetensors\"",
           dir, dir);
  return options;
}

/* The results of TensorFlow Lite's file: five scores that are not 0. */
static void boards_compute_in_8_bits(void **state) {
  (void)state;
  const char *options =
      import_options("q8-net", "tests/data/q8/kws_ref_model.tflite");
  check_boards("q8", options, 8640, 0);
}

/* The figure of the report is less, but not by far. */
static void check_bound(const char *options, const char *board,
                        double counted) {
  double bound = 0;
  char net[200];
  if (sscanf(options, "NET=\"$PWD\"/%199[^ ]", net) != 1)
    fail_msg("%s", options);
  struct run r = run(NETC " %s --board %s --emit=json", net, board);
  const char *at = strstr(r.out, "\"bound_instructions\": ");
  if (r.status || !at || sscanf(at, "\"bound_instructions\": %lf", &bound) != 1)
    fail_msg("status %d\n%s", r.status, r.err);
  run_free(&r);
  if (bound > counted || bound < counted / 4)
    fail_msg("%s: at least %.0f, counted %.0f", board, bound, counted);
}

/*
 * Instructions of keyword spotting, which QEMU counts: those of the page. A
 * core whose float32 is taken for something else computes in integers, with the
 * same bytes and more than twice the instructions.
 */
static void boards_take_the_instructions_of_the_page(void **state) {
  static const struct {
    const char *core, *board, *folder, *page;
    double most;
  } cores[] = {{"", "nucleo-f746zg", "count-m7",
                "takes 18.7 million instructions", 18.75},
               {"CORE=-mcpu=cortex-m55 MACHINE=mps3-an547", "stm32n6570-dk",
                "count-m55", "16.8 million with Helium", 16.85}};
  (void)state;
  if (!on_path("arm-none-eabi-gcc") || !on_path("qemu-system-arm") ||
      !is_documented("arm-none-eabi-gcc"))
    skip();
  const char *options =
      import_options("count-net", "tests/data/q8/kws_ref_model.tflite");
  char *page = read_text("docs/microcontrollers.md", NULL);
  for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
    double counted = 0;
    struct run r = run(MAKE_INSTRUCTIONS, "cortex-m", scratch(cores[i].folder),
                       options, cores[i].core);
    const char *line = strstr(r.out, "instructions ");
    if (r.status || !line || sscanf(line, "instructions %lf", &counted) != 1)
      fail_msg("status %d\n%s%s", r.status, r.out, r.err);
    check_bound(options, cores[i].board, counted);
    if (counted > cores[i].most * 1e6 || counted < cores[i].most * 0.99e6)
      fail_msg("%s: %.0f instructions", cores[i].folder, counted);
    assert_holds(page, cores[i].page);
    run_free(&r);
  }
  free(page);
}

static void the_page_has_the_size_of_wake_words(void **state) {
  (void)state;
  char wanted[160];
  if (!on_path("arm-none-eabi-gcc") || !on_path("qemu-system-arm") ||
      !is_documented("arm-none-eabi-gcc"))
    skip();
  const char *options =
      import_options("vww-net", "tests/data/q8/vww_96_int8.tflite");
  struct figures f =
      figures_of(run(MAKE_FIGURES, "cortex-m", scratch("vww"), options, ""));
  is_row("visual wake words", 1, f.arena);
  snprintf(wanted, sizeof wanted,
           "\nVisual wake words takes %ld,%03ld bytes of kernels and tables "
           "beside its %ld,%03ld of weights.\n",
           f.reached / 1000, f.reached % 1000, f.weights / 1000,
           f.weights % 1000);
  char *page = read_text("docs/microcontrollers.md", NULL);
  assert_holds(page, wanted);
  free(page);
}

/* A frame at a time, after 30 of them what the window gives. */
static void a_board_takes_a_frame_at_a_time(void **state) {
  (void)state;
  if (!on_path("arm-none-eabi-gcc") || !on_path("qemu-system-arm"))
    skip();
  const char *options =
      import_options("sww-net", "tests/data/q8/str_ww_ref_model.tflite");
  struct printed window =
      read_scores(run(MAKE, "cortex-m", scratch("sww"), options, ""), 3);
  struct printed frame = read_scores(run(MAKE, "cortex-m", scratch("sww-frame"),
                                         options, "PLAN='--stream on'"),
                                     3);
  assert_int_equal(window.arena, 3712);
  assert_int_equal(frame.arena, 4544);
  assert_int_equal(frame.weights, window.weights);
  assert_true(frame.stack > 256 && frame.stack < 2048);
  for (int k = 0; k < 3; k++)
    assert_int_equal(frame.scores[k], window.scores[k]);
}

/* Of the table beside TensorFlow Lite Micro's planner. */
static void the_page_has_the_arenas(void **state) {
  (void)state;
  static const char *const all[][2] = {
      {"anomaly (ad01)", "q8/ad01_int8"},
      {"keywords (kws)", "q8/kws_ref_model"},
      {"images (ResNet)", "import/tflite/pretrainedResnet_quant"},
      {"visual wake words", "q8/vww_96_int8"},
      {"streaming wake word", "q8/str_ww_ref_model"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct run r = run(NETC " import tests/data/%s.tflite -o - | " NETC
                            " - --emit=h --prefix=a",
                       all[i][1]);
    long arena = 0;
    const char *line = strstr(r.out, "#define A_ARENA_BYTES ");
    assert_true(line && sscanf(line, "%*s %*s %ld", &arena) == 1);
    is_row(all[i][0], 1, arena);
    run_free(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_function_brings_an_arena),
      cmocka_unit_test(the_page_has_the_arenas),
      slow_test(the_page_has_the_size_of_wake_words),
      slow_test(boards_compute_what_this_machine_does),
      slow_test(boards_compute_in_8_bits),
      slow_test(a_board_takes_a_frame_at_a_time),
      slow_test(boards_take_the_instructions_of_the_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
