/*
 * What netc writes in C: every compiler takes it without a warning, every
 * number is that of the report, and the tables run.
 */
#include "runtime/netrt.h"
#include "tests/macros.h"

/* Libraries that the archive of the runtime needs. */
#ifndef NETRT_LIBS
#define NETRT_LIBS "-lm"
#endif

#define STRICT "-Wall -Wextra -Wconversion -pedantic -Werror -I runtime"

static const char *const nets[] = {
    "lenet5",       "alexnet",  "resnet",    "mobilenet_v3", "dcgan_g",
    "inception_v3", "m5",       "r3d_18",    "lstm_lm",      "seq2seq",
    "transformer",  "gpt2",     "swin",      "clip",         "shufflenet_v2",
    "unet",         "densenet", "yolov3",    "llama",        "whisper",
    "vit",          "convnext", "googlenet", "bert",         "mlp_mixer"};

enum { NETS = sizeof nets / sizeof *nets };

static char folder[256];

static int write_headers(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "%s", scratch("headers"));
  for (size_t i = 0; i < NETS; i++) {
    struct run r =
        run("%s examples/zoo/%s.net -o %s/%s.h --emit=json=%s/%s.json", NETC,
            nets[i], folder, nets[i], folder, nets[i]);
    if (r.status)
      print_error("%s: %s", nets[i], r.err);
    int status = r.status;
    run_free(&r);
    if (status)
      return status;
  }
  return 0;
}

static void expect_compiles(const char *command) {
  struct run r = run("%s", command);
  if (r.status)
    print_error("%s\n%s", command, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* All of them in one file, twice each. */
static void every_compiler_takes_the_headers(void **state) {
  (void)state;
  static const char *const compilers[] = {
      "gcc -std=c99 -x c",     "gcc -std=c11 -x c",
      "clang -std=c99 -x c",   "clang -std=c11 -x c",
      "g++ -std=c++11 -x c++", "clang++ -std=c++11 -x c++"};
  char text[8192] = "", command[4096];
  for (size_t i = 0; i < 2 * NETS; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "#include \"%s.h\"\n", nets[i % NETS]);
  strcat(text, "#include \"netrt.h\"\n#include \"lenet5.h\"\n"
               "#if LENET5_INPUT_0_HEIGHT != 32 || ALEXNET_BATCH != 1\n"
               "#error numbers\n#endif\n"
               "extern unsigned char arena[LENET5_ARENA_BYTES];\n"
               "extern int64_t step, steps, count;\n"
               "int64_t step = LENET5_TRAIN_BYTES(8);\n"
               "int64_t steps = LENET5_TRAIN_BYTES(1000000);\n"
               "int64_t count = (int64_t)sizeof lenet5_model;\n");
  write_in(folder, "all.c", text);
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(compilers[i], " "),
             compilers[i]);
    if (!on_path(name))
      continue;
    snprintf(command, sizeof command, "%s " STRICT " -fsyntax-only %s/all.c",
             compilers[i], folder);
    expect_compiles(command);
  }
}

/* netrt.h before it, after it or not at all; with and without training. */
static void the_order_of_includes_is_free(void **state) {
  (void)state;
  static const char *const orders[] = {
      "#include \"deploy.h\"\n#include \"netrt.h\"\n",
      "#include \"netrt.h\"\n#include \"deploy.h\"\n",
      "#include \"deploy.h\"\n",
  };
  static const char *const compilers[] = {"cc -std=c99 -x c",
                                          "c++ -std=c++11 -x c++"};
  expect(NETC " examples/zoo/lenet5.net --header=deploy -o "
              "build/tests/scratch/deploy.h && cp runtime/netrt.h "
              "build/tests/scratch/",
         0, "", "");
  char *header = read_text("build/tests/scratch/deploy.h", NULL);
  assert_non_null(header);
  assert_holds(header, "#define LENET5_WEIGHT_ALIGN 64\n");
  assert_holds(header, "#define LENET5_INPUT_0_BYTES 4096\n");
  assert_null(strstr(header, "TRAIN_"));
  assert_null(strstr(header, "LENET5_CONV1_"));
  free(header);
  for (size_t i = 0; i < 6; i++) {
    char text[1024], command[1024];
    snprintf(text, sizeof text,
             "%sconst struct netrt_model *model(void);\n"
             "const struct netrt_model *model(void) {\n"
             "  return &lenet5_model;\n}\n"
             "float first(void);\nfloat first(void) {\n"
             "  return lenet5_weights[0];\n}\n",
             orders[i / 2]);
    write_in("build/tests/scratch", "order.c", text);
    snprintf(command, sizeof command,
             "%s " STRICT " -fsyntax-only build/tests/scratch/order.c",
             compilers[i % 2]);
    expect_compiles(command);
  }
}

