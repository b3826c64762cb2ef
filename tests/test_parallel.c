/*
 * Memory of several devices: the formulas of ZeRO, tensor and pipeline
 * parallel written out for nets that can be computed by hand.
 */
#include "tests/report.h"

static int64_t stage(json_t *json, int index, const char *name) {
  char path[96];
  snprintf(path, sizeof path, "parallel.stages.%d.%s", index, name);
  return training(json, path);
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void rows_of_stages_add_up(json_t *json) {
  static const char *const rows[] = {
      "parameter_bytes", "gradient_bytes", "optimizer_bytes",
      "buffer_bytes",    "input_bytes",    "gathered_bytes",
      "bucket_bytes",    "saved_bytes",    "temporary_bytes"};
  /* Left out where they are nothing. */
  static const char *const some[] = {"master_bytes", "average_bytes",
                                     "deferred_bytes"};
  json_t *at;
  size_t index;
  int64_t most = 0;
  json_array_foreach(find(json, "training.parallel.stages"), index, at) {
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
      sum += number(at, rows[i]);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
      sum += json_integer_value(json_object_get(at, some[i]));
    if (!json_is_true(json_object_get(at, "peak_in_step")))
      sum -= json_integer_value(json_object_get(at, "paged_bytes"));
    assert_int_equal(number(at, "peak_bytes"), sum);
    most = larger(most, sum);
  }
  assert_int_equal(stage(json,
                         (int)training(json, "parallel.most_loaded_stage"),
                         "peak_bytes"),
                   most);
}

/* Data parallel */

static const char mlp[] = "net mlp\ninput 64\nlinear 128 relu\nlinear 32\n";

/* 64*128 + 128 and 128*32 + 32 values; Adam keeps two and a step of each. */
static void zero_divides_what_it_says(void **state) {
  (void)state;
  enum { N = 12448, LARGEST = 64 * 128 + 128, K = 4, DEVICES = 8 };
  int64_t adam = 8 * N + 4 * K;
  static const char *const zeros[] = {"", " zero=1", " zero=2", " zero=3"};
  json_t *alone = compile(mlp, "batch=16 optimizer=adam" CPU);
  for (int zero = 0; zero <= 3; zero++) {
    char options[96];
    snprintf(options, sizeof options,
             "batch=16 optimizer=adam data_parallel=8%s" CPU, zeros[zero]);
    json_t *json = compile(mlp, options);
    assert_int_equal(training(json, "parallel.device_count"), DEVICES);
    assert_int_equal(stage(json, 0, "parameter_bytes"),
                     zero >= 3 ? 4 * N / DEVICES : 4 * N);
    assert_int_equal(stage(json, 0, "gradient_bytes"),
                     zero >= 2 ? 4 * N / DEVICES : 4 * N);
    assert_int_equal(stage(json, 0, "optimizer_bytes"),
                     zero >= 1 ? adam / DEVICES : adam);
    assert_int_equal(stage(json, 0, "bucket_bytes"), zero ? 0 : 4 * N);
    /* The gradient of the largest layer, its weights, those of the next. */
    assert_int_equal(stage(json, 0, "gathered_bytes"), zero < 2 ? 0
                                                       : zero == 2
                                                           ? 4 * LARGEST
                                                           : 3 * 4 * LARGEST);
    assert_int_equal(stage(json, 0, "input_bytes"), 4 * 64 * 16);
    rows_of_stages_add_up(json);
    json_decref(json);
  }
  json_decref(alone);
}

/* Counters of bn are among the buffers. */
static void stages_share_out_all_that_stands(void **state) {
  (void)state;
  static const char *const rows[] = {"parameter_bytes", "buffer_bytes",
                                     "optimizer_bytes", "gradient_bytes",
                                     "input_bytes"};
  for (int stages = 1; stages <= 4; stages++) {
    char options[96];
    snprintf(options, sizeof options,
             "-Ddepth=18 batch=7 optimizer=adam zero=1 pipeline=%d" CPU,
             stages);
    json_t *json = compile_file("examples/zoo/resnet.net", options);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      int64_t sum = 0;
      for (int k = 0; k < stages; k++)
        sum += stage(json, k, rows[i]);
      assert_int_equal(sum, training(json, rows[i]));
    }
    json_decref(json);
  }
}

static void one_device_is_no_device_less(void **state) {
  (void)state;
  json_t *alone = compile(mlp, "batch=16 optimizer=sgd" CPU);
  json_t *one = compile(mlp, "batch=16 optimizer=sgd zero=1" CPU);
  assert_int_equal(stage(one, 0, "saved_bytes"),
                   training(alone, "saved_bytes"));
  /* All gradients are counted from the beginning: they are never less. */
  assert_true(stage(one, 0, "peak_bytes") >= training(alone, "peak_bytes"));
  assert_true(stage(one, 0, "peak_bytes") <=
              training(alone, "peak_bytes") +
                  training(alone, "gradient_bytes"));
  json_decref(alone);
  json_decref(one);
}

/* Tensor parallel */

