/*
 * netc import: files of other frameworks give sources whose parameters and
 * MACs are those that the framework itself prints (tests/data/import).
 */
#define _XOPEN_SOURCE 700
#include <ctype.h>
#include <string.h>

#include "tests/imported.h"

/* Sums two columns of a table, by their numbers from 0. */
static void sum_columns(const char *path, int first, int second,
                        int64_t sums[2]) {
  char *text = read_text(path, NULL);
  assert_non_null(text);
  sums[0] = sums[1] = 0;
  char *rest = text;
  for (char *line; (line = strtok_r(rest, "\n", &rest));) {
    char *cell = line;
    for (int i = 0; cell; i++) {
      if (i == first || i == second)
        sums[i == second] += strtoll(cell, NULL, 10);
      cell = strchr(cell, '\t');
      cell = cell ? cell + 1 : NULL;
    }
  }
  free(text);
}

static void check_params(const char *path, const char *source,
                         int64_t expected) {
  struct netc_totals totals = totals_of(path, source);
  if (totals.trainable_count != expected)
    print_error("%s: ", path);
  assert_int_equal(totals.trainable_count, expected);
}

static void check_totals(const char *path, const char *source,
                         const int64_t expected[2]) {
  check_params(path, source, expected[0]);
  assert_int_equal(totals_of(path, source).mac_count, expected[1]);
}

/* Files of Windows: a mark before the text, CRLF; UTF-16 is named. */
static void files_of_windows_are_read(void **state) {
  (void)state;
  const char *cfg = "[net]\r\nheight=8\r\nwidth=8\r\nchannels=3\r\n"
                    "[softmax]\r\n";
  const char *json = "{\"class_name\": \"Sequential\", \"config\": "
                     "{\"layers\": [{\"class_name\": \"InputLayer\", "
                     "\"config\": {\"batch_input_shape\": [null, 8]}}]}}";
  const char *caffe = "layer { name: \"a\" type: \"Input\" top: \"a\" "
                      "input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } "
                      "}\r\n";
  const char *dir = scratch("windows");
  char text[1024];
  snprintf(text, sizeof text, "\xEF\xBB\xBF%s", cfg);
  write_in(dir, "marked.cfg", text);
  snprintf(text, sizeof text, "\xEF\xBB\xBF%s", json);
  write_in(dir, "marked.json", text);
  snprintf(text, sizeof text, "\xEF\xBB\xBF%s", caffe);
  write_in(dir, "marked.prototxt", text);
  write_in(dir, "wide.json", "\xFF\xFE{");
  struct run r = run("cd %s && for f in marked.*; do %s import $f | grep input "
                     "|| exit 1; done; ! %s import wide.json",
                     dir, NETC_PATH, NETC_PATH);
  assert_string_equal(r.out, "input 8x8x3\ninput 8\ninput 8x8x3\n");
  assert_string_equal(
      r.err, "wide.json: error: this is text in UTF-16\n"
             "   = help: save it as UTF-8: `iconv -f UTF-16 -t UTF-8 wide.json "
             ">x.net`\n");
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* Where the short source is not the same net, a line a layer is written. */
static void a_fold_that_goes_wrong_is_not_written(void **state) {
  (void)state;
  const char *path = "tests/data/import/darknet/resnet18.cfg";
  struct run flat = run("%s import --flat %s", NETC, path);
  struct run folded = run("%s import %s", NETC, path);
  struct run wrong = run("%s/tests/misfold import %s", BUILD, path);
  struct run asked = run("%s/tests/misfold import --flat %s", BUILD, path);
  assert_string_equal(folded.err, "");
  assert_string_not_equal(folded.out, flat.out);
  assert_int_equal(wrong.status, 0);
  assert_string_equal(wrong.out, flat.out);
  assert_non_null(strstr(wrong.err,
                         "note: the source is written with a line a layer, "
                         "because a shorter one would be another net"));
  assert_non_null(strstr(wrong.err, "please report this"));
  assert_int_equal(asked.status, 0);
  assert_string_equal(asked.out, flat.out);
  assert_string_equal(asked.err, "");
  run_free(&flat);
  run_free(&folded);
  run_free(&wrong);
  run_free(&asked);
}

/* Weights of a reader are compared as its shapes are. */
static void other_weights_than_the_files_are_an_error(void **state) {
  (void)state;
  static const char *const paths[] = {"darknet/tiny.cfg",
                                      "caffe/cifar10_quick.prototxt",
                                      "keras/cnn.json",
                                      "saved/picture/model.h5",
                                      "saved/picture/model.keras",
                                      "saved/picture/model.json",
                                      "onnx/tiny.onnx",
                                      "quant/qlinear.onnx",
                                      "tflite/conv0.tflite",
                                      "openvino/made.xml"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    struct run r =
        run("MISCOUNT=1 %s/tests/misfold import tests/data/import/%s", BUILD,
            paths[i]);
    assert_int_equal(r.status, 1);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, " parameters in the file, but `conv "));
    run_free(&r);
  }
}

