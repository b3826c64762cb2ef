/*
 * Layers on a card and in its host's memory: both parts are the whole, auto is
 * the most that fits, and logs of llama.cpp say the same.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/report.h"
#include "tests/run.h"

#define LLAMA "examples/zoo/llama.net"
#define MISTRAL "-Dnum_key_value_heads=8 -Dintermediate_size=14336 dtype=f16 "

static int64_t served(json_t *json, const char *key) {
  char path[64];
  snprintf(path, sizeof path, "serving.%s", key);
  return find(json, path) ? number(json, path) : 0;
}

static json_t *parted(const char *net, const char *options, int layers) {
  char all[256];
  snprintf(all, sizeof all, "%s gpu_layers=%d", options, layers);
  return predict_file(net, all);
}

#define SCRATCH BUILD "/tests/gpu-layers-"
#define BLOCK \
  "add { rmsnorm; attention 4 causal } {}; add { rmsnorm; linear 64 } {}\n"

/* Three turns of two layers and one, between others; of two at once; and two
   layers that are written out before those of a loop. */
static void write_nets(void) {
  static const char loops[] =
      "input tokens 64 : i32\nembed 512 64\n"
      "def block() { " BLOCK "}\nblock\n"
      "for i in 1..3 { repeat 2 { add { rmsnorm; ssm } {} }; block }\n"
      "block\nrmsnorm\nlinear 512\n";
  static const char turns[] =
      "input tokens 64 : i32\nembed 512 64\n"
      "repeat 4 { " BLOCK BLOCK "}\nattention 4 causal\nlinear 512\n";
  static const char alone[] =
      "input tokens 64 : i32\nembed 512 64\n" BLOCK BLOCK "repeat 3 { " BLOCK
      "}\nrmsnorm\nlinear 512\n";
  write_text(SCRATCH "alone.net", alone, sizeof alone - 1);
  write_text(SCRATCH "loops.net", loops, sizeof loops - 1);
  write_text(SCRATCH "turns.net", turns, sizeof turns - 1);
}

/* A net; blocks that look back or keep a state, and with the output one more.
 */
static struct parted_net {
  char name[24];
  const char *net, *options;
  int layers;
} nets[] = {
    {"llama", LLAMA,
     MISTRAL
     "-Dnum_hidden_layers=9 runtime=pytorch weight_dtype=q4_k_m context=512",
     10},
    {"tied", "examples/zoo/gpt2.net", "-Dn_layer=4 context=512 sequences=3", 5},
    {"states", "examples/zoo/mamba.net", "-Dnum_hidden_layers=5 context=64", 6},
    {"windows", "examples/zoo/gemma3.net", "context=2048 cache=i8", 27},
    {"experts", "examples/zoo/mixtral.net",
     "-Dnum_hidden_layers=4 context=256 prefill=64", 5},
    {"experts-on-the-host", "examples/zoo/mixtral.net",
     "-Dnum_hidden_layers=4 context=256 host_experts=2", 5},
    {"first-is-dense", "examples/zoo/deepseek_v2.net",
     "-Dnum_hidden_layers=4 context=256", 5},
    {"chosen-by-a-loop", "examples/zoo/qwen3.net", "context=256", 29},
    {"loops-in-loops", SCRATCH "loops.net", "context=64", 12},
    {"two-in-a-turn", SCRATCH "turns.net", "context=64", 6},
    {"two-written-out", SCRATCH "alone.net", "context=64", 6},
    {"encoder", "examples/zoo/whisper.net", "context=448", 5},
};