/* Megatron: the first by columns, the second by rows; biases everywhere. */
static void two_layers_are_split_by_columns_and_rows(void **state) {
  (void)state;
  const char *net = "net a\ninput 10x64\nlinear 256 gelu\nlinear 32\n";
  for (int t = 1; t <= 8; t *= 2) {
    char options[96];
    snprintf(options, sizeof options,
             "batch=2 optimizer=sgd zero=1 tensor_parallel=%d" CPU, t);
    json_t *json = compile(net, options);
    assert_int_equal(stage(json, 0, "parameter_bytes"),
                     4 * ((64 * 256 + 256 * 32) / t + 256 + 32));
    /* gelu's input and output; the net's own input is not counted */
    assert_int_equal(stage(json, 0, "saved_bytes"), 4 * 20 * (256 + 256) / t);
    json_decref(json);
    /* In 16 bits, with a copy of the input, and of the matrix that leads to
       what is trained. */
    snprintf(
        options, sizeof options,
        "batch=2 optimizer=sgd zero=1 precision=mixed tensor_parallel=%d" CPU,
        t);
    json = compile(net, options);
    assert_int_equal(stage(json, 0, "saved_bytes"),
                     2 * 20 * 64 + 2 * 20 * (256 + 256) / t + 2 * 256 * 32 / t);
    json_decref(json);
  }
  /* A norm between them needs all channels: only the weights are split. */
  const char *whole = "net a\ninput 10x64\nlinear 256\nln\nlinear 32\n";
  json_t *one = compile(whole, "optimizer=sgd zero=1" CPU);
  json_t *two = compile(whole, "optimizer=sgd tensor_parallel=2" CPU);
  assert_int_equal(stage(one, 0, "saved_bytes"), stage(two, 0, "saved_bytes"));
  assert_int_equal(stage(one, 0, "parameter_bytes") -
                       stage(two, 0, "parameter_bytes"),
                   4 * (64 * 256 + 256 * 32) / 2);
  json_decref(one);
  json_decref(two);
}

/*
 * Each has some of the classes that rows are compared with: logarithms and two
 * gradients of them, of 20 rows, in place of the whole; targets and the input
 * of the last layer are whole.
 */
static void logits_of_a_loss_are_split(void **state) {
  (void)state;
  const char *net = "input 10x64; linear 256 gelu; linear 64; linear 512";
  int64_t saved[4], peak[4];
  for (int i = 0; i < 4; i++) {
    char options[96];
    snprintf(options, sizeof options,
             "batch=2 optimizer=sgd zero=1 loss=%s tensor_parallel=%d" CPU,
             i < 2 ? "crossentropy" : "mse", i % 2 ? 4 : 1);
    json_t *json = compile(net, options);
    saved[i] = stage(json, 0, "saved_bytes");
    peak[i] = stage(json, 0, "peak_bytes") - stage(json, 0, "parameter_bytes") -
              stage(json, 0, "gradient_bytes");
    json_decref(json);
  }
  int64_t hidden = 4 * 20 * 2 * 256, logits = 4 * 20 * 512;
  assert_int_equal(saved[0] - saved[1], (hidden + logits) * 3 / 4);
  assert_int_equal(saved[2] - saved[3], hidden * 3 / 4); /* whole outputs */
  assert_true(peak[0] - peak[1] >= 3 * logits * 3 / 4);
}

/*
 * Of GPT-2's block 16 B T d, 6 are whole: the sums, and the norms' outputs,
 * which the products save; two norms keep 16 B T more. The ten others, the
 * weights of h heads are divided; the mask and a number are not.
 */
/* Step by step on a CPU, as one operation on a GPU; the bias stays whole. */
static void gates_are_split_between_devices(void **state) {
  (void)state;
  enum { WEIGHTS = 3 * 3 * (6 + 8) * 4 * 8, BIAS = 4 * 8 };
  static const char *const profiles[] = {CPU, " profile=torch2-cuda"};
  for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
    for (int t = 1; t <= 4; t *= 2) {
      char options[96];
      snprintf(options, sizeof options,
               "batch=2 optimizer=sgd tensor_parallel=%d%s", t, profiles[i]);
      json_t *json = compile("input 4x7x6x6\nconvlstm 8 3x3\n", options);
      assert_int_equal(t == 1 ? training(json, "parameter_bytes")
                              : stage(json, 0, "parameter_bytes"),
                       4 * (WEIGHTS / t + BIAS));
      json_decref(json);
    }
}

static void heads_are_split_between_devices(void **state) {
  (void)state;
  const char *head = "net a\ninput 24x64\n"
                     "repeat %d {\n"
                     "add { ln; attention 8 causal packed } {}\n"
                     "add { ln; linear 256 gelu; linear 64 } {}\n}\n";
  int64_t unit = 4 * 3 * 24 * 64, square = 4 * 3 * 8 * 24 * 24;
  for (int t = 1; t <= 8; t *= 2) {
    int64_t saved[2], parameters[2];
    for (int n = 0; n < 2; n++) {
      char net[256], options[96];
      snprintf(net, sizeof net, head, 2 + n);
      snprintf(options, sizeof options,
               "batch=3 optimizer=sgd zero=1 tensor_parallel=%d" CPU, t);
      json_t *json = compile(net, options);
      saved[n] = stage(json, 0, "saved_bytes");
      parameters[n] = stage(json, 0, "parameter_bytes");
      json_decref(json);
    }
    assert_int_equal(parameters[1] - parameters[0],
                     4 * (12 * 64 * 64 / t + 13 * 64));
    int64_t found = saved[1] - saved[0];
    int64_t expected =
        4 * unit + 12 * unit / t + square / t + 24 * 24 + 16 * 3 * 24 + 8;
    assert_int_equal(found, expected);
  }
}

/* Pipelines */

enum { LAYERS = 6, SAMPLES = 8 };
static const int widths[LAYERS + 1] = {8, 16, 64, 32, 128, 16, 8};

