/*
 * Mistakes that people make: does a message name the cause, and does what it
 * offers compile, to the net that was meant? tests/data/mistakes.txt has a
 * line for each with its score. Then every fix that is offered anywhere: over
 * the golden mistakes, and over nets with a word missing or another in its
 * place.
 */

#include "netc.h"
#include "tests/run.h"

enum { MOST = 8192, MOST_LINES = 400 };

/* The file that some of the sources use. */
static enum netc_found read_file(void *user, const char *path,
                                 netc_sink_fn *sink, void *sink_user) {
  static const char text[] = "def part(c) { conv c 3 pad }\n";
  const char *name = strrchr(path, '/');
  (void)user;
  if (strcmp(name ? name + 1 : path, "a.net") != 0)
    return NETC_ABSENT;
  return sink(sink_user, text, sizeof text - 1) ? NETC_FOUND : NETC_UNREADABLE;
}

static struct netc *compile_for(const char *text, enum netc_mode mode) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_non_null(netc);
  netc_on_read(netc, read_file, NULL);
  netc_mode(netc, mode);
  netc_load_text(netc, "m.net", text, strlen(text));
  return netc;
}

static struct netc *compile(const char *text) {
  return compile_for(text, NETC_FOR_CHECK);
}

static size_t count_errors(struct netc *netc) {
  struct netc_diagnostic d = {.size = sizeof d};
  size_t errors = 0;
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++)
    errors += d.severity == NETC_SEVERITY_ERROR;
  return errors;
}

static void replace(char *text, const struct netc_fixit *fix) {
  char rest[MOST];
  snprintf(rest, sizeof rest, "%s", text + fix->place.end);
  snprintf(text + fix->place.begin, MOST - fix->place.begin, "%s%s", fix->text,
           rest);
}

/* The first fix of all messages; false: there is none. */
static bool apply_first(struct netc *netc, char *text) {
  struct netc_diagnostic d = {.size = sizeof d};
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++) {
    if (!d.fixit_count)
      continue;
    replace(text, &d.fixits[0]);
    return true;
  }
  return false;
}

static bool says(struct netc *netc, const char *word) {
  struct netc_diagnostic d = {.size = sizeof d};
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++) {
    bool found = strstr(d.message, word) || strstr(d.here, word);
    for (size_t k = 0; k < d.help_count; k++)
      found = found || strstr(d.help[k], word);
    if (found)
      return true;
  }
  return false;
}

/* A net's meaning: its layers with their arguments, shapes and settings. */
struct rendered {
  char at[MOST];
  size_t length;
};

static bool keep(void *user, const char *bytes, size_t length) {
  struct rendered *r = user;
  if (r->length + length >= sizeof r->at)
    return false;
  memcpy(r->at + r->length, bytes, length);
  r->length += length;
  return true;
}

static void render(const char *text, struct rendered *out) {
  struct netc *netc = compile_for(text, NETC_FOR_ALL);
  struct netc_layer layer = {.size = sizeof layer};
  out->length = 0;
  if (count_errors(netc) == 0) {
    assert_int_equal(netc_emit(netc, "md", NULL, keep, out), NETC_OK);
    for (size_t i = 0; netc_layer(netc, i, &layer) == NETC_OK; i++)
      keep(out, layer.written, strlen(layer.written));
  }
  out->at[out->length] = '\0';
  netc_close(netc);
}

/* \n in a line of the data is a line end; after ^ a source stands alone. */
static void unescape(const char *from, char *to) {
  bool alone = from[0] == '^';
  int length = alone ? 0 : snprintf(to, MOST, "input 32x32x3\n");
  from += alone;
  for (; *from; from++) {
    bool end = from[0] == '\\' && from[1] == 'n';
    to[length++] = end ? '\n' : *from;
    from += end;
  }
  to[length++] = '\n';
  to[length] = '\0';
}

struct mistake {
  int score;
  char cause[200], meant[500], source[500];
};

/*
 * 2: the cause is named, and what is offered compiles to what was meant; 1:
 * one of the two; 0: neither, or another net.
 */
static int score_of(const struct mistake *m) {
  static struct rendered got, meant;
  char text[MOST], right[MOST];
  unescape(m->source, text);
  struct netc *netc = compile(text);
  bool accepted = count_errors(netc) == 0 && strcmp(m->meant, "=") == 0;
  bool named = accepted || says(netc, m->cause);
  bool fixed = false;
  for (int rounds = 0; rounds < 4 && apply_first(netc, text); rounds++) {
    netc_close(netc);
    netc = compile(text);
    fixed = true;
  }
  fixed = fixed && count_errors(netc) == 0;
  netc_close(netc);
  if (accepted)
    return 2;
  if (fixed && strcmp(m->meant, "any") != 0) {
    unescape(m->meant, right);
    render(text, &got);
    render(right, &meant);
    if (strcmp(got.at, meant.at) != 0) {
      print_message("%s\n  gives another net:\n%s", m->source, text);
      return 0;
    }
  }
  return named + fixed;
}

