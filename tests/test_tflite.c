/*
 * netc import of TensorFlow Lite: parameters, shapes and values are those that
 * a reader of its own and PyTorch give (tools/tflite_truth.py).
 */
#define _XOPEN_SOURCE 700
#include <string.h>
#include <unistd.h>

#include "tests/imported.h"

#define FOLDER "tests/data/import/tflite"

struct truth {
  char file[64], output[32];
  long long params, operators;
};

/* The next row of truth.csv; false: that was the last. */
static bool next_row(const char **text, struct truth *row) {
  const char *line = strchr(*text, '\n') + 1;
  if (*line == '\0')
    return false;
  assert_int_equal(sscanf(line, "%63[^,],%lld,%31[^,],%lld", row->file,
                          &row->params, row->output, &row->operators),
                   4);
  *text = line;
  return true;
}

static void check_output(struct netc *netc, const char *expected) {
  struct netc_layer layer = {.size = sizeof layer};
  char got[64] = "";
  size_t used = 0;
  assert_int_equal(netc_layer(netc, netc_layer_count(netc) - 1, &layer),
                   NETC_OK);
  for (int i = 0; i < (int)layer.out.rank; i++)
    used += (size_t)snprintf(got + used, sizeof got - used, "%s%lld",
                             i ? "x" : "", (long long)layer.out.dims[i]);
  assert_string_equal(got, expected);
}

static void check_source(const struct truth *row, const char *source) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_totals totals = {.size = sizeof totals};
  assert_int_equal(netc_load_text(netc, row->file, source, strlen(source)),
                   NETC_OK);
  assert_int_equal(netc_totals(netc, &totals), NETC_OK);
  if (totals.trainable_count != row->params)
    print_error("%s: ", row->file);
  assert_int_equal(totals.trainable_count, row->params);
  check_output(netc, row->output);
  netc_close(netc);
}

/* Folded and flat. */
static void nets_count_as_their_files_say(void **state) {
  (void)state;
  char *table = read_text(FOLDER "/truth.csv", NULL);
  const char *rest = table;
  struct truth row;
  int read = 0;
  while (next_row(&rest, &row)) {
    char path[128];
    snprintf(path, sizeof path, FOLDER "/%s", row.file);
    char *folded = import(path, ""), *flat = import(path, "--flat");
    check_source(&row, folded);
    check_source(&row, flat);
    assert_true(line_count(folded) < 70);
    free(folded);
    free(flat);
    read++;
  }
  assert_int_equal(read, 16);
  free(table);
}

/* Nets with a state: what else comes in and goes out. */
static const struct stateful {
  const char *stem, *input, *output;
  int states;
} stateful[] = {{"keyword_scrambled", "tensor_52", "tensor_53", 7},
                {"states", "at_t0", "t10", 2},
                {"variables", "at_t0", "t26", 2}};

static const struct stateful *find_stateful(const char *path) {
  for (size_t i = 0; i < sizeof stateful / sizeof *stateful; i++)
    if (strstr(path, stateful[i].stem))
      return &stateful[i];
  return NULL;
}

/* The result of `netc run` for NAME.x.npy. */
static char *run_values(const char *folder, const char *stem, int length) {
  char net[600], options[2000];
  const struct stateful *s = find_stateful(stem);
  snprintf(net, sizeof net, "%s/a.net", folder);
  int used = snprintf(options, sizeof options,
                      "--dtype f32 --weights %s/a.st --input %s%s%s", folder,
                      s ? s->input : "", s ? "=" : "", stem);
  for (int i = 1; s && i <= s->states; i++)
    used += snprintf(options + used, sizeof options - (size_t)used,
                     " --input state%d=%.*s.state%d.npy", i, length, stem, i);
  if (!s)
    return values_of(folder, net, options);
  struct run r = run("%s run %s %s -o %s=%s/y.npy && od -An -tfF -j128 "
                     "%s/y.npy",
                     NETC, net, options, s->output, folder, folder);
  assert_int_equal(r.status, 0);
  char *values = strdup(r.out);
  run_free(&r);
  return values;
}

