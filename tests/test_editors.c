/*
 * editors/: its files have the words of netc's tables, and colour a source as
 * netc reads it.
 */
#include "layers/layer.h"
#include "lexer/scan.h"
#include "netc.h"
#include "netc_edit.h"
#include "sema/binding/expander.h"
#include "sema/model/settings.h"
#include "tests/run.h"

/* Words, each once, in the order of the tables */

enum list {
  KEYWORDS,
  OPERATORS,
  CONSTANTS,
  HEADS, /* begin a statement and may be names elsewhere */
  LAYERS,
  OPTIONS,  /* bare words of layers and settings */
  CHOOSERS, /* keys that take a word: `dtype=f16` */
  FUNCTIONS,
  LISTS
};

static const char *const list_names[LISTS] = {
    "keywords", "operators", "constants", "heads",
    "layers",   "options",   "choosers",  "functions"};

struct words {
  char all[LISTS][8192]; /* with blanks between them */
};

static void add(struct words *words, enum list list, struct slice word) {
  char *all = words->all[list];
  size_t used = strlen(all), room = sizeof words->all[list];
  if (word_index(all, word))
    return;
  assert_true(used + word.length + 2 < room);
  snprintf(all + used, room - used, "%s%.*s", used ? " " : "", SLICE_ARG(word));
}

/* Not axes, whose letters are the names of most constants. */
static void add_each(struct words *words, enum list list, const char *text) {
  for (int i = 1; word_at(text, i).length; i++)
    if (word_at(text, i).length > 1 && is_name(word_at(text, i)))
      add(words, list, word_at(text, i));
}

/* Words of the scanner's own: "`net`". */
static void add_keywords(struct words *words) {
  for (int token = TOKEN_KW_NET; token <= TOKEN_KW_FALSE; token++) {
    const char *text = token_words((enum token)token);
    struct slice word = {text + 1, strlen(text) - 2};
    add(words,
        token >= TOKEN_KW_TRUE                           ? CONSTANTS
        : token >= TOKEN_KW_AND && token <= TOKEN_KW_NOT ? OPERATORS
                                                         : KEYWORDS,
        word);
  }
}

/* Other words that may begin a statement. */
static void add_heads(struct words *words) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_choice choice = {.size = sizeof choice};
  netc_load_text(netc, "a.net", "", 0);
  for (size_t i = 0; netc_choice(netc, 0, 0, i, &choice) == NETC_OK; i++)
    if (choice.kind == NETC_TOKEN_KEYWORD && is_name(slice_of(choice.text)))
      add(words, HEADS, slice_of(choice.text));
  netc_close(netc);
}

static void add_rows(struct words *words, const struct arg_spec *spec) {
  for (; spec && spec->name; spec++) {
    if (spec->place == PLACE_WORD)
      add_each(words, OPTIONS, spec->words);
    else if (spec->words)
      add(words, CHOOSERS, slice_of(spec->name));
    if (spec->type == TYPE_PADDING)
      add_each(words, OPTIONS, spec->name);
  }
}

static struct words *collect(void) {
  struct words *words = calloc(1, sizeof *words);
  assert_non_null(words);
  add_keywords(words);
  add_heads(words);
  for (size_t i = 0; i < layer_kind_count(); i++) {
    add(words, LAYERS, slice_of(layer_kind_at(i)->name));
    add_rows(words, layer_kind_at(i)->specs);
  }
  add_rows(words, row_specs);
  add_rows(words, train_specs);
  add_rows(words, infer_specs);
  add_rows(words, budget_specs);
  for (size_t i = 0; eval_function(i); i++)
    add(words, FUNCTIONS, slice_of(eval_function(i)));
  return words;
}

/* Templates: `@layers|@` is a list with that between its words. */

enum { WIDTH = 78 };

struct line {
  const char *before, *after; /* the mark */
  size_t before_length, after_length;
  char between;
};

/*
 * With `|` they stand on one line; otherwise the line comes again, with as
 * many as fit.
 */
static void put_list(struct text *made, const char *words,
                     const struct line *line) {
  size_t used = 0;
  assert_true(word_at(words, 1).length);
  text_bytes(made, line->before, line->before_length);
  for (int i = 1; word_at(words, i).length; i++) {
    struct slice word = word_at(words, i);
    bool last = !word_at(words, i + 1).length;
    if (i > 1 && line->between != '|' &&
        line->before_length + used + word.length + 2 > WIDTH) {
      text_bytes(made, line->after, line->after_length);
      text_putc(made, '\n');
      text_bytes(made, line->before, line->before_length);
      used = 0;
    } else if (i > 1 && line->between == ' ') {
      text_putc(made, ' ');
    }
    text_puts(made, word);
    if (line->between != ' ' && !last)
      text_putc(made, line->between);
    used += word.length + 1;
  }
  text_bytes(made, line->after, line->after_length);
}

