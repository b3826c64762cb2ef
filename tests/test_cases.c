/*
 * Operators and layers of other frameworks, each in a model of its own or a few
 * of them, and files that cannot be read: the source that `netc import` writes,
 * or why it refuses. The cases are in tests/cases.
 */
#define _XOPEN_SOURCE 700
#include "tests/cases.h"
#include "tests/onnx_text.h"

#include <unistd.h>

/* The source, or messages and status. */
static char *result_of(struct run r) {
  char *result;
  if (r.status == 0 && !*r.err) {
    result = r.out;
    free(r.err);
    return result;
  }
  size_t room = strlen(r.out) + strlen(r.err) + 32;
  result = malloc(room);
  assert_non_null(result);
  snprintf(result, room, "%s%sexit %d\n", r.out, r.err, r.status);
  run_free(&r);
  return result;
}

static char *import(const char *folder, const char *file) {
  return result_of(run("cd %s && " NETC_PATH " import %s", folder, file));
}

static char *import_onnx(const struct text_case *c) {
  const char *folder = scratch("onnx");
  write_onnx_text(text_of("%s/a.onnx", folder), c->given);
  return import(folder, "a.onnx");
}

/* Layers after an input `x` of 6x10x8. */
static char *import_caffe(const struct text_case *c) {
  const char *folder = scratch("caffe");
  char text[4096];
  int length =
      snprintf(text, sizeof text,
               "input: \"x\" input_shape { dim: 1 dim: 8 dim: 6 dim: 10 }\n%s",
               c->given);
  assert_in_range(length, 1, sizeof text - 1);
  write_in(folder, "a.prototxt", text);
  return import(folder, "a.prototxt");
}

/*
 * "Conv2D CONFIG" is a layer, "nn.relu ARGUMENTS" a function. "Add*2" reads the
 * input `x` twice. A first line "shape 10, 8" gives its sizes, where they are
 * not 6, 10, 8.
 */
static char *import_keras(const struct text_case *c) {
  const char *folder = scratch("keras"), *what = c->given;
  char text[4096], shape[64] = "6, 10, 8", name[64];
  int end = 0;
  if (sscanf(what, "shape %63[^\n]\n%n", shape, &end) == 1)
    what += end;
  assert_int_equal(sscanf(what, "%63s%n", name, &end), 1);
  int arguments = (int)strcspn(what += end, "\n");
  bool layer = *name >= 'A' && *name <= 'Z';
  char *many = layer ? strchr(name, '*') : NULL;
  char wires[256] = "[[\"x\", 0, 0, {}]";
  for (int i = many ? atoi(many + 1) : 1; i > 1; i--)
    strcat(wires, ", [\"x\", 0, 0, {}]");
  strcat(wires, "]");
  if (many)
    *many = '\0';
  int length = snprintf(
      text, sizeof text,
      "{\"class_name\": \"Functional\", \"config\": {\"layers\": ["
      "{\"class_name\": \"InputLayer\", \"name\": \"x\", \"config\": "
      "{\"batch_input_shape\": [null, %s], \"dtype\": \"float32\"}, "
      "\"inbound_nodes\": []}, "
      "{\"class_name\": \"%s\", \"name\": \"y\", \"config\": {%s%.*s%s}, "
      "\"inbound_nodes\": [%s%.*s%s]}], "
      "\"input_layers\": [[\"x\", 0, 0]], "
      "\"output_layers\": [[\"y\", 0, 0]]}}\n",
      shape, layer ? name : "TFOpLambda", layer ? "" : "\"function\": \"",
      layer ? arguments : (int)strlen(name), layer ? what : name,
      layer ? "" : "\"", layer ? wires : "[\"x\", 0, 0, ",
      layer ? 0 : arguments, what, layer ? "" : "]");
  assert_in_range(length, 1, sizeof text - 1);
  write_in(folder, "a.json", text);
  return import(folder, "a.json");
}

/*
 * The first line has the file's name and options. Nothing is written of what is
 * refused.
 */
static char *import_file(const struct text_case *c) {
  const char *folder = scratch("files");
  int name = (int)strcspn(c->given, " \n"), line = (int)strcspn(c->given, "\n");
  write_in(folder, text_of("%.*s", name, c->given), c->given + line + 1);
  struct run r = run("cd %s && " NETC_PATH " import %.*s -o out.net && "
                     "cat out.net",
                     folder, line, c->given);
  assert_int_equal(r.status == 0,
                   access(text_of("%s/out.net", folder), F_OK) == 0);
  return result_of(r);
}

/* A file without values may list parameters of the module as inputs first. */
static void named_inputs_are_parameters(void **state) {
  (void)state;
  char path[1200];
  snprintf(path, sizeof path, "%s/a.onnx", scratch("parameters"));
  write_onnx_text(path, "a = Add x p1x8x6x10:token\n"
                        "y = Conv a p8x8x1x1:m.weight\n");
  expect(text_of(NETC " import %s --parameter token", path), 0,
         "input 6x10x8\nadd {} { weight 6x10x8 }\nconv 8 1x1 nobias\n", "");
  expect(text_of(NETC " %s --parameter token --emit=csv=-", path), 0, "add1",
         "");
  write_onnx_text(path, "shape 1x4\ny = MatMul x p4x3:b\n");
  expect(text_of(NETC " import %s --parameter b", path), 0,
         "net g\ninput 4\nfc 3 nobias\n", "");
  expect(text_of(NETC " import %s --parameter tokn", path), 1, "",
         "--parameter: the file has no input `tokn`");
  expect(NETC " import tests/data/import/caffe/SqueezeNet_v1.0_deploy.prototxt "
              "--parameter token",
         2, "", "--parameter needs an ONNX file");
}

int main(int argc, char **argv) {
  static const struct case_file files[] = {
      {"tests/cases/onnx.txt", import_onnx},
      {"tests/cases/caffe.txt", import_caffe},
      {"tests/cases/keras.txt", import_keras},
      {"tests/cases/files.txt", import_file},
  };
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(named_inputs_are_parameters),
  };
  return run_cases(files, sizeof files / sizeof *files, argc > 1 ? argv[1] : "",
                   others, sizeof others / sizeof *others);
}