static void both_parts_are_the_whole(void **state) {
  const struct parted_net *n = *state;
  char options[256];
  snprintf(options, sizeof options, "%s", n->options);
  char *experts = strstr(options, " host_experts");
  if (experts)
    *experts = '\0';
  json_t *whole = predict_file(n->net, options);
  int64_t card = 0, host = INT64_MAX, next = 0;
  for (int i = 0; i <= n->layers; i++) {
    json_t *json = parted(n->net, n->options, i);
    assert_int_equal(served(json, "layers"), n->layers);
    assert_int_equal(served(json, "gpu_layers"), i);
    assert_int_equal(
        served(json, "weight_bytes") + served(json, "host.weight_bytes"),
        served(whole, "weight_bytes") + served(json, "copied_weight_bytes"));
    static const char *const sums[][2] = {
        {"cache_bytes", "host.cache_bytes"},
        {"sequence_state_bytes", "host.sequence_state_bytes"},
        {"sequence_source_bytes", "host.sequence_source_bytes"}};
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
      assert_int_equal(served(json, sums[k][0]) + served(json, sums[k][1]),
                       served(whole, sums[k][0]));
    /* More layers take more of the card, and less of the host. */
    assert_true(served(json, "need_bytes") > card || i == 0);
    assert_true(served(json, "host.need_bytes") < host);
    assert_true(i == 0 || served(json, "need_bytes") == next);
    card = served(json, "need_bytes");
    host = served(json, "host.need_bytes");
    next = served(json, "next_layer_bytes");
    assert_true((next == 0) == (i == n->layers));
    /* A step takes as much where it runs, and no more than all of it. */
    assert_true(served(json, "prefill_bytes") <=
                served(whole, "prefill_bytes"));
    if (i == 0) {
      assert_int_equal(card, 0);
      assert_int_equal(served(json, "host.prefill_bytes"),
                       served(whole, "prefill_bytes"));
      assert_int_equal(host, served(whole, "need_bytes"));
    }
    json_decref(json);
  }
  json_decref(whole);
}

/* As many as there is room for, in cards from too small to large enough. */
static void auto_is_the_most_that_fits(void **state) {
  (void)state;
  static const char *const memory[] = {"600MiB", "1GiB", "2GiB",
                                       "3GiB",   "4GiB", "8GiB"};
  int64_t before = -1;
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
    char options[256];
    snprintf(options, sizeof options,
             MISTRAL "weight_dtype=q4_k_m context=4096 prefill=512 memory=%s "
                     "gpu_layers=auto",
             memory[i]);
    json_t *json = predict_file(LLAMA, options);
    int64_t layers = served(json, "gpu_layers"),
            room = served(json, "room_bytes");
    int64_t next = served(json, "next_layer_bytes");
    assert_true(served(json, "need_bytes") <= room);
    assert_true(layers == 33 ? next == 0 : next > room);
    assert_true(layers >= before);
    before = layers;
    if (layers > 0)
      assert_true(served(json, "longest_context") >= 4096);
    json_decref(json);
  }
  assert_int_equal(before, 33);
}

/* What llama-server prints of Qwen3 14B in Q8_0 with all layers: 788.24 MiB on
 * the CPU and 14177.36 MiB; serving.csv has a row with twenty of 33. */
static void a_log_says_the_same(void **state) {
  (void)state;
  static const char *const options[] = {
      "-Dsize=14 dtype=f16 weight_dtype=q8_0 context=8192 gpu_layers=99",
      "-Dsize=14 dtype=f16 weight_dtype=q8_0 context=8192"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    json_t *json = predict_file("examples/zoo/qwen3.net", options[i]);
    double card = (double)served(json, "weight_bytes") / 0x1p20;
    double host = (double)served(json, "host.weight_bytes") / 0x1p20;
    assert_true(card > 14177.355 && card < 14177.365);
    assert_true(host > 788.235 && host < 788.245);
    json_decref(json);
  }
}

/*
 * By hand: of 32 layers of Mistral 7B the last 20, of which 10 (every third
 * from the thirteenth on, and the last four) have values and what leads back
 * in Q6_K, 210 bytes for 256, all else Q4_K, 144 for 256, but for two norms.
 */
static void twenty_layers_in_q4_k_m(void **state) {
  (void)state;
  int64_t values = 4096 * 1024, wide = 4096 * 14336;
  int64_t matrices = 2 * 4096 * 4096 + 2 * values + 3 * wide;
  int64_t layer = matrices / 256 * 144 + 2 * 4096 * 4;
  int64_t more = (values + wide) / 256 * (210 - 144);
  json_t *json = parted(LLAMA, MISTRAL "weight_dtype=q4_k_m context=4096", 20);
  assert_int_equal(served(json, "weight_bytes"), 20 * layer + 10 * more);
  assert_int_equal(served(json, "cache_bytes"), 20 * 4096 * 2 * 8 * 128 * 2);
  assert_int_equal(served(json, "host.cache_bytes"),
                   12 * 4096 * 2 * 8 * 128 * 2);
  json_decref(json);
}

#define MOE                                                                 \
  "net m\ninput tokens 32 : i32\nembed 256 64\nrepeat 4 {\n"                \
  "add { rmsnorm; attention 4 causal nobias } {}\n"                         \
  "add { rmsnorm; moe experts=4 top=2 { linear 128 nobias relu; linear 64 " \
  "nobias } } {}\n}\nrmsnorm\nlinear 256 nobias\n"

