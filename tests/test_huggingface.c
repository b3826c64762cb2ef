/*
 * Configs of Hugging Face: the nets that they become have the bytes of the
 * files beside them, or as many parameters as is published
 * (tests/data/huggingface/truth.csv), and a person could have written them.
 */
#define _XOPEN_SOURCE 700
#include "tests/imported.h"
#include "tests/nets.h"

#include <unistd.h>

#define FOLDER "tests/data/huggingface/"

/* Attention that is written out, for its biases, takes more; so do nets of
 * diffusers and blocks that a net is composed of, and much more towers and
 * several residual streams. */
enum {
  MOST_LINES = 45,
  MOST_LINES_WRITTEN_OUT = 65,
  MOST_LINES_COMPOSED = 60,
  MOST_LINES_WITH_TOWER = 125
};

static int most_lines(const char *source, bool composed) {
  if (!composed)
    return strstr(source, "softmax") || strstr(source, "input latent") ||
                   strstr(source, "down[0]") || strstr(source, "decoder: {")
               ? MOST_LINES_WRITTEN_OUT
               : MOST_LINES;
  return strstr(source, "input image") || strstr(source, "permute 1 0 2")
             ? MOST_LINES_WITH_TOWER
             : MOST_LINES_COMPOSED;
}

/* Short, and without advice about what its author chose. */
static void check_source(const char *name, const char *source, int most) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(
      show_errors(netc, netc_load_text(netc, name, source, strlen(source))),
      NETC_OK);
  if (netc_diagnostic_count(netc) || line_count(source) >= most)
    print_error("%s: %zu warnings, %d lines\n", name,
                netc_diagnostic_count(netc), line_count(source));
  assert_int_equal(netc_diagnostic_count(netc), 0);
  assert_true(line_count(source) < most);
  netc_close(netc);
}

/* A row `NAME,PARAMETERS,SOURCE`; a count that only a formula gives is said. */
static void check_row(const char *row, bool composed) {
  char path[128], name[64];
  long long published;
  int end = 0;
  assert_int_equal(sscanf(row, "%63[^,],%lld,%n", name, &published, &end), 2);
  snprintf(path, sizeof path, FOLDER "%s/config.json", name);
  if (access(path, R_OK) != 0)
    snprintf(path, sizeof path, FOLDER "%s.json", name);
  char *source = import(path, "");
  check_source(name, source, most_lines(source, composed));
  int64_t params = totals_of(path, source).param_count;
  if (params != published)
    print_error("%s: %lld parameters, not %lld\n", name, (long long)params,
                published);
  assert_int_equal(params, published);
  assert_int_equal(strstr(source, "# no published count checks this type\n") !=
                       NULL,
                   strncmp(row + end, "formula", 7) == 0);
  free(source);
}

static int compare_rows(const char *csv, bool composed) {
  FILE *file = fopen(csv, "r");
  char line[512];
  int count = 0;
  assert_non_null(file);
  for (; fgets(line, sizeof line, file); count += *line != '#')
    if (*line != '#')
      check_row(line, composed);
  fclose(file);
  return count;
}

static void parameters_are_those_published(void **state) {
  (void)state;
  assert_true(compare_rows(FOLDER "truth.csv", false) >= 10);
}

/* MACs of one sample, from hooks on Linear, Conv2d, Conv3d and on attention of
 * diffusers 0.40, PyTorch 2.6. */
static void macs_are_those_of_diffusers(void **state) {
  (void)state;
  static const struct {
    const char *path;
    int64_t macs;
  } cases[] = {{FOLDER "ddpm_cat.json", 248513757184},
               {FOLDER "ddpm_cifar10.json", 6221856768},
               {FOLDER "pixart_alpha_1024.json", 3254761783296},
               {FOLDER "pixart_sigma_1024.json", 3316789886976},
               {FOLDER "wan_t2v_1_3b.json", 141500893888512},
               {FOLDER "wan_t2v_14b.json", 839185141596160},
               {FOLDER "wan_ti2v_5b.json", 343461574213632}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *source = import(cases[i].path, "");
    assert_int_equal(totals_of(cases[i].path, source).mac_count, cases[i].macs);
    free(source);
  }
}

/* A config of tests/data with another line is the net with these parameters,
 * as diffusers 0.40 creates it. */
static void options_of_diffusers_are_counted(void **state) {
  (void)state;
  static const struct {
    const char *path, *sed;
    long long params;
  } cases[] = {
      {"ddpm_cat", "s/.attention_head_dim.: null/\"attention_head_dim\": 100/",
       113525547},
      {"ddpm_cat", "s/.center_input_sample.: false/\"add_attention\": false/",
       112621571},
      {"ddpm_cifar10",
       "s/.center_input_sample.: false/\"num_class_embeds\": 10/", 35751427},
      {"pixart_alpha_1024",
       "s/.out_channels.: 8/\"out_channels\": null/;"
       "s/.sample_size.: 128/\"sample_size\": 64/",
       610837648},
      {"wan_t2v_14b",
       "s/.out_channels.: 16/\"out_channels\": null/;"
       "s/.in_channels.: 16/\"in_channels\": 20/",
       14288655440},
      {"wan_t2v_1_3b", "s/.cross_attn_norm.: true/\"cross_attn_norm\": false/",
       1418904640},
  };
  const char *folder = scratch("huggingface-options");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct run r = run("sed '%s' " FOLDER "%s.json >%s/config.json",
                       cases[i].sed, cases[i].path, folder);
    assert_int_equal(r.status, 0);
    run_free(&r);
    char path[700];
    snprintf(path, sizeof path, "%s/config.json", folder);
    char *source = import(path, "");
    assert_int_equal(totals_of(path, source).param_count, cases[i].params);
    free(source);
  }
}

/* Nets of examples/huggingface/decoder.net and its blocks. */
static void parameters_of_blocks_are_those_published(void **state) {
  (void)state;
  assert_true(compare_rows(FOLDER "counts.csv", true) >= 40);
}

/* tools/config_counts.py, which knows nothing of netc, gives the same. */
static void parameters_of_blocks_are_those_of_formulas(void **state) {
  (void)state;
  expect("! command -v python3 >/dev/null || python3 tools/config_counts.py", 0,
         "", NULL);
}

/* A config with another class, or without a key of it or of a part of it. */
static void change(json_t *config, const char *what) {
  const char *dot = strchr(what, '.');
  if (*what != '-') {
    json_array_set_new(json_object_get(config, "architectures"), 0,
                       json_string(what));
  } else if (dot) {
    char part[64];
    snprintf(part, sizeof part, "%.*s", (int)(dot - what - 1), what + 1);
    config = json_object_get(config, part);
    assert_int_equal(json_object_del(config, dot + 1), 0);
  } else {
    assert_int_equal(json_object_del(config, what + 1), 0);
  }
}

/* A head that netc lacks is refused, and says so: never counted as another. */
static bool is_refused(const char *path, const char *what) {
  struct run r = run(NETC " import %s", path);
  bool refused = r.status == 1 && *what != '-' &&
                 strstr(r.err, "is not supported") != NULL;
  run_free(&r);
  return refused;
}

