/*
 * The nets of examples/zoo/ against PyTorch and what others publish:
 * tests/data/zoo.csv holds the sums, tests/data/zoo/NAME.csv what each leaf
 * module of a model gives (tools/zoo_truth.py). Numbers are equal; those that
 * are published with few digits are equal when rounded to them.
 */
#define _XOPEN_SOURCE 700
#include "tests/nets.h"
#include "tests/torch2.h"

struct row {
  char name[512], net[64], settings[320], facts[256];
  bool torch2; /* measured in PyTorch 2.6 */
};

/* `batch`, `loss`: of a step as PyTorch 1.13 takes it; NULL: the net's own. */
static struct netc *load(const struct row *row, const char *batch,
                         const char *loss) {
  char path[128], settings[320], *rest = settings;
  struct netc *netc = netc_open(NULL, NULL);
  if (batch) {
    const char *profile = row->torch2 ? "torch2-cpu" : "torch1-cpu";
    assert_int_equal(netc_set(netc, "profile", profile), NETC_OK);
    /* tools/zoo_models.py has every step of attention. */
    assert_int_equal(netc_set(netc, "attention", "naive"), NETC_OK);
    assert_int_equal(netc_set(netc, "batch", batch), NETC_OK);
    assert_int_equal(netc_set(netc, "loss", loss), NETC_OK);
  }
  snprintf(settings, sizeof settings, "%s", row->settings);
  for (char *word; (word = strtok_r(rest, " ", &rest));) {
    char *value = strchr(word, '=');
    assert_non_null(value);
    *value++ = '\0';
    assert_int_equal(netc_define(netc, word, value), NETC_OK);
  }
  snprintf(path, sizeof path, "examples/zoo/%s.net", row->net);
  assert_int_equal(show_errors(netc, netc_load_file(netc, path)), NETC_OK);
  return netc;
}

