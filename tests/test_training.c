/*
 * The memory of a training step against closed forms: each number
 * here is computed by hand from a rule of docs/memory.md or was measured
 * with PyTorch 1.13, never taken from the compiler.
 */
#include "tests/report.h"

/* Mixed precision */

/*
 * Measured under torch.autocast("cpu", torch.bfloat16): 105,654,656 bytes of
 * bfloat16, 38,400 of statistics, 12,845,056 of pool indices. The first are
 * half of what float32 saves without statistics and indices, the image in 16
 * bits, and a copy of every matrix.
 */
static void mixed_resnet_keeps_what_was_measured(void **state) {
  (void)state;
  int64_t low = (159815168 - 38400) / 2 + 2 * 8 * 3 * 224 * 224 + 2 * 11678912;
  assert_int_equal(low, 105654656);
  assert_int_equal(ask_file("examples/zoo/resnet.net",
                            "-Ddepth=18 batch=8 precision=mixed" CPU,
                            "saved_bytes"),
                   low + 38400 + 12845056);
  assert_int_equal(ask_file("examples/zoo/resnet.net", "-Ddepth=18 batch=8" CPU,
                            "saved_bytes"),
                   159815168 + 12845056);
}

/*
 * Copies of weights make it more than in 32 bits. The first layer's copy is
 * not kept: the image needs no gradient, unlike behind a convolution, which
 * keeps it all the same. Measured: 308,480 and 57,344; 26,656.
 */
static void mixed_dense_layers_keep_copies(void **state) {
  (void)state;
  const char *mlp = "examples/zoo/mlp.net";
  assert_int_equal(ask_file(mlp, "batch=8 precision=mixed" CPU, "saved_bytes"),
                   308480);
  assert_int_equal(ask_file(mlp, "batch=8" CPU, "saved_bytes"), 57344);
  assert_int_equal(ask("net a\ninput 5x100\nlinear 200\nlinear 300\n",
                       "batch=8 precision=mixed" CPU, "saved_bytes"),
                   2 * (40 * 100 + 200 * 300 + 40 * 200));
  assert_int_equal(ask("net a\ninput 10x10x3\nconv 16 3x3\nconv 16 3x3\n",
                       "batch=8 precision=mixed" CPU, "saved_bytes"),
                   26656);
}

/*
 * Autocast holds the 16-bit weights of segments until forward has ended; then
 * there are besides: 10 values in 16 and in 32 bits, and their sum.
 */
static void mixed_segments_leave_weights_to_forward(void **state) {
  (void)state;
  size_t i, backward = 0;
  json_t *moment;
  json_t *json = compile("net a\ninput 64\n"
                         "checkpoint { linear 64 nobias; linear 64 nobias }\n"
                         "checkpoint { linear 32 nobias; linear 64 nobias }\n"
                         "linear 10 nobias\n",
                         "precision=mixed loss=sum" CPU);
  json_array_foreach(find(json, "training.timeline"), i, moment) {
    const char *phase = json_string_value(json_object_get(moment, "phase"));
    if (strcmp(phase, "backward") == 0 && !backward)
      backward = i;
  }
  json_t *moments = find(json, "training.timeline");
  assert_int_equal(
      number(json_array_get(moments, backward - 1), "temporary_bytes"),
      2 * (64 * 64 + 64 * 32 + 32 * 64) + 20 + 4);
  assert_true(number(json_array_get(moments, backward), "temporary_bytes") <
              100);
  json_decref(json);
}

/* Numbers beyond 63 bits */

struct outcome {
  int failures, too_large;
};

static struct outcome outcome_of(struct netc *netc) {
  struct outcome outcome = {0};
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    netc_diagnostic(netc, i, &d);
    outcome.failures += d.severity == NETC_SEVERITY_ERROR;
    /* Devices that share what they cannot are an error by themselves. */
    outcome.too_large += strcmp(d.slug, "too-large") == 0 ||
                         strcmp(d.slug, "groups-do-not-divide") == 0 ||
                         strcmp(d.slug, "missing-argument") == 0 ||
                         strstr(d.message, "the pipeline has ");
  }
  return outcome;
}

static void no_number_is_negative(const char *key, json_t *json) {
  const char *name;
  json_t *value;
  size_t index;
  if (json_is_integer(json))
    assert_true(json_integer_value(json) >= 0 || strcmp(key, "misc") == 0 ||
                strcmp(key, "reserve") == 0 || strcmp(key, "left_bytes") == 0);
  json_object_foreach(json, name, value) no_number_is_negative(name, value);
  json_array_foreach(json, index, value) no_number_is_negative(key, value);
}

/* Either all numbers are right, or one diagnostic says why there are none. */
static void try_large(const char *net, const char *options) {
  struct netc *netc = netc_open(NULL, NULL);
  choose(netc, options);
  enum netc_status loaded = netc_load_text(netc, "large.net", net, strlen(net));
  struct outcome outcome = outcome_of(netc);
  if (loaded == NETC_OK) {
    json_t *json = report(netc, loaded);
    no_number_is_negative("", json);
    json_decref(json);
    return;
  }
  if (outcome.failures != 1 || outcome.too_large != 1)
    print_error("%s\n%s: %d failures\n", net, options, outcome.failures);
  assert_int_equal(loaded, NETC_ERROR);
  assert_int_equal(outcome.failures, 1);
  assert_int_equal(outcome.too_large, 1);
  netc_close(netc);
}

