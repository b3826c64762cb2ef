/*
 * netc import of ONNX: models of others have the counts that are known of
 * them, what -o x.onnx writes comes back, and hostile files are refused.
 */
#define _XOPEN_SOURCE 700
#include "onnx.pb-c.h"

#include "base/arena.h"

#include "tests/imported.h"

#define DATA "tests/data/import/onnx"

enum { MOST = 64 };

static void check_totals(const char *path, const char *source, int64_t params,
                         int64_t macs) {
  struct netc_totals totals = totals_of(path, source);
  if (totals.param_count != params || totals.mac_count != macs)
    print_error("%s: ", path);
  assert_int_equal(totals.param_count, params);
  assert_int_equal(totals.mac_count, macs);
}

/* Parameters and multiplications are those of the original frameworks. */
static void models_of_others_have_their_counts(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t params, macs;
    int lines;
  } nets[] = {{"light_squeezenet", 1235496, 349151936, 14},
              {"light_resnet50", 25557032, 4089184256, 31},
              {"light_shufflenet", 1393320, 124664528, 21},
              {"light_inception_v1", 6998552, 1431556352, 29},
              {"resnet18", 11689512, 1814073344, 15},
              {"siamese", 137, 13864, 16}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char path[128];
    snprintf(path, sizeof path, "tests/data/import/onnx/%s.onnx", nets[i].name);
    char *source = import(path, "");
    char *flat = import(path, "--flat");
    check_totals(path, source, nets[i].params, nets[i].macs);
    check_totals(path, flat, nets[i].params, nets[i].macs);
    if (line_count(source) > nets[i].lines)
      print_error("%s:\n%s", path, source);
    assert_true(line_count(source) <= nets[i].lines);
    free(source);
    free(flat);
  }
}

/*
 * torch.onnx writes a Linear that is used twice with two equal matrices and one
 * bias, and two layers that are copies alike: both count, and a note says so.
 */
static void equal_matrices_are_noted(void **state) {
  (void)state;
  const char *path = DATA "/siamese_seq.onnx";
  char *source = import(path, "");
  check_totals(path, source, 384, 2 * 11 * (14 * 8 + 8 * 8));
  assert_holds(source, "# 2 layers have the bias and the matrix values of "
                       "another layer, such as `enc.0.bias`. Each is");
  free(source);
  source = import(DATA "/siamese.onnx", "");
  assert_null(strstr(source, "Each is counted"));
  free(source);
  /* Other values in one of them: there is one pair less. */
  size_t length;
  char *bytes = read_text(path, &length), copy[700];
  size_t last = 0; /* the initializer's name, which its values follow */
  for (size_t i = 0; i + 4 < length; i++)
    last = memcmp(bytes + i, "w2_1", 4) == 0 ? i : last;
  bytes[last + 16] ^= 1;
  snprintf(copy, sizeof copy, "%s/a.onnx", scratch("equal-matrices"));
  write_text(copy, bytes, length);
  source = import(copy, "");
  assert_holds(source, "# 1 layer has the bias");
  free(source);
  free(bytes);
}

static void *take_in(void *arena, size_t size) {
  return arena_alloc(arena, size ? size : 1, 1);
}

static void leave_in(void *arena, void *block) {
  (void)arena;
  (void)block;
}

/* As PyTorch exports for evaluation: a convolution has the bias of the batch
 * norm after it, of which nothing else is left. */
static void fold_norms(Onnx__GraphProto *graph, struct arena *arena,
                       bool renames) {
  size_t kept = 0;
  for (size_t i = 0; i < graph->n_node; i++) {
    Onnx__NodeProto *bn = graph->node[i], *conv = NULL;
    bool norm = strcmp(bn->op_type, "BatchNormalization") == 0;
    for (size_t k = 0; norm && k < kept; k++)
      if (strcmp(graph->node[k]->output[0], bn->input[0]) == 0)
        conv = graph->node[k];
    if (!conv) {
      graph->node[kept++] = bn;
      continue;
    }
    char **inputs = arena_alloc(arena, 3, sizeof *inputs);
    memcpy(inputs, conv->input, 2 * sizeof *inputs);
    inputs[2] = bn->input[2];
    if (renames) { /* it makes another weight */
      inputs[1] = arena_alloc(arena, 32, 1);
      snprintf(inputs[1], 32, "onnx::Conv_%zu", i);
    }
    for (size_t k = 0; k < graph->n_initializer && renames; k++)
      if (strcmp(graph->initializer[k]->name, conv->input[1]) == 0)
        graph->initializer[k]->name = inputs[1];
    for (size_t k = 0; k < graph->n_node && renames; k++)
      if (strcmp(graph->node[k]->output[0], conv->input[1]) == 0)
        graph->node[k]->output[0] = inputs[1];
    conv->input = inputs;
    conv->n_input = 3;
    conv->output[0] = bn->output[0];
  }
  graph->n_node = kept;
}

static void write_folded(const char *path, bool renames) {
  struct arena arena;
  size_t size;
  char *bytes = read_text("tests/data/import/onnx/resnet18.onnx", &size);
  arena_open(&arena, NULL, NULL);
  ProtobufCAllocator in_arena = {take_in, leave_in, &arena};
  Onnx__ModelProto *model =
      onnx__model_proto__unpack(&in_arena, size, (uint8_t *)bytes);
  assert_non_null(model);
  fold_norms(model->graph, &arena, renames);
  uint8_t *packed =
      arena_alloc(&arena, onnx__model_proto__get_packed_size(model), 1);
  write_text(path, (char *)packed, onnx__model_proto__pack(model, packed));
  arena_close(&arena);
  free(bytes);
}

/* They are told, and --assume-bn has them back: the same net. */
static void batch_norms_that_were_folded_are_told(void **state) {
  (void)state;
  const char *folder = scratch("folded");
  char path[300];
  snprintf(path, sizeof path, "%s/folded.onnx", folder);
  write_folded(path, false);
  struct run r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.err, ""); /* each weight is a module's */
  assert_null(strstr(r.out, "Batch norms"));
  run_free(&r);
  write_folded(path, true);
  r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 0);
  assert_holds(r.err, "note: PyTorch's exporter folds batch norms into");
  assert_holds(r.err,
               "PyTorch's exporter folds batch norms into convolutions: 20");
  assert_holds(r.err, "`netc import --assume-bn` writes them");
  assert_holds(r.out, "# Batch norms may be missing after 20 ");
  assert_null(strstr(r.out, " bn "));
  run_free(&r);
  r = run("%s import $(ls tests/data/import/caffe/*.prototxt | head -n 1) "
          "--assume-bn",
          NETC);
  assert_int_equal(r.status, 2);
  assert_holds(r.err,
               "--assume-bn needs an ONNX file; tests/data/import/caffe/");
  run_free(&r);
  char *whole = import("tests/data/import/onnx/resnet18.onnx", "");
  char *back = import(path, "--assume-bn");
  assert_holds(back,
               "# The file has a bias instead of 20 of these batch norms.\n");
  assert_same_text("resnet18", strstr(whole, "input "), strstr(back, "input "));
  free(whole);
  free(back);
  r = run("cd %s && n=$OLDPWD/%s && $n import folded.onnx -o a.net 2>/dev/null "
          "&& $n import folded.onnx --assume-bn --weights w.safetensors -o "
          "b.net && $n weights b.net --check w.safetensors && for f in a.net "
          "b.net $OLDPWD/examples/zoo/resnet.net; do $n $f --gpu rtx3090 "
          "--batch 1200 --emit=json $(case $f in */resnet.net) echo -D "
          "depth=18;; esac) | "
          "grep -o '\"largest_batch\": [0-9]*' | tail -n 1; done | awk '{ "
          "l[NR] = $0 } END { if (NR == 3 && l[1] != l[2] && "
          "l[2] == l[3]) print \"more, then as many as in the zoo\" }'",
          folder, NETC);
  assert_string_equal(r.out, "more, then as many as in the zoo\n");
  run_free(&r);
}

