/*
 * netc import of torch.export's programs: parameters and values are those of
 * PyTorch 2.6, which made the files (tools/exported_truth.py).
 */
#define _XOPEN_SOURCE 700
#include "tests/csv.h"
#include "tests/imported.h"

#define FOLDER "tests/data/import/exported/"

enum { NAME, PARAMETERS, BUFFERS, COLUMNS, MOST = 40 };

static const char *const programs[] = {"lenet", "lstm",  "gru", "decoder",
                                       "unet",  "calls", "swin"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static void parameters_are_those_of_pytorch(void **state) {
  (void)state;
  static struct row rows[MOST];
  size_t count = 0;
  char *text = read_text(FOLDER "truth.csv", NULL);
  assert_true(read_rows(text, "# name,parameters,buffers\n", COLUMNS, rows,
                        MOST, &count));
  assert_int_equal(count, PROGRAMS);
  for (size_t i = 0; i < count; i++) {
    char path[200];
    int64_t parameters = strtoll(rows[i].at[PARAMETERS], NULL, 10);
    snprintf(path, sizeof path, FOLDER "%s.pt2", rows[i].at[NAME]);
    for (int flat = 0; flat < 2; flat++) {
      char *source = import(path, flat ? "--flat" : "");
      assert_int_equal(totals_of(path, source).trainable_count, parameters);
      free(source);
    }
  }
  free(text);
}

static void check_values(const char *folder, const char *program,
                         const char *truth, const char *layout) {
  char path[200], options[300];
  snprintf(path, sizeof path, FOLDER "%s.pt2", program);
  snprintf(options, sizeof options, "%s --input " FOLDER "%s.in.npy", layout,
           truth);
  char *values = values_of(folder, path, options);
  struct run r = run("od -An -tfF -j128 " FOLDER "%s.out.npy", truth);
  assert_true(strlen(r.out) > 50);
  assert_near(values, r.out);
  run_free(&r);
  free(values);
}

/* Weights are where the archive has them; nothing is unpacked. */
static void values_are_those_of_pytorch(void **state) {
  (void)state;
  const char *folder = scratch("values");
  for (size_t i = 0; i < PROGRAMS; i++) {
    bool tokens = strcmp(programs[i], "lstm") == 0 ||
                  strcmp(programs[i], "gru") == 0 ||
                  strcmp(programs[i], "decoder") == 0;
    check_values(folder, programs[i], programs[i],
                 tokens ? "" : "--layout=chw");
  }
  check_values(folder, "newer", "lenet", "--layout=chw");
}

/* The author's blocks, a tied matrix, attention, and a batch that is open. */
static void sources_are_what_a_person_would_write(void **state) {
  (void)state;
  char *source = import(FOLDER "decoder.pt2", "");
  assert_string_equal(
      source,
      "net decoder\ninput 12 : i64\nembed_2: embed 40 16 -> 12x16\nposembed\n"
      "repeat 2 {\n  add {} { ln; attention 2 causal bias=qkv packed }\n"
      "  add {} { rmsnorm eps=1e-06; linear 64 gelu(approximate=tanh); "
      "linear 16 }\n}\nlinear 40 nobias tie=embed_2\n");
  free(source);
  source = import(FOLDER "lenet.pt2", "");
  char *newer = import(FOLDER "newer.pt2", "");
  char *json = import(FOLDER "lenet.json", "");
  assert_holds(source, "input 28x28x1\nconv 8 5x5 pad bias bn relu\n");
  assert_string_equal(strchr(source, '\n'), strchr(newer, '\n'));
  assert_string_equal(source, json);
  free(source);
  free(newer);
  free(json);
  source = import(FOLDER "training.json", "");
  assert_string_equal(source,
                      "net training\ninput 6\nadd {} { fc 6; dropout 0.2 "
                      "inplace=on; droppath 0.25 }\n");
  free(source);
  source = import(FOLDER "attending.json", "");
  assert_string_equal(source, "net attending\ninput 6x8\n"
                              "attention 2 dropout=0.1 packed\n");
  free(source);
  expect(NETC " " FOLDER "gru.pt2 --depth 0 --units bytes", 0,
         "\n  files      weights 16,260 B, ",
         "note: the file is read as torch.export");
  expect(NETC " import --types", 0, "torch.export\tconv2d\tconv", NULL);
}

/* A change of a program's text, and what is said. */
static struct mistake {
  char name[32];
  const char *change; /* of sed */
  const char *says;
} mistakes[] = {
    {"cut", "100,$d", "error: it is not JSON: "},
    {"no-graph", "s/.graph.: {/\"grave\": {/", "its JSON has no graph of "},
    {"unknown", "s/aten.conv2d.default/aten.warp.default/",
     "no equivalent of these operators: aten.warp.default (2)"},
    {"other-library", "s/torch.ops.aten.linear/torch.ops.mine.linear/",
     "no equivalent of these operators: mine.linear.default (1)"},
    {"sizes", "s/.as_int.: 400/\"as_int\": 399/",
     "`flatten` (Reshape): 1x399 does not have as many values as its input"},
    {"huge", "s/.as_int.: 400/\"as_int\": 4000000000000/", "error: "},
    {"negative", "s/.as_int.: 28$/\"as_int\": -28/", "error: "},
    {"axis", "s/.name.: .start_dim./\"name\": \"dim\"/", NULL},
    {"no-output", "s/.user_output./\"mutation\"/",
     "the program gives no tensor"},
    {"text-for-number", "s/.as_ints.: \\[/\"as_ints\": [\"x\", /", "error: "},
    {"no-weight", "s/.name.: .weight./\"name\": \"white\"/", "error: "},
    {"types", "s/.dtype.: 7/\"dtype\": 99/", "has no sizes and type"},
};

static void check_mistake(void **state) {
  const struct mistake *m = *state;
  struct run r = import_changed(FOLDER, "lenet.json", m->change);
  if (m->says)
    assert_holds(r.err, m->says);
  assert_int_equal(r.status, m->says ? 1 : 0);
  run_free(&r);
}

/* Values that are packed, or are not there, are asked for only if needed. */
static void values_that_are_missing_are_told(void **state) {
  (void)state;
  const char *folder = scratch("absent");
  struct run r = run(NETC " import " FOLDER "lenet.json --weights %s/w -o "
                          "%s/x.net",
                     folder, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "are needed, and the file lacks them");
  run_free(&r);
  expect("head -c 20000 " FOLDER "gru.pt2 | " NETC " import -", 1, NULL,
         "error: ");
  expect("cat " FOLDER "gru.pt2 | " NETC " import -", 0,
         "repeat 2 { gru 10 bidir }\n", NULL);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(parameters_are_those_of_pytorch),
      cmocka_unit_test(values_are_those_of_pytorch),
      cmocka_unit_test(sources_are_what_a_person_would_write),
      cmocka_unit_test(values_that_are_missing_are_told)};
  return run_table("exported", mistakes, sizeof mistakes / sizeof *mistakes,
                   sizeof *mistakes, check_mistake, others,
                   sizeof others / sizeof *others);
}
