/*
 * To ONNX and back: nets drawn from a grammar of what folds and shares, and
 * those that once did not come back. They have the same layers to train, the
 * same work and the same outputs, and give the same values.
 */
#define _XOPEN_SOURCE 700
#include <stdarg.h>

#include "tests/imported.h"

enum { DRAWN = 80, LONGEST = 9 };

struct dice {
  uint64_t state;
};

static int roll(struct dice *dice, int sides) {
  dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
  return (int)(dice->state >> 33) % sides;
}

struct net {
  char text[4096];
  size_t length;
  int channels, forks; /* at its end; named outputs beside it */
  int label, of;       /* the last one, and its channels */
};

__attribute__((format(printf, 2, 3))) static void say(struct net *net,
                                                      const char *format, ...) {
  va_list args;
  va_start(args, format);
  net->length += (size_t)vsnprintf(
      net->text + net->length, sizeof net->text - net->length, format, args);
  va_end(args);
}

static void add_piece(struct net *net, struct dice *dice, int i) {
  static const char *const alone[] = {
      "roll 1 x -1", "ln",    "gn 2",   "bn",          "instnorm", "prelu",
      "lrn 5",       "scale", "affine", "dropout 0.1", "mul 0.5",  "identity"};
  static const char *const tails[] = {"", " bn", " bn relu", " bias", " gelu"};
  int c = net->channels;
  switch (roll(dice, 16)) {
  case 0:
    net->channels = 4 + 4 * roll(dice, 3);
    say(net, "conv %d %dx%d pad%s\n", net->channels, 1 + 2 * roll(dice, 2),
        1 + 2 * roll(dice, 2), tails[roll(dice, 5)]);
    break;
  case 1:
    say(net, "add { conv %d 3x3 pad bn relu; conv %d 1x1 } {} relu\n", c, c);
    break;
  case 2:
    net->channels += 4;
    say(net, "concat {} { conv 4 1x1 }\n");
    break;
  case 3:
    say(net, "repeat %d { add { conv %d 1x1 bn silu } {} }\n",
        1 + roll(dice, 4), c);
    break;
  case 4:
    net->label = i;
    net->of = c;
    say(net, "l%d: conv %d 3x3 pad\n", i, c);
    break;
  case 5:
    if (net->label && net->of == c)
      say(net, "add l%d {}\n", net->label);
    break;
  case 6:
    if (net->label)
      say(net, "fork { from l%d; gap; fc 3; output o%d }\n", net->label, i);
    net->forks += net->label > 0;
    break;
  case 7:
    say(net, "mul { gap; fc %d sigmoid; reshape 1x1x%d } {}\n", c, c);
    break;
  case 8: say(net, "dwconv 3x3 pad bn relu6\n"); break;
  case 9: say(net, "p%d: split c 2\nconcat p%d[2] p%d[1]\n", i, i, i); break;
  case 10:
    say(net, "for i in 1..2 { s%d[i]: conv %d 1x1 }\nadd s%d[1..2]\n", i, c, i);
    break;
  case 11:
  case 12: say(net, "w%d: conv %d 3x3 pad\nagain w%d\n", i, c, i); break;
  case 13: say(net, "max {} { conv %d 1x1 }\n", c); break;
  default: say(net, "%s\n", alone[roll(dice, 12)]);
  }
}

static void draw(struct net *net, struct dice *dice) {
  static const char *const ends[] = {"gap\nfc 5", "flatten\nlinear 3", "relu",
                                     "pool 2x2\nfc 4 softmax"};
  *net = (struct net){.channels = 4 + 4 * roll(dice, 3)};
  say(net, "net n\ninput %dx%dx3\nconv %d 3x3 pad\n", 6 + 4 * roll(dice, 2),
      9 + roll(dice, 3), net->channels);
  for (int i = 1, last = 1 + roll(dice, LONGEST); i <= last; i++)
    add_piece(net, dice, i);
  say(net, "%s\n", ends[roll(dice, 4)]);
  if (net->forks)
    say(net, "output main\n");
}