/* From netc to ONNX and back: as many parameters and multiplications. */
static void exports_come_back(void **state) {
  (void)state;
  static const char *const nets[] = {
      "examples/zoo/resnet.net",        "examples/zoo/mobilenet_v3.net",
      "examples/zoo/efficientnet.net",  "examples/zoo/densenet.net",
      "examples/zoo/googlenet.net",     "examples/zoo/inception_v3.net",
      "examples/zoo/shufflenet_v2.net", "examples/zoo/squeezenet.net",
      "examples/zoo/convnext.net",      "examples/zoo/vit.net",
      "examples/zoo/gpt2.net",          "examples/zoo/yolov3.net",
      "examples/zoo/unet.net",          "examples/zoo/lstm_lm.net",
      "examples/zoo/gru_lm.net",        "examples/zoo/dcgan_g.net",
      "examples/zoo/mlp_mixer.net",     "examples/zoo/m5.net",
      "examples/zoo/lenet5.net",        "examples/zoo/detr.net",
      "examples/zoo/stylegan2_g.net"};
  const char *folder = scratch("round");
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/x.onnx", folder);
    struct run r = run("%s %s -o %s", NETC, nets[i], path);
    assert_int_equal(r.status, 0);
    run_free(&r);
    char *text = read_text(nets[i], NULL);
    struct netc_totals before = totals_of(nets[i], text);
    char *source = import(path, "");
    check_totals(nets[i], source, before.param_count, before.mac_count);
    assert_true(line_count(source) <= 2 * line_count(text) + 12);
    free(source);
    free(text);
  }
}

/* Where as many lines would do, stages have the numbers of the paper: not five
 * layers and one more. */
static void stages_are_as_long_as_in_the_paper(void **state) {
  (void)state;
  const char *folder = scratch("stages");
  struct run r = run("%s examples/zoo/densenet.net --no-source -o %s/x.onnx && "
                     "%s import %s/x.onnx | grep '^stage ' | tr '\\n' ' '",
                     NETC, folder, NETC, folder);
  assert_string_equal(r.out, "stage 6 stage 12 stage 24 stage 16 ");
  run_free(&r);
}

/* Windows of 1x1 hide their `pad`: one def serves them, with others or alone,
 * also where it has more text. */
static void windows_of_one_are_no_other_block(void **state) {
  (void)state;
  static const char conv[] = "input 32x32x3\ndef block(c, k, s) {\n"
                             "  conv c k /s pad bn\n  scale bias relu\n}\n";
  static const char two[] = "def block2(c1, c2, s) {\n"
                            "  block c1 1x1 1\n  block c2 3x3 s\n}\n";
  static const char *const nets[] = {
      "block 64 7x7 2\nblock 24 1x1 1\nblock 192 3x3 1\nblock 40 1x1 1\n"
      "block 128 3x3 2\nblock 16 1x1 1\n",
      "block 64 7x7 2\npool 3x3 /2 pad\nblock2 64 192 1\n"
      "concat { block 64 1x1 1 } { block2 64 96 1 } "
      "{ block2 32 48 1; block 40 3x3 1 } "
      "{ avgpool 3x3 /1 pad; block 16 1x1 1 }\n"
      "concat { block 352 1x1 1 } { block2 192 320 1 } "
      "{ block 192 1x1 1; repeat 2 { block 224 3x3 1 } } "
      "{ pool 3x3 /1 pad; block 128 1x1 1 }\nblock 100 1x1 1\n"};
  const char *folder = scratch("ones");
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char text[1200], path[512];
    snprintf(text, sizeof text, "%s%s%sgap\nfc 10\n", conv, i ? two : "",
             nets[i]);
    write_in(folder, "x.net", text);
    struct run r =
        run("%s %s/x.net --no-source -o %s/x.onnx", NETC, folder, folder);
    assert_int_equal(r.status, 0);
    run_free(&r);
    snprintf(path, sizeof path, "%s/x.onnx", folder);
    struct netc_totals before = totals_of(path, text);
    char *source = import(path, "");
    check_totals(path, source, before.param_count, before.mac_count);
    assert_int_equal(count_of(source, "\ndef "), 1);
    assert_int_equal(count_of(source, " pad bn\n"), 1);
    free(source);
  }
}

/* True if `--types` says that some operator of the model becomes `word`. */
static bool is_promised(const Onnx__GraphProto *g, char *types,
                        const char *word) {
  static const char *const moves[] = {"input",   "weight",  "identity",
                                      "reshape", "permute", "flatten",
                                      "shuffle"};
  char line[64], wanted[64];
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
    if (strcmp(word, moves[i]) == 0)
      return true;
  snprintf(wanted, sizeof wanted, " %s ", word);
  for (size_t i = 0; i < g->n_node; i++) {
    snprintf(line, sizeof line, "ONNX\t%s\t", g->node[i]->op_type);
    const char *row = strstr(types, line);
    char words[160];
    if (!row)
      print_error("--types has no %s\n", g->node[i]->op_type);
    assert_non_null(row);
    row += strlen(line);
    snprintf(words, sizeof words, " %.*s ", (int)strcspn(row, "\n"), row);
    if (strstr(words, wanted))
      return true;
  }
  return false;
}

static void check_types(char *types, const char *path) {
  size_t size;
  char *bytes = read_text(path, &size);
  Onnx__ModelProto *model =
      onnx__model_proto__unpack(NULL, size, (const uint8_t *)bytes);
  assert_non_null(model);
  char *source = import(path, "");
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_load_text(netc, path, source, strlen(source)), NETC_OK);
  for (size_t i = 0; i < netc_layer_count(netc); i++) {
    struct netc_layer layer = {.size = sizeof layer};
    assert_int_equal(netc_layer(netc, i, &layer), NETC_OK);
    if (!is_promised(model->graph, types, layer.op))
      print_error("%s: no operator of --types becomes `%s`\n", path, layer.op);
    assert_true(is_promised(model->graph, types, layer.op));
  }
  netc_close(netc);
  free(source);
  onnx__model_proto__free_unpacked(model, NULL);
  free(bytes);
}

