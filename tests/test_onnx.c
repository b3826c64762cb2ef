/*
 * -o x.onnx: what the messages hold, which operators layers become, and what
 * ONNX's own checker says where it is installed. tests/onnx.js runs models.
 */
#include "base/map.h"
#include "base/text.h"
#include "netc.h"
#include "onnx.pb-c.h"
#include "ops/function.h"
#include "tests/onnx_samples.h"
#include "tests/run.h"

static Onnx__ModelProto *read_model(const char *path) {
  size_t length;
  char *bytes = read_text(path, &length);
  if (!bytes)
    print_error("no model: %s\n", path);
  assert_non_null(bytes);
  Onnx__ModelProto *model =
      onnx__model_proto__unpack(NULL, length, (const uint8_t *)bytes);
  free(bytes);
  assert_non_null(model);
  return model;
}

/* NULL: what the runtime cannot run either, layers without a kernel; and what
 * the usual opset does not have. */
static Onnx__ModelProto *export_unless_refused(const char *net) {
  char path[1200];
  snprintf(path, sizeof path, "%s/model.onnx", scratch("onnx"));
  struct run r = run("%s %s -o %s", NETC, net, path);
  bool refused = r.status == 1 &&
                 (strstr(r.err, "netc can measure the net, but not run it") ||
                  strstr(r.err, "needs `--opset 1"));
  if (r.status && !refused)
    print_error("%s: %s\n", net, r.err);
  assert_true(refused || r.status == 0);
  run_free(&r);
  return refused ? NULL : read_model(path);
}

