/*
 * Partial models: a token is deleted from a net of the zoo, and what is still
 * known is compared with the whole net. A line is exact if the shapes of the
 * first and the last layer that it makes are those of the whole net, partial
 * if one of them has a size that is unknown, and else wrong. Deletions that
 * leave a net without an error are not counted.
 */
#include <ctype.h>

#include "tests/nets.h"

#include "netc_edit.h"

enum { MOST_LINES = 4000, SHAPE = 160, NETS = 100 };

struct hint {
  char first[SHAPE], last[SHAPE];
  bool made;
};

struct hints {
  struct hint at[MOST_LINES];
};

static void put_shape(char *out, const struct netc_shape *shape) {
  size_t used = (size_t)snprintf(out, SHAPE, "%s", shape->rank ? "" : "?");
  for (int i = 0; i < shape->rank; i++)
    used += shape->dims[i] == NETC_UNKNOWN
                ? (size_t)snprintf(out + used, SHAPE - used, "?x")
                : (size_t)snprintf(out + used, SHAPE - used, "%lldx",
                                   (long long)shape->dims[i]);
}

/* The hints that an editor would show at the end of each line. */
static void read_hints(struct netc *netc, const char *path,
                       struct hints *hints) {
  memset(hints, 0, sizeof *hints);
  for (size_t i = 0; i < netc_layer_count(netc); i++) {
    struct netc_layer layer = {.size = sizeof layer};
    assert_int_equal(netc_layer(netc, i, &layer), NETC_OK);
    if (strcmp(layer.place.file, path) != 0 || layer.place.line >= MOST_LINES)
      continue;
    struct hint *hint = &hints->at[layer.place.line];
    put_shape(hint->last, &layer.out);
    if (!hint->made)
      put_shape(hint->first, &layer.out);
    hint->made = true;
  }
}

/* Tokens */

struct piece {
  size_t begin, end;
  unsigned line;
};

static size_t piece_end(const char *text, size_t at) {
  static const char *const pairs[] = {
      "->", "..", "==", "!=", "<=", ">=", "//", "**"};
  size_t end = at + 1;
  if (isdigit((unsigned char)text[at])) {
    while (isdigit((unsigned char)text[end]) ||
           (text[end] == '.' && isdigit((unsigned char)text[end + 1])))
      end++;
  } else if (text[at] == '"') {
    while (text[end] && text[end] != '"' && text[end] != '\n')
      end++;
    end += text[end] == '"';
  } else if (text[at] == 'x' && isdigit((unsigned char)text[at + 1])) {
    return end;
  } else if (isalpha((unsigned char)text[at]) || text[at] == '_') {
    while (isalnum((unsigned char)text[end]) || text[end] == '_')
      end++;
  } else {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
      if (strncmp(text + at, pairs[i], 2) == 0)
        end = at + 2;
  }
  return end;
}

static size_t find_pieces(const char *text, struct piece *pieces, size_t room) {
  size_t count = 0;
  unsigned line = 1;
  for (size_t at = 0; text[at];) {
    if (text[at] == '#')
      at += strcspn(text + at, "\n");
    else if (isspace((unsigned char)text[at]) || text[at] == '\\')
      line += text[at++] == '\n';
    else {
      size_t end = piece_end(text, at);
      if (count < room)
        pieces[count++] = (struct piece){at, end, line};
      at = end;
    }
  }
  return count;
}

/* The measure */

struct tally {
  long errors, lines, exact, partial, wrong;
};

static bool is_whole(const struct hint *hint) {
  return hint->made && !strchr(hint->first, '?') && !strchr(hint->last, '?');
}

static void compare(const struct hints *whole, const struct hints *left,
                    unsigned broken, const char *what, struct tally *tally) {
  bool tells = getenv("PARTIAL_TELLS");
  for (unsigned i = 1; i < MOST_LINES; i++) {
    const struct hint *a = &whole->at[i], *b = &left->at[i];
    if (!a->made || i == broken)
      continue;
    bool same =
        strcmp(a->first, b->first) == 0 && strcmp(a->last, b->last) == 0;
    tally->lines++;
    tally->exact += same;
    tally->partial += !same && !is_whole(b);
    tally->wrong += !same && is_whole(b);
    if (tells && !same && is_whole(b))
      printf("%s: wrong at line %u: %s .. %s, not %s .. %s\n", what, i,
             b->first, b->last, a->first, a->last);
  }
}

