/* A job in CI: exit statuses, diagnostics as objects, budgets. */
#include "tests/run.h"

/* Complaints as JSON: every line follows the schema. */

static const struct {
  const char *command; /* behind NETC, with %s for a folder */
  int status;
  const char *says[3];
} complaints[] = {
    {"check --gpu t4 --batch 512 examples/resnet50.net",
     1,
     {"\"slug\": \"does-not-fit\"", "a training step needs",
      "\"with --batch "}},
    {"check --predict --memory 1MiB examples/resnet50.net",
     1,
     {"\"does-not-fit\"", "\"file\": \"examples/resnet50.net\"",
      "no memory left beside the framework"}},
    {"examples/resnet50.net --must-fit --memory 2GiB --batch 256 -o %s/x.svg",
     1,
     {"\"does-not-fit\"", "a training step needs", NULL}},
    {"examples/resnet50.net --must-fit --memory 2GiB --batch 256",
     1,
     {"\"does-not-fit\"", NULL, NULL}},
    {"place examples/llama3.net -D layers=80 -D width=8192 --gpus 2xt4",
     1,
     {"\"does-not-fit\"", "nothing fits", "--host-memory"}},
    {"check examples/vgg16.net --budget params=1M",
     1,
     {"\"over-budget\"", "138,357,544 parameters",
      "\"line\": 1, \"col\": 8, \"end_line\": 1, \"end_col\": 17, "
      "\"net\": \"examples/vgg16.net\""}},
    {"check %s/none.net", 3, {"\"input-output\"", "none.net", NULL}},
    {"check %s/..", 3, {"\"input-output\"", "a folder without a model", NULL}},
    {"examples/vgg16.net -o /none/x.json",
     3,
     {"\"input-output\"", "cannot write /none/x.json", NULL}},
    {"examples/vgg16.net -o -", 3, {"\"input-output\"", "No space", NULL}},
    {"check examples/vgg16.net --bogus", 2, {"\"usage\"", "--bogus", NULL}},
    {"check --must-fit examples/vgg16.net", 2, {"\"usage\"", "--gpu", NULL}},
    {"check --batch=0 examples/vgg16.net", 2, {"\"usage\"", "--batch", NULL}},
    {"run examples/simple_cnn.net --weights %s/none --random 1",
     3,
     {"\"input-output\"", "none", NULL}},
    {"run examples/simple_cnn.net --weights README.md --random 1",
     1,
     {"\"refused\"", "\"file\": \"README.md\"", NULL}},
    {"weights examples/simple_cnn.net --check %s/other.safetensors",
     1,
     {"\"refused\"", "other.safetensors", NULL}},
};

static void what_is_wrong_is_an_object_of_the_schema(void **state) {
  (void)state;
  const char *dir = scratch("complaints");
  struct run r = run(NETC " weights examples/vgg16.net --random 1 -o "
                          "%s/other.safetensors",
                     dir);
  assert_int_equal(r.status, 0);
  run_free(&r);
  for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++) {
    char command[512], line[1024];
    bool full = strstr(complaints[i].command, " -o -");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(command, sizeof command, complaints[i].command, dir);
#pragma GCC diagnostic pop
    snprintf(line, sizeof line,
             NETC " %s -Wno-pool-remainder --diagnostics=json >%s "
                  "2>%s/%zu.jsonl",
             command, full ? "/dev/full" : "/dev/null", dir, i);
    r = run("%s", line);
    if (r.status != complaints[i].status)
      fail_msg("%s: %d", line, r.status);
    run_free(&r);
    snprintf(line, sizeof line, "%s/%zu.jsonl", dir, i);
    char *said = read_text(line, NULL);
    for (int k = 0; k < 3 && complaints[i].says[k]; k++)
      assert_holds(said, complaints[i].says[k]);
    free(said);
  }
  r = run("grep -h '^{' tests/golden/*/*.jsondiag >%s/golden.jsonl; "
          "/usr/bin/python3 tests/validate.py docs/diagnostics.schema.json "
          "%s/*.jsonl",
          dir, dir);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void a_net_that_does_not_fit_says_so_where_no_report_does(void **state) {
  (void)state;
  expect(NETC " examples/resnet50.net --must-fit --memory 2GiB --batch 256 "
              "-o " BUILD "/misfit.svg",
         1, "",
         "examples/resnet50.net: error: a training step needs 20.87 GiB");
  expect(NETC " examples/resnet50.net --must-fit --memory 2GiB --batch 256 "
              "2>&1 >/dev/null",
         1, "", "");
}

static void budgets_of_the_command_line_are_checked(void **state) {
  (void)state;
  expect(NETC " check examples/vgg16.net --budget params=138357544,macs=16G", 0,
         "", "");
  expect(NETC " check examples/vgg16.net --budget params=138357543", 1, "",
         "exceeds the budget by 1");
  expect(NETC " check examples/resnet50.net examples/vgg16.net -Wno-huge-fc "
              "--budget params=26M",
         1, "",
         "examples/vgg16.net: error: 138,357,544 parameters, but the budget "
         "is 26,000,000 [over-budget]");
  expect(NETC " check examples/vgg16.net --budget params=1 --budget "
              "params=200M",
         0, "", "");
  expect(NETC " check examples/vgg16.net --budget 'train=4 gb infer=1kb'", 2,
         "", "--budget");
  expect(NETC " check examples/vgg16.net --budget parms=1", 2, "",
         "did you mean `params`?");
  expect(NETC " check examples/vgg16.net --budget params", 2, "",
         "a value is missing");
  expect(NETC " check examples/vgg16.net --budget ''", 2, "", "params=25M");
  expect(NETC " check examples/vgg16.net --budget params=many", 2, "",
         "--budget params=many: ");
  expect(NETC " examples/vgg16.net --budget arena=1MiB -o " BUILD "/over.svg",
         1, "", "over-budget");
}

