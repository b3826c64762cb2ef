/*
 * Serving: keys and values as papers and configurations give them, blocks,
 * windows and sinks, what devices share, and that what is called the longest
 * or the most is.
 */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "tests/imported.h"

#define LLAMA3_70B                                                      \
  "-Dnum_hidden_layers=80 -Dhidden_size=8192 -Dnum_attention_heads=64 " \
  "-Dnum_key_value_heads=8 -Dintermediate_size=28672 -Dvocab_size=128256 "

static int64_t serving(json_t *json, const char *name) {
  return number(json_object_get(json, "serving"), name);
}

static int64_t ask_serving(const char *path, const char *options,
                           const char *name) {
  return take(predict_file(path, options), serving, name);
}

/* Bytes for each position, from the configurations of the models. */
static void keys_and_values_of_published_models(void **state) {
  (void)state;
  static const struct {
    const char *net, *options;
    int64_t position; /* bytes */
  } models[] = {
      /* 32 layers, keys and values of 32 heads of 128 in 16 bits: 0.5 MiB, as
         the vLLM paper counts for 13 B (40 layers of 40 heads): 800 KB */
      {"examples/zoo/llama.net", "", 32 * 2 * 32 * 128 * 2},
      {"examples/zoo/llama.net",
       "-Dnum_hidden_layers=40 -Dhidden_size=5120 "
       "-Dnum_attention_heads=40 -Dintermediate_size=13824",
       800 * 1024},
      {"examples/zoo/llama.net", LLAMA3_70B, 80 * 2 * 8 * 128 * 2},
      {"examples/zoo/llama.net", LLAMA3_70B "cache=fp8", 80 * 2 * 8 * 128},
      /* DeepSeek-V2: a latent vector of 512 and a rotated key of 64 */
      {"examples/zoo/deepseek_v2.net", "", 27 * (512 + 64) * 2},
      {"examples/zoo/mixtral.net", "", 32 * 2 * 8 * 128 * 2},
  };
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    char options[256];
    snprintf(options, sizeof options, "%s context=1600 sequences=3",
             models[i].options);
    assert_int_equal(ask_serving(models[i].net, options, "cache_bytes"),
                     3 * 1600 * models[i].position);
  }
}

#define NET(attention)                           \
  "net a\ninput tokens 64 : i32\nembed 100 64\n" \
  "add { rmsnorm; " attention " } {}\nlinear 100\n"

static int64_t cache_of(const char *net, const char *options) {
  return take(predict(net, options), serving, "cache_bytes");
}

/* Values of a state, as vllm/model_executor/layers/mamba/mamba_utils.py has
 * them for the sizes of config.json. */