/* Those of 8 bits are what they stand for: a step times a whole number. */
static void values_are_those_of_pytorch(void **state) {
  (void)state;
  struct paths paths = find_paths(FOLDER, ".x.npy");
  const char *folder = scratch("values");
  assert_int_equal(paths.count, 15);
  for (size_t i = 0; i < paths.count; i++) {
    int length = (int)(strlen(paths.at[i]) - strlen(".x.npy"));
    const char *stem = paths.at[i];
    struct run made = run("%s import %.*s.tflite -o %s/a.net --weights %s/a.st",
                          NETC, length, stem, folder, folder);
    assert_int_equal(made.status, 0);
    run_free(&made);
    char *values = run_values(folder, stem, length);
    struct run truth = run("od -An -tfF -j128 %.*s.y.npy", length, stem);
    assert_true(strlen(truth.out) > 4);
    assert_near(values, truth.out);
    free(values);
    run_free(&truth);
  }
  paths_free(&paths);
}

/* Bytes are counted in 8 bits, in which `netc run` computes. */
static void eight_bits_are_counted_as_such(void **state) {
  (void)state;
  char *source = import(FOLDER "/hello_world_int8.tflite", "");
  const char *folder = scratch("bytes");
  struct run kept = run("%s import " FOLDER "/hello_world_int8.tflite -o "
                        "%s/b.net --weights %s/b.st && head -c 3000 %s/b.st",
                        NETC, folder, folder, folder);
  assert_holds(kept.out + 8, "\"fc1.weight.scale\":\"0.004039009101688862\"");
  assert_holds(kept.out + 8, "\"fc1.weight.zero_point\":\"0\"");
  assert_holds(kept.out + 8, "\"input.output.scale\":");
  assert_holds(kept.out + 8, "\"fc1.relu.output.zero_point\":\"-128\"");
  run_free(&kept);
  assert_string_equal(source, "net hello_world_int8\n"
                              "input 1\n"
                              "repeat 2 { fc 16 relu }\n"
                              "fc 1\n"
                              "infer dtype=i8\n");
  write_in(folder, "a.net", source);
  struct run r =
      run("%s %s/a.net; %s run %s/a.net --weights %s/b.st --random 1 && "
          "%s weights %s/b.st",
          NETC, folder, NETC, folder, folder, NETC, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "inference, batch 1, int8, netrt (netc's runtime)\n");
  assert_holds(r.out, "\n  needs      744 B   weights 616, arena 128\n");
  assert_holds(r.out, "\nfc1.weight  I8       16x1 ");
  assert_holds(r.out, "\nfc1.bias    I32      16 ");
  run_free(&r);
  free(source);
}

static void comments_say_what_differs(void **state) {
  (void)state;
  char *source = import(FOLDER "/trained_lstm.tflite", "");
  assert_holds(source, "limits the values of its cell");
  assert_holds(source, "\nlstm 20 bias=one\n");
  free(source);
  source = import(FOLDER "/conv0.tflite", "");
  assert_holds(source, "int16 in the file; netc uses float32");
  free(source);
  source = import(FOLDER "/kws_ref_model_float32.tflite", "");
  assert_holds(source, "# The file's 8-bit weights are written as float32.");
  free(source);
}

static void check_refusal(const char *arguments, const char *says,
                          const char *help) {
  struct run r = run("%s import %s", NETC, arguments);
  assert_int_equal(r.status, 1);
  assert_string_equal(r.out, "");
  assert_holds(r.err, says);
  assert_holds(r.err, help);
  run_free(&r);
}

static void what_netc_lacks_is_refused_by_name(void **state) {
  (void)state;
  check_refusal(FOLDER "/refused/cumsum.tflite",
                "(CUMSUM): netc has no equivalent of it",
                "--allow-unknown leaves it out");
}

/* What it reads is what the net gives then. */
static void what_picks_places_is_left_out(void **state) {
  (void)state;
  static const char *const ways[][2] = {
      {FOLDER "/refused/argmax.tflite", "(ARG_MAX) is left out."},
      {"--allow-unknown " FOLDER "/refused/cumsum.tflite",
       "`t5` (CUMSUM) and all layers that depend on it are left out: netc "
       "has"}};
  for (int i = 0; i < 2; i++) {
    struct run r = run("%s import %s", NETC, ways[i][0]);
    assert_int_equal(r.status, 0);
    assert_holds(r.out, ways[i][1]);
    assert_holds(r.out, "\ninput 4x4x3\nconv 5 1x1\n");
    run_free(&r);
  }
}

