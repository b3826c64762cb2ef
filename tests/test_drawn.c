/*
 * Every output of many nets, in every style of labels, width and direction:
 * the nets of the tables, the zoo, and random ones, which need PyTorch. No
 * output is compared; sanitizers look at how it is made. DRAWN=FILE in the
 * environment has nets, a line each, that are tried alone.
 */
#define _XOPEN_SOURCE 700
#include "tests/csv.h"
#include "tests/nets.h"

struct look {
  bool source, unfold, expand;
  enum netc_direction direction;
  enum netc_tint tint;
  int64_t width, height;
};

enum { LOOKS = 48, PRIME = 29, RANDOM_NETS = 500 };

/* All styles, directions and widths in 24 looks; what is open in other ones. */
static struct look look_at(size_t number) {
  static const int64_t widths[] = {0, 2400, 5000, 1000};
  return (struct look){.source = number & 1,
                       .direction = number & 2 ? NETC_RIGHT : NETC_DOWN,
                       .width = widths[number / 4 % 4],
                       .height = number % 16 == 5 ? 2400 : 0,
                       .unfold = number / 16 % 3 == 1,
                       .expand = number / 16 % 3 == 2,
                       .tint = (enum netc_tint)(number % 4)};
}

static bool count(void *user, const char *bytes, size_t length) {
  (void)bytes;
  *(size_t *)user += length;
  return true;
}

/* All that can be written of a net; how many outputs that were. */
static int emit_all(struct netc *netc, size_t number) {
  struct look look = look_at(number);
  struct netc_options options = {.size = sizeof options,
                                 .source_labels = look.source,
                                 .unfold = look.unfold,
                                 .expand = look.expand,
                                 .direction = look.direction,
                                 .tint = look.tint,
                                 .picture_width = look.width,
                                 .picture_height = look.height};
  struct netc_output_kind kind = {.size = sizeof kind};
  int written = 0;
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++) {
    size_t length = 0;
    enum netc_status status =
        netc_emit(netc, kind.name, &options, count, &length);
    assert_true(status != NETC_NO_MEMORY && status != NETC_BUG);
    assert_true(status != NETC_OK || length > 0);
    written += status == NETC_OK;
  }
  return written;
}

static void draw_text(const char *text, size_t number) {
  struct netc *netc = netc_open(NULL, NULL);
  if (netc_load_text(netc, "drawn.net", text, strlen(text)) == NETC_OK &&
      emit_all(netc, number) < 20)
    fail_msg("few outputs of %s", text);
  netc_close(netc);
}

/* Rows of a table whose first field is a net. */
static void draw_table(const char *path, size_t part) {
  char *text = read_text(path, NULL), *rest = text;
  size_t number = 0;
  assert_non_null(text);
  for (char *line; (line = strtok_r(rest, "\n", &rest));)
    if (*line == '"' && in_part(number++, part))
      draw_text(take_field(&line), number * PRIME % LOOKS);
  assert_true(number > 100);
  free(text);
}

static void nets_of_tables_are_drawn(void **state) {
  (void)state;
  draw_table("tests/data/figures.csv", SANITIZED ? 40 : 10);
  draw_table("tests/data/random.csv", SANITIZED ? 40 : 10);
}

static void nets_of_the_zoo_are_drawn(void **state) {
  (void)state;
  struct paths paths = find_paths("examples", ".net");
  assert_true(paths.count > 40);
  size_t number = 0; /* a quarter of the looks: each is a net's in four */
  for (size_t i = 0; i < paths.count; i++)
    for (size_t k = i % 4; k < LOOKS; k += 4)
      if (in_part(number++, SANITIZED ? 3 * PRIME : PRIME / 4)) {
        struct netc *netc = netc_open(NULL, NULL);
        if (netc_load_file(netc, paths.at[i]) == NETC_OK)
          assert_true(emit_all(netc, k) >= 20);
        netc_close(netc);
      }
  paths_free(&paths);
}

/* A net a line; a `;` in place of a line's end. */
static void draw_lines(char *text, int least) {
  char *rest = text;
  int number = 0;
  for (char *line; (line = strtok_r(rest, "\n", &rest)); number++)
    draw_text(line, (size_t)number * PRIME % LOOKS);
  assert_true(number >= least);
  free(text);
}

static void random_nets_are_drawn(void **state) {
  (void)state;
  if (!in_part(1, 2))
    return; /* this takes long */
  skip_without_python("torch");
  struct run r =
      run("/usr/bin/python3 tools/random_nets " NETC " %d 100001 --texts",
          RANDOM_NETS);
  assert_int_equal(r.status, 0);
  draw_lines(r.out, RANDOM_NETS / 2);
  r.out = NULL;
  run_free(&r);
}

static void nets_of_a_file_are_drawn(void **state) {
  char *text = read_text(*state, NULL);
  assert_non_null(text);
  draw_lines(text, 1);
}

int main(void) {
  char *file = getenv("DRAWN");
  const struct CMUnitTest own[] = {
      {file, nets_of_a_file_are_drawn, NULL, NULL, file}};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nets_of_tables_are_drawn),
      cmocka_unit_test(nets_of_the_zoo_are_drawn),
      slow_test(random_nets_are_drawn)};
  if (file)
    return cmocka_run_group_tests(own, NULL, NULL);
  run_in_both_parts();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