static void states_of_published_layers(void **state) {
  (void)state;
  static const struct {
    const char *net;
    int64_t values;
  } rows[] = {/* Nemotron-H 8B: 128 heads of 64, 8 groups, a state of 128 */
              {NET("ssm heads=128 dim=64 groups=8"),
               128 * 64 * 128 + (128 * 64 + 2 * 8 * 128) * 3},
              /* Qwen3-Next 80B-A3B: 32 value heads and 16 key heads of 128 */
              {NET("deltanet 32 kheads=16 dim=128 packed"),
               32 * 128 * 128 + (2 * 16 * 128 + 32 * 128) * 3},
              {NET("deltanet 4 kheads=2 dim=6 vdim=5 conv=3"),
               4 * 6 * 5 + (2 * 2 * 6 + 4 * 5) * 2},
              /* Kimi Linear 48B-A3B: 32 heads of 128 */
              {NET("deltanet 32 dim=128 decay=channels"),
               32 * 128 * 128 + 3 * 32 * 128 * 3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int context = 100; context <= 1000; context *= 10) {
      char options[64];
      snprintf(options, sizeof options, "dtype=bf16 context=%d", context);
      assert_int_equal(
          take(predict(rows[i].net, options), serving, "sequence_cache_bytes"),
          rows[i].values * 2);
    }
}

/* Keys of 192 features and values of 128, of 4 heads (MiMo-V2-Flash); keys that
 * are values are cached twice, as rope and norms part them (Gemma 4). */
static void values_have_a_size_of_their_own(void **state) {
  (void)state;
  assert_int_equal(cache_of(NET("attention 64 kv=4 dim=192 vdim=128 causal"),
                            "dtype=bf16 context=1600"),
                   1600 * 4 * (192 + 128) * 2);
  assert_int_equal(cache_of(NET("attention 8 kv=2 dim=16 novalues causal rope"),
                            "dtype=bf16 context=1600"),
                   1600 * 2 * 2 * 16 * 2);
  assert_int_equal(
      cache_of(NET("attention 8 kv=2 dim=16 novalues shared causal rope"),
               "dtype=bf16 context=1600"),
      1600 * 2 * 16 * 2);
}

#define CONFIGS "tests/data/huggingface/"

/*
 * DeepSeek-V4-Flash: 43 layers keep a vector of 512 for each of the latest 128
 * tokens, 21 of them one of 512 and the indexer's of 128 for every 4 tokens,
 * and 20 one of 512 for every 128 (DeepseekV4CSACache and DeepseekV4HCACache of
 * transformers/models/deepseek_v4). vLLM keeps the inputs of the compressors
 * in 32 bits: of 8 or 128 tokens, keys and gates (CompressorStateCache of
 * vllm/models/deepseek_v4/compressor.py).
 */
static void compressed_attention_keeps_fewer_vectors(void **state) {
  (void)state;
  const int64_t states =
      21 * (8 * 2 * 2 * 512 + 8 * 2 * 2 * 128) + 20 * (128 * 2 * 512);
  char *source = import(CONFIGS "deepseek_v4_flash.json", "");
  for (int64_t context = 1 << 14; context <= 1 << 20; context *= 8) {
    char options[64];
    snprintf(options, sizeof options, "context=%d page=1", (int)context);
    int64_t kept = 43 * 512 * 128 + 21 * (512 + 128) * context / 4 +
                   20 * 512 * context / 128;
    assert_int_equal(
        take(predict(source, options), serving, "sequence_cache_bytes"),
        2 * kept + 4 * states);
  }
  free(source);
}

/* The longest context is that of the last vectors that fit: all 4 tokens of
 * one are there. */
static void compressed_attention_has_a_longest_context(void **state) {
  (void)state;
  const char *net = NET("attention 8 kv=1 dim=16 window=32 novalues shared "
                        "causal; cached rate=4");
  json_t *json = predict(net, "dtype=bf16 page=1 prefill=64 memory=8G "
                              "context=4096");
  int64_t longest = serving(json, "longest_context");
  int64_t room = serving(json, "room_bytes");
  json_decref(json);
  for (int more = 0; more < 2; more++) {
    char options[100];
    snprintf(options, sizeof options,
             "dtype=bf16 page=1 prefill=64 memory=8G context=%lld",
             (long long)longest + more);
    int64_t need = take(predict(net, options), serving, "need_bytes");
    assert_true(more ? need > room : need <= room);
  }
  assert_int_equal(longest % 4, 0);
}

/* MiniMax-M3: 4 heads of 128 in 60 layers, and in 57 of them the indexer's key
 * of 128 (MiniMaxM3VLSparseCacheLayer of transformers/models/minimax_m3_vl). A
 * step reads these keys, and of each head 16 blocks of 128 tokens. */
static void an_indexer_of_blocks_reads_some(void **state) {
  (void)state;
  const double context = 131072, tokens = 16 * 128;
  char *source = import(CONFIGS "minimax_m3.json", "");
  json_t *json = predict(source, "gpu=h200 context=131072 sequences=1");
  double seconds =
      json_number_value(find(json, "serving.time.parts.cache_seconds"));
  double read = 3 * 1024 * context + 57 * (1024 * tokens + 128 * context);
  double kept = 60 * 1024 * context + 57 * 128 * context;
  assert_true(fabs(seconds - 2 * read / 4800e9) < 1e-6);
  assert_int_equal(take(json, serving, "sequence_cache_bytes"),
                   (int64_t)(2 * kept));
  free(source);
}

/* Beside the latent vector of 512 and the key of 64, DeepSeek-V3.2 caches the
 * indexer's key of 128 for each token; a layer that shares its choice not. */
static void an_indexer_caches_its_key(void **state) {
  (void)state;
  assert_int_equal(
      cache_of(NET("mla 8 latent=512 rope=64 dim=16 qlatent=64 index=4 causal"),
               "dtype=bf16 context=1600"),
      1600 * (512 + 64 + 128) * 2);
  assert_int_equal(cache_of(NET("mla 8 latent=512 rope=64 dim=16 qlatent=64 "
                                "indextop=2048 causal"),
                            "dtype=bf16 context=1600"),
                   1600 * (512 + 64) * 2);
}

/* In 32 bits are the states, and of llama.cpp also the window of three tokens
 * before them. */
static void states_have_a_type_of_their_own(void **state) {
  (void)state;
  const char *net = NET("ssm heads=128 dim=64 groups=8");
  const int64_t states = 128 * 64 * 128, window = (128 * 64 + 2 * 8 * 128) * 3;
  const struct {
    const char *options;
    int64_t bytes;
  } rows[] = {
      {"dtype=bf16 context=100", 2 * (states + window)},
      {"dtype=bf16 context=100 state_dtype=f32", 4 * states + 2 * window},
      {"dtype=bf16 context=100 runtime=llama.cpp", 4 * (states + window)}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_int_equal(
        take(predict(net, rows[i].options), serving, "sequence_cache_bytes"),
        rows[i].bytes);
}

/* A step reads 2,048 latent vectors of each sequence, and the indexer's key of
 * all tokens: in twice the context it reads that many more keys. */
static void a_step_reads_the_tokens_that_an_indexer_chooses(void **state) {
  (void)state;
  const char *net =
      NET("mla 8 latent=512 rope=64 dim=16 qlatent=64 index=4 causal");
  double seconds[2];
  for (int i = 0; i < 2; i++) {
    char options[100];
    snprintf(options, sizeof options,
             "dtype=bf16 gpu=h100 sequences=64 context=%d", 65536 << i);
    json_t *json = predict(net, options);
    seconds[i] =
        json_number_value(find(json, "serving.time.parts.cache_seconds"));
    json_decref(json);
  }
  double keys = 64 * 2.0 * 65536 * 128 / 3350e9;
  double chosen = 64 * 2.0 * 2048 * 576 / 3350e9;
  assert_true(fabs(seconds[0] - keys - chosen) < 1e-8);
  assert_true(fabs(seconds[1] - 2 * keys - chosen) < 1e-8);
}

/* In fp8 linear layers have a byte a weight and 4 for each matrix; the tables,
 * the router and the norms keep their 16 bits. By hand. */
static void each_kind_of_matrix_has_its_type(void **state) {
  (void)state;
  const char *net = "net m\ninput tokens 32 : i32\nembed 256 64\n"
                    "add { rmsnorm; attention 4 causal nobias } {}\n"
                    "add { rmsnorm; moe experts=4 top=2 { linear 128 nobias "
                    "relu; linear 64 nobias } } {}\n"
                    "rmsnorm\nlinear 256 nobias\n";
  int64_t kept = 256 * 64 + 3 * 64 + 4 * 64 + 256 * 64;
  int64_t linear = 4 * 64 * 64 + 4 * 2 * 64 * 128;
  json_t *json = predict(net, "dtype=f16 context=32 weight_dtype=fp8");
  assert_int_equal(take(json, serving, "weight_bytes"),
                   2 * kept + linear + 4 * (4 + 4 * 2));
}

/* A scale of 16 bits for 32 values, and a least value of 16 in q4_1, q5_1;
   a latent vector is a key. */
static void keys_and_values_in_blocks(void **state) {
  (void)state;
  static const struct {
    const char *options;
    int keys, values; /* bytes of 32 */
  } types[] = {
      {"cache=q8_0", 34, 34},
      {"cache=q5_1", 24, 24},
      {"cache=q5_0", 22, 22},
      {"cache=q4_1", 20, 20},
      {"cache=q4_0", 18, 18},
      {"cache=iq4_nl", 18, 18},
      {"cache='q8_0 q4_0'", 34, 18},
      {"cache='q8_0 f16'", 34, 64},
      {"cache='f16 q8_0' dtype=f16", 64, 34},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    char options[100];
    snprintf(options, sizeof options, "context=100 page=1 %s",
             types[i].options);
    assert_int_equal(cache_of(NET("attention 2 causal"), options),
                     100 * 2 * (types[i].keys + types[i].values));
    snprintf(options, sizeof options, "context=160 %s", types[i].options);
    assert_int_equal(
        ask_serving("examples/zoo/deepseek_v2.net", options, "cache_bytes"),
        (int64_t)160 * 27 * 576 / 32 * types[i].keys);
    snprintf(options, sizeof options, "decode=100 batch=3 %s",
             types[i].options);
    assert_int_equal(take(predict(NET("attention 2 causal"), options),
                          inference, "cache_bytes"),
                     3 * 100 * 2 * (types[i].keys + types[i].values));
  }
}

/* 64 features for keys and as many for values, in 32 bits. */
static void blocks_are_whole(void **state) {
  (void)state;
  const char *all = NET("attention 4 causal");
  const char *near = NET("attention 4 causal window=20");
  const int64_t one = 2 * 64 * 4;
  assert_int_equal(cache_of(all, "context=100"), 112 * one);
  assert_int_equal(cache_of(all, "context=100 page=1"), 100 * one);
  assert_int_equal(cache_of(all, "context=100 page=100"), 100 * one);
  assert_int_equal(cache_of(all, "context=100 page=1 cache=f16"),
                   100 * one / 2);
  /* 20 positions from any in a block touch 3 blocks of 16. */
  assert_int_equal(cache_of(near, "context=1000"), 48 * one);
  assert_int_equal(cache_of(near, "context=1000 page=1"), 20 * one);
  assert_int_equal(cache_of(near, "context=17"), 32 * one);
  assert_int_equal(cache_of(near, "context=1000 page=1 sinks=4"), 24 * one);
  assert_int_equal(cache_of(near, "context=1000 sinks=4"), 64 * one);
  assert_int_equal(cache_of(near, "context=10 page=1 sinks=4"), 10 * one);
}

/* A chunk of a prompt needs the windows of its first position, too; those of
   llama.cpp are padded to 256, and in 16 bits. */
static void windows_keep_what_a_chunk_sees(void **state) {
  (void)state;
  const char *near = NET("attention 4 causal window=20");
  const char *all = NET("attention 4 causal");
  const int64_t one = 2 * 64 * 4, half = one / 2;
  assert_int_equal(cache_of(near, "context=1000 prefill=100"), 144 * one);
  assert_int_equal(cache_of(near, "context=100 prefill=100"), 112 * one);
  assert_int_equal(cache_of(near, "context=1000 page=1 prefill=8"), 28 * one);
  assert_int_equal(cache_of(near, "context=1000 runtime=llama.cpp ubatch=100"),
                   256 * half);
  assert_int_equal(cache_of(near, "context=2000 runtime=llama.cpp"),
                   768 * half);
  assert_int_equal(cache_of(near, "context=300 runtime=llama.cpp"), 512 * half);
  assert_int_equal(cache_of(all, "context=100 runtime=llama.cpp"), 256 * half);
  assert_int_equal(cache_of(all, "context=100 runtime=llama.cpp cache=f32"),
                   256 * one);
}

/* One buffer for both steps: the larger of two terms, as logs print it. */
static void the_step_is_llama_cpps(void **state) {
  (void)state;
  static const struct {
    const char *options;
    double printed; /* MiB */
  } logs[] = {
      /* logs of Llama 3.1 8B and Qwen2.5 7B, and what follows from them */
      {"-Dnum_key_value_heads=8 -Dvocab_size=128256 context=8192 flash=off",
       560},
      {"-Dnum_key_value_heads=8 -Dvocab_size=128256 context=131072 flash=off",
       8480},
      {"-Dnum_key_value_heads=8 -Dvocab_size=128256 context=131072", 258.5},
      {"-Dhidden_size=3584 -Dnum_attention_heads=28 "
       "-Dnum_key_value_heads=4 -Dvocab_size=152064 context=4096",
       304},
      {"-Dhidden_size=3584 -Dnum_attention_heads=28 "
       "-Dnum_key_value_heads=4 -Dvocab_size=152064 context=16384 "
       "flash=off",
       956},
      {"-Dnum_key_value_heads=8 -Dvocab_size=128256 context=8192 sequences=2 "
       "flash=off",
       560 + 512 + 16},
      {"-Dnum_key_value_heads=8 -Dvocab_size=128256 context=131072 ubatch=256 "
       "flash=off",
       4240},
  };
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
    char options[200];
    snprintf(options, sizeof options, "dtype=f16 runtime=llama.cpp %s",
             logs[i].options);
    json_t *json = predict_file("examples/zoo/llama.net", options);
    int64_t bytes = (int64_t)(logs[i].printed * 0x1p20);
    assert_int_equal(serving(json, "compute_bytes"), bytes);
    assert_int_equal(serving(json, "prefill_bytes"), bytes);
    assert_int_equal(serving(json, "decode_bytes"), bytes);
    assert_int_equal(serving(json, "need_bytes"),
                     serving(json, "weight_bytes") +
                         serving(json, "cache_bytes") + bytes);
    json_decref(json);
  }
  /* One matrix for queries, keys and values: six rows of the width. */
  json_t *json = predict("net p\ninput tokens 8 : i32\nembed 10 64\n"
                         "attention 4 causal nobias packed\nlinear 10\n",
                         "runtime=llama.cpp context=256 ubatch=128 flash=off");
  assert_int_equal(serving(json, "compute_bytes"),
                   128 * 4 * (4 * 256 + 256 + 6 * 64));
  json_decref(json);
  /* Parted: scores of words are where the output is. */
  json = predict_file("examples/zoo/llama.net",
                      "runtime=llama.cpp gpu_layers=4 context=512");
  assert_int_equal(serving(json, "compute_bytes"), 512 * 4 * 4096);
  assert_int_equal(serving(json, "host.compute_bytes"),
                   512 * 4 * (32000 + 4096));
  json_decref(json);
}

/* Each device has a head of keys at least; a latent vector is everywhere. */
static void devices_share_heads(void **state) {
  (void)state;
  const char *eight = LLAMA3_70B "context=1600 tensor_parallel=";
  int64_t one = ask_serving("examples/zoo/llama.net", LLAMA3_70B "context=1600",
                            "cache_bytes");
  static const struct {
    int devices, parts;
  } degrees[] = {{2, 2}, {8, 8}, {16, 8}, {64, 8}};
  for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
    char options[256];
    snprintf(options, sizeof options, "%s%d", eight, degrees[i].devices);
    assert_int_equal(
        ask_serving("examples/zoo/llama.net", options, "cache_bytes"),
        one / degrees[i].parts);
  }
  assert_int_equal(ask_serving("examples/zoo/deepseek_v2.net",
                               "context=1600 tensor_parallel=4", "cache_bytes"),
                   1600 * 27 * 576 * 2);
  /* Matrices are shared out, 161 norms of 8192 are not. */
  int64_t whole = ask_serving("examples/zoo/llama.net",
                              LLAMA3_70B "context=1600", "weight_bytes");
  int64_t norms = 161 * 8192 * 2;
  assert_int_equal(whole, 70553706496 * 2);
  assert_int_equal(ask_serving("examples/zoo/llama.net",
                               LLAMA3_70B "context=1600 tensor_parallel=8",
                               "weight_bytes"),
                   (whole - norms) / 8 + norms);
}

