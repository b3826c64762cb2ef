/*
 * Random nets against PyTorch: tests/data/random.csv holds nets in which
 * something was found, with what PyTorch 1.13 did on a CPU, and torch2/
 * random.csv others, with what 2.6 did; `make random` draws new ones, which
 * needs PyTorch.
 */
#include "tests/csv.h"
#include "tests/report.h"

/* The columns after net and batch, and those that say what still differs. */
static const char *const figures[] = {"params", "macs", "saved",
                                      "grads",  "peak", "predict"};
enum {
  FIGURES = sizeof figures / sizeof *figures,
  DIFFER = 2 + FIGURES,
  COLUMNS = DIFFER + 3,
  PROFILE = COLUMNS /* not of the file */
};

static int64_t figure(json_t *json, int i, int64_t batch) {
  int64_t forward = training(json, "forward_peak_bytes");
  int64_t backward = training(json, "backward_peak_bytes");
  switch (i) {
  case 0: return number(json, "totals.param_count");
  case 1: return number(json, "totals.mac_count") * batch;
  case 2: return training(json, "saved_bytes");
  case 3: return training(json, "gradient_bytes");
  case 4:
    return (forward > backward ? forward : backward) -
           training(json, "parameter_bytes") - training(json, "buffer_bytes") -
           training(json, "input_bytes");
  default: return number(json, "inference.framework_peak_bytes");
  }
}

static void check_row(void **state) {
  const struct row *row = *state;
  int64_t batch = atoll(row->at[1]);
  char options[80];
  snprintf(options, sizeof options,
           "batch=%lld loss=sum optimizer=sgd profile=%s", (long long)batch,
           row->at[PROFILE]);
  json_t *json = compile(row->at[0], options);
  for (int i = 0; i < FIGURES; i++) {
    int64_t told = figure(json, i, batch), truth = atoll(row->at[2 + i]);
    bool differs = strstr(row->at[DIFFER], figures[i]) != NULL;
    if (told != truth && !differs)
      fail_msg("%s: %s is %lld, PyTorch %lld", row->at[0], figures[i],
               (long long)told, (long long)truth);
  }
  json_decref(json);
}

/* A row that differs says why. */
static void differences_have_causes(void **state) {
  const struct row *rows = *state;
  for (; rows->at[0]; rows++)
    assert_true(!*rows->at[DIFFER] == !*rows->at[DIFFER + 1] &&
                !*rows->at[DIFFER] == !*rows->at[DIFFER + 2]);
}

static void random_nets_are_as_pytorch_has_them(void **state) {
  (void)state;
  skip_without_python("torch");
  struct run r =
      run("/usr/bin/python3 tools/random_nets " NETC " %d 1", tenth(5000));
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

int main(void) {
  enum { MOST = 2000 };
  static struct row rows[MOST + 1];
  static const char *const tables[][2] = {
      {"tests/data/random.csv", "torch1-cpu"},
      {"tests/data/torch2/random.csv", "torch2-cpu"}};
  size_t count = 0;
  char *text[2];
  for (int i = 0; i < 2; i++) {
    size_t before = count;
    text[i] = read_text(tables[i][0], NULL);
    if (!read_rows(text[i], "# net,batch,params", COLUMNS, rows, MOST, &count))
      return 1;
    for (; before < count; before++)
      rows[before].at[PROFILE] = (char *)tables[i][1];
  }
  const struct CMUnitTest others[] = {
      {"differences have causes", differences_have_causes, NULL, NULL, rows},
      slow_test(random_nets_are_as_pytorch_has_them)};
  int failed = run_table("random", rows, count, sizeof *rows, check_row, others,
                         sizeof others / sizeof *others);
  free(text[0]);
  free(text[1]);
  return failed;
}