/* Folded and flat, the numbers are Darknet's; folded, it is short. */
static void darknet_nets_count_as_darknet_does(void **state) {
  (void)state;
  struct paths paths = find_paths("tests/data/import/darknet", ".cfg");
  assert_true(paths.count > 15);
  for (size_t i = 0; i < paths.count; i++) {
    char table[512];
    int64_t expected[2];
    snprintf(table, sizeof table, "%.*stsv",
             (int)(strlen(paths.at[i]) - strlen("cfg")), paths.at[i]);
    sum_columns(table, 5, 6, expected);
    assert_true(expected[0] > 0);
    char *source = import(paths.at[i], "");
    char *flat = import(paths.at[i], "--flat");
    check_totals(paths.at[i], source, expected);
    check_totals(paths.at[i], flat, expected);
    assert_true(line_count(source) <= 120);
    assert_true(line_count(source) <= line_count(flat));
    free(source);
    free(flat);
  }
  paths_free(&paths);
}

/* Caffe. */

struct blob {
  char name[96], type[64], top[96], shape[64];
  int64_t params;
};

/* "1x64x55x55", samples and channels first, as netc has it: "55x55x64". */
static void turn_shape(const char *theirs, char *ours, size_t room) {
  const char *channels = strchr(theirs, 'x') + 1;
  const char *rest = strchr(channels, 'x');
  int length = (int)(rest ? rest - channels : (long)strlen(channels));
  snprintf(ours, room, "%s%s%.*s", rest ? rest + 1 : "", rest ? "x" : "",
           length, channels);
}

static void shape_text(const struct netc_shape *shape, char *text,
                       size_t room) {
  size_t used = 0;
  for (int i = 0; i < (int)shape->rank; i++)
    used += (size_t)snprintf(text + used, room - used, "%s%lld", i ? "x" : "",
                             (long long)shape->dims[i]);
}

/* Layers have Caffe's names, with _ for what is no letter or digit. */
static void same_name(char *name) {
  for (; *name; name++)
    if (!isalnum((unsigned char)*name))
      *name = '_';
}

/* The layer of that name, or the input; false: Caffe has it for training. */
static bool find_layer(struct netc *netc, const char *name,
                       struct netc_layer *layer) {
  for (size_t i = 0; i < netc_layer_count(netc); i++) {
    *layer = (struct netc_layer){.size = sizeof *layer};
    assert_int_equal(netc_layer(netc, i, layer), NETC_OK);
    if (strcmp(layer->name, name) == 0)
      return true;
  }
  return false;
}

static int check_blobs(const char *path, struct netc *netc, char *table) {
  int compared = 0;
  char *rest = strchr(table, '\n') + 1;
  for (char *line; (line = strtok_r(rest, "\n", &rest));) {
    struct blob blob;
    struct netc_layer layer;
    char expected[80], got[80] = "";
    long long params;
    assert_int_equal(sscanf(line, "%95[^\t]\t%63[^\t]\t%95[^\t]\t%lld\t%63s",
                            blob.name, blob.type, blob.top, &params,
                            blob.shape),
                     5);
    same_name(blob.name);
    if (!find_layer(netc, blob.name, &layer))
      continue;
    turn_shape(blob.shape, expected, sizeof expected);
    shape_text(&layer.out, got, sizeof got);
    if (strcmp(expected, got) != 0)
      print_error("%s: %s\n", path, blob.name);
    assert_string_equal(got, expected);
    compared++;
  }
  return compared;
}