/* One more block, or one more sequence, and it no longer fits. */
static void the_longest_is_the_longest(void **state) {
  (void)state;
  static const char *const settings[] = {"", "prefill=2048 ",
                                         "cache=fp8 prefill=512 ", "dtype=f16 ",
                                         "page=1 prefill=300 "};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    char options[256];
    const char *gpu = "gpu=rtx4090 weight_dtype=q4_k_m";
    snprintf(options, sizeof options, "%s%s context=4096 sequences=3",
             settings[i], gpu);
    json_t *json = predict_file("examples/zoo/llama.net", options);
    int64_t longest = serving(json, "longest_context");
    int64_t most = serving(json, "most_sequences");
    int64_t room = serving(json, "room_bytes");
    json_decref(json);
    assert_true(longest > 4096 && most > 3);
    for (int more = 0; more < 2; more++) {
      snprintf(options, sizeof options, "%s%s sequences=3 context=%lld",
               settings[i], gpu,
               (long long)longest +
                   (more ? strstr(options, "page=1 ") ? 1 : 16 : 0));
      int64_t need =
          ask_serving("examples/zoo/llama.net", options, "need_bytes");
      assert_true(more ? need > room : need <= room);
      snprintf(options, sizeof options, "%s%s context=4096 sequences=%lld",
               settings[i], gpu, (long long)most + more);
      need = ask_serving("examples/zoo/llama.net", options, "need_bytes");
      assert_true(more ? need > room : need <= room);
    }
  }
}

