/*
 * Quantised checkpoints: the types that a config gives to the parts of its net,
 * and the bytes of these, which tools/quantised_truth.py counts by modules
 * (tests/data/huggingface/quantised.txt).
 */
#define _XOPEN_SOURCE 700
#include "tests/imported.h"
#include "tests/nets.h"

#define FOLDER "tests/data/huggingface/"
#define BESIDE "hf_quant_config.json"

struct quantised_case {
  char title[200], net[64], is[100], error[200];
  long long bytes;
  json_t *added;
};

static bool read_case(FILE *file, struct quantised_case *c) {
  static char line[65536];
  *c = (struct quantised_case){.bytes = -1};
  while (!c->added && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    if (*line == '{')
      c->added = json_loads(line, 0, NULL);
    else if (*line != '#')
      assert_int_equal(sscanf(line, "== %199[^\n]", c->title) +
                           sscanf(line, "net %63s", c->net) +
                           sscanf(line, "is %99[^\n]", c->is) +
                           sscanf(line, "error %199[^\n]", c->error) +
                           sscanf(line, "bytes %lld", &c->bytes),
                       1);
  }
  return c->added != NULL;
}

/* The net's config with what is added; a file beside it. */
static void write_config(const char *folder, struct quantised_case *c) {
  char path[600];
  snprintf(path, sizeof path, FOLDER "%s", c->net);
  json_t *config = json_load_file(path, 0, NULL);
  json_t *beside = json_object_get(c->added, BESIDE);
  assert_non_null(config);
  snprintf(path, sizeof path, "%s/" BESIDE, folder);
  remove(path);
  if (beside)
    assert_int_equal(json_dump_file(beside, path, 0), 0);
  json_object_del(c->added, BESIDE);
  assert_int_equal(json_object_update(config, c->added), 0);
  snprintf(path, sizeof path, "%s/config.json", folder);
  assert_int_equal(json_dump_file(config, path, 0), 0);
  json_decref(config);
  json_decref(c->added);
}

static void check_case(const char *folder, struct quantised_case *c) {
  char line[200];
  snprintf(line, sizeof line,
           strchr(c->is, ' ') ? " weight_dtype=\"%s\"\n" : " weight_dtype=%s\n",
           c->is);
  struct run r = run(NETC " import %s/config.json", folder);
  assert_int_equal(r.status, *c->error != '\0');
  assert_holds(*c->error ? r.err : r.out, *c->error ? c->error : line);
  if (c->bytes >= 0)
    assert_int_equal(take(compile(r.out, ""), inference, "weight_bytes"),
                     c->bytes);
  run_free(&r);
}

static void parts_have_the_types_of_their_modules(void **state) {
  (void)state;
  FILE *file = fopen(FOLDER "quantised.txt", "r");
  const char *folder = scratch("quantised");
  struct quantised_case c;
  int count = 0;
  assert_non_null(file);
  while (read_case(file, &c)) {
    print_message("%s\n", c.title);
    write_config(folder, &c);
    check_case(folder, &c);
    count++;
  }
  fclose(file);
  assert_true(count >= 40);
}

/* Where modelopt lists no modules that stay, names of scales say it. */
static void scales_of_files_name_their_modules(void **state) {
  (void)state;
  static const char index[] =
      "{\"weight_map\": {\"model.layers.0.mlp.gate_proj.weight_scale\": \"a\", "
      "\"model.layers.0.mlp.up_proj.weight_scale\": \"a\", "
      "\"model.layers.0.mlp.down_proj.weight_scale\": \"a\", "
      "\"model.layers.1.self_attn.o_proj.weight_scale\": \"a\"}}";
  const char *folder = scratch("quantised-index");
  char command[700];
  write_in(folder, "config.json",
           "{\"model_type\": \"llama\", \"num_hidden_layers\": 2}");
  write_in(folder, "model.safetensors.index.json", index);
  snprintf(command, sizeof command, NETC " import %s/config.json", folder);
  expect(command, 1, "",
         "model.safetensors.index.json has scales of "
         "`model.layers.0.mlp.gate_proj`, but the config does not say how");
  write_in(folder, BESIDE, "{\"quantization\": {\"quant_algo\": \"FP8\"}}");
  expect(command, 0, "weight_dtype=\"fp8 mlp@1 q k v qkv o@0\"\n", NULL);
}