static void what_passes_63_bits_is_said(void **state) {
  (void)state;
  static const char *const nets[] = {
      "net a\ninput 10\nfc 10\n",
      "net a\ninput 1099511627776\nfc 1048576\nfc 10\n",
      "net a\ninput 1099511627776x1024\nlinear 1\nlinear 1024\nsoftmax\n",
      "net a\ninput 2097152x2097152x3\nconv 1048576 3x3 pad bn relu\ngap\n",
      "net a\ninput 1048576x1048576x1\nconv 8 3x3 pad relu\npool 2x2\ngap\n",
      "net a\ninput 16777216x64\nattention 1 causal\n",
      "net a\ninput 4 : i32\nembed 35184372088832 1024\nlinear 2\n",
      "net a\ninput 1099511627776\nrepeat 64 { relu }\nsigmoid\n",
      "net a\ninput 1099511627776x8\nlstm 8\n",
      "net a\ninput 4611686018427387904\nrelu\n"};
  static const char *const options[] = {
      "batch=1",
      "batch=1099511627776",
      "batch=4611686018427387904",
      "batch=9223372036854775807",
      "memory=1024",
      "memory=9223372036854775807",
      "checkpoint=1000000",
      "checkpoint=auto memory=1GiB",
      "pipeline=2 microbatches=9223372036854775807",
      "pipeline=2 schedule=gpipe microbatches=9223372036854775807 batch=7",
      "tensor_parallel=1048576",
      "data_parallel=1048576 zero=3",
      "decode=9223372036854775807",
      "precision=mixed profile=torch1-cpu",
      "dtype=f64 optimizer=adam loss=crossentropy",
      "dtype=i4 accumulate=9223372036854775807",
      "align=1048576 gpu=t4",
      "data_parallel=1048576 zero=2 bucket=9223372036854775807 ema=on",
      "zero=3 gather=small:9223372036854775807 gradient_dtype=f64",
      "precision=master paged=on keep_gradients=on optimizer=adam",
      "zero=3 offload=all host_memory=9223372036854775807",
      ("offload=activations host_memory=1GiB host_devices=1048576 "
       "data_parallel=1048576"),
      "context_parallel=1048576 accumulate=9223372036854775807",
      "pipeline=2 schedule=zb_h2 microbatches=9223372036854775807 batch=7",
      "clip=double zero=1 data_parallel=1048576",
      "clip=foreach dtype=f64",
      "saved_dtype=i2 batch=1099511627776 precision=mixed",
      "saved_dtype=i8 batch=4611686018427387904",
      "checkpoint=selective update=loop precision=master dtype=f16"};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
      try_large(nets[i], options[k]);
}

/* Clipping */

/*
 * The loop, measured: clip_grad_norm_ of 1, 2, 8, 20 and 60 gradients was seen
 * to have 16, 16, 64, 160 and 480 bytes alive beside them.
 */
static void clipping_has_two_numbers_a_gradient(void **state) {
  (void)state;
  static const int layers[] = {1, 4, 10, 30}, bytes[] = {16, 64, 160, 480};
  char net[80];
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    snprintf(net, sizeof net, "net a\ninput 8\nrepeat %d { linear 8 }\n",
             layers[i]);
    assert_int_equal(ask(net, "clip=on" CPU, "clip_bytes"), bytes[i]);
  }
  assert_int_equal(
      ask("net a\ninput 8\nlinear 8 nobias\n", "clip=on" CPU, "clip_bytes"),
      16);
}

/* By the sources that docs/memory.md names; blocks of 512 bytes. */
static void other_ways_of_clipping_follow_their_sources(void **state) {
  (void)state;
  static const char net[] = "net a\ninput 1024\nlinear 1024\n";
  const struct {
    const char *settings;
    int64_t bytes;
  } ways[] = {
      {"clip=foreach", 3 * 512 + 1536 + 512}, /* 2 x 16 chunks */
      {"clip=loop", 4 * 512},                 /* the numbers */
      {"clip=fused", 1536 + 512},
      {"clip=double", 2 * 512 + 8 * 1024 * 1024},
      {"clip=on", 3 * 512 + 1536 + 512},
      {"clip=on precision=master gradient_dtype=f32", 1536 + 512},
      {"clip=on precision=master", 1536 + 512 + 4 * 1025 * 1024},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    assert_int_equal(ask(net, ways[i].settings, "clip_bytes"), ways[i].bytes);
  int64_t before = ask(net, "optimizer=sgd update=fused", "step_peak_bytes");
  assert_int_equal(
      ask(net, "optimizer=sgd update=fused clip=double", "step_peak_bytes") -
          before,
      2 * 512 + 8 * 1024 * 1024);
}

/* Attention: bytes of a block, as a difference of two depths */

#define NO_DROPOUT " -Dembd_pdrop=0 -Dattn_pdrop=0 -Dresid_pdrop=0 "

static int64_t of_a_block(const char *file, const char *layers,
                          const char *options) {
  char two[256], three[256];
  snprintf(two, sizeof two, "-D%s=2 %s", layers, options);
  snprintf(three, sizeof three, "-D%s=3 %s", layers, options);
  return ask_file(file, three, "saved_bytes") -
         ask_file(file, two, "saved_bytes");
}

/* Units of B T d values: docs/memory.md; measured for the published sizes. */
static void blocks_of_transformers_follow_their_formulas(void **state) {
  (void)state;
  const char *gpt2 = "examples/zoo/gpt2.net";
  const char *bert = "examples/zoo/bert.net";
  const char *vit = "examples/zoo/vit.net";
  int64_t b = 3, t = 24, d = 40, h = 5;
  assert_int_equal(of_a_block(gpt2, "n_layer",
                              "-Dn_embd=40 -Dn_head=5 -Dlength=24" NO_DROPOUT
                              "batch=3 loss=none" CPU),
                   16 * b * t * d * 4 + 4 * b * h * t * t + t * t + 16 * b * t +
                       8);
  assert_int_equal(
      of_a_block(bert, "num_hidden_layers",
                 "-Dhidden_size=40 -Dnum_attention_heads=5 -Dlength=24 "
                 "batch=3" CPU),
      18 * b * t * d * 4 + 3 * 4 * b * h * t * t + 16 * b * t + 8);
  t = 17; /* 4x4 patches and one token more */
  assert_int_equal(
      of_a_block(vit, "layers", "-Dwidth=40 -Dheads=5 -Dpatch=56 batch=3" CPU),
      16 * b * t * d * 4 + 4 * b * h * t * t + 16 * b * t + 8);
  assert_int_equal(
      ask_file(gpt2, NO_DROPOUT "batch=1 loss=none" CPU, "saved_bytes"),
      1227038816);
  assert_int_equal(ask_file(vit, "batch=1" CPU, "saved_bytes"), 139799176);
}

/* A multiple of 512, so that blocks of the allocator change nothing. */
static void fused_attention_keeps_no_square(void **state) {
  (void)state;
  const char *options = "-Dn_embd=64 -Dn_head=4 -Dlength=%d" NO_DROPOUT
                        "batch=8 loss=none profile=torch2-cuda";
  for (int t = 64; t <= 1024; t *= 2) {
    char text[200];
    snprintf(text, sizeof text, options, t);
    int64_t rows = 8 * (int64_t)t;
    assert_int_equal(of_a_block("examples/zoo/gpt2.net", "n_layer", text),
                     16 * rows * 64 * 4 + 4 * rows * 4 + 16 * rows + 2 * 512);
  }
}

/* Checkpoints */

/*
 * A block keeps its input for conv and conv's output for gelu: 2 A. It can
 * only be cut off behind the sum, whose output is A.
 */
#define BLOCK "add { conv 8 3x3 pad; gelu } {}"
static const char chain[] = "net chain\ninput 8x8x8\nrepeat 36 { " BLOCK " }\n";

/*
 * The last of s segments keeps 36/s blocks of 2 A with their inputs, the
 * others but the first one their input, which for the first is the net's.
 */
static void segments_keep_their_inputs(void **state) {
  (void)state;
  static const int counts[] = {2, 3, 4, 6, 9, 12, 18, 36};
  int64_t a = 4 * 8 * 8 * 8 * 4, macs = 9 * 8 * 8 * 8 * 8;
  int64_t before = ask(chain, "batch=4" CPU, "peak_bytes");
  bool rises = false;
  assert_int_equal(ask(chain, "batch=4" CPU, "saved_bytes"), 71 * a);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    char options[64];
    int64_t s = counts[i];
    snprintf(options, sizeof options, "batch=4 checkpoint=%d" CPU, counts[i]);
    json_t *json = compile(chain, options);
    assert_int_equal(training(json, "saved_bytes"),
                     36 / s * 2 * a + (s - 2) * a);
    assert_int_equal(training(json, "extra_mac_count"), (36 - 36 / s) * macs);
    assert_int_equal(json_array_size(find(json, "training.checkpoints")),
                     s - 1);
    /* The square root of 2 * 36 is 8.5. */
    int64_t peak = training(json, "peak_bytes");
    rises = rises || peak > before;
    assert_true(rises ? peak >= before && s > 6 : peak < before);
    before = peak;
    json_decref(json);
  }
  assert_true(rises);
}

