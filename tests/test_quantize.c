/*
 * netc weights --quantize: scales from samples, and int8 beside float32. Net
 * and samples are small; weights are by chance, as large as trained ones begin.
 */
#include <math.h>

#include "tests/run.h"

enum { SIDE = 12, VALUES = SIDE * SIDE * 3, SAMPLES = 6, CLASSES = 10 };

/* A norm that folds with relu after it and without, add, concat, pools, a
 * table, and a product before a softmax. */
static const char net[] = "net q\n"
                          "input 12x12x3\n"
                          "conv 8 3x3 pad bn relu\n"
                          "add { conv 8 3x3 pad bn } { conv 8 1x1 bn } relu\n"
                          "concat { conv 4 1x1 relu } { conv 4 3x3 pad }\n"
                          "pool 2x2\n"
                          "conv 8 3x3 pad silu\n"
                          "avgpool 2x2\n"
                          "conv 16 1x1 relu6\n"
                          "gap\n"
                          "fc 10 softmax\n"
                          "infer dtype=i8\n";

/* Layers that enlarge a map, learned slopes, and reductions. */
static const char decoder[] = "net d\n"
                              "input 12x12x3 : i8\n"
                              "conv 8 3x3 /2 pad bn prelu\n"
                              "deconv 6 4x4 /2 pad=1 bn relu\n"
                              "deconv 12 3x3 groups=3\n"
                              "prelu shared\n"
                              "up 2\n"
                              "up 3 bilinear\n"
                              "up size=100x90 bilinear\n"
                              "mean w relu6\n"
                              "max l\n"
                              "fc 4 hswish\n";

static void write_npy(const char *folder, const char *name, const char *shape,
                      const float *values, size_t count) {
  char *file = malloc(128 + count * 4), head[129], about[118];
  snprintf(about, sizeof about,
           "{'descr': '<f4', 'fortran_order': False, 'shape': (%s)}", shape);
  snprintf(head, sizeof head, "%10s%-117s\n", "", about);
  memcpy(file, head, 128);
  memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  memcpy(file + 128, values, count * 4);
  write_text(text_of("%s/%s", folder, name), file, 128 + count * 4);
  free(file);
}

/* From -1 to 3, both among them; the last sample has an outlier on demand. */
static float *samples(float outlier) {
  float *values = malloc(SAMPLES * VALUES * sizeof *values);
  uint32_t state = 7;
  for (size_t i = 0; i < SAMPLES * VALUES; i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = (float)(state >> 8) / 16777216.0F * 4 - 1;
  }
  values[5] = -1;
  values[VALUES + 3] = 3;
  values[SAMPLES * VALUES - 1] = outlier;
  return values;
}

static const char *prepare(float outlier) {
  const char *folder = scratch("quantize");
  float *values = samples(outlier);
  write_in(folder, "q.net", net);
  write_in(folder, "d.net", decoder);
  write_npy(folder, "a.npy", "4, 12, 12, 3", values, (size_t)4 * VALUES);
  write_npy(folder, "b.npy", "2, 12, 12, 3", values + 4 * VALUES,
            (size_t)2 * VALUES);
  write_npy(folder, "one.npy", "12, 12, 3", values, VALUES);
  free(values);
  return folder;
}

static struct run quantized_net(const char *folder, const char *name,
                                const char *options) {
  struct run r = run("cd %s && %s weights %s.net --random 5 -o w.st && "
                     "%s weights %s.net --from w.st --quantize a.npy "
                     "--quantize b.npy %s -o w8.st",
                     folder, NETC_PATH, name, NETC_PATH, name, options);
  if (r.status)
    fail_msg("%s%s", r.out, r.err);
  return r;
}

static struct run quantized(const char *folder, const char *options) {
  return quantized_net(folder, "q", options);
}

/* A row of the table. */
struct row {
  double from, to, scale;
  int zero;
  double largest, rms, decibels;
};

static struct row row_of(const struct run *r, const char *layer) {
  struct row row;
  const char *at = strstr(r->out, text_of("\n%s ", layer));
  if (!at)
    fail_msg("no %s in\n%s", layer, r->out);
  int read =
      sscanf(at + 1, "%*s %lf %lf %lf %d %lf%% %lf%% %lf", &row.from, &row.to,
             &row.scale, &row.zero, &row.largest, &row.rms, &row.decibels);
  assert_true(read >= 4); /* "-" and "exact" are not numbers */
  return row;
}

static void assert_near(double value, double wanted) {
  if (fabs(value - wanted) > 1e-3 * fabs(wanted))
    fail_msg("%g, not %g", value, wanted);
}

