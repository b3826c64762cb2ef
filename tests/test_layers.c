/*
 * Layers against PyTorch: tests/data/layers.csv holds nets with the shape
 * and the parameters that PyTorch itself gives (tools/layer_truth.py).
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

int main(void) {
  size_t length, count = 0, room = 0;
  char *text = read_text("tests/data/layers.csv", &length);
  struct truth *rows = NULL;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (count == room)
      rows = realloc(rows, (room = room * 2 + 64) * sizeof *rows);
    struct truth *t = &rows[count++];
    if (sscanf(line, "\"%255[^\"]\",%63[^,],%lld", t->net, t->shape,
               &t->params) != 3)
      return 1;
  }
  struct CMUnitTest *tests = calloc(count + 1, sizeof *tests);
  for (size_t i = 0; i < count; i++)
    tests[i] = (struct CMUnitTest){
        .name = rows[i].net, .test_func = check_row, .initial_state = &rows[i]};
  int failed =
      count ? _cmocka_run_group_tests("layers", tests, count, NULL, NULL) : 1;
  free(tests);
  free(rows);
  free(text);
  return failed;
}