/* What is kept of blocks behind a first one: their inputs, without the net's.
 */
static void groups_keep_only_their_input(void **state) {
  (void)state;
  int64_t a = 4 * 8 * 8 * 8 * 2;
  const char *in = "net a\ninput 8x8x8\n" BLOCK "\n";
  char net[256];
  snprintf(net, sizeof net, "%scheckpoint { " BLOCK "\n" BLOCK " }\n", in);
  int64_t kept = ask(net, "batch=2" CPU, "saved_bytes");
  assert_int_equal(kept, a + a); /* gelu's input, the group's */
  assert_int_equal(ask(net, "batch=2" CPU, "extra_mac_count"),
                   2 * 9 * 8 * 8 * 8 * 8);
  snprintf(net, sizeof net,
           "%scheckpoint { " BLOCK "\ncheckpoint { " BLOCK " } }\n", in);
  json_t *json = compile(net, "batch=2" CPU);
  assert_int_equal(training(json, "saved_bytes"), kept);
  assert_int_equal(training(json, "extra_mac_count"), 2 * 9 * 8 * 8 * 8 * 8);
  assert_int_equal(json_array_size(find(json, "training.checkpoints")), 1);
  json_decref(json);
  snprintf(net, sizeof net, "%s" BLOCK "\n" BLOCK "\n", in);
  assert_int_equal(ask(net, "batch=2" CPU, "saved_bytes"), 5 * a);
  snprintf(net, sizeof net,
           "%scheckpoint { " BLOCK " }\ncheckpoint { " BLOCK " }\n", in);
  assert_int_equal(ask(net, "batch=2" CPU, "saved_bytes"), 3 * a);
}

/* A number of segments is a choice instead of the groups of the source. */
static void segments_replace_groups(void **state) {
  (void)state;
  const char *grouped = "net chain\ninput 8x8x8\nrepeat 18 { " BLOCK
                        " }\nrepeat 18 { checkpoint { " BLOCK " } }\n";
  for (int i = 2; i <= 12; i += 2) {
    char options[64];
    snprintf(options, sizeof options, "batch=4 checkpoint=%d" CPU, i);
    assert_int_equal(ask(grouped, options, "saved_bytes"),
                     ask(chain, options, "saved_bytes"));
  }
}

/* Blocks of several sizes, so that no split is the obvious one. */
static const char uneven[] =
    "net uneven\ninput 32x32x3\nconv 8 3x3 pad\n"
    "repeat 6 { " BLOCK " }\nconv 16 3x3 /2 pad\n"
    "repeat 8 { add { conv 16 3x3 pad; gelu } {} }\nconv 64 3x3 /2 pad\n"
    "repeat 4 { add { conv 64 3x3 pad; gelu } {} }\ngap\nfc 10\n";

static void the_choice_fits_and_no_even_split_is_cheaper(void **state) {
  (void)state;
  enum { SPLITS = 30 };
  int64_t peaks[SPLITS + 1], macs[SPLITS + 1];
  int64_t most = ask(uneven, "batch=16" CPU, "peak_bytes"), least = most;
  char options[96];
  for (int s = 2; s <= SPLITS; s++) {
    snprintf(options, sizeof options, "batch=16 checkpoint=%d" CPU, s);
    json_t *json = compile(uneven, options);
    peaks[s] = training(json, "peak_bytes");
    macs[s] = training(json, "extra_mac_count");
    least = peaks[s] < least ? peaks[s] : least;
    json_decref(json);
  }
  for (int i = 0; i <= 16; i++) {
    int64_t memory = least + (most - least) * i / 16;
    snprintf(options, sizeof options,
             "batch=16 checkpoint=auto memory=%lld" CPU, (long long)memory);
    json_t *json = compile(uneven, options);
    json_t *extra = find(json, "training.extra_mac_count");
    assert_true(training(json, "peak_bytes") <= memory);
    for (int s = 2; s <= SPLITS; s++)
      if (peaks[s] <= memory && json_integer_value(extra) > macs[s])
        fail_msg("%d segments are cheaper", s);
    if (memory == most)
      assert_null(extra); /* it fits as it is */
    json_decref(json);
  }
}