/* A step on one position of each sequence, on part of a prompt, on all. */
static void steps_grow_with_their_positions(void **state) {
  (void)state;
  const char *net = NET("attention 4 causal");
  json_t *whole = predict(net, "context=6400 sequences=1 profile=torch1-cpu");
  json_t *part =
      predict(net, "context=6400 prefill=640 sequences=1 profile=torch1-cpu");
  json_t *one = predict(net, "context=640 sequences=1 profile=torch1-cpu");
  assert_int_equal(serving(part, "prefill_bytes"),
                   serving(one, "prefill_bytes"));
  /* All that is alive grows with positions. */
  assert_int_equal(serving(whole, "prefill_bytes"),
                   10 * serving(part, "prefill_bytes"));
  /* Scores of words are there for the last position only: embedded words,
     norms, and at the peak queries, keys, values and the sum. */
  assert_true(serving(whole, "prefill_bytes") <= 6400 * 64 * 4 * 8);
  assert_int_equal(serving(whole, "decode_bytes"),
                   serving(one, "decode_bytes"));
  json_decref(whole);
  json_decref(part);
  json_decref(one);
}

/* 16 heads score each position of a chunk with each of the context, twice:
   scores and what they are hidden by, a mask of bytes; whatever input the net
   was written for. */
static void stored_scores_are_of_the_context(void **state) {
  (void)state;
  static const char net[] =
      "net n\nparam context = 512\ninput tokens context : i32\n"
      "embed 1000 1024\n"
      "repeat 2 { add { rmsnorm; attention 16 causal rope nobias naive } {} }\n"
      "rmsnorm\nlinear 1000 nobias\n";
  const int64_t rows = 512 * 1024 * 4;
  json_t *json = predict(net, "context=8192 prefill=512");
  assert_int_equal(serving(json, "prefill_bytes"),
                   (2 * 16 * 4 + 1) * (int64_t)512 * 8192 + 2 * rows);
  json_t *same = predict(net, "-Dcontext=8192 context=8192 prefill=512");
  assert_int_equal(serving(json, "prefill_bytes"),
                   serving(same, "prefill_bytes"));
  json_decref(same);
  json_decref(json);
  /* A whole prompt has a square of them. */
  json = predict(net, "context=2048");
  assert_true(serving(json, "prefill_bytes") >=
              2 * 16 * (int64_t)2048 * 2048 * 4);
  json_decref(json);
}