/* Other heads, and keys that are left to the type (transformers.csv). */
static void counts_are_those_of_transformers(void **state) {
  (void)state;
  FILE *file = fopen(FOLDER "transformers.csv", "r");
  char line[512], name[64], what[96], path[700];
  long long params;
  size_t member = 0;
  int equal = 0, refused = 0;
  snprintf(path, sizeof path, "%s/config.json", scratch("transformers"));
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    int end = 0;
    if (*line == '#' || strstr(line, ",,") || !in_part(member++, 4))
      continue;
    assert_int_equal(
        sscanf(line, "%63[^,],%95[^,],%lld%n", name, what, &params, &end), 3);
    char from[200];
    snprintf(from, sizeof from, FOLDER "%s", name);
    json_t *config = json_load_file(from, 0, NULL);
    assert_non_null(config);
    change(config, what);
    assert_int_equal(json_dump_file(config, path, 0), 0);
    json_decref(config);
    if (is_refused(path, what)) {
      refused++;
      continue;
    }
    char *source = import(path, "");
    long long ours = totals_of(path, source).param_count;
    if (ours != params)
      print_error("%s %s: %lld parameters, not %lld\n", name, what, ours,
                  params);
    assert_int_equal(ours, params);
    free(source);
    equal++;
  }
  fclose(file);
  assert_true(equal > 2 * refused);
}

/* Every type of `netc import --types` has a config with a row above. */
static void every_type_has_a_check(void **state) {
  (void)state;
  struct run r =
      run(NETC " import --types | sed -n 's/^Hugging Face\\t\\("
               "[^\\t]*\\).*/\\1/p' | grep -vxE 'open_clip|params.json' | "
               "while read -r type; do "
               "for f in $(grep -rlE \"\\\"(model_type|_class_name)\\\": ?"
               "\\\"$type\\\"\" " FOLDER "); do f=${f#" FOLDER
               "}; f=${f%%/config.json}; "
               "grep -q \"^${f%%.json},\" " FOLDER "truth.csv " FOLDER
               "counts.csv && continue 2; done; echo \"$type\"; done");
  assert_string_equal(r.out, "");
  run_free(&r);
}

/* Two bytes too many: another model, or a net that lacks something. */
static void another_total_is_an_error(void **state) {
  (void)state;
  const char *folder = scratch("huggingface-total");
  char command[900];
  snprintf(command, sizeof command,
           "cp " FOLDER "llama_3_2_3b/*.json %s && sed -i "
           "s/6425499648/6425499650/ %s/*index.json && " NETC
           " import %s/config.json",
           folder, folder, folder);
  expect(command, 1, "",
         "model.safetensors.index.json has 6,425,499,650 bytes, but the net of "
         "this config has 6,425,499,648: 2 more");
  snprintf(command, sizeof command,
           NETC " import --allow-unknown %s/config.json", folder);
  expect(command, 0, "has 2 bytes more than this net", NULL);
}

/* The header of a file says shapes and type. */
static void tensors_beside_a_config_are_the_check(void **state) {
  (void)state;
  static const char config[] =
      "{\"model_type\": \"llama\", \"vocab_size\": 10, \"hidden_size\": 8,\n"
      "\"intermediate_size\": 16, \"num_hidden_layers\": 1,\n"
      "\"num_attention_heads\": 2, \"max_position_embeddings\": 4}\n";
  const char *folder = scratch("huggingface-tensors");
  char command[900];
  write_in(folder, "config.json", config);
  snprintf(command, sizeof command, NETC " import %s/config.json -o %s/a.net",
           folder, folder);
  expect(command, 0, "", NULL);
  snprintf(command, sizeof command,
           NETC " weights %s/a.net --random 1 -o %s/model.safetensors && " NETC
                " import %s/config.json",
           folder, folder, folder);
  expect(command, 0, "# compared with model.safetensors\n", NULL);
  snprintf(command, sizeof command,
           "sed -i 's/16,/24,/' %s/config.json && " NETC
           " import %s/config.json",
           folder, folder);
  expect(command, 1, "",
         "model.safetensors has 824 values, but the net of this config has "
         "1,016");
}

static void configs_answer_at_once(void **state) {
  (void)state;
  expect(NETC " " FOLDER "deepseek_v4_flash.json --brief", 0, "",
         "note: netc counts the parameters and the cache of compressed "
         "attention, but not its scores\n");
  expect(NETC " " FOLDER "llama_3_2_3b/config.json --predict --gpu rtx4090", 0,
         "  FITS\ninference, batch 1, bfloat16, fused attention, PyTorch on "
         "RTX 4090\n"
         "  needs      6.99 of 19.9 GiB ",
         "note: the file is read as Hugging Face");
  expect(NETC " params zoo:llama", 0, "num_key_value_heads", NULL);
  expect(NETC " zoo:llama -D hidden_size=2048 -D num_attention_heads=16 "
              "--depth 0",
         0, "total", NULL);
}

/* Windows are where a list of layers has them, or from a layer on; without
 * `use_sliding_window` Qwen has none. */
static void windows_are_those_of_the_config(void **state) {
  (void)state;
  static const struct {
    const char *more, *pattern;
  } cases[] = {
      {"", "repeat 3 { attend; dense }"},
      {", \"use_sliding_window\": true", "repeat 3 { window; dense }"},
      {", \"use_sliding_window\": true, \"max_window_layers\": 2",
       "repeat 2 { attend; dense }\nwindow; dense\n"},
      {", \"use_sliding_window\": true, \"layer_types\": [\"full_attention\", "
       "\"sliding_attention\", \"full_attention\"]",
       "attend; dense\nwindow; dense\nattend; dense\n"},
  };
  const char *folder = scratch("huggingface-windows");
  char command[700];
  snprintf(command, sizeof command, NETC " import %s/config.json", folder);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_in(folder, "config.json",
             text_of("{\"model_type\": \"qwen3\", \"num_hidden_layers\": 3, "
                     "\"sliding_window\": 64%s}",
                     cases[i].more));
    expect(command, 0, cases[i].pattern, NULL);
  }
}

/* A list of layers is read once, not once for each layer. */
static void long_lists_of_layers_take_linear_time(void **state) {
  (void)state;
  static char json[100000];
  int length = snprintf(json, sizeof json,
                        "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 64, "
                        "\"num_hidden_layers\": 5000, \"mlp_only_layers\": [0");
  for (int i = 1; i < 5000; i++)
    length += sprintf(json + length, ", %d", i);
  strcpy(json + length, "]}");
  const char *folder = scratch("huggingface-lists");
  char command[700];
  write_in(folder, "config.json", json);
  snprintf(command, sizeof command, NETC " import %s/config.json", folder);
  expect(command, 0, "repeat 5000 { attend; dense }", NULL);
}

/* Python writes NaN; the default that counts instead is said. */
static void no_numbers_are_noted(void **state) {
  (void)state;
  const char *folder = scratch("huggingface-nan");
  char command[700];
  write_in(folder, "config.json",
           "{\"model_type\": \"llama\", \"rms_norm_eps\": NaN, "
           "\"rope_theta\": Infinity}");
  snprintf(command, sizeof command, NETC " import %s/config.json", folder);
  expect(command, 0,
         "# `rms_norm_eps` is NaN, and 1 more are no numbers: netc takes the "
         "type's default\n",
         NULL);
}

#define UNET "\"block_out_channels\": [32, 64],\n"

