/*
 * Steps that others recorded on a GPU (tests/data/cuda/recorded.csv, from
 * PyTorch's memory snapshots by tools/snapshot_truth.py), beside what netc
 * says of the same net. The recorded model writes some things out itself,
 * which are taken off by the line of its source; the rest must be equal.
 */
#define _XOPEN_SOURCE 700
#include <stdlib.h>

#include "tests/csv.h"
#include "memory/step/allocator.h"
#include "tests/report.h"

#define NET "tests/data/cuda/cs336.net"

enum column { RECORDING, PHASE, WHAT, BYTES, COUNT, OPERATION, COLUMNS };
enum { MOST = 1000, BLOCK = 512, WORDS = 10000, NORMS = 65, WIDTH = 2560 };

static struct row rows[MOST];
static size_t row_count;

static int64_t bytes_of(const struct row *row) {
  int64_t bytes = strtoll(row->at[BYTES], NULL, 10);
  return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

static bool is(const struct row *row, const char *recording, const char *phase,
               const char *what) {
  return strcmp(row->name, recording) == 0 &&
         strcmp(row->at[PHASE], phase) == 0 && strcmp(row->at[WHAT], what) == 0;
}

/* The one row of a name, or 0. */
static int64_t recorded(const char *recording, const char *phase,
                        const char *what) {
  for (size_t i = 0; i < row_count; i++)
    if (is(&rows[i], recording, phase, what))
      return strtoll(rows[i].at[BYTES], NULL, 10);
  return 0;
}

/*
 * What no net of netc's has: rms from vector_norm (54), which is kept beside
 * its root; cosines and sines of each position and sample (117, 118); in
 * softmax the places of the largest (135), sums (140) and, in 32 bits, exp
 * (138) beside the weights; a mask for all samples and heads (151).
 */
static bool is_own(const struct row *row, bool mixed) {
  static const char *const lines[] = {":54",  ":117", ":118",
                                      ":135", ":140", ":151"};
  const char *at = strrchr(row->at[OPERATION], ':');
  bool own = !mixed && strcmp(at, ":138") == 0;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    own |= strcmp(at, lines[i]) == 0;
  return own;
}

/* The factor of a norm is an einsum, which autocast runs in 16 bits. */
static bool is_factor(const struct row *row) {
  return strcmp(strrchr(row->at[OPERATION], ':'), ":57") == 0;
}

struct forward {
  const char *name;
  int positions;
  bool mixed;
};

static void kept_tensors_are_the_recorded_ones(void **state) {
  static const struct forward all[] = {
      {"128_forward", 128, false},      {"256_forward", 256, false},
      {"512_forward", 512, false},      {"128_forward_mixed", 128, true},
      {"256_forward_mixed", 256, true}, {"512_forward_mixed", 512, true}};
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const struct forward *f = &all[i];
    char options[64];
    int64_t scores = (int64_t)4 * f->positions * WORDS * (f->mixed ? 2 : 4);
    int64_t rows32 = (int64_t)4 * f->positions * WIDTH * 4, kept = 0, low = 0;
    for (size_t k = 0; k < row_count; k++) {
      if (!is(&rows[k], f->name, "forward", "live") ||
          is_own(&rows[k], f->mixed))
        continue;
      int64_t bytes = bytes_of(&rows[k]) * strtoll(rows[k].at[COUNT], NULL, 10);
      if (f->mixed && is_factor(&rows[k]))
        low += bytes;
      else if (bytes != scores) /* which the caller has */
        kept += bytes;
    }
    snprintf(options, sizeof options, "-Dcontext=%d precision=%s", f->positions,
             f->mixed ? "mixed" : "full");
    int64_t said = ask_file(NET, options, "saved_bytes");
    if (f->mixed) { /* netc's norm keeps 32 bits of each, and no factor */
      said -= NORMS * rows32;
      assert_int_equal(low, NORMS * (rows32 / 2 + WIDTH * 2));
    }
    assert_int_equal(said, kept);
  }
}

/*
 * The recorded optimizer is written out, with two tensors of work; netc's loop
 * is torch.optim.AdamW's, with three. Each handle of the library of products
 * has a workspace: one of forward, one of autograd's thread.
 */
static void peaks_are_near_the_recorded_ones(void **state) {
  static const struct forward all[] = {{"128_step", 128, false},
                                       {"256_step", 256, false},
                                       {"512_step", 512, false}};
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char options[64];
    int64_t own = 0, two = 2 * recorded("128_step", "backward", "workspace");
    snprintf(options, sizeof options, "-Dcontext=%d loss=crossentropy",
             all[i].positions);
    json_t *json = compile_file(NET, options);
    int64_t step = recorded(all[i].name, "step", "allocated") - two;
    int64_t back = recorded(all[i].name, "backward", "allocated") - two;
    int64_t said = training(json, "step_peak_bytes");
    assert_in_range(said, step, step + step / 500);
    for (size_t k = 0; k < row_count && all[i].positions == 512; k++)
      if (is(&rows[k], "512_forward", "forward", "live") &&
          is_own(&rows[k], false)) /* there at the peak of these alone */
        own += bytes_of(&rows[k]) * strtoll(rows[k].at[COUNT], NULL, 10);
    said = training(json, "backward_peak_bytes") -
           training(json, "optimizer_bytes") + own;
    assert_in_range(said, back - back / 200, back);
    json_decref(json);
  }
}