/* Without a layer that scores words a prompt is the net's own prediction. */
static void a_prompt_is_a_prediction(void **state) {
  (void)state;
  static const char *const nets[] = {
      "net a\ninput tokens 64 : i32\nembed 100 64\nrepeat 3 {\n"
      "add { rmsnorm; attention 4 kv=2 causal rope } {}\n"
      "add { rmsnorm; linear 256 gelu; linear 64 } {}\n}\nlinear 7\n",
      "net a\ninput tokens 96 : i32\nembed 100 64\n"
      "add { rmsnorm; mla 4 latent=32 rope=8 dim=16 causal } {}\n"
      "moe experts=4 top=2 { linear 128 silu; linear 64 }\n"};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    json_t *json = predict(nets[i], "sequences=1");
    assert_int_equal(serving(json, "prefill_bytes"),
                     inference(json, "framework_peak_bytes"));
    json_decref(json);
  }
}

/* The output is narrow, so that scores of one token or all are no peak. */
#define NET_LOOKS                                                      \
  "net a\ninput source 200 x 16\ninput tokens 64 : i32\nfrom source\n" \
  "linear 64\nadd { ln; attention 4 } {}\nmemory: ln\nfrom tokens\n"   \
  "embed 100 64\nadd { ln; attention 4 causal } {}\n"                  \
  "add { ln; attention 4 cross=memory } {}\nlinear 7\n"

