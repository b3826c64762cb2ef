/*
 * -o x.onnx of inputs with bounds: axes have names, netc reads the models back
 * at several sizes and runs them like the net, and what cannot be left open is
 * refused. tests/onnx.js has onnxruntime run the same models.
 */
#define _POSIX_C_SOURCE 200809L
#include "netc.h"
#include "onnx.pb-c.h"
#include "tests/imported.h"
#include "tests/run.h"

#define FOLDER "tests/data/onnx_open"

static Onnx__ModelProto *export(const char *net, const char *options) {
  char path[1200];
  size_t length;
  snprintf(path, sizeof path, "%s/model.onnx", scratch("onnx-axes"));
  struct run r = run("%s %s %s -o %s", NETC, net, options, path);
  if (r.status)
    print_error("%s %s: %s\n", net, options, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  char *bytes = read_text(path, &length);
  assert_non_null(bytes);
  Onnx__ModelProto *model =
      onnx__model_proto__unpack(NULL, length, (const uint8_t *)bytes);
  free(bytes);
  assert_non_null(model);
  return model;
}

static Onnx__ModelProto *export_text(const char *text, const char *options) {
  char path[1200];
  snprintf(path, sizeof path, "%s/net.net", scratch("onnx-axes-text"));
  write_text(path, text, strlen(text));
  return export(path, options);
}

/* "picture: 1 3 height width\n" for each; ? is an axis without a name. */
static char *shapes_of(Onnx__ValueInfoProto **all, size_t count) {
  char *text = calloc(count + 1, 256), *to = text;
  for (size_t i = 0; i < count; i++) {
    const Onnx__TensorShapeProto *shape = all[i]->type->tensor_type->shape;
    to += sprintf(to, "%.40s:", all[i]->name);
    for (size_t k = 0; k < shape->n_dim; k++) {
      const Onnx__TensorShapeProto__Dimension *dim = shape->dim[k];
      switch (dim->value_case) {
      case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE:
        to += sprintf(to, " %lld", (long long)dim->dim_value);
        break;
      case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM:
        to += sprintf(to, " %.40s", dim->dim_param);
        break;
      default: to += sprintf(to, " ?");
      }
    }
    to += sprintf(to, "\n");
  }
  return text;
}

static void check_shapes(const Onnx__ModelProto *model, const char *inputs,
                         const char *outputs) {
  char *in = shapes_of(model->graph->input, model->graph->n_input);
  char *out = shapes_of(model->graph->output, model->graph->n_output);
  assert_string_equal(in, inputs);
  assert_string_equal(out, outputs);
  free(in);
  free(out);
}

static void drop(Onnx__ModelProto *model) {
  onnx__model_proto__free_unpacked(model, NULL);
}

static void axes_are_called_as_frameworks_do(void **state) {
  (void)state;
  static const struct {
    const char *net, *options, *inputs, *outputs;
  } rows[] = {
      {FOLDER "/map.net", "", "picture: 1 3 height width\n",
       "low: 1 6 ? ?\nhigh: 1 3 ? ?\nsequence: 1 ? 6\nkind: 1 5\n"
       "even: 1 6 ? ?\nraised: 1 6 ? ?\n"},
      {FOLDER "/text.net", "",
       "source: 1 source_length\ntarget: 1 target_length\n",
       "memory: 1 source_length 24\nstate: 1 target_length 24\n"
       "next: 1 target_length 60\n"},
      {FOLDER "/text.net", "--dynamic",
       "source: batch source_length\ntarget: batch target_length\n",
       "memory: batch source_length 24\nstate: batch target_length 24\n"
       "next: batch target_length 60\n"},
      /* one of them has a size */
      {FOLDER "/text.net", "--input target=7 --batch 2",
       "source: 2 length\ntarget: 2 7\n",
       "memory: 2 length 24\nstate: 2 7 24\nnext: 2 7 60\n"},
      {FOLDER "/map.net", "--input _x64x3", "picture: 1 3 height 64\n",
       "low: 1 6 ? 20\nhigh: 1 3 ? 128\nsequence: 1 ? 6\nkind: 1 5\n"
       "even: 1 6 ? 31\nraised: 1 6 ? 31\n"},
      {FOLDER "/map.net", "--input 96x64x3", "picture: 1 3 96 64\n",
       "low: 1 6 26 20\nhigh: 1 3 192 128\nsequence: 1 520 6\nkind: 1 5\n"
       "even: 1 6 47 31\nraised: 1 6 47 31\n"},
      {"examples/zoo/unet.net", "--input 64..512x64..512x3",
       "input: 1 3 height width\n", "conv1: 1 2 height width\n"},
      {FOLDER "/recurrent.net", "--dynamic", "sound: batch 6 length\n",
       "steps: batch ? 12\nbegun: batch ? 9\nkind: batch 4\n"},
      {FOLDER "/states.net", "--dynamic", "sound: batch length 12\n",
       "steps: batch length 12\n"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Onnx__ModelProto *model = export(rows[i].net, rows[i].options);
    check_shapes(model, rows[i].inputs, rows[i].outputs);
    drop(model);
  }
}

/* Axes with the same bounds are two, unless the net compiles only if they are
 * equal; a few sizes between bounds do not make them one. */
static void axes_with_the_same_bounds_are_two(void **state) {
  (void)state;
  Onnx__ModelProto *model =
      export_text("input x 1..3x1..3x4\nconv 3 1x1\n", "");
  check_shapes(model, "x: 1 4 height width\n", "conv1: 1 3 height width\n");
  drop(model);
  model = export_text("input a 2..4 : i32\ninput b 2..4 : i32\n"
                      "from a\nt: embed 9 4\nfrom b\nembed 9 4\n"
                      "attention 2 cross=t\n",
                      "");
  check_shapes(model, "a: 1 a_length\nb: 1 b_length\n",
               "attention1: 1 b_length 4\n");
  drop(model);
  model = export_text("input a 1..30x4\ninput b 1..30x4\nadd a b\n", "");
  check_shapes(model, "a: 1 length 4\nb: 1 length 4\n", "add1: 1 length 4\n");
  drop(model);
}

/* Values */

static uint32_t next_of(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

/* Reals from -1 to 1, or indices below 30; of one sample. */
static void write_array(const char *folder, const char *name, bool real,
                        int64_t length, int64_t channels) {
  char path[1300], head[119];
  uint32_t state = 7;
  snprintf(path, sizeof path, "%s/%s.npy", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  memset(head, ' ', sizeof head);
  int n = channels ? snprintf(head, sizeof head,
                              "{'descr': '%s', 'fortran_order': False, "
                              "'shape': (1, %d, %d), }",
                              real ? "<f4" : "<i4", (int)length, (int)channels)
                   : snprintf(head, sizeof head,
                              "{'descr': '%s', 'fortran_order': False, "
                              "'shape': (1, %d), }",
                              real ? "<f4" : "<i4", (int)length);
  head[n] = ' ';
  head[117] = '\n';
  fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
  fwrite(head, 1, 118, file);
  for (int64_t i = 0; i < length * (channels ? channels : 1); i++) {
    int32_t index = (int32_t)(next_of(&state) % 30);
    float value = (float)next_of(&state) / (float)(1 << 23) - 1;
    fwrite(real ? (void *)&value : (void *)&index, 4, 1, file);
  }
  assert_int_equal(fclose(file), 0);
}

/* One net at sizes: what is put for bounds, for the model's axes, as inputs. */
struct size_row {
  const char *net, *bounds, *dims, *inputs, *output;
  int64_t lengths[2], channels;
};

static void check_sizes(const struct size_row *row, const char *options) {
  const char *folder = scratch("onnx-sizes");
  char more[4000];
  const char *const names[2] = {"i0", "i1"};
  for (int i = 0; i < 2 && row->lengths[i]; i++)
    write_array(folder, names[i], row->channels > 0, row->lengths[i],
                row->channels);
  struct run r = run("cp %s/%s.net %s/a.net && cd %s && "
                     "sed '%s' a.net >b.net && "
                     "%s weights a.net --random 1 -o a.st && "
                     "%s a.net --weights a.st %s --no-source -o a.onnx",
                     FOLDER, row->net, folder, folder, row->bounds, NETC_PATH,
                     NETC_PATH, options);
  if (r.status)
    print_error("%s: %s", row->net, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  for (int model = 0; model < 2; model++) {
    snprintf(more, sizeof more, "cd %s && %s run %s %s %s -o %s%d.npy", folder,
             NETC_PATH, model ? "a.onnx" : "b.net --weights a.st",
             model ? row->dims : "", row->inputs, row->output, model);
    r = run("%s", more);
    if (r.status)
      print_error("%s %s: %s", row->net, row->dims, r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  r = run(
      "cd %s && for i in 0 1; do od -An -tfF -v -j128 %s$i.npy; done", folder,
      strchr(row->output, '=') ? strchr(row->output, '=') + 1 : row->output);
  assert_int_equal(r.status, 0);
  size_t half = strlen(r.out) / 2;
  assert_true(half > 0);
  char *first = strndup(r.out, half);
  assert_near(first, r.out + half);
  free(first);
  run_free(&r);
}

/* The lower end, the upper one, next to them, and what no sample has. */
static void models_are_the_net_at_every_size(void **state) {
  (void)state;
#define TEXT(s, t)                                                         \
  {                                                                        \
    "text", "s/1\\.\\.48/" #s "/;s/1\\.\\.40/" #t "/",                     \
        "--dim source_length=" #s " --dim target_length=" #t,              \
        "--input source=i0.npy --input target=i1.npy", "next=y", {s, t}, 0 \
  }
#define ONE(net, low, high, n, output, c)                         \
  {                                                               \
    net, "s/" #low "\\.\\." #high "/" #n "/", "--dim length=" #n, \
        "--input i0.npy", output, {n}, c                          \
  }
  static const struct size_row rows[] = {
      TEXT(1, 1),
      TEXT(7, 2),
      TEXT(23, 40),
      TEXT(48, 40),
      ONE("recurrent", 40, 400, 40, "kind=y", 6),
      ONE("recurrent", 40, 400, 41, "steps=y", 6),
      ONE("recurrent", 40, 400, 163, "steps=y", 6),
      ONE("recurrent", 40, 400, 400, "kind=y", 6),
      ONE("relative", 2, 33, 2, "y", 0),
      ONE("relative", 2, 33, 3, "y", 0),
      ONE("relative", 2, 33, 18, "y", 0),
      ONE("relative", 2, 33, 33, "y", 0),
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_sizes(&rows[i], "");
    check_sizes(&rows[i], "--dynamic");
  }
}

static void what_cannot_be_left_open_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *options, *said, *way_out;
  } rows[] = {
      {"input 32..128x64x3\nconv 8 3x3\ngrid: adaptpool 7x7\n", "",
       "x.net: `grid` depends on the open sizes, and not only by the size of "
       "an axis: `--input SIZES` fixes them",
       "--input 64x64x3"},
      {"input 32..128x64x3\nconv 8 3x3\ngrid: adaptpool 7x7\n", "--dynamic",
       "fix sizes with bounds by `--input SIZES`; leave out --dynamic to fix "
       "the batch",
       "--input 64x64x3 --dynamic"},
      {"input 7..8x64x3\nconv 8 3x3\n", "",
       "x.net: the net compiles at too few sizes between the bounds 7..8 of "
       "`input` to leave the axis open",
       "--input 8x64x3"},
  };
  const char *folder = scratch("onnx-closed");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    write_in(folder, "x.net", rows[i].text);
    struct run r = run("cd %s && %s x.net %s -o x.onnx; s=$?; ls x.onnx && "
                       "exit 9; exit $s",
                       folder, NETC_PATH, rows[i].options);
    assert_int_equal(r.status, 1);
    assert_holds(r.err, rows[i].said);
    run_free(&r);
    r = run("cd %s && %s x.net %s -o y.onnx", folder, NETC_PATH,
            rows[i].way_out);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
}

/* Weights with a row for each position have as many as the upper end has, and
 * their names. */
static void tables_are_those_of_the_upper_end(void **state) {
  (void)state;
  Onnx__ModelProto *model =
      export_text("input t 1..40 : i32\nembed 9 8\nposembed fixed\n", "");
  bool found = false;
  for (size_t i = 0; i < model->graph->n_initializer; i++) {
    const Onnx__TensorProto *tensor = model->graph->initializer[i];
    if (strcmp(tensor->name, "posembed1.weight") != 0)
      continue;
    found = true;
    assert_int_equal(tensor->n_dims, 2);
    assert_int_equal(tensor->dims[0], 40);
    assert_int_equal(tensor->raw_data.len, 40 * 8 * 4);
  }
  assert_true(found);
  drop(model);
}

/* After the model the net is that of both ends again. */
static void other_outputs_are_of_the_bounds(void **state) {
  (void)state;
  const char *folder = scratch("onnx-after");
  write_in(folder, "x.net", "input 1..9x4\nlinear 3\n");
  struct run r = run("cd %s && %s x.net -o x.onnx -o x.json && %s x.net "
                     "--emit=json | cmp - x.json && %s import x.onnx | cmp - "
                     "x.net",
                     folder, NETC_PATH, NETC_PATH, NETC_PATH);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* ONNX's own checker and inference, where Python has them. */
static void the_checker_agrees(void **state) {
  (void)state;
  skip_without_python("onnx");
  const char *folder = scratch("onnx-open-checked");
  struct run r = run("for n in " FOLDER "/*.net; do for o in 11 13 17; do "
                     "for d in '' --dynamic; do %s $n $d --opset $o -o "
                     "%s/$(basename $n .net)$d.$o.onnx || exit; done; done; "
                     "done; /usr/bin/python3 tests/onnx_check.py %s/*.onnx",
                     NETC, folder, folder);
  if (r.status)
    print_error("%s%s\n", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(axes_are_called_as_frameworks_do),
      cmocka_unit_test(axes_with_the_same_bounds_are_two),
      cmocka_unit_test(models_are_the_net_at_every_size),
      cmocka_unit_test(what_cannot_be_left_open_is_refused),
      cmocka_unit_test(tables_are_those_of_the_upper_end),
      cmocka_unit_test(other_outputs_are_of_the_bounds),
      slow_test(the_checker_agrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