/* Mistakes in a config: the place, the mistake, a way out. */
static void wrong_values_are_told_with_their_place(void **state) {
  (void)state;
  static const struct {
    const char *json, *told;
  } cases[] = {
      {"{\"model_type\": \"llama\",\n \"num_attention_heads\": -3}",
       ":2:25: error: `num_attention_heads` is -3, not from 1 to 2^30"},
      {"{\"model_type\": \"gpt2\",\n \"n_layer\": 150000}",
       "error: `n_layer` is 150000, not from 1 to 10,000"},
      {"{\"model_type\": \"llama\", \"hidden_size\": Infinite}",
       "a value was expected"},
      {"{\"model_type\": \"llama\", \"hidden_size\": 1e400}",
       "a number is too large"},
      {"{\"model_type\": \"llama\", \"vocab_size\": 99999999999999999999}",
       "a number is too large"},
      {"{\"model_type\": \"llama\", \"vocab_size\": 4611686018427387904}",
       "not from 1 to 2^30"},
      {"{\"model_type\": \"llama\", \"hidden_size\": \"big\"}",
       "`hidden_size` is big, not from 1"},
      {"{\"model_type\": \"llama\", \"attention_bias\": 1}",
       "`attention_bias` is 1, not a word, true or false"},
      {"{\"model_type\": \"llama\", \"hidden_act\": \"mish\"}",
       "`hidden_act` is mish, not supported here"},
      {"{\"model_type\": \"llama\", \"num_attention_heads\": 3}",
       "not 1365.3333333333333: `num_attention_heads` is 3"},
      {"{\"model_type\": \"lama\"}", "`--as llama` reads it as a type"},
      {"{\"model_type\": \"warp\"}", "`netc import --types` lists these"},
      {"{\"model_type\": 3}", "`model_type` is 3, not the name of an arch"},
      {"{\"model_type\": \"nemotron_h\", \"num_hidden_layers\": 4,\n"
       "\"hybrid_override_pattern\": \"M-M\"}",
       ":2:28: error: `hybrid_override_pattern` has 3 layers, but "
       "`num_hidden_layers` is 4"},
      {"{\"model_type\": \"deepseek_v3\", \"q_lora_rank\": \"8 indextop=1\"}",
       "`q_lora_rank` is 8 indextop=1, not a number or null"},
      {"{\"model_type\": \"deepseek_v3\", \"q_lora_rank\": true}",
       "`q_lora_rank` is true, not a number or null"},
      {"{\"architectures\": [\"WarpForCausalLM\"]}", "has no `model_type`"},
      {"{\"model_type\": \"llama\", \"architectures\": [\"LlamaForFun\"]}",
       "the head of `LlamaForFun` is not supported"},
      {"{\"model_type\": \"clip\", \"architectures\": [\"CLIPForFun\"]}",
       "the head of `CLIPForFun` is not supported"},
      {"{\"model_type\": \"whisper\", \"architectures\": "
       "[\"WhisperForAudioClassification\"]}",
       "the head of `WhisperForAudioClassification` is not supported"},
      {"{\"model_type\": \"dinov2\", \"head\": 3, \"architectures\": "
       "[\"Dinov2Backbone\"]}",
       "the head of `Dinov2Backbone` is not supported"},
      {"{\"model_type\": \"swin\", \"depths\": 7}",
       "`depths` is 7, not a list"},
      {"{\"model_type\": \"swin\", \"depths\": [2, 2, 0, 2]}",
       "`depths[2]` is 0, not from 1"},
      {"{\"model_type\": \"qwen3\", \"text_config\": {\"hidden_act\": 1.5}}",
       "`text_config.hidden_act` is 1.5, not a word"},
      {"{\"model_type\": \"llama\", \"hidden_size\": 512,\n"
       "\"num_attention_heads\": 7}",
       ":1:40: error: `dim` of attention must be an integer, not "
       "73.14285714285714: `hidden_size` is 512, `num_attention_heads` is 7"},
      {"{\"model_type\": \"gpt2\", \"n_embd\": 768,\n\"n_head\": 11}",
       ":1:34: error: 11 heads do not divide 768 channels: `n_embd` is 768, "
       "`n_head` is 11"},
      {"{\"model_type\": \"llama\", \"num_attention_heads\": 8,\n"
       "\"num_key_value_heads\": 3}",
       ":2:24: error: 3 heads of keys and values do not divide 8 heads of "
       "queries: `num_key_value_heads` is 3"},
      {"{\"model_type\": \"mixtral\", \"num_local_experts\": 4,\n"
       "\"num_experts_per_tok\": 9}",
       ":1:48: error: 9 of 4 experts: `num_local_experts` is 4, "
       "`num_experts_per_tok` is 9"},
      {"{\"model_type\": \"llama\", \"hidden_size\": [1]}",
       "`hidden_size` is a list, not from 1"},
      {"{\"model_type\": \"llama\", \"rms_norm_eps\": -1e-5}",
       "`rms_norm_eps` is -1e-5, not a number from 0 on"},
      {"{\"model_type\": \"clip\", \"architectures\": [\"CLIPTextModel\"]}",
       "the head of `CLIPTextModel` is not supported"},
      {"{\"model_type\": \"bart\", \"architectures\": [\"BartForCausalLM\"]}",
       "the head of `BartForCausalLM` is not supported"},
      {"{\"model_type\": \"llama\", \"torch_dtype\": \"int4\"}",
       "`torch_dtype` is int4, not a type of values"},
      {"{\"model_type\": \"llama\", \"quantization_config\": "
       "{\"quant_method\": \"hqq\"}}",
       "its quantization_config, hqq, is not supported"},
      {"{\"model_type\": \"llama\", \"quantization_config\": {\"bits\": 4}}",
       "which names no method, is not supported"},
      {"{\"model_type\": \"llama\", \"quantization_config\": "
       "{\"quant_method\": \"fp8\", \"weight_block_size\": [64, 128]}}",
       "its quantization_config, fp8, is not supported"},
      {"{\"model_type\": \"llama\", \"text_config\": {\"quantization_config\": "
       "{\"quant_method\": \"compressed-tensors\"}}}",
       "its text_config.quantization_config, compressed-tensors, is not "
       "supported"},
      {"{\"model_type\": \"llama\", \"compression_config\": "
       "{\"quant_method\": \"compressed-tensors\"}}",
       "its compression_config, compressed-tensors, is not supported"},
      {"{\"model_type\": \"llama\", \"quantization\": {\"bits\": 7, "
       "\"group_size\": 64}}",
       "its quantization, 7 bits of MLX, is not supported"},
      {"{\"model_type\": \"llama\", \"quantization\": {\"bits\": 4, "
       "\"group_size\": 64, \"lm_head\": {\"bits\": 7, \"group_size\": 64}}}",
       "its quantization, 4 bits of MLX, is not supported because of its "
       "`lm_head`"},
      {"{\"model_type\": \"llama\", \"quantization\": \"q4\"}",
       "`quantization` is q4, not an object"},
      {"{\"model_type\": \"exaone4\", \"num_hidden_layers\": 4, "
       "\"sliding_window_pattern\": \"LXG\"}",
       "`sliding_window_pattern`: layer 2 is `X`, a kind of block that netc"},
      {"{\"model_type\": \"deepseek_v4\", \"num_hidden_layers\": 2, "
       "\"compress_ratios\": [0, 8]}",
       ":1:78: error: `compress_ratios[1]`: layer 2 is `8`"},
      {"{\"model_type\": \"nemotron-nas\", \"num_attention_heads\": 4,\n"
       "\"block_configs\": [{\"attention\": {\"n_heads_in_group\": 3}}]}",
       "n_heads_in_group` is 3, not a divisor of the heads"},
      {"{\"model_type\": \"nemotron-nas\",\n\"block_configs\": [{"
       "\"attention\": {\"no_op\": true}}]}",
       ":2:18: error: `block_configs` has a row without sizes of `ffn`"},
      {"{\"model_type\": \"nemotron-nas\", \"block_configs\": []}",
       "`block_configs` has no layer"},
      {"{\"architecture\": \"resnet51\"}",
       "the architecture `resnet51` of timm is not in the zoo"},
      {"{\"architecture\": \"resnet50\", \"num_classes\": 0}",
       "`num_classes` is 0, not from 1 to 2^30"},
      {"{\"model_cfg\": {\"text_cfg\": {}, \"vision_cfg\": {\"layers\": "
       "[3, 4, 6, 3]}}}",
       "`model_cfg.vision_cfg.layers` is a list, not from 1"},
      {"{\"dim\": 8, \"n_kv_heads\": 0}", "`n_kv_heads` is 0, not from 1"},
      {"{\"_class_name\": \"UNet3DConditionModel\"}",
       "the _class_name `UNet3DConditionModel` is not supported"},
      {"{\"_class_name\": \"UNet3DConditionModel\"}", "then `netc model.pt2`"},
      {"{\"_class_name\": \"UNet2DModel\"}",
       "the config has no `block_out_channels`"},
      {"{\"_class_name\": \"UNet2DModel\", " UNET
       "\"down_block_types\": [\"DownBlock2D\", \"SkipDownBlock2D\"]}",
       "`down_block_types[1]` is SkipDownBlock2D, not a kind of block that"},
      {"{\"_class_name\": \"UNet2DModel\", " UNET
       "\"down_block_types\": [\"DownBlock2D\", \"AttnDownBlock2D\"], "
       "\"up_block_types\": [\"UpBlock2D\", \"UpBlock2D\"]}",
       "`up_block_types[0]` is UpBlock2D, not AttnUpBlock2D"},
      {"{\"_class_name\": \"UNet2DModel\", " UNET
       "\"down_block_types\": [\"DownBlock2D\", \"DownBlock2D\"], "
       "\"resnet_time_scale_shift\": \"scale_shift\"}",
       "`resnet_time_scale_shift` is scale_shift, not supported here"},
      {"{\"_class_name\": \"WanTransformer3DModel\", "
       "\"added_kv_proj_dim\": 5120}",
       "error: added_kv_proj_dim needs image_dim"},
      {"{\"_class_name\": \"WanTransformer3DModel\", "
       "\"image_dim\": 1280, \"added_kv_proj_dim\": 1280}",
       "error: keys and values of the image need "},
      {"{\"_class_name\": \"WanTransformer3DModel\", "
       "\"patch_size\": [2, 2]}",
       "error: patch_size has three members"},
      {"{\"_class_name\": \"PixArtTransformer2DModel\", "
       "\"caption_channels\": 4096, \"attention_head_dim\": 64}",
       "error: caption_channels makes texts of another width than "},
      {"{\"_class_name\": \"Transformer2DModel\", "
       "\"norm_type\": \"ada_norm_zero\"}",
       "`norm_type` is ada_norm_zero, not supported here"},
      {"{\"_class_name\": \"UNet2DConditionModel\"}",
       "the config has no `block_out_channels`"},
      {"{\"_class_name\": \"UNet2DConditionModel\", " UNET
       "\"down_block_types\": [\"DownBlock2D\"]}",
       "`down_block_types` has 1 members, but `block_out_channels` has 2"},
      {"{\"_class_name\": \"UNet2DConditionModel\", " UNET
       "\"down_block_types\": [\"DownBlock2D\", \"AttnDownBlock2D\"]}",
       "`down_block_types[1]` is AttnDownBlock2D, not a kind of block that"},
      {"{\"_class_name\": \"UNet2DConditionModel\", " UNET
       "\"down_block_types\": [\"DownBlock2D\", \"DownBlock2D\"], "
       "\"up_block_types\": [\"UpBlock2D\", \"CrossAttnUpBlock2D\"]}",
       "`up_block_types[1]` is CrossAttnUpBlock2D, not UpBlock2D"},
      {"{\"_class_name\": \"UNet2DConditionModel\", " UNET
       "\"down_block_types\": [\"DownBlock2D\", \"DownBlock2D\"], "
       "\"dual_cross_attention\": true}",
       "`dual_cross_attention` is true, not supported here"},
      {"{\"_class_name\": \"AutoencoderKL\", \"block_out_channels\": "
       "[8, 8, 8, 8, 8]}",
       "`block_out_channels` has 5 members; a net of netc has at most 4"},
      {"{\"model_type\": \"llama\"", "not JSON: a comma was expected"},
      {"{\"model_type\": \"llama\"} {}",
       "not JSON: the file continues after the object"},
  };
  const char *folder = scratch("huggingface-wrong");
  char command[700];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_in(folder, "config.json", cases[i].json);
    snprintf(command, sizeof command, NETC " import %s/config.json", folder);
    expect(command, 1, "", cases[i].told);
  }
}

