/*
 * Control flow in ONNX files: an If whose condition is constant is the graph
 * that it picks; a detector of torchvision is read up to its heads.
 */
#define _XOPEN_SOURCE 700
#include "onnx.pb-c.h"

#include "base/arena.h"

#include "tests/imported.h"

#define FOLDER "tests/data/import/control/"

/* sqrt |x| * (2, 3, 4) + (1, 0, -1), two graphs deep. */
static void the_branch_that_is_taken_is_read(void **state) {
  (void)state;
  const char *folder = scratch("branch");
  char net[512], options[1024], x[512];
  char numbers[128] = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', "
                      "'fortran_order': False, 'shape': (1, 2, 3), }";
  const float values[] = {1, -4, 9, 16, 0, -1};
  struct run r =
      run("%s import " FOLDER "branch.onnx --weights %s/w.safetensors "
          "-o %s/x.net",
          NETC, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  snprintf(net, sizeof net, "%s/x.net", folder);
  snprintf(x, sizeof x, "%s/x.npy", folder);
  char *source = read_text(net, NULL);
  assert_string_equal(source, "net branch\ninput 2x3\nabs\nsqrt\nscale bias\n");
  for (size_t i = 10 + strlen(numbers + 10); i < 127; i++)
    numbers[i] = ' ';
  numbers[127] = '\n';
  char file[128 + sizeof values];
  memcpy(file, numbers, 128);
  memcpy(file + 128, values, sizeof values);
  write_text(x, file, sizeof file);
  snprintf(options, sizeof options, "--weights %s/w.safetensors --input %s",
           folder, x);
  char *given = values_of(folder, net, options);
  char wanted[] = "3 6 11 9 0 3";
  assert_near(given, wanted);
  free(given);
  free(source);
}

/* Changes to the file, and the messages that follow. */
static void by_input(Onnx__GraphProto *g) {
  strcpy(g->node[4]->input[0], "x");
}

static void with_a_graph_less(Onnx__GraphProto *g) {
  strcpy(g->node[4]->attribute[0]->name, "other");
}

static void with_more_outputs(Onnx__GraphProto *g) {
  g->node[4]->attribute[0]->g->n_output = 0;
}

static void with_no_end(Onnx__GraphProto *g) {
  g->node[4]->attribute[0]->g->n_node = 2;
}

static void with_a_loop(Onnx__GraphProto *g) {
  strcpy(g->node[4]->attribute[0]->g->node[0]->input[0], "r");
}

static void of_many_conditions(Onnx__GraphProto *g) {
  strcpy(g->node[4]->input[0], "shape");
}

static const struct branch_mistake {
  void (*make)(Onnx__GraphProto *g);
  const char *says;
} mistakes[] = {
    {by_input, "its condition depends on the inputs"},
    {with_a_graph_less, "it has no graph `else_branch`"},
    {with_more_outputs, "its graph has 0 outputs, but the operator has 1"},
    {with_no_end, "it reads `s`, which no node before it produces"},
    {with_a_loop, "it reads `r`, which no node before it produces"},
    {of_many_conditions, "its condition is not one value"},
};

static void *take_in(void *arena, size_t size) {
  return arena_alloc(arena, size ? size : 1, 1);
}

static void leave_in(void *arena, void *block) {
  (void)arena;
  (void)block;
}

static void write_wrong(const char *path, const char *bytes, size_t size,
                        void (*make)(Onnx__GraphProto *g)) {
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  ProtobufCAllocator in_arena = {take_in, leave_in, &arena};
  Onnx__ModelProto *model =
      onnx__model_proto__unpack(&in_arena, size, (const uint8_t *)bytes);
  assert_non_null(model);
  make(model->graph);
  uint8_t *packed =
      arena_alloc(&arena, onnx__model_proto__get_packed_size(model), 1);
  write_text(path, (char *)packed, onnx__model_proto__pack(model, packed));
  arena_close(&arena);
}

static void other_branches_are_refused(void **state) {
  (void)state;
  char path[512];
  size_t size;
  char *bytes = read_text(FOLDER "branch.onnx", &size);
  snprintf(path, sizeof path, "%s/x.onnx", scratch("branches"));
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    write_wrong(path, bytes, size, mistakes[i].make);
    struct run r = run("%s import %s", NETC, path);
    assert_int_equal(r.status, 1);
    assert_holds(r.err, mistakes[i].says);
    run_free(&r);
  }
  free(bytes);
}

