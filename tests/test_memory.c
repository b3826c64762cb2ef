/*
 * The memory that netc computes against what PyTorch 1.13 did on a CPU:
 * tests/data/memory.csv (tools/memory_truth.py) has a row for each model and
 * batch, and here a test. All quantities are equal, byte for byte.
 */
#define _XOPEN_SOURCE 700
#include <jansson.h>

#include "tests/nets.h"

/* The columns, in the order of the table. */
enum column {
  MODEL,
  NET,
  SETTINGS,
  TRAIN,
  BATCH,
  INSIDE,
  CONSTANTS,
  SAVED,
  ENTROPY,
  GRADIENTS,
  BUFFERS,
  FRAMEWORK,
  STEP,
  MOMENTUM,
  ADAM,
  MOMENTUM_PEAK, /* these two hold what kernels take: docs/accuracy.md */
  ADAM_PEAK,
  COLUMNS
};

static const char header[] =
    "\n# model,net,settings,train,batch,inside,constants,saved,entropy,"
    "gradients,buffers,framework,step,momentum,adam,momentum_peak,adam_peak\n";

struct row {
  char name[128];
  char *at[COLUMNS];
};

/* Words NAME=VALUE, each given to `set`. */
static void set_words(struct netc *netc, const char *words,
                      enum netc_status (*set)(struct netc *, const char *,
                                              const char *)) {
  char copy[128], *rest = copy;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word; (word = strtok_r(rest, " ", &rest));) {
    char *value = strchr(word, '=');
    assert_non_null(value);
    *value++ = '\0';
    assert_int_equal(set(netc, word, value), NETC_OK);
  }
}

struct text {
  char *bytes;
  size_t length;
};

static bool append(void *user, const char *bytes, size_t length) {
  struct text *text = user;
  char *more = realloc(text->bytes, text->length + length);
  if (!more)
    return false;
  memcpy(more + text->length, bytes, length);
  text->bytes = more;
  text->length += length;
  return true;
}

/* The JSON report; json_decref it. */
static json_t *report(const struct row *row, const char *loss,
                      const char *optimizer) {
  char path[128];
  struct text text = {NULL, 0};
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_set(netc, "profile", "torch1-cpu"), NETC_OK);
  assert_int_equal(netc_set(netc, "batch", row->at[BATCH]), NETC_OK);
  assert_int_equal(netc_set(netc, "loss", loss), NETC_OK);
  assert_int_equal(netc_set(netc, "optimizer", optimizer), NETC_OK);
  set_words(netc, row->at[TRAIN], netc_set);
  set_words(netc, row->at[SETTINGS], netc_define);
  snprintf(path, sizeof path, "examples/zoo/%s.net", row->at[NET]);
  assert_int_equal(show_errors(netc, netc_load_file(netc, path)), NETC_OK);
  assert_int_equal(netc_emit(netc, "json", NULL, append, &text), NETC_OK);
  json_t *json = json_loadb(text.bytes, text.length, 0, NULL);
  assert_non_null(json);
  free(text.bytes);
  netc_close(netc);
  return json;
}

static int64_t number(const json_t *json, const char *block, const char *key) {
  json_t *value = json_object_get(json_object_get(json, block), key);
  if (!json_is_integer(value))
    fail_msg("%s.%s is missing", block, key);
  return json_integer_value(value);
}

/* `apart` is in the measured number only. An empty cell was not measured. */
static void compare(const struct row *row, enum column column, int64_t mine,
                    int64_t apart) {
  static const char *const names[COLUMNS] = {
      [SAVED] = "saved",         [ENTROPY] = "entropy",
      [GRADIENTS] = "gradients", [BUFFERS] = "buffers",
      [FRAMEWORK] = "framework", [STEP] = "step",
      [MOMENTUM] = "momentum",   [ADAM] = "adam",
  };
  if (!*row->at[column])
    return;
  int64_t measured = strtoll(row->at[column], NULL, 10) - apart;
  if (mine != measured)
    fail_msg("%s: %lld, measured %lld", names[column], (long long)mine,
             (long long)measured);
}