static void quantised_weights_have_their_type(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128",
       "infer dtype=f16 weight_dtype=gptq\n"},
      {"\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 64",
       "weight_dtype=awq_g64\n"},
      {"\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true",
       "weight_dtype=bnb4_f32\n"},
      {"\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, "
       "\"bnb_4bit_use_double_quant\": true",
       "weight_dtype=bnb4\n"},
      {"\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true",
       "weight_dtype=int8\n"},
      {"\"quant_method\": \"fp8\"", "weight_dtype=fp8\n"},
      {"\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]",
       "weight_dtype=fp8_128\n"},
  };
  const char *folder = scratch("huggingface-quantised");
  char text[400], command[700];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(text, sizeof text,
             "{\"model_type\": \"llama\", \"torch_dtype\": \"float16\", "
             "\"quantization_config\": {%s}}",
             cases[i][0]);
    write_in(folder, "config.json", text);
    snprintf(command, sizeof command, NETC " import %s/config.json", folder);
    expect(command, 0, cases[i][1], NULL);
  }
}

/* As mlx_lm writes it, and the bytes of Qwen3-8B-4bit's tensors. */
static void mlx_has_groups_of_all_matrices(void **state) {
  (void)state;
  static const char config[] =
      "{\"model_type\": \"qwen3\", \"architectures\": [\"Qwen3ForCausalLM\"], "
      "\"torch_dtype\": \"bfloat16\", \"head_dim\": 128, \"hidden_size\": "
      "4096, "
      "\"intermediate_size\": 12288, \"num_attention_heads\": 32, "
      "\"num_hidden_layers\": 36, \"num_key_value_heads\": 8, "
      "\"tie_word_embeddings\": false, \"vocab_size\": 151936, ";
  static const char *const ways[] = {
      "\"quantization\": {\"group_size\": 64, \"bits\": 4}}",
      "\"quantization\": {\"group_size\": 64, \"bits\": 4, \"mode\": "
      "\"affine\"}, \"quantization_config\": {\"group_size\": 64, \"bits\": 4, "
      "\"mode\": \"affine\"}}"};
  const char *folder = scratch("huggingface-mlx");
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    write_in(folder, "config.json", text_of("%s%s", config, ways[i]));
    struct run r = run(NETC " %s --predict -o %s/x.json && grep -m1 "
                            "weight_bytes %s/x.json",
                       folder, folder, folder);
    assert_holds(r.out, "\"weight_bytes\": 4607731712");
    run_free(&r);
  }
}

/* NVIDIA's modelopt says it beside the config. */
static void a_neighbour_may_say_how_weights_are_stored(void **state) {
  (void)state;
  static const struct {
    const char *says, *out, *err; /* err: of a refusal */
  } cases[] = {
      {"\"quant_algo\": \"FP8\", \"exclude_modules\": [\"lm_head\"]",
       "infer dtype=f16 weight_dtype=fp8\n", NULL},
      {"\"quant_algo\": \"FP8\", \"exclude_modules\": [\"lm_head\", "
       "\"model.layers.0*\"]",
       "infer dtype=f16 weight_dtype=\"fp8 attention@0 mlp@0\"\n", NULL},
      {"\"quant_algo\": \"FP8\"", "",
       "its hf_quant_config.json says FP8, but does not list the layers"},
      {"\"quant_algo\": \"NVFP4\", \"group_size\": 16, \"exclude_modules\": "
       "[\"lm_head\"]",
       "infer dtype=f16 weight_dtype=nvfp4\n", NULL},
      {"\"quant_algo\": \"NVFP4\", \"group_size\": 32, \"exclude_modules\": "
       "[\"lm_head\"]",
       "",
       "its hf_quant_config.json, NVFP4, is not supported with "
       "`quantization.group_size` 32"},
      {"\"quant_algo\"", "", "cannot read hf_quant_config.json"},
  };
  const char *folder = scratch("huggingface-modelopt");
  char command[1400];
  write_in(folder, "config.json",
           "{\"model_type\": \"llama\", \"torch_dtype\": \"float16\"}");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_in(folder, "hf_quant_config.json",
             text_of("{\"producer\": {\"name\": \"modelopt\"}, "
                     "\"quantization\": {%s}}",
                     cases[i].says));
    snprintf(command, sizeof command, NETC " import %s/config.json", folder);
    expect(command, cases[i].err != NULL, cases[i].out, cases[i].err);
    snprintf(command, sizeof command, NETC " %s --predict", folder);
    expect(command, cases[i].err != NULL, NULL, cases[i].err);
  }
  /* The way out that is offered. */
  write_in(folder, "hf_quant_config.json",
           "{\"quantization\": {\"quant_algo\": \"NVFP4\"}}");
  struct run r =
      run(NETC " %s --predict --allow-unknown --weight-dtype mxfp4", folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "weights 3.");
  run_free(&r);
  snprintf(command, sizeof command,
           NETC " import %s/config.json "
                "--allow-unknown",
           folder);
  expect(command, 0,
         "its hf_quant_config.json, NVFP4, is not counted: netc counts the "
         "weights in the net's type",
         NULL);
}