/* The files here become the layers that `netc import --types` lists. */
static void layers_are_those_that_the_list_has(void **state) {
  (void)state;
  static const char *const nets[] = {
      "examples/zoo/mobilenet_v3.net", "examples/zoo/convnext.net",
      "examples/zoo/gpt2.net",         "examples/zoo/gru_lm.net",
      "examples/zoo/dcgan_g.net",      "examples/zoo/yolov3.net",
      "tests/data/onnx/windows.net",   "tests/data/onnx/shapes.net",
      "tests/data/onnx/boxes.net"};
  struct run r = run("%s import --types", NETC);
  assert_int_equal(r.status, 0);
  struct paths paths = find_paths(DATA, ".onnx");
  assert_true(paths.count > 5);
  for (size_t i = 0; i < paths.count; i++)
    check_types(r.out, paths.at[i]);
  paths_free(&paths);
  const char *folder = scratch("types");
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char path[1100];
    snprintf(path, sizeof path, "%s/x.onnx", folder);
    struct run written = run("%s %s --no-source -o %s", NETC, nets[i], path);
    assert_int_equal(written.status, 0);
    run_free(&written);
    check_types(r.out, path);
  }
  run_free(&r);
}

/* A model gives the values of NAME.y.npy for those of NAME.x.npy. Returns its
 * source, to be freed. */
static char *check_model(const char *model, const char *name, int batch,
                         int64_t parameters) {
  const char *folder = scratch(name);
  char options[1024], net[512];
  struct run r = run("%s import " DATA "/%s --weights %s/w.safetensors "
                     "-o %s/x.net",
                     NETC, model, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  snprintf(net, sizeof net, "%s/x.net", folder);
  char *source = read_text(net, NULL);
  if (parameters)
    assert_int_equal(totals_of(net, source).param_count, parameters);
  snprintf(options, sizeof options,
           "--weights %s/w.safetensors --batch %d --input " DATA "/%s.x.npy",
           folder, batch, name);
  char *values = values_of(folder, net, options);
  r = run("od -An -tfF -j128 " DATA "/%s.y.npy", name);
  assert_near(values, r.out);
  run_free(&r);
  free(values);
  return source;
}

static char *check_values(const char *name, int batch, int64_t parameters) {
  char model[64];
  snprintf(model, sizeof model, "%s.onnx", name);
  return check_model(model, name, batch, parameters);
}

/*
 * What PyTorch writes out: gates, a group norm, attention, gelu, an LSTM's
 * last state. The layers are found, and give what PyTorch gave.
 */
static void a_net_of_pytorch_gives_its_values(void **state) {
  (void)state;
  static const char *const found[] = {
      "bias bn silu", "gn 2 hswish", "attention 3", "gelu; linear 12",
      "lstm 5 bidir", "fc 7 relu",   "ln"};
  char *source = check_values("tiny", 1, 3627);
  for (size_t i = 0; i < sizeof found / sizeof *found; i++)
    assert_holds(source, found[i]);
  free(source);
}

/* ONNX' own answer: the reset gate before the product, a batch behind steps. */
static void a_gru_gives_what_onnx_says(void **state) {
  (void)state;
  char *source = check_values("gru", 3, 0);
  assert_holds(source, "gru 5 reset=before last");
  free(source);
}

/* Rows by indices that are repeated for each value. */
static void rows_are_gathered_as_pytorch_does(void **state) {
  (void)state;
  char *source = check_values("rows", 1, 0);
  assert_holds(source, "\ngather indices=TopK -> 3x8\n");
  free(source);
}

/* torchvision's windows: masks that it computes by ScatterND, and biases whose
 * rows it picks, or has picked. */
static void windows_that_are_shifted_are_found(void **state) {
  (void)state;
  static const char *const models[] = {"windows.onnx.gz", "picked.onnx.gz"};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    char *source = check_model(models[i], "windows", 1, 820);
    assert_holds(source, "attention 2 relative=4x4 packed");
    assert_holds(source, "attention 2 relative=4x4 shift=2 packed");
    assert_null(strstr(source, "weight"));
    free(source);
  }
}

/* Weights make the round, too: the same inputs give the same outputs. */
static void check_round(const char *folder, const char *net, int opset) {
  char path[512], options[1024];
  struct run r =
      run("%s weights %s --random 3 -o %s/a.safetensors && "
          "%s %s --weights %s/a.safetensors --opset %d --no-source "
          "-o %s/x.onnx && "
          "%s import %s/x.onnx --weights %s/b.safetensors -o %s/x.net",
          NETC, net, folder, NETC, net, folder, opset, folder, NETC, folder,
          folder, folder);
  if (r.status)
    print_error("%s: %s", net, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  snprintf(options, sizeof options, "--weights %s/a.safetensors --random 5",
           folder);
  char *first = values_of(folder, net, options);
  snprintf(options, sizeof options, "--weights %s/b.safetensors --random 5",
           folder);
  snprintf(path, sizeof path, "%s/x.net", folder);
  char *second = values_of(folder, path, options);
  assert_near(first, second);
  free(first);
  free(second);
}

static void weights_come_back(void **state) {
  (void)state;
  static const char *const nets[] = {
      "examples/zoo/lenet5.net",  "examples/zoo/squeezenet.net",
      "examples/zoo/m5.net",      "examples/zoo/shufflenet_v2.net",
      "examples/zoo/dcgan_g.net", "tests/data/onnx/boxes.net"};
  const char *folder = scratch("weights");
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    check_round(folder, nets[i], 13);
}

/* Places of each sample; other words, and other samples, are refused. */
static void sampled_maps_come_back(void **state) {
  (void)state;
  const char *folder = scratch("sampled");
  static const char *const how[] = {"", "nearest border", "bicubic corners",
                                    "reflection"};
  char net[512];
  snprintf(net, sizeof net, "%s/s.net", folder);
  for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
    struct run r = run("echo 'input 9x8x4; fork { g: conv 2 3x3 /2 pad }; "
                       "conv 6 3x3 pad relu; gridsample g %s; conv 3 1x1' >%s",
                       how[i], net);
    run_free(&r);
    check_round(folder, net, 16 + (int)i % 2);
    snprintf(net, sizeof net, "%s/x.net", folder);
    char *source = read_text(net, NULL);
    assert_holds(source, "gridsample");
    assert_holds(source, how[i]);
    free(source);
    snprintf(net, sizeof net, "%s/s.net", folder);
  }
}

