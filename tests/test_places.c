/*
 * Places: what netc_edit.h says of names is tried by renaming each of them,
 * in all nets of the zoo; tokens must cover a text; and what may stand at a
 * byte is compared with lists.
 */
#include "netc_edit.h"
#include "tests/nets.h"

/* Renames */

static const char new_name[] = "renamed_0";

static int compare_places(const void *a, const void *b) {
  size_t x = ((const struct netc_place *)a)->begin;
  size_t y = ((const struct netc_place *)b)->begin;
  return (x > y) - (x < y);
}

/* The text with the new name in all places; NULL: one is in another file. */
static char *rename_in(const char *path, const char *text,
                       const struct netc_name *name) {
  size_t count = name->use_count + 1, at = 0, used = 0;
  struct netc_place *places = malloc(count * sizeof *places);
  char *out = malloc(strlen(text) + count * sizeof new_name + 1);
  bool here = true;
  assert_true(places && out);
  places[0] = name->place;
  if (name->use_count)
    memcpy(places + 1, name->uses, name->use_count * sizeof *places);
  qsort(places, count, sizeof *places, compare_places);
  for (size_t i = 0; i < count && here; i++) {
    const struct netc_place *p = &places[i];
    here = strcmp(p->file, path) == 0;
    if (!here)
      break;
    assert_true(p->begin >= at);
    assert_int_equal(p->end - p->begin, strlen(name->name));
    assert_memory_equal(text + p->begin, name->name, p->end - p->begin);
    memcpy(out + used, text + at, p->begin - at);
    used += p->begin - at;
    strcpy(out + used, new_name);
    used += sizeof new_name - 1;
    at = p->end;
  }
  strcpy(out + used, text + at);
  free(places);
  if (here)
    return out;
  free(out);
  return NULL;
}

static bool same_layers(struct netc *a, struct netc *b) {
  if (netc_layer_count(a) != netc_layer_count(b))
    return false;
  for (size_t i = 0; i < netc_layer_count(a); i++) {
    struct netc_layer x = {.size = sizeof x}, y = {.size = sizeof y};
    netc_layer(a, i, &x);
    netc_layer(b, i, &y);
    if (strcmp(x.op, y.op) != 0 || x.param_count != y.param_count ||
        x.mac_count != y.mac_count || x.out.rank != y.out.rank ||
        memcmp(x.out.dims, y.out.dims,
               (size_t)x.out.rank * sizeof *x.out.dims) != 0)
      return false;
  }
  return true;
}

static int rename_all(const char *path, size_t step) {
  char *text = read_text(path, NULL);
  struct netc *netc = netc_open(NULL, NULL), *other = netc_open(NULL, NULL);
  struct netc_name name = {.size = sizeof name};
  int failed = 0;
  assert_int_equal(show_errors(netc, netc_load_file(netc, path)), NETC_OK);
  for (size_t i = 0; netc_name_at(netc, i, &name) == NETC_OK; i += step) {
    if (strstr(path, "zoo/resnet.net") && strcmp(name.name, "s") == 0)
      continue; /* `block c s=s` calls two defs, by a constant */
    char *renamed = rename_in(path, text, &name);
    if (!renamed)
      continue;
    enum netc_status status =
        netc_load_text(other, path, renamed, strlen(renamed));
    if (status != NETC_OK || !same_layers(netc, other)) {
      print_error("%s:%u: `%s` renamed\n", path, name.place.line, name.name);
      show_errors(other, status);
      failed++;
    }
    free(renamed);
  }
  netc_close(netc);
  netc_close(other);
  free(text);
  return failed;
}

static void rename_zoo(size_t files, size_t names) {
  struct paths paths = find_paths("examples", ".net");
  int failed = 0;
  for (size_t i = 0; i < paths.count; i += files)
    failed += rename_all(paths.at[i], names);
  assert_int_equal(failed, 0);
  paths_free(&paths);
}

static void some_renames(void **state) {
  (void)state;
  rename_zoo(3, 4);
}

static void all_renames(void **state) {
  (void)state;
  rename_zoo(1, 1);
}

/* Tokens: what lies between them is blank, and each finds itself. */

static void check_tokens(const char *path) {
  size_t length, at = 0, i = 0;
  char *text = read_text(path, &length);
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_token token = {.size = sizeof token};
  netc_load_file(netc, path);
  for (; netc_token(netc, 0, i, &token) == NETC_OK; i++) {
    assert_true(token.place.begin >= at && token.place.end <= length);
    assert_int_equal(strspn(text + at, " \t\r\n\\"), token.place.begin - at);
    at = token.place.end;
    if (token.place.end > token.place.begin + 1)
      assert_int_equal(netc_token_at(netc, 0, token.place.begin + 1), i);
  }
  assert_int_equal(strspn(text + at, " \t\r\n\\"), length - at);
  netc_close(netc);
  free(text);
}

static void tokens(void **state) {
  (void)state;
  struct paths paths = find_paths("examples", ".net");
  for (size_t i = 0; i < paths.count; i++)
    check_tokens(paths.at[i]);
  paths_free(&paths);
}