static int64_t sum_blobs(char *table) {
  int64_t sum = 0;
  for (char *line = strchr(table, '\n') + 1; *line;) {
    char type[64];
    long long params;
    assert_int_equal(
        sscanf(line, "%*[^\t]\t%63[^\t]\t%*[^\t]\t%lld", type, &params), 2);
    sum += strcmp(type, "BatchNorm") == 0 ? 0 : params;
    line = strchr(line, '\n') + 1;
  }
  return sum;
}

/* Every shape is Caffe's, and so are the parameters. */
static void caffe_nets_are_as_caffe_says(void **state) {
  (void)state;
  struct paths paths = find_paths("tests/data/import/caffe", ".prototxt");
  int compared = 0;
  assert_true(paths.count >= 8);
  for (size_t i = 0; i < paths.count; i++) {
    char name[512];
    snprintf(name, sizeof name, "%.*stsv",
             (int)(strlen(paths.at[i]) - strlen("prototxt")), paths.at[i]);
    char *table = read_text(name, NULL);
    int64_t params = sum_blobs(table);
    char *flat = import(paths.at[i], "--flat");
    char *folded = import(paths.at[i], "");
    assert_true(line_count(folded) < 60);
    check_params(paths.at[i], flat, params);
    check_params(paths.at[i], folded, params);
    struct netc *netc = netc_open(NULL, NULL);
    assert_int_equal(netc_load_text(netc, "flat.net", flat, strlen(flat)),
                     NETC_OK);
    compared += check_blobs(paths.at[i], netc, table);
    netc_close(netc);
    free(table);
    free(flat);
    free(folded);
  }
  assert_true(compared > 600);
  paths_free(&paths);
}

/* A file in a folder of its own, with that text; its path, until the next. */
static const char *file_with(const char *folder, const char *name,
                             const char *text) {
  static char path[600];
  const char *in = scratch(folder);
  write_in(in, name, text);
  snprintf(path, sizeof path, "%s/%s", in, name);
  return path;
}

/*
 * Eight dense layers of an lstm, each with the scales and shifts of its batch
 * norm (make_connected_layer of Darknet's connected_layer.c); gru has six.
 */
static void norms_inside_recurrent_layers_count(void **state) {
  (void)state;
  const char *path =
      file_with("recurrent", "a.cfg",
                "[net]\ninputs=30\n[lstm]\nbatch_normalize=1\noutput=20\n"
                "[gru]\noutput=10\nbatch_normalize=1\n");
  char *source = import(path, "");
  const int64_t lstm = 4 * (30 * 20 + 20 * 20) + 8 * 2 * 20;
  const int64_t gru = 3 * (20 * 10 + 10 * 10) + 6 * 2 * 10;
  check_params(path, source, lstm + gru);
  free(source);
}

/*
 * What forks of Caffe have: sources of pictures of their own, here for the
 * training phase alone, a norm with a scale, a pool's mask and where it leads
 * back, boxes.
 */
static void layers_of_forks_of_caffe_are_read(void **state) {
  (void)state;
  const char *path = file_with(
      "forks", "a.prototxt",
      "layer { name: 'in' type: 'DenseImageData' top: 'data' top: 'label' "
      "include { phase: TRAIN } "
      "transform_param { resize_param { height: 30 width: 20 } } }\n"
      "layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c' "
      "convolution_param { num_output: 8 kernel_size: 3 pad: 1 } }\n"
      "layer { name: 'n' type: 'BN' bottom: 'c' top: 'n' "
      "bn_param { eps: 1e-3 } }\n"
      "layer { name: 'pool1' type: 'Pooling' bottom: 'n' top: 'p' top: 'mask' "
      "pooling_param { kernel_size: 2 stride: 2 } }\n"
      "layer { name: 'd' type: 'Convolution' bottom: 'p' top: 'd' "
      "convolution_param { num_output: 8 kernel_size: 1 } }\n"
      "layer { name: 'u' type: 'Upsample' bottom: 'd' bottom: 'mask' top: 'u' "
      "upsample_param { scale: 2 } }\n"
      "layer { name: 'b' type: 'PriorBox' bottom: 'u' bottom: 'data' "
      "top: 'b' }\n"
      "layer { name: 'o' type: 'DetectionOutput' bottom: 'u' bottom: 'b' }\n");
  char *source = import(path, "");
  assert_holds(source, "# The data layer gives 30x20; netc assumes 3 "
                       "channels.\n# PriorBox is");
  assert_holds(source,
               "# The data layer gives 30x20; netc assumes 3 channels.\n");
  assert_holds(source, "input 30x20x3\n"
                       "conv 8 3x3 pad bias bn(eps=0.001)\n"
                       "pool1: pool 2x2 indices -> 15x10x8\n"
                       "conv 8 1x1\n"
                       "unpool pool1 -> 30x20x8\n");
  check_params(path, source, 3 * 3 * 3 * 8 + 8 + 2 * 8 + 8 * 8 + 8);
  free(source);
}