/* weights.c, and weights.S with weights.bin, are the same array. */
static void weights_are_an_array_however_they_are_written(void **state) {
  (void)state;
  expect("cd build/tests/scratch && rm -rf array && mkdir -p array/o && cd "
         "array && for o in w.c w.S all.bin; do ../../../netc weights "
         "../../../../examples/zoo/lenet5.net --random 1 --fold -o $o --prefix "
         "my-net || exit 1; done && cmp all.bin w.bin && printf '#include "
         "<stdio.h>\nextern const float my_net_weights[];\nint main(void) { "
         "return (size_t)my_net_weights %% 64 || fwrite(my_net_weights, 4, "
         "61706, stdout) != 61706; }' >main.c && ${CC:-cc} -std=c99 -pedantic "
         "-Wall -Wextra -Werror main.c w.c -o a && ./a | cmp - all.bin && cd o "
         "&& ${CC:-cc} -I.. ../main.c ../w.S -o a && ./a | cmp - ../all.bin && "
         "echo equal",
         0, "equal", "");
  expect("cd build/tests/scratch/array && c++ -std=c++11 -pedantic -Wall "
         "-Wextra -Werror -x c++ -c w.c -o w.o && nm w.o",
         0, "R my_net_weights", "");
  expect(
      NETC " weights examples/zoo/lenet5.net --random 1 --fold -o x.s", 2, "",
      "-o x.s: compilers run the preprocessor only for X.S, with a capital S");
  expect(NETC " weights examples/simple_cnn.net --random 1 --fold -o "
              "build/tests/scratch/array/large.c && rm "
              "build/tests/scratch/array/large.c",
         0, "",
         "has 83.39 MB of C text, for which a compiler needs about 1.25 GB of");
}

/* A budget and what the user has to spare are checked when it is compiled. */
static void limits_are_checked(void **state) {
  (void)state;
  static const char *const standards[] = {"-std=c99", "-std=c11"};
  char command[2048];
  write_in(folder, "limit.c", "#include \"lenet5.h\"\nextern int nothing;\n");
  for (size_t i = 0; i < 2; i++)
    for (int fits = 0; fits < 2; fits++) {
      snprintf(command, sizeof command,
               "${CC:-cc} %s " STRICT " -fsyntax-only "
               "-DLENET5_ARENA_LIMIT_BYTES=%d %s/limit.c",
               standards[i], fits ? 23552 : 23551, folder);
      struct run r = run("%s", command);
      assert_int_equal(r.status == 0, fits);
      if (!fits)
        assert_holds(r.err, "lenet5_arena_exceeds_the_limit");
      run_free(&r);
    }
}

/* Numbers */

/* A net with everything that tells about it. */
struct known {
  const char *path;
  struct netc *netc;
  json_t *json;
  const struct netrt_model *model; /* NULL: the runtime has not its type */
  bool small;                      /* of 8 bits */
  struct header header;
  int64_t weights; /* bytes of the layers until now */
};

/* True if an operation reads 32 bits at that place of the block. */
static bool is_wide(const struct netrt_model *m, int64_t offset) {
  for (uint32_t i = 0; i < m->operand_count; i++)
    if (m->operands[i].place == NETRT_IN_WEIGHTS &&
        (int64_t)m->operands[i].offset == offset)
      return m->operands[i].type == NETRT_I32;
  return false;
}