/*
 * The peak of a stage of layers [a, b) without biases, by hand: weights and
 * gradients; inputs of the layers for each microbatch in flight, of which
 * the net's own is counted once for all; and, for the last of them, what a
 * layer's backward has alive besides.
 */
static int64_t stage_by_hand(int a, int b, int64_t in_flight, int64_t samples) {
  int64_t weights = 0, saved = 0, most = 0, so_far = 0;
  for (int i = a; i < b; i++) {
    weights += widths[i] * widths[i + 1];
    saved += i ? widths[i] : 0;
  }
  for (int i = a; i < b; i++) {
    bool end = b == LAYERS; /* the output lives, its gradient is a number */
    so_far += i ? widths[i] : 0;
    int64_t given = end && i == LAYERS - 1 ? 0 : widths[i + 1];
    int64_t back = so_far + given + (i ? widths[i] : 0);
    back += end ? widths[LAYERS] : 0;
    most = larger(most, larger(back, so_far + widths[i + 1]));
  }
  return 2 * 4 * weights + (a ? 0 : 4 * widths[0] * SAMPLES) +
         4 * samples * (saved * (in_flight - 1) + most);
}

static int64_t in_flight(int stage, int stages, int microbatches, bool gpipe) {
  int64_t waiting = stages - stage;
  int samples = (SAMPLES + microbatches - 1) / microbatches;
  microbatches = (SAMPLES + samples - 1) / samples; /* the batch fills */
  if (stages == 1)
    return 1;
  return gpipe || microbatches < waiting ? microbatches : waiting;
}

/* Tries all cuts: stages from `stage` on with the layers from `a` on. */
static int64_t least_by_hand(int stage, int stages, int a, int microbatches,
                             bool gpipe) {
  int64_t samples = (SAMPLES + microbatches - 1) / microbatches;
  int64_t waiting = in_flight(stage, stages, microbatches, gpipe);
  int64_t least = INT64_MAX;
  if (stage == stages - 1)
    return stage_by_hand(a, LAYERS, waiting, samples);
  for (int b = a + 1; b <= LAYERS - (stages - 1 - stage); b++) {
    int64_t most =
        larger(stage_by_hand(a, b, waiting, samples),
               least_by_hand(stage + 1, stages, b, microbatches, gpipe));
    least = most < least ? most : least;
  }
  return least;
}

static int layer_of(json_t *json, int index, const char *end) {
  char path[64];
  snprintf(path, sizeof path, "training.parallel.stages.%d.%s", index, end);
  const char *name = json_string_value(find(json, path));
  return strcmp(name, "input") == 0 ? 0 : atoi(name + strlen("linear"));
}

static void check_pipeline(const char *net, int stages, int microbatches,
                           bool gpipe) {
  char options[128];
  int at = 0;
  snprintf(options, sizeof options,
           "batch=%d optimizer=sgd pipeline=%d microbatches=%d schedule=%s "
           "cut=memory" CPU,
           SAMPLES, stages, microbatches, gpipe ? "gpipe" : "pipedream");
  json_t *json = compile(net, options);
  int64_t samples = training(json, "parallel.microbatch"), most = 0;
  assert_int_equal(samples, (SAMPLES + microbatches - 1) / microbatches);
  for (int i = 0; i < stages; i++) {
    int64_t waiting = in_flight(i, stages, microbatches, gpipe);
    int first = layer_of(json, i, "first_layer");
    int last = layer_of(json, i, "last_layer");
    assert_int_equal(first, i ? at + 1 : 0); /* one behind the other */
    assert_true(last > at);
    assert_int_equal(stage(json, i, "in_flight_count"), waiting);
    if (stage(json, i, "peak_bytes") !=
        stage_by_hand(at, last, waiting, samples))
      print_error("%s: layers %d to %d\n", options, at, last);
    assert_int_equal(stage(json, i, "peak_bytes"),
                     stage_by_hand(at, last, waiting, samples));
    most = larger(most, stage(json, i, "peak_bytes"));
    at = last;
  }
  assert_int_equal(at, LAYERS); /* and all of them */
  assert_int_equal(most, least_by_hand(0, stages, 0, microbatches, gpipe));
  rows_of_stages_add_up(json);
  json_decref(json);
}

static void no_other_cut_loads_a_stage_less(void **state) {
  (void)state;
  char net[512] = "net chain\ninput 8\n";
  for (int i = 1; i <= LAYERS; i++)
    snprintf(net + strlen(net), sizeof net - strlen(net), "linear %d nobias\n",
             widths[i]);
  for (int stages = 2; stages <= LAYERS; stages++)
    for (int microbatches = 1; microbatches <= 8; microbatches++) {
      check_pipeline(net, stages, microbatches, false);
      check_pipeline(net, stages, microbatches, true);
    }
}

/* A = 4*8*8*8*4 bytes lead from block to block, and nothing else is kept. */
static void checkpoints_inside_a_stage_hold(void **state) {
  (void)state;
  const char *net = "net a\ninput 8x8x8\nrepeat 12 {\n"
                    "checkpoint { add { conv 8 3x3 pad; gelu } {} }\n}\n";
  json_t *json = compile(net, "batch=8 pipeline=2 microbatches=2" CPU);
  int64_t blocks = 0;
  for (int i = 0; i < 2; i++) {
    int64_t held = stage(json, i, "saved_bytes") / (4 * 8 * 8 * 8 * 4);
    blocks += held / stage(json, i, "in_flight_count");
  }
  assert_int_equal(blocks, 11); /* the first one's input is the net's */
  rows_of_stages_add_up(json);
  json_decref(json);
}