/* Rows of each sample by the scores that they have. */
static void chosen_rows_come_back(void **state) {
  (void)state;
  const char *folder = scratch("chosen");
  static const char *const how[] = {
      "fork { mean c; best: topk 3 indices }; gather best",
      ("fork { linear 1; reshape 9; best: topk 9 smallest indices }; gather "
       "best"),
      "topk 4 axis=0", "detach; topk 2 axis=1 smallest"};
  char net[512];
  for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
    snprintf(net, sizeof net, "%s/s.net", folder);
    struct run r =
        run("echo 'input 9x8; linear 6 gelu; %s; linear 3' >%s", how[i], net);
    run_free(&r);
    check_round(folder, net, 13 + (int)i % 2 * 4);
    snprintf(net, sizeof net, "%s/x.net", folder);
    char *source = read_text(net, NULL);
    assert_holds(source, i < 2 ? "gather " : strstr(how[i], "topk"));
    free(source);
  }
}

/* DETR's: values are of another tensor than keys, and turns read the same. */
static void attention_with_values_comes_back(void **state) {
  (void)state;
  const char *folder = scratch("values");
  char net[512];
  snprintf(net, sizeof net, "%s/v.net", folder);
  struct run r =
      run("echo 'input 9x12; memory: linear 16; place: weight 9x16 fixed;"
          "keys: add memory place; from memory;"
          "repeat 4 { ln; attention 4 cross=keys values=memory }' >%s",
          net);
  run_free(&r);
  check_round(folder, net, 13);
  snprintf(net, sizeof net, "%s/x.net", folder);
  char *source = read_text(net, NULL);
  assert_holds(source, "repeat 4 { ln; attention 4 cross=");
  assert_holds(source, " values=");
  free(source);
}

/* A mask for each window, which is the layer's own. */
static void shifted_windows_come_back(void **state) {
  (void)state;
  const char *folder = scratch("shifted");
  static const struct {
    const char *cut, *order, *grid, *layer, *joined;
  } how[] = {
      {"2x4x3x4", "0 2 1 3", "2x3x16", "relative=4x4 shift=2", "2x3x4x4"},
      {"2x4x3x4", "0 2 1 3", "2x3x16", "relative=4x4 shift=1x3", "2x3x4x4"},
      {"4x2x4x3", "0 2 1 3", "4x4x6", "relative=2x3 shift=0x2", "4x4x2x3"},
  };
  char net[512];
  for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
    snprintf(net, sizeof net, "%s/s.net", folder);
    struct run r = run("echo 'input 8x12x3; conv 8 3x3 pad; reshape %sx8; "
                       "permute %s 4; reshape %sx8; attention 2 %s; reshape "
                       "%sx8; permute %s 4; reshape 96x8; linear 3' >%s",
                       how[i].cut, how[i].order, how[i].grid, how[i].layer,
                       how[i].joined, how[i].order, net);
    run_free(&r);
    check_round(folder, net, 13 + (int)i % 2 * 4);
    snprintf(net, sizeof net, "%s/x.net", folder);
    char *source = read_text(net, NULL);
    assert_holds(source, how[i].layer);
    free(source);
  }
}

/* Other numbers than -100, or another place: a constant, as it stands. */
static void masks_of_no_shift_stay_constants(void **state) {
  (void)state;
  const char *folder = scratch("edges");
  char net[512];
  snprintf(net, sizeof net, "%s/m.net", folder);
  struct run r = run("echo 'input 8x12x3; conv 8 3x3 pad; fork { edges: "
                     "weight 6x1x16x16 fixed }; reshape 2x4x3x4x8; permute 0 2 "
                     "1 3 4; reshape 6x16x8; attention 2 mask=edges' >%s",
                     net);
  run_free(&r);
  check_round(folder, net, 13);
  snprintf(net, sizeof net, "%s/x.net", folder);
  char *source = read_text(net, NULL);
  assert_null(strstr(source, "shift="));
  assert_holds(source, "weight 6x1x16x16 fixed");
  free(source);
}

/* For pairs of positions, and for keys of each head. */
static void attention_with_a_mask_comes_back(void **state) {
  (void)state;
  const char *folder = scratch("masks");
  char net[512];
  snprintf(net, sizeof net, "%s/m.net", folder);
  struct run r = run("echo 'input 9x12; linear 16;"
                     "fork { bias: weight 4x1x9 fixed };"
                     "fork { pairs: matmul {} {} transpose };"
                     "attention 4 mask=pairs; attention 4 kv=2 mask=bias' >%s",
                     net);
  run_free(&r);
  check_round(folder, net, 13);
  snprintf(net, sizeof net, "%s/x.net", folder);
  char *source = read_text(net, NULL);
  assert_holds(source, "attention 4 mask=");
  assert_holds(source, "attention 4 kv=2 mask=");
  free(source);
}

/* Hostile files. */

struct model {
  Onnx__ModelProto whole;
  Onnx__GraphProto graph;
  Onnx__OperatorSetIdProto opset;
  Onnx__NodeProto node[MOST], *nodes[MOST];
  Onnx__ValueInfoProto input, output, *inputs[1], *outputs[1];
  Onnx__TypeProto type;
  Onnx__TypeProto__Tensor tensor;
  Onnx__TensorShapeProto shape;
  Onnx__TensorShapeProto__Dimension dim[4], *dims[4];
  Onnx__TensorProto weight, *weights[2];
  Onnx__AttributeProto attribute, *attributes[1];
  char *name[MOST][3], *ends[MOST][1];
  Onnx__OperatorSetIdProto *opsets[1];
};

/* protobuf-c's texts are not const, but it leaves them alone. */
static char *word(const char *text) {
  union {
    const char *in;
    char *out;
  } same = {text};
  return same.out;
}

static Onnx__NodeProto *add(struct model *m, const char *op, const char *in,
                            const char *out) {
  size_t i = m->graph.n_node++;
  Onnx__NodeProto *n = &m->node[i];
  *n = (Onnx__NodeProto)ONNX__NODE_PROTO__INIT;
  m->nodes[i] = n;
  m->name[i][0] = word(in);
  m->ends[i][0] = word(out);
  n->op_type = word(op);
  n->name = word(out);
  n->n_input = n->n_output = 1;
  n->input = m->name[i];
  n->output = m->ends[i];
  return n;
}