static void what_is_kept_comes_in_and_goes_out(void **state) {
  (void)state;
  char *source = import(FOLDER "/states.tflite", "");
  assert_holds(source, "# The model keeps states between runs: each becomes an "
                       "input, and an output for the next run.\n");
  assert_holds(source, "\ninput state1 6x4\n");
  assert_holds(source, "\noutput state1_next\n");
  free(source);
  source = import(FOLDER "/variables.tflite", "");
  assert_holds(source, "\ninput state1 4x3\ninput state2 4\n");
  assert_holds(source, "output state1_next");
  assert_holds(source, "output state2_next");
  free(source);
}

/* The convolution's output is 1x2x160x8. */
static void a_size_of_the_file_is_a_check(void **state) {
  (void)state;
  enum { COLUMNS = 1500 };
  size_t length;
  char *file = read_text(FOLDER "/conv0.tflite", &length);
  char path[600];
  snprintf(path, sizeof path, "%s/a.tflite", scratch("check"));
  assert_int_equal((unsigned char)file[COLUMNS], 160);
  file[COLUMNS]++;
  write_text(path, file, length);
  free(file);
  check_refusal(path, "(CONV_2D): its output is 2x161x8 in the file, but",
                "2x160x8 by its operands");
}

/* An index of a 5 rows' list that is 200; a list that ends at 200. */
static void indices_of_sparse_weights_are_checked(void **state) {
  (void)state;
  static const size_t places[] = {1560, 1536};
  size_t length;
  char *file = read_text(FOLDER "/sparse.tflite", &length);
  char path[600], arguments[1300];
  const char *folder = scratch("sparse");
  snprintf(path, sizeof path, "%s/a.tflite", folder);
  snprintf(arguments, sizeof arguments, "%s --weights %s/a.st -o %s/a.net",
           path, folder, folder);
  for (int i = 0; i < 2; i++) {
    char before = file[places[i]];
    assert_in_range(before, 0, 100);
    file[places[i]] = (char)200;
    write_text(path, file, length);
    file[places[i]] = before;
    check_refusal(arguments, "(FULLY_CONNECTED): the indices of its sparse `t",
                  "do not fit its sizes");
  }
  free(file);
}

/* Every beginning of a file, and every byte of it another one. */
static void broken_files_are_errors(void **state) {
  (void)state;
  size_t length;
  char *file = read_text(FOLDER "/hello_world_int8.tflite", &length);
  char path[600];
  int refused = 0;
  snprintf(path, sizeof path, "%s/a.tflite", scratch("broken"));
  for (size_t i = 8; i < length; i += i < 700 ? 23 : 101) {
    write_text(path, file, i);
    struct run r = run("%s import %s", NETC, path);
    assert_int_equal(r.status, 1);
    assert_string_equal(r.out, "");
    assert_holds(r.err, "error: ");
    run_free(&r);
    char before = file[i];
    file[i] ^= 0x7f;
    write_text(path, file, length);
    file[i] = before;
    r = run("%s import %s", NETC, path);
    assert_true(r.status == 0 || r.status == 1);
    refused += r.status;
    run_free(&r);
  }
  assert_true(refused > 5);
  free(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nets_count_as_their_files_say),
      cmocka_unit_test(values_are_those_of_pytorch),
      cmocka_unit_test(eight_bits_are_counted_as_such),
      cmocka_unit_test(comments_say_what_differs),
      cmocka_unit_test(what_netc_lacks_is_refused_by_name),
      cmocka_unit_test(what_picks_places_is_left_out),
      cmocka_unit_test(what_is_kept_comes_in_and_goes_out),
      cmocka_unit_test(a_size_of_the_file_is_a_check),
      cmocka_unit_test(indices_of_sparse_weights_are_checked),
      cmocka_unit_test(broken_files_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