static Onnx__ModelProto *export(const char *net, const char *options) {
  char path[1200];
  snprintf(path, sizeof path, "%s/model.onnx", scratch("onnx"));
  struct run r = run("%s %s %s -o %s", NETC, net, options, path);
  if (r.status)
    print_error("%s %s: %s\n", net, options, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  return read_model(path);
}

static Onnx__ModelProto *export_text(const char *text, const char *options) {
  char path[1200];
  snprintf(path, sizeof path, "%s/net.net", scratch("onnx-text"));
  write_text(path, text, strlen(text));
  return export(path, options);
}

static void drop(Onnx__ModelProto *model) {
  onnx__model_proto__free_unpacked(model, NULL);
}

static size_t count_nodes(const Onnx__ModelProto *model, const char *op) {
  size_t count = 0;
  for (size_t i = 0; i < model->graph->n_node; i++)
    count += strcmp(model->graph->node[i]->op_type, op) == 0;
  return count;
}

/* Whole models: names, order, shapes */

struct names {
  struct arena arena;
  struct map map;
};

/* Each name is there once, and is no empty text. */
static void add_name(struct names *names, const char *name) {
  struct map_entry *entry = map_add(&names->arena, &names->map, slice_of(name));
  if (entry->number++ || !*name)
    print_error("`%s` is there twice\n", name);
  assert_int_equal(entry->number, 1);
  assert_true(*name);
}

/* How many rows an expert has depends on values. */
static void check_info(const Onnx__ValueInfoProto *info, bool inside) {
  assert_int_equal(info->type->value_case, ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE);
  const Onnx__TypeProto__Tensor *type = info->type->tensor_type;
  assert_non_null(type->shape);
  for (size_t i = 0; i < type->shape->n_dim; i++)
    assert_true(type->shape->dim[i]->dim_value > 0 ||
                (inside && i == 0 && type->shape->n_dim == 2));
}

/* Nodes read what is there already; all that they make has a shape. */
static void check_graph(const Onnx__GraphProto *graph) {
  struct names names = {.map = {0}}, shown = {.map = {0}};
  arena_open(&names.arena, NULL, NULL);
  arena_open(&shown.arena, NULL, NULL);
  for (size_t i = 0; i < graph->n_input; i++) {
    add_name(&names, graph->input[i]->name);
    check_info(graph->input[i], false);
  }
  for (size_t i = 0; i < graph->n_initializer; i++)
    add_name(&names, graph->initializer[i]->name);
  for (size_t i = 0; i < graph->n_output; i++) {
    add_name(&shown, graph->output[i]->name);
    check_info(graph->output[i], false);
  }
  for (size_t i = 0; i < graph->n_value_info; i++) {
    add_name(&shown, graph->value_info[i]->name);
    check_info(graph->value_info[i], true);
  }
  for (size_t i = 0; i < graph->n_node; i++) {
    const Onnx__NodeProto *node = graph->node[i];
    for (size_t k = 0; k < node->n_input; k++)
      if (*node->input[k])
        assert_non_null(map_find(&names.map, slice_of(node->input[k])));
    for (size_t k = 0; k < node->n_output; k++) {
      add_name(&names, node->output[k]);
      assert_non_null(map_find(&shown.map, slice_of(node->output[k])));
    }
  }
  for (size_t i = 0; i < graph->n_output; i++)
    assert_non_null(map_find(&names.map, slice_of(graph->output[i]->name)));
  assert_true(*graph->name);
  arena_close(&names.arena);
  arena_close(&shown.arena);
}

/* Values of the weights, which are initializers with the names of the net. */
static int64_t count_weights(const Onnx__GraphProto *graph) {
  int64_t all = 0;
  for (size_t i = 0; i < graph->n_initializer; i++) {
    const Onnx__TensorProto *tensor = graph->initializer[i];
    int64_t count = 1;
    for (size_t k = 0; k < tensor->n_dims; k++)
      count *= tensor->dims[k];
    all += tensor->has_raw_data || tensor->n_external_data ? count : 0;
  }
  return all;
}

/* Parts of what is computed are not in it. */
static int64_t weights_of(const char *path) {
  struct netc_weight weight = {.size = sizeof weight};
  struct netc_tensor tensor = {.size = sizeof tensor};
  struct netc *netc = netc_open(NULL, NULL);
  int64_t count = 0;
  assert_int_equal(netc_load_file(netc, path), NETC_OK);
  for (size_t i = 0; netc_weight(netc, i, &weight) == NETC_OK; i++)
    count += weight.count;
  for (size_t i = 0; netc_tensor(netc, i, &tensor) == NETC_OK; i++)
    for (size_t k = 0; k < 3 && tensor.computed != NETC_AS_STORED; k++)
      if (netc_weight(netc, (size_t)tensor.parts[k], &weight) == NETC_OK)
        count -= weight.count;
  netc_close(netc);
  return count;
}

static void check_nets(const char *folder) {
  struct paths nets = find_paths(folder, ".net");
  assert_true(nets.count > 0);
  for (size_t i = 0; i < nets.count; i++) {
    Onnx__ModelProto *model = export_unless_refused(nets.at[i]);
    if (!model)
      continue;
    assert_int_equal(model->ir_version, 8);
    assert_int_equal(model->opset_import[0]->version, 13);
    check_graph(model->graph);
    int64_t written = count_weights(model->graph), all = weights_of(nets.at[i]);
    char *source = read_text(nets.at[i], NULL);
    if (strstr(source, "\nfork train {")) /* a head that inference lacks */
      assert_true(written > 0 && written < all);
    else
      assert_int_equal(written, all);
    free(source);
    drop(model);
  }
  paths_free(&nets);
}

static void every_net_becomes_a_whole_model(void **state) {
  (void)state;
  check_nets("examples");
  check_nets("tests/data/onnx");
}

/* What is one operator in later opsets, and a version of the format for them.
 */
static void later_opsets_have_more_operators(void **state) {
  (void)state;
  static const char *const ops[] = {"DeformConv", "GroupNormalization", "Mish",
                                    "Pad"};
  Onnx__ModelProto *model =
      export("tests/data/onnx/later.net", "--opset 21 --batch 2");
  assert_int_equal(model->ir_version, 10);
  assert_int_equal(count_nodes(model, "Slice"), 0);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    assert_true(count_nodes(model, ops[i]) > 0);
  check_graph(model->graph);
  drop(model);
  model = export("tests/data/onnx/values.net", "--opset 20");
  assert_int_equal(model->ir_version, 9);
  assert_int_equal(count_nodes(model, "Erf"), 0);
  assert_int_equal(count_nodes(model, "Gelu"), 1);
  drop(model);
}

static const char *batch_of(const Onnx__ValueInfoProto *info) {
  const Onnx__TensorShapeProto__Dimension *dim =
      info->type->tensor_type->shape->dim[0];
  bool open =
      dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
  return open ? dim->dim_param : "a number";
}

/* Every input and output has it first; no shape that is given says a number;
 * the net comes back as that of one sample. tests/onnx.js runs such models. */
static void a_batch_can_be_left_open(void **state) {
  (void)state;
  static const char *const nets[] = {
      "examples/zoo/vit.net", "examples/zoo/lstm_lm.net",
      "tests/data/onnx/shapes.net", "tests/data/onnx/sequences.net"};
  const char *folder = scratch("onnx-open");
  for (size_t n = 0; n < sizeof nets / sizeof *nets; n++) {
    Onnx__ModelProto *model = export(nets[n], "--dynamic");
    const Onnx__GraphProto *g = model->graph;
    for (size_t i = 0; i < g->n_input; i++)
      assert_string_equal(batch_of(g->input[i]), "batch");
    for (size_t i = 0; i < g->n_output; i++)
      assert_string_equal(batch_of(g->output[i]), "batch");
    for (size_t i = 0; i < g->n_initializer; i++)
      for (size_t k = 0; k < g->initializer[i]->n_int64_data; k++)
        assert_true(g->initializer[i]->int64_data[k] % 59 != 0 ||
                    g->initializer[i]->int64_data[k] == 0);
    drop(model);
  }
  struct run r =
      run("%s examples/zoo/lenet5.net --no-source -o %s/a.onnx && %s "
          "examples/zoo/lenet5.net --dynamic --no-source -o "
          "%s/b.onnx && cd %s && %s import a.onnx >a.net && %s import b.onnx | "
          "cmp - "
          "a.net",
          NETC, folder, NETC, folder, folder, NETC_PATH, NETC_PATH);
  assert_int_equal(r.status, 0);
  run_free(&r);
  r = run("%s tests/data/onnx/boxes.net --dynamic -o %s/c.onnx; echo $?; "
          "%s examples/zoo/lenet5.net --dynamic; echo $?; ls %s/c.onnx",
          NETC, folder, NETC, folder);
  assert_string_equal(r.out, "1\n2\n");
  assert_holds(r.err, "`roialign1` depends on the number of samples");
  assert_holds(r.err, "--dynamic needs a model to write: add `-o x.onnx`");
  run_free(&r);
}

/* Zeros and ones: a few inside, many beside the model, where zeros take no
 * room on disk. */
static void weights_that_are_not_given_take_no_room(void **state) {
  (void)state;
  const char *folder = scratch("onnx-zeros");
  Onnx__ModelProto *model = export_text("input 4x4x2\nconv 3 3x3 bn\n", "");
  assert_int_equal(count_nodes(model, "ConstantOfShape"), 0);
  assert_int_equal(count_weights(model->graph), 3 * 18 + 4 * 3);
  for (size_t i = 0; i < model->graph->n_initializer; i++) {
    const Onnx__TensorProto *tensor = model->graph->initializer[i];
    const char *dot = strrchr(tensor->name, '.');
    bool one = strcmp(tensor->name, "conv1.bn.weight") == 0 ||
               strcmp(dot, ".running_var") == 0;
    float value;
    memcpy(&value, tensor->raw_data.data, sizeof value);
    assert_float_equal(value, one ? 1 : 0, 0);
  }
  drop(model);
  struct run r = run(
      "cd %s && printf 'input 9\nfc 5000000\n' >a.net && %s a.net --no-source "
      "-o a.onnx && stat -c %%s a.onnx.data && test $(stat -c %%b a.onnx.data) "
      "-lt 1000 && "
      "test $(stat -c %%s a.onnx) -lt 10000 && %s a.net --emit=onnx | wc -c && "
      "%s import a.onnx && %s a.onnx --emit=csv | tail -n1 | wc -l",
      folder, NETC_PATH, NETC_PATH, NETC_PATH, NETC_PATH);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "200000000\n20000");
  assert_holds(r.out, "fc 5000000\n");
  run_free(&r);
  /* 290 MB of zeros, of which nothing is read. */
  r = run(
      "cd %s && printf 'input 4x1900\nrepeat 20 { linear 1900 nobias }\n' "
      ">b.net && "
      "%s b.net --no-source -o b.onnx && (ulimit -v 200000; %s import b.onnx)",
      folder, NETC_PATH, NETC_PATH);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "linear 1900 nobias");
  run_free(&r);
}

