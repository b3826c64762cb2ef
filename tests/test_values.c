/*
 * netc import of nets whose weights lie beside them, Darknet's and Caffe's,
 * and of whole modules of PyTorch: what is computed with them is what PyTorch
 * computes (tools/value_truth.py), and every byte of them belongs to a layer.
 */
#define _XOPEN_SOURCE 700
#include <string.h>

#include "tests/imported.h"

#define FOLDER "tests/data/import/values"

/* The net is written with its weights, and run. */
static void check_values(const char *net, const char *options,
                         const char *truth) {
  const char *folder = scratch("values");
  char path[600], run_options[1500];
  snprintf(path, sizeof path, "%s/a.net", folder);
  struct run made =
      run("%s import " FOLDER "/%s %s -o %s --weights %s/a.safetensors", NETC,
          net, options, path, folder);
  if (made.status)
    print_error("%s", made.err);
  assert_int_equal(made.status, 0);
  run_free(&made);
  snprintf(run_options, sizeof run_options,
           "--weights %s/a.safetensors --input " FOLDER "/%s.in.npy", folder,
           truth);
  char *values = values_of(folder, path, run_options);
  struct run expected = run("od -An -tfF -j128 " FOLDER "/%s.out.npy", truth);
  assert_true(strlen(expected.out) > 50);
  assert_near(values, expected.out);
  free(values);
  run_free(&expected);
}

static void values_are_those_of_pytorch(void **state) {
  (void)state;
  check_values("darknet.cfg", "", "darknet");
  check_values("darknet.cfg", "--flat", "darknet");
  check_values("caffe.prototxt", "", "caffe");
  check_values("caffe.prototxt", "--from " FOLDER "/caffe.old.caffemodel",
               "caffe");
}

/* Without an import between: of values that a file has, or has beside it. */
static void files_are_run_with_their_own_weights(void **state) {
  (void)state;
  static const struct {
    const char *net, *options, *truth;
  } runs[] = {
      {FOLDER "/darknet.cfg", "--input " FOLDER "/darknet.in.npy",
       FOLDER "/darknet.out.npy"},
      {FOLDER "/caffe.prototxt", "--input " FOLDER "/caffe.in.npy",
       FOLDER "/caffe.out.npy"},
      {FOLDER "/caffe.prototxt",
       "--input " FOLDER "/caffe.in.npy --weights " FOLDER
       "/caffe.old.caffemodel",
       FOLDER "/caffe.out.npy"},
      {"tests/data/import/tflite/made.tflite",
       "--dtype f32 --input tests/data/import/tflite/made.x.npy",
       "tests/data/import/tflite/made.y.npy"},
  };
  const char *folder = scratch("run");
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char *values = values_of(folder, runs[i].net, runs[i].options);
    struct run expected = run("od -An -tfF -j128 %s", runs[i].truth);
    assert_true(strlen(expected.out) > 4);
    assert_near(values, expected.out);
    free(values);
    run_free(&expected);
  }
  /* Nothing is beside it. */
  struct run r = run("cp " FOLDER "/darknet.cfg %s && cd %s && "
                     "%s run darknet.cfg --random 1 >/dev/null && "
                     "%s run darknet.cfg --input "
                     "$OLDPWD/" FOLDER "/darknet.in.npy; test $? = 2",
                     folder, folder, NETC_PATH, NETC_PATH);
  assert_holds(r.err, "weights are missing: write `--weights FILE` or "
                      "`--random SEED`");
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void what_is_not_taken_is_said(void **state) {
  (void)state;
  const char *folder = scratch("said");
  struct run r = run("%s import " FOLDER "/caffe.prototxt --weights %s/a.st",
                     NETC, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "# The .caffemodel has weights for layers that the "
                      "prototxt lacks, such as `loss1/classifier`.\n");
  run_free(&r);
  r = run("%s weights " FOLDER "/caffe.old.caffemodel", NETC);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "conv1.0             F32      6x2x3x3 ");
  assert_holds(r.out, "17 tensors, 4112 bytes; 1028 parameters; Caffe\n");
  run_free(&r);
}

/* A tree of torch.nn's modules is a net; others are code, by name. */
static void modules_are_nets(void **state) {
  (void)state;
  static const char *const refused[][2] = {
      {"modules.pt", "give it: --input HEIGHTxWIDTHx2"},
      {"modules.pt --input 9x7x3", "`0` (Conv2d): it needs 2 channels or "
                                   "features, but its input has 3"},
      {"modules.pt --input 3x3x2", "`9` (Linear): it needs 60 channels or "},
      {"own.pt", "the computation of such a module is code, which is not in "
                 "the file"},
      {"normed.pt", "`0` (Linear): it has hooks, which are code"},
      {"twice.pt", "`2` (Linear): it shares its weight with another module"}};
  check_values("modules.pt", "--input 9x7x2", "modules");
  check_values("modules.pt", "--input 9x7x2 --flat", "modules");
  check_values("modules.old.pt", "--input 9x7x2", "modules");
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    struct run r = run("%s import " FOLDER "/%s", NETC, refused[i][0]);
    assert_int_equal(r.status, 1);
    assert_string_equal(r.out, "");
    assert_holds(r.err, refused[i][1]);
    run_free(&r);
  }
  char *source = import(FOLDER "/dense.pt", "");
  assert_string_equal(source, "net dense\ninput 3\nfc 2 nobias tanh\n");
  free(source);
  struct run r = run("%s " FOLDER "/modules.pt --input 9x7x2 --brief; "
                     "%s " FOLDER "/modules.pt",
                     NETC, NETC);
  assert_int_equal(r.status, 1);
  assert_holds(r.out, "modules   747 parameters\n");
  assert_holds(r.out, " gradients 4.50, weights 2.92,");
  assert_holds(r.err, "the size of its input is not in the file");
  run_free(&r);
}