static void delete_one(struct netc *netc, const char *path, const char *text,
                       const struct piece *piece, const struct hints *whole,
                       struct tally *tally) {
  static struct hints left;
  char what[400];
  size_t length = strlen(text), gone = piece->end - piece->begin;
  char *broken = malloc(length + 1);
  assert_non_null(broken);
  memcpy(broken, text, piece->begin);
  strcpy(broken + piece->begin, text + piece->end);
  enum netc_status status = netc_load_text(netc, path, broken, length - gone);
  free(broken);
  if (status == NETC_OK)
    return;
  assert_int_equal(status, NETC_ERROR);
  struct tally before = *tally;
  snprintf(what, sizeof what, "%s:%u without `%.*s`", path, piece->line,
           (int)gone, text + piece->begin);
  read_hints(netc, path, &left);
  tally->errors++;
  compare(whole, &left, piece->line, what, tally);
  if (getenv("PARTIAL_TELLS"))
    printf("%s: %ld of %ld exact, %ld wrong\n", what,
           tally->exact - before.exact, tally->lines - before.lines,
           tally->wrong - before.wrong);
}

static void measure(const char *path, int deletions, struct tally *tally) {
  static struct hints whole;
  static struct piece pieces[20000];
  char *text = read_text(path, NULL);
  assert_non_null(text);
  struct netc *netc = netc_open(NULL, NULL);
  assert_non_null(netc);
  netc_partial(netc, true);
  assert_int_equal(show_errors(netc, netc_load_file(netc, path)), NETC_OK);
  read_hints(netc, path, &whole);
  size_t count = find_pieces(text, pieces, sizeof pieces / sizeof *pieces);
  uint32_t dice = 2463534242u;
  for (const char *c = path; *c; c++)
    dice = dice * 31 + (unsigned char)*c;
  for (int i = 0; i < deletions; i++) {
    dice ^= dice << 13, dice ^= dice >> 17, dice ^= dice << 5;
    delete_one(netc, path, text, &pieces[dice % count], &whole, tally);
  }
  netc_close(netc);
  free(text);
}

/* At least `least` % of the lines are exact; at most 1 % are wrong. */
static void measure_zoo(int deletions, int least) {
  struct tally all = {0};
  struct paths paths = find_paths("examples", ".net");
  assert_true(paths.count > 60);
  for (size_t i = 0; i < paths.count; i++)
    measure(paths.at[i], deletions, &all);
  print_message("%ld errors, %ld lines: %ld exact, %ld partial, %ld wrong\n",
                all.errors, all.lines, all.exact, all.partial, all.wrong);
  assert_true(all.errors * 3 > (long)paths.count * deletions * 2);
  assert_true(all.exact * 100 >= all.lines * least);
  assert_true(all.wrong * 100 <= all.lines);
  paths_free(&paths);
}

/* While one types: netc_recall */

struct typing {
  long errors, lines, exact, recalled, recalled_wrong, partial, wrong;
};

struct line_shape {
  char shape[2 * SHAPE];
  bool made, exact, recalled;
};

static void read_lines(struct netc *netc, struct line_shape *lines) {
  struct netc_hint hint = {.size = sizeof hint};
  memset(lines, 0, MOST_LINES * sizeof *lines);
  for (size_t i = 0; netc_hint(netc, 0, i, &hint) == NETC_OK; i++) {
    assert_true(hint.line < MOST_LINES);
    struct line_shape *line = &lines[hint.line];
    *line = (struct line_shape){"", true, hint.exact, hint.recalled};
    snprintf(line->shape, sizeof line->shape, "%s", hint.shape);
  }
}

static void compare_lines(const struct line_shape *whole,
                          const struct line_shape *now, unsigned broken,
                          const char *what, struct typing *all) {
  for (unsigned i = 1; i < MOST_LINES; i++) {
    if (!whole[i].made || i == broken)
      continue;
    bool same = now[i].made && strcmp(whole[i].shape, now[i].shape) == 0;
    all->lines++;
    all->exact += same && !now[i].recalled;
    all->recalled += same && now[i].recalled;
    all->recalled_wrong += !same && now[i].recalled;
    all->partial += !same && !now[i].recalled && !now[i].exact;
    all->wrong += !same && !now[i].recalled && now[i].exact;
    if (!same && (now[i].recalled || now[i].exact) && getenv("PARTIAL_TELLS"))
      printf("%s: line %u: %s%s, not %s\n", what, i, now[i].recalled ? "~" : "",
             now[i].shape, whole[i].shape);
  }
}