static bool next_mistake(FILE *file, struct mistake *m) {
  char line[2000];
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *cause = strchr(line, '\t');
    char *meant = cause ? strchr(cause + 1, '\t') : NULL;
    char *source = meant ? strchr(meant + 1, '\t') : NULL;
    if (line[0] == '#' || !source)
      continue;
    *cause = *meant = *source = '\0';
    m->score = atoi(line);
    snprintf(m->cause, sizeof m->cause, "%s", cause + 1);
    snprintf(m->meant, sizeof m->meant, "%s", meant + 1);
    snprintf(m->source, sizeof m->source, "%s", source + 1);
    return true;
  }
  return false;
}

/* Scores a file of mistakes: none may be below the score that it states. */
static void score_file(const char *path, int least, double mean) {
  FILE *file = fopen(path, "r");
  struct mistake m;
  int count = 0, sum = 0, worse = 0;
  assert_non_null(file);
  for (; next_mistake(file, &m); count++) {
    int score = score_of(&m);
    sum += score;
    worse += score < m.score;
    if (score != m.score)
      print_message("%d, not %d: %s\n", score, m.score, m.source);
  }
  fclose(file);
  print_message("%d mistakes, mean score %.2f\n", count, (double)sum / count);
  assert_int_equal(worse, 0);
  assert_true(count >= least);
  assert_true(sum >= mean * count);
}

static void mistakes_have_a_cause_and_a_way_out(void **state) {
  (void)state;
  score_file("tests/data/mistakes.txt", 164, 1.9);
}

static void mistakes_of_public_questions(void **state) {
  (void)state;
  score_file("tests/data/mistakes_aside.txt", 60, 0);
}

/* Every fix */

static int line_of(const char *text, size_t at) {
  int line = 1;
  for (size_t i = 0; i < at && text[i]; i++)
    line += text[i] == '\n';
  return line;
}

/* True if an error begins on the lines that a fix wrote. */
static bool is_wrong_at(struct netc *netc, const char *text, size_t begin,
                        size_t end) {
  struct netc_diagnostic d = {.size = sizeof d};
  int first = line_of(text, begin), last = line_of(text, end);
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++) {
    int line = (int)d.place.line;
    bool elsewhere = strcmp(d.slug, "cannot-read") == 0; /* a file is absent */
    if (d.severity == NETC_SEVERITY_ERROR && !elsewhere && line >= first &&
        line <= last) {
      print_message("%s\n", d.message);
      return true;
    }
  }
  return false;
}

/*
 * Applies the fixes of each message in turn, from the top, as each was
 * tried: after the ones before it. Returns how many leave an error behind.
 */
static int wrong_fixes(const char *source, int *count) {
  char text[MOST];
  struct netc *netc = compile(source);
  struct netc_diagnostic d = {.size = sizeof d};
  int64_t shift = 0;
  size_t done = 0;
  int wrong = 0;
  snprintf(text, sizeof text, "%s", source);
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++) {
    if (!d.fixit_count || d.fixits[0].place.begin < done ||
        strcmp(d.place.file, "m.net") != 0)
      continue;
    struct netc_fixit fix = d.fixits[0];
    size_t length = strlen(fix.text);
    done = fix.place.end;
    fix.place.begin = (size_t)((int64_t)fix.place.begin + shift);
    fix.place.end = (size_t)((int64_t)fix.place.end + shift);
    shift += (int64_t)length - (int64_t)(fix.place.end - fix.place.begin);
    replace(text, &fix);
    struct netc *after = compile(text);
    ++*count;
    if (is_wrong_at(after, text, fix.place.begin, fix.place.begin + length)) {
      print_message("wrong: `%s` for line %u of\n%s\n", fix.text, d.place.line,
                    source);
      wrong++;
    }
    netc_close(after);
  }
  netc_close(netc);
  return wrong;
}

static bool read_source(const char *path, char *text) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t length = fread(text, 1, MOST / 2, file);
  bool whole = feof(file);
  text[length] = '\0';
  fclose(file);
  return whole && memchr(text, '\0', length) == NULL;
}

