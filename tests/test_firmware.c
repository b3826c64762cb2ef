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

static struct printed read_scores(struct run r) {
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
  for (int i = 0; i < 12; i++) {
    line += at;
    assert_int_equal(sscanf(line, "%d %ld\n%n", &read, &p.scores[i], &at), 2);
    assert_int_equal(read, i);
  }
  run_free(&r);
  return p;
}

/* `make run` in a folder of examples/, with what it makes in `out`. */
#define MAKE                                               \
  "unset MAKEFLAGS MAKELEVEL; make -s -C examples/%s run " \
  "NETC=" NETC_PATH " RUNTIME=\"$PWD\"/runtime out=\"$PWD\"/%s %s %s"

/* Scores of each board are within `apart` millionths of this machine's. */
static void check_boards(const char *name, const char *net, long arena,
                         long apart) {
  static const struct {
    const char *folder, *compiler, *emulator;
  } boards[] = {{"cortex-m", "arm-none-eabi-gcc", "qemu-system-arm"},
                {"riscv", "riscv64-unknown-elf-gcc", "qemu-system-riscv32"}};
  struct printed here =
      read_scores(run(MAKE, "cortex-m", scratch(text_of("%s-here", name)), net,
                      "CC=cc SIZE=true BOARD= LINK= EMULATOR="));
  assert_int_equal(here.arena, arena);
  for (size_t i = 0; i < sizeof boards / sizeof *boards; i++) {
    if (!on_path(boards[i].compiler) || !on_path(boards[i].emulator))
      skip(); /* docs/microcontrollers.md names the packages */
    struct printed p = read_scores(
        run(MAKE, boards[i].folder,
            scratch(text_of("%s-%s", name, boards[i].folder)), net, ""));
    assert_int_equal(p.arena, here.arena);
    assert_int_equal(p.weights, here.weights);
    assert_true(p.stack > 256 && p.stack < 2048); /* of NETRT_SMALL */
    for (int k = 0; k < 12; k++)
      assert_true(labs(p.scores[k] - here.scores[k]) <= apart);
  }
}

static void boards_compute_what_this_machine_does(void **state) {
  (void)state;
  check_boards("float", "", 64000, 1);
}

/* What TensorFlow Lite's file computes: five scores that are not 0. */
static void boards_compute_in_8_bits(void **state) {
  (void)state;
  char dir[1100], options[2400];
  snprintf(dir, sizeof dir, "%s", scratch("q8-net"));
  must(run(NETC " import tests/data/q8/kws_ref_model.tflite -o %s/kws.net "
                "--weights %s/kws.safetensors",
           dir, dir));
  snprintf(options, sizeof options,
           "NET=\"$PWD\"/%s/kws.net "
           "WEIGHTS=\"--from $PWD/%s/kws.safetensors\"",
           dir, dir);
  check_boards("q8", options, 8640, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_function_brings_an_arena),
      slow_test(boards_compute_what_this_machine_does),
      slow_test(boards_compute_in_8_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