/* A scale that is twice too large or too small shows in these. */
static void errors_are_small(void **state) {
  (void)state;
  static const char *const layers[] = {
      "conv1.relu",  "add1.relu", "conv4.relu", "concat1",
      "pool1",       "conv6",     "conv6.silu", "avgpool1",
      "conv7.relu6", "gap1",      "fc1",        "fc1.softmax"};
  struct run r = quantized(prepare(0), "");
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    struct row row = row_of(&r, layers[i]);
    if (row.rms > 0.7 || row.largest > 4 || row.decibels < 30)
      fail_msg("%s: %g %% at most, %g %%, %g dB\n%s", layers[i], row.largest,
               row.rms, row.decibels, r.out);
    assert_near(row.to - row.from, 255 * row.scale);
  }
  struct row input = row_of(&r, "input");
  assert_near(input.scale, 4.0 / 255);
  assert_int_equal(input.zero, -64);
  assert_int_equal(row_of(&r, "conv1.relu").zero, -128);
  assert_near(row_of(&r, "fc1.softmax").scale, 1.0 / 256);
  assert_near(row_of(&r, "conv4.relu").scale, row_of(&r, "conv5").scale);
  assert_near(row_of(&r, "concat1").scale, row_of(&r, "conv5").scale);
  assert_near(row_of(&r, "pool1").scale, row_of(&r, "conv5").scale);
  assert_holds(r.out, "6 samples; ");
  assert_holds(r.out, " of 6 samples\n");
  run_free(&r);
}

static void errors_of_decoders_are_small(void **state) {
  (void)state;
  static const char *const layers[] = {
      "conv1.prelu", "deconv1.relu", "deconv2",     "prelu1", "up1",
      "up2",         "up3",          "mean1.relu6", "max1",   "fc1.hswish"};
  struct run r = quantized_net(prepare(0), "d", "");
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    struct row row = row_of(&r, layers[i]);
    if (row.rms > 0.7 || row.largest > 4 || row.decibels < 30)
      fail_msg("%s: %g %% at most, %g %%, %g dB\n%s", layers[i], row.largest,
               row.rms, row.decibels, r.out);
  }
  assert_near(row_of(&r, "up3").scale, row_of(&r, "prelu1").scale);
  run_free(&r);
}

/* The written net runs, and comes within two steps of float32. */
static void runs_near_float32(void **state) {
  (void)state;
  size_t length;
  const char *folder = prepare(0);
  struct run r = quantized(folder, "");
  run_free(&r);
  r = run("cd %s && %s run q.net --weights w8.st --input one.npy -o y8.npy && "
          "%s run q.net --weights w8.st --input one.npy --dtype f32 -o y.npy",
          folder, NETC_PATH, NETC_PATH);
  if (r.status)
    fail_msg("%s%s", r.out, r.err);
  run_free(&r);
  char *small = read_text(text_of("%s/y8.npy", folder), &length);
  assert_int_equal(length, 128 + CLASSES);
  char *real = read_text(text_of("%s/y.npy", folder), &length);
  assert_int_equal(length, 128 + CLASSES * 4);
  for (int i = 0; i < CLASSES; i++) {
    float value;
    memcpy(&value, real + 128 + i * 4, 4);
    int q = (signed char)small[128 + i];
    if (fabs((double)value * 256 - 128 - q) > 2)
      fail_msg("class %d: %d, and %g in float32", i, q, (double)value);
  }
  free(small);
  free(real);
}

/* Once more, of weights that have scales already; folded at once. */
static void is_repeatable(void **state) {
  (void)state;
  const char *folder = prepare(0);
  struct run r = quantized(folder, "");
  run_free(&r);
  r = run("cd %s && q='--quantize a.npy --quantize b.npy' && "
          "%s weights q.net --from w8.st $q -o again.st && cmp w8.st again.st "
          "&& %s weights q.net --from w8.st --fold -o w8.bin && "
          "%s weights q.net --from w.st $q --fold -o w.bin && cmp w8.bin w.bin",
          folder, NETC_PATH, NETC_PATH, NETC_PATH);
  if (r.status)
    fail_msg("%s%s", r.out, r.err);
  run_free(&r);
}

/* A copy of the net takes scales, with settings of its own; another net does
 * not, nor does its ONNX; a file without an origin is taken. */
static void scales_of_another_net_are_refused(void **state) {
  static const struct {
    const char *change;
    int status;
  } rows[] = {{"cat q.net", 0},
              {"sed /infer/d q.net", 0},
              {"sed '1s/^/# a copy\\n/' q.net", 0},
              {"sed 's/conv 4 3x3 pad/& dilate=2/' q.net", 1}};
  (void)state;
  const char *folder = prepare(0);
  struct run r = quantized(folder, "");
  run_free(&r);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int strip = 0; strip < 2; strip++) {
      r = run(
          "cd %s && rm -f o.onnx && { %s; } >o.net && sed "
          "'s/\"netc.origin\"/\"%s.origin\"/' w8.st >o.st && %s run o.net "
          "--dtype i8 --weights o.st --input one.npy >o.out; echo $?; %s o.net "
          "--dtype i8 -o o.onnx --weights o.st; echo $?",
          folder, rows[i].change, strip ? "netd" : "netc", NETC_PATH,
          NETC_PATH);
      bool refused = rows[i].status && !strip;
      if (strcmp(r.out, refused ? "1\n1\n" : "0\n0\n") != 0)
        fail_msg("%s: %s%s", rows[i].change, r.out, r.err);
      if (refused)
        assert_holds(r.err, "its scales were measured on another net");
      run_free(&r);
    }
}