/* Its tensors in the block of weights, with the biases of folding. Layers
 * have them one behind the other, so that a part of the block is all of it. */
static void want_weights(struct wanted *w, struct known *k, int64_t layer) {
  struct netc_tensor t = {.size = sizeof t};
  int64_t count = 0, first = -1;
  for (size_t i = 0; netc_tensor(k->netc, i, &t) == NETC_OK; i++) {
    if (t.layer != layer || t.offset < 0)
      continue;
    if (k->small && is_wide(k->model, t.offset))
      continue; /* biases of 32 bits lie together, before all else */
    first = first < 0 ? t.offset : first;
    count += t.count;
  }
  if (first < 0)
    return;
  int64_t bytes = k->small ? count : 4 * count;
  assert_int_equal(first, k->weights);
  k->weights += bytes;
  want(w, first, "_WEIGHT_OFFSET", "");
  want(w, bytes, "_WEIGHT_BYTES", "");
}

/* The layer into which a norm is folded gives its result; that which a limit
 * is part of, too. */
static int64_t runs_as(const struct known *k, int64_t layer) {
  struct netc_tensor t = {.size = sizeof t};
  struct netc_q8 q8 = {.size = sizeof q8};
  for (size_t i = 0; k->small && netc_q8(k->netc, i, &q8) == NETC_OK; i++)
    if (*q8.clamp && q8.out == layer)
      return q8.layer;
  for (size_t i = 0; netc_tensor(k->netc, i, &t) == NETC_OK; i++)
    if (t.norm == layer)
      return t.layer;
  return layer;
}

/* A buffer of the layer's own in the report has its values. */
static void check_buffer(const struct known *k, const char *name,
                         int64_t offset) {
  json_t *buffer;
  size_t i;
  json_array_foreach(find(k->json, "inference.arena.buffers"), i, buffer) {
    int64_t begin = number(buffer, "offset");
    if (strcmp(json_string_value(find(buffer, "name")), name) == 0 &&
        (offset < begin || offset >= begin + number(buffer, "bytes")))
      fail_msg("%s: %s is at %lld", k->path, name, (long long)offset);
  }
}

/* Where the tables have what the layer's last operation makes; whether it has
 * one. */
static bool want_place(struct wanted *w, const struct known *k, int64_t layer) {
  const struct netrt_model *m = k->model;
  char path[64];
  snprintf(path, sizeof path, "layers.%lld.name", (long long)runs_as(k, layer));
  const char *name = json_string_value(find(k->json, path));
  for (uint32_t i = m->op_count; i-- > 0;) {
    const struct netrt_op *op = &m->ops[i];
    if (strcmp(m->layers[op->layer], name) != 0)
      continue;
    int64_t offset = (int64_t)m->operands[op->operands].offset;
    if (m->operands[op->operands].place == NETRT_IN_ARENA) {
      want(w, offset, "_ARENA_OFFSET", "");
      check_buffer(k, name, offset);
    }
    return true;
  }
  return false;
}

/* A sum may be part of what comes before it, but for what runs nothing. */
static void want_place_of_sum(struct wanted *w, const struct known *k,
                              json_t *layer, int64_t index) {
  bool found = want_place(w, k, index);
  if (strcmp(json_string_value(find(layer, "op")), "add") == 0)
    while (!found && index-- > 0)
      found = want_place(w, k, index);
}

static void check_layer(struct known *k, json_t *layer, int64_t index) {
  struct wanted w = {.count = 0};
  char stem[160];
  find_stem(&k->header, json_string_value(find(layer, "name")), stem);
  int64_t values = want_shape(&w, layer);
  want(&w, values, "_COUNT", "");
  want_windows(&w, layer);
  if (number(layer, "param_count"))
    want(&w, number(layer, "param_count"), "_PARAM_COUNT", "");
  if (number(layer, "mac_count"))
    want(&w, number(layer, "mac_count"), "_MAC_COUNT", "");
  want_weights(&w, k, index);
  want_place_of_sum(&w, k, layer, index);
  check_group(&k->header, stem, &w);
}

