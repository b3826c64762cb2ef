/*
 * What a part of a net takes, joined from runs of three units each, against
 * one run of the whole part: the nets of the zoo, in several ways.
 */
#include "library/context.h"
#include "memory/devices/chain.h"
#include "memory/checkpoint/checkpoint.h"
#include "tests/nets.h"

enum { MOST_NODES = 2500 };

static void watch(void *user, const struct moment *moment) {
  int64_t *most = user, now = moment->bytes - moment->parts[PART_GRADIENTS];
  if (now > *most)
    *most = now;
}

/* Returns how many parts were joined. */
static int check_parts(const char *path, struct search *s) {
  static const size_t lengths[] = {4, 7, 23};
  int joined = 0;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (size_t from = 0; from + lengths[i] <= s->units;
         from += lengths[i] / 2) {
      size_t to = from + lengths[i];
      struct ran ran = {0};
      int64_t most = 0, kept;
      if (!chain_run(s, from, to, &ran))
        continue;
      struct node_range nodes = {s->cut[from], s->cut[to]};
      if (nodes.first == 0 && to == s->units)
        continue; /* all of it has no inputs of its own */
      kept = stage_run(s, nodes, watch, &most);
      if (kept != ran.kept || most != ran.most)
        print_error("%s: units %zu to %zu of %zu\n", path, from, to, s->units);
      assert_int_equal(kept, ran.kept);
      assert_int_equal(most, ran.most);
      joined++;
    }
  return joined;
}

static int check_net(const char *path, const char *const *words) {
  struct netc *netc = netc_open(NULL, NULL);
  int joined = 0;
  for (; words[0]; words += 2)
    assert_int_equal(netc_set(netc, words[0], words[1]), NETC_OK);
  netc_load_file(netc, path);
  if (netc->load && netc->load->compiled.model &&
      netc->load->model.nodes.count <= MOST_NODES) {
    struct arena scratch;
    struct search s;
    struct step own, step = {.model = &netc->load->model,
                             .settings = netc->load->settings.train};
    arena_open_in(&scratch, netc->load->model.arena);
    checkpoint_choose(&step, 0, &scratch);
    search_open(&s, &own, &step, &scratch);
    joined = check_parts(path, &s);
    assert_false(s.overflow);
    arena_close(&scratch);
  }
  netc_close(netc);
  return joined;
}

static void check_zoo(const char *const *words, int least) {
  struct paths nets = find_paths("examples/zoo", ".net");
  int joined = 0;
  for (size_t i = 0; i < nets.count; i++)
    joined += check_net(nets.at[i], words);
  if (joined < least)
    print_error("%d parts were joined\n", joined);
  assert_true(joined >= least);
  paths_free(&nets);
}

static void parts_are_sums_of_their_units(void **state) {
  static const char *const words[] = {"pipeline", "4", "cut", "memory",
                                      "batch",    "8", NULL};
  (void)state;
  check_zoo(words, 800);
}

static void with_checkpoints_and_16_bits(void **state) {
  static const char *const words[] = {
      "pipeline", "4",    "cut", "memory",    "batch", "4", "checkpoint",
      "12",       "loss", "sum", "precision", "mixed", NULL};
  (void)state;
  check_zoo(words, 20);
}

static void on_a_processor_with_offload(void **state) {
  static const char *const words[] = {
      "pipeline",    "2",       "cut",        "memory",  "batch",
      "3",           "profile", "torch1-cpu", "offload", "activations",
      "host_memory", "64GiB",   NULL};
  (void)state;
  check_zoo(words, 900);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_sums_of_their_units),
      cmocka_unit_test(with_checkpoints_and_16_bits),
      cmocka_unit_test(on_a_processor_with_offload),
  };
  return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
