/*
 * netc place: what it lists is what a report then says; its bounds lie below
 * steps that others measured (tests/data/published/steps.csv); what it cannot
 * place, it says why.
 */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "tests/csv.h"
#include "tests/report.h"

static json_t *placed(const char *net, const char *options, int status) {
  struct run got = run("%s place %s %s -o -", NETC, net, options);
  if (got.status != status)
    print_error("%s", got.err);
  assert_int_equal(got.status, status);
  json_t *json = json_loads(got.out, 0, NULL);
  assert_non_null(json);
  run_free(&got);
  return json;
}

static double real(json_t *json, const char *key) {
  json_t *at = json_object_get(json, key);
  assert_true(json_is_number(at));
  return json_number_value(at);
}

/* The peak of the most loaded device, as the command line reports it. */
static int64_t reported_peak(const char *command) {
  int64_t most = 0;
  size_t i;
  json_t *stage;
  assert_int_equal(strncmp(command, "netc ", 5), 0);
  struct run got = run("%s %s --emit=json=-", NETC, command + 5);
  if (got.status)
    print_error("%s", got.err);
  assert_int_equal(got.status, 0);
  json_t *json = json_loads(got.out, 0, NULL);
  assert_non_null(json);
  json_array_foreach(find(json, "training.parallel.stages"), i, stage) most =
      number(stage, "peak_bytes") > most ? number(stage, "peak_bytes") : most;
  if (most == 0)
    most = number(json, "training.peak_bytes");
  json_decref(json);
  run_free(&got);
  return most;
}

/* Command lines reproduce; none is beaten by another. */
static void check_placements(const char *net, const char *options, int status) {
  json_t *json = placed(net, options, status), *placement;
  double seconds = 0;
  int64_t peak = INT64_MAX;
  size_t i, count = json_array_size(json_object_get(json, "placements"));
  assert_true(count > 0);
  assert_int_equal(json_is_true(json_object_get(json, "fits")), status == 0);
  json_array_foreach(json_object_get(json, "placements"), i, placement) {
    int64_t own = number(placement, "peak_bytes");
    const char *command =
        json_string_value(json_object_get(placement, "command"));
    assert_int_equal(reported_peak(command), own);
    assert_int_equal(number(placement, "left_bytes"),
                     number(json, "room_bytes") - own);
    assert_true((number(placement, "left_bytes") >= 0) == (status == 0));
    assert_int_equal(number(placement, "data_parallel") *
                         number(placement, "tensor_parallel") *
                         number(placement, "context_parallel") *
                         number(placement, "pipeline"),
                     number(json, "devices"));
    assert_int_equal(number(placement, "data_parallel") *
                         number(placement, "microbatch") *
                         number(placement, "microbatches"),
                     number(json, "global_batch"));
    double takes =
        json_number_value(json_object_get(placement, "predicted_seconds"));
    if (takes == 0)
      takes = real(placement, "step_seconds");
    assert_true(takes > 0.99 * seconds && own < peak); /* in three digits */
    assert_true(real(placement, "step_seconds") >=
                real(placement, "compute_seconds"));
    seconds = takes;
    peak = own;
  }
  json_decref(json);
}

#define LLAMA "examples/zoo/llama.net"
#define SMALL                                                             \
  " -D num_hidden_layers=8 -D hidden_size=1024 -D num_attention_heads=8 " \
  "-D intermediate_size=2816 "

static void command_lines_reproduce(void **state) {
  (void)state;
  check_placements(LLAMA,
                   "--gpus 8xa100-80 --global-batch 64 --precision "
                   "master",
                   0);
  check_placements(LLAMA, "--gpus 16xt4 --global-batch 32" SMALL, 0);
  check_placements(LLAMA,
                   "--gpus 4xrtx4090 --global-batch 16 --host-memory 256GiB "
                   "-D num_hidden_layers=16 --precision master",
                   0);
  check_placements("examples/zoo/mixtral.net",
                   "--gpus 8xh100 --global-batch 8 -D num_hidden_layers=4", 0);
  check_placements("examples/simple_cnn.net", "--gpus 4xt4", 0);
  check_placements("examples/simple_cnn.net", "--gpus l4", 0);
  /* The types of its values follow from the precision. */
  check_placements("examples/zoo/resnet.net",
                   "--gpus 6xt4 --precision master --optimizer adam", 0);
  check_placements(LLAMA,
                   "--gpus 6xt4 --precision mixed --global-batch 6" SMALL, 0);
  check_placements(LLAMA, "--gpus 2xt4 --global-batch 2 --precision master", 1);
}

