/*
 * netc import of YOLO's YAML: parameters are those that ultralytics prints for
 * its models, less the 16 fixed ones that sum the bins of a box, and those of
 * PyTorch's modules for made.yaml.
 */
#define _XOPEN_SOURCE 700
#include "tests/imported.h"

#define FOLDER "tests/data/import/yolo/"

static void parameters_are_the_published_ones(void **state) {
  (void)state;
  static const struct {
    const char *file, *options;
    int64_t params;
    const char *holds;
  } files[] = {
      {"yolov5n", "", 1872157, "conv 16 6x6 /2 pad=2 bn(eps=1e-3) silu\n"},
      {"yolov8n", "", 3157200 - 16, "net yolov8n\ninput 640x640x3\n"},
      {"yolov8n", "--as x", 68229648 - 16, "net yolov8x\n"},
      {"yolov8m-pose", "", 26464462 - 16, "fork { more 51 51; output more1 }"},
      {"yolov10n", "", 2775520 - 16, "fork train { detect_dw"},
      {"yolov10m", "", 16576768 - 16, "let d = c/(c//64)"},
      {"yolo11n-cls", "", 2812104, "input 224x224x3"},
      {"yolo11s-seg", "", 10113248 - 16, "fork { proto 128 32; output masks }"},
      {"yolo11s-seg", "--as yolo11n", 2876848 - 16, "concat m6\n"},
      {"yolo11s-seg", "--as l", 27678368 - 16, "c3k2 256 2 true 0.25\n"},
      {"made", "--input 320x320x3", 32132, "dw 3 2\n"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s.yaml", files[i].file);
    char *source = import(path, files[i].options);
    assert_holds(source, files[i].holds);
    assert_int_equal(totals_of(path, source).trainable_count, files[i].params);
    free(source);
  }
}

/* The zoo has the same nets, written by hand. */
static void nets_are_those_of_the_zoo(void **state) {
  (void)state;
  static const char *const nets[][2] = {{"yolov8n.yaml --as", "yolov8"},
                                        {"yolo11s-det.yaml --as", "yolo11"}};
  const char *folder = scratch("zoo");
  struct run r =
      run("cp " FOLDER "yolov8n.yaml %s && sed 's/Segment, .nc.*/Detect, "
          "[nc]]/' " FOLDER "yolo11s-seg.yaml >%s/yolo11s-det.yaml",
          folder, folder);
  run_free(&r);
  for (size_t i = 0; i < 2; i++)
    for (const char *scale = "nsmlx"; *scale; scale++) {
      r = run("for net in '%s/%s %c' 'examples/zoo/%s.net -D size=%c'; do " NETC
              " $net --details 2>/dev/null | grep -m 1 total; done | uniq | "
              "wc -l",
              folder, nets[i][0], *scale, nets[i][1], *scale);
      assert_string_equal(r.out, "1\n");
      run_free(&r);
    }
}

/* A change of made.yaml by sed, and what is said. */
static struct slip_of_yaml {
  char name[32];
  const char *change, *says;
} slips[] = {
    {"module", "s/Focus/Warp/;s/SPP/CARAFE/",
     "netc does not know these modules: Warp, CARAFE\n   = help: `yolo export "
     "model=FILE.yaml format=onnx`"},
    {"nameless", "s/Focus/\"\"/",
     ":9: error: a module is [from, repeats, module, arguments]"},
    {"wide", "s/width_multiple: 0.5/width_multiple: 3e18/",
     "its multiples must be above 0 and at most 1000"},
    {"deep", "s/depth_multiple: 0.5/depth_multiple: 1001/",
     "its multiples must be above 0 and at most 1000"},
    {"ahead", "s/\\[8, -1\\]/[8, 30]/",
     ":21: error: a module reads 30, but it can read modules 0 to 10"},
    {"input", "s/\\[8, -1\\]/[8, -12]/", "it can read modules 0 to 10"},
    {"shape", "s/\\[8, -1\\]/[1, -1]/", "its modules do not fit together"},
    {"few", "s/- \\[-1, 1, Focus, /- [-1, Focus, /",
     ":9: error: a module is [from, repeats, module, arguments]"},
    {"open", "s/SPP, \\[64, \\[5, 9, 13\\]\\]\\]/SPP, [64/",
     "a list needs a comma between its values"},
    {"unclosed", "s/nc, anchors\\]\\]/nc, anchors/",
     "a list is not closed: `]` is missing"},
    {"quote", "s/bilinear/\"bilinear/", "a quote is not closed"},
    {"key", "s/^nc: 7/nc 7/", ":2: error: a line has no `key:`"},
    {"indented", "1,2d;s/^ch:/  ch:/", "the first key is indented"},
    {"backbone", "s/^backbone:/other:/", "netc"},
    {"channels", "s/Focus, .32, 3/Focus, [0, 3/", "`Focus` has no channels"},
    {"pools", "s/5, 9, 13/3, 9, 13/", "has pools other than 5, 9 and 13"},
    {"word", "s/Focus, .32, 3/Focus, [wide, 3/",
     "argument 1 of `Focus` must be an integer of at most 1048576"},
    {"activation", "s/nn.LeakyReLU(0.1)/nn.Warp()/",
     "the activation `nn.Warp()` is not supported"},
    {"deep", "s/\\[2, 1, 0\\]/[[[[[[[[[[2]]]]]]]]]]/",
     "lists are nested too deep"},
    {"repeats", "s/-1, 3, Bottleneck/-1, 3000, Bottleneck/",
     "a module is [from, repeats, module, arguments]"},
    {"tab", "s/^head:/head: \\&x/", "error: "},
};

static void check_slip(void **state) {
  const struct slip_of_yaml *s = *state;
  struct run r = import_changed(FOLDER, "made.yaml", s->change);
  assert_holds(r.err, s->says);
  assert_int_equal(r.status, 1);
  run_free(&r);
}

static void a_scale_is_chosen(void **state) {
  (void)state;
  const char *folder = scratch("scale");
  struct run r =
      run("cp " FOLDER "yolov8n.yaml %s/yolov8.yaml && " NETC
          " import %s/yolov8.yaml && " NETC " import %s/yolov8.yaml --as q",
          folder, folder, folder);
  assert_holds(r.out, "# The name of the file has no scale: n is read, the "
                      "first of n, s, m, l, x. `--as s` reads s.\nnet yolov8n");
  assert_holds(r.err, "error: `q` is no scale of this file\n   = help: its "
                      "scales are n, s, m, l, x");
  run_free(&r);
  expect(NETC " " FOLDER "yolov8n.yaml --depth 0", 0,
         "yolov8n   3.16 M parameters\n", "the file is read as YOLO");
  expect(NETC " import --types", 0, "YOLO\tC2f\tconcat", NULL);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(parameters_are_the_published_ones),
      cmocka_unit_test(nets_are_those_of_the_zoo),
      cmocka_unit_test(a_scale_is_chosen)};
  return run_table("yolo", slips, sizeof slips / sizeof *slips, sizeof *slips,
                   check_slip, others, sizeof others / sizeof *others);
}
