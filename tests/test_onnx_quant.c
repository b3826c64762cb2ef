/*
 * ONNX models of eight bits: QuantizeLinear and DequantizeLinear around the
 * operators, or one operator for all of that, are a net that computes in int8,
 * with the bytes that onnxruntime gives (tools/onnx_quant.py, tests/onnx.js).
 */
#define _XOPEN_SOURCE 700
#include "onnx.pb-c.h"

#include "base/arena.h"

#include "tests/imported.h"

#define FOLDER "tests/data/import/quant/"

/* The bytes of an array of int8 after its header. */
static const char *values_at(const char *bytes) {
  return bytes + 10 + (unsigned char)bytes[8] + 256 * (unsigned char)bytes[9];
}

/* The net of FOLDER/x.net gives these 40 bytes, or differs by so many steps. */
static void gives(const char *folder, const char *wanted, int most) {
  char path[512];
  size_t size;
  struct run r = run("%s run %s/x.net --batch 4 --weights %s/w.safetensors "
                     "--dtype i8 --input " FOLDER "x.npy -o %s/y.npy",
                     NETC, folder, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  snprintf(path, sizeof path, "%s/y.npy", folder);
  char *bytes = read_text(path, &size);
  const char *ours = values_at(bytes);
  assert_int_equal(bytes + size - ours, 40);
  for (int i = 0; i < 40; i++)
    assert_in_range((signed char)ours[i] - (signed char)wanted[i] + most, 0,
                    2 * most);
  free(bytes);
}

static void takes(const char *folder, const char *model) {
  struct run r = run("%s import %s --weights %s/w.safetensors -o %s/x.net",
                     NETC, model, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void writes(const char *folder) {
  struct run r = run("%s %s/x.net --weights %s/w.safetensors -o %s/x.onnx",
                     NETC, folder, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static const char written[] = "net quant\ninput 16x16x3\nconv 8 3x3 pad relu\n"
                              "add { dwconv 3x3 pad relu; conv 8 1x1 } {}\n"
                              "pool 2x2 -> 8x8x8\ngap      -> 1x1x8\n"
                              "fc 10    -> 10\ninfer dtype=i8\n";

static const char others[] =
    "net quant\ninput 16x16x3\nconv 8 3x3 pad leaky(0.1)\n"
    "avgpool 2x2 -> 8x8x8\nconcat { silu } {}\n"
    "gap                  -> 1x1x16\nfc 10 nobias softmax -> 10\n"
    "infer dtype=i8\n";

static const struct {
  const char *name, *values, *source;
} models[] = {{"qdq", "y", written},
              {"unsigned", "y", written},
              {"qlinear", "y", written},
              {"operators", "operators.y", others}};

static void has_source(const char *folder, const char *source) {
  char path[512];
  snprintf(path, sizeof path, "%s/x.net", folder);
  char *text = read_text(path, NULL);
  assert_string_equal(text, source);
  free(text);
}

/* As they are, and after -o x.onnx, which has the same numbers. */
static void they_run_in_int8_as_onnxruntime_does(void **state) {
  (void)state;
  const char *folder = scratch("quant");
  char path[512], own[512];
  snprintf(own, sizeof own, "%s/x.onnx", folder);
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    size_t size;
    snprintf(path, sizeof path, FOLDER "%s.npy", models[i].values);
    char *bytes = read_text(path, &size);
    const char *wanted = values_at(bytes);
    assert_int_equal(bytes + size - wanted, 40);
    snprintf(path, sizeof path, FOLDER "%s.onnx", models[i].name);
    takes(folder, path);
    has_source(folder, models[i].source);
    gives(folder, wanted, 0);
    writes(folder);
    takes(folder, own);
    has_source(folder, models[i].source);
    gives(folder, wanted, 0);
    free(bytes);
  }
}

/* Real weights get scales when the model is written, as in the runtime. */
static void scales_from_samples_are_written(void **state) {
  (void)state;
  const char *folder = scratch("samples");
  char path[512];
  size_t size;
  snprintf(path, sizeof path, "%s/x.net", folder);
  write_text(path, written, strlen(written));
  struct run r = run("%s weights %s --random 1 --quantize " FOLDER
                     "x.npy -o %s/w.safetensors",
                     NETC, path, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  r = run("%s run %s --batch 4 --weights %s/w.safetensors --input " FOLDER
          "x.npy -o %s/y.npy",
          NETC, path, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  snprintf(path, sizeof path, "%s/y.npy", folder);
  char *bytes = read_text(path, &size);
  assert_int_equal(bytes + size - values_at(bytes), 40);
  writes(folder);
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  takes(folder, path);
  has_source(folder, written);
  gives(folder, values_at(bytes), 1);
  free(bytes);
  r = run("%s %s/x.net --weights %s/w.safetensors --opset 12 -o %s/y.onnx",
          NETC, folder, folder, folder);
  assert_int_equal(r.status, 2);
  assert_holds(r.err, "needs `--opset 13` or later");
  run_free(&r);
}

/* Changes to the file, and the messages that follow. */
static Onnx__TensorProto *constant(Onnx__GraphProto *g, const char *name) {
  for (size_t i = 0; i < g->n_initializer; i++)
    if (strcmp(g->initializer[i]->name, name) == 0)
      return g->initializer[i];
  fail_msg("no %s", name);
  return NULL;
}

static Onnx__NodeProto *node(Onnx__GraphProto *g, const char *name) {
  for (size_t i = 0; i < g->n_node; i++)
    if (strcmp(g->node[i]->name, name) == 0)
      return g->node[i];
  fail_msg("no %s", name);
  return NULL;
}

static void without_steps(Onnx__GraphProto *g) {
  memset(constant(g, "c1_s")->raw_data.data, 0, 4);
}

static void by_input(Onnx__GraphProto *g) {
  strcpy(node(g, "c1_q")->input[1], "x");
}

static void along_no_axis(Onnx__GraphProto *g) {
  node(g, "c1.weight_d")->attribute[0]->i = 1;
}

struct change {
  void (*change)(Onnx__GraphProto *g);
  const char *says;
};

static void write_changed(const char *path, const struct change *c) {
  size_t size;
  char *bytes = read_text(FOLDER "qdq.onnx", &size);
  Onnx__ModelProto *model =
      onnx__model_proto__unpack(NULL, size, (uint8_t *)bytes);
  assert_non_null(model);
  c->change(model->graph);
  size = onnx__model_proto__get_packed_size(model);
  uint8_t *packed = malloc(size);
  onnx__model_proto__pack(model, packed);
  write_text(path, (char *)packed, size);
  free(packed);
  onnx__model_proto__free_unpacked(model, NULL);
  free(bytes);
}

static void other_steps_are_refused(void **state) {
  (void)state;
  static const struct change changes[] = {
      {without_steps, "one of its scales is not above 0"},
      {by_input, "its scale and zero point are not constants that fit"},
      {along_no_axis, "its scales do not match an axis"},
  };
  const char *folder = scratch("steps");
  char path[512];
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    write_changed(path, &changes[i]);
    struct run r = run("%s import %s", NETC, path);
    assert_int_equal(r.status, 1);
    assert_holds(r.err, changes[i].says);
    run_free(&r);
  }
}

/* Weights that stay real are not of 8 bits: neither is the net. */
static void real_weight(Onnx__GraphProto *g) {
  Onnx__NodeProto *n = node(g, "c3.weight_d");
  strcpy(n->op_type, "Cast");
  strcpy(n->attribute[0]->name, "to");
  n->attribute[0]->i = 1;
  while (n->n_input > 1)
    free(n->input[--n->n_input]);
}

static void what_is_not_all_of_8_bits_is_float32(void **state) {
  (void)state;
  static const struct change change = {real_weight, NULL};
  const char *folder = scratch("mixed");
  char path[512];
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  write_changed(path, &change);
  char *source = import(path, "");
  assert_holds(source, "# Only some layers of the file have 8 bits: all are "
                       "read as float32.");
  assert_null(strstr(source, "dtype=i8"));
  free(source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(they_run_in_int8_as_onnxruntime_does),
      cmocka_unit_test(scales_from_samples_are_written),
      cmocka_unit_test(other_steps_are_refused),
      cmocka_unit_test(what_is_not_all_of_8_bits_is_float32)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