/* Prints the net where something is wrong with it. */
static struct run told(const char *text, struct run r) {
  if (r.status)
    print_error("%s\n%s", r.err, text);
  assert_int_equal(r.status, 0);
  return r;
}

static void same_values(const char *folder) {
  char path[512], options[1024];
  char *values[2];
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%c.net", folder, 'a' + i);
    snprintf(options, sizeof options, "--weights %s/%c.safetensors --random 5",
             folder, 'a' + i);
    values[i] = values_of(folder, path, options);
  }
  assert_near(values[0], values[1]);
  free(values[0]);
  free(values[1]);
}

/* `one`: it has one output. */
static void comes_back(const char *text, bool one) {
  const char *f = scratch("net");
  char path[512];
  snprintf(path, sizeof path, "%s/a.net", f);
  write_text(path, text, strlen(text));
  struct run r =
      told(text, run("%s weights %s/a.net --random 3 -o %s/a.safetensors && "
                     "%s %s/a.net --weights %s/a.safetensors --no-source "
                     "-o %s/x.onnx",
                     NETC, f, f, NETC, f, f, f));
  run_free(&r);
  r = told(text, run("%s import %s/x.onnx --weights %s/b.safetensors -o "
                     "%s/b.net",
                     NETC, f, f, f));
  bool quiet = !*r.err || (strstr(r.err, "about choices of the net's author") &&
                           strchr(r.err, '\n') == strrchr(r.err, '\n'));
  if (!quiet)
    print_error("%s%s", text, r.err);
  assert_true(quiet); /* nor a note that it had to be flat */
  run_free(&r);
  struct netc_totals before = totals_of("a.net", text);
  snprintf(path, sizeof path, "%s/b.net", f);
  char *source = read_text(path, NULL);
  struct netc_totals after = totals_of("b.net", source);
  if (before.param_count != after.param_count ||
      before.mac_count != after.mac_count)
    print_error("%sgives\n%s", text, source);
  assert_int_equal(before.param_count, after.param_count);
  assert_int_equal(before.mac_count, after.mac_count);
  /* An input that nothing takes as a map comes back with axes in another
   * order. */
  char input[32];
  sscanf(text, "net n\n%31[^\n]", input);
  if (one && strstr(source, input))
    same_values(f);
  free(source);
}

static void drawn_nets_come_back(void **state) {
  (void)state;
  struct dice dice = {1};
  struct net net;
  for (int i = 0; i < DRAWN; i++) {
    draw(&net, &dice);
    comes_back(net.text, !net.forks);
  }
}

/* `again` names a layer that is in no loop or def. */
static void layers_that_are_used_again_come_back(void **state) {
  (void)state;
  static const char *const nets[] = {
      "conv 8 3x3 pad\nw: conv 8 3x3 pad\nagain w\n",
      "conv 8 1x1 bias\nconv 8 1x1 bias\nw: conv 8 1x1 bias\nagain w\nagain "
      "w\n",
      "linear 8\nw: linear 8\nagain w\nlinear 8\nv: linear 8\nagain v\n",
      "conv 8 3x3 pad relu\nw: conv 8 3x3 pad\nrelu\nagain w\n",
      "conv 8 3x3 pad\nbn relu\nw: conv 8 3x3 pad\nbn relu\n"
      "conv 8 3x3 pad\nbn relu\nv: conv 8 3x3 pad\nbn relu\nagain w\nagain "
      "v\n"};
  static const char *const inputs[] = {"6x10x8", "6x10x4"};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    for (size_t k = 0; k < 2; k++) {
      struct net net = {.length = 0};
      say(&net, "net n\ninput %s\n%s", inputs[k], nets[i]);
      comes_back(net.text, true);
    }
}

/* Windows of one value are a Slice with steps. */
static void pools_of_single_values_come_back(void **state) {
  (void)state;
  comes_back("net n\ninput 9x7x4\nconv 4 3x3 pad\npad 0:1\n"
             "avgpool 1x1 /2x3\nconv 3 1x1\n",
             true);
}

