/* netc_hint, netc_recall and netc_layer_formulas: what stands at lines. */
#include "tests/nets.h"

#include "netc_edit.h"

/* "2:8x8x4 3:~4x4x4": the hints of the net's own text. */
static const char *hints_of_text(struct netc *netc, const char *text) {
  static char out[2000];
  size_t used = 0;
  struct netc_hint hint = {.size = sizeof hint};
  enum netc_status status = netc_load_text(netc, "a.net", text, strlen(text));
  assert_true(status == NETC_OK || status == NETC_ERROR);
  *out = '\0';
  for (size_t i = 0; netc_hint(netc, 0, i, &hint) == NETC_OK; i++) {
    used += (size_t)snprintf(out + used, sizeof out - used, "%s%u:%s%s",
                             i ? " " : "", (unsigned)hint.line,
                             hint.recalled ? "~" : "", hint.shape);
    assert_int_equal(hint.exact, !hint.recalled && !strchr(hint.shape, '?'));
    assert_true(text[hint.byte] == '\0' || text[hint.byte] == '\n' ||
                text[hint.byte] == '\r');
  }
  return out;
}

static struct netc *open_partial(bool recalls) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_non_null(netc);
  netc_partial(netc, true);
  netc_recall(netc, recalls);
  return netc;
}

static const struct {
  const char *text, *hints;
} lines[] = {
    {"input 8x8x3\nconv 4 3x3 pad bn relu  # a comment\npool 2x2",
     "1:8x8x3 2:8x8x4 3:4x4x4"},
    {"input 8x8x3\r\nconv 4 3x3 pad\r\n", "1:8x8x3 2:8x8x4"},
    /* what ends last on a line, and of that the widest */
    {"input 8x8x3\n{ conv 4 3x3 pad; pool 2x2 }\n", "1:8x8x3 2:4x4x4"},
    {"input 8x8x3\nadd {\n  conv 3 3x3 pad\n} {}\nflatten\n",
     "1:8x8x3 3:8x8x3 4:8x8x3 5:192"},
    /* several layers of one line */
    {"input 16x16x3\nrepeat 3 { pool 2x2 }\n", "1:16x16x3 2:8x8x3 .. 2x2x3"},
    {"input 8x8x3\ndef f(c) {\n  conv c 3x3\n}\nf 4\nf 5\n",
     "1:8x8x3 3:6x6x4 .. 4x4x5 5:6x6x4 6:4x4x5"},
    {"input 8x8x3\ndef f(c) { conv c 3x3; fork { gap; fc 2 } }\nf 4\n",
     "1:8x8x3 2:2 3:6x6x4"},
    {"input 8x8x3\nconv 4 3x3 pda=1\npool 2x2\n", "1:8x8x3 2:?x?x4 3:?x?x4"},
};

static void shapes_of_lines(void **state) {
  (void)state;
  struct netc *netc = open_partial(false);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    assert_same_text(lines[i].text, lines[i].hints,
                     hints_of_text(netc, lines[i].text));
  struct netc_hint hint = {.size = sizeof hint};
  assert_int_equal(netc_hint(netc, 9, 0, &hint), NETC_USAGE);
  assert_int_equal(netc_hint(netc, 0, 3, &hint), NETC_USAGE);
  netc_close(netc);
}

/* One text after the other. */
static const struct {
  const char *text, *hints;
} typed[] = {
    {"input 8x8x3\nconv 4 3x3 pad\npool 2x2\nconv 5 1x1\n",
     "1:8x8x3 2:8x8x4 3:4x4x4 4:4x4x5"},
    /* the line itself is not what it was, those after it are */
    {"input 8x8x3\nconv 4 3x\npool 2x2\nconv 5 1x1\n",
     "1:8x8x3 2:? 3:~4x4x4 4:~4x4x5"},
    /* as long as it goes on, and where lines move */
    {"input 8x8x3\n\nconv 4 3\n# more\npool 2x2\nconv 5 1x1\n",
     "1:8x8x3 3:6x6x4 5:3x3x4 6:3x3x5"},
    {"input 8x8x3\n\ncon\n# more\npool 2x2\nconv 5 1x1\n",
     "1:8x8x3 3:? 5:~3x3x4 6:~3x3x5"},
    {"input 8x8x3\n\npool 2x2\nco\nconv 5 1x1\n",
     "1:8x8x3 3:4x4x3 4:? 5:~3x3x5"},
    /* not against what is known now */
    {"input 8x8x3\nconv 4 3x3 pad\npool 2x2\n", "1:8x8x3 2:8x8x4 3:4x4x4"},
    {"input 8x8x3\nconv 6 3x3 pda\npool 2x2\n", "1:8x8x3 2:?x?x6 3:?x?x6"},
    /* a net without an error is what it is */
    {"input 8x8x3\n", "1:8x8x3"},
    {"input 8x8x3\ncon\npool 2x2\n", "1:8x8x3 2:? 3:?x?x?"},
};