/* Five blocks, two of which are read across the others. */
#define TWO(c) "{ conv " #c " 3x3 pad relu; conv " #c " 3x3 pad relu }\n"
#define BACK(c, to) "deconv " #c " 2x2 /2\nconcat " to "\n"
static const char *const across[] = {
    "net across\ninput 32x32x8\nd1: ", /* then the blocks, and what follows */
    (TWO(16) "pool 2x2\nd2: "),        (TWO(32) "pool 2x2\n"),
    (TWO(64) BACK(32, "d2")),          (TWO(32) BACK(16, "d1")),
    (TWO(16) "conv 2 1x1\n"),
};

enum { BLOCKS = sizeof across / sizeof *across - 1 };

/* Bit i of `which`: block i is checkpointed. */
static char *write_across(unsigned which) {
  static char net[600];
  size_t used = 0;
  for (int i = 0; i <= BLOCKS; i++)
    used += (size_t)snprintf(net + used, sizeof net - used, "%s%s", across[i],
                             i < BLOCKS && which >> i & 1 ? "checkpoint " : "");
  assert_true(used < sizeof net);
  return net;
}

/* Where no single tensor leads on, either. */
static void no_set_of_blocks_is_cheaper_than_the_choice(void **state) {
  (void)state;
  int64_t peaks[1 << BLOCKS], macs[1 << BLOCKS], least = INT64_MAX;
  for (unsigned which = 0; which < 1 << BLOCKS; which++) {
    json_t *json = compile(write_across(which), "batch=64" CPU);
    peaks[which] = training(json, "peak_bytes");
    macs[which] = which ? training(json, "extra_mac_count") : 0;
    least = peaks[which] < least ? peaks[which] : least;
    json_decref(json);
  }
  for (int i = 0; i <= 24; i++) {
    int64_t memory = least + (peaks[0] - least) * i / 24;
    char options[96];
    snprintf(options, sizeof options,
             "batch=64 checkpoint=auto memory=%lld" CPU, (long long)memory);
    json_t *json = compile(write_across(0), options);
    int64_t extra = json_integer_value(find(json, "training.extra_mac_count"));
    assert_true(training(json, "peak_bytes") <= memory);
    for (unsigned which = 0; which < 1 << BLOCKS; which++)
      if (peaks[which] <= memory && extra > macs[which])
        fail_msg("%lld bytes: blocks %x are cheaper", (long long)memory, which);
    json_decref(json);
  }
}

/* Nets that fit */

static void the_largest_batch_is_the_largest(void **state) {
  (void)state;
  static const char *const more[] = {"", " precision=mixed", " optimizer=adam",
                                     " checkpoint=4", " accumulate=2"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    for (int64_t memory = 3000000; memory < 1000000000; memory *= 7) {
      char options[128];
      snprintf(options, sizeof options, "memory=%lld%s" CPU, (long long)memory,
               more[i]);
      int64_t batch = ask(uneven, options, "largest_batch");
      snprintf(options, sizeof options, "batch=%lld%s" CPU, (long long)batch,
               more[i]);
      if (batch)
        assert_true(ask(uneven, options, "peak_bytes") <= memory);
      snprintf(options, sizeof options, "batch=%lld%s" CPU,
               (long long)batch + 1, more[i]);
      assert_true(ask(uneven, options, "peak_bytes") > memory);
    }
}

/* Where segments are cut depends on the batch: small tensors are rounded. */
static void the_largest_batch_is_that_of_every_batch(void **state) {
  (void)state;
  static const char net[] = "net a\ninput 8x3x16\na: deconv 4 2x2 /2\n"
                            "add {} {} a hswish\nfc 10 softmax\n";
  static const int64_t batches[] = {1, 2, 10, 100, 95857};
  int64_t first = 0;
  for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
    char options[96];
    snprintf(options, sizeof options,
             "checkpoint=3 precision=mixed memory=1GiB batch=%lld",
             (long long)batches[i]);
    int64_t largest = ask(net, options, "largest_batch");
    first = i ? first : largest;
    assert_int_equal(largest, first);
  }
}

/* "--checkpoint auto --batch 3" to "checkpoint=auto batch=3". */
static void settings_of(const char *options, char *text, size_t size) {
  char copy[128];
  snprintf(copy, sizeof copy, "%s", options);
  *text = '\0';
  for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
    bool key = strncmp(word, "--", 2) == 0;
    size_t used = strlen(text);
    snprintf(text + used, size - used, key ? " %s=" : "%s",
             key ? word + 2 : word);
  }
}

static void ways_out_lead_out(void **state) {
  (void)state;
  static const char *const starts[] = {
      "batch=64 optimizer=adam memory=30MiB" CPU,
      "batch=64 optimizer=adam memory=12MiB" CPU,
      "optimizer=adam memory=900MiB batch=2000",
      "optimizer=momentum memory=600MiB batch=2000 loss=crossentropy"};
  size_t seen = 0;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    json_t *way, *json = compile(uneven, starts[i]);
    size_t index;
    int64_t room = training(json, "fit.room_bytes");
    assert_true(training(json, "peak_bytes") > room);
    json_array_foreach(find(json, "training.fit.ways"), index, way) {
      char change[128], options[256];
      settings_of(json_string_value(find(way, "options")), change,
                  sizeof change);
      snprintf(options, sizeof options, "%s %s", starts[i], change);
      json_t *changed = compile(uneven, options);
      assert_int_equal(training(changed, "peak_bytes"),
                       number(way, "peak_bytes"));
      assert_true(number(way, "peak_bytes") <= room);
      assert_int_equal(
          json_integer_value(find(way, "extra_mac_count")),
          json_integer_value(find(changed, "training.extra_mac_count")));
      json_decref(changed);
      seen++;
    }
    json_decref(json);
  }
  assert_true(seen >= 6);
}

/* Optimizers */

/*
 * Tensors of 5,000, 100 and 2,000 values: n = 7,100, k = 3. State as measured
 * for PyTorch, or read in the sources that optimizer.c names; the numbers of
 * steps, 4 bytes a tensor, are not on the GPU.
 */
static const char two_layers[] = "net two\ninput 50\nlinear 100\n"
                                 "linear 20 nobias\n";