/* As T5-3B has it: 32 heads of 128, wider than its 1024 features. */
static const char t5_3b[] =
    "net t5\ninput source 512 : i32\ninput tokens 114 : i32\n"
    "from source\nwords: embed 32128 1024\nrepeat 24 {\n"
    "add { rmsnorm; attention 32 dim=128 nobias scale=none } {}\n"
    "add { rmsnorm; linear 16384 nobias relu; linear 1024 nobias } {}\n}\n"
    "memory: rmsnorm\nfrom tokens\nagain words\nrepeat 24 {\n"
    "add { rmsnorm; attention 32 dim=128 nobias scale=none causal } {}\n"
    "add { rmsnorm; attention 32 dim=128 nobias scale=none cross=memory } {}\n"
    "add { rmsnorm; linear 16384 nobias relu; linear 1024 nobias } {}\n}\n"
    "rmsnorm\nlinear 32128 nobias tie=words\n";

/* Keys and values of what the encoder gives are there once, others grow. */
static void an_encoder_is_looked_at(void **state) {
  (void)state;
  const int64_t position = 24 * 2 * 32 * 128 * 2; /* bytes */
  json_t *json =
      predict(t5_3b, "dtype=bf16 page=1 context=100 sequences=3 gpu=a100-80");
  int64_t decode = serving(json, "decode_bytes");
  assert_int_equal(serving(json, "sequence_source_bytes"), 512 * position);
  assert_int_equal(serving(json, "cache_bytes"), 3 * (512 + 100) * position);
  json_decref(json);
  /* Another source is another cache, and no more to do in decoding. */
  json = predict_file("examples/zoo/whisper.net",
                      "context=16 page=1 sequences=3 gpu=a100-80");
  int64_t prefill = serving(json, "prefill_bytes");
  assert_int_equal(serving(json, "sequence_source_bytes"),
                   4 * 2 * 1500 * 384 * 4);
  assert_true(prefill > 3000 * 384 * 4); /* the first convolution's */
  assert_true(serving(json, "decode_bytes") < prefill / 20);
  assert_true(serving(json, "longest_context") == 448);
  json_decref(json);
  json = predict(t5_3b, "dtype=bf16 page=1 context=100 sequences=3 "
                        "tensor_parallel=4");
  assert_int_equal(serving(json, "cache_bytes"),
                   3 * (512 + 100) * position / 4);
  assert_true(serving(json, "decode_bytes") <= decode);
  /* 24 layers of 3 sums, and the table; of a prompt also the encoder's. */
  assert_int_equal(serving(json, "decode_sent.all_reduce_bytes"),
                   3 * (24 * 3 + 1) * 1024 * 2 * 2 * 3 / 4);
  assert_int_equal(serving(json, "prefill_sent.all_reduce_bytes"),
                   (100 * (24 * 3 + 1) + 512 * (24 * 2 + 1)) * 1024 * 2 * 2 *
                       3 / 4);
  json_decref(json);
  /* The step of a prompt is the net's own prediction. */
  json = predict(NET_LOOKS, "sequences=1");
  assert_int_equal(serving(json, "prefill_bytes"),
                   inference(json, "framework_peak_bytes"));
  json_decref(json);
}

/* Each row of a table by tools/sampler_truth.py: as PyTorch allocates it. */
static void words_are_drawn_as_measured(void **state) {
  (void)state;
  char *text = read_text("tests/data/sampler.csv", NULL);
  const char *at = text;
  int rows = 0;
  for (; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    char sampler[32], dtype[8], net[200], options[100];
    long long sequences, words, bytes;
    if (*at == '#')
      continue;
    assert_int_equal(sscanf(at, "%31[^,],%7[^,],%lld,%lld,%lld", sampler, dtype,
                            &sequences, &words, &bytes),
                     5);
    snprintf(net, sizeof net,
             "net a\ninput tokens 8 : i32\nembed %lld 4\n"
             "attention 2 causal\nlinear %lld\n",
             words, words);
    snprintf(options, sizeof options,
             "profile=torch1-cpu sampler=%s dtype=%s sequences=%lld", sampler,
             dtype, sequences);
    json_t *json = predict(net, options);
    int64_t scores = sequences * words * (dtype[0] == 'b' ? 2 : 4);
    int64_t more = bytes - (serving(json, "sampler_bytes") - scores);
    /* Besides, a few numbers for each sequence. */
    assert_true(more >= 0 && more <= 32 * sequences);
    assert_int_equal(serving(json, "need_bytes"),
                     serving(json, "weight_bytes") +
                         serving(json, "cache_bytes") +
                         serving(json, "sampler_bytes"));
    json_decref(json);
    rows++;
  }
  assert_int_equal(rows, 12);
  free(text);
}

