/*
 * Layers against PyTorch: tests/data/layers.csv holds nets with the shape
 * and the parameters that PyTorch itself gives (tools/layer_truth.py),
 * mixers.csv those of blocks of language models (tools/mixer_truth.py).
 */
#include "tests/nets.h"

struct truth {
  char net[256], shape[64];
  long long params;
};

static void check_row(void **state) {
  const struct truth *truth = *state;
  struct netc_totals totals = {.size = sizeof totals};
  struct netc_layer layer = {.size = sizeof layer};
  char shape[64] = "";
  struct netc *netc = netc_open(NULL, NULL);
  enum netc_status loaded =
      netc_load_text(netc, "row", truth->net, strlen(truth->net));
  assert_int_equal(show_errors(netc, loaded), NETC_OK);
  assert_int_equal(netc_layer(netc, netc_layer_count(netc) - 1, &layer),
                   NETC_OK);
  for (int i = 0; i < layer.out.rank; i++)
    snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%lld",
             i ? "x" : "", (long long)layer.out.dims[i]);
  assert_string_equal(shape, truth->shape);
  netc_totals(netc, &totals);
  assert_int_equal(totals.param_count, truth->params);
  netc_close(netc);
}

struct truths {
  size_t count, room;
  struct truth *rows;
};

static bool read_truths(struct truths *all, const char *path) {
  size_t length;
  char *text = read_text(path, &length);
  bool good = true;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (all->count == all->room) {
      all->room = all->room * 2 + 64;
      all->rows = realloc(all->rows, all->room * sizeof *all->rows);
    }
    struct truth *t = &all->rows[all->count++];
    good = good && sscanf(line, "\"%255[^\"]\",%63[^,],%lld", t->net, t->shape,
                          &t->params) == 3;
  }
  free(text);
  return good;
}

int main(void) {
  struct truths all = {0};
  if (!read_truths(&all, "tests/data/layers.csv") ||
      !read_truths(&all, "tests/data/mixers.csv"))
    return 1;
  struct CMUnitTest *tests = calloc(all.count + 1, sizeof *tests);
  for (size_t i = 0; i < all.count; i++)
    tests[i] = (struct CMUnitTest){.name = all.rows[i].net,
                                   .test_func = check_row,
                                   .initial_state = &all.rows[i]};
  int failed = all.count ? _cmocka_run_group_tests("layers", tests, all.count,
                                                   NULL, NULL)
                         : 1;
  free(tests);
  free(all.rows);
  return failed;
}