static void optimizers_keep_and_need_what_was_measured(void **state) {
  (void)state;
  enum { N = 7100, K = 3, MOST = 5000 };
  static const struct {
    const char *name;
    int64_t state, steps, loop, foreach;
  } all[] = {
      {"sgd", 0, 0, 0, 0},
      {"momentum", 4 * N, 0, 0, 0},
      {"nesterov", 4 * N, 0, 4 * MOST, 0},
      {"adagrad", 4 * N, 4 * K, 4 * MOST, 8 * N},
      /* the bias, and the tensor before it */
      {"rmsprop", 4 * N, 0, 4 * (MOST + 100), 4 * N},
      {"adadelta", 8 * N, 0, 8 * MOST, 8 * N},
      {"adam", 8 * N, 4 * K, 8 * MOST + 12, 4 * N},
      {"adamw", 8 * N, 4 * K, 8 * MOST + 12, 4 * N},
      {"adamax", 8 * N, 4 * K, 12 * MOST, 4 * N},
      {"lion", 4 * N, 0, 4 * MOST, 4 * MOST},
      {"adafactor", 4 * (50 + 100 + 100 + 100 + 20), 0, 8 * MOST, 8 * MOST},
      {"adam16bit", 4 * N + 8 * K, 0, 8 * N, 8 * N},
      {"adam8bit", 2 * 5000 + 8 * 20 + 8 * 100 + 8 * 2000 + 2048, 0, 0, 0}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int gpu = 0; gpu < 2; gpu++) {
      char options[64];
      snprintf(options, sizeof options, "optimizer=%s profile=%s", all[i].name,
               gpu ? "torch2-cuda" : "torch1-cpu");
      json_t *json = compile(two_layers, options);
      assert_int_equal(training(json, "optimizer_bytes"),
                       all[i].state + (gpu ? 0 : all[i].steps));
      assert_int_equal(training(json, "workspace_bytes"),
                       gpu ? all[i].foreach : all[i].loop);
      assert_int_equal(training(json, "gradient_bytes"), 4 * N);
      json_decref(json);
    }
}

/*
 * Every tensor takes whole blocks of 512 bytes: the input of 200, parameters
 * of 20,000, 400 and 8,000, and the state that really is there.
 */