/* Without both, a type of the command line is the way out. */
static void a_given_type_needs_no_list(void **state) {
  (void)state;
  const char *folder = scratch("quantised-given");
  char command[700];
  write_in(folder, "config.json",
           "{\"model_type\": \"llama\", \"num_hidden_layers\": 2}");
  write_in(folder, BESIDE, "{\"quantization\": {\"quant_algo\": \"FP8\"}}");
  snprintf(command, sizeof command, NETC " %s/config.json --predict", folder);
  expect(command, 1, "",
         "its hf_quant_config.json says FP8, but does not list the layers that "
         "stay as they are (`exclude_modules`)\n   = help: put the model's "
         "model.safetensors.index.json beside the config: its scales name the "
         "quantised layers; or `netc config.json --weight-dtype fp8` counts");
  strcat(command, " --weight-dtype fp8");
  expect(command, 0, "tokens, fp8", "is not read: `--weight-dtype` has");
}

static int64_t bytes_in(const char *path, const char *weights) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_set(netc, "weight_dtype", weights), NETC_OK);
  return take(report(netc, netc_load_file(netc, path)), inference,
              "weight_bytes");
}

/* A list gives parts of a net other types; a wrong part is an error. */
static void lists_are_types_of_parts(void **state) {
  (void)state;
  static const char net[] = "examples/zoo/llama.net";
  static const struct {
    const char *weights, *same; /* that has the same bytes; NULL: an error */
    const char *error;
  } cases[] = {
      {"nvfp4 head:nvfp4 head", "nvfp4", ""},
      {"fp8 mlp@0-31:nvfp4 attention:nvfp4", "nvfp4", ""},
      {"mlx_4 table head", "nvfp4 attention:mlx_4 mlp:mlx_4", ""},
      {"gptq_4_g128", "gptq", ""},
      {"ct_4_g128", "ct", ""},
      {"awq_g64", "awq_4_g64", ""},
      {"mlx_4_row", NULL, "unknown weight_dtype `mlx_4_row`"},
      {"gptq_9_g64", NULL, "unknown weight_dtype `gptq_9_g64`"},
      {"nvfp4 heads", NULL, "`heads` is no part of a net"},
      {"nvfp4 head:q8_0", NULL, "`q8_0` is no type for a part"},
      {"q4_k_m head", NULL, "`q4_k_m` is no type for a part"},
      {"fp8 mlp@4-2", NULL, "`2` is no last block of these"},
      {"NVFP4 head:FP8", "nvfp4 head:fp8", ""},
      {"fp8 head:", NULL, "`head:` is without a type after the colon"},
      {"fp8 mlp@", NULL, "`mlp@` is no number of a block"},
      {"fp8 mlp@3-", NULL, "`mlp@3-` is no last block of these"},
      {"fp8 mlp@32", NULL,
       "--weight-dtype: `mlp@32` is no part of this net, which has table head "
       "q k v o up down, in blocks from 0 to 31"},
      {"fp8 mlp@30-32", NULL, "`mlp@30-32` is no part of this net"},
      {"fp8 experts:nvfp4", NULL, "`experts:nvfp4` is no part of this net"},
      {"fp8,foo", NULL, "unknown weight_dtype `foo`"},
      {"fp8 mlp@x", NULL, "`x` is no number of a block"},
      {"fp8 mlp@99999999999999999999", NULL, "is no number of a block"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (!cases[i].same) {
      struct run r =
          run(NETC " %s --predict --weight-dtype '%s'", net, cases[i].weights);
      assert_int_equal(r.status, 2);
      assert_holds(r.err, cases[i].error);
      run_free(&r);
      continue;
    }
    assert_int_equal(bytes_in(net, cases[i].weights),
                     bytes_in(net, cases[i].same));
  }
}

/* Commas between parts are blanks, commas between types make a table; who adds
 * adapters meant the type of frozen weights. */
static void lists_are_taken_as_meant(void **state) {
  (void)state;
  expect(NETC " examples/zoo/llama.net --predict --weight-dtype "
              "nvfp4,head,attention:fp8",
         0, "nvfp4 but for head attention:fp8", NULL);
  expect(NETC " examples/zoo/llama.net --predict --weight-dtype nvfp4,fp8", 0,
         "weight-dtype", NULL);
  expect(NETC " examples/zoo/llama.net --lora 16 --weight-dtype nf4", 0,
         "inference",
         "note: --weight-dtype asks about inference; `--base nf4` instead");
  expect(NETC " tests/data/huggingface/qwen3_8b.json -D pattern=attend", 2, "",
         "-D sets a `param` of a source, and "
         "tests/data/huggingface/qwen3_8b.json has none: change its keys");
}

/* A list of blocks on the command line. */
static void patterns_are_lists(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"", "-D pattern: a value is missing"},
      {"attend", "`pattern` is a list of layers or defs"},
      {"[wide 3]", "a name or a list of names: `[attend dense]`"},
      {"[nosuch]", "`block` is `nosuch` here, which is neither a layer nor a "
                   "def"}};
  char command[200];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(command, sizeof command,
             NETC " examples/huggingface/decoder.net -D 'pattern=%s'",
             cases[i][0]);
    struct run r = run("%s", command);
    assert_int_not_equal(r.status, 0);
    assert_holds(r.err, cases[i][1]);
    run_free(&r);
  }
  expect(NETC " examples/huggingface/decoder.net -D 'pattern=[attend dense]'",
         0, "attend", NULL);
}