/* Takes the token away by letters, from its end on, as one does. */
static void type_away(struct netc *netc, const char *path, const char *text,
                      const struct piece *piece, const struct line_shape *whole,
                      struct typing *all) {
  static struct line_shape now[MOST_LINES];
  char what[400];
  size_t length = strlen(text);
  char *left = malloc(length + 1);
  enum netc_status status = NETC_OK;
  assert_non_null(left);
  memcpy(left, text, length + 1);
  assert_int_equal(netc_load_text(netc, path, text, length), NETC_OK);
  for (size_t end = piece->end; end > piece->begin; end--) {
    memmove(left + end - 1, left + end, length - end + 1);
    length--;
    status = netc_load_text(netc, path, left, length);
  }
  free(left);
  snprintf(what, sizeof what, "%s:%u typed away `%.*s`", path, piece->line,
           (int)(piece->end - piece->begin), text + piece->begin);
  read_lines(netc, now);
  all->errors += status == NETC_ERROR;
  if (status == NETC_ERROR)
    compare_lines(whole, now, piece->line, what, all);
}

static void type_in(const char *path, int deletions, struct typing *all) {
  static struct line_shape whole[MOST_LINES];
  static struct piece pieces[20000];
  char *text = read_text(path, NULL);
  assert_non_null(text);
  struct netc *netc = netc_open(NULL, NULL);
  assert_non_null(netc);
  netc_partial(netc, true);
  netc_recall(netc, true);
  netc_mode(netc, NETC_FOR_CHECK);
  assert_int_equal(show_errors(netc, netc_load_file(netc, path)), NETC_OK);
  read_lines(netc, whole);
  size_t count = find_pieces(text, pieces, sizeof pieces / sizeof *pieces);
  uint32_t dice = 362436069u;
  for (const char *c = path; *c; c++)
    dice = dice * 31 + (unsigned char)*c;
  for (int i = 0; i < deletions; i++) {
    dice ^= dice << 13, dice ^= dice >> 17, dice ^= dice << 5;
    type_away(netc, path, text, &pieces[dice % count], whole, all);
  }
  netc_close(netc);
  free(text);
}

/* Of all other lines 95 % are right, marked ones counted; 2 % are wrong at most
 * where nothing marks them, and as many where it does: `fc 5` of `fc 512` is a
 * net, too. */
static void type_in_zoo(int deletions) {
  struct typing all = {0};
  struct paths paths = find_paths("examples", ".net");
  for (size_t i = 0; i < paths.count; i++)
    type_in(paths.at[i], deletions, &all);
  print_message("%ld errors, %ld lines: %ld exact, %ld recalled; %ld recalled "
                "and wrong, %ld partial, %ld wrong\n",
                all.errors, all.lines, all.exact, all.recalled,
                all.recalled_wrong, all.partial, all.wrong);
  assert_true(all.errors > (long)paths.count * deletions / 2);
  assert_true((all.exact + all.recalled) * 100 >= all.lines * 95);
  assert_true(all.recalled_wrong * 50 <= all.lines);
  assert_true(all.wrong * 50 <= all.lines);
  paths_free(&paths);
}

static void one_typed_away(void **state) {
  (void)state;
  type_in_zoo(1);
}

static void eight_typed_away(void **state) {
  (void)state;
  type_in_zoo(8);
}

static void one_deletion(void **state) {
  (void)state;
  measure_zoo(1, 78);
}

static void eight_deletions(void **state) {
  (void)state;
  measure_zoo(8, 80);
}

/* Single mistakes: the shapes of the layers, line by line. */

static void one_line(struct netc *netc, char *out, size_t room) {
  size_t used = 0;
  *out = '\0';
  for (size_t i = 0; i < netc_layer_count(netc) && used + SHAPE < room; i++) {
    char shape[SHAPE];
    struct netc_layer layer = {.size = sizeof layer};
    assert_int_equal(netc_layer(netc, i, &layer), NETC_OK);
    put_shape(shape, &layer.out);
    used +=
        (size_t)snprintf(out + used, room - used, "%s%s", i ? " " : "", shape);
  }
}