/* Relu of 1x3x8x8: x to a. */
static void open_model(struct model *m) {
  static const int64_t sizes[] = {1, 3, 8, 8};
  memset(m, 0, sizeof *m);
  m->whole = (Onnx__ModelProto)ONNX__MODEL_PROTO__INIT;
  m->graph = (Onnx__GraphProto)ONNX__GRAPH_PROTO__INIT;
  m->opset = (Onnx__OperatorSetIdProto)ONNX__OPERATOR_SET_ID_PROTO__INIT;
  m->input = m->output = (Onnx__ValueInfoProto)ONNX__VALUE_INFO_PROTO__INIT;
  m->type = (Onnx__TypeProto)ONNX__TYPE_PROTO__INIT;
  m->tensor = (Onnx__TypeProto__Tensor)ONNX__TYPE_PROTO__TENSOR__INIT;
  m->shape = (Onnx__TensorShapeProto)ONNX__TENSOR_SHAPE_PROTO__INIT;
  m->weight = (Onnx__TensorProto)ONNX__TENSOR_PROTO__INIT;
  m->attribute = (Onnx__AttributeProto)ONNX__ATTRIBUTE_PROTO__INIT;
  m->whole.has_ir_version = 1;
  m->whole.ir_version = 8;
  m->whole.graph = &m->graph;
  m->whole.n_opset_import = 1;
  m->whole.opset_import = m->opsets;
  m->opsets[0] = &m->opset;
  m->opset.has_version = 1;
  m->opset.version = 13;
  for (int i = 0; i < 4; i++) {
    m->dim[i] = (Onnx__TensorShapeProto__Dimension)
        ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT;
    m->dim[i].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    m->dim[i].dim_value = sizes[i];
    m->dims[i] = &m->dim[i];
  }
  m->shape.n_dim = 4;
  m->shape.dim = m->dims;
  m->tensor.has_elem_type = 1;
  m->tensor.elem_type = 1;
  m->tensor.shape = &m->shape;
  m->type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  m->type.tensor_type = &m->tensor;
  m->input.name = word("x");
  m->input.type = &m->type;
  m->output.name = word("a");
  m->inputs[0] = &m->input;
  m->outputs[0] = &m->output;
  m->graph.n_input = m->graph.n_output = 1;
  m->graph.input = m->inputs;
  m->graph.output = m->outputs;
  m->graph.node = m->nodes;
  m->weights[0] = &m->weight;
  m->weights[1] = &m->weight;
  m->graph.initializer = m->weights;
  m->attributes[0] = &m->attribute;
  add(m, "Relu", "x", "a");
}

static void has_int(struct model *m, Onnx__NodeProto *node, const char *name,
                    int64_t value) {
  m->attribute.name = word(name);
  m->attribute.has_i = 1;
  m->attribute.i = value;
  node->n_attribute = 1;
  node->attribute = m->attributes;
}

static void has_weight(struct model *m, const char *name, size_t rank,
                       int64_t *dims) {
  m->weight.name = word(name);
  m->weight.has_data_type = 1;
  m->weight.data_type = 1;
  m->weight.n_dims = rank;
  m->weight.dims = dims;
  m->graph.n_initializer = 1;
}

static void nothing_makes(struct model *m) {
  m->name[0][0] = word("nowhere");
}

static void makes_itself(struct model *m) {
  add(m, "Relu", "c", "b");
  add(m, "Relu", "b", "c");
}

static void made_twice(struct model *m) {
  add(m, "Tanh", "x", "a");
}

static void two_initializers(struct model *m) {
  static int64_t dims[1] = {1};
  has_weight(m, "w", 1, dims);
  m->graph.n_initializer = 2;
}

static void unknown_operators(struct model *m) {
  m->node[0].op_type = word("Warp");
  m->output.name = word("b");
  has_int(m, add(m, "NonZero", "a", "b"), "degree", 3);
  add(m, "Warp", "a", "c");
}

static void large_size(struct model *m) {
  m->dim[3].dim_value = INT64_C(1) << 62;
}

static void negative_size(struct model *m) {
  m->dim[3].dim_value = -5;
}

static void open_size(struct model *m) {
  m->dim[2].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
  m->dim[2].dim_param = word("rows");
}

static void large_weight(struct model *m) {
  static int64_t dims[4] = {INT64_C(1) << 62, 3, 3, 3};
  has_weight(m, "w", 4, dims);
  m->node[0].op_type = word("Conv");
  m->node[0].n_input = 2;
  m->name[0][1] = word("w");
}

static void weight_of_another_map(struct model *m) {
  static int64_t dims[4] = {4, 5, 3, 3};
  large_weight(m);
  has_weight(m, "w", 4, dims);
}

static void window_too_large(struct model *m) {
  static int64_t dims[4] = {4, 3, 9, 9};
  large_weight(m);
  has_weight(m, "w", 4, dims);
}

static void large_group(struct model *m) {
  static int64_t dims[4] = {4, 3, 3, 3};
  large_weight(m);
  has_weight(m, "w", 4, dims);
  has_int(m, &m->node[0], "group", INT64_MIN);
}

static void values_are_missing(struct model *m) {
  static int64_t dims[1] = {2};
  has_weight(m, "w", 1, dims);
  m->weight.data_type = 7;
  m->node[0].op_type = word("Reshape");
  m->node[0].n_input = 2;
  m->name[0][1] = word("w");
}

static void no_such_axis(struct model *m) {
  m->node[0].op_type = word("Softmax");
  has_int(m, &m->node[0], "axis", INT64_MIN);
}

static void other_shape(struct model *m) {
  static int64_t dims[4] = {4, 3, 3, 3};
  large_weight(m);
  has_weight(m, "w", 4, dims);
  m->output.type = &m->type;
}

static void many_axes(struct model *m) {
  static int64_t axes[MOST];
  for (int i = 0; i < MOST; i++)
    axes[i] = i;
  m->node[0].op_type = word("Unsqueeze");
  m->attribute.name = word("axes");
  m->attribute.n_ints = MOST;
  m->attribute.ints = axes;
  m->node[0].n_attribute = 1;
  m->node[0].attribute = m->attributes;
}

static void bad_name(struct model *m) {
  m->node[0].name = word("\xff\xfe\033[2J");
  m->node[0].op_type = word("\xc3\x28");
}

static void no_node(struct model *m) {
  m->graph.n_node = 0;
}

static struct mistake {
  char name[48];
  void (*make)(struct model *m);
  const char *says;
} mistakes[] = {
    {"missing-input", nothing_makes,
     "`a` (Relu): it reads `nowhere`, which no node before it produces"},
    {"cycle", makes_itself, "it reads `c`, which no node before it produces"},
    {"made-twice", made_twice, "two nodes produce `a`"},
    {"two-initializers", two_initializers, "two initializers are called `w`"},
    {"unknown-operators", unknown_operators,
     "Warp (2), NonZero (1); the first is `a` (Warp)"},
    {"size-of-2-to-the-62", large_size,
     "the input `x` is too large: one axis has 4611686018427387904 values"},
    {"negative-size", negative_size, "axis 3 of the input `x` has no size"},
    {"open-size", open_size, "x.onnx --dim rows=VALUE"},
    {"weight-of-2-to-the-62", large_weight, "is too large"},
    {"weight-of-another-map", weight_of_another_map,
     "its weights, 4x5x3x3, do not fit 3 channels in 1 groups"},
    {"window-too-large", window_too_large,
     "a window of 9x9 does not fit the map of 8x8x3"},
    {"groups-below-zero", large_group,
     "(Conv; group=-9223372036854775808): its weights"},
    {"values-are-missing", values_are_missing,
     "the tensor `w` has 2 values, but the file stores 0"},
    {"no-such-axis", no_such_axis, "axis -9223372036854775808 of"},
    {"stated-shape", other_shape,
     "`a` (Conv): `a` is 1x3x8x8 in the file, but 1x4x6x6 according to its"},
    {"many-axes", many_axes, "`axes` has 64 numbers; at most 12"},
    {"no-utf-8", bad_name, "netc has no equivalent of these operators"},
    {"no-nodes", no_node, "no node produces the output `a`"},
};