#define NET_SEEN(heads)                                                \
  "net seen\ninput image 32x32x3\ninput tokens 64 : i32\nfrom image\n" \
  "conv 96 8x8 /8 nobias\nreshape _ x 96\n"                            \
  "add { attention " heads " nobias } {}\n"                            \
  "picture: linear 64 nobias\nfrom tokens\nembed 1024 64\n"            \
  "concat picture {} axis=l\nadd { attention 8 causal nobias } {}\n"   \
  "linear 1024 nobias\n"

/* 8 devices share a tower of 16 heads, but have all of one of 12. The kernel of
 * a convolution is whole. */
static void devices_have_a_tower_that_they_cannot_share(void **state) {
  (void)state;
  const int64_t kernel = 8 * 8 * 3 * 96, tower = 4 * 96 * 96 + 96 * 64;
  const int64_t text = (2 * 1024 * 64 + 4 * 64 * 64) / 8;
  static const char options[] = "dtype=f16 context=64 tensor_parallel=8";
  json_t *json = predict(NET_SEEN("16"), options);
  assert_int_equal(serving(json, "weight_bytes"),
                   2 * (kernel + tower / 8 + text));
  int64_t shared = serving(json, "prefill_sent.all_reduce_bytes");
  json_decref(json);
  json = predict(NET_SEEN("12"), options);
  assert_int_equal(serving(json, "weight_bytes"), 2 * (kernel + tower + text));
  assert_true(serving(json, "prefill_sent.all_reduce_bytes") < shared);
  json_decref(json);
}

/* 161 sums, of the table and twice in each of 80 layers; scores at the end. */
static void devices_send_sums_and_scores(void **state) {
  (void)state;
  json_t *json = predict_file("examples/zoo/llama.net", LLAMA3_70B
                              "context=8192 sequences=16 tensor_parallel=8");
  const int64_t sums = 161 * 8192 * 2; /* bytes for each position */
  assert_int_equal(serving(json, "prefill_sent.all_reduce_bytes"),
                   8192 * sums * 2 * 7 / 8);
  assert_int_equal(serving(json, "prefill_sent.all_gather_bytes"),
                   128256 * 2 * 7 / 8);
  assert_int_equal(serving(json, "decode_sent.all_reduce_bytes"),
                   16 * sums * 2 * 7 / 8);
  assert_int_equal(serving(json, "decode_sent.all_gather_bytes"),
                   16 * 128256 * 2 * 7 / 8);
  json_decref(json);
  /* Experts send the sum: 32 layers and the table. */
  assert_int_equal(ask_serving("examples/zoo/mixtral.net",
                               "context=100 tensor_parallel=2",
                               "prefill_sent.all_reduce_bytes"),
                   100 * 65 * 4096 * 2);
}

static const char *grouped(char *room, size_t size, int64_t value) {
  if (value >= 1000000)
    snprintf(room, size, "%lld,%03lld,%03lld", (long long)value / 1000000,
             (long long)value / 1000 % 1000, (long long)value % 1000);
  else if (value >= 1000)
    snprintf(room, size, "%lld,%03lld", (long long)value / 1000,
             (long long)value % 1000);
  else
    snprintf(room, size, "%lld", (long long)value);
  return value >= 1 << 30 ? "any" : room;
}

/* Of a step as a prediction has it, or of the last position alone; the other
 * way round of llama.cpp's. */
static void scores_are_of_all_or_the_last(void **state) {
  (void)state;
  json_t *json = predict(NET("attention 2 causal"), "sequences=1 scores=all");
  assert_int_equal(serving(json, "prefill_bytes"),
                   inference(json, "framework_peak_bytes"));
  json_decref(json);
  static const char net[] = "examples/zoo/llama.net";
  int64_t words = 128256, width = 4096;
  for (int64_t sequences = 1; sequences < 1000; sequences += 700) {
    char options[160];
    snprintf(options, sizeof options,
             "-Dnum_key_value_heads=8 "
             "-Dintermediate_size=14336 -Dvocab_size=128256 context=2048 "
             "sequences=%d "
             "runtime=llama.cpp scores=last",
             (int)sequences);
    int64_t ends = sequences < 512 ? sequences : 512;
    assert_int_equal(ask_serving(net, options, "compute_bytes"),
                     4 * (words * ends + width * 512));
  }
}

/*
 * A share of a card to the byte, less what vLLM has beside tensors; and what
 * its log ends with, of keys and values in blocks of 16 positions.
 */