/* The first mark of a line: `@layers`, a sign and `@`. */
static bool find_mark(const char *at, size_t length, struct line *line,
                      enum list *list) {
  for (size_t i = 0; i < length; i++)
    for (*list = 0; at[i] == '@' && *list < LISTS; (*list)++) {
      size_t end = i + strlen(list_names[*list]) + 3;
      if (end > length || at[end - 1] != '@' ||
          strncmp(at + i + 1, list_names[*list], end - i - 3) != 0)
        continue;
      *line = (struct line){at, at + end, i, length - end, at[end - 2]};
      return true;
    }
  return false;
}

static void put_line(struct text *made, const struct words *words,
                     const char *at, size_t length) {
  struct line line;
  enum list list;
  if (!find_mark(at, length, &line, &list)) {
    text_bytes(made, at, length);
    return;
  }
  if (line.between != '|') {
    put_list(made, words->all[list], &line);
    return;
  }
  size_t after = line.after_length;
  line.after_length = 0;
  put_list(made, words->all[list], &line);
  put_line(made, words, line.after, after);
}

static void files_have_the_words_of_the_tables(void **state) {
  (void)state;
  struct words *words = collect();
  struct paths templates = find_paths("editors", ".in");
  assert_true(templates.count >= 5);
  for (size_t i = 0; i < templates.count; i++) {
    struct arena arena;
    arena_open(&arena, NULL, NULL);
    struct text made = text_new(&arena);
    char *text = read_text(templates.at[i], NULL), path[256];
    assert_non_null(text);
    for (const char *at = text; *at;) {
      size_t length = strcspn(at, "\n");
      put_line(&made, words, at, length);
      text_putc(&made, '\n');
      at += length + (at[length] == '\n');
    }
    snprintf(path, sizeof path, "%.*s",
             (int)(strlen(templates.at[i]) - strlen(".in")), templates.at[i]);
    check_file(path, text_string(&made));
    free(text);
    arena_close(&arena);
  }
  paths_free(&templates);
  free(words);
}

/* Colours: what netc reads beside what others say without it */

#define SOURCES "examples/zoo/*.net tests/golden/layers/*.net"