static void each_tensor_of_state_is_rounded(void **state) {
  (void)state;
  enum { INPUT = 312, LARGE = 480, BIAS = 112, SMALL = 192 };
  enum { PARAMETERS = LARGE + BIAS + SMALL };
  static const struct {
    const char *options;
    int64_t rounding;
  } all[] = {
      {"optimizer=sgd", INPUT + PARAMETERS},
      {"optimizer=lion", INPUT + 2 * PARAMETERS},
      {"optimizer=adamw", INPUT + 3 * PARAMETERS},
      /* rows and columns: 50 and 100 of 32 bits, the bias, 100 and 20 */
      {"optimizer=adafactor",
       INPUT + PARAMETERS + (312 + 112) + BIAS + (112 + 432)},
      /* 10,000, 200 and 4,000 bytes twice, with a number each */
      {"optimizer=adam16bit",
       INPUT + PARAMETERS + 2 * (240 + 312 + 96) + 6 * 508},
      /* two of 5,000 bytes, with 20 maxima each; the others are too small */
      {"optimizer=adam8bit",
       INPUT + PARAMETERS + 2 * (120 + 432) + 2 * BIAS + 2 * SMALL},
      {"optimizer=adam8bit" CPU, 0}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    assert_int_equal(ask(two_layers, all[i].options, "rounding_bytes"),
                     all[i].rounding);
}

/* PyTorch's last two axes of a kernel are its height and width. */
static void adafactor_factors_kernels_little(void **state) {
  (void)state;
  assert_int_equal(ask("net a\ninput 8x8x16\nconv 32 3x5 nobias\n",
                       "optimizer=adafactor" CPU, "optimizer_bytes"),
                   4 * 32 * 16 * (3 + 5));
  assert_int_equal(ask("net a\ninput 8x16\nconv 32 3 nobias\n",
                       "optimizer=adafactor" CPU, "optimizer_bytes"),
                   4 * 32 * (3 + 16));
}

/* The result of the tensor before is still named; and three numbers. */
static void adam_holds_the_tensor_before(void **state) {
  (void)state;
  assert_int_equal(ask("net a\ninput 15\nlinear 100 nobias\nlinear 20 nobias\n",
                       "optimizer=adam" CPU, "workspace_bytes"),
                   4 * (2 * 2000 + 1500) + 12);
}

static void accumulated_gradients_are_there_before(void **state) {
  (void)state;
  json_t *once = compile(chain, "batch=4" CPU);
  json_t *twice = compile(chain, "batch=4 accumulate=2" CPU);
  int64_t gradients = training(once, "gradient_bytes");
  assert_int_equal(training(once, "timeline.0.gradients_bytes"), 0);
  assert_int_equal(training(twice, "timeline.0.gradients_bytes"), gradients);
  assert_int_equal(training(twice, "forward_peak_bytes"),
                   training(once, "forward_peak_bytes") + gradients);
  json_decref(once);
  json_decref(twice);
}

/* The timeline */

static int64_t standing(json_t *json) {
  return training(json, "parameter_bytes") + training(json, "buffer_bytes") +
         training(json, "optimizer_bytes") + training(json, "input_bytes") +
         training(json, "rounding_bytes");
}

static void check_timeline(json_t *json) {
  int64_t most[2] = {0}, last = 0;
  json_t *moment;
  size_t index;
  json_array_foreach(find(json, "training.timeline"), index, moment) {
    const char *phase = json_string_value(find(moment, "phase"));
    bool back = strcmp(phase, "backward") == 0;
    int64_t bytes = number(moment, "gradients_bytes") +
                    number(moment, "saved_bytes") +
                    number(moment, "temporary_bytes");
    most[back] = bytes > most[back] ? bytes : most[back];
    last = number(moment, "gradients_bytes");
  }
  assert_true(index > 4);
  assert_int_equal(standing(json) + most[0],
                   training(json, "forward_peak_bytes"));
  assert_int_equal(standing(json) + most[1],
                   training(json, "backward_peak_bytes"));
  int64_t left = training(json, "gradient_bytes"); /* or each is used up */
  assert_true(last == left || left == 0);
}

/* Tensors named at the peak exist; statistics have no tensor's name. */
static void check_alive(json_t *json) {
  json_t *tensor, *gradients = NULL, *moment;
  int64_t alive = 0;
  size_t index;
  json_array_foreach(find(json, "training.alive_at_peak"), index, tensor)
      alive += number(tensor, "bytes");
  json_array_foreach(find(json, "training.timeline"), index, moment) {
    int64_t bytes =
        number(moment, "saved_bytes") + number(moment, "temporary_bytes");
    gradients = find(moment, "gradients_bytes");
    if (standing(json) + bytes + json_integer_value(gradients) !=
        training(json, "peak_bytes"))
      continue;
    assert_true(alive > 0 && alive <= bytes);
    return;
  }
  assert_string_equal(json_string_value(find(json, "training.peak_phase")),
                      "step");
}

static void moments_add_up_to_the_peaks(void **state) {
  (void)state;
  static const char *const files[] = {
      "examples/simple_cnn.net",      "examples/zoo/lenet5.net",
      "examples/zoo/googlenet.net",   "examples/zoo/gpt2.net",
      "examples/zoo/lstm_lm.net",     "examples/zoo/shufflenet_v2.net",
      "examples/zoo/densenet.net",    "examples/zoo/swin.net",
      "examples/zoo/efficientnet.net"};
  static const char *const options[] = {
      "batch=3" CPU, "batch=1 accumulate=3" CPU,
      "batch=2 precision=mixed optimizer=sgd" CPU,
      "batch=3 checkpoint=5 optimizer=adam" CPU,
      "batch=2 checkpoint=3 optimizer=adam update=backward"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
      json_t *json = compile_file(files[i], options[k]);
      check_timeline(json);
      check_alive(json);
      json_decref(json);
    }
}

static int64_t most_gradients(json_t *json) {
  json_t *moment;
  size_t index;
  int64_t most = 0;
  json_array_foreach(find(json, "training.timeline"), index, moment) {
    int64_t bytes = number(moment, "gradients_bytes");
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* Those of one layer, but for a table that the first and last layer share. */
static void steps_in_backward_free_gradients(void **state) {
  (void)state;
  static const char net[] = "input 64; linear 128 relu; linear 256; linear 10";
  static const char tied[] = "input 9 : i32; t: embed 50 16; linear 32; "
                             "linear 16; linear 50 nobias tie=t";
  const int64_t layer = 4 * (128 * 256 + 256);
  json_t *json = compile(net, "optimizer=adam update=backward" CPU);
  assert_int_equal(most_gradients(json), layer);
  assert_int_equal(number(json, "training.gradient_bytes"), 0);
  assert_int_equal(training(json, "step_peak_bytes"), standing(json));
  int64_t peak = training(json, "backward_peak_bytes") - standing(json);
  json_decref(json);
  /* The loop has two copies of that matrix, beside its gradient. */
  json = compile(net, "optimizer=sgd update=backward" CPU);
  assert_in_range(peak - 2 * 4 * 128 * 256, layer,
                  training(json, "backward_peak_bytes") - standing(json));
  json_decref(json);
  json = compile(tied, "optimizer=sgd update=backward" CPU);
  assert_int_equal(most_gradients(json), 4 * (50 * 16 + 16 * 32 + 32));
  json_decref(json);
}

/*
 * 64 rows of 512 logits. In 16 bits the loss is computed on a copy in 32, whose
 * logarithms are kept: forward logits, copy and logarithms, backward logits,
 * logarithms and two gradients as large; a number each for the loss and 1.
 * Otherwise the same all in 16 bits, without a copy; so it is under autocast
 * with the loss outside of it. A kernel keeps logits, a sum a row and places.
 * In place the softmax is kept, and there is one gradient. Shifted, the output
 * has 32 bits, and 60 rows are copied (the same in PyTorch 1.13 and 2.6).
 * Losses that compare values have targets, too. The number of mse is in a
 * tensor of that size, and bce has five of work (1.13: 32 bits at 4 and 7 V).
 * Losses in parts are those of PyTorch 1.13 with `logits.split(..)`, in float32
 * and summed up; a program without a name for the logits gives the same.
 */
static void losses_are_computed_in_32_bits(void **state) {
  (void)state;
  enum { RV = 64 * 512, STANDS = 2 * (8 * 512 + 64 * 8) };
  static const char net[] = "net a\ninput 16x8\nlinear 512 nobias\n";
  static const struct {
    const char *options;
    int64_t saved, forward, backward;
  } rows[] = {
      {"dtype=bf16 loss=crossentropy", 4 * RV + 8 * 64 + 4, 10 * RV,
       (2 + 4 + 4 + 4) * RV + 4 + 4},
      {"precision=master loss=crossentropy", 4 * RV + 8 * 64 + 4, 10 * RV,
       (2 + 4 + 4 + 4) * RV + 4 + 4},
      {"dtype=f16 loss=crossentropy loss_dtype=same", 2 * RV + 8 * 64 + 4, 0,
       4 * 2 * RV + 2 + 2},
      {"dtype=bf16 loss=crossentropy loss_dtype=registers",
       2 * RV + (8 + 4) * 64, 0, 2 * 2 * RV + 2 * 8 * 512 + (4 + 4) * 64},
      {"dtype=bf16 loss=crossentropy loss_dtype=inplace", 4 * RV + 8 * 64 + 4,
       10 * RV, (2 + 4 + 4) * RV + 8 * 64 + 4 + 4 + 4},
      {"dtype=bf16 loss=crossentropy loss_dtype=shifted", 123364, 0, 499720},
      {"dtype=f32 loss=crossentropy loss_dtype=shifted", 123364, 0, 499720},
      {"dtype=bf16 loss=crossentropy loss_chunks=3", 131596, 0, 278732},
      {"dtype=bf16 loss=crossentropy loss_chunks=8", 131616, 0, 229860},
      {"dtype=f32 loss=crossentropy loss_chunks=4", 131600, 0, 393224},
      {"dtype=bf16 loss=crossentropy keep_outputs=off", 4 * RV + 8 * 64 + 4,
       8 * RV, 393224},
      {"dtype=bf16 loss=mse", 8 * RV, (2 + 4 + 4 + 4 + 4) * RV,
       (2 + 4 + 4 + 4 + 4) * RV + 4},
      {"dtype=bf16 loss=bce loss_dtype=same", 4 * RV, 7 * 2 * RV + 2,
       3 * 2 * RV + 2 + 2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char options[128];
    snprintf(options, sizeof options, "%s batch=4 optimizer=sgd" CPU,
             rows[i].options);
    json_t *json = compile(net, options);
    bool master = strstr(options, "master") != NULL;
    bool f32 = strstr(options, "dtype=f32") != NULL;
    int64_t stands = STANDS * (f32 ? 2 : 1) + (master ? 4 * 8 * 512 : 0);
    assert_int_equal(training(json, "saved_bytes"), rows[i].saved);
    assert_int_equal(training(json, "backward_peak_bytes"),
                     stands + rows[i].backward);
    if (rows[i].forward)
      assert_int_equal(training(json, "forward_peak_bytes"),
                       stands + rows[i].forward);
    json_decref(json);
  }
  int64_t autocast =
      ask(net, "precision=mixed loss=crossentropy batch=4" CPU, "saved_bytes");
  assert_int_equal(autocast, 4 * RV + 8 * 64 + 4 + 2 * 64 * 8);
  assert_int_equal(ask(net,
                       "precision=mixed loss=crossentropy loss_dtype=same "
                       "batch=4" CPU,
                       "saved_bytes"),
                   autocast - 2 * RV);
}

/* The kernel of a fused loss computes what follows value by value: softcap of
 * linkedin/Liger-Kernel, logit_scaling of unsloth. */
static void fused_losses_include_a_softcap(void **state) {
  (void)state;
  static const char *const behind[] = {"", "mul 0.1\n",
                                       "div 30\ntanh\nmul 30\n"};
  static const char *const options[] = {
      "batch=4 loss=fused_crossentropy",
      "batch=4 loss=fused_crossentropy precision=mixed",
      "batch=4 loss=fused_crossentropy dtype=bf16 tensor_parallel=2"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    int64_t plain = 0;
    for (size_t k = 0; k < sizeof behind / sizeof *behind; k++) {
      char net[128];
      snprintf(net, sizeof net,
               "net a\ninput 64 : i32\nembed 500 32\nlinear 32 relu\n"
               "linear 500 nobias\n%s",
               behind[k]);
      int64_t peak = ask(net, options[i], "peak_bytes");
      plain = k ? plain : peak;
      assert_int_equal(peak, plain);
    }
  }
}

/* A loss for each output, in their order. */
static void each_output_may_have_a_loss(void **state) {
  (void)state;
  enum { A = 16 * 4 * 4, B = 16 * 4 * 32 };
  static const struct {
    const char *losses;
    int64_t saved;
  } cases[] = {{"\"sum focal\"", 8 * B},
               {"\"focal sum\"", 8 * A},
               {"\"mse mse\"", 2 * (A + B)},
               {"mse", 2 * (A + B)}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char net[200];
    snprintf(net, sizeof net,
             "net a\ninput x 16x8\na: linear 4 nobias\noutput a\n"
             "from x\nb: linear 32 nobias\noutput b\ntrain loss=%s\n",
             cases[i].losses);
    assert_int_equal(ask(net, CPU, "saved_bytes"), cases[i].saved);
  }
}

/* Hardly one tensor alone leads on between its levels. */
static void segments_of_a_u_net_keep_less(void **state) {
  (void)state;
  int64_t peak[3];
  static const char *const options[] = {"", "checkpoint=2", "checkpoint=8"};
  for (int i = 0; i < 3; i++) {
    char all[80];
    snprintf(all, sizeof all, "batch=16 optimizer=adam8bit %s", options[i]);
    json_t *json = compile_file("examples/zoo/sdxl.net", all);
    peak[i] = training(json, "peak_bytes");
    json_decref(json);
  }
  assert_true(peak[1] < peak[0] * 7 / 10);
  assert_true(peak[2] < peak[1] * 7 / 10);
}

/*
 * The output of the kernel for 16 bits lies as its queries do. Those that a
 * concat gave lie heads first, so that the output's projection keeps a copy.
 */
static void joined_queries_cost_a_copy(void **state) {
  (void)state;
  enum { BYTES = 2 * 64 * 128 }; /* of one tensor in 16 bits */
  static const struct {
    const char *with, *without;
    int64_t half, full; /* more that is kept in 16 and in 32 bits */
  } rows[] = {
      /* two that are turned are kept beside the matrix's output */
      {"views rope", "views", 3 * BYTES, 4 * BYTES},
      {"rope rotary=16", "rope", BYTES, 0},
      {"rope rotary=32", "rope", 0, 0}, /* all of a head */
      {"rope rotary=16 naive", "rope naive", 0, 0},
      {"rope sbhd", "rope", 0, 0}, /* of one sample it is a view */
      {"rope sbhd naive", "rope naive", 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char net[2][128];
    const char *words[2] = {rows[i].with, rows[i].without};
    for (int k = 0; k < 2; k++)
      snprintf(net[k], sizeof net[k],
               "input 64x128\nlinear 128\nattention 4 causal %s\n", words[k]);
    assert_int_equal(ask(net[0], "dtype=bf16", "saved_bytes") -
                         ask(net[1], "dtype=bf16", "saved_bytes"),
                     rows[i].half);
    assert_int_equal(ask(net[0], "dtype=f32", "saved_bytes") -
                         ask(net[1], "dtype=f32", "saved_bytes"),
                     rows[i].full);
  }
  static const char two[] = "input 64x128\nlinear 128\nattention 4 %s\n";
  char net[2][128];
  snprintf(net[0], sizeof net[0], two, "sbhd");
  snprintf(net[1], sizeof net[1], two, "");
  for (int half = 0; half < 2; half++) {
    const char *options = half ? "batch=2 dtype=bf16" : "batch=2";
    assert_int_equal(ask(net[0], options, "saved_bytes") -
                         ask(net[1], options, "saved_bytes"),
                     half ? 0 : 4 * BYTES);
  }
}

/*
 * 64 rows of 8 values, V in all. In 16 bits transformers' LlamaRMSNorm keeps a
 * copy in 32, whose squares this profile keeps, too, a factor a row and, if its
 * scale is trained, what is scaled in 16 bits; LayerNorm on such a copy keeps
 * it and two values a row. The layer after it reads its output.
 */
static void norms_in_float_keep_a_copy(void **state) {
  (void)state;
  enum { R = 64, V = 64 * 8 };
  static const struct {
    const char *norm, *options;
    int64_t saved;
  } rows[] = {
      {"rmsnorm", "dtype=bf16 norms=float", 4 * V + 4 * V + 4 * R + 2 * V},
      {"rmsnorm noaffine", "dtype=f16 norms=float", 4 * V + 4 * V + 4 * R},
      {"rmsnorm", "precision=master norms=float",
       4 * V + 4 * V + 4 * R + 2 * V},
      {"ln", "dtype=bf16 norms=float", 4 * V + 8 * R},
      {"rmsnorm", "dtype=bf16", 2 * V + 2 * V + 4 * R + 2 * V},
      {"ln", "dtype=bf16", 2 * V + 8 * R},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char net[128], options[128];
    snprintf(net, sizeof net,
             "net a\ninput 16x8\nlinear 8 nobias\n%s\nlinear 8 nobias\n",
             rows[i].norm);
    snprintf(options, sizeof options, "%s batch=4 loss=sum" CPU,
             rows[i].options);
    assert_int_equal(ask(net, options, "saved_bytes"), rows[i].saved + 2 * V);
  }
  /* Where all has 32 bits, or autocast casts, there is nothing to copy. */
  static const char *const same[] = {"dtype=f32", "precision=mixed"};
  for (size_t i = 0; i < 2; i++) {
    const char *net = "net a\ninput 16x8\nlinear 8\nrmsnorm\nlinear 8\nln\n";
    char options[96];
    snprintf(options, sizeof options, "%s batch=4 norms=float" CPU, same[i]);
    int64_t peak = ask(net, options, "peak_bytes");
    snprintf(options, sizeof options, "%s batch=4" CPU, same[i]);
    assert_int_equal(peak, ask(net, options, "peak_bytes"));
  }
}

/* A handle of cuBLAS for each thread, backward's among them. */
static void a_step_has_two_workspaces(void **state) {
  (void)state;
  static const char net[] = "input 64; linear 10";
  static const struct {
    const char *settings;
    int64_t training, prediction;
  } rows[] = {
      {"gpu=a10", 416 * 1024 + 256, 408 * 1024 + 128},
      {"gpu=h200", 464 * 1024, 432 * 1024},
      {"gpu=t4", 152 * 1024 + 256, 144 * 1024 + 128},
      {"memory=80GiB", 416 * 1024 + 256, 408 * 1024 + 128},
      {"gpu=h200" CPU, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *json = compile(net, rows[i].settings);
    assert_int_equal(training(json, "fit.framework_bytes"),
                     rows[i].training << 10);
    json_decref(json);
    struct run got = run("printf 'input 64; linear 10; train %s' | " NETC
                         " - --predict --emit json",
                         rows[i].settings);
    json = json_loads(got.out, 0, NULL);
    run_free(&got);
    assert_int_equal(number(json, "answer.framework_bytes"),
                     rows[i].prediction << 10);
    json_decref(json);
  }
}

/*
 * Tensors that flash-linear-attention saves, by its save_for_backward, of 128
 * tokens of 32 channels; every tensor has whole blocks of 512 bytes. 4 value
 * heads of 6 features, 2 key heads of 8. The net's input is not counted.
 */
static void delta_nets_keep_what_their_kernels_save(void **state) {
  enum { L = 128, X = 32, H = 4, J = 2, D = 8, V = 6, CHUNK = 64 };
  const char *net = "net a\ninput 128x32\nlinear 32\ndeltanet 4 kheads=2 "
                    "dim=8 vdim=6 %s\n";
  static const struct {
    const char *words;
    int64_t net, f32; /* features of a token */
  } rows[] = {
      /* x, in front of the convolution, beta, gate, result, normed result;
       * normalised queries and keys for all heads, values, products */
      {"",
       X + 2 * J * D + H * V + H + 3 * H * V + 2 * H * D + H * V + CHUNK * H,
       2 * H + 3 * H + H},
      {"packed",
       X + 2 * J * D + H * V + H + 3 * H * V + 2 * H * D + H * V + CHUNK * H,
       2 * H + 3 * H + H},
      /* x, in front of the convolutions, v behind its one, two vectors of V,
       * decays, beta, gate, result, normed result; two kinds of products */
      {"decay=channels",
       X + 2 * J * D + H * V + H * V + 2 * V + H * D + H + 3 * H * V +
           2 * J * D + 2 * CHUNK * H,
       2 * J + H + H}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[160];
    snprintf(text, sizeof text, net, rows[i].words);
    assert_int_equal(ask(text, "loss=sum", "saved_bytes"),
                     4 * L * (rows[i].net + rows[i].f32));
    assert_int_equal(ask(text, "loss=sum dtype=bf16", "saved_bytes"),
                     2 * L * rows[i].net + 4 * L * rows[i].f32);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_step_has_two_workspaces),
      cmocka_unit_test(delta_nets_keep_what_their_kernels_save),
      cmocka_unit_test(norms_in_float_keep_a_copy),
      cmocka_unit_test(losses_are_computed_in_32_bits),
      cmocka_unit_test(fused_losses_include_a_softcap),
      cmocka_unit_test(each_output_may_have_a_loss),
      cmocka_unit_test(joined_queries_cost_a_copy),
      cmocka_unit_test(segments_of_a_u_net_keep_less),
      cmocka_unit_test(steps_in_backward_free_gradients),
      cmocka_unit_test(mixed_resnet_keeps_what_was_measured),
      cmocka_unit_test(mixed_dense_layers_keep_copies),
      cmocka_unit_test(mixed_segments_leave_weights_to_forward),
      cmocka_unit_test(blocks_of_transformers_follow_their_formulas),
      cmocka_unit_test(fused_attention_keeps_no_square),
      cmocka_unit_test(clipping_has_two_numbers_a_gradient),
      cmocka_unit_test(other_ways_of_clipping_follow_their_sources),
      cmocka_unit_test(segments_keep_their_inputs),
      cmocka_unit_test(groups_keep_only_their_input),
      cmocka_unit_test(segments_replace_groups),
      cmocka_unit_test(the_choice_fits_and_no_even_split_is_cheaper),
      cmocka_unit_test(no_set_of_blocks_is_cheaper_than_the_choice),
      cmocka_unit_test(the_largest_batch_is_the_largest),
      cmocka_unit_test(the_largest_batch_is_that_of_every_batch),
      cmocka_unit_test(ways_out_lead_out),
      cmocka_unit_test(optimizers_keep_and_need_what_was_measured),
      cmocka_unit_test(each_tensor_of_state_is_rounded),
      cmocka_unit_test(adafactor_factors_kernels_little),
      cmocka_unit_test(adam_holds_the_tensor_before),
      cmocka_unit_test(accumulated_gradients_are_there_before),
      cmocka_unit_test(moments_add_up_to_the_peaks),
      cmocka_unit_test(what_passes_63_bits_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