/* Norms with weights keep them though all are 1 and 0; so do small words. */
static void norms_keep_their_weights(void **state) {
  (void)state;
  const char *folder = scratch("norms");
  char path[512];
  snprintf(path, sizeof path, "%s/x.onnx", folder);
  static const char text[] =
      "input 6x10x4\ninstnorm\ninstnorm noaffine\n"
      "instnorm nobias\ngn 2 nobias\n"
      "ln nobias prelu(shared)\ncelu 0.5\nsoftsign\nhardtanh\n"
      "hardtanh -2 3\nsin\ncos softmax(h)\n";
  struct run r = run("echo '%s' | %s - -o %s", text, NETC, path);
  assert_int_equal(r.status, 0);
  run_free(&r);
  char *source = import(path, "");
  assert_holds(source, text);
  free(source);
}

/* Files of other frameworks that come back with other parameters, or that need
 * an option; -1: they cannot be written. */
static const struct returned {
  const char *file, *options;
  int64_t more;
} returned[] = {
    /* ONNX' recurrent layers have two biases for each gate. */
    {"keras/states.json", "", 50},
    {"keras/video.json", "", 40},
    {"keras/video_2.json", "", 40},
    {"keras/words.json", "", 196},
    {"keras/words_2.json", "", 196},
    {"saved/words/", "", 67},
    {"tflite/moves.tflite", "", 3},
    {"tflite/trained_lstm.tflite", "", 80},
    /* The head for training is not in the graph. */
    {"yolo/yolov10m.yaml", "", 15389952 - 16576752},
    {"yolo/yolov10n.yaml", "", 2310608 - 2775504},
    /* The computation of convlstm is not known. */
    {"keras/nowcast.json", "", -1},
    {"keras/nowcast_2.json", "", -1},
    /* Operators whose sizes depend on values are left out. */
    {"control/detector.onnx", "--allow-unknown", 0},
    {"control/regions.onnx", "--allow-unknown", 0},
    {"open/stale_output.onnx", "--input 320x320x3", 0},
    {"states/nested.onnx", "--input input=8 --value sr=16000", 0},
    {"states/silero.onnx", "--dim samples=64 --value sr=16000", 0},
    {"yolo/made.yaml", "--input 320x320x3", 0},
};

static const struct returned *returned_as(const char *path) {
  static const struct returned other = {"", "", 0};
  for (size_t i = 0; i < sizeof returned / sizeof *returned; i++)
    if (strstr(path, returned[i].file))
      return &returned[i];
  return &other;
}

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

enum { MOST_OUTPUTS = 16, MOST_TEXT = 80 };

/* Sizes of the first `most` outputs. The axes of one are sorted: x.onnx has
 * channels first. */
static size_t outputs_of(const char *path, const char *source, size_t most,
                         bool one, char texts[MOST_OUTPUTS][MOST_TEXT]) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_end end = {.size = sizeof end};
  struct netc_layer layer = {.size = sizeof layer};
  size_t count = 0;
  assert_int_equal(netc_load_text(netc, path, source, strlen(source)), NETC_OK);
  for (; count < most && netc_output(netc, count, &end) == NETC_OK; count++) {
    int64_t dims[8];
    int length = 0, rank;
    assert_in_range(count, 0, MOST_OUTPUTS - 1);
    assert_int_equal(netc_layer(netc, (size_t)end.layer, &layer), NETC_OK);
    rank = layer.out.rank;
    assert_in_range(rank, 1, 8);
    memcpy(dims, layer.out.dims, (size_t)rank * sizeof *dims);
    qsort(dims, (size_t)rank, sizeof *dims, by_size);
    char *text = texts[count];
    text[0] = '\0';
    for (int k = 0; k < rank; k++)
      if (dims[k] > 1 || !one)
        length += snprintf(text + length, (size_t)(MOST_TEXT - length), "%lldx",
                           (long long)dims[k]);
  }
  netc_close(netc);
  return count;
}