/* Three checkpoints hold most of the net: twelve stages cut through them. */
static void checkpoints_fewer_than_stages_are_cut(void **state) {
  (void)state;
  const char *net = "net even\ninput 64x256\n"
                    "repeat 96 { add { linear 256 gelu; linear 256 } {} }\n";
  json_t *json = compile(net, "batch=12 pipeline=12 checkpoint=4" CPU);
  int64_t most = 0, sum = 0;
  for (int i = 0; i < 12; i++) {
    int64_t peak = stage(json, i, "peak_bytes");
    most = peak > most ? peak : most;
    sum += peak;
  }
  assert_true(most < 2 * sum / 12);
  json_decref(json);
}

static void published_nets_are_cut_into_stages(void **state) {
  (void)state;
  static const char *const files[] = {
      "examples/zoo/gpt2.net", "examples/zoo/resnet.net",
      "examples/zoo/googlenet.net", "examples/zoo/unet.net",
      "examples/zoo/yolov3.net"};
  static const char *const options[] = {
      "batch=8 pipeline=4", "batch=8 pipeline=4 schedule=gpipe microbatches=8",
      "batch=8 pipeline=3 data_parallel=2 zero=3 tensor_parallel=4",
      "batch=2 pipeline=8 optimizer=adam profile=torch1-cpu",
      /* A stage that cuts a checkpoint may be heavier than a longer one. */
      "batch=64 pipeline=2 precision=master checkpoint=4",
      "batch=64 pipeline=3 checkpoint=5"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
      json_t *at, *json = compile_file(files[i], options[k]);
      json_t *layers = find(json, "layers");
      size_t index, next = 0;
      rows_of_stages_add_up(json);
      json_array_foreach(find(json, "training.parallel.stages"), index, at) {
        json_t *first = json_array_get(layers, next);
        assert_string_equal(json_string_value(find(at, "first_layer")),
                            json_string_value(find(first, "name")));
        while (strcmp(json_string_value(
                          find(json_array_get(layers, next++), "name")),
                      json_string_value(find(at, "last_layer"))) != 0)
          assert_true(next < json_array_size(layers));
      }
      assert_int_equal(next, json_array_size(layers));
      json_decref(json);
    }
}

/* Cuts */

static void check_turns_of(const char *net, const char *options,
                           const char *turns) {
  char said[128] = "", path[64];
  json_t *json = compile(net, options), *stages;
  stages = find(json, "training.parallel.stages");
  for (size_t i = 0; i < json_array_size(stages); i++) {
    snprintf(path, sizeof path, "training.parallel.stages.%zu.turn_count", i);
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s%d",
             i ? "," : "", (int)json_integer_value(find(json, path)));
  }
  assert_string_equal(said, turns);
  json_decref(json);
}