/* Sections that Darknet and its forks read, though wrong or rare. */
static void sections_of_forks_of_darknet_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
    int64_t params;
  } nets[] = {
      {"[convolutional]\nfilters=4 0?#32\nsize=1\nactivation=silu\n"
       "[route]\nlayers = 0 ###P6, 0\n",
       "# Line 6: `4 0?#32` is read as 40, as in Darknet.\n# Line 10: `0 "
       "###P6` is read as 0, as in Darknet.\nnet a\ninput 8x8x4\nconv 40 1x1 "
       "silu\nconcat {} {}\n",
       4 * 40 + 40},
      {"[crnn]\nbatch_normalize=1\npad=1\noutput=6\nhidden=5\n"
       "activation=leaky\n",
       "conv 5 3x3 pad bn leaky(0.1)\n"
       "add {} { conv 5 3x3 pad bn leaky(0.1) }\n"
       "conv 6 3x3 pad bn leaky(0.1)\n",
       9 * (4 * 5 + 5 * 5 + 5 * 6) + 2 * (5 + 5 + 6)},
      {"[local_avgpool]\nsize=2\nstride=2\n[contrastive]\n[yolo4]\n",
       "avgpool 2x2 -> 4x4x4\n", 0},
      {"[local]\nsize=3\npad=1\nfilters=6\nactivation=leaky\n",
       "local 6 3x3 pad leaky(0.1)\n", 64 * (9 * 4 * 6 + 6)},
      {"[maxpool]\n[implicit_add]\nfilters=4\n[implicit_mul]\nfilters=6\n"
       "[route]\nlayers=0\n[shift_channels]\nfrom=1\n"
       "[convolutional]\nfilters=6\nactivation=linear\n"
       "[control_channels]\nfrom=2\n",
       "add {} { weight 4 }\nconv 6 1x1\nmul {} { weight 6 }\n",
       4 + 4 * 6 + 6 + 6},
      {"[rnn]\nbatch_normalize=1\noutput=6\nhidden=5\nactivation=leaky\n",
       "rnn 5 norm=bn\nlinear 6 bn leaky(0.1)\n",
       10 * 5 + 5 * 5 + 5 * 6 + 2 * (5 + 5 + 6)}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char text[600];
    bool sequence = strncmp(nets[i].text, "[rnn]", 5) == 0;
    snprintf(text, sizeof text, "[net]\n%s%s",
             sequence ? "inputs=10\n\n\n" : "height=8\nwidth=8\nchannels=4\n",
             nets[i].text);
    const char *path = file_with("sections", "a.cfg", text);
    char *source = import(path, "");
    assert_holds(source, nets[i].says);
    check_params(path, source, nets[i].params);
    free(source);
  }
}

/* A map that the file has too small is given, as for other formats. */
static void darknet_takes_another_input(void **state) {
  (void)state;
  const char *path = file_with("small", "a.cfg",
                               "[net]\nheight=1\nwidth=1\nchannels=4\n"
                               "[convolutional]\nfilters=4\nsize=3\n");
  struct run r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "the input is 1x1x4; `--input 224x224x4` gives a "
                      "sufficient size");
  run_free(&r);
  char *source = import(path, "--input 9x9x4");
  assert_holds(source, "input 9x9x4\nconv 4 3x3 sigmoid -> 7x7x4\n");
  free(source);
}