/* Published totals of bytes, which weights with their scales are equal to. */
static void quantised_weights_have_the_bytes_of_their_index(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t bytes;
  } cases[] = {
      {"llama_3_1_8b_int8", 11188584672 - 224}, /* a byte a format */
      {"llama_3_70b_awq", 39767785472},
  };
  char path[200];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(path, sizeof path, FOLDER "%s/config.json", cases[i].name);
    char *source = import(path, "");
    assert_holds(source, "# compared with model.safetensors.index.json\nnet ");
    assert_int_equal(take(compile(source, ""), inference, "weight_bytes"),
                     cases[i].bytes);
    free(source);
  }
}

/*
 * DeepSeek-V3's files have 688,586,727,753 bytes; 11,888,393 of them are the
 * 163 headers of 91,991 tensors, if the tensors are those of its code: scales
 * of tiles in 32 bits, and a layer for words that are further away.
 */
static void a_layer_for_further_words_is_told(void **state) {
  (void)state;
  const char *folder = scratch("huggingface-further");
  char command[700];
  json_t *config = json_load_file(FOLDER "deepseek_v3.json", 0, NULL);
  json_object_set_new(config, "quantization_config",
                      json_pack("{ss s[ii]}", "quant_method", "fp8",
                                "weight_block_size", 128, 128));
  snprintf(command, sizeof command, "%s/config.json", folder);
  assert_int_equal(json_dump_file(config, command, 0), 0);
  json_decref(config);
  write_in(folder, "model.safetensors.index.json",
           "{\"metadata\": {\"total_size\": 688574839360}, \"weight_map\": "
           "{\"model.layers.61.eh_proj.weight\": \"model-163\"}}");
  snprintf(command, sizeof command, NETC " import %s/config.json", folder);
  expect(command, 0,
         "# model.safetensors.index.json has 15,424,257,248 bytes more than "
         "this net in fp8_128, in layer 61, which predicts later tokens\n",
         NULL);
  struct run r = run(NETC " import %s/config.json", folder);
  assert_int_equal(take(compile(r.out, ""), inference, "weight_bytes"),
                   688574839360 - 15424257248);
  run_free(&r);
}

/*
 * GGUFs without their words and values: their keys fill the record that a
 * config.json fills, and their tensors are the check.
 */
/* As many values in other shapes are another net. */
static void shapes_of_gguf_are_compared(void **state) {
  (void)state;
  static const char tensor[] = "blk.3.ffn_up.weight";
  size_t length, at = 0;
  char path[600], arguments[700], dims[16];
  char *file = read_text(FOLDER "gguf/qwen2-0.5b-q8_0.gguf", &length);
  snprintf(path, sizeof path, "%s/a.gguf", scratch("shapes"));
  while (memcmp(file + at, tensor, sizeof tensor - 1) != 0)
    at++;
  char *first = file + at + sizeof tensor - 1 + 4; /* after its rank */
  memcpy(dims, first, 16);
  memcpy(first, dims + 8, 8);
  memcpy(first + 8, dims, 8);
  write_text(path, file, length);
  free(file);
  snprintf(arguments, sizeof arguments, NETC " import %s", path);
  expect(arguments, 1, "", "its table of tensors has ");
  expect(arguments, 1, "", " rows of 896 values, the first in `token_embd");
  snprintf(arguments, sizeof arguments, NETC " import --allow-unknown %s",
           path);
  expect(arguments, 0, "weight_dtype=q8_0", NULL);
}

static void gguf_is_a_net(void **state) {
  (void)state;
  static const struct {
    const char *name, *holds;
    int64_t params;
  } files[] = {
      {"bge-small-en-v1.5-f16", "infer dtype=f16\n", 33212160},
      {"gemma-2b-f16", "infer dtype=f16 runtime=llama.cpp\n", 2506172416},
      {"llama-3.2-1b-bf16", "infer dtype=bf16 runtime=llama.cpp\n", 1235814400},
      {"mistral-7b-q4_k", "weight_dtype=q4_k_m runtime=llama.cpp\n",
       7241732096},
      {"mixtral-8x7b-q4_0", "weight_dtype=q4_0 runtime=llama.cpp\n",
       46702792704},
      {"qwen2-0.5b-q8_0", "weight_dtype=q8_0 runtime=llama.cpp\n", 494032768},
  };
  char path[200];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, FOLDER "gguf/%s.gguf", files[i].name);
    char *source = import(path, "");
    check_source(path, source, most_lines(source, false));
    assert_holds(source, files[i].holds);
    assert_int_equal(totals_of(path, source).param_count, files[i].params);
    free(source);
  }
  expect(NETC " " FOLDER "gguf/qwen2-0.5b-q8_0.gguf --details --gpu rtx4090", 0,
         "525,120,000 B", "note: the file is read as GGUF; `netc import ");
  expect(NETC " " FOLDER "gguf/qwen2-0.5b-q8_0.gguf --predict", 0, "",
         "its tensors have 525,120,000 bytes: 169 Q8_0, 121 F32\n");
  expect(NETC " import " FOLDER "gguf/mistral-7b-q4_k.gguf", 0,
         "# its tensors have 4074389504 bytes: 226 Q4_K, 65 F32\n",
         "; netc counts 4,367,704,064 in the most common type\n");
  expect("cat " FOLDER "gguf/gemma-2b-f16.gguf | " NETC " import -", 0,
         "as its GGUF says", NULL);
  expect("printf 'GGUF\\3\\0\\0\\0\\43\\1\\0\\0' | " NETC " -", 1, "",
         "error: ");
  expect("sed s/qwen2/qwen9/g " FOLDER "gguf/qwen2-0.5b-q8_0.gguf | " NETC
         " import -",
         1, "", "the general.architecture `qwen9` is not supported");
}

/* Without comments and the lines that say how weights are stored. */
static char *body_of(const char *source) {
  char *body = malloc(strlen(source) + 1), *to = body;
  for (const char *line = source; *line;) {
    size_t length = strcspn(line, "\n");
    length += line[length] == '\n';
    if (*line != '#' && strncmp(line, "train ", 6) != 0 &&
        strncmp(line, "infer ", 6) != 0) {
      memcpy(to, line, length);
      to += length;
    }
    line += length;
  }
  *to = '\0';
  return body;
}

/*
 * Headers that tools/gguf_headers.py makes of configs, as llama.cpp's
 * converter does: both give the same net. If `unlike`, only the parameters are
 * the same: the GGUF does not say how rotations are scaled, or has a size that
 * is rounded already.
 */