static void refused(const char *folder, const char *says) {
  struct run r = run("rm -f %s/x.net; %s import %s/x.onnx -o %s/x.net "
                     "--weights %s/x.safetensors",
                     folder, NETC, folder, folder, folder);
  assert_int_equal(r.status, 1);
  if (!strstr(r.err, says))
    print_error("%s", r.err);
  assert_holds(r.err, says);
  run_free(&r);
  r = run("test ! -e %s/x.net -a ! -e %s/x.safetensors", folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void write_wrong(void (*make)(struct model *), const char *path) {
  static struct model model;
  char bytes[65536];
  open_model(&model);
  make(&model);
  size_t size = onnx__model_proto__get_packed_size(&model.whole);
  assert_true(size < sizeof bytes);
  onnx__model_proto__pack(&model.whole, (uint8_t *)bytes);
  write_text(path, bytes, size);
}

/* Whoever opens the file takes what is said of it. */
static void other_commands_take_the_options_of_import(void **state) {
  (void)state;
  static const char warp[] =
      "input: \"d\" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }\n"
      "layer { name: \"w\" type: \"Warp\" bottom: \"d\" top: \"f\" }\n"
      "layer { name: \"r\" type: \"ReLU\" bottom: \"d\" top: \"g\" }\n";
  char path[600], unknown[600];
  snprintf(path, sizeof path, "%s/x.onnx", scratch("opened-open"));
  write_wrong(open_size, path);
  snprintf(unknown, sizeof unknown, "%s/x.prototxt", scratch("opened-caffe"));
  write_text(unknown, warp, strlen(warp));
  struct run r =
      run(NETC " %s --dim rows=8 --brief && " NETC " check --allow-unknown %s",
          path, unknown);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "training");
  assert_holds(r.err, "x.onnx --dim rows=8` writes the source that is");
  assert_holds(r.err, "x.prototxt --allow-unknown` writes the source");
  run_free(&r);
  r = run(NETC " check %s; " NETC " examples/vgg16.net --dim rows=8", path);
  assert_int_equal(r.status, 2);
  assert_holds(r.err, "--dim rows=VALUE");
  assert_holds(r.err, "--dim needs a file of another framework, but "
                      "examples/vgg16.net is a netc source");
  run_free(&r);
}

static void check_mistake(void **state) {
  const struct mistake *m = *state;
  char path[512];
  const char *folder = scratch("mistakes");
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  write_wrong(m->make, path);
  refused(folder, m->says);
}

/*
 * Every operator of `--types` on initializers without a value, which ONNX
 * allows: all of its inputs, or all but the first. One shell runs them all.
 */
static void write_empty(const char *folder, const char *op, size_t rank,
                        int64_t *dims, size_t inputs, bool all) {
  static struct model model;
  char path[512], bytes[4096];
  open_model(&model);
  Onnx__NodeProto *n = &model.node[0];
  n->op_type = word(op);
  n->n_input = inputs;
  for (size_t i = all ? 0 : 1; i < inputs; i++)
    model.name[0][i] = word("w");
  has_weight(&model, "w", rank, dims);
  if (strstr(op, "Depth"))
    has_int(&model, n, "blocksize", 2);
  size_t size = onnx__model_proto__get_packed_size(&model.whole);
  assert_true(size < sizeof bytes);
  onnx__model_proto__pack(&model.whole, (uint8_t *)bytes);
  snprintf(path, sizeof path, "%s/%s-%zu-%zu-%s%d.onnx", folder, op, rank,
           inputs, dims[0] ? "some" : "none", all);
  write_text(path, bytes, size);
}

static void operators_on_nothing_are_read_or_refused(void **state) {
  (void)state;
  static int64_t shapes[][4] = {{0}, {1, 0, 4}, {3, 0, 3, 3}, {0, 0, 0, 0}};
  static const size_t ranks[] = {1, 3, 4, 4};
  const char *folder = scratch("nothing");
  struct run types = run("%s import --types", NETC);
  int count = 0;
  for (char *line = strtok(types.out, "\n"); line; line = strtok(NULL, "\n")) {
    char op[64];
    if (sscanf(line, "ONNX\t%63[^\t]", op) != 1)
      continue;
    for (size_t i = 0; i < 4; i++)
      for (size_t inputs = 1; inputs <= 3; inputs++)
        for (int all = inputs == 1; all < 2; all++, count++)
          write_empty(folder, op, ranks[i], shapes[i], inputs, all);
  }
  run_free(&types);
  assert_true(count > 1000);
  struct run r = run("for file in %s/*.onnx; do timeout 10 %s import $file "
                     ">/dev/null 2>%s/said; status=$?; [ $status -lt 2 ] && "
                     "{ [ $status -eq 0 ] || grep -q error: %s/said; } || "
                     "echo $file $status; done",
                     folder, NETC, folder, folder);
  assert_string_equal(r.out, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void files_that_end_early_are_refused(void **state) {
  (void)state;
  size_t size;
  const char *folder = scratch("short");
  char path[512];
  char *bytes =
      read_text("tests/data/import/onnx/light_squeezenet.onnx", &size);
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  for (size_t length = 9; length < size - 400; length += 509) {
    write_text(path, bytes, length);
    refused(folder, "error: ");
  }
  free(bytes);
}

/* Bytes that are no message, or another one. */
static void wrong_wires_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *bytes, *says;
    size_t size;
  } wires[] = {
      {"\x08\x07\x38\x01", "its fields do not have the types", 4},
      {"\x08\x07\x3d\1\2\3\4", "its fields do not have the types", 7},
      {"\x08\x07\x3a\x02\x08\x01", "its fields do not have the types", 6},
      {"\x08\x07\x3b\1\2\3\4", "a field has an unknown kind at byte 3", 7},
      {"\x08\x07\x3a\x05\x0a\3\x78\1\0", "a field is missing at byte 9", 9},
      {"\x08\x07\x3a\x7f\1",
       "a field is longer than the rest of the file at byte 4", 5},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
       "a number is cut off at byte 11", 12},
      {"hello", "ONNX model: ", 5},
      {"\x08\x07", "not an ONNX model: it has no graph", 2},
      {"", "the file is empty", 0}};
  const char *folder = scratch("wires");
  char path[512];
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) {
    write_text(path, wires[i].bytes, wires[i].size);
    refused(folder, wires[i].says);
  }
}

/* Attributes that hold graphs that hold nodes that hold attributes ... */
static void nesting_has_an_end(void **state) {
  (void)state;
  enum { LEVELS = 3001, ROOM = 200000 };
  static const unsigned char tags[] = {0x0a, 0x2a, 0x32};
  const char *folder = scratch("nested");
  static char bytes[ROOM];
  char path[512];
  size_t begin = ROOM;
  for (int i = 0; i < LEVELS; i++) {
    size_t length = ROOM - begin;
    unsigned char head[8], count = 0;
    for (size_t rest = length; count == 0 || rest; rest >>= 7)
      head[count++] = (unsigned char)((rest & 127) | (rest > 127 ? 128 : 0));
    begin -= count;
    memcpy(bytes + begin, head, count);
    bytes[--begin] = (char)tags[i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 0];
  }
  bytes[begin] = 0x3a; /* the model's graph */
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  write_text(path, bytes + begin, ROOM - begin);
  refused(folder, "ONNX model: ");
}