/* Choices of an author are counted, and `netc check` has them. */
static void warnings_of_imported_nets_are_counted(void **state) {
  (void)state;
  const char *path =
      file_with("choices", "a.prototxt",
                "input: 'x' input_shape { dim: 1 dim: 8 dim: 7 dim: 7 }\n"
                "layer { name: 'l' type: 'Pooling' bottom: 'x' top: 'y' "
                "pooling_param { kernel_size: 2 stride: 2 round_mode: FLOOR } "
                "}\n");
  struct run r = run("%s %s", NETC, path);
  assert_int_equal(r.status, 0);
  assert_holds(
      r.err, "note: 1 warning about choices of the net's author; `netc check");
  assert_null(strstr(r.err, "[pool-remainder]"));
  run_free(&r);
  r = run("%s check %s", NETC, path);
  assert_holds(r.err, "[pool-remainder]");
  run_free(&r);
}

/* Who has the source is not told of them again, but of other slips. */
static void sources_allow_what_their_authors_chose(void **state) {
  (void)state;
  static const char text[] = "[net]\nheight=9\nwidth=9\nchannels=3\n"
                             "[convolutional]\nfilters=8\nsize=1\nstride=2\n"
                             "[maxpool]\nsize=2\nstride=2\npadding=0\n"
                             "[connected]\noutput=10\n[softmax]\n";
  const char *path = file_with("allows", "a.cfg", text);
  struct run r = run("%s import %s -o %s.net", NETC, path, path);
  assert_int_equal(r.status, 0);
  assert_holds(r.err, "note: 2 warnings about choices of the net's author, "
                      "which the source allows;");
  run_free(&r);
  char *source = import(path, "");
  assert_holds(source, "net a\nallow \"stride-skips pool-remainder\"\ninput");
  free(source);
  r = run("%s check %s.net", NETC, path);
  assert_string_equal(r.err, "no errors or warnings in 1 file\n");
  run_free(&r);
  r = run("%s check %s.net --loss crossentropy -Wstride-skips", NETC, path);
  assert_holds(r.err, "[stride-skips]");
  assert_holds(r.err, "[softmax-before-loss]");
  assert_null(strstr(r.err, "[pool-remainder]"));
  run_free(&r);
  r = run("%s %s --loss crossentropy", NETC, path);
  assert_holds(r.err, "[softmax-before-loss]");
  assert_holds(r.err, "note: 2 warnings about choices of the net's author");
  assert_null(strstr(r.err, "[stride-skips]"));
  run_free(&r);
}

static void a_nul_in_a_name_is_refused(void **state) {
  (void)state;
  static const char text[] = "name: 'a\0b'\ninput: 'x' input_dim: 1";
  char path[600];
  snprintf(path, sizeof path, "%s/a.prototxt", scratch("nul"));
  write_text(path, text, sizeof text - 1);
  struct run r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 1);
  assert_holds(r.err,
               "a.prototxt:1: error: the string of `name` contains a NUL");
  run_free(&r);
}

/* A def that is made of another def's lines is given what they name. */
static void joins_with_one_label_are_folded(void **state) {
  (void)state;
  const char *path = file_with("chain", "a.cfg", "");
  FILE *file = fopen(path, "w");
  fputs("[net]\nheight=8\nwidth=8\nchannels=4\n", file);
  for (int i = 0; i < 75; i++)
    fprintf(file, "[convolutional]\nfilters=%d\nsize=1\n[route]\nlayers=-1,0\n",
            4 + i * i % 3);
  assert_int_equal(fclose(file), 0);
  struct run r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.err, "");
  assert_in_range(line_count(r.out), 10, 60);
  run_free(&r);
}

/* Keras. */

/* `all` counts running statistics, and a counter of Normalization. */
static void check_keras_net(const char *name, int64_t params, int64_t all) {
  char path[256], expected[256];
  size_t length = strlen(name);
  bool old = length > 2 && strcmp(name + length - 2, "_2") == 0;
  snprintf(path, sizeof path, "tests/data/import/keras/%s.json", name);
  snprintf(expected, sizeof expected, "tests/data/import/keras/%.*s.net",
           (int)(old ? length - 2 : length), name);
  char *source = import(path, "");
  char *flat = import(path, "--flat");
  check_params(path, source, params);
  check_params(path, flat, params);
  struct netc_totals totals = totals_of(path, source);
  assert_true(all >= totals.param_count);
  assert_true(all <= totals.param_count + totals.buffer_count + 1);
  assert_true(line_count(source) <= 62);
  check_file(expected, source);
  free(source);
  free(flat);
}