/* In 16 bits: a table, four layers with a router and experts, an output. */
static void experts_are_on_the_host(void **state) {
  (void)state;
  int64_t table = 2 * 256 * 64, experts = 2 * 4 * 2 * 64 * 128;
  int64_t layer = 2 * (2 * 64 + 4 * 64 * 64 + 4 * 64), norm = 2 * 64;
  static const struct {
    const char *options;
    int layers, experts; /* on the card; of all layers, on the host */
    bool output;
  } ways[] = {
      {"host_experts=all", 4, 4, true},
      {"host_experts=99", 4, 4, true},
      {"host_experts=1", 4, 1, true},
      {"host_experts=3 gpu_layers=all", 4, 3, true},
      {"host_experts=3 gpu_layers=2", 2, 3, false},
      {"host_experts=all gpu_layers=1", 1, 4, false},
      {"gpu_layers=1", 1, 3, false},
      {"gpu_layers=0", 0, 4, false},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    char options[128];
    snprintf(options, sizeof options, "dtype=f16 context=32 %s",
             ways[i].options);
    json_t *json = predict(MOE, options);
    int64_t away = ways[i].experts;
    int64_t card = ways[i].layers * layer + (4 - away) * experts +
                   (ways[i].output ? norm + table : 0);
    assert_int_equal(served(json, "weight_bytes"), card);
    assert_int_equal(served(json, "host.weight_bytes"),
                     2 * table + norm + 4 * (layer + experts) - card);
    json_decref(json);
  }
}

/*
 * What crosses is a copy on the other side: of 4096 rows each of four experts
 * has 2048 at a time, their 64 features and 128 hidden ones, in 16 bits.
 */
static void what_crosses_is_on_both(void **state) {
  (void)state;
  json_t *whole = predict(MOE, "dtype=f16 context=4096 page=1");
  json_t *away = predict(MOE, "dtype=f16 context=4096 page=1 host_experts=all");
  assert_int_equal(served(away, "host.prefill_bytes"), 2048 * (64 + 128) * 2);
  assert_true(served(away, "prefill_bytes") < served(whole, "prefill_bytes"));
  assert_true(served(away, "prefill_bytes") +
                  served(away, "host.prefill_bytes") >
              served(whole, "prefill_bytes"));
  json_decref(whole);
  json_decref(away);
}

#define PARTED NETC " examples/llama3.net --predict --weight-dtype q4_k_m "

/* Layers that are written out are a block like those of the loop. */
static void layers_that_stand_alone_are_equal(void **state) {
  (void)state;
  int64_t host[6];
  for (int i = 0; i < 6; i++) {
    json_t *json = parted(SCRATCH "alone.net", "context=64", i);
    host[i] = served(json, "host.weight_bytes");
    json_decref(json);
  }
  /* rmsnorm, four matrices of attention, rmsnorm, a dense layer: of 64 */
  for (int i = 0; i < 5; i++)
    assert_int_equal(host[i] - host[i + 1],
                     4 * (64 + 4 * (64 * 64 + 64) + 64 + 64 * 64 + 64));
}

static void bounds_of_both_hold(void **state) {
  (void)state;
  expect(PARTED "--gpu rtx3060 --gpu-layers 20 --must-fit", 0,
         "   20 of 33 layers are on the card\n"
         "  context    114,944 tokens for one sequence, or ",
         "");
  struct run r = run(PARTED "--gpu rtx3060 --gpu-layers 20 --runtime pytorch "
                            "--emit=json");
  assert_holds(r.out, "\"next_layer_bytes\": 4215635968,");
  assert_holds(r.out, "\"longest_context\": 44144,");
  run_free(&r);
  expect(PARTED "--gpu rtx3060 --gpu-layers 20 --must-fit --host-memory 8GiB",
         0,
         "  FITS\ninference, 1 sequence of 8,192 tokens, q4_k_m, llama.cpp on "
         "RTX 3060\n",
         "");
  expect(PARTED "--gpu rtx3060 --gpu-layers 20 --must-fit --host-memory 2GiB",
         1, "\n  host       2.77 GiB of 2.00 GiB   20 of 33 layers ", NULL);
  expect(PARTED "--memory 3GiB --gpu-layers 20 --must-fit", 1,
         "  DOES NOT FIT\ninference, 1 sequence of 8,192 tokens, ", NULL);
  expect(PARTED "--memory 3GiB --gpu-layers auto --must-fit", 0,
         "   16 of 33 layers are on the card\n", "");
  expect(PARTED "--host-memory 8GiB", 2, "",
         "--gpu-layers divides the layers between a card and its host in");
  expect(PARTED "--gpu rtx3060,t4 --gpu-layers auto,12", 0,
         "  12 of 33      3.98 GiB ", "");
}