/* The value of a key is a word of its own, also where a layer has its name. */
static void choices_are_no_layers(void **state) {
  (void)state;
  static const char source[] = "input 8\ngelu approximate=tanh\n"
                               "linear 8 gelu(approximate=tanh) tanh\n"
                               "def f(act=tanh) { act }\n";
  static const int kinds[] = {NETC_TOKEN_WORD, NETC_TOKEN_WORD,
                              NETC_TOKEN_LAYER, NETC_TOKEN_LAYER};
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_token token = {.size = sizeof token};
  size_t found = 0;
  netc_load_text(netc, "a.net", source, sizeof source - 1);
  for (size_t i = 0; netc_token(netc, 0, i, &token) == NETC_OK; i++)
    if (strncmp(source + token.place.begin, "tanh", 4) == 0)
      assert_int_equal(token.kind, kinds[found++]);
  assert_int_equal(found, sizeof kinds / sizeof *kinds);
  netc_close(netc);
}

/* Callers */

static void callers(void **state) {
  (void)state;
  static const char source[] = "input 8x8x3\n"
                               "def f(c) { conv c 1x1 }\n"
                               "repeat 2 {\n"
                               "  f 4\n"
                               "}\n"
                               "s: conv 4 1x1\n"
                               "again s\n";
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_caller c = {.size = sizeof c};
  assert_int_equal(netc_load_text(netc, "a.net", source, sizeof source - 1),
                   NETC_OK);
  assert_int_equal(netc_layer_caller(netc, 0, 0, &c), NETC_USAGE);
  assert_int_equal(netc_layer_caller(netc, 2, 0, &c), NETC_OK);
  assert_int_equal(c.kind, NETC_CALLER_DEF);
  assert_string_equal(c.name, "f");
  assert_string_equal(c.place.file, "a.net");
  assert_int_equal(c.place.line, 4);
  assert_int_equal(c.place.column, 3);
  assert_int_equal(netc_layer_caller(netc, 2, 1, &c), NETC_OK);
  assert_int_equal(c.kind, NETC_CALLER_LOOP);
  assert_int_equal(c.place.line, 3);
  assert_int_equal(c.turn, 2);
  assert_int_equal(c.turns, 2);
  assert_int_equal(netc_layer_caller(netc, 2, 2, &c), NETC_USAGE);
  assert_int_equal(netc_layer_caller(netc, 4, 0, &c), NETC_OK);
  assert_int_equal(c.kind, NETC_CALLER_AGAIN);
  assert_string_equal(c.name, "s");
  const int64_t *layers;
  const char *conv = strstr(source, "conv c");
  size_t count = netc_layers_at(netc, 0, (size_t)(conv - source), &layers);
  assert_int_equal(count, 2);
  assert_int_equal(layers[0], 1);
  assert_int_equal(layers[1], 2);
  netc_close(netc);
}

/* What may stand where `|` is: words that are there, and others that are not
 */

static const struct {
  const char *source, *there, *not_there;
} places[] = {
    {"input 8x8x3\ndef f(c) { }\nc|\nrelu\n",
     "conv f repeat output let error warn allow", "c"},
    {"input 8x8x3\nconv 4 |\n", "groups= pad nobias relu frozen inplace= min",
     "add repeat input causal"},
    {"input 8x8x3\ns: conv 4 1x1\nfrom |\nt: relu\n", "s", "t conv"},
    {"input 8x8x3\ns: relu\nadd s|\n", "s relu", "repeat"},
    {"input 8x8x3\nlet k = 3\nlet m = |\n", "k min", "m conv"},
    {"input 8x8x3\ndef f(wide, s=1) { conv wide 1x1 }\nf |\n",
     "wide= s=", "groups="},
    {"input 8x8x3\ndef f(wide) { conv | }\n", "wide groups=", "repeat"},
    {"input 8x8x3\nconv in.|\n", "c h w size", "conv"},
    {"input 8x8x3\n{ a: relu }\nfrom |\n", "", "a"},
    {"input 8x8x3\nskip: fork { | }\n", "conv", "groups="},
    {"train |\n", "batch= optimizer=", "conv"},
    {"input 8x8x3\nconv 4 1x1 )\nlet k = 3\nconv k 3x3 | \n", "k groups=", "m"},
};

static bool is_there(struct netc *netc, size_t byte, const char *word) {
  struct netc_choice choice = {.size = sizeof choice};
  for (size_t i = 0; netc_choice(netc, 0, byte, i, &choice) == NETC_OK; i++)
    if (strcmp(choice.text, word) == 0)
      return true;
  return false;
}

static int expect_words(struct netc *netc, const char *source, size_t byte,
                        const char *words, bool there) {
  char copy[200];
  int failed = 0;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
    if (is_there(netc, byte, word) != there) {
      print_error("%s: `%s` is %sthere\n", source, word, there ? "not " : "");
      failed++;
    }
  return failed;
}

static void choices(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  int failed = 0;
  netc_partial(netc, true);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char text[400];
    const char *source = places[i].source;
    size_t byte = strcspn(source, "|");
    snprintf(text, sizeof text, "%.*s%s", (int)byte, source, source + byte + 1);
    netc_load_text(netc, "a.net", text, strlen(text));
    failed += expect_words(netc, source, byte, places[i].there, true);
    failed += expect_words(netc, source, byte, places[i].not_there, false);
  }
  netc_close(netc);
  assert_int_equal(failed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(callers),
      cmocka_unit_test(tokens),
      cmocka_unit_test(choices_are_no_layers),
      cmocka_unit_test(choices),
      cmocka_unit_test(some_renames),
      slow_test(all_renames),
  };
  return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
