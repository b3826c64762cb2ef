/*
 * Values of ONNX models in files beside them: read where they are needed, and
 * from nowhere but the model's folder.
 */
#define _XOPEN_SOURCE 700
#include "tests/imported.h"

#define MODEL "tests/data/import/onnx/beside.onnx"
#define VALUES "tests/data/import/onnx/values.bin"

/* The same bytes, whether they are in the model or beside it. */
static void values_beside_are_those_inside(void **state) {
  (void)state;
  const char *folder = scratch("good");
  char *beside = import(MODEL, ""), *inside;
  inside = import("tests/data/import/onnx/inside.onnx", "");
  assert_string_equal(beside, inside);
  assert_int_equal(totals_of(MODEL, beside).param_count, 4 * 3 * 9 + 4);
  assert_holds(beside, "-> 144\n");
  free(beside);
  free(inside);
  struct run r =
      run("for m in beside inside; do %s import tests/data/import/onnx/$m.onnx "
          "-o %s/$m.net --weights %s/$m.safetensors || exit 1; done; "
          "cmp %s/beside.safetensors %s/inside.safetensors",
          NETC, folder, folder, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* Wherever the program is called, and by whatever link. */
static void folders_are_those_of_the_model(void **state) {
  (void)state;
  const char *folder = scratch("folders");
  struct run r =
      run("mkdir %s/in && cp %s %s %s/in && cd %s/in && %s import beside.onnx "
          "&& ln -s ../in/values.bin other && mv values.bin deep && ln -s deep "
          "values.bin && %s import beside.onnx",
          folder, MODEL, VALUES, folder, folder, NETC_PATH, NETC_PATH);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "conv 4 3x3");
  run_free(&r);
}

/* Replaces as many as `most`; all of one length. */
static void replace(char *bytes, size_t size, const char *from, const char *to,
                    size_t most) {
  size_t length = strlen(from), found = 0;
  assert_int_equal(strlen(to), length);
  for (size_t i = 0; i + length <= size; i++)
    if (found < most && memcmp(bytes + i, from, length) == 0) {
      memcpy(bytes + i, to, length);
      found++;
    }
  assert_true(found > 0);
}

/* Sizes of weights are known without them; what is not needed is not read. */
static void a_missing_file_matters_where_it_is_needed(void **state) {
  (void)state;
  const char *folder = scratch("missing");
  size_t size;
  char path[1200], *bytes = read_text(MODEL, &size);
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  write_text(path, bytes, size);
  struct run r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "the values of `sizes` are in the file `values.bin` "
                      "beside the model, which cannot be read: No such file");
  assert_holds(r.err, "= help: put that file into the model's folder");
  run_free(&r);
  replace(bytes, size, "values.bin", "absent.bin", 2); /* w and b */
  write_text(path, bytes, size);
  free(bytes);
  r = run("cp %s %s && %s import %s", VALUES, folder, NETC, path);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "conv 4 3x3");
  run_free(&r);
  r = run("%s import %s --weights %s/w -o %s/x.net || test -e %s/w -o -e "
          "%s/x.net || exit 9",
          NETC, path, folder, folder, folder, folder);
  assert_int_equal(r.status, 9);
  assert_holds(r.err, "in the file `absent.bin` beside the model");
  run_free(&r);
}