/* Mistakes that people type, and the help that is printed. */
static void mistakes_have_a_way_out(void **state) {
  (void)state;
  static const struct {
    const char *command;
    int status;
    const char *says;
  } rows[] = {
      {"fmt none.net", 3, "cannot read none.net: No such file"},
      {"fmt -i - </dev/null", 2,
       "-i needs a file, but - is <stdin>; leave out -i to write to standard"},
      {"examples/vgg16.net --memory 12XB", 2, "KiB MiB GiB TiB"},
      {"examples/vgg16.net --batch 1e9", 2, "`1000000000`"},
      {"examples/vgg16.net --batch 1.5", 2, "use floor()"},
      {"examples/vgg16.net -D =3", 2, "NAME=VALUE, not `=3`"},
      {"examples/vgg16.net -O2", 2, "unknown option `-O2`"},
      {"examples/vgg16.net --predict=yes", 2, "`--predict` takes no value"},
      {"examples/vgg16.net -MD", 2,
       "-MD needs a target: add -o FILE, or -MT NAME"},
      {"examples/vgg16.net check", 2, "write the command first: `netc check"},
      {"check", 2, "see `netc check --help`"},
      {"place examples/vgg16.net --gpus 2xt4 -o x.svg", 2, "-o x.json"},
      {"examples/vgg16.net --emit=", 2, "--emit=json"},
      {"examples/vgg16.net --input foo=3x3x3", 2, "only one is `input`"},
      {"place examples/vgg16.net --gpus 8", 2, "8xa100-80"},
      {"import tests/data/import/darknet/yolov3.cfg -o x.svg", 2, "-o x.net"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char command[256];
    snprintf(command, sizeof command, NETC " %s", rows[i].command);
    expect(command, rows[i].status, "", rows[i].says);
  }
  expect("printf '[net]\nheight=32\nwidth=32\nchannels=3\n"
         "[convolutional]\nfilters=8\nsize=3\nstide=2\n' >" BUILD
         "/slip.cfg; " NETC " import " BUILD "/slip.cfg",
         0,
         "# Line 8: `stide` of [convolutional] is not read; did you mean "
         "`stride`?",
         "");
  expect("printf '[net]\nheight=32\nwidth=32\nchannels=3\n"
         "[convolutionl]\nsize=3\n' >" BUILD "/slip.cfg; " NETC " import " BUILD
         "/slip.cfg",
         1, "", "did you mean [convolutional]?");
}

/* Names of others do not turn what stands beside them. */
static void hidden_characters_of_names_stay_out(void **state) {
  (void)state;
  static const char *const kinds[] = {
      "txt",         "json",         "csv",       "md",      "net",
      "dot",         "svg",          "tex",       "mmd",     "html",
      "py",          "header",       "c",         "onnx",    "source",
      "volumes.svg", "timeline.svg", "arena.svg", "bars.svg"};
  const char *dir = scratch("hidden");
  char path[256], said[512];
  snprintf(path, sizeof path,
           "%s/a\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8B\xF3\xA0\x81\x81z"
           "\x1b[2J.net",
           dir);
  static const char text[] = "param n = 3\nwarn \"\xE2\x80\xAE{n}\"\n"
                             "input 8x8x3\nconv 4 3x3 pad relu relu\n"
                             "fc 10 # \xE2\x80\xAE\n";
  write_text(path, text, sizeof text - 1);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct run r = run(NETC " '%s' --emit=%s", path, kinds[i]);
    snprintf(said, sizeof said, "%s (%s)", path, kinds[i]);
    bool json = strcmp(kinds[i], "json") == 0;
    if (!json && (strstr(r.out, "\xE2\x80\xAE") || strstr(r.out, "\x1b[2J")))
      fail_msg("hidden characters in %s", kinds[i]);
    if (strstr(r.err, "\xE2\x80\xAE") || strstr(r.err, "\x1b[2J"))
      fail_msg("hidden characters beside %s", kinds[i]);
    run_free(&r);
  }
}

/* Nor do those of a file of another framework, in the source's comments. */
static void hidden_characters_of_imports_stay_out(void **state) {
  (void)state;
  static const char text[] =
      "name: \"n\xE2\x80\xAE\"\ninput: \"d\"\ninput_dim: 1\ninput_dim: 3\n"
      "input_dim: 8\ninput_dim: 8\n"
      "layer { name: \"c\" type: \"Convolution\" bottom: \"d\" top: \"c\"\n"
      "  convolution_param { num_output: 4 kernel_size: 3 } }\n"
      "layer { name: \"l\xE2\x80\xAE\xE2\x80\x8B\xF3\xA0\x81\x81\" "
      "type: \"Det\" bottom: \"c\" top: \"z\" }\n";
  const char *dir = scratch("hidden-import");
  write_in(dir, "h.prototxt", text);
  struct run r = run(NETC " import %s/h.prototxt --allow-unknown", dir);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "netc has no equivalent.");
  assert_null(strstr(r.out, "\xE2\x80\xAE"));
  assert_null(strstr(r.out, "\xE2\x80\x8B"));
  assert_null(strstr(r.out, "\xF3\xA0\x81\x81"));
  run_free(&r);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_wrong_is_an_object_of_the_schema),
      cmocka_unit_test(a_net_that_does_not_fit_says_so_where_no_report_does),
      cmocka_unit_test(budgets_of_the_command_line_are_checked),
      cmocka_unit_test(mistakes_have_a_way_out),
      cmocka_unit_test(hidden_characters_of_names_stay_out),
      cmocka_unit_test(hidden_characters_of_imports_stay_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
