/* netc fit: the answer is that of compiling every variant, one by
 * one. */
#include <inttypes.h>

#include "netc.h"
#include "tests/run.h"

enum { SPACES = 200, WIDTHS = 24, SIDES = 4, SIDE = 24, SIDE_STEP = 4 };

static uint64_t below(uint64_t *seed, uint64_t n) {
  *seed ^= *seed << 13; /* xorshift64: Marsaglia 2003 */
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (*seed >> 20) % n;
}

/* Nets along whose width figures grow, and others: what a width decides,
 * divides or counts must be found by trying. */
static void write_net(uint64_t *seed, char *to, size_t room) {
  static const char *const lines[] = {
      "conv width 3x3 pad relu",
      "conv 2*width 3x3 /2 pad bn relu",
      "conv width + 3 1x1 relu",
      "conv max(width, 8) 3x3 pad relu",
      "conv width*3//2 + 1 3x3 pad relu",
      "dwconv 3x3 pad relu",
      "pool 2x2",
      "add { conv in.c 3x3 pad relu; conv in.c 3x3 pad } {}",
      "concat { conv width 1x1 } { conv 8 3x3 pad }",
      "for c s in [width 1; 2*width 2] { conv c 3x3 /s pad relu }",
      "block width 3",
      "if width % 4 == 0 { conv 4 1x1 }",
      "if width > 12 { pool 2x2 }",
      "repeat 1 + width//8 { conv 8 3x3 pad relu }",
      "conv 48//(width//6 + 1) 3x3 pad",
      "conv 8 1x1; conv 16 3x3 pad groups=2",
  };
  size_t used =
      (size_t)snprintf(to, room,
                       "param width = 4\ninput 24x24x3\n"
                       "def block(c, k) { conv c k x k pad bn relu }\n"
                       "conv width 3x3 pad relu\n");
  uint64_t count = 1 + below(seed, 4);
  for (uint64_t i = 0; i < count; i++)
    used += (size_t)snprintf(to + used, room - used, "%s\n",
                             lines[below(seed, sizeof lines / sizeof *lines)]);
  snprintf(to + used, room - used, below(seed, 2) ? "gap\nfc 10\n" : "fc 5\n");
}

struct truth {
  int64_t width, side, macs;
};

/* Every width and side, in order; of equal ones the last. */
static struct truth brute_force(const char *text, const char *arena,
                                const char *params) {
  struct truth best = {0, 0, -1};
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_totals totals = {.size = sizeof totals};
  char value[80];
  assert_non_null(netc);
  assert_int_equal(netc_budget(netc, "arena", arena), NETC_OK);
  assert_int_equal(netc_budget(netc, "params", params), NETC_OK);
  for (int64_t width = 1; width <= WIDTHS; width++)
    for (int64_t i = 0; i < SIDES; i++) {
      int64_t side = SIDE + i * SIDE_STEP;
      snprintf(value, sizeof value, "%" PRId64, width);
      netc_define(netc, "width", value);
      snprintf(value, sizeof value, "%" PRId64 "x%" PRId64 "x_", side, side);
      netc_input_sizes(netc, "", value);
      if (netc_load_text(netc, "net", text, strlen(text)) != NETC_OK)
        continue;
      netc_totals(netc, &totals);
      if (totals.mac_count >= best.macs)
        best = (struct truth){width, side, totals.mac_count};
    }
  netc_close(netc);
  return best;
}