/* Hopper's, as CublasHandlePool.cpp has it; one for a thread that asks. */
static void each_handle_has_a_workspace(void **state) {
  (void)state;
  assert_int_equal(recorded("128_forward", "forward", "workspace"), 33554432);
  assert_int_equal(recorded("128_step", "forward", "workspace"), 33554432);
  assert_int_equal(recorded("128_step", "backward", "workspace"), 33554432);
  assert_int_equal(recorded("128_forward", "backward", "workspace"), 0);
}

/*
 * The allocator gives what the recorded one gave: every segment, and what
 * blocks have that were not split.
 */
static void recorded_requests_take_the_recorded_segments(void **state) {
  enum { MOST_REQUESTS = 10000, EVENTS = 20000 };
  static struct {
    int64_t bytes;
    long came, went;
  } all[MOST_REQUESTS];
  static uint32_t given[MOST_REQUESTS];
  (void)state;
  struct arena arena;
  struct allocator a;
  size_t count = 0;
  int64_t rests = 0;
  char *text = read_text("tests/data/cuda/requests.csv", NULL);
  char *rest = strchr(text, '\n') + 1;
  for (char *line; (line = strtok_r(rest, "\n", &rest)); count++) {
    assert_in_range(count, 0, MOST_REQUESTS - 1);
    all[count].bytes = strtoll(take_field(&line), NULL, 10);
    all[count].came = strtol(take_field(&line), NULL, 10);
    char *went = take_field(&line);
    all[count].went = *went ? strtol(went, NULL, 10) : EVENTS;
  }
  arena_open(&arena, NULL, NULL);
  allocator_open(&a, &arena);
  for (long event = 0; event < EVENTS; event++)
    for (size_t i = 0; i < count && all[i].came <= event; i++) {
      if (all[i].came == event)
        given[i] = allocator_take(&a, all[i].bytes);
      else if (all[i].went == event)
        allocator_give(&a, given[i]);
    }
  for (size_t i = 0; i < count; i++)
    if (all[i].went == EVENTS)
      rests -= (all[i].bytes + BLOCK - 1) / BLOCK * BLOCK;
  assert_int_equal(a.allocated + rests, recorded("128_step", "end", "rest"));
  assert_int_equal(a.reserved, recorded("128_step", "step", "reserved"));
  size_t segments = 0;
  for (size_t i = 0; i < row_count; i++) {
    if (!is(&rows[i], "128_step", "end", "segment"))
      continue;
    long of_size = 0, want = strtol(rows[i].at[COUNT], NULL, 10);
    for (size_t k = 0; k < a.segments.count; k++)
      of_size += a.segments.at[k] == bytes_of(&rows[i]);
    assert_int_equal(of_size, want);
    segments += (size_t)want;
  }
  assert_int_equal(a.segments.count, segments);
  arena_close(&arena);
  free(text);
}

/* netc's own order of requests, and a loop with a tensor of work more. */
static void reserved_is_near_the_recorded_one(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    const char *name = i ? "256_step" : "128_step";
    json_t *json = compile_file(NET, i ? "-Dcontext=256 loss=crossentropy"
                                       : "loss=crossentropy");
    int64_t want = recorded(name, "step", "reserved");
    int64_t said = training(json, "reserved_bytes");
    assert_in_range(said, want, want + want / 50);
    assert_true(training(json, "allocated_bytes") >=
                training(json, "peak_bytes"));
    assert_true(said >= training(json, "allocated_bytes"));
    json_decref(json);
  }
}

static void snapshots_are_read_and_not_run(void **state) {
  (void)state;
  assert_int_equal(system("mkdir -p build/tests/scratch/snapshots && "
                          "/usr/bin/python3 tests/snapshots.py "
                          "build/tests/scratch/snapshots"),
                   0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kept_tensors_are_the_recorded_ones),
      cmocka_unit_test(peaks_are_near_the_recorded_ones),
      cmocka_unit_test(each_handle_has_a_workspace),
      cmocka_unit_test(recorded_requests_take_the_recorded_segments),
      cmocka_unit_test(reserved_is_near_the_recorded_one),
      cmocka_unit_test(snapshots_are_read_and_not_run),
  };
  char *text = read_text("tests/data/cuda/recorded.csv", NULL);
  if (!read_rows(text, "\nrecording,phase,what,bytes,count,operation\n",
                 COLUMNS, rows, MOST, &row_count))
    return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(text);
  return failed;
}
