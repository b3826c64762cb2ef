/*
 * What netc says of steps that others ran, or that ran out of memory: rows of
 * tests/data/published. "fits" is an error
 * of a row that ran out of memory, "does not fit" of one that ran; "tight" is
 * none. The counts are held, and test_verdicts --table prints the rows.
 */
#define _XOPEN_SOURCE 700
#include "layers/tape/profile.h"
#include "tests/csv.h"
#include "tests/report.h"

/* The columns of throughput.csv, in its order; of pipelines.csv some. */
enum column {
  MODEL,
  LAYERS,
  WIDTH,
  HEADS,
  CONTEXT,
  GPUS,
  CARD,
  MICROBATCH,
  ACCUMULATE,
  GLOBAL_BATCH,
  TOKENS,
  MFU,
  PRECISION,
  SHARDING,
  CHECKPOINTED,
  PARAMETERS,
  COLUMNS
};

enum { WHAT = 1, NET_OF_IT, OPTIONS, PIPELINES = 12 };

static const char header[] =
    "\nmodel,layers,width,heads,context,gpus,card,microbatch,accumulate,"
    "global_batch,tokens_per_second,mfu_percent,precision,sharding,"
    "checkpointed,parameters\n";

enum { FITS, TIGHT, DOES_NOT_FIT, VERDICTS };

static const char *const words[] = {"fits", "tight", "does not fit"};
static bool table;
static int tight, tight_ran; /* of all tables */

/* The place of the verdict of a command's step. */
static int verdict_of(const char *what, const char *command) {
  struct run got = run("%s --emit=json=-", command);
  if (got.status != 0)
    print_error("%s: %s", command, got.err);
  assert_int_equal(got.status, 0);
  json_t *json = json_loads(got.out, 0, NULL);
  assert_non_null(json);
  json_t *fit = find(json, "training.fit");
  const char *said = json_string_value(find(fit, "verdict"));
  int verdict = 0;
  while (verdict < VERDICTS && strcmp(said, words[verdict]) != 0)
    verdict++;
  assert_true(verdict < VERDICTS);
  double can =
      (double)(number(fit, "device_bytes") - number(fit, "framework_bytes"));
  if (table)
    printf("%-60s %6.2f GiB  %5.1f %%  %s\n", what,
           (double)number(json, "answer.bytes") / 0x1p30,
           100 * (double)number(json, "answer.bytes") / can, said);
  json_decref(json);
  run_free(&got);
  return verdict;
}

/*
 * llm-foundry, train/benchmarking: FSDP, `MP Mode` with gradients in 32 bits
 * for amp, flash-attn's CrossEntropyLoss (llmfoundry/models/mpt/
 * modeling_mpt.py), which keeps the outputs in 16 bits.
 */
static void what_ran(void **state) {
  enum { MOST = 120 };
  static struct row rows[MOST];
  int counts[VERDICTS] = {0};
  size_t count = 0;
  char *text = read_text("tests/data/published/throughput.csv", NULL);
  (void)state;
  assert_true(read_rows(text, header, COLUMNS, rows, MOST, &count));
  for (size_t i = 1; i < count; i++) { /* the first has the names */
    char *const *at = rows[i].at;
    char what[160], command[512];
    bool again = *at[CHECKPOINTED] == '1',
         amp = strncmp(at[PRECISION], "amp", 3) == 0;
    bool whole = strcmp(at[SHARDING], "SHARD_GRAD_OP") == 0;
    snprintf(what, sizeof what, "MPT %s, %s positions x %s on %s %s", at[MODEL],
             at[CONTEXT], at[MICROBATCH], at[GPUS], at[CARD]);
    snprintf(command, sizeof command,
             NETC " tests/data/published/mpt%s.net -Dlayers=%s -Dwidth=%s "
                  "-Dheads=%s -Dcontext=%s --batch %s --accumulate %s --zero 3 "
                  "--data-parallel %s --gpu %s --loss-dtype registers%s%s",
             again ? "_checkpointed" : "", at[LAYERS], at[WIDTH], at[HEADS],
             at[CONTEXT], at[MICROBATCH], at[ACCUMULATE], at[GPUS], at[CARD],
             amp ? " --gradient-dtype f32" : "",
             whole ? " --gather no_reshard" : "");
    counts[verdict_of(what, command)]++;
  }
  free(text);
  assert_int_equal(count, 1 + 105);
  assert_int_equal(counts[DOES_NOT_FIT], 0);
  assert_int_equal(counts[TIGHT], 16);
  tight += counts[TIGHT];
  tight_ran += counts[TIGHT];
}

