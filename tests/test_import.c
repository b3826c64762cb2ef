/*
 * netc import: files of other frameworks give sources whose parameters and
 * MACs are those that the framework itself prints (tests/data/import).
 */
#define _XOPEN_SOURCE 700
#include <string.h>

#include "tests/report.h"

/* Sums two columns of a table, by their numbers from 0. */
static void sum_columns(const char *path, int first, int second,
                        int64_t sums[2]) {
  char *text = read_text(path, NULL);
  assert_non_null(text);
  sums[0] = sums[1] = 0;
  char *rest = text;
  for (char *line; (line = strtok_r(rest, "\n", &rest));) {
    char *cell = line;
    for (int i = 0; cell; i++) {
      if (i == first || i == second)
        sums[i == second] += strtoll(cell, NULL, 10);
      cell = strchr(cell, '\t');
      cell = cell ? cell + 1 : NULL;
    }
  }
  free(text);
}

static int line_count(const char *text) {
  int lines = 0;
  for (; *text; text++)
    lines += *text == '\n';
  return lines;
}

/* The source that a file gives. */
static char *import(const char *path, const char *options) {
  struct run r = run("%s import %s %s", NETC, options, path);
  if (r.status)
    print_error("%s: %s", path, r.err);
  assert_int_equal(r.status, 0);
  char *source = strdup(r.out);
  run_free(&r);
  return source;
}

static void check_totals(const char *path, const char *source,
                         const int64_t expected[2]) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_totals totals = {.size = sizeof totals};
  assert_int_equal(netc_load_text(netc, path, source, strlen(source)), NETC_OK);
  assert_int_equal(netc_totals(netc, &totals), NETC_OK);
  if (totals.trainable_count != expected[0] || totals.mac_count != expected[1])
    print_error("%s: ", path);
  assert_int_equal(totals.trainable_count, expected[0]);
  assert_int_equal(totals.mac_count, expected[1]);
  netc_close(netc);
}

/* Folded and flat, the numbers are Darknet's; folded, it is short. */
static void darknet_nets_count_as_darknet_does(void **state) {
  (void)state;
  struct paths paths = find_paths("tests/data/import/darknet", ".cfg");
  assert_true(paths.count > 15);
  for (size_t i = 0; i < paths.count; i++) {
    char table[512];
    int64_t expected[2];
    snprintf(table, sizeof table, "%.*stsv",
             (int)(strlen(paths.at[i]) - strlen("cfg")), paths.at[i]);
    sum_columns(table, 5, 6, expected);
    assert_true(expected[0] > 0);
    char *source = import(paths.at[i], "");
    char *flat = import(paths.at[i], "--flat");
    check_totals(paths.at[i], source, expected);
    check_totals(paths.at[i], flat, expected);
    assert_true(line_count(source) <= 120);
    assert_true(line_count(source) <= line_count(flat));
    free(source);
    free(flat);
  }
  paths_free(&paths);
}

static void folded_sources_are_as_short_as_promised(void **state) {
  (void)state;
  static const struct {
    const char *path;
    int lines;
  } nets[] = {{"darknet/yolov3_ab.cfg", 48},
              {"darknet/efficientnet_b0.cfg", 30},
              {"darknet/densenet201_ab.cfg", 25},
              {"darknet/darknet53.cfg", 30}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char path[128];
    snprintf(path, sizeof path, "tests/data/import/%s", nets[i].path);
    char *source = import(path, "");
    if (line_count(source) > nets[i].lines)
      print_error("%s:\n%s", path, source);
    assert_true(line_count(source) <= nets[i].lines);
    free(source);
  }
}

/* What is written is canonical, and without --flat nothing is twice. */
static void sources_are_canonical(void **state) {
  (void)state;
  struct paths paths = find_paths("tests/data/import", ".cfg");
  const char *folder = scratch("canonical");
  for (size_t i = 0; i < paths.count; i++) {
    struct run r = run("%s import %s -o %s/x.net && %s fmt --check %s/x.net",
                       NETC, paths.at[i], folder, NETC, folder);
    if (r.status)
      print_error("%s: %s", paths.at[i], r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  paths_free(&paths);
}

/* Mistakes. */

static struct mistake {
  char name[48];
  const char *file, *text, *says;
} mistakes[] = {
    {"no-section", "a.cfg", "width=3\n",
     "a.cfg:1: error: `width=3` is neither"},
    {"no-net", "a.cfg", "[convolutional]\n", "first section has to be [net]"},
    {"open-section", "a.cfg", "[net\n", "a section without its `]`"},
    {"no-size", "a.cfg", "[net]\n[convolutional]\n",
     "a.cfg:1: error: [net] needs `inputs` of at least 1"},
    {"unknown-section", "a.cfg", "[net]\ninputs=3\n\n[warp]\n",
     "a.cfg:4: error: [warp] has no counterpart in netc"},
    {"no-number", "a.cfg",
     "[net]\nheight=8\nwidth=8\nchannels=3\n"
     "[convolutional]\nfilters=many\n",
     "a.cfg:6: error: `filters=many` is no integer"},
    {"too-large", "a.cfg",
     "[net]\nheight=8\nwidth=8\nchannels=3\n"
     "[convolutional]\nfilters=4611686018427387904\n",
     "`filters=4611686018427387904` is out of range"},
    {"no-layer", "a.cfg",
     "[net]\nheight=8\nwidth=8\nchannels=3\n"
     "[route]\nlayers=-1\n",
     "a.cfg:6: error: there is no layer -1 before this one"},
    {"window", "a.cfg",
     "[net]\nheight=8\nwidth=8\nchannels=3\n"
     "[convolutional]\nfilters=3\nsize=9\n",
     "larger than its padded input"},
    {"activation", "a.cfg",
     "[net]\ninputs=3\n[connected]\noutput=3\n"
     "activation=stair\n",
     "a.cfg:5: error: the activation `stair` has no counterpart"},
    {"unknown-format", "a.xyz", "hello\n", "is of no format that netc imports"},
    {"empty", "a.cfg", "", "the first section has to be [net]"},
};

static void check_mistake(void **state) {
  const struct mistake *m = *state;
  const char *folder = scratch("mistakes");
  write_in(folder, m->file, m->text);
  struct run r =
      run("%s import %s/%s -o %s/out.net", NETC, folder, m->file, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, m->says);
  run_free(&r);
  r = run("test ! -e %s/out.net", folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(darknet_nets_count_as_darknet_does),
      cmocka_unit_test(folded_sources_are_as_short_as_promised),
      cmocka_unit_test(sources_are_canonical)};
  return run_table("import", mistakes, sizeof mistakes / sizeof *mistakes,
                   sizeof *mistakes, check_mistake, others,
                   sizeof others / sizeof *others);
}