static const struct mistake {
  const char *source, *shapes;
} mistakes[] = {
    {"input 8x8x3\nconv 4 3x3 pad\nfoo 3\nconv 8 1x1\ngap\nlinear 10\n",
     "8x8x3x 8x8x4x ? ?x?x8x 1x1x8x 1x1x10x"},
    {"input 8x8x3\nconv n 3x3 /2 pad\nconv 8 1x1\n", "8x8x3x 4x4x?x 4x4x8x"},
    {"input 8x8x3\nconv 3x3 /2 pad\nconv 8 1x1\n", "8x8x3x 4x4x?x 4x4x8x"},
    {"input 8x8x3\nconv 4 k pad\nconv 8 k\n", "8x8x3x 8x8x4x ?x?x8x"},
    {"input 8x8x3\nconv 4 3x3 pda=1\npool 2x2\n", "8x8x3x ?x?x4x ?x?x4x"},
    {"input 8x8x3\ns: conv 4 3x3 pda=1\nfrom s\nconv 4 1x1 -> 8x8x4\n"
     "pool 2x2\n",
     "8x8x3x ?x?x4x 8x8x4x 4x4x4x"},
    {"input 8x8x3\ns: conv 4 1x1\nfoo\nadd s\nconv 2 3x3\n",
     "8x8x3x 8x8x4x ? 8x8x4x 6x6x2x"},
    {"input 8x8x3\nfoo\nconcat {conv 4 1x1} {conv 4 1x1}\n",
     "8x8x3x ? ?x?x4x ?x?x4x ?x?x8x"},
    {"input 8x8x3\nif a { conv 4 3x3 } else { conv 4 3x3 pad }\nconv 2 1x1\n",
     "8x8x3x 6x6x4x 8x8x4x ?x?x4x ?x?x2x"},
    {"input 8x8x3\nrepeat a { conv 3 3x3 pad }\nconv 2 1x1\n",
     "8x8x3x 8x8x3x 8x8x3x 8x8x2x"},
    {"input 8 x 8 x c\nconv 2 3x3\n", "8x8x?x 6x6x2x"},
    {"input 8x8x3\ndef f(c {\nconv c 1x1\n}\nf 4\nconv 2 3x3\n",
     "8x8x3x 8x8x4x 6x6x2x"},
    {"input 8x8x3\ndef f(c) {\n  conv c 1x1\nf 4\nconv 2 3x3\n",
     "8x8x3x 8x8x4x 6x6x2x"},
    {"input 8x8x3\ndef f(c, d) { conv c 1x1; conv d 3x3 }\nf 4\n",
     "8x8x3x 8x8x?x 6x6x?x"},
    {"c = 4\ninput 8x8x3\nconv c 3x3\n", "8x8x3x 6x6x4x"},
    {"input 8x8x3\nconv 4 300x3 pad=0\nconv 5 1x1\n", "8x8x3x ? ?x?x5x"},
    {"input 8x8x3\nadd { conv 4 1x1 } { conv 5 1x1 }\nconv 5 1x1\n",
     "8x8x3x 8x8x4x 8x8x5x 8x8x?x 8x8x5x"},
    {"input 8x8x3\nfor a in [0 1] { concat a }\nconv 2 3x3\n",
     "8x8x3x ? ? ?x?x2x"},
    {"input 9 : i32\nwords: embd 40 8\nlinear 4\n", "9x ? ?"},
};

static void single_mistakes(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  int failed = 0;
  netc_partial(netc, true);
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    char line[2000];
    const char *source = mistakes[i].source;
    assert_int_equal(netc_load_text(netc, "a.net", source, strlen(source)),
                     NETC_ERROR);
    one_line(netc, line, sizeof line);
    if (strcmp(line, mistakes[i].shapes) == 0)
      continue;
    print_error("%s-> %s\nnot %s\n", source, line, mistakes[i].shapes);
    failed++;
  }
  netc_close(netc);
  assert_int_equal(failed, 0);
}