/* Whatever way a command line was typed, those that are printed run. */
static void printed_command_lines_run(void **state) {
  (void)state;
  const char *dir = scratch("place");
  struct run got = run(
      "netc=" NETC_PATH "; PATH=${netc%%/*}:$PATH; "
      "cp examples/simple_cnn.net \"%s/-a'b.net\"; cd %s; "
      "for line in '--gpus 2xh100 --global-batch 64 -- -a*' "
      "'-W no-pool-remainder --gpus=2xh100 -- ./-a*' "
      "'--gpus 2xh100 --pipeline 1 --global 8 --batch 4 --color never ./-a*'; "
      "do netc place $line | sed -n '/^[0-9]  netc/,$s/^[0-9]  //p' > lines; "
      "cat lines; sh -e lines > reports; echo status $?; wc -l < lines; done",
      dir, dir);
  assert_int_equal(got.status, 0);
  assert_holds(got.out, "netc './-a'\\''b.net' -W no-pool-remainder --gpu ");
  assert_holds(got.out, "netc ./'-a'\\''b.net' --gpu h100 ");
  assert_holds(got.out,
               "netc './-a'\\''b.net' --pipeline 1 --color never --batch 8 ");
  assert_null(strstr(got.out, "--batch 4 --"));
  for (int i = 0; i < 3; i++) {
    char *at = strstr(got.out, "status 0\n");
    assert_non_null(at);
    assert_true(atoi(at + strlen("status 0\n")) > 0);
    *at = ' ';
  }
  run_free(&got);
}

static void degrees_that_are_given_stay(void **state) {
  (void)state;
  json_t *json = placed(LLAMA,
                        "--gpus 16xa100-80 --global-batch 64 --zero 2 "
                        "--pipeline 4 --checkpoint 8" SMALL,
                        0);
  json_t *placement;
  size_t i;
  json_array_foreach(json_object_get(json, "placements"), i, placement) {
    assert_int_equal(number(placement, "pipeline"), 4);
    assert_string_equal(
        json_string_value(json_object_get(placement, "checkpoint")), "8");
  }
  assert_true(i > 0);
  json_decref(json);
}

/* Twice as many operations a second, half the time; a slow network is felt. */
static void bounds_follow_the_figures(void **state) {
  (void)state;
  static const char one[] = "--gpus a100-80 --batch 64 --checkpoint 8" SMALL;
  json_t *json = placed(LLAMA, one, 0), *far;
  json_t *placement = json_array_get(json_object_get(json, "placements"), 0);
  /* Forward, backward with the gradients of both, and 7 of 8 segments again. */
  struct run got = run(NETC " " LLAMA SMALL "--emit=json=-");
  json_t *plain = json_loads(got.out, 0, NULL);
  double macs = (double)number(plain, "totals.mac_count");
  double seconds = 2 * 64 * 4 * macs / 312e12;
  assert_true(real(placement, "compute_seconds") < seconds);
  assert_true(real(placement, "compute_seconds") > 0.8 * seconds);
  assert_true(real(placement, "bubble_seconds") == 0);
  assert_true(real(placement, "near_seconds") == 0);
  json_decref(json);
  json_decref(plain);
  run_free(&got);
  json = placed(LLAMA,
                "--gpus 16xa100-80 --global-batch 64 --zero 1 "
                "--data-parallel 16 --network 100" SMALL,
                0);
  far = placed(LLAMA,
               "--gpus 16xa100-80 --global-batch 64 --zero 1 "
               "--data-parallel 16 --network 10" SMALL,
               0);
  assert_true(
      fabs(10 * real(json_array_get(json_object_get(json, "placements"), 0),
                     "far_seconds") -
           real(json_array_get(json_object_get(far, "placements"), 0),
                "far_seconds")) < 1e-9);
  json_decref(json);
  json_decref(far);
}

static double first_bound(const char *net, const char *options) {
  json_t *json = placed(net, options, 0);
  double bound = real(json_array_get(json_object_get(json, "placements"), 0),
                      "step_seconds");
  json_decref(json);
  return bound;
}

#define EVEN "tests/data/published/even.net"

/* A bound is of the fastest cut: stages as even as the net, not those that
   hold the least; unless a cut is given. */
