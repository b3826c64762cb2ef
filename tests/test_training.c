/*
 * The memory of training and inference against closed forms: each number
 * here is computed by hand from a rule of docs/memory.md or was measured
 * with PyTorch 1.13, never taken from the compiler.
 */
#include <jansson.h>
#include <math.h>

#include "netc.h"
#include "tests/run.h"

struct buffer {
  char *at;
  size_t length;
};

static bool collect(void *user, const char *bytes, size_t length) {
  struct buffer *buffer = user;
  buffer->at = realloc(buffer->at, buffer->length + length + 1);
  assert_non_null(buffer->at);
  memcpy(buffer->at + buffer->length, bytes, length);
  buffer->length += length;
  buffer->at[buffer->length] = '\0';
  return true;
}

static void show(void *user, const struct netc_diagnostic *diagnostic) {
  (void)user;
  if (diagnostic->severity == NETC_FAILURE)
    print_error("%s", diagnostic->text);
}

/* "batch=8 profile=torch1-cpu": settings; "-Ddepth=18": a `param`. */
static void choose(struct netc *netc, const char *options) {
  char text[256];
  snprintf(text, sizeof text, "%s", options);
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
    char *value = strchr(word, '=');
    assert_non_null(value);
    *value++ = '\0';
    enum netc_status status = strncmp(word, "-D", 2) == 0
                                  ? netc_define(netc, word + 2, value)
                                  : netc_set(netc, word, value);
    if (status != NETC_OK)
      print_error("%s=%s: %s\n", word, value, netc_message(netc));
    assert_int_equal(status, NETC_OK);
  }
}

static json_t *report(struct netc *netc, enum netc_status loaded) {
  struct buffer out = {0};
  assert_int_equal(loaded, NETC_OK);
  assert_int_equal(netc_emit(netc, "json", NULL, collect, &out), NETC_OK);
  json_t *json = json_loads(out.at, 0, NULL);
  assert_non_null(json);
  free(out.at);
  netc_close(netc);
  return json;
}

static json_t *compile(const char *net, const char *options) {
  struct netc *netc = netc_open(NULL, NULL);
  netc_on_diagnostic(netc, show, NULL);
  choose(netc, options);
  return report(netc, netc_load_text(netc, "test.net", net, strlen(net)));
}

static json_t *compile_file(const char *path, const char *options) {
  struct netc *netc = netc_open(NULL, NULL);
  netc_on_diagnostic(netc, show, NULL);
  choose(netc, options);
  return report(netc, netc_load_file(netc, path));
}

/* "training.parallel.stages.0.peak_bytes" */
static json_t *find(json_t *json, const char *path) {
  char text[256];
  snprintf(text, sizeof text, "%s", path);
  for (char *word = strtok(text, "."); word && json; word = strtok(NULL, "."))
    json = json_is_array(json) ? json_array_get(json, (size_t)atol(word))
                               : json_object_get(json, word);
  return json;
}

static int64_t number(json_t *json, const char *path) {
  json_t *at = find(json, path);
  if (!json_is_integer(at))
    print_error("no number at %s\n", path);
  assert_true(json_is_integer(at));
  return json_integer_value(at);
}

static int64_t training(json_t *json, const char *name) {
  return number(json_object_get(json, "training"), name);
}

/* One number of a training step. */
static int64_t ask(const char *net, const char *options, const char *name) {
  json_t *json = compile(net, options);
  int64_t result = training(json, name);
  json_decref(json);
  return result;
}

static int64_t ask_file(const char *path, const char *options,
                        const char *name) {
  json_t *json = compile_file(path, options);
  int64_t result = training(json, name);
  json_decref(json);
  return result;
}

#define CPU " profile=torch1-cpu"

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

/* Numbers beyond 63 bits */

struct outcome {
  int failures, too_large;
};

static void count_failure(void *user, const struct netc_diagnostic *d) {
  struct outcome *outcome = user;
  outcome->failures += d->severity == NETC_FAILURE;
  outcome->too_large += strcmp(d->slug, "too-large") == 0;
}

static void no_number_is_negative(const char *key, json_t *json) {
  const char *name;
  json_t *value;
  size_t index;
  if (json_is_integer(json))
    assert_true(json_integer_value(json) >= 0 || strcmp(key, "misc") == 0);
  json_object_foreach(json, name, value) no_number_is_negative(name, value);
  json_array_foreach(json, index, value) no_number_is_negative(key, value);
}

/* Either all numbers are right, or one diagnostic says why there are none. */
static void try_large(const char *net, const char *options) {
  struct outcome outcome = {0};
  struct netc *netc = netc_open(NULL, NULL);
  netc_on_diagnostic(netc, count_failure, &outcome);
  choose(netc, options);
  enum netc_status loaded = netc_load_text(netc, "large.net", net, strlen(net));
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
      "memory=1",
      "memory=9223372036854775807",
      "checkpoint=1000000",
      "checkpoint=auto memory=1GiB",
      "pipeline=10000",
      "pipeline=2 microbatches=9223372036854775807",
      "pipeline=2 schedule=gpipe microbatches=9223372036854775807 batch=7",
      "tensor_parallel=1048576",
      "data_parallel=1048576 zero=3",
      "decode=9223372036854775807",
      "precision=mixed" CPU,
      "dtype=f64 optimizer=adam loss=crossentropy",
      "dtype=i4 accumulate=9223372036854775807",
      "align=1048576 gpu=t4 timeline=on"};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
      try_large(nets[i], options[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mixed_resnet_keeps_what_was_measured),
      cmocka_unit_test(mixed_dense_layers_keep_copies),
      cmocka_unit_test(what_passes_63_bits_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