/* A figure of one of the `cards` or `stages`. */
static int64_t of_one(json_t *json, const char *kind, int index,
                      const char *key) {
  char path[64];
  snprintf(path, sizeof path, "serving.%s.%d.%s", kind, index, key);
  return number(json, path);
}

/* Cards have all that one has, in parts that follow one another. */
static void cards_are_the_whole(void **state) {
  (void)state;
  static const char *const keys[] = {"weight_bytes", "cache_bytes"};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char options[256];
    json_t *one = parted(nets[i].net, nets[i].options, nets[i].layers);
    snprintf(options, sizeof options, "%s runtime=pytorch tensor_split=1,3,2",
             nets[i].options);
    json_t *json = predict_file(nets[i].net, options);
    int64_t next = 1, output = 0;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
      int64_t sum = -served(json, "copied_weight_bytes") * (k == 0);
      for (int card = 0; card < 3; card++)
        sum += of_one(json, "cards", card, keys[k]);
      assert_int_equal(sum, served(one, keys[k]) -
                                served(one, "copied_weight_bytes") * (k == 0));
    }
    for (int card = 0; card < 3; card++) {
      int64_t last = of_one(json, "cards", card, "last_layer");
      if (last < of_one(json, "cards", card, "first_layer"))
        continue;
      assert_int_equal(of_one(json, "cards", card, "first_layer"), next);
      next = last + 1;
      char path[32];
      snprintf(path, sizeof path, "serving.cards.%d.output", card);
      output += json_is_true(find(json, path));
    }
    assert_int_equal(next, nets[i].layers);
    assert_true(output <= 1);
    json_decref(one);
    json_decref(json);
  }
}

/* Layer k of n is on the first card whose share, with those before, exceeds
 * k / n: 33 with the output, so that 2,1 has 22 and 11. */
static void shares_part_the_layers(void **state) {
  (void)state;
  expect(PARTED "--tensor-split 2,1", 0,
         "layers 1 to 22\n             card 2: ", "");
  expect(PARTED "--tensor-split 2,1 --gpu-layers 12", 0,
         "layers 21 to 28\n             card 2: ", "");
  /* In a ratio of 11 to 22 GiB, without shares. */
  expect(PARTED "--tensor-split rtx4070ti,rtx3090ti --must-fit", 0,
         ", llama.cpp on RTX 4070 Ti and RTX\n  3090 Ti\n", "");
  expect(PARTED "--tensor-split rtx4070ti,rtx3090ti", 0,
         ": 1.76 GiB of 11.0 GiB, layers 1 to 11\n", "");
  /* The fullest card decides, even if others have room. */
  expect(PARTED "--tensor-split m40-24:1,rtx2060:9 --context 128k --must-fit",
         1, "DOES NOT FIT\n", NULL);
  expect(PARTED "--tensor-split m40-24:9,rtx2060:1 --context 128k --must-fit",
         0, " FITS\n", "");
  expect(PARTED "--gpu rtx3060 --tensor-split 1,1", 0,
         "llama.cpp on 2 x RTX 3060\n", "");
  /* As many on the cards as fit both. */
  expect(PARTED "--memory 3GiB --tensor-split 1,1 --gpu-layers auto --must-fit",
         0, " of 33 layers are on the card", "");
}

/* Stages have all that a device has, and vLLM's numbers of layers: 20, 21, 20.
 */
static void stages_are_the_whole(void **state) {
  (void)state;
  static const char deepseek[] = "examples/zoo/deepseek_v3.net";
  static const int64_t last[] = {20, 41, 61};
  json_t *one = predict_file(deepseek, "context=4096 runtime=vllm");
  json_t *json = predict_file(deepseek, "context=4096 runtime=vllm pipeline=3");
  int64_t weights = 0, cache = 0;
  for (int i = 0; i < 3; i++) {
    weights += of_one(json, "stages", i, "weight_bytes");
    cache += of_one(json, "stages", i, "cache_bytes");
    assert_int_equal(of_one(json, "stages", i, "last_layer"), last[i]);
  }
  assert_int_equal(weights, served(one, "weight_bytes"));
  assert_int_equal(cache, served(one, "cache_bytes"));
  assert_int_equal(number(json, "answer.devices"), 3);
  json_decref(one);
  json_decref(json);
}