static void a_bound_is_of_the_fastest_cut(void **state) {
  (void)state;
#define STAGES "--gpus 8xh100 --pipeline 8 --global-batch 64 --dtype bf16 "
  double macs = 32.0 * 512 * 2 * 1024 * 4096;
  double pass = 2 * 3 * macs / 989.5e12; /* of a sample through all of it */
  double own = first_bound(EVEN, STAGES "--schedule zb_h1");
  double least = first_bound(EVEN, STAGES "--schedule zb_h1 --cut memory");
  double given = first_bound(EVEN, STAGES "--cut 1,1,1,1,1,1,1,25");
  /* The 32 layers are 8 stages: 64 microbatches, and a fourth of 7. */
  double even = pass / 8 * (64 + 7 / 4.0);
  even += 2 * 12 * 32.0 * (2 * 1024 * 4096 + 7 * 1024) / 8 / 3350e9; /* Adam */
  assert_true(own > 0.98 * even && own < 1.02 * even);
  assert_true(least >= own);
  assert_true(given > 64 * pass * 25 / 32);
}

/* They stay as they are, and stand in a command line once. */
static void microbatches_that_are_given_stay(void **state) {
  (void)state;
  static const struct {
    const char *options, *holds;
  } cases[] = {{"--pipeline 2 --microbatches 16", "--microbatches 16"},
               {"--pipeline 2 --accumulate 4", "--accumulate 4"},
               {"--pipeline 1 --accumulate 4", "--accumulate 4"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char options[128];
    snprintf(options, sizeof options, "--gpus 8xh100 --global-batch 64 %s",
             cases[i].options);
    json_t *json = placed(EVEN, options, 0);
    const char *command = json_string_value(json_object_get(
        json_array_get(json_object_get(json, "placements"), 0), "command"));
    const char *at = strstr(command, cases[i].holds);
    char word[16];
    snprintf(word, sizeof word, "%.8s", cases[i].holds);
    assert_non_null(at);
    assert_null(strstr(at + 1, word));
    assert_true(strstr(command, word) == at);
    json_decref(json);
  }
  check_placements(EVEN,
                   "--gpus 8xh100 --global-batch 64 --pipeline 4 "
                   "--accumulate 2",
                   0);
  json_t *json = placed(EVEN, "--gpus 8xh100 --global-batch 64 --zero 0", 0);
  json_t *placement;
  size_t i;
  json_array_foreach(json_object_get(json, "placements"), i, placement)
      assert_int_equal(number(placement, "zero"), 0);
  json_decref(json);
  check_placements(EVEN,
                   "--gpus 8xh100 --global-batch 64 --cut 8,8,8,8 "
                   "--pipeline 4",
                   0);
}

static void says_what_is_wrong(void **state) {
  (void)state;
#define PLACE NETC " place " LLAMA SMALL
  expect(PLACE, 2, NULL, "needs devices: --gpus 8xa100-80");
  expect(PLACE "--gpus 8xa100", 2, NULL, "did you mean `a100-40`");
  expect(PLACE "--gpus 8xabacus", 2, NULL, "`--devices FILE.csv` adds");
  expect(PLACE "--gpus 2xapple-64", 2, NULL, "bandwidth of its memory");
  expect(PLACE "--gpus 0xt4", 2, NULL, "should be 1 to 1048576 devices");
  expect(PLACE "--gpus 99999999999999999999xt4", 2, NULL, "should be 1 to");
  expect(PLACE "--gpus 8xt4 --global-batch 0", 2, NULL, "--global-batch");
  expect(PLACE "--gpus 67xt4 --global-batch 16", 2, NULL,
         "; a batch of 67 can be divided");
  expect(PLACE "--gpus 61xt4 --global-batch 1", 2, NULL,
         "netc: 61 devices could only be stages of a pipeline, but this net "
         "cannot be cut into that many stages; ");
  expect(PLACE "--gpus 8xt4 --tensor-parallel 3", 1, NULL,
         "does not divide 8 heads");
  expect(NETC " place " LLAMA " --gpus 2xt4 --precision master", 1,
         "none fits; the closest one is shown\n",
         "error: nothing fits: each device lacks 50.33 GiB\n");
}

static void a_broken_line_is_one_command(void **state) {
  (void)state;
  struct run got = run(NETC " place " LLAMA " --gpus 8xa100-80 --global-batch "
                            "64 --precision master -D 'num_hidden_layers=4' "
                            "--optimizer=adam");
  char *command = strstr(got.out, "\n1  netc ");
  assert_int_equal(got.status, 0);
  assert_non_null(command);
  char *end = strstr(command, "\n\n");
  if (!end) /* there is only this one */
    end = command + strlen(command) - 1;
  *end = '\0';
  assert_holds(command, " \\\n     --");
  assert_holds(command, " -D num_hidden_layers=4 \\\n     --optimizer adam ");
  struct run again = run(NETC " %s", command + strlen("\n1  netc "));
  assert_int_equal(again.status, 0);
  assert_holds(again.out, "  FITS\ntrain, batch 8, Adam, ");
  run_free(&again);
  run_free(&got);
}

/* Published steps */

enum column {
  ID,
  MODEL,
  NET,
  OPTIONS,
  PRINTED,
  SECONDS,
  WHERE,
  SOURCE,
  BOUND,
  PREDICTED,
  COLUMNS
};

static const char header[] =
    "\n# id,model,net,options,printed,seconds,where,source,netc,"
    "predicted\n";

_Static_assert((int)COLUMNS <= (int)CSV_COLUMNS, "tests/csv.h");

static void check_row(void **state) {
  const struct row *row = *state;
  json_t *json = placed(row->at[NET], row->at[OPTIONS], 0);
  json_t *first = json_array_get(json_object_get(json, "placements"), 0);
  double bound = real(first, "step_seconds");
  double predicted =
      json_number_value(json_object_get(first, "predicted_seconds"));
  double seconds = strtod(row->at[SECONDS], NULL);
  double written = strtod(row->at[PREDICTED], NULL);
  assert_true(fabs(predicted - written) <= 1e-3 * written);
  /* Megatron's eight steps by 10 %; the page has the others. */
  if (strstr(row->at[WHERE], "table 5"))
    assert_true(fabs(predicted / seconds - 1) < 0.1);
  assert_true(bound < seconds);
  assert_true(fabs(bound / strtod(row->at[BOUND], NULL) - 1) < 1e-3);
  assert_non_null(strstr(row->at[SOURCE], "https://"));
  assert_true(*row->at[MODEL] && *row->at[PRINTED] && *row->at[WHERE]);
  json_decref(json);
}

enum { MOST = 40 };
static struct row rows[MOST];
static size_t count;

static void the_page_sums_them_up(void **state) {
  (void)state;
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < count; i++) {
    double times =
        strtod(rows[i].at[SECONDS], NULL) / strtod(rows[i].at[BOUND], NULL);
    least = fmin(least, times);
    most = fmax(most, times);
  }
  char claim[64];
  snprintf(claim, sizeof claim, "all steps took %.2f to %.2f times theirs",
           least, most);
  char *page = read_text("docs/placement.md", NULL);
  assert_holds(page, claim);
  free(page);
}