/* How many values it has, and whether they lie one behind the other. */
static int64_t values_of(const struct netrt_model *m,
                         const struct netrt_operand *operand, bool *dense) {
  const int32_t *size = &m->numbers[operand->shape];
  int64_t values = 1;
  *dense = true;
  for (int i = operand->rank; i-- > 0; values *= size[i])
    if (size[i] > 1 && size[operand->rank + i] != values)
      *dense = false;
  return values;
}

static int64_t type_bytes(uint8_t type) {
  return type == NETRT_I64 ? 8 : type == NETRT_I8 ? 1 : 4;
}

static void check_end(struct known *k, json_t *end, const char *kind,
                      size_t index, const struct netrt_port *port) {
  struct wanted w = {.count = 0};
  char stem[32], path[64];
  const char *type = json_string_value(find(end, "dtype"));
  bool dense, in_arena = port->operand.place == NETRT_IN_ARENA;
  snprintf(stem, sizeof stem, "%s_%zu", kind, index);
  snprintf(path, sizeof path, "layers.%lld", (long long)number(end, "layer"));
  int64_t bytes = type_bytes(port->operand.type);
  size_t align = (size_t)number(k->json, "inference.arena.align_bytes");
  int64_t count =
      want_shape(&w, find(k->json, path)) * inference(k->json, "batch");
  assert_true(!type || (bytes == 8) == (strcmp(type, "i64") == 0));
  assert_true(bytes == 8 || bytes == (k->small ? 1 : 4));
  assert_int_equal(values_of(k->model, &port->operand, &dense), count);
  want(&w, count, "_COUNT", "");
  want(&w, count * bytes, "_BYTES", "");
  want(&w, (int64_t)port->operand.offset,
       in_arena ? "_OFFSET" : "_WEIGHT_OFFSET", "");
  while (port->operand.offset % align) /* a part of a buffer */
    align /= 2;
  want(&w, (int64_t)align, "_ALIGN", "");
  if (*kind == 'I')
    check_buffer(k, json_string_value(find(end, "name")),
                 (int64_t)port->operand.offset);
  if (*kind == 'O')
    want(&w, dense, "_DENSE", "");
  check_group(&k->header, stem, &w);
}

/* Inputs and outputs that a prediction has come first. */
static int64_t predicted(const json_t *ends) {
  size_t i;
  json_t *end;
  json_array_foreach(
      ends, i,
      end) if (json_object_get(end, "only_training")) return (int64_t)i;
  return (int64_t)json_array_size(ends);
}

/* Layers that only training runs. */
static int64_t trained(const struct known *k, const char *name) {
  size_t i;
  json_t *layer;
  int64_t sum = 0;
  json_array_foreach(find(k->json, "layers"), i, layer) sum +=
      json_object_get(layer, "only_training") ? number(layer, name) : 0;
  return sum;
}

static void check_totals(struct known *k) {
  static const struct {
    const char *macro, *path;
  } all[] = {{"BATCH", "inference.batch"},
             {"MAC_COUNT", "totals.mac_count"},
             {"ARENA_BYTES", "inference.arena.bytes"},
             {"ARENA_ALIGN", "inference.arena.align_bytes"},
             {"ARENA_LOWER_BOUND_BYTES", "inference.arena.lower_bound_bytes"},
             {"PEAK_LIVE_BYTES", "inference.peak_live_bytes"},
             {"WEIGHT_BYTES", "inference.weight_bytes"},
             {"TRAIN_BATCH", "training.batch"}};
  struct wanted w = {.count = 0};
  char path[64] = "training.peak_bytes";
  want(&w, NETRT_ALIGN, "WEIGHT_ALIGN", "");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    want(&w, number(k->json, all[i].path), all[i].macro, "");
  want(&w, number(k->json, "totals.param_count") - trained(k, "param_count"),
       "PARAM_COUNT", "");
  want(&w,
       number(k->json, "totals.trainable_count") -
           trained(k, "trainable_count"),
       "TRAINABLE_COUNT", "");
  want(&w, number(k->json, "totals.buffer_count") - trained(k, "buffer_count"),
       "BUFFER_COUNT", "");
  want(&w, predicted(find(k->json, "inputs")), "INPUT_COUNT", "");
  want(&w, predicted(find(k->json, "outputs")), "OUTPUT_COUNT", "");
  want(&w,
       json_integer_value(find(k->json, "inference.cache_bytes")), /* or 0 */
       "CACHE_BYTES", "");
  if (find(k->json, "training.parallel"))
    snprintf(path, sizeof path, "training.parallel.stages.%lld.peak_bytes",
             (long long)number(k->json, "training.parallel.most_loaded_stage"));
  want(&w, number(k->json, path), "TRAIN_PEAK_BYTES", "");
  check_group(&k->header, "", &w);
}