/* A chain of so many nodes. */
static void write_chain(const char *path, size_t count) {
  static struct model model;
  Onnx__NodeProto *nodes = calloc(count, sizeof *nodes);
  Onnx__NodeProto **at = calloc(count, sizeof *at);
  char(*names)[12] = calloc(count + 1, sizeof *names);
  char **ends = calloc(count + 1, sizeof *ends);
  assert_true(nodes && at && names && ends);
  open_model(&model);
  for (size_t i = 0; i <= count; i++) {
    snprintf(names[i], sizeof names[i], i ? "v%zu" : "x", i);
    ends[i] = names[i];
  }
  for (size_t i = 0; i < count; i++) {
    nodes[i] = model.node[0];
    nodes[i].name = names[i + 1];
    nodes[i].input = &ends[i];
    nodes[i].output = &ends[i + 1];
    at[i] = &nodes[i];
  }
  model.graph.node = at;
  model.graph.n_node = count;
  model.output.name = names[count];
  size_t size = onnx__model_proto__get_packed_size(&model.whole);
  char *bytes = malloc(size);
  assert_non_null(bytes);
  onnx__model_proto__pack(&model.whole, (uint8_t *)bytes);
  write_text(path, bytes, size);
  free(bytes);
  free(ends);
  free(names);
  free(at);
  free(nodes);
}

static void a_million_nodes_are_read_or_refused(void **state) {
  (void)state;
  char path[600];
  const char *folder = scratch("million");
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  write_chain(path, 100000);
  char *source = import(path, "");
  assert_holds(source, "repeat 100000 { relu }");
  free(source);
  write_chain(path, 1000000);
  refused(folder, "the model has 1000000 nodes; at most 200000 are supported");
}

/* Operators that several layers make together. */
static void operators_may_be_several_layers(void **state) {
  (void)state;
  static const struct {
    const char *op, *lines;
  } made[] = {
      {"ReduceL1", "abs\nsum axis=0 axis=1 axis=2 keep"},
      {"ReduceL2", "pow 2\nsum axis=0 axis=1 axis=2 keep -> 1x1x1\nsqrt"},
      {"ReduceLogSum", "sum axis=0 axis=1 axis=2 keep -> 1x1x1\nlog"},
      {"ReduceLogSumExp", "exp\nsum axis=0 axis=1 axis=2 keep -> 1x1x1\nlog"},
      {"ReduceSumSquare", "pow 2\nsum axis=0 axis=1 axis=2 keep"},
      {"Softsign", "softsign"},
      {"Selu", "selu"}};
  static struct model model;
  static char bytes[65536];
  char path[512];
  snprintf(path, sizeof path, "%s/x.onnx", scratch("several"));
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
    open_model(&model);
    model.node[0].op_type = word(made[i].op);
    size_t size = onnx__model_proto__get_packed_size(&model.whole);
    onnx__model_proto__pack(&model.whole, (uint8_t *)bytes);
    write_text(path, bytes, size);
    char *source = import(path, "");
    assert_holds(source, made[i].lines);
    free(source);
  }
  open_model(&model);
  model.node[0].op_type = word("Selu");
  model.attribute.name = word("alpha");
  model.attribute.has_f = 1;
  model.attribute.f = 2;
  model.node[0].n_attribute = 1;
  model.node[0].attribute = model.attributes;
  size_t size = onnx__model_proto__get_packed_size(&model.whole);
  onnx__model_proto__pack(&model.whole, (uint8_t *)bytes);
  write_text(path, bytes, size);
  char *source = import(path, "");
  assert_holds(source, "elu 2\nmul 1.0507");
  free(source);
}

static void what_is_unknown_is_left_out_if_asked(void **state) {
  (void)state;
  static struct model model;
  static char bytes[65536];
  const char *folder = scratch("unknown");
  char path[512];
  open_model(&model);
  has_int(&model, add(&model, "Warp", "a", "b"), "degree", 3);
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  size_t size = onnx__model_proto__get_packed_size(&model.whole);
  onnx__model_proto__pack(&model.whole, (uint8_t *)bytes);
  write_text(path, bytes, size);
  refused(folder, "`b` (Warp; degree=3)");
  char *source = import(path, "--allow-unknown");
  assert_holds(source, "# `b` (Warp; degree=3) is left out, and all layers "
                       "that depend on it: netc has no equivalent.\n");
  assert_holds(source, "input 8x8x3\nrelu\n");
  free(source);
}

/* Operators with missing parts, too; their parameters are counted. */
static void what_is_left_out_has_its_parameters_counted(void **state) {
  (void)state;
  static struct model model;
  static char bytes[65536];
  static int64_t sizes[] = {3, 8, 8};
  const char *folder = scratch("left");
  char path[512];
  open_model(&model);
  has_int(&model, add(&model, "TopK", "a", "b"), "axis", 1);
  add(&model, "Mul", "b", "c")->n_input = 2;
  model.name[model.graph.n_node - 1][1] = word("head.weight");
  has_weight(&model, "head.weight", 3, sizes);
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  size_t size = onnx__model_proto__get_packed_size(&model.whole);
  onnx__model_proto__pack(&model.whole, (uint8_t *)bytes);
  write_text(path, bytes, size);
  refused(folder, "its number of values is not constant");
  char *source = import(path, "--allow-unknown");
  assert_holds(source, "(TopK; axis=1): its number of values is not constant; "
                       "it is left out, and all layers that depend on it.\n");
  assert_holds(source,
               "# `b` (TopK; axis=1): its number of values is not constant; it "
               "is left out, and all layers that depend on it.\n# 192 "
               "parameters of 1 tensor are left out with them: `head.weight`.");
  assert_holds(source, "input 8x8x3\nrelu\n");
  free(source);
}

/* What was done to a file since netc wrote it, and whether its source is still
 * the net's. */
static void keep(Onnx__ModelProto *model) {
  (void)model;
}

static void train(Onnx__ModelProto *model) {
  const Onnx__GraphProto *g = model->graph;
  Onnx__TensorProto *last = g->initializer[g->n_initializer - 1];
  assert_true(last->has_raw_data);
  last->raw_data.data[0] ^= 1;
}

static void state_shapes(Onnx__ModelProto *model) {
  model->graph->n_value_info = 0;
}

static void change_node(Onnx__ModelProto *model) {
  memcpy(model->graph->node[1]->op_type, "Tanh", 4);
}

static void change_opset(Onnx__ModelProto *model) {
  model->opset_import[0]->version++;
}