/* The nearest may be tight, which is no failure. */
static void what_is_tight_is_said(void **state) {
  (void)state;
#define ONE "--gpus 1xt4 --global-batch 1 --memory "
  static const struct {
    const char *options, *verdict, *words;
    int status;
  } asked[] = {
      {ONE "800MiB", "fits", "no placement is better than this one", 0},
      {ONE "770MiB", "tight",
       "none fits; the closest one is shown: it is tight\n", 0},
      {ONE "720MiB", "does not fit", "none fits; the closest one is shown\n",
       1},
  };
#undef ONE
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    char command[160];
    json_t *json =
        placed("examples/resnet50.net", asked[i].options, asked[i].status);
    assert_string_equal(json_string_value(json_object_get(json, "verdict")),
                        asked[i].verdict);
    assert_int_equal(json_is_true(json_object_get(json, "fits")),
                     asked[i].status == 0);
    json_decref(json);
    snprintf(command, sizeof command, NETC " place examples/resnet50.net %s",
             asked[i].options);
    expect(command, asked[i].status, asked[i].words,
           asked[i].status ? "nothing fits: " : "");
  }
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(command_lines_reproduce),
      cmocka_unit_test(the_page_sums_them_up),
      cmocka_unit_test(printed_command_lines_run),
      cmocka_unit_test(what_is_tight_is_said),
      cmocka_unit_test(degrees_that_are_given_stay),
      cmocka_unit_test(bounds_follow_the_figures),
      cmocka_unit_test(a_bound_is_of_the_fastest_cut),
      cmocka_unit_test(microbatches_that_are_given_stay),
      cmocka_unit_test(a_broken_line_is_one_command),
      cmocka_unit_test(says_what_is_wrong)};
  char *text = read_text("tests/data/published/steps.csv", NULL);
  if (!read_rows(text, header, COLUMNS, rows, MOST, &count))
    return 1;
  int failed = run_table("place", rows, count, sizeof *rows, check_row, others,
                         sizeof others / sizeof *others);
  free(text);
  return failed;
}