/* Changes of the model's bytes, which keep its lengths. */
static struct mistake {
  char name[32];
  const char *from, *to; /* every time */
  const char *before;    /* commands, in the folder of the model */
  const char *says;
} mistakes[] = {
    {"absolute", "values.bin", "/etc/hosts", "true",
     "are in `/etc/hosts`, which is outside the model's folder"},
    {"above", "values.bin", "../hi.data", "touch ../hi.data",
     "which is outside the model's folder"},
    {"above-later", "values.bin", "a/../b.bin", "mkdir a; cp values.bin b.bin",
     "which is outside the model's folder"},
    {"dots-at-the-end", "values.bin", "aaaaaaa/..", "mkdir aaaaaaa",
     "which is outside the model's folder"},
    {"link-out", "values.bin", "escape.bin",
     "cp values.bin ../away.bin; ln -s ../away.bin escape.bin",
     "which is a link to a place outside the model's folder"},
    {"folder-out", "values.bin", "in/the.bin",
     "mkdir ../away; cp values.bin ../away/the.bin; ln -s ../away in",
     "which is a link to a place outside the model's folder"},
    {"neighbour", "values.bin", "next/v.bin",
     "mkdir ../model2; cp values.bin ../model2/v.bin; ln -s ../model2 next",
     "which is a link to a place outside the model's folder"},
    {"folder", "values.bin", "values_bin", "mkdir values_bin",
     "which is not a file"},
    {"pipe", "values.bin", "values_bin", "mkfifo values_bin",
     "which is not a file"},
    {"device", "values.bin", "values_bin", "ln -s /dev/zero values_bin",
     "which is a link to a place outside"},
    {"loop", "values.bin", "values_bin", "ln -s values_bin values_bin",
     "Too many levels of symbolic links"},
    {"too-short", "values.bin", "values_bin",
     "head -c 460 values.bin >values_bin",
     "`flat` (Reshape): `values_bin` is too short for the values of `sizes`: "
     "it has 460 bytes, but they take 16 from byte 448"},
    {"empty", "values.bin", "values_bin", ": >values_bin", "it has 0 bytes"},
    {"offset", "448", "4a8", "true",
     "`offset` or `length` of the values of `sizes` is not a number"},
    {"negative", "448", "-48", "true",
     "`offset` or `length` of the values of `sizes` is not a number"},
    {"behind-the-end", "448", "999", "true",
     "is too short for the values of `sizes`"},
    {"length", "16", "24", "true",
     "the values of `sizes` have 16 bytes, but the model gives 24"},
    {"no-location", "location", "LOCATION", "true",
     "are needed, and the file lacks them"},
};

static void check_mistake(void **state) {
  const struct mistake *m = *state;
  size_t size;
  char path[1200], *bytes = read_text(MODEL, &size);
  const char *folder = scratch("mistakes");
  struct run r = run("mkdir %s/model && cp %s %s/model && cd %s/model && (%s)",
                     folder, VALUES, folder, folder, m->before);
  assert_int_equal(r.status, 0);
  run_free(&r);
  replace(bytes, size, m->from, m->to, size);
  snprintf(path, sizeof path, "%s/model/x.onnx", folder);
  write_text(path, bytes, size);
  free(bytes);
  r = run("timeout 10 %s import %s -o %s/x.net --weights %s/w.safetensors",
          NETC, path, folder, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, m->says);
  run_free(&r);
  r = run("test ! -e %s/x.net -a ! -e %s/w.safetensors", folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* Nothing lies beside standard input. */
static void standard_input_has_no_folder(void **state) {
  (void)state;
  struct run r = run("%s import - <%s", NETC, MODEL);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "a model from <stdin> has no folder to read files from");
  run_free(&r);
}

/* A message of a model as it is written. */
struct message {
  char at[400];
  size_t length;
};

static void put_number(struct message *m, uint64_t number) {
  for (; number >= 128; number >>= 7)
    m->at[m->length++] = (char)(number | 128);
  m->at[m->length++] = (char)number;
}

static void put_int(struct message *m, int field, uint64_t number) {
  put_number(m, (uint64_t)field << 3);
  put_number(m, number);
}

static void put_head(struct message *m, int field, uint64_t length) {
  put_number(m, (uint64_t)field << 3 | 2);
  put_number(m, length);
}

static void put_bytes(struct message *m, int field, const char *at,
                      size_t length) {
  put_head(m, field, length);
  assert_true(m->length + length <= sizeof m->at);
  memcpy(m->at + m->length, at, length);
  m->length += length;
}

static void put_text(struct message *m, int field, const char *text) {
  put_bytes(m, field, text, strlen(text));
}

static void put(struct message *m, int field, const struct message *inside) {
  put_bytes(m, field, inside->at, inside->length);
}

static void put_node(struct message *graph, const char *type, const char *in,
                     const char *second, const char *out) {
  struct message node = {.length = 0};
  put_text(&node, 1, in);
  if (second)
    put_text(&node, 1, second);
  put_text(&node, 2, out);
  put_text(&node, 4, type);
  put(graph, 1, &node);
}

/* An input or an output: 1 x `size` reals. */
static void put_value(struct message *graph, int field, const char *name,
                      uint64_t size) {
  struct message one = {.length = 0}, many = {.length = 0},
                 shape = {.length = 0}, tensor = {.length = 0},
                 type = {.length = 0}, value = {.length = 0};
  put_int(&one, 1, 1);
  put_int(&many, 1, size);
  put(&shape, 1, &one);
  put(&shape, 1, &many);
  put_int(&tensor, 1, 1);
  put(&tensor, 2, &shape);
  put(&type, 1, &tensor);
  put_text(&value, 1, name);
  put(&value, 2, &type);
  put(graph, field, &value);
}

enum { RAW_DATA = 9, FLOAT_DATA = 4, DEEP = 16384 };

/* y = x times a matrix of 16384 x `wide`, transposed, which is a hole. */
static void write_large(const char *path, int field, uint64_t wide) {
  struct message tensor = {.length = 0}, graph = {.length = 0},
                 model = {.length = 0}, set = {.length = 0},
                 end = {.length = 0};
  uint64_t bytes = wide * DEEP * 4;
  put_node(&graph, "Transpose", "w", NULL, "t");
  put_node(&graph, "MatMul", "x", "t", "y");
  put_value(&graph, 11, "x", DEEP);
  put_value(&graph, 12, "y", wide);
  put_int(&tensor, 1, wide);
  put_int(&tensor, 1, DEEP);
  put_int(&tensor, 2, 1);
  put_text(&tensor, 8, "w");
  put_head(&tensor, field, bytes);
  put_head(&graph, 5, tensor.length + bytes);
  memcpy(graph.at + graph.length, tensor.at, tensor.length);
  graph.length += tensor.length;
  put_int(&model, 1, 7);
  put_head(&model, 7, graph.length + bytes);
  put_int(&set, 2, 13);
  put(&end, 8, &set);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(model.at, 1, model.length, file), model.length);
  assert_int_equal(fwrite(graph.at, 1, graph.length, file), graph.length);
  assert_int_equal(fseeko(file, (off_t)bytes, SEEK_CUR), 0);
  assert_int_equal(fwrite(end.at, 1, end.length, file), end.length);
  assert_int_equal(fclose(file), 0);
}

