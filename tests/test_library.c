/* The library as programs use it: include/netc.h and nothing else. */
#include <jansson.h>
#include <pthread.h>

#include "netc.h"
#include "tests/run.h"

static const char small[] = "net small\n"
                            "input 50x50x3\n"
                            "C1: conv 32 3x3 pad bn relu\n"
                            "P1: pool 2x2\n"
                            "P2: pool 2x2\n"
                            "FC: fc 10 softmax\n";

struct buffer {
  char *at;
  size_t length, limit;
};

static bool collect(void *user, const char *bytes, size_t length) {
  struct buffer *buffer = user;
  if (buffer->limit && buffer->length + length > buffer->limit)
    return false;
  buffer->at = realloc(buffer->at, buffer->length + length + 1);
  memcpy(buffer->at + buffer->length, bytes, length);
  buffer->length += length;
  buffer->at[buffer->length] = '\0';
  return true;
}

/* How many warnings and errors there are; every one is whole. */
static void count_diagnostics(struct netc *netc, int counts[3]) {
  counts[NETC_SEVERITY_WARNING] = counts[NETC_SEVERITY_ERROR] = 0;
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    struct buffer text = {0}, object = {0};
    assert_int_equal(netc_diagnostic(netc, i, &d), NETC_OK);
    counts[d.severity]++;
    assert_non_null(d.slug);
    assert_true(d.place.line >= 1 && d.place.column >= 1);
    assert_true(d.place.end >= d.place.begin);
    assert_int_equal(
        netc_diagnostic_emit(netc, i, NETC_STYLE_TEXT, collect, &text),
        NETC_OK);
    assert_holds(text.at, d.message);
    for (size_t k = 0; k < d.help_count; k++)
      assert_holds(text.at, d.help[k]);
    for (size_t k = 0; k < d.label_count; k++)
      assert_holds(text.at, d.labels[k].text);
    assert_int_equal(
        netc_diagnostic_emit(netc, i, NETC_STYLE_JSON, collect, &object),
        NETC_OK);
    json_t *json = json_loads(object.at, 0, NULL);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "slug")),
                        d.slug);
    json_decref(json);
    free(text.at);
    free(object.at);
  }
}

static struct netc *load(const char *text) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_non_null(netc);
  assert_int_equal(netc_load_text(netc, "small.net", text, strlen(text)),
                   NETC_OK);
  return netc;
}

static void a_net_is_loaded_and_read(void **state) {
  (void)state;
  int counts[3] = {0};
  struct netc_totals totals = {.size = sizeof totals};
  struct netc_layer layer = {.size = sizeof layer};
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_load_text(netc, "small.net", small, strlen(small)),
                   NETC_OK);
  count_diagnostics(netc, counts);
  assert_int_equal(counts[NETC_SEVERITY_WARNING], 1);
  assert_int_equal(counts[NETC_SEVERITY_ERROR], 0);
  assert_int_equal(netc_layer_count(netc), 8);
  assert_int_equal(netc_layer(netc, 1, &layer), NETC_OK);
  assert_string_equal(layer.name, "C1");
  assert_string_equal(layer.op, "conv");
  assert_int_equal(layer.out.rank, 3);
  assert_int_equal(layer.out.dims[0], 50);
  assert_int_equal(layer.out.dims[2], 32);
  assert_int_equal(layer.param_count, 3 * 3 * 3 * 32);
  assert_int_equal(layer.mac_count, 50 * 50 * 32 * 27);
  assert_int_equal(netc_layer(netc, 8, &layer), NETC_USAGE);
  assert_int_equal(netc_totals(netc, &totals), NETC_OK);
  assert_int_equal(totals.param_count, 864 + 64 + 12 * 12 * 32 * 10 + 10);
  assert_int_equal(totals.buffer_count, 64);
  assert_string_equal(netc_source(netc, 0), "small.net");
  assert_null(netc_source(netc, 1));
  netc_close(netc);
}