/* The readable part of a detector: its source, with weights beside it. */
static char *import_heads(const char *name, const char *options,
                          const char *folder, char net[512]) {
  struct run r = run("%s import " FOLDER "%s.onnx --allow-unknown %s --weights "
                     "%s/w.safetensors -o %s/x.net",
                     NETC, name, options, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  snprintf(net, 512, "%s/x.net", folder);
  return read_text(net, NULL);
}

/* One picture without a batch, 3x16x24, and two maps of anchors. */
static void a_detector_is_read_up_to_its_heads(void **state) {
  (void)state;
  const char *folder = scratch("detector");
  char net[512], options[1024];
  struct run r = run("%s import " FOLDER "detector.onnx", NETC);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "NonZero (4); the first is `/NonZero`");
  assert_holds(r.err, "--allow-unknown leaves them out");
  run_free(&r);
  char *source = import_heads("detector", "", folder, net);
  assert_holds(source, "# `/Greater` (Greater) and 1 more are left out, and "
                       "all layers that depend on them: netc has no "
                       "equivalent.\n# Their inputs become outputs.\n");
  assert_holds(source, "\ninput 16x24x3\n");
  assert_int_equal(totals_of(net, source).param_count, 3523);
  snprintf(options, sizeof options,
           "--weights %s/w.safetensors --input " FOLDER
           "detector.x.npy -o Sigmoid=%s/a.npy -o Sigmoid_1=%s/b.npy",
           folder, folder, folder);
  r = run("%s run %s %s && od -v -An -tfF -j128 %s/a.npy && "
          "od -v -An -tfF -j128 %s/b.npy",
          NETC, net, options, folder, folder);
  assert_int_equal(r.status, 0);
  char *given = strdup(strstr(r.out, "\n ") ? r.out : "");
  run_free(&r);
  r = run("od -v -An -tfF -j128 " FOLDER "detector.y.npy");
  assert_near(given, r.out);
  run_free(&r);
  free(given);
  free(source);
}

/* The values of an output, which are those of a file. */
static void check_output(const char *folder, const char *name,
                         const char *wanted) {
  struct run r = run("od -v -An -tfF -j128 %s/%s.npy", folder, name);
  char *given = strdup(r.out);
  assert_true(strlen(given) > 20);
  run_free(&r);
  r = run("od -v -An -tfF -j128 " FOLDER "%s.npy", wanted);
  assert_near(given, r.out);
  run_free(&r);
  free(given);
}

/* Two stages: how many regions there are is said, and their heads are read. */
static void heads_of_regions_are_read(void **state) {
  (void)state;
  const char *folder = scratch("regions");
  char net[512];
  char *source = import_heads(
      "regions", "--dim box_roi_pool=2 --dim mask_roi_pool=3", folder, net);
  assert_holds(source,
               "# `box_roi_pool` is pooled by RoiAlign. The number of regions "
               "depends on values; --dim box_roi_pool=N sets it, now 2.\n");
  assert_holds(source, "\ninput box_roi_pool 2x3x3x6\n");
  assert_holds(source, "\ninput mask_roi_pool 3x4x4x6\n");
  assert_holds(source, "\nconv 5 1x3x3 pad relu -> 3x4x4x5\n");
  assert_holds(source, "\ndeconv 4 1x2x2 /1x2x2 relu -> 3x8x8x4\n");
  assert_null(strstr(source, "are left out with them"));
  assert_int_equal(totals_of(net, source).trainable_count, 2238);
  int64_t macs = totals_of(net, source).mac_count;
  free(source);
  struct run r =
      run("%s run %s --weights %s/w.safetensors --input picture=" FOLDER
          "detector.x.npy --input box_roi_pool=" FOLDER
          "regions.boxes.npy --input mask_roi_pool=" FOLDER
          "regions.masks.npy -o roi_heads_Softmax=%s/scores.npy -o "
          "roi_heads_Sigmoid=%s/shown.npy",
          NETC, net, folder, folder, folder);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  check_output(folder, "scores", "regions.scores");
  check_output(folder, "shown", "regions.shown");
  /* One of each, unless it is said. */
  source = import(FOLDER "regions.onnx", "--allow-unknown");
  assert_holds(source, "\ninput box_roi_pool 1x3x3x6\n");
  int64_t box = 54 * 8 + 8 * 8 + 8 * 3 + 8 * 12;
  int64_t mask =
      16 * 9 * (6 * 5 + 5 * 7) + 16 * 4 * 7 * 4 + 64 * 4 * 3; /* 4x4, 8x8 */
  assert_int_equal(macs - totals_of("a.net", source).mac_count, box + 2 * mask);
  free(source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_branch_that_is_taken_is_read),
      cmocka_unit_test(other_branches_are_refused),
      cmocka_unit_test(a_detector_is_read_up_to_its_heads),
      cmocka_unit_test(heads_of_regions_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