static void check_budgets(struct known *k) {
  static const char *const all[][2] = {
      {"params", "PARAM_BUDGET_COUNT"}, {"macs", "MAC_BUDGET_COUNT"},
      {"infer", "INFER_BUDGET_BYTES"},  {"train", "TRAIN_BUDGET_BYTES"},
      {"arena", "ARENA_BUDGET_BYTES"},  {"weights", "WEIGHT_BUDGET_BYTES"}};
  struct wanted w = {.count = 0};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    int64_t budget = number(find(k->json, "settings.budget"), all[i][0]);
    if (budget)
      want(&w, budget, all[i][1], "");
    if (budget && i == 2)
      want(&w,
           inference(k->json, "weight_bytes") +
               number(k->json, "inference.arena.bytes") +
               json_integer_value(find(k->json, "inference.cache_bytes")),
           "INFER_BYTES", "");
  }
  check_group(&k->header, "", &w);
}

static int by_name(const void *a, const void *b) {
  const struct macro *left = a, *right = b;
  return strcmp(left->name, right->name);
}

/* All of the header has been looked at, and each name is there once. */
static void check_end_of(struct header *h) {
  assert_int_equal(h->next, h->count);
  qsort(h->at, h->count, sizeof *h->at, by_name);
  for (size_t i = 1; i < h->count; i++)
    assert_string_not_equal(h->at[i - 1].name, h->at[i].name);
}

/* How many values it has in memory; of one that is seen again, one. */
static int64_t stored_values(const struct netrt_model *m,
                             const struct netrt_operand *operand) {
  const int32_t *size = &m->numbers[operand->shape];
  int64_t last = 0;
  for (int i = 0; i < operand->rank; i++)
    last += (int64_t)(size[i] - 1) * size[operand->rank + i];
  return last + 1;
}

/* All that operations of 8 bits read of the block, each part once, and scale
 * and zero of inputs and outputs. */
static int64_t block_bytes(const struct known *k) {
  const struct netrt_model *m = k->model;
  int64_t bytes = 8 * (int64_t)(m->input_count + m->output_count);
  for (uint32_t i = 0; i < m->operand_count; i++) {
    const struct netrt_operand *at = &m->operands[i];
    bool seen = at->place != NETRT_IN_WEIGHTS;
    for (uint32_t j = 0; j < i && !seen; j++)
      seen = m->operands[j].place == NETRT_IN_WEIGHTS &&
             m->operands[j].offset == at->offset;
    if (!seen)
      bytes += stored_values(m, at) * type_bytes(at->type);
  }
  return bytes;
}

static void check_known(struct known *k) {
  json_t *layer, *end;
  size_t i;
  struct netc_q8_block block = {.size = sizeof block};
  if (k->small) {
    assert_int_equal(netc_q8_block(k->netc, &block), NETC_OK);
    k->weights = block.narrow;
  }
  check_totals(k);
  json_array_foreach(find(k->json, "inputs"), i,
                     end) if (!json_object_get(end, "only_training"))
      check_end(k, end, "INPUT", i, &k->model->inputs[i]);
  json_array_foreach(find(k->json, "outputs"), i,
                     end) if (!json_object_get(end, "only_training"))
      check_end(k, end, "OUTPUT", i, &k->model->outputs[i]);
  json_array_foreach(find(k->json, "layers"), i, layer) {
    if (strcmp(json_string_value(find(layer, "op")), "input") != 0 &&
        !json_object_get(layer, "only_training"))
      check_layer(k, layer, (int64_t)i);
  }
  assert_int_equal(k->small ? block_bytes(k) : k->weights,
                   inference(k->json, "weight_bytes"));
  check_budgets(k);
  check_end_of(&k->header);
}