/* As Megatron-LM counts a table and a loss as layers, and torchtitan. */
static void stages_have_as_many_turns(void **state) {
  (void)state;
  static const struct {
    int turns;
    const char *options, *each;
  } cases[] = {{12, "pipeline=4", "3,3,3,3"},
               {11, "pipeline=4", "3,3,3,2"},
               {10, "pipeline=4", "2,3,3,2"},
               {9, "pipeline=4", "2,3,2,2"},
               {5, "pipeline=2", "3,2"},
               {4, "pipeline=4", "1,1,1,1"},
               {8, "pipeline=2 virtual_stages=2 batch=4", "4,4"},
               {9, "pipeline=2 virtual_stages=2 batch=4", "4,5"},
               {9, "pipeline=4 cut=0,4,5,0", "0,4,5,0"},
               {9, "pipeline=2 schedule=zb_v cut=1,3,3,2", "3,6"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char net[256];
    snprintf(net, sizeof net,
             "input 8x16\nlinear 24\nrepeat %d { add { ln; linear 48 gelu; "
             "linear 24 } {} }\nln\nlinear 5\n",
             cases[i].turns);
    check_turns_of(net, cases[i].options, cases[i].each);
  }
}

/* Without a loop, and where the layers of turns differ in what they see. */
static void turns_are_found_in_what_repeats(void **state) {
  (void)state;
  char net[2048] = "input 8x16\nlinear 24\n";
  for (int i = 0; i < 8; i++)
    snprintf(net + strlen(net), sizeof net - strlen(net),
             "add { ln; attention 4 causal%s } {}\n"
             "add { ln; linear 48 gelu; linear 24 } {}\n",
             i % 3 == 2 ? "" : " window=4");
  snprintf(net + strlen(net), sizeof net - strlen(net), "ln\nlinear 5\n");
  check_turns_of(net, "pipeline=4", "2,2,2,2");
  check_turns_of(net, "pipeline=4 cut=1,3,3,1", "1,3,3,1");
}

/* FSDP does so: PyTorch's torch/distributed/pipelining/stage.py. */
static void a_pipeline_keeps_whole_gradients(void **state) {
  (void)state;
  const char *net = "input 64\nrepeat 4 { linear 64 nobias }\n";
  enum { HALF = 2 * 64 * 64 };
#define FSDP "optimizer=adam data_parallel=4 zero=3 batch=8 pipeline=2 "
  json_t *json = compile(net, FSDP "microbatches=4" CPU);
  assert_int_equal(stage(json, 0, "gradient_bytes"), 4 * HALF);
  assert_int_equal(stage(json, 0, "parameter_bytes"), 4 * HALF / 4);
  assert_int_equal(stage(json, 0, "gathered_bytes"), 4 * HALF + 4 * HALF / 2);
  assert_int_equal(stage(json, 0, "sent.reduce_scatter_bytes"),
                   4 * HALF / 4 * 3);
  json_decref(json);
  json = compile(net, FSDP "microbatches=1" CPU);
  assert_int_equal(stage(json, 0, "gradient_bytes"), 4 * HALF / 4);
  json_decref(json);
  /* Both parts of a device have theirs at once. */
  json = compile(net, FSDP "virtual_stages=2 microbatches=4" CPU);
  assert_int_equal(stage(json, 0, "gathered_bytes"), 4 * HALF + 4 * HALF / 2);
  json_decref(json);
}

/* Where stages cut a recomputed segment, each recomputes its part. */
static void cut_segments_are_two(void **state) {
  (void)state;
  const char *net = "input 8x32\nlinear 32\n"
                    "repeat 6 { add { linear 64 gelu; linear 32 } {} }\n";
  json_t *cut = compile(net, "batch=6 pipeline=3 checkpoint=2" CPU);
  json_t *apart = compile(net, "batch=6 pipeline=3 checkpoint=3" CPU);
  assert_int_equal(stage(cut, 0, "saved_bytes"),
                   stage(apart, 0, "saved_bytes"));
  /* Turn 3 once more, as all in a segment; turn 4, in the last one, not. */
  assert_int_equal(stage(cut, 1, "saved_bytes"),
                   stage(apart, 1, "saved_bytes") +
                       stage(apart, 2, "saved_bytes"));
  assert_int_equal(stage(cut, 2, "saved_bytes"),
                   stage(apart, 2, "saved_bytes"));
  json_decref(cut);
  json_decref(apart);
}

/* The input of column-parallel layers is kept whole, once for all readers. */
static void what_is_gathered_is_kept(void **state) {
  (void)state;
  const char *net = "input 16x32\nrepeat 2 { ln\nmul { linear 64 nobias } "
                    "{ linear 64 nobias }\nlinear 32 nobias }\n";
#define SHARED "batch=2 tensor_parallel=4 sequence_parallel="
  json_t *json = compile(net, SHARED "on" CPU);
  json_t *kept = compile(net, SHARED "keep" CPU);
  int64_t whole = 4 * 2 * 16 * 32;
  assert_int_equal(stage(kept, 0, "saved_bytes") -
                       stage(json, 0, "saved_bytes"),
                   2 * (whole - whole / 4));
  assert_true(stage(kept, 0, "sent.all_gather_bytes") <
              stage(json, 0, "sent.all_gather_bytes"));
  json_decref(json);
  json_decref(kept);
}

/* ZeRO and FSDP as they run */

static json_t *shared_mlp(const char *more) {
  char options[200];
  snprintf(options, sizeof options,
           "batch=16 optimizer=adam data_parallel=8 %s" CPU, more);
  return compile(mlp, options);
}

/* 0: it is left out. */
static int64_t take_stage(json_t *json, const char *name) {
  json_t *first = find(json, "training.parallel.stages.0");
  int64_t value = json_integer_value(json_object_get(first, name));
  json_decref(json);
  return value;
}

static void units_are_gathered_as_the_settings_say(void **state) {
  (void)state;
  enum { FIRST = 64 * 128 + 128, SECOND = 128 * 32 + 32, N = FIRST + SECOND };
  static const struct {
    const char *more, *name;
    int64_t values; /* of 4 bytes */
  } cases[] = {
      {"zero=3", "gathered_bytes", 3 * FIRST},
      {"zero=3 gather=no_prefetch", "gathered_bytes", 2 * FIRST},
      {"zero=3 gather=no_reshard", "gathered_bytes", FIRST + N},
      {"zero=3 gather=no_reshard", "parameter_bytes", N / 8},
      {"zero=2 bucket=4000", "gathered_bytes", 2 * 1000},
      {"zero=2 bucket=1MiB", "gathered_bytes", N},
      {"zero=1", "gathered_bytes", 0},
      {"zero=1 bucket=400", "gathered_bytes", 2 * 100},
      {"bucket=view", "bucket_bytes", 0},
      {"", "bucket_bytes", N},
      /* Biases stay whole: their 160 values are not divided. */
      {"zero=3 gather=small:129", "parameter_bytes", (N - 160) / 8 + 160},
      {"zero=3 shard_devices=2", "parameter_bytes", N / 2},
      {"zero=2 shard_devices=4", "gradient_bytes", N / 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t found = take_stage(shared_mlp(cases[i].more), cases[i].name);
    if (found != 4 * cases[i].values)
      print_error("%s: %s\n", cases[i].more, cases[i].name);
    assert_int_equal(found, 4 * cases[i].values);
  }
  /* Copies of a group sum its part: 3 / 4 of N / 2 values, there and back. */
  json_t *json = shared_mlp("zero=3 shard_devices=2");
  assert_int_equal(stage(json, 0, "sent.all_reduce_bytes"),
                   2 * (4 * N / 2) * 3 / 4);
  assert_int_equal(stage(json, 0, "sent.reduce_scatter_bytes"), 4 * N / 2);
  assert_int_equal(stage(json, 0, "sent.all_gather_bytes"), 2 * 4 * N / 2);
  json_decref(json);
}

/* Offload */

/* Bytes of a chain of 64-wide layers: each keeps its input. */
static void what_is_offloaded_is_in_the_host(void **state) {
  (void)state;
  const char *net = "net a\ninput 8x64\nrepeat 6 { linear 64 nobias }\n";
  enum { P = 6 * 64 * 64, KEPT = 5 * 4 * 8 * 64 * 3 };
  json_t *json = compile(net, "batch=3 optimizer=sgd offload=activations "
                              "host_memory=1GiB" CPU);
  assert_int_equal(training(json, "parallel.device_count"), 1);
  assert_int_equal(stage(json, 0, "host_bytes"), KEPT);
  assert_int_equal(stage(json, 0, "saved_bytes"), 0);
  /* The output, which stays; a layer's input, fetched; both gradients. */
  assert_int_equal(stage(json, 0, "temporary_bytes"), 4 * 4 * 8 * 64 * 3);
  assert_int_equal(stage(json, 0, "sent.host_link_bytes"), 2 * KEPT);
  rows_of_stages_add_up(json);
  json_decref(json);
  json = compile(net, "batch=3 optimizer=adam precision=master zero=2 "
                      "data_parallel=4 offload=optimizer host_memory=1GiB "
                      "host_devices=2" CPU);
  assert_int_equal(stage(json, 0, "host_bytes"), 16 * P / 4);
  assert_int_equal(training(json, "parallel.host_bytes"), 2 * 16 * P / 4);
  assert_int_equal(stage(json, 0, "parameter_bytes"), 2 * P);
  assert_int_equal(stage(json, 0, "gradient_bytes"), 0);
  assert_int_equal(stage(json, 0, "optimizer_bytes"), 0);
  json_decref(json);
  json = compile(net, "batch=3 optimizer=adam precision=master zero=3 "
                      "data_parallel=4 offload=all host_memory=1GiB" CPU);
  assert_int_equal(stage(json, 0, "host_bytes"), 18 * P / 4 + KEPT / 2);
  assert_int_equal(stage(json, 0, "parameter_bytes"), 0);
  json_decref(json);
}

/* A segment's input goes to the host, too, and its insides do not. */
static void checkpoints_are_offloaded(void **state) {
  (void)state;
  const char *net = "net a\ninput 8x64\nlinear 64 nobias\nrepeat 4 {\n"
                    "checkpoint { add { linear 256 nobias; gelu; linear 64 "
                    "nobias } {} }\n}\n";
  json_t *kept = compile(net, "batch=2 optimizer=sgd zero=1" CPU);
  json_t *moved = compile(net, "batch=2 optimizer=sgd zero=1 "
                               "offload=activations host_memory=1GiB" CPU);
  assert_int_equal(stage(moved, 0, "host_bytes"),
                   stage(kept, 0, "saved_bytes"));
  assert_int_equal(stage(moved, 0, "host_bytes"), 4 * 4 * 8 * 64 * 2);
  assert_true(stage(moved, 0, "peak_bytes") < stage(kept, 0, "peak_bytes"));
  json_decref(kept);
  json_decref(moved);
}

/* Virtual stages */

/*
 * Blocks that cannot be cut keep 9 S W values, the first one 8: its input is
 * the batch. Stage i of P runs forward 2 (P - i - 1) + (V - 1) P + 1 times
 * before its first backward ends; each P microbatches take turns in its parts.
 */
static void check_turns(int stages, int turns, int microbatches) {
  enum { S = 4, W = 8 };
  char net[200], options[200];
  snprintf(net, sizeof net,
           "net a\ninput %dx%d\nrepeat %d {\nadd { linear %d nobias; gelu; "
           "linear %d nobias } {}\n}\n",
           S, W, stages * turns, 4 * W, W);
  snprintf(options, sizeof options,
           "batch=%d optimizer=sgd pipeline=%d virtual_stages=%d "
           "microbatches=%d cut=memory" CPU,
           microbatches, stages, turns, microbatches);
  json_t *json = compile(net, options);
  for (int i = 0; i < stages; i++) {
    int64_t passes = 2 * (stages - i - 1) + (turns - 1) * stages + 1;
    int64_t kept = 0;
    if (passes > microbatches * turns)
      passes = microbatches * turns;
    for (int64_t f = 0; f < passes; f++) {
      bool first = i == 0 && f / stages % turns == 0;
      kept += 4 * S * W * (first ? 8 : 9);
    }
    assert_int_equal(stage(json, i, "in_flight_count"), passes);
    assert_int_equal(stage(json, i, "saved_bytes"), kept);
    assert_int_equal(stage(json, i, "parameter_bytes"), 4 * turns * 8 * W * W);
    char path[64];
    snprintf(path, sizeof path, "training.parallel.stages.%d.parts", i);
    assert_int_equal(json_array_size(find(json, path)), turns);
  }
  rows_of_stages_add_up(json);
  json_decref(json);
}

static void parts_of_a_stage_take_turns(void **state) {
  (void)state;
  for (int stages = 2; stages <= 4; stages++)
    for (int turns = 2; turns <= 4; turns++)
      for (int times = 1; times <= 3; times++)
        check_turns(stages, turns, stages * times);
}

/*
 * A V: each device has the parts that are as far from both ends, one block
 * each. As many forward passes as there are parts wait on each of them, so
 * that all keep as much: p M_B (arXiv 2401.10241, section 6). Of few
 * microbatches no more wait than there are, in each part.
 */
static void check_v(int stages, int microbatches) {
  enum { S = 4, W = 8 };
  char net[200], options[200], path[64];
  snprintf(net, sizeof net,
           "net a\ninput %dx%d\nrepeat %d {\nadd { linear %d nobias; gelu; "
           "gelu; linear %d nobias } {}\n}\n",
           S, W, 2 * stages, 4 * W, W);
  snprintf(options, sizeof options,
           "batch=%d optimizer=sgd pipeline=%d schedule=zb_v "
           "microbatches=%d cut=memory" CPU,
           microbatches, stages, microbatches);
  json_t *json = compile(net, options);
  for (int i = 0; i < stages; i++) {
    int64_t passes = stage(json, i, "in_flight_count");
    assert_true(passes <= 2 * microbatches && passes <= 2 * stages);
    if (microbatches >= 2 * stages)
      assert_int_equal(passes, 2 * stages);
    if (i > 0)
      assert_int_equal(stage(json, i, "saved_bytes"), passes * 4 * S * W * 13);
    assert_int_equal(stage(json, i, "parameter_bytes"), 2 * 4 * 8 * W * W);
    snprintf(path, sizeof path, "training.parallel.stages.%d.parts", i);
    assert_int_equal(json_array_size(find(json, path)), 2);
  }
  rows_of_stages_add_up(json);
  json_decref(json);
}

static void a_v_has_both_ends_of_the_net(void **state) {
  (void)state;
  for (int stages = 2; stages <= 5; stages++)
    for (int microbatches = 1; microbatches <= 5 * stages; microbatches++)
      check_v(stages, microbatches);
}

/* A device of parts [cut[at], cut[at + 1]), each `stages`-th of them. */
static int64_t device_by_hand(const int *cut, int device, int stages, int turns,
                              int microbatches, int64_t samples) {
  int64_t sum = 0, most = 0;
  int64_t passes = 2 * (stages - device - 1) + (turns - 1) * stages + 1;
  if (passes > (int64_t)microbatches * turns)
    passes = (int64_t)microbatches * turns;
  for (int k = 0; k < turns; k++) {
    int at = device + k * stages, a = cut[at], b = cut[at + 1];
    int64_t none = stage_by_hand(a, b, 1, samples), saved = 0, waits = 0;
    int64_t stands = a ? 0 : 4 * widths[0] * SAMPLES;
    for (int i = a; i < b; i++) {
      stands += 2 * 4 * widths[i] * widths[i + 1];
      saved += i ? 4 * samples * widths[i] : 0;
    }
    for (int64_t f = 0; f < passes; f++)
      waits += f / stages % turns == k;
    sum += stands + waits * saved;
    most = larger(most, none - stands - saved);
  }
  return sum + most;
}

/* The least of all cuts into parts. */
static int64_t least_of_devices(int *cut, int at, int stages, int turns,
                                int microbatches, int64_t samples) {
  int parts = stages * turns;
  int64_t least = INT64_MAX, most = 0;
  if (at == parts) {
    for (int d = 0; d < stages; d++)
      most = larger(
          most, device_by_hand(cut, d, stages, turns, microbatches, samples));
    return most;
  }
  for (cut[at] = cut[at - 1] + 1; cut[at] <= LAYERS - (parts - at); cut[at]++) {
    int64_t peak =
        least_of_devices(cut, at + 1, stages, turns, microbatches, samples);
    least = peak < least ? peak : least;
  }
  return least;
}

static void no_other_parts_load_a_device_less(void **state) {
  (void)state;
  char net[512] = "net chain\ninput 8\n", options[128];
  for (int i = 1; i <= LAYERS; i++)
    snprintf(net + strlen(net), sizeof net - strlen(net), "linear %d nobias\n",
             widths[i]);
  for (int stages = 2; stages * 2 <= LAYERS; stages++)
    for (int turns = 2; stages * turns <= LAYERS; turns++)
      for (int times = 1; times * stages <= 8; times++) {
        int cut[LAYERS + 1] = {0}, microbatches = stages * times;
        cut[stages * turns] = LAYERS;
        snprintf(options, sizeof options,
                 "batch=%d optimizer=sgd pipeline=%d virtual_stages=%d "
                 "microbatches=%d cut=memory" CPU,
                 SAMPLES, stages, turns, microbatches);
        json_t *json = compile(net, options);
        int at = (int)training(json, "parallel.most_loaded_stage");
        int64_t samples = training(json, "parallel.microbatch");
        int used = (int)((SAMPLES + samples - 1) / samples);
        int64_t least = least_of_devices(cut, 1, stages, turns, used, samples);
        if (stage(json, at, "peak_bytes") != least)
          print_error("%s: %lld, not %lld\n", options,
                      (long long)stage(json, at, "peak_bytes"),
                      (long long)least);
        assert_int_equal(stage(json, at, "peak_bytes"), least);
        json_decref(json);
      }
}

static int64_t most_loaded(const char *net, int stages, int64_t batch) {
  char options[96];
  snprintf(options, sizeof options, "pipeline=%d batch=%lld" CPU, stages,
           (long long)batch);
  json_t *json = compile(net, options);
  int64_t at = training(json, "parallel.most_loaded_stage");
  int64_t peak = stage(json, (int)at, "peak_bytes");
  json_decref(json);
  return peak;
}

/* A search runs parts of many batches, some of which are far too large. */
static void the_largest_batch_of_a_pipeline_is_the_largest(void **state) {
  (void)state;
  const char *net = "net a\ninput 32x32x3\nrepeat 8 { conv 16 3x3 pad; bn\n"
                    "relu; conv 24 3x3 pad }\nfc 10\n";
  for (int stages = 2; stages <= 5; stages++)
    for (int64_t memory = 1 << 30; memory < (int64_t)1 << 36; memory *= 3) {
      char options[128];
      snprintf(options, sizeof options, "pipeline=%d memory=%lld reserve=0" CPU,
               stages, (long long)memory);
      json_t *json = compile(net, options);
      int64_t batch = training(json, "largest_batch");
      json_decref(json);
      assert_true(most_loaded(net, stages, batch) <= memory);
      assert_true(most_loaded(net, stages, batch + 1) > memory);
    }
}

/* A small batch needs most in the step, a large one in its passes. */
static void a_paged_state_is_there_in_the_step(void **state) {
  (void)state;
  for (int batch = 1; batch <= 65536; batch *= 256) {
    char options[96];
    snprintf(options, sizeof options,
             "batch=%d optimizer=adam paged=on zero=1" CPU, batch);
    json_t *json = compile(mlp, options);
    json_t *first = find(json, "training.parallel.stages.0");
    assert_int_equal(json_is_true(json_object_get(first, "peak_in_step")),
                     batch == 1);
    rows_of_stages_add_up(json);
    json_decref(json);
  }
}

/* Positions */

/* Everything with positions is divided but keys and values on their way. */
static void positions_are_shared(void **state) {
  (void)state;
  const char *net = "net a\ninput 24x64\nrepeat 2 {\n"
                    "add { ln; attention 8 causal packed fused } {}\n}\n";
  json_t *one = compile(net, "batch=3 dtype=bf16 optimizer=sgd zero=1");
  for (int c = 2; c <= 8; c *= 2) {
    char options[96];
    snprintf(options, sizeof options,
             "batch=3 dtype=bf16 optimizer=sgd context_parallel=%d bucket=view",
             c);
    json_t *json = compile(net, options);
    int64_t unit = 2 * 3 * 24 * 64 / c;
    /* 3 of q, k, v, ln's output, attention's; the second's input; sums, and
       for each a seed and an offset; in blocks of 512. */
    int64_t kept = 2 * 5 * unit + unit;
    int64_t found = stage(json, 0, "saved_bytes");
    assert_true(found >= kept &&
                found < kept + 8 * (4 * 3 * 24 * 8 / c + 2 * 512));
    assert_int_equal(stage(json, 0, "input_bytes") * c,
                     stage(one, 0, "input_bytes"));
    /* Two layers, keys and values C - 1 times forward, twice that backward. */
    assert_int_equal(stage(json, 0, "sent.point_to_point_bytes"),
                     2 * 3 * (c - 1) * 2 * unit);
    rows_of_stages_add_up(json);
    json_decref(json);
  }
  json_decref(one);
}

/* The logits are there in parts; their gradients never wait. */
static void a_fused_loss_keeps_no_logits(void **state) {
  (void)state;
  const char *net = "net a\ninput 16x8\nlinear 8 nobias\nlinear 512 nobias\n";
  enum { ROWS = 16 * 4, BYTES = 4 };
  int64_t whole = ask(net, "batch=4 optimizer=sgd loss=crossentropy" CPU,
                      "backward_peak_bytes");
  for (int chunks = 1; chunks <= 64; chunks *= 2) {
    char options[96];
    snprintf(options, sizeof options,
             "batch=4 optimizer=sgd loss=fused_crossentropy loss_chunks=%d" CPU,
             chunks);
    json_t *json = compile(net, options);
    int64_t stands =
        training(json, "parameter_bytes") + training(json, "input_bytes");
    /* What it reads, its gradient, the logits of a part, and the gradient of
       the matrix; a number each for the loss. */
    assert_int_equal(
        training(json, "forward_peak_bytes"),
        stands + BYTES * (2 * ROWS * 8 + ROWS * 512 / chunks + 8 * 512 + 1));
    assert_true(training(json, "backward_peak_bytes") < whole);
    json_decref(json);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zero_divides_what_it_says),
      cmocka_unit_test(stages_share_out_all_that_stands),
      cmocka_unit_test(one_device_is_no_device_less),
      cmocka_unit_test(two_layers_are_split_by_columns_and_rows),
      cmocka_unit_test(gates_are_split_between_devices),
      cmocka_unit_test(logits_of_a_loss_are_split),
      cmocka_unit_test(heads_are_split_between_devices),
      cmocka_unit_test(no_other_cut_loads_a_stage_less),
      cmocka_unit_test(checkpoints_inside_a_stage_hold),
      cmocka_unit_test(checkpoints_fewer_than_stages_are_cut),
      cmocka_unit_test(published_nets_are_cut_into_stages),
      cmocka_unit_test(stages_have_as_many_turns),
      cmocka_unit_test(turns_are_found_in_what_repeats),
      cmocka_unit_test(a_pipeline_keeps_whole_gradients),
      cmocka_unit_test(cut_segments_are_two),
      cmocka_unit_test(what_is_gathered_is_kept),
      cmocka_unit_test(units_are_gathered_as_the_settings_say),
      cmocka_unit_test(what_is_offloaded_is_in_the_host),
      cmocka_unit_test(checkpoints_are_offloaded),
      cmocka_unit_test(parts_of_a_stage_take_turns),
      cmocka_unit_test(the_largest_batch_of_a_pipeline_is_the_largest),
      cmocka_unit_test(a_v_has_both_ends_of_the_net),
      cmocka_unit_test(no_other_parts_load_a_device_less),
      cmocka_unit_test(a_paged_state_is_there_in_the_step),
      cmocka_unit_test(positions_are_shared),
      cmocka_unit_test(a_fused_loss_keeps_no_logits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