static void change_source(Onnx__ModelProto *model) {
  for (size_t i = 0; i < model->n_metadata_props; i++)
    if (strcmp(model->metadata_props[i]->key, "netc.source") == 0)
      *strstr(model->metadata_props[i]->value, "my") = 'M';
}

static void the_source_comes_back(void **state) {
  (void)state;
  static const char text[] =
      "# my net, \xC3\xA9\nparam c = 4\ninput 8x8x3  # rgb\n"
      "C1: conv c 3x3 pad relu\n\nOut: fc 5\n";
  static const struct {
    const char *options, *source;
    void (*change)(Onnx__ModelProto *model);
    const char *what; /* of its source is not there; NULL: all is */
  } cases[] = {
      {"", text, keep, NULL},
      {"--opset 17 --dynamic --batch 3", text, train, NULL},
      {"", text, state_shapes, NULL},
      {"-D c=4", text, keep, NULL},
      {"", text, change_node, "relu"},
      {"", text, change_opset, "C1"},
      {"", text, change_source, "C1"},
      {"--no-source", text, keep, "C1"},
      {"--input 8x8x3", text, keep, "C1"},
      {"", "use \"./used.net\"\n# my\ninput 8x8x3\nbig; fc 5\n", keep, "big"},
  };
  const char *folder = scratch("kept");
  char path[512];
  snprintf(path, sizeof path, "%s/used.net", folder);
  write_text(path, "def big() { conv 4 3x3 pad relu }\n", 34);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t size;
    snprintf(path, sizeof path, "%s/a.net", folder);
    write_text(path, cases[i].source, strlen(cases[i].source));
    struct run r =
        run("%s %s %s -o %s/a.onnx", NETC, path, cases[i].options, folder);
    assert_int_equal(r.status, 0);
    run_free(&r);
    snprintf(path, sizeof path, "%s/a.onnx", folder);
    char *bytes = read_text(path, &size);
    struct arena arena;
    arena_open(&arena, NULL, NULL);
    ProtobufCAllocator in_arena = {take_in, leave_in, &arena};
    Onnx__ModelProto *model =
        onnx__model_proto__unpack(&in_arena, size, (const uint8_t *)bytes);
    cases[i].change(model);
    size = onnx__model_proto__get_packed_size(model);
    bytes = realloc(bytes, size);
    onnx__model_proto__pack(model, (uint8_t *)bytes);
    write_text(path, bytes, size);
    r = run("%s import %s --weights %s/w.safetensors", NETC, path, folder);
    assert_int_equal(r.status, 0);
    if (!cases[i].what)
      assert_string_equal(r.out, cases[i].source);
    else if (strstr(r.out, cases[i].what))
      print_error("case %zu: %s", i, r.out);
    assert_int_equal(strstr(r.err, "and it contains its source") != NULL,
                     cases[i].what == NULL);
    assert_true(!cases[i].what || !strstr(r.out, cases[i].what));
    run_free(&r);
    r = run("%s import %s --flat", NETC, path); /* asks for the graph */
    assert_null(strstr(r.err, "and it contains its source"));
    run_free(&r);
    arena_close(&arena);
    free(bytes);
  }
}

/* A value given with -D becomes the param's default; weights are the file's. */
static void what_was_given_comes_back(void **state) {
  (void)state;
  const char *folder = scratch("kept-weights");
  struct run r =
      run("%s weights examples/zoo/resnet.net -D depth=18 --random 3 -o "
          "%s/a.safetensors && %s examples/zoo/resnet.net -D depth=18 "
          "--weights %s/a.safetensors -o %s/a.onnx && %s import %s/a.onnx "
          "--weights %s/b.safetensors -o %s/a.net && cmp %s/a.safetensors "
          "%s/b.safetensors && diff %s/a.net examples/zoo/resnet.net",
          NETC, folder, NETC, folder, folder, NETC, folder, folder, folder,
          folder, folder, folder);
  assert_string_equal(r.out,
                      "24c24\n< param depth block n1 n2 n3 n4 = 18 in [\n---\n"
                      "> param depth block n1 n2 n3 n4 = 50 in [\n");
  run_free(&r);
  r = run("%s examples/zoo/lenet5.net --no-source", NETC);
  assert_int_equal(r.status, 2);
  assert_holds(r.err, "--no-source needs a model to write: add `-o x.onnx`");
  run_free(&r);
}

/* An exporter recorded the sizes of one input, and left the input open. */
static void stale_sizes_are_noted(void **state) {
  (void)state;
  const char *path = "tests/data/import/open/stale_output.onnx";
  char *source = import(path, "--dim shape_h=640 --dim shape_w=640");
  assert_holds(source, "# `out1` is 1x1x320x320 in the file, and 1x1x640x640 "
                       "with the given sizes.\n");
  assert_holds(source, "input 640x640x3\n");
  free(source);
  source = import(path, "--dim shape_h=320 --dim shape_w=320");
  assert_null(strstr(source, "given sizes"));
  free(source);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(models_of_others_have_their_counts),
      cmocka_unit_test(equal_matrices_are_noted),
      cmocka_unit_test(stale_sizes_are_noted),
      cmocka_unit_test(other_commands_take_the_options_of_import),
      cmocka_unit_test(batch_norms_that_were_folded_are_told),
      cmocka_unit_test(exports_come_back),
      cmocka_unit_test(windows_of_one_are_no_other_block),
      cmocka_unit_test(stages_are_as_long_as_in_the_paper),
      cmocka_unit_test(the_source_comes_back),
      cmocka_unit_test(what_was_given_comes_back),
      cmocka_unit_test(layers_are_those_that_the_list_has),
      cmocka_unit_test(a_net_of_pytorch_gives_its_values),
      cmocka_unit_test(a_gru_gives_what_onnx_says),
      cmocka_unit_test(rows_are_gathered_as_pytorch_does),
      cmocka_unit_test(windows_that_are_shifted_are_found),
      cmocka_unit_test(weights_come_back),
      cmocka_unit_test(sampled_maps_come_back),
      cmocka_unit_test(chosen_rows_come_back),
      cmocka_unit_test(attention_with_values_comes_back),
      cmocka_unit_test(attention_with_a_mask_comes_back),
      cmocka_unit_test(shifted_windows_come_back),
      cmocka_unit_test(masks_of_no_shift_stay_constants),
      cmocka_unit_test(operators_on_nothing_are_read_or_refused),
      cmocka_unit_test(files_that_end_early_are_refused),
      cmocka_unit_test(wrong_wires_are_refused),
      cmocka_unit_test(nesting_has_an_end),
      cmocka_unit_test(operators_may_be_several_layers),
      cmocka_unit_test(a_million_nodes_are_read_or_refused),
      cmocka_unit_test(what_is_unknown_is_left_out_if_asked),
      cmocka_unit_test(what_is_left_out_has_its_parameters_counted)};
  return run_table("from_onnx", mistakes, sizeof mistakes / sizeof *mistakes,
                   sizeof *mistakes, check_mistake, others,
                   sizeof others / sizeof *others);
}