static char *emitted(struct netc *netc, const char *kind) {
  struct buffer out = {0};
  assert_int_equal(netc_emit(netc, kind, NULL, collect, &out), NETC_OK);
  return out.at;
}

/* The header in one of the types that the runtime has; NULL: the net's own.
 * Whether it runs in that. */
static bool check_net(const char *path, const char *options,
                      const char *dtype) {
  struct known k = {.path = path, .netc = netc_open(NULL, NULL)};
  choose(k.netc, options);
  if (dtype)
    assert_int_equal(netc_set(k.netc, "dtype", dtype), NETC_OK);
  assert_int_equal(show_errors(k.netc, netc_load_file(k.netc, path)), NETC_OK);
  char *header = emitted(k.netc, "header"), *json = emitted(k.netc, "json");
  read_header(&k.header, header);
  k.json = json_loads(json, 0, NULL);
  assert_non_null(k.json);
  enum netc_status runs = netc_runtime(k.netc, &k.model);
  struct netc_q8_block block = {.size = sizeof block};
  k.small = runs == NETC_OK && netc_q8_block(k.netc, &block) == NETC_OK;
  if (runs == NETC_OK)
    check_known(&k);
  else /* a layer that the runtime refuses by its name */
    assert_non_null(
        strstr(netc_message(k.netc), "the runtime has no kernel for `"));
  json_decref(k.json);
  free(k.header.at);
  free(header);
  free(json);
  netc_close(k.netc);
  return runs == NETC_OK;
}

/* A budget of int8 does not hold in float32. */
static const char *type_of(const char *path) {
  char *source = read_text(path, NULL);
  bool small = strstr(source, "dtype=i8") != NULL;
  free(source);
  return small ? NULL : "f32";
}

static void numbers_are_those_of_the_report(void **state) {
  (void)state;
  static const char *const folders[] = {"examples", "tests/golden/layers"};
  for (size_t f = 0; f < 2; f++) {
    struct paths paths = find_paths(folders[f], ".net");
    for (size_t i = 0; i < paths.count; i++) {
      check_net(paths.at[i], "", type_of(paths.at[i]));
      if (f == 1)
        check_net(paths.at[i], "batch=3 fold=off", type_of(paths.at[i]));
    }
    paths_free(&paths);
  }
}

static void numbers_of_8_bits_are_those_of_the_report(void **state) {
  (void)state;
  static const char *const of_reals[] = {
      "examples/firmware/kws.net",     "examples/zoo/lenet5.net",
      "examples/zoo/mobilenet_v3.net", "examples/zoo/shufflenet_v2.net",
      "examples/zoo/googlenet.net",    "examples/zoo/wavenet.net",
      "examples/zoo/r3d_18.net",       "examples/zoo/unet.net",
      "examples/zoo/srresnet.net"};
  assert_true(check_net("examples/templates/mcu.net", "", NULL));
  assert_true(check_net("examples/search/mcunet.net", "", NULL));
  assert_true(
      check_net("tests/golden/language/an-input-of-int8.net", "", NULL));
  for (size_t i = 0; i < sizeof of_reals / sizeof *of_reals; i++) {
    assert_true(check_net(of_reals[i], "", "i8"));
    assert_true(check_net(of_reals[i], "batch=2 overlap=off", "i8"));
  }
}

