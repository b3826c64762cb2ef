/*
 * netc import of OpenVINO's IR: parameters are those that a program counts
 * which shares no code with netc, values those of PyTorch
 * (tools/openvino_truth.py).
 */
#define _XOPEN_SOURCE 700
#include "tests/imported.h"

#define FOLDER "tests/data/import/openvino/"

/* Without a .bin: sizes are in the .xml. */
static void parameters_are_those_of_the_constants(void **state) {
  (void)state;
  static const struct {
    const char *file;
    int64_t params;
    const char *holds;
  } files[] = {
      {"esaiaswt__age-gender-recognition-retail-0013", 2138019, "output prob"},
      {"opencv__SampLeNet", 62006, "fc 120 relu"},
      {"terryshyan__face-detection-retail-0005", 1020757,
       "# DetectionOutput `527` and its boxes are left out: they have no "
       "weights.\n"},
      {"terryshyan__landmarks-regression-retail-0009", 190616,
       "conv 10 1x1 sigmoid"},
      {"BenedictusAryo__face-detection-adas-0001", 1052994, "scale bias"},
      {"old", 8 + 108 + 6 + 1 + 120 + 4 + 4 * 144 * 5 + 5, "shuffle 2"},
      {"eight", 3 * 18 + 12 + 5 * 64,
       "# The file's 8-bit weights are written as float32.\n"},
      {"made", 2 * 54 + 6 + 6 + 6 * 20 + 35 + 7 + 21, "pad 1x1:0"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s.xml", files[i].file);
    char *source = import(path, "");
    assert_holds(source, files[i].holds);
    assert_int_equal(totals_of(path, source).trainable_count, files[i].params);
    free(source);
    source = import(path, "--flat");
    assert_int_equal(totals_of(path, source).trainable_count, files[i].params);
    free(source);
  }
}

static void write_bin(const char *path) {
  static float values[248044 / 4];
  for (int64_t i = 0; i < 248044 / 4; i++)
    values[i] = (float)((double)(i * 7919 % 1000 - 500) / 5000);
  write_text(path, (const char *)values, sizeof values);
}

static void check_values(const char *folder, const char *name) {
  char net[600], options[900];
  snprintf(net, sizeof net, "%s/%s.net", folder, name);
  struct run r =
      run("cp " FOLDER "%s.xml %s && " NETC " import %s/%s.xml -o %s "
          "--weights %s/w.safetensors",
          name, folder, folder, name, net, folder);
  assert_string_equal(r.err, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
  snprintf(options, sizeof options,
           "--weights %s/w.safetensors --input " FOLDER "%s.x.npy", folder,
           name);
  char *values = values_of(folder, net, options);
  r = run("od -An -tfF -j128 " FOLDER "%s.y.npy", name);
  assert_true(strlen(r.out) > 20);
  assert_near(values, r.out);
  run_free(&r);
  free(values);
}

static void values_are_those_of_pytorch(void **state) {
  (void)state;
  const char *folder = scratch("values");
  char path[600];
  snprintf(path, sizeof path, "%s/opencv__SampLeNet.bin", folder);
  write_bin(path);
  check_values(folder, "opencv__SampLeNet");
  static const char *const made[] = {"made", "old", "eight"};
  for (int i = 0; i < 3; i++) {
    struct run r = run("cp " FOLDER "%s.bin %s", made[i], folder);
    run_free(&r);
    check_values(folder, made[i]);
  }
}

/* A change of a file's text, and what is said. */
static struct mistake {
  char name[32];
  const char *change; /* of sed */
  const char *says;
  const char *file;
} mistakes[] = {
    {"old", "s/version=.11./version=\"2\"/",
     ":2: error: IR version 2 is not supported; versions from 3 are", "made"},
    {"no-version", "s/ version=.11.//", "no <net> with a version", "made"},
    {"cut", "40,$d", "error: not XML: no element found", "made"},
    {"text", "s/<layers>/<layers/", "error: not XML: ", "made"},
    {"twice", "s/layer id=.1. /layer id=\"0\" /",
     "two layers have the same `id`", "made"},
    {"edge", "s/from-layer=.0. /from-layer=\"99\" /",
     "an edge joins ports that do not exist or are taken", "made"},
    {"unknown", "s/type=.HSwish./type=\"Warp\"/",
     "no equivalent of these operators: Warp (1)", "made"},
    {"no-input", "s/<edge from-layer=.0.[^>]*>//",
     "input 0 is not produced by any earlier layer", "made"},
    {"groups",
     "s/type=.Convolution/type=\"GroupConvolution/;s/shape=.2, 3, 2,"
     " 3, 3./shape=\"2, 3\"/",
     "error: ", "made"},
    {"shape", "s/shape=.5, 7./shape=\"5, 8\"/", "error: ", "made"},
    {"negative", "s/shape=.5, 7./shape=\"5, -7\"/", "error: ", "made"},
    {"offset", "s/offset=.0./offset=\"-1\"/",
     "(Const): it has no shape, offset or size that is supported", "made"},
    {"length", "s/size=.432./size=\"440\"/",
     "the values of `Const_1` have 432 bytes, but the model gives 440", "made"},
    {"type", "s/element_type=.f16./element_type=\"u4\"/",
     "values of u4 are not supported", "made"},
    {"bytes",
     "s/element_type=\"f16\"/element_type=\"i8\"/;s/precision=\"FP16\"/"
     "precision=\"I8\"/",
     " bytes, but the model gives 12", "made"},
    {"order", "s/size=.32./size=\"31\"/",
     "input 1 does not have supported integers", "made"},
    {"blob", "s/size=.432./size=\"863\"/",
     "`Convolution_2` (Convolution): its weights have 863 bytes, which do not "
     "fit 6x2x3x3 values",
     "old"},
    {"kernel", "s/kernel=.3,3. strides=.1/kernel=\"\" strides=\"1/",
     "its kernel or groups are not supported", "old"},
    {"words", "s/operation=.sum./operation=\"xor\"/",
     "its operation `xor` is not supported", "old"},
    {"pads", "s/antialias=.0./antialias=\"1\"/",
     "its pads or antialias are not supported", "old"},
    {"crop", "s/axis=.1. offset/axis=\"9\" offset/", "its axis does not exist",
     "old"},
    {"length-of-all", "s/across_spatial=.0./across_spatial=\"1\"/",
     "only the length along channels is supported", "old"},
    {"shuffled", "s/axis=.1. group=.2./axis=\"1\" group=\"4\"/",
     "only channels of a map in equal groups are supported", "old"},
    {"axes",
     "s|<dim>8</dim>|<dim>8</dim><dim>1</dim><dim>1</dim><dim>1</dim>"
     "<dim>1</dim><dim>1</dim>|g",
     "a port has more than 12 axes", "made"},
};

static void check_mistake(void **state) {
  const struct mistake *m = *state;
  const char *folder = scratch("mistakes");
  struct run r = run("cp " FOLDER "%s.bin %s/made.bin && sed '%s' " FOLDER
                     "%s.xml >%s/made.xml && ! cmp -s %s/made.xml " FOLDER
                     "%s.xml && timeout 10 " NETC
                     " import %s/made.xml --weights %s/w -o %s/x.net",
                     m->file, folder, m->change, m->file, folder, folder,
                     m->file, folder, folder, folder);
  assert_holds(r.err, m->says);
  assert_int_equal(r.status, 1);
  run_free(&r);
}

/* Constants that are read, and those that are left out. */
static void what_a_bin_would_say_is_told(void **state) {
  (void)state;
  const char *folder = scratch("absent");
  struct run r = run("cp " FOLDER "made.xml %s && " NETC " import %s/made.xml",
                     folder, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "(Pad): its numbers are in `made.bin`, which cannot be "
                      "read: No such file");
  assert_holds(r.err, "= help: put that file into the folder of the .xml");
  run_free(&r);
  r = run("sed s/HSwish/Warp/g " FOLDER "made.xml >%s/made.xml && cp " FOLDER
          "made.bin %s && " NETC " import --allow-unknown %s/made.xml",
          folder, folder, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "(Warp) is left out, and all layers that depend on it: "
                      "netc has no equivalent.\n");
  assert_holds(r.out, "# Their inputs become outputs.\n");
  run_free(&r);
  r = run("sed s/Convolution/Warp/g " FOLDER "made.xml >%s/made.xml && " NETC
          " import --allow-unknown %s/made.xml",
          folder, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "made.xml: error: no layer of the net remains");
  run_free(&r);
  expect("cat " FOLDER "opencv__SampLeNet.xml | " NETC " import -", 0,
         "net SampLeNet\ninput 32x32x3\n", NULL);
  expect(NETC " " FOLDER "opencv__SampLeNet.xml --depth 0 --units bytes", 0,
         "\n  files      weights 248,024 B, ",
         "note: the file is read as OpenVINO");
  expect(NETC " import --types", 0, "OpenVINO\tGroupConvolution\tconv", NULL);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(parameters_are_those_of_the_constants),
      cmocka_unit_test(values_are_those_of_pytorch),
      cmocka_unit_test(what_a_bin_would_say_is_told)};
  return run_table("openvino", mistakes, sizeof mistakes / sizeof *mistakes,
                   sizeof *mistakes, check_mistake, others,
                   sizeof others / sizeof *others);
}