static void gguf_of_blocks_is_its_config(void **state) {
  (void)state;
  static const struct {
    const char *name;
    bool unlike;
    int64_t less;
  } nets[] = {
      {.name = "apertus_8b", .unlike = true}, /* scalars of xIELU as keys */
      {.name = "arcee_4_5b"},
      {.name = "deepseek_v2_lite"}, /* attn_kv_b as one, no latent queries */
      {.name = "deepseek_v4_flash"},
      {.name = "command_r7b"},
      {.name = "command_r_plus"},
      {.name = "gemma_2_2b"},
      {.name = "gemma_3_1b"},
      {.name = "internlm2_5_7b"},
      {.name = "k_exaone_236b"},
      {"kimi_k3", true, 11 * 7168}, /* norms in the scores' vectors */
      {.name = "ling_mini_2_0"},
      {.name = "minimax_m3"},
      {.name = "ministral3_8b"},
      {.name = "olmoe_1b_7b"},
      {.name = "starcoder2_3b", .unlike = true}, /* no key for its window */
      {.name = "trinity_nano"},
      {.name = "deepseek_v3"}, /* attn_k_b turned, attn_v_b */
      {.name = "deepseek_v3_2"},
      {.name = "ernie4_5_0_3b"},
      {.name = "ernie4_5_21b_a3b"},
      {.name = "exaone4_32b"},
      {.name = "falcon_h1_0_5b"},
      {.name = "gemma3n_e2b"},
      {.name = "gemma_4_26b_a4b", .unlike = true},
      {.name = "glm_4_5_air"},
      {.name = "glm_5_2"},
      {.name = "gpt_oss_20b"},
      {.name = "granite_2b"},
      {.name = "granite_4_h_small"},
      {.name = "hunyuan_7b"},
      {.name = "hunyuan_a13b"},
      {.name = "kimi_linear_48b"},
      {.name = "lfm2_350m", .unlike = true},
      {.name = "lfm2_8b_a1b"},
      {.name = "llama_4_scout", .unlike = true},
      {.name = "mimo_v2_flash"},
      {.name = "minimax_m2_5"},
      {.name = "nemotron_3_nano"},
      {.name = "nemotron_3_super"},
      {.name = "nemotron_h_56b"},
      {.name = "olmo2_7b"},
      {.name = "nemotron_super_49b", .unlike = true},
      {.name = "olmo3_7b"},
      {.name = "qwen3_30b_a3b"},
      {.name = "qwen3_5_27b"},
      {.name = "qwen3_next_80b_a3b"},
      {.name = "qwen3_vl_2b"},
      {.name = "qwen3_vl_30b_a3b"},
      {.name = "seed_oss_36b"},
      {.name = "smollm3_3b"},
      {.name = "step_3_5_flash"},
  };
  char path[200];
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    snprintf(path, sizeof path, FOLDER "gguf/blocks/%s.json", nets[i].name);
    char *config = import(path, ""), *theirs = body_of(config);
    int64_t params = totals_of(path, config).param_count;
    snprintf(path, sizeof path, FOLDER "gguf/blocks/%s.gguf", nets[i].name);
    char *gguf = import(path, ""), *ours = body_of(gguf);
    assert_int_equal(totals_of(path, gguf).param_count + nets[i].less, params);
    if (!nets[i].unlike)
      assert_string_equal(ours, theirs);
    free(config);
    free(theirs);
    free(gguf);
    free(ours);
  }
}

/* An error of the composed net names the file's keys. */
static void wrong_sizes_name_the_keys_of_gguf(void **state) {
  (void)state;
  static const char key[] = "smollm3.attention.head_count";
  size_t length, at = 0;
  char path[600], arguments[700];
  char *file = read_text(FOLDER "gguf/blocks/smollm3_3b.gguf", &length);
  snprintf(path, sizeof path, "%s/a.gguf", scratch("gguf-sizes"));
  while (memcmp(file + at, key, sizeof key - 1) != 0)
    at++;
  file[at + sizeof key - 1 + 4] = 15; /* after its type */
  write_text(path, file, length);
  free(file);
  snprintf(arguments, sizeof arguments, NETC " import %s", path);
  expect(arguments, 1, "",
         "do not divide 15 heads of queries: `smollm3.attention.head_count` is "
         "15, `smollm3.attention.head_count_kv` is 4");
}

static void unknown_gguf_is_told(void **state) {
  (void)state;
  expect(NETC " import " FOLDER "gguf/blocks/glm_4_5_air.gguf", 0,
         "# its layer for multi-token prediction (num_nextn_predict_layers) is "
         "left out\n",
         NULL);
  expect("sed s/qwen3moe/qwen9moe/g " FOLDER
         "gguf/blocks/qwen3_30b_a3b.gguf | " NETC " import -",
         1, "", "the general.architecture `qwen9moe` is not supported");
  expect("sed 's/attention.key_length_mla/attention.key_length_xyz/g; "
         "s/attention.key_length/attention.xyz_length/g' " FOLDER
         "gguf/blocks/deepseek_v3.gguf | " NETC " import -",
         1, "", "`attention.key_length` is 0, and `rope.dimension_count` 64");
  expect("sed s/blk.2.ssm_in/blk.2.ssm_xy/ " FOLDER
         "gguf/blocks/nemotron_h_56b.gguf | " NETC " import -",
         1, "", "has nothing of layer 3 of 10 that netc knows");
  expect("sed s/blk.2.ffn_down/blk.2.ffn_xyzw/ " FOLDER
         "gguf/blocks/granite_2b.gguf | " NETC " import -",
         1, "", "layer 1 has parts that netc has no block for");
  expect("sed s/minimax-m2/granitemoe/g " FOLDER
         "gguf/blocks/minimax_m2_5.gguf | " NETC " import -",
         0, "net granitemoe\n", NULL);
  expect(NETC " import " FOLDER "gguf/blocks/mmproj.gguf", 1, "",
         "it is a vision encoder with a projector, for --mmproj of llama.cpp: "
         "4 tensors, 100,096 bytes");
}

/* Parts of a split file are counted together, and a missing one is named. */
static void parts_of_gguf_are_one(void **state) {
  (void)state;
  char command[1600];
  const char *folder = scratch("parts");
  expect(NETC " import " FOLDER "gguf/blocks/split-00001-of-00003.gguf", 0,
         "# its tensors have 1811729792 bytes: 46 F16, 33 F32\n", NULL);
  expect(NETC " import " FOLDER "gguf/blocks/split-00002-of-00003.gguf", 1, "",
         "-00002-of-00003.gguf: error: it is part 2 of 3\n");
  expect("cat " FOLDER "gguf/blocks/split-00001-of-00003.gguf | " NETC
         " import -",
         1, "", "it is the first of 3 parts, and the others cannot be found");
  snprintf(command, sizeof command,
           "cp " FOLDER "gguf/blocks/split-0000[13]* %s && " NETC
           " import %s/split-00001-of-00003.gguf",
           folder, folder);
  expect(command, 1, "", "part 2 of 3, `");
  expect(command, 1, "", "/split-00002-of-00003.gguf`, cannot be read: ");
  snprintf(command, sizeof command,
           "cd %s && cp split-00003-of-00003.gguf split-00002-of-00003.gguf",
           folder);
  expect(command, 0, "", NULL);
  snprintf(command, sizeof command, NETC " import %s/split-00001-of-00003.gguf",
           folder);
  expect(command, 1, "", "says that it is part 3 of 3");
}

/* States of recurrent layers have 32 bits where the config says so, and in Kimi
 * Delta Attention. */