static void plain_nets_transpose_nothing(void **state) {
  (void)state;
  static const char *const nets[] = {
      "alexnet",      "cnn50",  "darknet53", "dcgan_g",      "deeplabv3",
      "densenet",     "fcn",    "googlenet", "inception_v3", "lenet5",
      "mobilenet_v3", "r3d_18", "resnet",    "squeezenet",   "unet",
      "vgg",          "yolov3", "m5",        "efficientnet"};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char path[128];
    snprintf(path, sizeof path, "examples/zoo/%s.net", nets[i]);
    Onnx__ModelProto *model = export(path, "");
    if (count_nodes(model, "Transpose"))
      print_error("%s\n", path);
    assert_int_equal(count_nodes(model, "Transpose"), 0);
    drop(model);
  }
}

static void equal_nets_give_equal_bytes(void **state) {
  (void)state;
  const char *folder = scratch("onnx-equal");
  struct run r =
      run("for n in 1 2; do mkdir -p %s/$n && %s "
          "examples/zoo/swin.net --opset 17 -o %s/$n/a.onnx || exit; "
          "done; cmp %s/1/a.onnx %s/2/a.onnx && "
          "cmp %s/1/a.onnx.data %s/2/a.onnx.data",
          folder, NETC, folder, folder, folder, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* ONNX's own checker and inference, where Python has them. */
static void the_checker_agrees_with_every_shape(void **state) {
  (void)state;
  skip_without_python("onnx");
  const char *folder = scratch("onnx-checked");
  struct run r =
      run("for n in examples/*.net examples/zoo/*.net; do for o in 13 17; do "
          "%s $n --opset $o -o %s/$(basename $n .net).$o.onnx 2>&1 | grep -v "
          "-e 'netc can measure the net, but not run it' -e 'needs `--opset 1' "
          "| grep '^netc:' && exit 1; done; done; for n in "
          "tests/data/onnx/*.net; do for o in $(seq 11 17); do %s $n --opset "
          "$o --batch 3 -o %s/test.$(basename $n .net).$o.onnx 2>/dev/null || "
          "case $n in *later.net | *places.net);; *) exit 1;; esac; done; "
          "done; /usr/bin/python3 tests/onnx_check.py %s/*.onnx",
          NETC, folder, NETC, folder, folder);
  if (r.status)
    print_error("%s%s\n", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* Weights */

static void weights_are_those_of_the_file(void **state) {
  (void)state;
  static const char text[] = "input 5x4x2\nconv 3 3x2\nfc 4\n";
  const char *folder = scratch("onnx-weights");
  char options[1400], path[1200];
  snprintf(path, sizeof path, "%s/w.safetensors", folder);
  snprintf(options, sizeof options, "--weights %s", path);
  write_in(folder, "net.net", text);
  struct run r =
      run("%s weights %s/net.net --random 1 -o %s", NETC, folder, path);
  assert_int_equal(r.status, 0);
  run_free(&r);
  Onnx__ModelProto *model = export_text(text, options);
  size_t length, found = 0;
  char *file = read_text(path, &length);
  assert_int_equal(count_nodes(model, "ConstantOfShape"), 0);
  for (size_t i = 0; i < model->graph->n_initializer; i++) {
    const Onnx__TensorProto *tensor = model->graph->initializer[i];
    if (!tensor->has_raw_data)
      continue;
    /* The bytes of the file, whole and in its order of axes. */
    bool there = false;
    for (size_t at = 0; at + tensor->raw_data.len <= length; at++)
      there = there || memcmp(file + at, tensor->raw_data.data,
                              tensor->raw_data.len) == 0;
    assert_true(there);
    if (strcmp(tensor->name, "conv1.weight") == 0) {
      assert_int_equal(tensor->n_dims, 4);
      assert_int_equal(tensor->dims[0], 3);
      assert_int_equal(tensor->dims[1], 2);
      assert_int_equal(tensor->dims[2], 3);
      assert_int_equal(tensor->dims[3], 2);
    }
    found++;
  }
  assert_int_equal(found, 4);
  free(file);
  drop(model);
}

static void names_of_weights_that_do_not_fit_are_said(void **state) {
  (void)state;
  const char *folder = scratch("onnx-unfit");
  write_in(folder, "a.net", "input 4\nfc 2\n");
  write_in(folder, "b.net", "input 4\nfc 3\n");
  struct run r = run("cd %s && %s weights a.net --random 1 -o a.safetensors && "
                     "%s b.net --weights a.safetensors -o b.onnx; echo $?; "
                     "ls *.onnx",
                     folder, NETC_PATH, NETC_PATH);
  assert_string_equal(r.out, "1\n");
  assert_holds(r.err, "tensor `fc1.weight` is 2x4, but `fc1.weight` needs 3x4");
  run_free(&r);
}

/* netc_operation: what is exported is data of the library. */
static void operations_are_data(void **state) {
  (void)state;
  static const char text[] = "net two\ninput t 4x6x2\nconv 3 3x2\nfc 5\n";
  static const char *const codes[] = {"conv", "linear"};
  struct netc_operation op = {.size = sizeof op};
  struct netc_operand operand;
  struct netc *netc = netc_open(NULL, NULL);
  assert_string_equal(netc_name(netc), "");
  assert_int_equal(netc_operation(netc, 0, &op), NETC_USAGE);
  netc_set(netc, "batch", "7");
  assert_int_equal(netc_load_text(netc, "t", text, strlen(text)), NETC_OK);
  assert_string_equal(netc_name(netc), "two");
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(netc_operation(netc, i, &op), NETC_OK);
    assert_string_equal(op.code, codes[i]);
    assert_int_equal(op.in_count, 3);
    assert_int_equal(op.ins[0].tensor, -1);
    assert_int_equal(op.ins[1].block, -1);
    assert_int_equal(op.ins[1].tensor, 2 * i);
    assert_int_equal(op.ins[0].dims[0], 7);
  }
  /* 2x5x3 values that the product sees as one vector */
  assert_int_equal(op.ins[0].rank, 2);
  assert_int_equal(op.ins[0].dims[1], 30);
  assert_int_equal(op.ins[0].strides[0], 30);
  assert_int_equal(netc_operation(netc, 2, &op), NETC_USAGE);
  assert_int_equal(netc_input_operand(netc, 0, &operand), NETC_OK);
  assert_int_equal(operand.rank, 4);
  assert_int_equal(operand.strides[3], 1);
  assert_int_equal(netc_input_operand(netc, 1, &operand), NETC_USAGE);
  assert_int_equal(netc_output_operand(netc, 0, &operand), NETC_OK);
  assert_int_equal(operand.block, op.outs[0].block);
  assert_int_equal(netc_output_operand(netc, 1, &operand), NETC_USAGE);
  netc_close(netc);
}

/* The command */

static void mistakes_are_named(void **state) {
  (void)state;
  const char *folder = scratch("onnx-mistakes");
  write_in(folder, "mirror.net", "input 4x4x2\nmirror: pad 5 reflect\n");
  write_in(folder, "ok.net", "input 4\nfc 2\n");
  write_in(folder, "huge.net", "input 9000x9000x1\nadaptpool 8999\n");
  write_in(folder, "steps.net",
           "input 9x9x2\nmean: avgpool 3x3 /3 dilate=2 ceil\n");
  static const struct {
    const char *options, *said;
    int status;
  } rows[] = {
      {"ok.net --opset 22 -o a.onnx", "--opset", 2},
      {"ok.net --opset 10 -o a.onnx", "--opset", 2},
      {"ok.net --weights w.safetensors", "-o x.onnx", 2},
      {"ok.net --weights none.safetensors -o a.onnx", "none.safetensors", 3},
      {"ok.net --weights ok.net -o a.onnx", "ok.net: error", 1},
      {"ok.net -o none/a.onnx", "cannot write none/a.onnx", 3},
      {"mirror.net -o a.onnx",
       "mirror.net: `mirror` cannot be written as ONNX: Pad cannot mirror "
       "more than the map",
       1},
      {"huge.net -o a.onnx",
       "`adaptpool1` cannot be written as ONNX: it would need a constant of "
       "more than 2^26 values",
       1},
      {"steps.net -o a.onnx",
       "AveragePool with dilation needs `--opset 19` or later", 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct run r = run("cd %s && %s %s; s=$?; test ! -e a.onnx && exit $s",
                       folder, NETC_PATH, rows[i].options);
    assert_int_equal(r.status, rows[i].status);
    assert_holds(r.err, rows[i].said);
    run_free(&r);
  }
}

static bool has_input(const Onnx__ModelProto *model, const char *name,
                      int32_t type, size_t rank) {
  for (size_t i = 0; i < model->graph->n_input; i++) {
    const Onnx__ValueInfoProto *input = model->graph->input[i];
    if (strcmp(input->name, name) == 0)
      return input->type->tensor_type->elem_type == type &&
             input->type->tensor_type->shape->n_dim == rank;
  }
  return false;
}

static void ends_keep_their_names_and_types(void **state) {
  (void)state;
  static const char *const outputs[] = {"same", "a", "b", "c"};
  Onnx__ModelProto *model = export("tests/data/onnx/ends.net", "");
  assert_true(has_input(model, "picture", 1, 4));
  assert_true(has_input(model, "constant", 1, 2));
  assert_int_equal(model->graph->n_output, 4);
  for (size_t i = 0; i < 4; i++)
    assert_string_equal(model->graph->output[i]->name, outputs[i]);
  drop(model);
  model = export("tests/data/onnx/sequences.net", "--batch 2");
  assert_true(has_input(model, "words", 7, 2));
  assert_true(has_input(model, "tokens", 6, 2));
  assert_true(has_input(model, "sound", 1, 3));
  drop(model);
}

/* N, L, C, or N, C, L: never steps before the batch. */
static void outputs_have_their_batch_first(void **state) {
  (void)state;
  Onnx__ModelProto *model =
      export("tests/data/onnx/recurrent.net", "--batch 3");
  assert_int_equal(model->graph->n_output, 5);
  for (size_t i = 0; i < model->graph->n_output; i++) {
    const Onnx__TensorShapeProto *shape =
        model->graph->output[i]->type->tensor_type->shape;
    assert_int_equal(shape->n_dim, 3);
    assert_int_equal(shape->dim[0]->dim_value, 3);
  }
  drop(model);
}

/* onnxruntime joins a Pad with a pool, which may then be smaller than it. */
static void a_pool_of_single_values_is_a_slice(void **state) {
  (void)state;
  Onnx__ModelProto *model =
      export_text("input 9x7x4\npad 0:1\navgpool 1x1 /2\n", "");
  assert_int_equal(count_nodes(model, "AveragePool"), 0);
  assert_int_equal(count_nodes(model, "Slice"), 1);
  drop(model);
}

/* The name of the file is that of the net, where it has no other. */
static void hostile_names_do_no_harm(void **state) {
  (void)state;
  const char *folder = scratch("onnx-names");
  char path[1300];
  snprintf(path, sizeof path, "%s/a\"<b>&'\\\n\xE2\x80\xAEx\xFF().net", folder);
  write_text(path, "input 4\nfc 2\n", 13);
  struct run r = run("cd %s && for n in *.net; do %s \"./$n\" -o x.onnx && "
                     "%s - -o y.onnx <\"./$n\"; done",
                     folder, NETC_PATH, NETC_PATH);
  assert_int_equal(r.status, 0);
  run_free(&r);
  for (const char *name = "xy"; *name; name++) {
    snprintf(path, sizeof path, "%s/%c.onnx", folder, *name);
    Onnx__ModelProto *model = read_model(path);
    assert_null(strchr(model->graph->name, '\xFF'));
    assert_null(strchr(model->graph->name, '\n'));
    assert_true(*model->graph->name);
    drop(model);
  }
}

/* Completeness: tests/data/onnx_nodes.md */

static const struct {
  const char *code, *nodes;
} forms[] = {
#define FORM(code, function, nodes) {#code, nodes},
#include "export/forms.def"
#undef FORM
#define FUNCTION(id, ...) {#id, NULL},
#include "ops/ops.def"
};

static const struct {
  const char *code;
} operations[] = {
#define OP(code, name, ...) {#name},
#include "runtime/ops.def"
#undef OP
};

/* An operation that is missing is refused by name; here it is asked for. Those
 * of 8 bits and of weights in fewer bits, and line buffers, are the runtime's
 * alone: a file says what they are in float32, of whole maps. */
static void every_operation_has_a_form(void **state) {
  (void)state;
  size_t missing = 0, own = 0;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    bool found = strncmp(operations[i].code, "q8", 2) == 0 ||
                 strcmp(operations[i].code, "nconv") == 0 ||
                 strcmp(operations[i].code, "nlinear") == 0 ||
                 strcmp(operations[i].code, "nexperts") == 0 ||
                 strcmp(operations[i].code, "linebuffer") == 0;
    own += found;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
      found = found || strcmp(operations[i].code, forms[k].code) == 0;
    if (!found)
      print_error("forms.def has no row of %s\n", operations[i].code);
    missing += !found;
  }
  assert_int_equal(missing, 0);
  assert_int_equal(sizeof forms / sizeof *forms + own,
                   sizeof operations / sizeof *operations);
}

static void put_ops(struct text *out, const Onnx__GraphProto *graph) {
  const char *before = "";
  size_t begin = out->length, times = 0;
  for (size_t i = 0; i <= graph->n_node; i++) {
    const char *op = i < graph->n_node ? graph->node[i]->op_type : "";
    if (strcmp(op, before) == 0) {
      times++;
      continue;
    }
    if (times > 1)
      text_printf(out, " x%zu", times);
    if (*op)
      text_printf(out, "%s%s", out->length > begin ? ", " : "", op);
    before = op;
    times = 1;
  }
  if (out->length == begin)
    text_put(out, "nothing");
}

static void put_layer(struct text *out, const struct netc_layer_kind *kind) {
  const char *input = "8x8x4", *written = kind->name;
  char net[256], path[1200];
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
    if (strcmp(samples[i].layer, kind->name) == 0) {
      input = samples[i].input;
      written = samples[i].written;
    }
  snprintf(net, sizeof net, "input t %s\n%sfrom t\n%s\n", input,
           second_input(written), written);
  snprintf(path, sizeof path, "%s/net.net", scratch("onnx-layer"));
  write_text(path, net, strlen(net));
  text_printf(out, "| `%s` | `%s` on %.*s | ", kind->name, written,
              (int)strcspn(input, " "), input);
  struct run r = run("%s %s --opset 17 -o %s.onnx", NETC, path, path);
  const char *why = strstr(r.err, "cannot be written as ONNX: ");
  if (why) {
    why += strlen("cannot be written as ONNX: ");
    text_printf(out, "none: %.*s |\n", (int)strcspn(why, "\n"), why);
    run_free(&r);
    return;
  }
  if (r.status)
    print_error("%s%s\n", net, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  strcat(path, ".onnx");
  Onnx__ModelProto *model = read_model(path);
  /* An operator that renames an input is not the layer's. */
  if (model->graph->n_node == 1 && count_nodes(model, "Identity"))
    text_put(out, "nothing");
  else
    put_ops(out, model->graph);
  text_put(out, " |\n");
  drop(model);
}

/* "Mish needs `--opset 18 on; before, Softplus, Tanh, Mul" */
static void put_function(struct text *out, const struct function *function) {
  const char *own = function->names[IN_ONNX];
  if (own)
    text_put(out, own);
  if (own && function->since)
    text_printf(out, " from opset %d on; before, ", function->since);
  for (const char *at = function->steps; *at; at++)
    if (*at == ' ')
      text_put(out, ", ");
    else
      text_putc(out, *at);
}

static void put_tables(struct text *out) {
  struct netc_layer_kind kind = {.size = sizeof kind};
  text_put(out, "| layer | as written | nodes, at opset 17 |\n|---|---|---|\n");
  for (size_t i = 0; netc_layer_kind(i, &kind) == NETC_OK; i++)
    put_layer(out, &kind);
  text_put(out, "\n| operation | nodes |\n|---|---|\n");
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (forms[i].nodes)
      text_printf(out, "| %s | %s |\n", forms[i].code, forms[i].nodes);
  for (size_t i = 0; function_at(i); i++) {
    text_printf(out, "| %s | ", function_at(i)->opcode);
    put_function(out, function_at(i));
    text_put(out, " |\n");
  }
}

/* The tables of the manual are what the program does; make docs. */
static void the_manual_has_every_layer(void **state) {
  (void)state;
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  struct text tables = text_new(&arena);
  put_tables(&tables);
  text_putc(&tables, '\0');
  check_part("tests/data/onnx_nodes.md", "<!-- made by tests/test_onnx.c -->\n",
             "<!-- until here -->\n", tables.at);
  arena_close(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_net_becomes_a_whole_model),
      cmocka_unit_test(later_opsets_have_more_operators),
      cmocka_unit_test(a_batch_can_be_left_open),
      cmocka_unit_test(weights_that_are_not_given_take_no_room),
      cmocka_unit_test(plain_nets_transpose_nothing),
      cmocka_unit_test(equal_nets_give_equal_bytes),
      slow_test(the_checker_agrees_with_every_shape),
      cmocka_unit_test(weights_are_those_of_the_file),
      cmocka_unit_test(names_of_weights_that_do_not_fit_are_said),
      cmocka_unit_test(operations_are_data),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(outputs_have_their_batch_first),
      cmocka_unit_test(a_pool_of_single_values_is_a_slice),
      cmocka_unit_test(ends_keep_their_names_and_types),
      cmocka_unit_test(hostile_names_do_no_harm),
      cmocka_unit_test(every_operation_has_a_form),
      cmocka_unit_test(the_manual_has_every_layer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