/*
 * Files of Keras itself, in the form of Keras 3 and of Keras 2: the same
 * source, whose parameters are those that Keras counts.
 */
static void keras_nets_count_as_keras_does(void **state) {
  (void)state;
  char *table = read_text("tests/data/import/keras/truth.tsv", NULL);
  char *rest = strchr(table, '\n') + 1;
  int count = 0;
  for (char *line; (line = strtok_r(rest, "\n", &rest)); count++) {
    char name[64];
    long long trained, all;
    assert_int_equal(sscanf(line, "%63s %lld %lld", name, &trained, &all), 3);
    check_keras_net(name, trained, all);
  }
  assert_true(count >= 20);
  free(table);
}

static void folded_sources_are_as_short_as_promised(void **state) {
  (void)state;
  static const struct {
    const char *path;
    int lines;
  } nets[] = {
      {"darknet/yolov3_ab.cfg", 33},
      {"darknet/efficientnet_b0.cfg", 29},
      {"darknet/densenet201_ab.cfg", 18},
      {"darknet/darknet53.cfg", 19},
      {"darknet/resnet50.cfg", 26},
      {"darknet/yolov7-tiny.cfg", 42},
      {"darknet/yolov4-sam-mish-csp-reorg-bfm.cfg", 76},
      {"caffe/prototxt_ResNet-101-deploy.prototxt", 19},
      {"caffe/benchmark_mobilenet_v2_deploy.prototxt", 23},
      {"caffe/SqueezeNet_v1.0_deploy.prototxt", 19},
      {"openvino/terryshyan__landmarks-regression-retail-0009.xml", 16}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char path[128];
    snprintf(path, sizeof path, "tests/data/import/%s", nets[i].path);
    char *source = import(path, "");
    if (line_count(source) > nets[i].lines)
      print_error("%s:\n%s", path, source);
    assert_true(line_count(source) <= nets[i].lines);
    free(source);
  }
}