/* Names of layers with weights, norms and pools in the tables. */
static const char *kind_of(const char *op) {
  static const char *const kinds[][2] = {
      {"conv", "conv"},      {"dwconv", "conv"},
      {"deconv", "conv"},    {"fc", "linear"},
      {"linear", "linear"},  {"bn", "norm"},
      {"ln", "norm"},        {"gn", "norm"},
      {"instnorm", "norm"},  {"pool", "pool"},
      {"avgpool", "pool"},   {"gap", "pool"},
      {"adaptpool", "pool"}, {"gmp", "pool"},
      {"matmul", "matmul"},  {"adaptmaxpool", "pool"},
      {"embed", "embed"},    {"posembed", "embed"},
      {"lstm", "lstm"},      {"attention", "attention"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(op, kinds[i][0]) == 0)
      return kinds[i][1];
  return NULL;
}

static int64_t layer_count_of(const struct netc_layer *layer) {
  int64_t count = 1;
  for (int i = 0; i < layer->out.rank; i++)
    count *= layer->out.dims[i];
  return count;
}

/* Without axes of 1 before the channels: a vector is 1x1xC for some. */
static void put_shape(char *out, size_t size, const struct netc_layer *layer) {
  *out = '\0';
  for (int i = 0; i < layer->out.rank; i++)
    if (layer->out.dims[i] != 1 || i + 1 == layer->out.rank)
      snprintf(out + strlen(out), size - strlen(out), "%s%lld", *out ? "x" : "",
               (long long)layer->out.dims[i]);
}

/* Sums over layers that netc_totals has not. */
struct sums {
  int64_t norm_values; /* 2 for each value of a bn, 5 for each of an ln */
  int64_t weighed;     /* values that layers with weights give */
};

static struct sums sums_of(struct netc *netc) {
  struct sums sums = {0};
  struct netc_layer layer = {.size = sizeof layer};
  for (size_t i = 0; netc_layer(netc, i, &layer) == NETC_OK; i++) {
    const char *kind = kind_of(layer.op);
    if (strcmp(layer.op, "bn") == 0)
      sums.norm_values += 2 * layer_count_of(&layer);
    if (strcmp(layer.op, "ln") == 0)
      sums.norm_values += 5 * layer_count_of(&layer);
    if (kind && (strcmp(kind, "conv") == 0 || strcmp(kind, "linear") == 0 ||
                 strcmp(kind, "matmul") == 0))
      sums.weighed += layer_count_of(&layer);
  }
  return sums;
}

/* A leaf, as its line in a table: "conv,112x112x64,9408,118013952". */
static void put_leaf(char *out, size_t size, const char *kind,
                     const struct netc_layer *layer) {
  char shape[64];
  put_shape(shape, sizeof shape, layer);
  snprintf(out, size, "%s,%s,%lld,%lld", kind, shape,
           (long long)layer->param_count, (long long)layer->mac_count);
}

/*
 * Every leaf of the table is a layer, in its order, and every layer of its
 * kinds is a leaf, but for `functions` pools that the model calls as such and
 * position embeddings that are bare parameters.
 */
static void check_leaves(struct netc *netc, const char *name, int functions) {
  char path[128], *rest;
  snprintf(path, sizeof path, "tests/data/zoo/%s.csv", name);
  char *text = read_text(path, NULL);
  assert_non_null(text);
  char *leaf = strtok_r(text, "\n", &rest);
  while (leaf && *leaf == '#')
    leaf = strtok_r(NULL, "\n", &rest);
  struct netc_layer layer = {.size = sizeof layer};
  int compared = 0, skipped = 0;
  for (size_t i = 0; netc_layer(netc, i, &layer) == NETC_OK; i++) {
    const char *kind = kind_of(layer.op);
    char mine[128];
    if (!kind)
      continue;
    put_leaf(mine, sizeof mine, kind, &layer);
    bool function = strcmp(kind, "pool") == 0 || strcmp(kind, "embed") == 0;
    if (function && (!leaf || strcmp(mine, leaf) != 0)) {
      skipped++;
      continue;
    }
    if (!leaf || strcmp(mine, leaf) != 0)
      fail_msg("leaf %d, %s: %s, not %s", compared, layer.name, mine,
               leaf ? leaf : "one more");
    leaf = strtok_r(NULL, "\n", &rest);
    compared++;
  }
  if (leaf)
    fail_msg("behind the last layer: %s", leaf);
  assert_int_equal(skipped, functions);
  assert_true(compared >= 3);
  free(text);
}

/* Equal when both are written with so many digits. */
static void assert_rounds(double value, const char *published, int digits) {
  char mine[64], theirs[64];
  snprintf(mine, sizeof mine, "%.*f", digits, value);
  snprintf(theirs, sizeof theirs, "%.*f", digits, strtod(published, NULL));
  assert_string_equal(mine, theirs);
}

static int64_t value_of(struct netc *netc, const char *key) {
  struct netc_training t = {.size = sizeof t};
  struct netc_inference i = {.size = sizeof i};
  assert_int_equal(netc_training(netc, &t), NETC_OK);
  assert_int_equal(netc_inference(netc, &i), NETC_OK);
  if (*key == 's')
    return t.saved_bytes;
  if (*key == 'b')
    return t.buffer_bytes;
  if (strncmp(key, "predict", 7) == 0)
    return i.framework_peak_bytes;
  int64_t peak = t.forward_peak_bytes > t.backward_peak_bytes
                     ? t.forward_peak_bytes
                     : t.backward_peak_bytes;
  return peak - t.parameter_bytes - t.buffer_bytes - t.input_bytes -
         t.optimizer_bytes;
}

/*
 * saved: bytes that are kept for backward; peak: the most of forward and
 * backward, without what was there before; predict: of a prediction; buffers:
 * of the module. With the batch behind, if it is not 1. False: another fact.
 */
static bool check_memory(const struct row *row, const char *key,
                         int64_t bytes) {
  size_t word = strcspn(key, "23456789");
  if (strncmp(key, "saved", word) != 0 && strncmp(key, "peak", word) != 0 &&
      strncmp(key, "predict", word) != 0 && strncmp(key, "buffers", word) != 0)
    return false;
  struct netc *netc =
      load(row, key[word] ? key + word : "1", *key == 's' ? "none" : "sum");
  assert_int_equal(value_of(netc, key),
                   expected(row->torch2, row->net,
                            key[word] ? key[word] - '0' : 1, key, bytes));
  netc_close(netc);
  return true;
}

static void check_fact(struct netc *netc, const char *key, const char *value,
                       int functions) {
  struct netc_totals totals = {.size = sizeof totals};
  netc_totals(netc, &totals);
  struct sums sums = sums_of(netc);
  long long exact = strtoll(value, NULL, 10);
  double giga = 1e9, mega = 1e6;
  if (strcmp(key, "params") == 0) {
    assert_int_equal(totals.param_count, exact);
  } else if (strcmp(key, "macs") == 0) {
    assert_int_equal(totals.mac_count, exact);
  } else if (strcmp(key, "values") == 0) {
    assert_int_equal(totals.param_count + totals.buffer_count, exact);
  } else if (strcmp(key, "gmacs") == 0) {
    assert_rounds((double)totals.mac_count / giga, value, 3);
  } else if (strcmp(key, "bnops") == 0) {
    assert_rounds((double)totals.mac_count * 2 / giga, value, 2);
  } else if (strcmp(key, "mparams") == 0) {
    assert_rounds((double)totals.param_count / mega, value, 2);
  } else if (strcmp(key, "timm_gmacs") == 0) {
    assert_rounds((double)(totals.mac_count + sums.norm_values) / giga, value,
                  2);
  } else if (strcmp(key, "macts") == 0) {
    assert_rounds((double)sums.weighed / mega, value, 2);
  } else if (strcmp(key, "leaves") == 0) {
    check_leaves(netc, value, functions);
  } else {
    fail_msg("unknown fact: %s", key);
  }
}

static void check_row(void **state) {
  const struct row *row = *state;
  struct netc *netc = load(row, NULL, NULL);
  char facts[256], *rest = facts;
  int functions = 0;
  const char *at = strstr(row->facts, "functions=");
  if (at)
    functions = atoi(at + strlen("functions="));
  snprintf(facts, sizeof facts, "%s", row->facts);
  for (char *key; (key = strtok_r(rest, " ", &rest));) {
    char *value = strchr(key, '=');
    assert_non_null(value);
    *value++ = '\0';
    if (strcmp(key, "out") == 0) {
      struct netc_layer last = {.size = sizeof last};
      char shape[64];
      netc_layer(netc, netc_layer_count(netc) - 1, &last);
      put_shape(shape, sizeof shape, &last);
      assert_string_equal(shape, value);
    } else if (!check_memory(row, key, strtoll(value, NULL, 10)) &&
               strcmp(key, "functions") != 0) {
      check_fact(netc, key, value, functions);
    }
  }
  netc_close(netc);
}

static void every_net_is_compared(void **state) {
  (void)state;
  struct paths nets = find_paths("examples/zoo", ".net");
  char *table = read_text("tests/data/zoo.csv", NULL);
  assert_true(nets.count > 20);
  for (size_t i = 0; i < nets.count; i++) {
    char line[128];
    const char *name = strrchr(nets.at[i], '/') + 1;
    snprintf(line, sizeof line, "\n%.*s,", (int)strcspn(name, "."), name);
    assert_holds(table, line);
  }
  free(table);
  paths_free(&nets);
}

/*
 * "training lora parameters = 5806080" of a run with diffusers, rank 4:
 * github.com/satyajitghana/sdxl-dreambooth-finetune, README.md.
 */
static void adapters_of_sdxl_are_those_of_diffusers(void **state) {
  (void)state;
  expect(NETC " examples/zoo/sdxl.net --lora 4", 0,
         " parameters, 5.81 M trained\n", "");
  expect(NETC " examples/zoo/sdxl.net --lora 4 --emit=json", 0,
         "\"trainable_count\": 5806080,", "");
}

/* The help of typed.def on `resnet50` and other whole nets. */
static void words_for_whole_nets_lead_to_nets(void **state) {
  (void)state;
  char *text = read_text("ops/typed.def", NULL), *at = text;
  int count = 0;
  assert_non_null(text);
  for (; (at = strstr(at, "\", WHOLE(\"")); count++) {
    at += strlen("\", WHOLE(\"");
    struct run r =
        run(NETC " params zoo:%.*s", (int)(strchr(at, '"') - at), at);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.err, "");
    run_free(&r);
  }
  assert_true(count >= 20);
  free(text);
}