static void every_output_is_written_to_a_sink(void **state) {
  (void)state;
  static const char *const kinds[] = {"txt",   "json",   "csv", "md",
                                      "net",   "dot",    "fmt", "tokens",
                                      "graph", "shapes", "ast"};
  struct netc *netc = load(small);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct buffer first = {0}, second = {0};
    assert_int_equal(netc_emit(netc, kinds[i], NULL, collect, &first), NETC_OK);
    assert_int_equal(netc_emit(netc, kinds[i], NULL, collect, &second),
                     NETC_OK);
    assert_true(first.length > 0);
    assert_string_equal(first.at, second.at);
    free(first.at);
    free(second.at);
  }
  netc_close(netc);
}

static void what_goes_wrong_is_a_status(void **state) {
  (void)state;
  struct buffer buffer = {0};
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_emit(netc, "txt", NULL, collect, &buffer), NETC_USAGE);
  assert_int_equal(netc_load_file(netc, "build/no/such.net"), NETC_IO);
  assert_holds(netc_message(netc), "cannot read build/no/such.net");
  assert_int_equal(netc_load_text(netc, "x.net", "conv 3", 6), NETC_ERROR);
  assert_int_equal(netc_load_text(netc, "x.net", "conv 3", 6), NETC_ERROR);
  assert_int_equal(netc_emit(netc, "txt", NULL, collect, &buffer), NETC_ERROR);
  assert_int_equal(netc_emit(netc, "tokens", NULL, collect, &buffer), NETC_OK);
  assert_int_equal(netc_emit(netc, "nonsense", NULL, collect, &buffer),
                   NETC_USAGE);
  assert_int_equal(netc_layer_count(netc), 0);
  assert_int_equal(netc_totals(netc, &(struct netc_totals){.size = 8}),
                   NETC_USAGE);
  netc_close(netc);
  netc_close(NULL);
  free(buffer.at);
}

static void a_full_sink_is_an_io_error(void **state) {
  (void)state;
  struct buffer buffer = {.limit = 100};
  struct netc *netc = load(small);
  assert_int_equal(netc_emit(netc, "json", NULL, collect, &buffer), NETC_IO);
  free(buffer.at);
  netc_close(netc);
}