/* The peak of forward and backward, without what was there before. */
static int64_t step_of(const json_t *json) {
  int64_t forward = number(json, "training", "forward_peak_bytes");
  int64_t backward = number(json, "training", "backward_peak_bytes");
  return (forward > backward ? forward : backward) -
         number(json, "training", "parameter_bytes") -
         number(json, "training", "buffer_bytes") -
         number(json, "training", "input_bytes") -
         number(json, "training", "optimizer_bytes");
}

static void check_row(void **state) {
  const struct row *row = *state;
  int64_t inside = strtoll(row->at[INSIDE], NULL, 10);
  int64_t constants = strtoll(row->at[CONSTANTS], NULL, 10);
  int64_t batch = strtoll(row->at[BATCH], NULL, 10);

  json_t *json = report(row, "none", "momentum");
  compare(row, SAVED, number(json, "training", "saved_bytes"), inside * batch);
  compare(row, GRADIENTS, number(json, "training", "gradient_bytes"), 0);
  compare(row, BUFFERS, number(json, "training", "buffer_bytes"), constants);
  compare(row, MOMENTUM, number(json, "training", "optimizer_bytes"), 0);
  compare(row, FRAMEWORK, number(json, "inference", "framework_peak_bytes"), 0);
  json_decref(json);

  json = report(row, "sum", "adam");
  compare(row, STEP, step_of(json), 0);
  compare(row, ADAM, number(json, "training", "optimizer_bytes"), 0);
  json_decref(json);

  if (!*row->at[ENTROPY])
    return;
  json = report(row, "crossentropy", "sgd");
  compare(row, ENTROPY, number(json, "training", "saved_bytes"), 0);
  json_decref(json);
}

static void the_page_is_what_the_compiler_says(void **state) {
  (void)state;
  char *page = read_text("docs/accuracy.md", NULL);
  assert_non_null(page);
  struct run made = run("/usr/bin/python3 tools/accuracy.py %s", NETC);
  assert_string_equal(made.err, "");
  assert_same_text("docs/accuracy.md (make accuracy)", page, made.out);
  run_free(&made);
  free(page);
}

static void the_readme_says_what_the_page_says(void **state) {
  (void)state;
  char *page = read_text("docs/accuracy.md", NULL), claim[64];
  char *readme = read_text("README.md", NULL);
  int all, models, equal;
  const char *at = page ? strstr(page, "\nOf ") : NULL;
  assert_non_null(at);
  assert_int_equal(sscanf(at, " Of %d measured quantities of %d models %d are",
                          &all, &models, &equal),
                   3);
  snprintf(claim, sizeof claim, "%d of %d", equal, all);
  assert_holds(readme, claim);
  free(readme);
  free(page);
}

/* Rows point into `text`. */
static struct row *read_rows(char *text, size_t *count) {
  size_t room = 0;
  struct row *rows = NULL;
  *count = 0;
  if (!text || !strstr(text, header))
    exit(1);
  for (char *line, *rest = text; (line = strtok_r(rest, "\n", &rest));) {
    if (*line == '#')
      continue;
    if (*count == room)
      rows = realloc(rows, (room = room * 2 + 64) * sizeof *rows);
    struct row *row = &rows[(*count)++];
    for (size_t i = 0; i < COLUMNS; i++) {
      row->at[i] = line;
      line += strcspn(line, ",");
      if ((*line != ',') != (i + 1 == COLUMNS))
        exit(1);
      *line++ = '\0';
    }
    snprintf(row->name, sizeof row->name, "%s, batch %s", row->at[MODEL],
             row->at[BATCH]);
  }
  return rows;
}

int main(void) {
  size_t count;
  char *text = read_text("tests/data/memory.csv", NULL);
  struct row *rows = read_rows(text, &count);
  const struct CMUnitTest others[] = {
      cmocka_unit_test(the_page_is_what_the_compiler_says),
      cmocka_unit_test(the_readme_says_what_the_page_says),
  };
  int failed = run_table("memory", rows, count, sizeof *rows, check_row, others,
                         sizeof others / sizeof *others);
  free(rows);
  free(text);
  return failed;
}