/* Rows of pipelines.csv that say so, on the card that they name. */
static void what_ran_out_of_memory(void **state) {
  enum { MOST = 80 };
  static struct row rows[MOST];
  int counts[VERDICTS] = {0};
  size_t count = 0;
  char *text = read_text("tests/data/published/pipelines.csv", NULL);
  (void)state;
  assert_true(read_rows(text, "\n# id,what,net,options,", PIPELINES, rows, MOST,
                        &count));
  for (size_t i = 0; i < count; i++) {
    char *const *at = rows[i].at;
    char command[512];
    if (!strstr(at[WHAT], "out of memory"))
      continue;
    snprintf(command, sizeof command, NETC " %s %s --gpu %s -Wno-uneven-stages",
             at[NET_OF_IT], at[OPTIONS],
             strstr(at[WHAT], "H100") ? "h100" : "a100-40");
    counts[verdict_of(rows[i].name, command)]++;
  }
  free(text);
  assert_int_equal(counts[FITS], 0);
  assert_int_equal(counts[TIGHT], 0);
  assert_int_equal(counts[DOES_NOT_FIT], 10);
}

/*
 * Batches of timm that ran on one card and those that did not, and what others
 * ran. The rows of timm gave the share that a step can use, the others did not.
 */
static void what_a_card_held(void **state) {
  enum { MOST = 160, NET_COLUMN = 1, OPTIONS_COLUMN, OUTCOME, FITTED, HELD };
  static struct row rows[MOST];
  int ran[VERDICTS] = {0}, failed[VERDICTS] = {0}, unseen[VERDICTS] = {0};
  size_t count = 0;
  char *text = read_text("tests/data/published/verdicts.csv", NULL);
  (void)state;
  assert_true(read_rows(text, "\n# id,net,options,outcome,fitted,source\n",
                        HELD + 1, rows, MOST, &count));
  for (size_t i = 0; i < count; i++) {
    char *const *at = rows[i].at;
    char command[512];
    snprintf(command, sizeof command, NETC " %s %s", at[NET_COLUMN],
             at[OPTIONS_COLUMN]);
    int verdict = verdict_of(rows[i].name, command);
    bool good = strcmp(at[OUTCOME], "ran") == 0;
    (good ? ran : failed)[verdict]++;
    unseen[verdict] += good && strcmp(at[FITTED], "no") == 0;
  }
  free(text);
  assert_int_equal(ran[FITS] + ran[TIGHT], 83);
  assert_int_equal(ran[DOES_NOT_FIT], 0);
  assert_int_equal(unseen[FITS], 15);
  assert_int_equal(unseen[TIGHT], 4);
  assert_int_equal(failed[FITS], 1); /* vit_huge */
  assert_int_equal(failed[TIGHT], 6);
  assert_int_equal(failed[DOES_NOT_FIT], 29);
  tight += ran[TIGHT] + failed[TIGHT];
  tight_ran += ran[TIGHT];
}

/* The report says how often a tight step ran. */
static void tight_steps_are_counted(void **state) {
  (void)state;
  const struct profile *profile = profile_at(1);
  assert_int_equal(tight, profile->tight);
  assert_int_equal(tight_ran, profile->tight_ran);
}

int main(int argc, char **argv) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_ran),
      cmocka_unit_test(what_ran_out_of_memory),
      cmocka_unit_test(what_a_card_held),
      cmocka_unit_test(tight_steps_are_counted),
  };
  table = argc > 1 && strcmp(argv[1], "--table") == 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