static void states_have_the_type_of_the_config(void **state) {
  (void)state;
  static const char *const configs[] = {"qwen3_5_27b", "kimi_linear_48b",
                                        "nemotron_3_super"};
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
    struct run r =
        run(NETC " import tests/data/huggingface/%s.json", configs[i]);
    assert_int_equal(r.status, 0);
    assert_holds(r.out, "\ninfer dtype=bf16 state_dtype=f32\n");
    run_free(&r);
  }
}

/* A folder of diffusers with a transformer, a text encoder and a VAE; a path
 * and a class that nobody knows are in its list, too. */
static const char *pipeline(const char *name) {
  static char folder[600];
  snprintf(folder, sizeof folder, "%s/p", scratch(name));
  struct run r =
      run("mkdir -p %s/transformer %s/vae %s/text_encoder %s/odd && cp " FOLDER
          "flux_schnell.json %s/transformer/config.json && cp " FOLDER
          "flux_vae.json %s/vae/config.json && cp " FOLDER
          "sd15_text_encoder.json %s/text_encoder/config.json && echo "
          "'{\"model_type\": \"odd\"}' >%s/odd/config.json",
          folder, folder, folder, folder, folder, folder, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  write_in(folder, "model_index.json",
           "{\"_class_name\": \"FluxPipeline\",\n"
           "\"../p/vae\": [\"diffusers\", \"AutoencoderKL\"],\n"
           "\"odd\": [\"here\", \"Odd\"], \"none\": [null, null],\n"
           "\"scheduler\": [\"diffusers\", \"FlowScheduler\"],\n"
           "\"text_encoder\": [\"transformers\", \"CLIPTextModel\"],\n"
           "\"transformer\": [\"diffusers\", \"FluxTransformer2DModel\"],\n"
           "\"vae\": [\"diffusers\", \"AutoencoderKL\"]}\n");
  return folder;
}

/* The sum of what all nets keep and the largest pass, as with --beside. */
static void a_pipeline_is_several_nets_in_one_process(void **state) {
  (void)state;
  const char *folder = pipeline("huggingface-pipeline");
  const char *settings = "--predict --dtype bf16 --brief";
  struct run all = run(NETC " %s %s", folder, settings);
  struct run index = run(NETC " %s/model_index.json %s", folder, settings);
  struct run same = run(NETC " " FOLDER "flux_schnell.json %s --beside " FOLDER
                             "sd15_text_encoder.json:frozen --beside " FOLDER
                             "flux_vae.json:frozen",
                        settings);
  assert_int_equal(all.status, 0);
  assert_string_equal(all.out, same.out);
  assert_string_equal(all.out, index.out);
  assert_holds(all.out, "AutoencoderKL, 83.8 M parameters, batch 1: ");
  assert_holds(all.err, "it is a folder of diffusers, FluxPipeline; netc reads "
                        "its transformer, and beside it text_encoder, vae\n");
  assert_holds(all.err, "left out: odd (Odd): the model_type `odd` is not "
                        "supported\n");
  run_free(&all);
  run_free(&index);
  run_free(&same);
  struct run r = run(NETC " import %s", folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "net FluxTransformer2DModel\n");
  assert_holds(r.err, "the source is that of one net; `netc import ");
  run_free(&r);
}

/* A link out of the folder is not followed, but for that of a cache. */
static void a_pipeline_reads_its_folder_alone(void **state) {
  (void)state;
  const char *folder = pipeline("huggingface-links");
  struct run r =
      run("cd %s && mv vae/config.json ../vae.json && ln -s ../../vae.json "
          "vae/config.json && cd - >/dev/null && " NETC " %s --brief",
          folder, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.err, "; vae (AutoencoderKL): it is a link out of the folder");
  run_free(&r);
  int length = (int)strlen(folder) - 2; /* less "/p" */
  r = run("cd %.*s && mkdir snapshots blobs && mv p snapshots/p && mv vae.json "
          "blobs/1 && ln -sf ../../../blobs/1 snapshots/p/vae/config.json",
          length, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  r = run(NETC " %.*s/snapshots/p --brief", length, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.err, "and beside it text_encoder, vae\n");
  run_free(&r);
  r = run("cd %.*s/snapshots/p && rm -r transformer vae text_encoder && "
          "\"$OLDPWD/\"" NETC " .",
          length, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "netc reads no part of this pipeline: odd (Odd): ");
  assert_holds(r.err, "vae (AutoencoderKL): it is not in the folder\n");
  run_free(&r);
}

/* Weights that a link has elsewhere are not compared. */
static void linked_weights_are_not_read(void **state) {
  (void)state;
  const char *folder = scratch("huggingface-linked");
  struct run r = run(
      "mkdir %s/in && cp " FOLDER "sd15_vae.json %s/in/config.json && "
      ": >%s/w && ln -s ../w %s/in/diffusion_pytorch_model.safetensors && " NETC
      " import %s/in",
      folder, folder, folder, folder, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "# diffusion_pytorch_model.safetensors is a link out of "
                      "the folder: it is not compared\n");
  run_free(&r);
  r = run("rm %s/in/*.safetensors && : "
          ">%s/in/diffusion_pytorch_model.safetensors && " NETC " import %s/in",
          folder, folder, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "diffusion_pytorch_model.safetensors: ");
  run_free(&r);
}

/* An adapter prints its model and its own values; the net is the model. */
static void adapters_name_their_model(void **state) {
  (void)state;
  static const char json[] = "{\"peft_type\": \"LORA\", \"r\": 16, "
                             "\"base_model_name_or_path\": \"%s\",\n"
                             "\"target_modules\": [%s]}";
  static const char all[] = "\"q_proj\", \"k_proj\", \"v_proj\", \"o_proj\", "
                            "\"gate_proj\", \"up_proj\", \"down_proj\"";
  const char *folder = scratch("huggingface-adapter");
  write_in(folder, "adapter_config.json",
           text_of(json, "meta-llama/Llama-3.1-8B", "\"q_proj\", \"v_proj\""));
  struct run r = run(NETC " weights examples/zoo/lenet5.net --random 1 -o "
                          "%s/adapter_model.safetensors && " NETC " %s",
                     folder, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "this is an adapter of meta-llama/Llama-3.1-8B: LORA of "
                      "rank 16 on q_proj, v_proj; adapter_model.safetensors "
                      "has 61,706 values\n");
  assert_holds(r.err, text_of("`netc FOLDER --lora %s` counts", folder));
  run_free(&r);
  write_in(folder, "adapter_config.json", text_of(json, "x", "\"head\""));
  r = run(NETC " import %s/adapter_config.json", folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "`lora_on=qv`");
  run_free(&r);
  /* Llama 3.2 3B: 24,313,856 as PEFT counts them. */
  write_in(folder, "adapter_config.json", text_of(json, "base", all));
  r = run("mkdir %s/base && cp " FOLDER
          "llama_3_2_3b/config.json %s/base && " NETC
          " %s --lora %s --emit=json",
          folder, folder, folder, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "\"trainable_count\": 24313856");
  assert_holds(r.err, text_of("reads its model, and `--lora %s` adds", folder));
  run_free(&r);
  /* A path out of the folder is no folder of it. */
  write_in(folder, "adapter_config.json", text_of(json, "../" FOLDER, all));
  r = run(NETC " %s", folder);
  assert_int_equal(r.status, 1);
  run_free(&r);
}

#define ADAPTER "{\"peft_type\": \"LORA\", \"r\": 16, \"bias\": \"none\",\n"
#define QV "\"target_modules\": [\"v_proj\", \"q_proj\"]"

/* `--lora FOLDER` is the rank and the words that the adapter says. */
static void lora_takes_an_adapter(void **state) {
  (void)state;
  static const struct {
    const char *json, *words;
  } cases[] = {
      {ADAPTER QV "}", "16:qv:f32"},
      {ADAPTER QV ", \"lora_alpha\": 32, \"lora_dropout\": 0.05,\n"
                  "\"modules_to_save\": null, \"rank_pattern\": {},\n"
                  "\"exclude_modules\": []}",
       "16:qv:f32:alpha=32:dropout=0.05"},
      {ADAPTER QV ", \"lora_alpha\": 8, \"use_rslora\": true}",
       "16:qv:f32:alpha=32"},
      {ADAPTER QV ", \"lora_alpha\": 16}", "16:qv:f32"},
      {ADAPTER QV ", \"lora_alpha\": 255, \"use_rslora\": true}",
       "16:qv:f32:alpha=1020"},
      {"{\"target_modules\": [\"q_proj\", \"k_proj\", \"v_proj\"]}",
       "8:qkv:f32"},
      {ADAPTER "\"target_modules\": [\"query_key_value\"]}", "16:qkv:f32"},
      {ADAPTER "\"target_modules\": [\"to_k\", \"to_q\", \"to_v\", "
               "\"to_out.0\"]}",
       "16:qkvo:f32"},
      {ADAPTER "\"target_modules\": \"all-linear\"}", "16:all:f32"},
      {ADAPTER "\"target_modules\": [\"q_proj\", \"k_proj\", \"v_proj\", "
               "\"out_proj\", \"fc1\", \"fc2\"]}",
       "16:all:f32"},
  };
  const char *folder = scratch("huggingface-lora"),
             *net = FOLDER "qwen3_8b.json";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_in(folder, "adapter_config.json", cases[i].json);
    struct run r = run(NETC " %s --lora %s --emit=json", net, folder);
    struct run same =
        run(NETC " %s --lora %s --emit=json", net, cases[i].words);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, same.out);
    run_free(&r);
    run_free(&same);
  }
  expect(text_of(NETC " check %s --lora %s/adapter_config.json --budget "
                      "params=9G",
                 net, folder),
         0, "", NULL);
  expect(text_of(NETC " sweep %s --lora %s --batch 1,2", net, folder), 0, "",
         NULL);
  expect(text_of(NETC " place %s --lora %s --gpus 8xh100", net, folder), 0, "",
         NULL);
  struct run r = run(NETC " %s --lora %s -MD -MF - -MT x", net, folder);
  assert_holds(r.out, text_of("%s/adapter_config.json", folder));
  run_free(&r);
  expect(NETC " " FOLDER "qwen3_8b.json --lora none", 2, "",
         "or the folder of an adapter of PEFT");
  expect(NETC " " FOLDER "qwen3_8b.json --lora " FOLDER, 3, "",
         "cannot read " FOLDER "adapter_config.json");
}