/* One value of many does not widen the range then. */
static void percentile_leaves_outliers_out(void **state) {
  (void)state;
  const char *folder = prepare(40);
  struct run r = quantized(folder, "");
  assert_near(row_of(&r, "input").scale, 41.0 / 255);
  run_free(&r);
  r = quantized(folder, "--percentile 99.9");
  struct row input = row_of(&r, "input");
  assert_true(input.to > 2.9 && input.to < 3.1);
  assert_true(input.from > -1.02 && input.from < -0.98);
  run_free(&r);
}

static void check(const char *folder, const char *arguments, int status,
                  const char *says) {
  struct run r =
      run("cd %s && %s weights %s -o x.st", folder, NETC_PATH, arguments);
  if (r.status != status)
    fail_msg("%s: %d: %s%s", arguments, r.status, r.out, r.err);
  assert_holds(r.err, says);
  assert_null(read_text(text_of("%s/x.st", folder), NULL));
  run_free(&r);
}

static void what_is_wrong_is_said(void **state) {
  (void)state;
  const char *folder = prepare(NAN);
  float none = 0, other[2 * 8 * 8 * 3] = {0};
  write_npy(folder, "none.npy", "0, 12, 12, 3", &none, 0);
  write_npy(folder, "other.npy", "2, 8, 8, 3", other, (size_t)2 * 8 * 8 * 3);
  write_in(folder, "roll.net",
           "net a\ninput 12x12x3\nconv 4 3x3 relu\nroll 2\n");
  check(folder, "q.net --random 1 --quantize b.npy", 1,
        "b.npy: error: sample 1 has a value that is NaN or infinite");
  check(folder, "q.net --random 1 --quantize none.npy", 1, "no samples");
  check(folder, "q.net --random 1 --quantize other.npy", 1,
        "it is 8x8x3, but input `input` is 12x12x3");
  check(folder, "q.net --random 1 --quantize one.npy", 1,
        "it is 12x12x3, but samples of input `input` must be Nx12x12x3");
  check(folder, "q.net --random 1 --quantize absent.npy", 3, "absent.npy");
  check(folder, "roll.net --random 1 --quantize a.npy", 1,
        "the runtime has no int8 kernel for `roll` of roll1");
  check(folder, "q.net --quantize a.npy", 2,
        "weights are missing: write `--from FILE` or `--random SEED`");
  check(folder, "q.net --random 1 --quantize a.npy --batch 2", 2, "--batch");
  check(folder, "- --random 1 --quantize a.npy <q.net", 2,
        "--quantize reads the net several times and prints a table, so both "
        "files need a name");
  struct run r = run("cd %s && cp a.npy x && %s weights q.net --random 1 "
                     "--quantize x -o x; s=$?; cmp x a.npy && exit $s",
                     folder, NETC_PATH);
  assert_int_equal(r.status, 2);
  assert_holds(
      r.err, "the output would replace the samples in x; give it another name");
  run_free(&r);
  check(folder, "q.net --random 1 --percentile 99", 2, "needs --quantize");
  check(folder, "q.net --random 1 --quantize a.npy --percentile 20", 2,
        "from 50 to 100");
}

/* Each input has its samples, and as many as the others. */
static void inputs_have_names(void **state) {
  (void)state;
  const char *folder = prepare(0);
  const float values[] = {-1, 0, 0, 1, 0, 2, 0, 0};
  write_in(folder, "two.net",
           "net a\ninput a 4\ninput b 4\nadd { from a } { from b }\nfc 3\n");
  write_npy(folder, "x.npy", "2, 4", values, 8);
  write_npy(folder, "y.npy", "1, 4", values + 4, 4);
  struct run r = run("cd %s && %s weights two.net --random 1 --quantize "
                     "a=x.npy --quantize b=y.npy --quantize b=y.npy -o x.st",
                     folder, NETC_PATH);
  if (r.status)
    fail_msg("%s%s", r.out, r.err);
  assert_near(row_of(&r, "a").scale, 3.0 / 255);
  assert_near(row_of(&r, "b").scale, 2.0 / 255);
  assert_near(row_of(&r, "add1").scale, 5.0 / 255);
  run_free(&r);
  remove(text_of("%s/x.st", folder));
  check(folder, "two.net --random 1 --quantize a=x.npy --quantize b=y.npy", 1,
        "input `b` has 1 samples, but `a` has 2");
  check(folder, "two.net --random 1 --quantize a=x.npy", 2,
        "input `b` has no samples: add --quantize b=FILE.npy");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_small),
      cmocka_unit_test(errors_of_decoders_are_small),
      cmocka_unit_test(runs_near_float32),
      cmocka_unit_test(is_repeatable),
      cmocka_unit_test(scales_of_another_net_are_refused),
      cmocka_unit_test(percentile_leaves_outliers_out),
      cmocka_unit_test(inputs_have_names),
      cmocka_unit_test(what_is_wrong_is_said),
  };
  return cmocka_run_group_tests_name("quantize", tests, NULL, NULL);
}