/* Outputs of a head for training, `shorter`, are the last ones. */
static bool same_outputs(const char *path, const char *source,
                         const char *again, bool shorter) {
  /* A map of one box comes back as a map. */
  bool one = strstr(path, "control/regions.onnx") != NULL;
  char before[MOST_OUTPUTS][MOST_TEXT], after[MOST_OUTPUTS][MOST_TEXT];
  size_t count = outputs_of("again.net", again, SIZE_MAX, one, after);
  bool same = outputs_of(path, source, shorter ? count : SIZE_MAX, one,
                         before) == count;
  for (size_t i = 0; same && i < count; i++)
    same = strcmp(before[i], after[i]) == 0;
  if (!same)
    print_error("%s: other outputs\n%s\ngive\n%s\n", path, source, again);
  return same;
}

/* The options of a source of PyTorch are those of its first row. */
static const char *source_options(const char *path, char options[200]) {
  static const char folder[] = "/pytorch_source/";
  const char *name = strstr(path, folder), *row;
  char key[100];
  options[0] = '\0';
  if (!name)
    return NULL;
  name += sizeof folder - 1;
  snprintf(key, sizeof key, "\n%.*s,", (int)strlen(name) - 3, name);
  char *rows = read_text("tests/data/import/pytorch_source/truth.csv", NULL);
  row = strstr(rows, key);
  if (row)
    sscanf(row + strlen(key), "%199[^,]", options);
  free(rows);
  return row ? options : NULL;
}

static bool file_comes_back(const char *path) {
  const struct returned *r = returned_as(path);
  const char *folder = scratch("files");
  char net[512], onnx[512], options[200];
  snprintf(net, sizeof net, "%s/a.net", folder);
  snprintf(onnx, sizeof onnx, "%s/a.onnx", folder);
  const char *rows = source_options(path, options);
  if (!rows && strstr(path, "/pytorch_source/"))
    return true; /* a part of another source */
  char *source = import(path, rows ? rows : r->options);
  write_text(net, source, strlen(source));
  struct run written = run("%s %s --no-source -o %s", NETC, net, onnx);
  bool right = written.status == 0;
  if (right) {
    char *again = import(onnx, "");
    struct netc_totals a = totals_of(path, source), b = totals_of(onnx, again);
    right = a.param_count + r->more == b.param_count &&
            a.mac_count == b.mac_count &&
            same_outputs(path, source, again, r->more < -1);
    free(again);
  } else {
    right = r->more == -1;
  }
  if (!right)
    print_error("%s does not come back: %s\n", path, written.err);
  run_free(&written);
  free(source);
  return right;
}

/* Each file of tests/data/import that is read, through ONNX. */
static void files_of_others_come_back(void **state) {
  (void)state;
  static const char *const kinds[][2] = {{"caffe/", ".prototxt"},
                                         {"control/", ".onnx"},
                                         {"darknet/", ".cfg"},
                                         {"exported/", ".pt2"},
                                         {"keras/", ".json"},
                                         {"ncnn/", ".param"},
                                         {"onnx/", ".onnx"},
                                         {"open/", ".onnx"},
                                         {"openvino/", ".xml"},
                                         {"pytorch_source/", ".py"},
                                         {"saved/chain", ".h5"},
                                         {"saved/picture", ".keras"},
                                         {"saved/words", "model.json"},
                                         {"quant/", ".onnx"},
                                         {"quant/", ".tflite"},
                                         {"states/", ".onnx"},
                                         {"tflite/", ".tflite"},
                                         {"yolo/", ".yaml"}};
  int wrong = 0, count = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char folder[100];
    snprintf(folder, sizeof folder, "tests/data/import/%s", kinds[i][0]);
    struct paths paths = find_paths(folder, kinds[i][1]);
    for (size_t k = 0; k < paths.count; k++)
      if (!strstr(paths.at[k], "/refused/")) {
        wrong += !file_comes_back(paths.at[k]);
        count++;
      }
    paths_free(&paths);
  }
  assert_int_equal(wrong, 0);
  assert_true(count > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drawn_nets_come_back),
      cmocka_unit_test(layers_that_are_used_again_come_back),
      cmocka_unit_test(pools_of_single_values_come_back),
      cmocka_unit_test(norms_keep_their_weights),
      slow_test(files_of_others_come_back),
  };
  return cmocka_run_group_tests_name("round_trip", tests, NULL, NULL);
}