/* At the batches that were counted, the lines are not below a step. */
static void no_counted_batch_trains_in_more_than_the_macro_says(void **state) {
  (void)state;
  static const char *const some[] = {"lenet5", "resnet", "lstm_lm", "bert"};
  for (size_t i = 0; i < 4; i++) {
    char path[1300], options[64], *at;
    snprintf(path, sizeof path, "%s/%s.h", folder, some[i]);
    char *header = read_text(path, NULL);
    assert_non_null(header);
    at = strstr(header, "((batch) <= ");
    assert_non_null(at);
    long long low[2], high[2], until = strtoll(at + 12, &at, 10);
    at = strchr(at, '?');
    low[0] = strtoll(at + 2, &at, 10);
    low[1] = strtoll(at + strlen(" + INT64_C("), &at, 10);
    at = strchr(at, ':');
    high[0] = strtoll(at + 2, &at, 10);
    high[1] = strtoll(at + strlen(" + INT64_C("), &at, 10);
    for (int batch = 1; batch <= 64; batch *= 4) {
      const long long *line = batch <= until ? low : high;
      snprintf(path, sizeof path, "examples/zoo/%s.net", some[i]);
      snprintf(options, sizeof options, "batch=%d", batch);
      int64_t peak = ask_file(path, options, "peak_bytes");
      int64_t said = line[0] + line[1] * batch;
      if (said < peak || said > peak + peak / 10)
        print_error("%s at %d: %lld, not %lld\n", some[i], batch,
                    (long long)said, (long long)peak);
      assert_true(said >= peak && said <= peak + peak / 10);
    }
    free(header);
  }
}

/* Tables */

static const char runner[] =
    "#include <stdio.h>\n#include <stdlib.h>\n"
    "#define LENET5_ARENA_LIMIT_BYTES 23552\n"
    "#include \"netrt.h\"\n#include \"lenet5.h\"\n#include \"m5.h\"\n"
    "static NETRT_ALIGNED unsigned char arena[M5_ARENA_BYTES];\n"
    "static NETRT_ALIGNED float weights[LENET5_WEIGHT_BYTES / 4];\n"
    "static float once(struct netrt *net, const struct netrt_model *m,\n"
    "                  size_t n) {\n"
    "  size_t i;\n  const float *out;\n  enum netrt_status s;\n"
    "  for (i = 0; i < n; i++)\n"
    "    ((float *)netrt_input(net, 0))[i] = (float)(i % 7) - 3;\n"
    "  s = netrt_run(net);\n"
    "  if (s != NETRT_OK) { puts(netrt_status_text(s)); exit(1); }\n"
    "  out = (const float *)netrt_output(net, 0);\n"
    "  printf(\"%s %.4f\\n\", m->name, (double)out[0]);\n"
    "  return out[0];\n}\n"
    "static void go(const struct netrt_model *m, size_t bytes, size_t n) {\n"
    "  struct netrt net;\n  float first;\n"
    "  enum netrt_status s = netrt_open(&net, m, weights, bytes, arena,\n"
    "                                   sizeof arena);\n"
    "  if (s != NETRT_OK) { puts(netrt_status_text(s)); exit(1); }\n"
    "  first = once(&net, m, n);\n"
    "  if (!(once(&net, m, n) <= first && first <= once(&net, m, n)))\n"
    "    exit(1);\n"
    "  netrt_close(&net);\n  netrt_close(&net);\n}\n"
    "int main(void) {\n  size_t i;\n"
    "  for (i = 0; i < LENET5_WEIGHT_BYTES / 4; i++) weights[i] = 0.01f;\n"
    "  go(&lenet5_model, LENET5_WEIGHT_BYTES, LENET5_INPUT_0_COUNT);\n"
    "  go(&m5_model, M5_WEIGHT_BYTES, M5_INPUT_0_COUNT);\n"
    "  return 0;\n}\n";

/* Memory that the runtime keeps from run to run is freed. */
static void expect_no_leaks(void) {
  char command[600];
  if (SANITIZED || !on_path("valgrind"))
    return;
  snprintf(command, sizeof command,
           "OMP_NUM_THREADS=1 valgrind -q --error-exitcode=99 "
           "--leak-check=full %s/run-c",
           folder);
  expect_compiles(command);
}

