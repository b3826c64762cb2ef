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
  static size_t turn;
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_read_as_they_were),
  };
  return cmocka_run_group_tests_name("foreign", tests, NULL, NULL);
}