static void an_answer_is_that_of_trying_all(void **state) {
  (void)state;
  char text[1024], arena[32], params[32], want[80];
  const char *dir = scratch("fit");
  uint64_t seed = 88172645463325252u;
  int held = 0, bisected = 0;
  for (int i = 0; i < SPACES; i++) {
    write_net(&seed, text, sizeof text);
    snprintf(arena, sizeof arena, "%dKiB", 8 + (int)below(&seed, 140));
    snprintf(params, sizeof params, "%d", 300 + (int)below(&seed, 30000));
    if (!in_part((size_t)i, 10))
      continue;
    char path[512];
    snprintf(path, sizeof path, "%s/x.net", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    struct truth best = brute_force(text, arena, params);
    struct run r = run(NETC " fit %s --free width=1..%d --free "
                            "input=%d..%d:%d --maximize macs --budget "
                            "arena=%s,params=%s",
                       path, WIDTHS, SIDE, SIDE + (SIDES - 1) * SIDE_STEP,
                       SIDE_STEP, arena, params);
    snprintf(want, sizeof want, "width = %" PRId64 "\ninput = %" PRId64 "\n",
             best.width, best.side);
    if (best.macs < 0 ? r.status != 1 : strncmp(r.out, want, strlen(want)) != 0)
      fail_msg("space %d, arena %s, params %s:\n%swant %sgot %s%s", i, arena,
               params, text, best.macs < 0 ? "nothing\n" : want, r.out, r.err);
    held += best.macs >= 0;
    bisected += strstr(r.out, "width: found by bisection, because") != NULL;
    run_free(&r);
  }
  assert_true(held > 0 && bisected > 0 && bisected < held);
}

#define WIDTHS_NET "tests/data/search/widths.net"

static void widths_of_microcontrollers_are_found(void **state) {
  (void)state;
  static const struct {
    const char *budget, *want;
  } rows[] = {
      {"arena=256KiB,weights=1MiB", "width = 16\ninput = 176\n"},
      {"arena=320KiB,weights=1MiB", "width = 17\ninput = 192\n"},
      {"arena=512KiB,weights=2MiB", "width = 24\ninput = 208\n"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect(text_of(NETC " fit " WIDTHS_NET " --dtype i8 --free width=1..256 "
                        "--free input=48..256:16 --maximize macs --budget %s",
                   rows[i].budget),
           0, rows[i].want, "");
  expect(NETC " fit " WIDTHS_NET " --dtype i8 --free width=1..256 "
              "--maximize macs --budget arena=320KiB,weights=1MiB",
         0, "width = 18 does not fit", "");
}

/* The answers of examples/search/README.md. */
static void mcunet_has_these_answers(void **state) {
  (void)state;
  static const struct {
    const char *budget, *want[3];
  } rows[] = {
      {"arena=320KiB,weights=1MiB",
       {"width = 0.4\ninput = 160\ndepth = 4\n", "38,572,400", "301.88 KiB"}},
      {"arena=256KiB,weights=1MiB",
       {"width = 0.4\ninput = 144\ndepth = 4\n", "32,601,840", "244.69 KiB"}},
      {"arena=512KiB,weights=2MiB",
       {"width = 0.55\ninput = 208\ndepth = 4\n", "90,639,488", "509.44 KiB"}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!in_part(i, 3))
      continue;
    struct run r = run(NETC " fit examples/search/mcunet.net --free "
                            "width=0.2..1:0.05 --free input=48..224:16 --free "
                            "depth=1..4 --maximize macs --budget %s",
                       rows[i].budget);
    for (int k = 0; k < 3; k++)
      if (!strstr(r.out, rows[i].want[k]))
        fail_msg("%s: no %s in\n%s", rows[i].budget, rows[i].want[k], r.out);
    run_free(&r);
  }
  struct run r = run(NETC " examples/search/mcunet.net --details");
  assert_non_null(strstr(r.out, " 750,280  23,499,152\n"));
  run_free(&r);
}

struct front_row {
  int64_t width, input, macs, arena;
};

/* The row after `at`, with what a net of its width and input has. */
static const char *read_front(const char *at, struct front_row *row) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_totals totals = {.size = sizeof totals};
  struct netc_inference inference = {.size = sizeof inference};
  char *end;
  assert_non_null(netc);
  row->width = strtoll(at, &end, 10);
  row->input = strtoll(end, &end, 10);
  netc_define(netc, "width", text_of("%" PRId64, row->width));
  netc_input_sizes(
      netc, "", text_of("%" PRId64 "x%" PRId64 "x_", row->input, row->input));
  assert_int_equal(netc_load_file(netc, WIDTHS_NET), NETC_OK);
  netc_totals(netc, &totals);
  netc_inference(netc, &inference);
  row->macs = totals.mac_count;
  row->arena = inference.arena_bytes;
  netc_close(netc);
  return strchr(end, '\n');
}

enum { FRONT_WIDTHS = 12, FRONT_SIDES = 3 };

static bool is_shown(const struct front_row *rows, int count, int64_t width,
                     int64_t input) {
  for (int i = 0; i < count; i++)
    if (rows[i].width == width && rows[i].input == input)
      return true;
  return false;
}

/* None of a front is as good as another one in all goals, and each variant
 * that is left out has one of the front that is. */
static void several_goals_have_a_front(void **state) {
  (void)state;
  struct front_row rows[FRONT_WIDTHS * FRONT_SIDES], other;
  int count = 0;
  struct run r = run(NETC " fit " WIDTHS_NET " --free width=1..%d --free "
                          "input=64..128:32 --maximize macs,-arena",
                     FRONT_WIDTHS);
  assert_int_equal(r.status, 0);
  assert_non_null(strstr(
      r.out, "width: tried all 12 values (the goal may fall as it grows)"));
  assert_non_null(strstr(r.out, "36 variants, 36 compiled"));
  const char *at = strchr(r.out, '\n');
  while (at && at[1] != '\n') {
    assert_true(count < FRONT_WIDTHS * FRONT_SIDES);
    at = read_front(at + 1, &rows[count++]);
  }
  assert_int_equal(count, 21);
  for (int64_t width = 1; width <= FRONT_WIDTHS; width++)
    for (int64_t input = 64; input <= 128; input += 32) {
      bool covered = false;
      read_front(text_of("%" PRId64 " %" PRId64 "\n", width, input), &other);
      for (int i = 0; i < count; i++)
        covered = covered ||
                  (rows[i].macs >= other.macs && rows[i].arena <= other.arena &&
                   (rows[i].width != width || rows[i].input != input));
      if (covered == is_shown(rows, count, width, input))
        fail_msg("width %" PRId64 ", input %" PRId64 ": %s", width, input,
                 covered ? "another one is as good" : "none is as good");
    }
  run_free(&r);
}

static void what_cannot_be_searched_is_an_error(void **state) {
  (void)state;
  static const struct {
    const char *arguments, *says;
  } rows[] = {
      {"--maximize macs", "--free is missing: `--free width=1..256` for a "
                          "`param width`, or"},
      {"--free width=1..4", "the goal is missing: `--maximize macs`"},
      {"--free wdith=1..4 --maximize macs", "did you mean `width`"},
      {"--free width=1..4:0 --maximize macs",
       "width=1..4:0: a step must be above 0"},
      {"--free width=4..1 --maximize macs",
       "width=4..1: a range must begin with its smaller end"},
      {"--free width=1..9223372036854775807 --maximize macs",
       "at most 18 digits"},
      {"--free width=1..999999999999999999 --free batch=1..999999999999 "
       "--maximize macs",
       "larger steps"},
      {"--free batch=1..1000000000000 --maximize macs", "larger steps"},
      {"--free width=0.000000001..99999999:0.000000001 --maximize macs",
       "cannot be bisected"},
      {"--free width=0.5..2 --maximize macs",
       "width=0.5..2: a range of decimals needs a step: "},
      {"--free width=1,,2 --maximize macs", "beside a comma"},
      {"--free width=1..4 --free width=1..3 --maximize macs",
       "`width` has two lists of values"},
      {"--free width=1..4 --maximize mac", "did you mean `macs`"},
      {"--free width=1..4 --maximize 'macs)'",
       "--maximize macs): a goal may contain params, macs, "},
      {"--free width=1-256 --maximize macs",
       "write a range as A..B or A..B:STEP; "},
      {"--free width=1:256:8 --maximize macs",
       "write a range as A..B or A..B:STEP; "},
      {"--free input=48x48..96x96 --maximize macs",
       "write a range of sides as A..B or A..B:STEP: 48..256:16"},
      {"--free depth=1..4 --maximize macs", "`input` is the side"},
      {"--free width=1..4 --minimize arena", "write `--maximize=-arena`"},
      {"--free width=1..4 --maximize macs --budget sram=4KiB", "is `arena`"},
      {"--free width=1..4 --maximize macs --budget arean=4KiB",
       "did you mean `arena`"},
      {"--free width=1..4 --maximize seconds", "a device whose speed"},
      {"-D width=1..4 --free input=64 --maximize macs", "`netc sweep`"},
      {"--batch 1..4 --free width=1..2 --maximize macs", "`netc sweep`"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect(text_of(NETC " fit " WIDTHS_NET " %s", rows[i].arguments), 2, "",
           rows[i].says);
  expect(NETC " fit " WIDTHS_NET " --free width=1..9 --maximize macs "
              "--budget arena=1KiB",
         1, "", "nothing fits; width = 1: ");
}

static void budgets_know_weights_seconds_and_cards(void **state) {
  (void)state;
  expect(NETC " check " WIDTHS_NET " --budget weights=1KiB", 1, "",
         "of weights, but the budget is 1,024 B");
  expect(NETC " check " WIDTHS_NET " --budget weights=1GiB", 0, "", "");
  expect(NETC " check " WIDTHS_NET " --budget fits", 1, "",
         "a budget `fits` needs a device");
  expect(NETC " check " WIDTHS_NET " --budget fits --gpu t4", 0, "", "");
  expect(NETC " check " WIDTHS_NET " --budget fits --memory 1MiB", 1, "",
         "a training step does not fit the device: it needs 3.22 MiB");
  expect(NETC " check " WIDTHS_NET " --budget seconds=1", 1, "",
         "needs a device whose speed is known");
  expect(NETC " check " WIDTHS_NET " --budget seconds=1 --gpu t4", 0, "", "");
  expect(NETC " check " WIDTHS_NET " --budget seconds=0.000001 --gpu t4", 1, "",
         "a training step takes at least");
}

int main(void) {
  run_in_both_parts();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_answer_is_that_of_trying_all),
      cmocka_unit_test(widths_of_microcontrollers_are_found),
      cmocka_unit_test(mcunet_has_these_answers),
      cmocka_unit_test(several_goals_have_a_front),
      cmocka_unit_test(what_cannot_be_searched_is_an_error),
      cmocka_unit_test(budgets_know_weights_seconds_and_cards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