/* Two models in one program, in C and in C++; each runs thrice. */
static void tables_run(void **state) {
  (void)state;
  char command[4096];
  snprintf(command, sizeof command,
           "%s examples/zoo/lenet5.net -o %s/lenet5.c && "
           "%s examples/zoo/m5.net -o %s/m5.c",
           NETC, folder, NETC, folder);
  expect_compiles(command);
  write_in(folder, "runner.c", runner);
  snprintf(command, sizeof command,
           "for f in lenet5 m5; do ${CC:-cc} -std=c99 " STRICT
           " -c %s/$f.c -o %s/$f.o || exit 1; done; ${CC:-cc} -std=c99 " STRICT
           " %s/runner.c %s/lenet5.o %s/m5.o %s/libnetrt.a " NETRT_LIBS
           " -o %s/run-c && "
           "%s/run-c",
           folder, folder, folder, folder, folder, BUILD, folder, folder);
  struct run r = run("%s", command);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "lenet5 ");
  assert_holds(r.out, "m5 -3.5553"); /* log of 1/35: all weights are equal */
  run_free(&r);
  expect_no_leaks();
  if (!on_path("g++"))
    return;
  snprintf(command, sizeof command,
           "g++ -std=c++11 " STRICT " -x c++ %s/runner.c -x none %s/lenet5.o "
           "%s/m5.o %s/libnetrt.a " NETRT_LIBS " -o %s/run-c++ && %s/run-c++",
           folder, folder, folder, BUILD, folder, folder);
  expect_compiles(command);
}

/* A part that begins inside a buffer is not aligned as buffers are. */
static void an_output_that_is_a_part_says_its_alignment(void **state) {
  (void)state;
  static const char net[] =
      "net part\ninput 8x8x6\nconv 6 3x3 pad\nslice c 3:5\n";
  write_in(folder, "part.net", net);
  char command[1300];
  snprintf(command, sizeof command, "%s %s/part.net --emit=h", NETC, folder);
  expect(command, 0,
         "#define PART_OUTPUT_0_OFFSET 1548\n"
         "#define PART_OUTPUT_0_ALIGN 4\n#define PART_OUTPUT_0_DENSE 0",
         NULL);
  snprintf(command, sizeof command, "%s/part.net", folder);
  assert_true(check_net(command, "", "f32"));
}

static void what_cannot_run_says_why(void **state) {
  (void)state;
  expect(NETC " examples/zoo/llama.net --emit=source", 1, "",
         "the runtime computes in float32");
  expect(NETC " examples/zoo/lenet5.net --emit=source --dtype f16", 1, "",
         "--dtype f32");
}

static void names_begin_as_one_wants(void **state) {
  (void)state;
  expect(NETC " examples/zoo/lenet5.net --emit=h --prefix=my-net", 0,
         "#define MY_NET_ARENA_BYTES 23552", NULL);
  expect(NETC " examples/zoo/lenet5.net --emit=h --prefix=3d", 0,
         "#define NET_3D_ARENA_BYTES 23552", NULL);
  expect(NETC " examples/zoo/lenet5.net --emit=c --prefix=My_Net", 0,
         "const struct netrt_model my_net_model", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_compiler_takes_the_headers),
      cmocka_unit_test(the_order_of_includes_is_free),
      cmocka_unit_test(weights_are_an_array_however_they_are_written),
      cmocka_unit_test(limits_are_checked),
      cmocka_unit_test(numbers_are_those_of_the_report),
      cmocka_unit_test(numbers_of_8_bits_are_those_of_the_report),
      cmocka_unit_test(no_counted_batch_trains_in_more_than_the_macro_says),
      cmocka_unit_test(tables_run),
      cmocka_unit_test(an_output_that_is_a_part_says_its_alignment),
      cmocka_unit_test(what_cannot_run_says_why),
      cmocka_unit_test(names_begin_as_one_wants),
  };
  return cmocka_run_group_tests(tests, write_headers, NULL);
}