static void vllm_takes_a_share(void **state) {
  (void)state;
  static const struct {
    const char *part;
    int64_t millionths;
  } shares[] = {{"0.9", 900000},
                {"1", 1000000},
                {"0.000001", 1},
                {"0.333333", 333333},
                {"0.07", 70000}};
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    char options[128];
    snprintf(options, sizeof options, "memory=23689433089 utilization=%s",
             shares[i].part);
    json_t *json = predict(NET("attention 2 causal"), options);
    int64_t room = 23689433089 * shares[i].millionths / 1000000 - (82 << 20);
    assert_int_equal(serving(json, "room_bytes"), room > 0 ? room : 1);
    assert_int_equal(serving(json, "framework_bytes"), 82 << 20);
    assert_int_equal(serving(json, "device_bytes"),
                     82 * 1048576LL + serving(json, "room_bytes") +
                         serving(json, "reserve_bytes"));
    json_decref(json);
  }
  json_t *json = predict_file("examples/zoo/llama.net",
                              "gpu=a10g utilization=0.95 context=1000 "
                              "prefill=512 sequences=8 sampler=vllm");
  int64_t left = serving(json, "room_bytes") - serving(json, "weight_bytes") -
                 serving(json, "prefill_bytes");
  assert_true(serving(json, "prefill_bytes") > serving(json, "sampler_bytes"));
  assert_int_equal(serving(json, "positions"), left / (16 * 524288) * 16);
  assert_int_equal(serving(json, "sampler_bytes"), 8 * 32000 * (2 + 36));
  json_decref(json);
}

/* The rows of the table of examples, as docs/serving.md has them. */
static void the_page_has_its_figures(void **state) {
  (void)state;
  static const struct {
    const char *net, *options;
  } rows[] = {
      {"llama", ""},
      {"llama", "-Dnum_key_value_heads=8 "
                "-Dintermediate_size=14336 -Dvocab_size=128256 "},
      {"llama",
       "-Dnum_key_value_heads=8 "
       "-Dintermediate_size=14336 -Dvocab_size=128256 weight_dtype=awq "
       "cache=fp8 "},
      {"llama", "-Dnum_key_value_heads=8 "
                "-Dintermediate_size=14336 -Dsliding_window=4096 "},
  };
  char *page = read_text("docs/serving.md", NULL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char net[64], options[256], row[128], size[32], most[32], longest[32];
    snprintf(net, sizeof net, "examples/zoo/%s.net", rows[i].net);
    snprintf(options, sizeof options, "%sgpu=h100 context=8192 prefill=2048",
             rows[i].options);
    json_t *json = predict_file(net, options);
    double cache = (double)serving(json, "sequence_cache_bytes");
    if (cache < 0x1p30)
      snprintf(size, sizeof size, "%.1f MiB", cache / 0x1p20);
    else
      snprintf(size, sizeof size, "%.2f GiB", cache / 0x1p30);
    snprintf(
        row, sizeof row, "| %lld | %.2f GiB | %s | %s | %s |",
        (long long)serving(json, "devices"),
        (double)serving(json, "weight_bytes") / 0x1p30, size,
        grouped(most, sizeof most, serving(json, "most_sequences")),
        grouped(longest, sizeof longest, serving(json, "longest_context")));
    assert_holds(page, row);
    json_decref(json);
  }
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_and_values_of_published_models),
      cmocka_unit_test(states_of_published_layers),
      cmocka_unit_test(values_have_a_size_of_their_own),
      cmocka_unit_test(an_indexer_caches_its_key),
      cmocka_unit_test(compressed_attention_keeps_fewer_vectors),
      cmocka_unit_test(compressed_attention_has_a_longest_context),
      cmocka_unit_test(an_indexer_of_blocks_reads_some),
      cmocka_unit_test(states_have_a_type_of_their_own),
      cmocka_unit_test(a_step_reads_the_tokens_that_an_indexer_chooses),
      cmocka_unit_test(each_kind_of_matrix_has_its_type),
      cmocka_unit_test(keys_and_values_in_blocks),
      cmocka_unit_test(blocks_are_whole),
      cmocka_unit_test(windows_keep_what_a_chunk_sees),
      cmocka_unit_test(the_step_is_llama_cpps),
      cmocka_unit_test(devices_share_heads),
      cmocka_unit_test(the_longest_is_the_longest),
      cmocka_unit_test(steps_grow_with_their_positions),
      cmocka_unit_test(stored_scores_are_of_the_context),
      cmocka_unit_test(a_prompt_is_a_prediction),
      cmocka_unit_test(devices_send_sums_and_scores),
      cmocka_unit_test(devices_have_a_tower_that_they_cannot_share),
      cmocka_unit_test(an_encoder_is_looked_at),
      cmocka_unit_test(words_are_drawn_as_measured),
      cmocka_unit_test(scores_are_of_all_or_the_last),
      cmocka_unit_test(vllm_takes_a_share),
      cmocka_unit_test(the_page_has_its_figures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