#define LITTLE (SANITIZED ? "" : "ulimit -v 60000 &&")

/* One file of 3 GiB takes no more memory than its header. */
static void a_large_file_is_read_in_little_memory(void **state) {
  (void)state;
  const char *folder = scratch("large");
  char path[1200];
  snprintf(path, sizeof path, "%s/large.onnx", folder);
  write_large(path, RAW_DATA, 49152);
  struct run r = run("%s %s import %s", LITTLE, NETC, path);
  assert_string_equal(r.err, "");
  assert_string_equal(r.out, "net large\ninput 16384\nfc 49152 nobias\n");
  run_free(&r);
  r = run("%s %s import - <%s", LITTLE, NETC, path);
  assert_int_equal(r.status, 3);
  assert_holds(r.err, "it is larger than 1 GiB");
  run_free(&r);
  r = run("truncate -s 3000000000 %s; %s %s import %s", path, LITTLE, NETC,
          path);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "truncated or broken ONNX model: a field is longer than "
                      "the rest of the file at byte");
  run_free(&r);
  write_large(path, FLOAT_DATA, 49152);
  r = run("%s %s import %s; rm %s", LITTLE, NETC, path, path);
  assert_holds(
      r.err,
      "it has more than 1 GiB outside `raw_data`, which is not supported");
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(values_beside_are_those_inside),
      cmocka_unit_test(folders_are_those_of_the_model),
      cmocka_unit_test(a_missing_file_matters_where_it_is_needed),
      cmocka_unit_test(standard_input_has_no_folder),
      cmocka_unit_test(a_large_file_is_read_in_little_memory)};
  return run_table("external", mistakes, sizeof mistakes / sizeof *mistakes,
                   sizeof *mistakes, check_mistake, others,
                   sizeof others / sizeof *others);
}