/* The error has the file, the place and the key that `--lora` cannot follow. */
static void odd_adapters_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *json, *told;
  } cases[] = {
      {ADAPTER QV ",\n \"modules_to_save\": [\"lm_head\", \"embed\"]}",
       "adapter_config.json:3:21: error: `modules_to_save` is lm_head, embed, "
       "which `--lora` does not support"},
      {"{\"peft_type\": \"IA3\"}", "`peft_type` is IA3, which"},
      {ADAPTER QV ", \"use_dora\": true}", "`use_dora` is true, which"},
      {ADAPTER QV ", \"rank_pattern\": {\"a\": 3}}", "`rank_pattern` is an "},
      {ADAPTER QV ", \"lora_dropout\": 1.5}",
       "`lora_dropout` is 1.5, not from 0 to 1"},
      {ADAPTER QV ", \"lora_alpha\": \"a\"}",
       "`lora_alpha` is a, not from 0 to 1,000,000"},
      {"{\"r\": 0, " QV "}", ":1:7: error: `r` is 0, not from 1 to 2^30"},
      {"{\"bias\": \"all\", " QV "}", "`bias` is all, which"},
      {"{\"r\": 8}", "the file has no `target_modules`"},
      {"{\"target_modules\": \".*q_proj\"}",
       "`target_modules` is .*q_proj: `--lora` adapts q and v, "},
      {"{\"target_modules\": [\"q_proj\", \"up_proj\"]}",
       "`target_modules` is q_proj, up_proj: `--lora` adapts"},
      {"{\"target_modules\": []}", "`target_modules` is a list: `--lora`"},
      {"{\"target_modules\": [1, null]}", "`target_modules` is a list: "},
      {"{\"r\"}", "not JSON: a name and a colon were expected"},
  };
  const char *folder = scratch("huggingface-lora-odd");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_in(folder, "adapter_config.json", cases[i].json);
    expect(text_of(NETC " " FOLDER "qwen3_8b.json --lora %s", folder), 1, "",
           cases[i].told);
  }
}

/* Other values than the file beside it are a note. */
static void values_of_an_adapter_are_compared(void **state) {
  (void)state;
  static const char net[] = "input tokens 16 : i32\nembed 100 32\nattention 4 "
                            "causal%s\n";
  const char *folder = scratch("huggingface-lora-values");
  write_in(folder, "adapter_config.json", "{\"r\": 2, " QV "}");
  write_in(folder, "x.net", text_of(net, ""));
  write_in(folder, "own.net", text_of(net, " lora=2"));
  struct run r = run("cd %s && \"$OLDPWD/\"" NETC " weights own.net --random 1 "
                     "-o adapter_model.safetensors && \"$OLDPWD/\"" NETC
                     " x.net --lora . --brief",
                     folder);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.err, "");
  run_free(&r);
  write_in(folder, "adapter_config.json", "{\"r\": 4, " QV "}");
  expect(text_of(NETC " %s/x.net --lora %s --brief", folder, folder), 0,
         "512 trained",
         "the adapter has 256 values, but `--lora` adds 512 to this net");
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_are_those_published),
      cmocka_unit_test(macs_are_those_of_diffusers),
      cmocka_unit_test(options_of_diffusers_are_counted),
      cmocka_unit_test(parameters_of_blocks_are_those_published),
      cmocka_unit_test(parameters_of_blocks_are_those_of_formulas),
      cmocka_unit_test(counts_are_those_of_transformers),
      cmocka_unit_test(every_type_has_a_check),
      cmocka_unit_test(another_total_is_an_error),
      cmocka_unit_test(tensors_beside_a_config_are_the_check),
      cmocka_unit_test(configs_answer_at_once),
      cmocka_unit_test(wrong_values_are_told_with_their_place),
      cmocka_unit_test(a_pipeline_is_several_nets_in_one_process),
      cmocka_unit_test(a_pipeline_reads_its_folder_alone),
      cmocka_unit_test(linked_weights_are_not_read),
      cmocka_unit_test(adapters_name_their_model),
      cmocka_unit_test(lora_takes_an_adapter),
      cmocka_unit_test(odd_adapters_are_refused),
      cmocka_unit_test(values_of_an_adapter_are_compared),
      cmocka_unit_test(windows_are_those_of_the_config),
      cmocka_unit_test(long_lists_of_layers_take_linear_time),
      cmocka_unit_test(no_numbers_are_noted),
      cmocka_unit_test(quantised_weights_have_their_type),
      cmocka_unit_test(mlx_has_groups_of_all_matrices),
      cmocka_unit_test(a_neighbour_may_say_how_weights_are_stored),
      cmocka_unit_test(quantised_weights_have_the_bytes_of_their_index),
      cmocka_unit_test(a_layer_for_further_words_is_told),
      cmocka_unit_test(shapes_of_gguf_are_compared),
      cmocka_unit_test(gguf_is_a_net),
      cmocka_unit_test(gguf_of_blocks_is_its_config),
      cmocka_unit_test(wrong_sizes_name_the_keys_of_gguf),
      cmocka_unit_test(unknown_gguf_is_told),
      cmocka_unit_test(parts_of_gguf_are_one),
      cmocka_unit_test(states_have_the_type_of_the_config),
  };
  run_in_both_parts();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