/* Eight experts of three matrices of 4096 x 14336 in 32 layers, 16 bits. */
static void devices_have_whole_experts(void **state) {
  (void)state;
  static const char mixtral[] = "examples/zoo/mixtral.net";
  enum { DEGREES = 4 };
  static const int degrees[DEGREES] = {1, 2, 3, 8}, experts[] = {8, 4, 3, 1};
  const int64_t expert = INT64_C(2) * 32 * 3 * 4096 * 14336;
  int64_t rest = 0;
  for (int i = 0; i < DEGREES; i++) {
    char options[64];
    snprintf(options, sizeof options,
             "context=4096 runtime=vllm expert_parallel=%d", degrees[i]);
    json_t *json = predict_file(mixtral, options);
    int64_t weights = served(json, "weight_bytes") - experts[i] * expert;
    assert_true(i == 0 || weights == rest);
    rest = weights;
    json_decref(json);
  }
  /* Attention, table, output, router and norms. */
  assert_int_equal(rest, INT64_C(2) * (2 * 32000 * 4096 +
                                       32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 +
                                             8 * 4096 + 2 * 4096) +
                                       4096));
}

static void errors_of_stages(void **state) {
  (void)state;
  expect(PARTED "--runtime llama.cpp --pipeline 2", 1, "",
         "= help: `--tensor-split 1,1` gives each card a part");
  expect(NETC " examples/llama3.net --context 4k --pipeline 17", 1, "",
         "= help: the nearest is `--pipeline 16`");
  expect(NETC " examples/llama3.net --context 4k --expert-parallel 2", 1, "",
         "no layer of this net has experts");
  expect(NETC " examples/zoo/mixtral.net --context 4k --expert-parallel 9", 1,
         "", "9 devices cannot share 8 experts");
  expect(NETC " examples/zoo/mixtral.net --context 4k --expert-parallel 2 "
              "--tensor-parallel 4",
         1, "", "expert_parallel=2 is not a multiple of tensor_parallel=4");
  expect(NETC " examples/llama3.net --context 4k --pipeline 2 --gpu-layers 3",
         1, "", "`gpu_layers=` and `pipeline=` both divide the layers");
  expect(NETC " examples/llama3.net --predict --pipeline 2", 2, "",
         "or serving of language models: add --context 8192, or --runtime");
  /* A budget is of a device; one of three devices has two experts, not three.
   */
  expect(NETC " zoo:mixtral --runtime vllm --context 4k --pipeline 2 --budget "
              "infer=44GiB --brief",
         0, "43.8 GiB on the most loaded of 2 devices", NULL);
  expect(NETC " zoo:mixtral --context 4k --expert-parallel 3 --brief", 0,
         " on the most loaded of 3 devices", "");
  /* Training has its own stages. */
  expect(NETC " examples/llama3.net --pipeline 2 --optimizer adam", 0,
         "\ntrain, batch 1, Adam", "");
}