static void settings_are_checked_when_they_are_made(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  static const struct {
    const char *key, *value, *message;
  } bad[] = {
      {"batch", "0", "at least 1"},
      {"batch", "many", "nothing is called `many`"},
      {"batch", "1 optimizer=adam", "invalid value"},
      {"batch", "1; conv 3", "invalid value"},
      {"optimizer", "addam", "`addam` is no optimizer"},
      {"optimiser", "adam", "did you mean `optimizer`"},
      {"dtype", "", ""},
      {"batch", "\xFF", "not valid UTF-8"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(netc_set(netc, bad[i].key, bad[i].value), NETC_USAGE);
    assert_holds(netc_message(netc), bad[i].message);
  }
  assert_int_equal(netc_define(netc, "n", "2 +"), NETC_USAGE);
  assert_int_equal(netc_define(netc, "n", "2\nconv 3"), NETC_USAGE);
  assert_int_equal(netc_define(netc, "2n", "2"), NETC_USAGE);
  assert_int_equal(netc_warn(netc, "no-such-thing"), NETC_USAGE);
  assert_int_equal(netc_warn(netc, "no-pool-remainde"), NETC_USAGE);
  assert_holds(netc_message(netc), "did you mean `pool-remainder`");
  assert_int_equal(netc_warn(netc, "no-syntax"), NETC_USAGE);
  assert_int_equal(netc_set(netc, "batch", "4"), NETC_OK);
  assert_int_equal(netc_load_text(netc, "small.net", small, strlen(small)),
                   NETC_OK);
  netc_close(netc);
}

static void the_command_line_wins_over_the_source(void **state) {
  (void)state;
  struct buffer buffer = {0};
  struct netc *netc = netc_open(NULL, NULL);
  const char text[] = "param n = 4\ninput 8x8x3\nfc n\n"
                      "train batch=64 optimizer=sgd\n";
  assert_int_equal(netc_set(netc, "batch", "8"), NETC_OK);
  assert_int_equal(netc_define(netc, "n", "2*8"), NETC_OK);
  assert_int_equal(netc_load_text(netc, "x.net", text, strlen(text)), NETC_OK);
  assert_int_equal(netc_emit(netc, "json", NULL, collect, &buffer), NETC_OK);
  json_t *json = json_loads(buffer.at, 0, NULL);
  json_t *rule = json_object_get(json, "rule");
  assert_int_equal(json_integer_value(json_object_get(rule, "batch")), 8);
  assert_string_equal(json_string_value(json_object_get(rule, "optimizer")),
                      "sgd");
  assert_int_equal(json_integer_value(json_object_get(
                       json_object_get(json, "totals"), "param_count")),
                   8 * 8 * 3 * 16 + 16);
  json_decref(json);
  free(buffer.at);
  netc_close(netc);
}

static void an_unused_definition_is_a_slip(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  const char text[] = "param depth = 4\ninput 8x8x3\nfc depth\n";
  netc_define(netc, "depht", "3");
  assert_int_equal(netc_load_text(netc, "x.net", text, strlen(text)),
                   NETC_USAGE);
  assert_holds(netc_message(netc), "did you mean `depth`");
  netc_close(netc);
}

/* Memory that runs out at the n-th request, for every n. */

struct budget {
  long left;
  long blocks;
};

static void *limited(void *user, void *old, size_t size) {
  struct budget *budget = user;
  if (size == 0) {
    budget->blocks -= old != NULL;
    free(old);
    return NULL;
  }
  if (budget->left-- <= 0)
    return NULL;
  void *block = realloc(old, size);
  budget->blocks += old == NULL && block;
  return block;
}

static bool use_all(struct budget *budget, const char *text) {
  struct netc *netc = netc_open(limited, budget);
  if (!netc)
    return false;
  bool done = netc_set(netc, "batch", "4") == NETC_OK &&
              netc_include(netc, "tests/golden/language") == NETC_OK &&
              netc_load_text(netc, "x.net", text, strlen(text)) == NETC_OK;
  static const char *const kinds[] = {"txt", "json", "csv",
                                      "dot", "net",  "fmt-shapes"};
  for (size_t i = 0; done && i < sizeof kinds / sizeof *kinds; i++) {
    struct buffer buffer = {0};
    done = netc_emit(netc, kinds[i], NULL, collect, &buffer) == NETC_OK;
    free(buffer.at);
  }
  netc_close(netc);
  return done;
}

static void running_out_of_memory_leaks_nothing(void **state) {
  (void)state;
  char text[4096];
  snprintf(text, sizeof text,
           "use \"library/more.net\"\n%srepeat 900 { conv 4 3x3 pad bias bn "
           "}\nadd { conv 8 1x1 } {\n conv 8 1x1 }\n",
           "input 9x9x3\nconv narrow 3x3\npool 2x2\n");
  bool done = false;
  long requests = 0;
  for (; !done && requests < 3000; requests++) {
    struct budget budget = {.left = requests};
    done = use_all(&budget, text);
    assert_int_equal(budget.blocks, 0);
  }
  assert_true(done);
  assert_true(requests > 30);
}

/* Contexts share nothing. */

static void *compile_many(void *user) {
  struct buffer *result = user;
  for (int i = 0; i < 50; i++) {
    free(result->at);
    *result = (struct buffer){0};
    struct netc *netc = netc_open(NULL, NULL);
    if (netc_load_file(netc, "tests/golden/language/defs.net") != NETC_OK ||
        netc_emit(netc, "json", NULL, collect, result) != NETC_OK)
      return "failed";
    netc_close(netc);
  }
  return NULL;
}

static void two_threads_compile_at_the_same_time(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  struct buffer results[THREADS] = {{0}};
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(
        pthread_create(&threads[i], NULL, compile_many, &results[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
    assert_string_equal(results[i].at, results[0].at);
  }
  for (int i = 0; i < THREADS; i++)
    free(results[i].at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_net_is_loaded_and_read),
      cmocka_unit_test(every_output_is_written_to_a_sink),
      cmocka_unit_test(what_goes_wrong_is_a_status),
      cmocka_unit_test(a_full_sink_is_an_io_error),
      cmocka_unit_test(settings_are_checked_when_they_are_made),
      cmocka_unit_test(the_command_line_wins_over_the_source),
      cmocka_unit_test(an_unused_definition_is_a_slip),
      cmocka_unit_test(running_out_of_memory_leaks_nothing),
      cmocka_unit_test(two_threads_compile_at_the_same_time),
  };
  return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