/* Unknown figures of layers, totals and outputs are absent. */
static void figures(void **state) {
  (void)state;
  static const char source[] = "input 8x8x3\nconv 4 3x3\nfoo\n";
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_layer layer = {.size = sizeof layer};
  struct netc_totals totals = {.size = sizeof totals};
  assert_int_equal(netc_load_text(netc, "a.net", source, sizeof source - 1),
                   NETC_ERROR);
  assert_int_equal(netc_layer_count(netc), 0);
  netc_partial(netc, true);
  assert_int_equal(netc_load_text(netc, "a.net", source, sizeof source - 1),
                   NETC_ERROR);
  assert_int_equal(netc_layer_count(netc), 3);
  assert_int_equal(netc_layer(netc, 1, &layer), NETC_OK);
  assert_int_equal(layer.param_count, NETC_UNKNOWN);
  assert_int_equal(layer.mac_count, NETC_UNKNOWN);
  assert_int_equal(layer.saved_bytes, NETC_UNKNOWN);
  assert_int_equal(netc_layer(netc, 2, &layer), NETC_OK);
  assert_string_equal(layer.op, "?");
  assert_string_equal(layer.written, "foo");
  assert_int_equal(layer.place.line, 3);
  assert_int_equal(layer.out.rank, 0);
  assert_int_equal(netc_totals(netc, &totals), NETC_USAGE);
  assert_int_equal(netc_emit(netc, "json", NULL, print_piece, NULL),
                   NETC_ERROR);
  static const char right[] = "input 8x8x3\nconv 4 3x3\n";
  assert_int_equal(netc_mode(netc, NETC_FOR_CHECK), NETC_OK);
  assert_int_equal(netc_load_text(netc, "a.net", right, sizeof right - 1),
                   NETC_OK);
  assert_int_equal(netc_layer(netc, 1, &layer), NETC_OK);
  assert_int_equal(layer.out.dims[2], 4);
  assert_int_equal(layer.param_count, NETC_UNKNOWN);
  assert_int_equal(netc_totals(netc, &totals), NETC_USAGE);
  assert_int_equal(netc_mode(netc, NETC_FOR_ALL), NETC_OK);
  netc_partial(netc, false);
  assert_int_equal(netc_load_text(netc, "a.net", source, sizeof source - 1),
                   NETC_ERROR);
  assert_int_equal(netc_layer_count(netc), 0);
  netc_close(netc);
}

/* `netc check` goes on after an error: a mark says where shapes are sure. */
static void all_errors_at_once(void **state) {
  (void)state;
  static const char text[] = "printf 'input 8x8x3\\nconv 4 3x3 pda=1\\nconv 8 "
                             "1x1 -> 8x8x8\\nconv 4 9x9\\n' | " NETC " ";
  char command[300];
  snprintf(command, sizeof command, "%scheck -", text);
  expect(command, 1, "", "no option `pda`");
  expect(command, 1, "", "a window of 9x9 does not fit the map of 8x8x8");
}

/* Typed byte by byte, every layer is asked for after each. */
static void type_file(const char *path, size_t step) {
  size_t length;
  char *text = read_text(path, &length);
  struct netc *netc = netc_open(NULL, NULL);
  assert_non_null(text);
  netc_partial(netc, true);
  for (size_t i = 0; i <= length; i += step) {
    enum netc_status status = netc_load_text(netc, path, text, i);
    assert_true(status == NETC_OK || status == NETC_ERROR);
    for (size_t k = 0; k < netc_layer_count(netc); k++) {
      struct netc_layer layer = {.size = sizeof layer};
      assert_int_equal(netc_layer(netc, k, &layer), NETC_OK);
      assert_true(layer.place.begin <= layer.place.end);
      assert_true(layer.place.end <= i || strcmp(layer.place.file, path) != 0);
      for (int d = 0; d < layer.out.rank; d++)
        assert_true(
            layer.out.dims[d] >= 1 ||
            (status == NETC_ERROR && layer.out.dims[d] == NETC_UNKNOWN));
    }
  }
  netc_close(netc);
  free(text);
}

static void prefixes(void **state) {
  (void)state;
  type_file("examples/zoo/resnet.net", 1);
  type_file("examples/zoo/bert.net", SANITIZED ? 3 : 1);
  type_file("examples/zoo/yolov8.net", SANITIZED ? 7 : 3);
}

static void all_prefixes(void **state) {
  (void)state;
  struct paths paths = find_paths("examples", ".net");
  for (size_t i = 0; i < paths.count; i++)
    type_file(paths.at[i], SANITIZED ? 7 : 2);
  paths_free(&paths);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_mistakes),
      cmocka_unit_test(figures),
      cmocka_unit_test(all_errors_at_once),
      cmocka_unit_test(one_deletion),
      cmocka_unit_test(one_typed_away),
      cmocka_unit_test(prefixes),
      slow_test(eight_deletions),
      slow_test(eight_typed_away),
      slow_test(all_prefixes),
  };
  return cmocka_run_group_tests_name("partial", tests, NULL, NULL);
}