/* The counts of `look` over all sources of a folder. */
static int sum_of_folder(const char *folder, int *count,
                         int (*look)(const char *source, int *count)) {
  struct paths paths = find_paths(folder, ".net");
  char text[MOST];
  int sum = 0;
  assert_true(paths.count > 0);
  for (size_t i = 0; i < paths.count; i++)
    if (read_source(paths.at[i], text))
      sum += look(text, count);
  paths_free(&paths);
  return sum;
}

static const char *const folders[] = {
    "tests/golden/mistakes", "tests/golden/errors", "tests/golden/warnings"};
enum { FOLDERS = sizeof folders / sizeof *folders };

/* Errors that offer an edit; *count: all. */
static int fixes_of(const char *source, int *count) {
  struct netc *netc = compile(source);
  struct netc_diagnostic d = {.size = sizeof d};
  int fixes = 0;
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++) {
    bool error = d.severity == NETC_SEVERITY_ERROR;
    *count += error;
    fixes += error && d.fixit_count > 0;
  }
  netc_close(netc);
  return fixes;
}

static void four_of_ten_errors_have_a_fix(void **state) {
  (void)state;
  int fixes = 0, errors = 0;
  for (int i = 0; i < FOLDERS; i++)
    fixes += sum_of_folder(folders[i], &errors, fixes_of);
  print_message("%d of %d errors have a fix\n", fixes, errors);
  assert_true(errors > 700);
  assert_true(fixes * 10 >= errors * 4);
}

static void every_fix_compiles(void **state) {
  (void)state;
  struct mistake m;
  char text[MOST];
  int count = 0, wrong = 0;
  FILE *file = fopen("tests/data/mistakes.txt", "r");
  assert_non_null(file);
  while (next_mistake(file, &m)) {
    unescape(m.source, text);
    wrong += wrong_fixes(text, &count);
  }
  fclose(file);
  for (int i = 0; i < FOLDERS; i++)
    wrong += sum_of_folder(folders[i], &count, wrong_fixes);
  print_message("%d fixes\n", count);
  assert_int_equal(wrong, 0);
  assert_true(count > 200);
}

/* Mutations of nets that are right */

static uint64_t seed = 88172645463325252u;

static uint64_t random_below(uint64_t limit) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed % limit;
}

/* Sources have half of the room: a word more fits. */
static void put(char *out, size_t *used, const char *from, size_t count) {
  assert_true(*used + count < MOST);
  memcpy(out + *used, from, count);
  *used += count;
}

/* A word of the text is left out, doubled, or another one takes its place. */
static bool mutate(const char *text, char *out) {
  static const char *const others[] = {"same",  "3",  ",",     "Conv2d",
                                       "s=2",   "=",  "relu(", "{",
                                       "conv1", "->", "x",     "(3, 3)"};
  size_t length = strlen(text), at = random_below(length), end;
  while (at > 0 && !strchr(" \n", text[at - 1]))
    at--;
  for (end = at; text[end] && !strchr(" \n", text[end]);)
    end++;
  if (end == at)
    return false;
  static const char blank[] = " ";
  const char *other = others[random_below(sizeof others / sizeof *others)];
  uint64_t kind = random_below(3);
  size_t used = 0;
  put(out, &used, text, kind == 1 ? end : at);
  if (kind == 1)
    put(out, &used, blank, 1), put(out, &used, text + at, end - at);
  else if (kind == 2)
    put(out, &used, other, strlen(other));
  put(out, &used, text + end, length - end + 1);
  return true;
}

static void fixes_of_mutations_compile(void **state) {
  (void)state;
  static const char *const nets[] = {
      "examples/simple_cnn.net",    "examples/unet.net",
      "examples/zoo/vgg.net",       "examples/zoo/resnet.net",
      "examples/zoo/googlenet.net", "examples/zoo/mobilenet_v2.net"};
  char text[MOST], other[MOST];
  int count = 0, wrong = 0;
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    if (!read_source(nets[i], text))
      continue;
    for (int k = 0; k < 120; k++)
      if (mutate(text, other))
        wrong += wrong_fixes(other, &count);
  }
  print_message("%d fixes of mutations\n", count);
  assert_int_equal(wrong, 0);
  assert_true(count > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mistakes_have_a_cause_and_a_way_out),
      cmocka_unit_test(mistakes_of_public_questions),
      cmocka_unit_test(every_fix_compiles),
      cmocka_unit_test(four_of_ten_errors_have_a_fix),
      cmocka_unit_test(fixes_of_mutations_compile),
  };
  return cmocka_run_group_tests_name("mistakes", tests, NULL, NULL);
}