static void shapes_that_stay(void **state) {
  (void)state;
  struct netc *netc = open_partial(true);
  for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
    assert_same_text(typed[i].text, typed[i].hints,
                     hints_of_text(netc, typed[i].text));
  hints_of_text(netc, typed[0].text);
  netc_recall(netc, false);
  netc_recall(netc, true);
  assert_same_text("forgotten", "1:8x8x3 2:? 3:?x?x? 4:?x?x5",
                   hints_of_text(netc, typed[1].text));
  netc_close(netc);
}

static void formulas(void **state) {
  (void)state;
  static const char source[] = "input 8x8x3\nconv 4 3x3 relu\n";
  struct netc *netc = open_partial(false);
  const char *text = NULL;
  assert_int_equal(netc_load_text(netc, "a.net", source, sizeof source - 1),
                   NETC_OK);
  for (size_t layer = 1; layer < 3; layer++) {
    assert_int_equal(netc_layer_formulas(netc, layer, &text), NETC_OK);
    assert_string_equal(text, "each side floor((8 - 3) / 1) + 1 = 6\n"
                              "parameters (3*3*3)*4 + 4 = 112\n"
                              "MACs (6*6*4)*(3*3*3) = 3,888\n");
  }
  assert_int_equal(netc_layer_formulas(netc, 3, &text), NETC_USAGE);
  assert_int_equal(netc_load_text(netc, "a.net", source, sizeof source - 3),
                   NETC_ERROR);
  assert_int_equal(netc_layer_formulas(netc, 1, &text), NETC_OK);
  assert_string_equal(text, "");
  netc_close(netc);
}

/* The word at a `^` under a text's line 2. */
static const struct {
  const char *text, *marks, *words, *rows;
} hovers[] = {
    {"input 8x8x3\nconv 4 3x3 relu\n", "^",
     "conv: convolution: a window of weights moves over the map\n",
     "conv1  conv 4 3x3 relu\n8x8x3 -> 6x6x4\n112 parameters, 3,888 MACs\n"
     "1.00 KiB kept for backward\neach side floor((8 - 3) / 1) + 1 = 6\n"
     "parameters (3*3*3)*4 + 4 = 112\nMACs (6*6*4)*(3*3*3) = 3,888\n"},
    {"input 8x8x3\na: conv 4 3x3\nrelu\n", "^",
     "label a, line 2, used 0 times\n", NULL},
    {"input 8x8x3\nconv 4 3x3 groups=1\n", "           ^",
     "groups=N: groups of channels that are convolved separately (1)\n", NULL},
    {"input 8x8x3\ntrain batch=2\nconv 4 3x3\n", "      ^",
     "batch=N: batch size (1)\n", ""},
};

static void what_is_under_a_pointer(void **state) {
  (void)state;
  struct netc *netc = open_partial(false);
  for (size_t i = 0; i < sizeof hovers / sizeof *hovers; i++) {
    struct netc_hover hover = {.size = sizeof hover};
    const char *text = hovers[i].text;
    size_t byte =
        (size_t)(strchr(text, '\n') + 1 - text) + strlen(hovers[i].marks) - 1;
    assert_int_equal(netc_load_text(netc, "a.net", text, strlen(text)),
                     NETC_OK);
    assert_int_equal(netc_hover(netc, 0, byte, &hover), NETC_OK);
    assert_same_text(text, hovers[i].words, hover.words);
    if (hovers[i].rows)
      assert_same_text(text, hovers[i].rows, hover.rows);
    assert_int_equal(netc_hover(netc, 9, byte, &hover), NETC_USAGE);
  }
  netc_close(netc);
}

static void forms_of_arguments(void **state) {
  (void)state;
  char form[6];
  struct netc_argument key = {.name = "groups", .form = NETC_KEY, .value = "N"};
  assert_int_equal(netc_argument_form(&key, NULL, 0), 8);
  assert_int_equal(netc_argument_form(&key, form, sizeof form), 8);
  assert_string_equal(form, "group");
  struct netc_argument word = {.form = NETC_WORD, .words = "a b"};
  assert_int_equal(netc_argument_form(&word, form, sizeof form), 3);
  assert_string_equal(form, "a|b");
  struct netc_argument place = {.name = "size", .form = NETC_STRIDE};
  assert_int_equal(netc_argument_form(&place, form, sizeof form), 5);
  assert_string_equal(form, "/SIZE");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_of_lines),
      cmocka_unit_test(shapes_that_stay),
      cmocka_unit_test(formulas),
      cmocka_unit_test(what_is_under_a_pointer),
      cmocka_unit_test(forms_of_arguments),
  };
  return cmocka_run_group_tests_name("hints", tests, NULL, NULL);
}