/* Writes the tokens of the sources into a folder. */
static void write_tokens(const char *folder) {
  struct run r = run("%s/tests/tokens " SOURCES " >%s/tokens", BUILD, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

struct coloured {
  int words, wrong, alike;
};

/* A name of the source's own may be coloured as the word that it is spelt as.
 */
static void compare_word(struct coloured *c, const char *file,
                         const char *place, const char *expected,
                         const char *found) {
  bool own = strcmp(expected, "own") == 0;
  c->words++;
  if (own && (strcmp(found, "layer") == 0 || strcmp(found, "option") == 0))
    c->alike++;
  else if (strcmp(own ? "name" : expected, found) != 0 && c->wrong++ < 20)
    print_error("%s:%s: %s for netc, coloured as %s\n", file, place, expected,
                found);
}

static void compare_colours(const char *folder) {
  char path[256], file[128] = "", a[256], b[256];
  struct coloured c = {0};
  snprintf(path, sizeof path, "%s/tokens", folder);
  FILE *tokens = fopen(path, "r");
  snprintf(path, sizeof path, "%s/found", folder);
  FILE *found = fopen(path, "r");
  assert_true(tokens && found);
  while (fgets(a, sizeof a, tokens) && fgets(b, sizeof b, found)) {
    char first[128], second[32], expected[32], same[128], place[128], kind[32];
    assert_int_equal(sscanf(a, "%127s %31s %31s", first, second, expected), 3);
    assert_int_equal(sscanf(b, "%127s %31s %31s", same, place, kind), 3);
    assert_string_equal(first, same);
    assert_string_equal(second, place);
    snprintf(place, sizeof place, "%.60s:%s", first, second);
    if (strcmp(expected, "file") == 0)
      snprintf(file, sizeof file, "%s", first);
    else
      compare_word(&c, file, place, expected, kind);
  }
  assert_true(feof(tokens) && !fgets(b, sizeof b, found));
  fclose(tokens);
  fclose(found);
  assert_true(c.words > 10000 && c.alike < c.words / 200);
  assert_int_equal(c.wrong, 0);
}

/* Those that are there, each with its own files; CI has two of them. */
static void editors_colour_as_netc_reads(void **state) {
  (void)state;
  static const char *const editors[][2] = {
      {"vim", "vim -es -u NONE -N -i NONE -S tests/words.vim"},
      {"nvim", "nvim --headless -u NONE -i NONE -S tests/words.vim"},
      {"emacs", "emacs -Q --batch -l tests/words.el"}};
  int tried = 0;
  for (size_t i = 0; i < sizeof editors / sizeof *editors; i++) {
    if (!on_path(editors[i][0]))
      continue;
    const char *folder = scratch(editors[i][0]);
    write_tokens(folder);
    struct run r = run("TOKENS=%s/tokens FOUND=%s/found timeout 300 %s "
                       "</dev/null",
                       folder, folder, editors[i][1]);
    if (r.status)
      print_error("%s", r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
    compare_colours(folder);
    tried++;
  }
  if (!tried)
    skip();
}

static void pygments_colours_as_netc_reads(void **state) {
  (void)state;
  const char *folder = scratch("pygments");
  skip_without_python("pygments, tomllib");
  write_tokens(folder);
  struct run r = run("/usr/bin/python3 tests/words.py %s/tokens >%s/found",
                     folder, folder);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  compare_colours(folder);
  r = run("tools/colours.py %s examples/zoo/convnext_v2.net", NETC);
  assert_int_equal(r.status, 0);
  check_file("docs/editors.svg", r.out);
  run_free(&r);
}

static void latex_marks_the_words(void **state) {
  (void)state;
  const char *folder = scratch("latex");
  struct run r = run("kpsewhich listings.sty xcolor.sty && which pdflatex");
  int status = r.status;
  run_free(&r);
  if (status)
    skip();
  write_tokens(folder);
  r = run("/usr/bin/python3 tests/listings.py %s/tokens %s", folder, folder);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* Files of others that end in .net are not netc's; lines indent. */
static void vim_knows_its_files(void **state) {
  (void)state;
  static const struct {
    const char *text, *type;
  } files[] = {{"# a net\nnet small\n", "netc"},
               {"\n\ninput 3\n", "netc"},
               {"(export (version D)\n", ""},
               {"*Vertices 9\n", ""}};
  if (!on_path("vim"))
    skip();
  const char *folder = scratch("types");
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    write_in(folder, "a.net", files[i].text);
    struct run r =
        run("vim -es -u NONE -N -i NONE -c 'set rtp^=editors/vim' -c "
            "'filetype on' -c 'edit %s/a.net' -c 'put =&filetype' -c '$print' "
            "-c 'quitall!' </dev/null | tr -d ' \\r\\n'",
            folder);
    assert_string_equal(r.out, files[i].type);
    run_free(&r);
  }
}

/*
 * Without its indents a canonical source is indented to what it was; rows of
 * tables, whose columns are aligned, are left out.
 */
static void vim_indents_as_netc_does(void **state) {
  (void)state;
  if (!on_path("vim"))
    skip();
  const char *folder = scratch("indent");
  struct paths nets = find_paths("examples/zoo", ".net");
  assert_true(nets.count > 50);
  for (size_t i = 0; i < nets.count; i += 8) {
    struct run r =
        run("to=%s; grep -v '^ *[0-9]' %s >$to/want && sed 's/^ *//' $to/want "
            ">$to/a.net && vim -es -u NONE -N -i NONE -c 'set "
            "rtp^=editors/vim' -c 'filetype plugin indent on' -c \"edit "
            "$to/a.net\" -c 'normal gg=G' -c 'wq' </dev/null; diff $to/want "
            "$to/a.net",
            folder, nets.at[i]);
    if (r.status)
      print_error("%s\n%s", nets.at[i], r.out);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  paths_free(&nets);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_have_the_words_of_the_tables),
      cmocka_unit_test(editors_colour_as_netc_reads),
      cmocka_unit_test(vim_knows_its_files),
      cmocka_unit_test(vim_indents_as_netc_does),
      cmocka_unit_test(pygments_colours_as_netc_reads),
      cmocka_unit_test(latex_marks_the_words),
  };
  return cmocka_run_group_tests_name("editors", tests, NULL, NULL);
}