static void check_canonical(const char *folder, const char *path) {
  struct run r = run("%s import %s -o %s/x.net && %s fmt --check %s/x.net",
                     NETC, path, folder, NETC, folder);
  if (r.status)
    print_error("%s: %s", path, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* Written sources are canonical. */
static void sources_are_canonical(void **state) {
  (void)state;
  static const struct {
    const char *folder, *suffix;
  } models[] = {{"tests/data/import/darknet", ".cfg"},
                {"tests/data/import/caffe", ".prototxt"},
                {"tests/data/import/keras", ".json"}};
  const char *folder = scratch("canonical");
  for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
    struct paths paths = find_paths(models[k].folder, models[k].suffix);
    assert_true(paths.count > 0);
    for (size_t i = 0; i < paths.count; i++)
      check_canonical(folder, paths.at[i]);
    paths_free(&paths);
  }
}

/*
 * Files with bytes that are no text, and files without a last line's end;
 * tests/cases/files.txt has the others.
 */
static struct mistake {
  char name[48];
  const char *file, *text, *says;
} mistakes[] = {
    {"keras-not-utf-8", "a.json", "{\"class_name\": \"\377\"}",
     "not JSON: a text is not UTF-8"},
    {"no-utf-8", "a.cfg",
     "[net]\nheight=8\nwidth=8\nchannels=3\n"
     "[\xff\xfe\x1b[2J]\n",
     "a.cfg:5: error: netc has no equivalent of [???[2J]"},
    {"type-of-no-utf-8", "a.prototxt",
     "input: \"d\" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }\n"
     "layer { name: \"\xff\xfe\" type: \"\xc3\x28\" bottom: \"d\" top: \"e\" "
     "}\n",
     "a.prototxt:2: error: netc has no equivalent of `??`, a layer of type ?("},
    {"torch-pickle", "a.pt", "PK\3\4", "torch.onnx.export(model"},
    {"keras-no-json", "a.json",
     "{\"class_name\": ", "a.json:1:15: error: not JSON"},
    {"cut-json", "a.json", "{\"class_name\": \"Sequential\", \"config\": ",
     "a.json:1:39: error: not JSON: it ends too early; was it cut off?"},
    {"empty", "a.cfg", "", "the file is empty"},
};

/* A name that would end a comment, or is no UTF-8, stays in it. */
static void hostile_names_do_no_harm(void **state) {
  (void)state;
  static const char text[] =
      "input: \"d\" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }\n"
      "layer { name: \"w\\nconv 3\\377\" type: \"Wa\377rp\" bottom: \"d\" "
      "top: \"f\" }\n"
      "layer { name: \"x\376\" type: \"ReLU\" bottom: \"d\" top: \"g\" }\n";
  char path[600];
  snprintf(path, sizeof path, "%s/a.prototxt", scratch("hostile"));
  write_text(path, text, sizeof text - 1);
  struct run r = run("%s import --allow-unknown %s", NETC, path);
  assert_int_equal(r.status, 0);
  assert_int_equal(line_count(r.out), 4);
  assert_holds(r.out, "# `w");
  assert_holds(r.out, "\nrelu\n");
  run_free(&r);
}

static void check_mistake(void **state) {
  const struct mistake *m = *state;
  const char *folder = scratch("mistakes");
  write_in(folder, m->file, m->text);
  struct run r =
      run("%s import %s/%s -o %s/out.net", NETC, folder, m->file, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, m->says);
  run_free(&r);
  r = run("test ! -e %s/out.net", folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* `count` times a text, then others as often; the rest. */
static void write_nested(const char *path, const char *begin, const char *open,
                         const char *middle, const char *close, int count,
                         const char *end) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(begin, file);
  for (int i = 0; i < count; i++)
    fputs(open, file);
  fputs(middle, file);
  for (int i = 0; i < count; i++)
    fputs(close, file);
  fputs(end, file);
  fclose(file);
}

static void check_refused(const char *path, const char *says) {
  struct run r = run("timeout 200 %s import %s", NETC, path);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, says);
  assert_int_equal(strlen(r.out), 0);
  run_free(&r);
}

/* Messages, lists and models inside each other, deeper than any stack. */
static void nesting_has_an_end(void **state) {
  (void)state;
  const char *folder = scratch("nested");
  char path[600];
  snprintf(path, sizeof path, "%s/a.prototxt", folder);
  write_nested(path, "", "layer { ", "", "}", 200000, "\n");
  check_refused(
      path,
      "a.prototxt:1: error: messages are nested more than 200 levels deep");
  snprintf(path, sizeof path, "%s/a.json", folder);
  write_nested(path, "", "[", "", "]", 200000, "\n");
  check_refused(path, "not JSON: objects are nested too deep");
  static const char sequence[] =
      "{\"class_name\": \"Sequential\", \"config\": {\"layers\": ["
      "{\"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": "
      "[null, 8]}}, ";
  write_nested(path, "", sequence, "{\"class_name\": \"ReLU\", \"config\": {}}",
               "]}}", 20, "\n");
  check_refused(path, "models are nested more than 16 levels deep");
}

/* Heads of one name, which Caffe allows. */
static void outputs_of_one_name_are_numbered(void **state) {
  (void)state;
  const char *path = file_with(
      "twins", "a.prototxt",
      "input: \"d\" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }\n"
      "layer { name: \"a\" type: \"ReLU\" bottom: \"d\" top: \"e\" }\n"
      "layer { name: \"a\" type: \"TanH\" bottom: \"d\" top: \"f\" }\n");
  char *source = import(path, "");
  assert_holds(source, "output a }");
  assert_holds(source, "output a_2\n");
  free(source);
}

/* Half a file is refused with its line, or is a smaller net. */
static void cut_files_are_read_or_refused(void **state) {
  (void)state;
  static const char *const paths[] = {
      "tests/data/import/darknet/yolov3-tiny_ab.cfg",
      "tests/data/import/caffe/SqueezeNet_v1.0_deploy.prototxt",
      "tests/data/import/keras/joins.json"};
  const char *folder = scratch("cut");
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    size_t length;
    char *text = read_text(paths[i], &length);
    char path[600];
    snprintf(path, sizeof path, "%s/cut%s", folder, strrchr(paths[i], '.'));
    for (size_t part = 1; part < 16; part++) {
      write_text(path, text, length * part / 16);
      struct run r = run("%s import %s", NETC, path);
      if (r.status != 0) {
        assert_int_equal(r.status, 1);
        assert_holds(r.err, ": error: ");
        assert_int_equal(strlen(r.out), 0);
      }
      run_free(&r);
    }
    free(text);
  }
}