/* Delta nets are blocks as attention is: their matrices of 8 bits, less a scale
 * of 32 bits each, are what 16 bits need more. */
static void layers_with_a_state_are_blocks(void **state) {
  (void)state;
  static const char net[] =
      "net a\ninput 8 : i32\nembed 100 32\n"
      "deltanet 4 kheads=2 dim=6 vdim=5 conv=3\nattention 4 causal nobias\n"
      "linear 100 nobias\ninfer dtype=bf16 weight_dtype=";
  static const struct {
    const char *weights;
    int64_t more;
  } cases[] = {{"fp8", 0},
               {"\"fp8 qkv@0\"", 32 * (44 + 20) - 4 * 2},
               {"\"fp8 decay@0\"", 32 * (4 + 4) - 4 * 2},
               {"\"fp8 o@0\"", 32 * 20 - 4},
               {"\"fp8 q@1\"", 32 * 32 - 4},
               {"\"fp8 o@1\"", 32 * 32 - 4}};
  int64_t least = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[400];
    snprintf(text, sizeof text, "%s%s\n", net, cases[i].weights);
    int64_t bytes = take(compile(text, ""), inference, "weight_bytes");
    least = i ? least : bytes;
    assert_int_equal(bytes - least, cases[i].more);
  }
}

/* A block is a layer of attention or a recurrent one, and what follows it.
 * Those of a tower do not count, and side by side they are one. */
static void parts_are_counted_after_the_tower(void **state) {
  (void)state;
  static const char net[] =
      "net small\n"
      "input image 32x32x3\n"
      "input tokens 64 : i32\n"
      "from image\n"
      "conv 64 8x8 /8 nobias\n"
      "reshape _ x 64\n"
      "add { attention 4 nobias } {}\n"
      "picture: linear 64 nobias\n"
      "from tokens\n"
      "embed 1000 64\n"
      "concat picture {} axis=l\n"
      "add { deltanet 4 kheads=2 dim=16 vdim=16 conv=4 } {}\n"
      "add { linear 128 nobias; linear 64 nobias } {}\n"
      "add { add { attention 4 causal nobias } {\n"
      "  ssm state=16 conv=4 heads=8 dim=8 groups=1 } } {}\n"
      "add { linear 256 nobias; linear 64 nobias } {}\n"
      "infer dtype=bf16\n"
      "infer weight_dtype=\"fp8 %s\"\n";
  static const struct {
    const char *parts;
    int64_t matrices, values; /* that are in 16 bits, and not in 8 */
  } cases[] = {
      {"vision", 5, 4 * 64 * 64 + 64 * 64},
      {"mlp@0", 2, 2 * 64 * 128},
      {"mlp@1", 2, 2 * 64 * 256},
      {"o@0", 1, 64 * 64},
      {"o@1", 2, 2 * 64 * 64}, /* also the recurrent layer's */
      {"decay", 2, 2 * 4 * 64},
  };
  char text[1200];
  snprintf(text, sizeof text, net, "table");
  int64_t all = take(compile(text, ""), inference, "weight_bytes");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(text, sizeof text, net, cases[i].parts);
    int64_t bytes = take(compile(text, ""), inference, "weight_bytes");
    print_message("%s\n", cases[i].parts);
    assert_int_equal(bytes - all, cases[i].values - 4 * cases[i].matrices);
  }
  const char *folder = scratch("quantised-blocks");
  snprintf(text, sizeof text, net, "mlp@2");
  write_in(folder, "small.net", text);
  snprintf(text, sizeof text, NETC " %s/small.net --predict", folder);
  expect(text, 2, "",
         "`mlp@2` is no part of this net, which has table q k v qkv o up down "
         "decay vision, in blocks from 0 to 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_have_the_types_of_their_modules),
      cmocka_unit_test(scales_of_files_name_their_modules),
      cmocka_unit_test(a_given_type_needs_no_list),
      cmocka_unit_test(lists_are_types_of_parts),
      cmocka_unit_test(lists_are_taken_as_meant),
      cmocka_unit_test(patterns_are_lists),
      cmocka_unit_test(layers_with_a_state_are_blocks),
      cmocka_unit_test(parts_are_counted_after_the_tower),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