/* An import with other weights: nothing is written. */
static void check_refused(const char *net, const char *from, int status,
                          const char *says) {
  const char *folder = scratch("refused");
  struct run r = run("%s import %s %s --weights %s/a.st; code=$?; "
                     "test ! -e %s/a.st || code=99; exit $code",
                     NETC, net, from, folder, folder);
  assert_int_equal(r.status, status);
  assert_string_equal(r.out, "");
  assert_holds(r.err, says);
  run_free(&r);
}

static void bytes_that_do_not_fit_name_the_layer(void **state) {
  (void)state;
  const char *folder = scratch("bytes");
  size_t length;
  char *file = read_text(FOLDER "/darknet.weights", &length);
  char path[600], from[700];
  snprintf(path, sizeof path, "%s/a.weights", folder);
  snprintf(from, sizeof from, "--from %s", path);
  write_text(path, file, 400);
  check_refused(FOLDER "/darknet.cfg", from, 1,
                "darknet.cfg:6: error: layer 0, [convolutional], needs 162 "
                "values for its weight, but ");
  write_text(path, file, length - 1);
  check_refused(FOLDER "/darknet.cfg", from, 1,
                "darknet.cfg:50: error: layer 9, [connected], needs 35 values "
                "for its weight, but ");
  file = realloc(file, length + 4);
  memset(file + length, 0, 4);
  write_text(path, file, length + 4);
  check_refused(FOLDER "/darknet.cfg", from, 1,
                "darknet.cfg:50: error: 4 bytes of ");
  write_text(path, file, 10);
  check_refused(FOLDER "/darknet.cfg", from, 1,
                "it ends too early: some of its data are missing");
  file[1] = 8;
  write_text(path, file, length);
  check_refused(FOLDER "/darknet.cfg", from, 1,
                "has no version of Darknet's weights");
  free(file);
}

/* Where they lie, and where they go to. */
static void files_are_asked_for(void **state) {
  (void)state;
  check_refused(FOLDER "/darknet.cfg", "--from " FOLDER "/no.weights", 1,
                "--from FILE.weights names the file");
  check_refused("tests/data/import/caffe/cifar10_quick.prototxt", "", 1,
                "cifar10_quick.caffemodel: No such file");
  check_refused("tests/data/import/caffe/cifar10_quick.prototxt",
                "--from " FOLDER "/caffe.caffemodel", 1,
                "cifar10_quick.prototxt:8: error: `conv1` (Convolution): blob "
                "0 has 108 values in ");
  check_refused("tests/data/import/caffe/cifar10_quick.prototxt",
                "--from " FOLDER "/caffe.prototxt", 1, "error: the weights ");
  check_refused("- <" FOLDER "/darknet.cfg", "", 2,
                "--weights needs a source: add `--from FILE.weights`");
  check_refused("tests/data/import/onnx/tiny.onnx", "--from x.weights", 2,
                "--from: tests/data/import/onnx/tiny.onnx contains its own "
                "weights, if");
  check_refused("tests/data/import/darknet/gru.cfg",
                "--from " FOLDER "/darknet.weights", 1,
                "the weights of [gru] are not converted");
  struct run r = run("%s import " FOLDER "/darknet.cfg --from x.weights", NETC);
  assert_int_equal(r.status, 2);
  assert_holds(r.err, "--from needs an output: add `--weights W.safetensors`");
  run_free(&r);
}

/* Every beginning of a .caffemodel, and every byte of it another one. */
static void broken_files_are_errors(void **state) {
  (void)state;
  size_t length;
  char *file = read_text(FOLDER "/caffe.old.caffemodel", &length);
  char path[600], from[700];
  snprintf(path, sizeof path, "%s/a.caffemodel", scratch("broken"));
  snprintf(from, sizeof from, "--from %s", path);
  for (size_t i = 1; i < length; i += i < 700 ? 23 : 301) {
    write_text(path, file, i);
    check_refused(FOLDER "/caffe.prototxt", from, 1, "error: ");
    char before = file[i];
    file[i] ^= 0x7f;
    write_text(path, file, length);
    file[i] = before;
    struct run r = run("%s weights %s", NETC, path);
    assert_true(r.status == 0 || r.status == 1);
    run_free(&r);
  }
  free(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_pytorch),
      cmocka_unit_test(files_are_run_with_their_own_weights),
      cmocka_unit_test(what_is_not_taken_is_said),
      cmocka_unit_test(modules_are_nets),
      cmocka_unit_test(bytes_that_do_not_fit_name_the_layer),
      cmocka_unit_test(files_are_asked_for),
      cmocka_unit_test(broken_files_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