/* A chain of so many layers, as Keras would write it. */
static void write_chain(const char *path, size_t count) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("{\"class_name\": \"Sequential\", \"config\": {\"layers\": ["
        "{\"class_name\": \"InputLayer\", "
        "\"config\": {\"batch_shape\": [null, 8]}}",
        file);
  for (size_t i = 0; i < count; i++)
    fputs(",\n{\"class_name\": \"ReLU\", \"config\": {}}", file);
  fputs("]}}", file);
  fclose(file);
}

/* So many times a text: `$` is its number from 0, `^` the next one. */
static void write_many(const char *path, const char *begin, const char *each,
                       size_t count) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(begin, file);
  for (size_t i = 0; i < count; i++)
    for (const char *at = each; *at; at++)
      if (*at == '$')
        fprintf(file, "%zu", i);
      else if (*at == '^')
        fprintf(file, "%zu", i + 1);
      else
        fputc(*at, file);
  fclose(file);
}

static void check_chain(const char *path) {
  char *source = import(path, "");
  assert_holds(source, "repeat 100000 { relu }");
  free(source);
}

static void a_million_layers_are_read_or_refused(void **state) {
  (void)state;
  static const char net[] = "[net]\nheight=8\nwidth=8\nchannels=3\n";
  static const char relu[] = "[activation]\nactivation=relu\n";
  static const char input[] = "input: \"t0\" input_shape { dim: 1 dim: 8 }\n";
  static const char layer[] = "layer { name: \"l$\" type: \"ReLU\" "
                              "bottom: \"t$\" top: \"t^\" }\n";
  const char *folder = scratch("million");
  char path[600];
  snprintf(path, sizeof path, "%s/chain.json", folder);
  write_chain(path, 100000);
  check_chain(path);
  write_chain(path, 2000001);
  check_refused(path, "more than 2000000 layers");
  snprintf(path, sizeof path, "%s/chain.cfg", folder);
  write_many(path, net, relu, 100000);
  check_chain(path);
  snprintf(path, sizeof path, "%s/chain.prototxt", folder);
  write_many(path, input, layer, 100000);
  check_chain(path);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(hostile_names_do_no_harm),
      cmocka_unit_test(nesting_has_an_end),
      cmocka_unit_test(outputs_of_one_name_are_numbered),
      cmocka_unit_test(cut_files_are_read_or_refused),
      slow_test(a_million_layers_are_read_or_refused),
      cmocka_unit_test(a_fold_that_goes_wrong_is_not_written),
      cmocka_unit_test(other_weights_than_the_files_are_an_error),
      cmocka_unit_test(joins_with_one_label_are_folded),
      cmocka_unit_test(sections_of_forks_of_darknet_are_read),
      cmocka_unit_test(darknet_takes_another_input),
      cmocka_unit_test(warnings_of_imported_nets_are_counted),
      cmocka_unit_test(sources_allow_what_their_authors_chose),
      cmocka_unit_test(a_nul_in_a_name_is_refused),
      cmocka_unit_test(darknet_nets_count_as_darknet_does),
      cmocka_unit_test(caffe_nets_are_as_caffe_says),
      cmocka_unit_test(norms_inside_recurrent_layers_count),
      cmocka_unit_test(layers_of_forks_of_caffe_are_read),
      cmocka_unit_test(keras_nets_count_as_keras_does),
      cmocka_unit_test(folded_sources_are_as_short_as_promised),
      cmocka_unit_test(files_of_windows_are_read),
      cmocka_unit_test(sources_are_canonical)};
  return run_table("import", mistakes, sizeof mistakes / sizeof *mistakes,
                   sizeof *mistakes, check_mistake, others,
                   sizeof others / sizeof *others);
}