static void the_page_is_what_the_compiler_says(void **state) {
  (void)state;
  char *page = read_text("docs/zoo.md", NULL);
  assert_non_null(page);
  struct run made = run("/usr/bin/python3 tools/zoo.py %s", NETC);
  assert_string_equal(made.err, "");
  assert_same_text("docs/zoo.md (make zoo)", page, made.out);
  run_free(&made);
  free(page);
}

/* net,settings,facts,source: one test for each, named after all of it. */
static struct row *read_rows(const char *path, struct row *rows,
                             size_t *count) {
  char *text = read_text(path, NULL), *rest = text;
  for (char *line; text && (line = strtok_r(rest, "\n", &rest));) {
    if (*line == '#')
      continue;
    rows = realloc(rows, (*count + 1) * sizeof *rows);
    struct row *row = &rows[(*count)++];
    row->torch2 = strstr(path, "torch2") != NULL;
    char *settings = strchr(line, ',');
    char *facts = settings ? strchr(settings + 1, ',') : NULL;
    char *source = facts ? strchr(facts + 1, ',') : NULL;
    if (!source)
      exit(1);
    *settings = *facts = *source = '\0';
    snprintf(row->net, sizeof row->net, "%s", line);
    snprintf(row->settings, sizeof row->settings, "%s", settings + 1);
    snprintf(row->facts, sizeof row->facts, "%s", facts + 1);
    snprintf(row->name, sizeof row->name, "%s %s: %s", row->net, row->settings,
             source + 1);
  }
  free(text);
  return rows;
}

int main(void) {
  size_t count = 0;
  struct row *rows = read_rows("tests/data/zoo.csv", NULL, &count);
  rows = read_rows("tests/data/torch2/zoo.csv", rows, &count);
  const struct CMUnitTest others[] = {
      cmocka_unit_test(every_net_is_compared),
      cmocka_unit_test(adapters_of_sdxl_are_those_of_diffusers),
      cmocka_unit_test(words_for_whole_nets_lead_to_nets),
      cmocka_unit_test(the_page_is_what_the_compiler_says),
  };
  int failed = run_table("zoo", rows, count, sizeof *rows, check_row, others,
                         sizeof others / sizeof *others);
  free(rows);
  return failed;
}