static void errors_of_cards(void **state) {
  (void)state;
  static const struct {
    const char *split, *message;
  } rows[] = {
      {"3", "one card has all layers; write a share for each of several"},
      {"3,0", "`0` is not a share; a share is a number above 0"},
      {"3,x", "`x` is neither a share nor a known device; write shares"},
      {"t4,", "`` is not a share; a share is a number above 0"},
      {"t4:2,rtx3060", "some of the cards have a share, others have none"},
      {"t4,3", "some of the cards have a name, others have none"},
      {"t4:,rtx3060:2", "`t4:` has no share after the colon; write `t4:2`"},
      {"3,99999999999", "`99999999999` is not a share"},
      {"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "more than 16 cards"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char command[160];
    snprintf(command, sizeof command, PARTED "--tensor-split '%s'",
             rows[i].split);
    expect(command, 2, "", rows[i].message);
  }
  expect(PARTED "--tensor-split t4,l4 --memory 8GiB", 1, "",
         "`memory=` and the cards of `tensor_split=` both name the devices");
  expect(PARTED "--tensor-split t4,l4 --gpu l4", 1, "",
         "`gpu=` and the cards of `tensor_split=` both name the devices");
  expect(NETC " examples/llama3.net --runtime netrt --pipeline 2 --context 4k",
         1, "", "`pipeline=` does not apply to netrt, which has one device");
  expect("printf 'input tokens 8 : i32\\nembed 20 8\\ninfer "
         "tensor_split=3,2\\n' | " NETC " -",
         1, "", "= help: write `tensor_split=\"3,2\"`");
  expect(PARTED "--runtime pytorch --tensor-split 1,1 --tensor-parallel 2", 1,
         "", "`tensor_split=` gives whole layers to each card, ");
  expect(PARTED "--runtime vllm --gpu a100-80 --tensor-split 1,1", 1, "",
         "`tensor_split=` and vLLM's `utilization=` exclude each other");
  expect(NETC " examples/llama3.net -ts 3,1", 2, "",
         "netc has no `-ts`: write `--tensor-split 3,2`");
}

/* A net without loops, as `-o x.net` writes it, is divided like its source. */
static void written_layers_are_those_of_loops(void **state) {
  (void)state;
  static const char *const from[] = {"zoo:gpt2", "zoo:llama", "zoo:mixtral",
                                     "zoo:mamba2"};
  static const char *const options[] = {
      "--weight-dtype q4_k_m --gpu rtx3090 --gpu-layers 10",
      "--weight-dtype q4_k_m --gpu rtx3090 --tensor-split 3,2",
      "--runtime vllm --gpu a100-80 --pipeline 2"};
  const char *dir = scratch("flat");
  for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
    struct run r = run(NETC " %s -o %s/flat.net", from[i], dir);
    assert_int_equal(r.status, 0);
    run_free(&r);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
      r = run(NETC " %s --brief %s >%s/loops && " NETC
                   " %s/flat.net --brief %s "
                   "| cmp - %s/loops && grep -c layers %s/loops",
              from[i], options[k], dir, dir, options[k], dir, dir);
      if (r.status)
        fail_msg("%s %s: %s%s", from[i], options[k], r.out, r.err);
      run_free(&r);
    }
  }
}

static void errors_name_a_way_out(void **state) {
  (void)state;
  expect(NETC " examples/llama3.net --predict --gpu-layers 20 "
              "--tensor-parallel 2",
         1, "", "`gpu_layers=` gives whole layers to a card and its host");
  expect(NETC " examples/llama3.net --predict --host-experts all", 1, "",
         "no layer of this net has experts");
  expect(NETC " examples/simple_cnn.net --predict --gpu-layers 3", 1, "",
         "only language models can be served: this net continues no sequence "
         "of tokens");
  expect("printf 'input tokens 8 : i32\\nembed 20 8\\nattention 2 causal\\n"
         "linear 20\\n' | " NETC
         " - --predict --gpu-layers 1 --runtime pytorch",
         0, "1 of 2 layers are on the card", "");
  expect(NETC
         " examples/llama3.net --gpu t4,l4 --gpu-layers 20 --optimizer adam",
         2, "", "--gpu-layers 20 is not used here; ");
  expect(NETC " examples/llama3.net --predict --gpu-layers -1", 2, "",
         "`gpu_layers` of infer must be an integer from 0 to 1048576");
  expect(NETC " examples/llama3.net -ngl 20", 2, "",
         "netc has no `-ngl`: write `--gpu-layers N`");
  expect(NETC " examples/llama3.net --n-gpu-layers=20", 2, "",
         "netc has no `--n-gpu-layers`: write `--gpu-layers N`");
  expect(NETC " examples/llama3.net --cpu-moe", 2, "",
         "netc has no `--cpu-moe`: write `--host-experts all`");
  expect(NETC " examples/llama3.net --n-cpu-moe 9", 2, "",
         "netc has no `--n-cpu-moe`: write `--host-experts N`");
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(auto_is_the_most_that_fits),
      cmocka_unit_test(a_log_says_the_same),
      cmocka_unit_test(twenty_layers_in_q4_k_m),
      cmocka_unit_test(experts_are_on_the_host),
      cmocka_unit_test(what_crosses_is_on_both),
      cmocka_unit_test(layers_that_stand_alone_are_equal),
      cmocka_unit_test(bounds_of_both_hold),
      cmocka_unit_test(cards_are_the_whole),
      cmocka_unit_test(shares_part_the_layers),
      cmocka_unit_test(stages_are_the_whole),
      cmocka_unit_test(devices_have_whole_experts),
      cmocka_unit_test(errors_of_cards),
      cmocka_unit_test(errors_of_stages),
      cmocka_unit_test(written_layers_are_those_of_loops),
      cmocka_unit_test(errors_name_a_way_out),
  };
  write_nets();
  return run_table("gpu layers", nets, sizeof nets / sizeof *nets, sizeof *nets,
                   both_parts_are_the_whole, others,
                   sizeof others / sizeof *others);
}
