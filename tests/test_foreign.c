/*
 * What is read into lines of other languages and slips, as it is now: for each
 * line of tests/data/foreign.txt all readings, the likeliest first, and a
 * checksum of the readings of lines like it, in which a word is left out,
 * doubled or another one. `make bless` writes it anew, and what changed is to
 * be read; tests/test_mistakes.c asks whether what is offered is right.
 */
#define _GNU_SOURCE
#include <ctype.h>

#include "base/arena.h"
#include "layers/foreign/foreign.h"
#include "tests/run.h"

enum { MOST = 600 };

static void put_escaped(FILE *out, struct slice text) {
  for (size_t i = 0; i < text.length; i++)
    if (text.at[i] == '\n')
      fputs("\\n", out);
    else
      fputc(text.at[i], out);
}

static void mix(uint32_t *sum, struct slice text) {
  for (size_t i = 0; i < text.length; i++)
    *sum = (*sum ^ (unsigned char)text.at[i]) * 0x01000193u; /* FNV-1a */
  *sum = (*sum ^ 256) * 0x01000193u;
}

/*
 * Reads a line, which is in the middle of a text. The readings go to `out`, if
 * that is given, and into the checksum.
 */
static void put_readings(FILE *out, const char *line, uint32_t *sum) {
  char text[MOST + 20];
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  snprintf(text, sizeof text, "\n%s\n3 (x, 2", line);
  struct foreign_line read = {.at = {text + 1, strlen(line)}};
  for (int which = 0; foreign_read(&arena, which, &read); which++) {
    struct slice why = slice_of(read.why ? read.why : "");
    mix(sum, read.ours);
    mix(sum, why);
    mix(sum, slice_of(read.open ? "{" : ""));
    if (!out)
      continue;
    fputs(read.ours.length ? "  " : "  (nothing)", out);
    put_escaped(out, read.ours);
    fprintf(out, "%s%s%.*s\n", read.open ? " ...}" : "",
            why.length ? " -- " : "", SLICE_ARG(why));
  }
  arena_close(&arena);
}

/* Where a word or a number ends; a sign is one by itself. */
static size_t word_end(const char *line, size_t at) {
  size_t end = at;
  while (isalnum((unsigned char)line[end]) || line[end] == '_')
    end++;
  return end > at ? end : at + 1;
}

/* The line with another text in place of a piece. */
static void vary(const char *line, size_t begin, size_t end, const char *other,
                 uint32_t *sum) {
  char text[MOST];
  int length = snprintf(text, sizeof text, "%.*s%s%s", (int)begin, line, other,
                        line + end);
  if (length < MOST)
    put_readings(NULL, text, sum);
}

static void put_line(FILE *out, const char *escaped) {
  static const char *const words[] = {"x y",  "x",     "3",
                                      "same", "relu(", "Conv2d"},
                           *const signs[] = {"()", " ", ",", "=", "(", ": "};
  char line[MOST];
  size_t turn = strlen(escaped);
  size_t length = 0;
  uint32_t sum = 0x811C9DC5u;
  fprintf(out, "%s\n", escaped);
  for (const char *from = escaped; *from; from++) {
    bool end = from[0] == '\\' && from[1] == 'n';
    line[length++] = end ? '\n' : *from;
    from += end;
  }
  line[length] = '\0';
  put_readings(out, line, &sum);
  for (size_t at = 0, end; line[at]; at = end) {
    end = word_end(line, at);
    bool word = isalnum((unsigned char)line[at]);
    vary(line, at, end, word ? words[turn % 6] : signs[turn % 6], &sum);
    vary(line, at, turn % 2 ? end : length, "", &sum);
    turn++;
  }
  fprintf(out, "  = %08x\n", sum);
}

static void lines_are_read_as_they_were(void **state) {
  (void)state;
  check_rows("tests/data/foreign.txt", '\0', put_line);
}

/* Each row is found by its word. */
static void every_row_is_found(void **state) {
  (void)state;
  static const struct foreign_layer layers[] = {
#define LAYER(...) {__VA_ARGS__},
#include "ops/typed.def"
#undef LAYER
  };
  static const struct foreign_option options[] = {
#define OPTION(...) {__VA_ARGS__},
#include "ops/typed.def"
#undef OPTION
  };
  static const char *const choices[][3] = {
#define CHOICE(...) {__VA_ARGS__},
#include "ops/typed.def"
#undef CHOICE
  };
  size_t layer_count = sizeof layers / sizeof *layers,
         option_count = sizeof options / sizeof *options,
         choice_count = sizeof choices / sizeof *choices;
  for (size_t i = 0; i < layer_count; i++) {
    const struct foreign_layer *row =
        foreign_layer_find(slice_of(layers[i].word));
    assert_string_equal(row->word, layers[i].word);
    assert_string_equal(foreign_layer_target(i), layers[i].ours);
  }
  for (size_t i = 0; i < option_count; i++)
    assert_string_equal(foreign_option_find(slice_of(options[i].word))->word,
                        options[i].word);
  for (size_t i = 0; i < choice_count; i++)
    assert_string_equal(
        foreign_choice_find(choices[i][0], slice_of(choices[i][1])),
        choices[i][2]);
  assert_null(foreign_layer_target(layer_count));
  assert_int_equal(foreign_count(), layer_count + option_count + choice_count);
  assert_null(foreign_layer_find(slice_of("nobody")));
  assert_null(foreign_option_find(slice_of("nobody")));
  assert_null(foreign_choice_find("input", slice_of("nobody")));
}

/* 63 letters are a word, 64 are nobody's; a maker's name is no difference. */
static void words_are_the_same_but_for_their_spelling(void **state) {
  (void)state;
  static const char letters[] =
      "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff1234567";
  struct slice shorter = {letters, 63}, longer = {letters, 64};
  assert_true(foreign_same(shorter, shorter));
  assert_false(foreign_same(longer, longer));
  assert_false(foreign_same(shorter, longer));
  assert_true(foreign_same(slice_of("A-z_ .Z"), slice_of("azz")));
  assert_false(foreign_same(slice_of("@["), slice_of("`{")));
  assert_true(foreign_same(slice_of("NVIDIA Tesla V100"), slice_of("v100")));
  assert_true(foreign_same(slice_of("AMD Instinct MI300"), slice_of("mi300")));
  assert_true(foreign_same(slice_of("GeForce 3090"), slice_of("3090")));
  assert_false(foreign_same(slice_of("tesla"), slice_of("")));
  assert_false(foreign_same(slice_of("v100"), slice_of("v101")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_is_found),
      cmocka_unit_test(words_are_the_same_but_for_their_spelling),
      cmocka_unit_test(lines_are_read_as_they_were),
  };
  return cmocka_run_group_tests_name("foreign", tests, NULL, NULL);
}
