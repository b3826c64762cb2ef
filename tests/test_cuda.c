/*
 * The profile torch2-cuda beside PyTorch 2.6 on a fake GPU: what autograd keeps
 * and, where it was measured, the peak of a step, each tensor in whole blocks
 * of 512 bytes. `make oracle` makes the PyTorch that tools/oracle measured
 * with.
 */
#include "tests/csv.h"
#include "tests/report.h"
#include "tests/torch2.h"

enum { NET_OR_FILE, BATCH, PRECISION, SAVED, PEAK, DIFFER, CAUSE, COLUMNS };

/* Without what is there before and after a step. */
static long long peak_of(json_t *json) {
  static const char *const beside[] = {"parameter_bytes", "buffer_bytes",
                                       "input_bytes", "optimizer_bytes",
                                       "rounding_bytes"};
  int64_t forward = training(json, "forward_peak_bytes");
  int64_t peak = training(json, "backward_peak_bytes");
  peak = forward > peak ? forward : peak;
  for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
    peak -= training(json, beside[i]);
  return peak;
}

static void check_row(void **state) {
  const struct row *row = *state;
  const char *net = row->at[NET_OR_FILE], *precision = row->at[PRECISION];
  char options[160];
  snprintf(options, sizeof options,
           "batch=%s loss=sum optimizer=sgd profile=torch2-cuda dtype=%s "
           "precision=%s",
           row->at[BATCH], strcmp(precision, "bf16") ? "f32" : "bf16",
           strcmp(precision, "mixed") ? "full" : "mixed");
  size_t length = strlen(net);
  bool file = length > 4 && strcmp(net + length - 4, ".net") == 0;
  json_t *json = file ? compile_file(net, options) : compile(net, options);
  assert_int_equal(training(json, "saved_bytes"),
                   value_in(row->at[DIFFER], "saved", atoll(row->at[SAVED])));
  if (*row->at[PEAK])
    assert_int_equal(peak_of(json),
                     value_in(row->at[DIFFER], "peak", atoll(row->at[PEAK])));
  json_decref(json);
}

/* Nearly all of them are equal, and a row that differs says why. */
static void differences_have_causes(void **state) {
  const struct row *rows = *state;
  int count = 0, equal = 0;
  for (; rows->at[0]; rows++) {
    assert_true(!*rows->at[DIFFER] == !*rows->at[CAUSE]);
    count++;
    equal += !strstr(rows->at[DIFFER], "saved:");
  }
  assert_true(count > 200 && equal > count * 95 / 100);
}

/* A report says in how many nets of the zoo: those in float32 at a batch of 2.
 */
static void the_report_says_how_many(void **state) {
  const struct row *rows = *state;
  char said[120];
  int count = 0, equal = 0;
  for (; rows->at[0]; rows++)
    if (strncmp(rows->at[NET_OR_FILE], "examples/zoo/", 13) == 0 &&
        strcmp(rows->at[PRECISION], "f32") == 0 &&
        strcmp(rows->at[BATCH], "2") == 0) {
      count++;
      equal += !strstr(rows->at[DIFFER], "saved:");
    }
  snprintf(said, sizeof said, "saved tensors equal PyTorch 2.6's in %d of %d",
           equal, count);
  expect(NETC " examples/simple_cnn.net --details", 0, said, "");
}

/* The same peaks that docs/accuracy.md shows beside MemTracker's. */
static void steps_are_those_of_the_page(void **state) {
  enum { NETC_PEAK = 2, FIELDS = 8, FEW = 40 };
  static struct row rows[FEW];
  size_t count = 0;
  (void)state;
  char *text = read_text(TORCH2 "trackers.csv", NULL);
  assert_true(read_rows(text, "# net,batch,netc", FIELDS, rows, FEW, &count));
  assert_true(count >= 12);
  for (size_t i = 0; i < count; i++) {
    char options[120];
    snprintf(options, sizeof options,
             "batch=%s loss=sum optimizer=momentum profile=torch2-cpu "
             "dtype=f32 precision=full",
             rows[i].at[BATCH]);
    assert_int_equal(ask_file(rows[i].at[0], options, "peak_bytes"),
                     atoll(rows[i].at[NETC_PEAK]));
  }
  free(text);
}

/* checkpoint=ops beside create_selective_checkpoint_contexts(). */
static void operations_are_recomputed(void **state) {
  enum { NET, OF, DEVICE, TYPE, KEPT, MOST_BYTES, FIELDS, FEW = 60 };
  static struct row rows[FEW];
  size_t count = 0;
  (void)state;
  char *text = read_text(TORCH2 "ops.csv", NULL);
  assert_true(read_rows(text, "# net,batch,device", FIELDS, rows, FEW, &count));
  assert_true(count >= 13);
  for (size_t i = 0; i < count; i++) {
    char **at = rows[i].at;
    struct run got = run(NETC " %s --batch %s --profile torch2-%s --dtype %s "
                              "--precision full --loss sum --optimizer sgd "
                              "--inplace off --checkpoint ops --emit=json",
                         at[NET], at[OF], at[DEVICE], at[TYPE]);
    json_t *json = json_loads(got.out, 0, NULL);
    assert_non_null(json);
    if (training(json, "saved_bytes") != atoll(at[KEPT]) ||
        peak_of(json) != atoll(at[MOST_BYTES]))
      print_error("%s %s %s\n", at[NET], at[DEVICE], at[TYPE]);
    assert_int_equal(training(json, "saved_bytes"), atoll(at[KEPT]));
    assert_int_equal(peak_of(json), atoll(at[MOST_BYTES]));
    json_decref(json);
    run_free(&got);
  }
  free(text);
}

int main(void) {
  enum { MOST = 1000 };
  static struct row rows[MOST + 1];
  size_t count = 0;
  char *text = read_text(TORCH2 "cuda.csv", NULL);
  if (!read_rows(text, "# net,batch,precision", COLUMNS, rows, MOST, &count))
    return 1;
  const struct CMUnitTest others[] = {
      cmocka_unit_test(steps_are_those_of_the_page),
      cmocka_unit_test(operations_are_recomputed),
      {"differences have causes", differences_have_causes, NULL, NULL, rows},
      {"the report says how many", the_report_says_how_many, NULL, NULL, rows}};
  int failed = run_table("cuda", rows, count, sizeof *rows, check_row, others,
                         sizeof others / sizeof *others);
  free(text);
  return failed;
}
