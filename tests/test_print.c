/* web/print.c: the playground's snprintf and strtod, beside the C library's. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>

#include "tests/run.h"

#define vsnprintf page_vsnprintf
#define snprintf page_snprintf
#define strtod page_strtod
int vsnprintf(char *to, size_t room, const char *format, va_list args);
int snprintf(char *to, size_t room, const char *format, ...);
double strtod(const char *text, char **end);
#include "web/print.c"
#undef vsnprintf
#undef snprintf
#undef strtod

static double some_double(uint64_t *seed, int i) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  union {
    uint64_t bits;
    double value;
  } any = {.bits = *seed ^ *seed >> 29};
  int64_t whole = (int64_t)(*seed >> 40);
  if (i % 3 == 0) /* halves, in which nothing is lost */
    return (double)(whole - (1 << 23)) / (double)(1 << i % 12);
  return i % 3 == 1 ? (double)whole / 1e3 : any.value;
}

static void doubles_are_written_and_read_as_by_the_c_library(void **state) {
  char ours[512], theirs[512];
  uint64_t seed = 1;
  (void)state;
  for (int i = 0; i < 30000; i++) {
    double value = some_double(&seed, i);
    page_snprintf(ours, sizeof ours, "%.*g", i % 20, value);
    snprintf(theirs, sizeof theirs, "%.*g", i % 20, value);
    assert_string_equal(ours, theirs);
    if (isfinite(value))
      assert_true(page_strtod(ours, NULL) == strtod(theirs, NULL));
    page_snprintf(ours, sizeof ours, "%9.*f", i % 8, value);
    snprintf(theirs, sizeof theirs, "%9.*f", i % 8, value);
    assert_string_equal(ours, theirs);
  }
}

static void numbers_end_where_the_c_library_ends_them(void **state) {
  static const char *const texts[] = {
      "1e23",  "4.9e-324",  "2.47e-324", "1.7976931348623159e308",
      "0.1",   "123abc",    "-.5e",      "9007199254740993",
      "1e",    "+3.25e+2x", "00012.50",  "1e-400",
      "1e400", ".",         "",          "2.4703282292062327208e-324"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char *ours, *theirs;
    assert_true(page_strtod(texts[i], &ours) == strtod(texts[i], &theirs));
    assert_ptr_equal(ours, theirs);
  }
}

#define SAME(...)                                                   \
  do {                                                              \
    char ours[200], theirs[200];                                    \
    assert_int_equal(page_snprintf(ours, sizeof ours, __VA_ARGS__), \
                     snprintf(theirs, sizeof theirs, __VA_ARGS__)); \
    assert_string_equal(ours, theirs);                              \
  } while (0)

static void words_and_integers_are_those_of_the_c_library(void **state) {
  static const int64_t numbers[] = {0, 7, -1, 123456789012345, INT64_MIN};
  char small[4];
  (void)state;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    int number = (int)numbers[i];
    SAME("[%lld|%5d|%-6d|%04d|%i]", (long long)numbers[i], number, number,
         number, number);
    SAME("[%u|%x|%06x|%04X|%03o|%zu]", (unsigned)number, (unsigned)number,
         (unsigned)number & 0xffffff, (unsigned)number & 0xffff,
         (unsigned)number & 255, (size_t)(number & 255));
  }
  SAME("[%c|%%|%*s|%.3s|%-5s|%.*s|%s]", 'z', 7, "ab", "abcdef", "xy", 2, "qwe",
       "");
  assert_int_equal(page_snprintf(small, sizeof small, "%s", "abcdef"), 6);
  assert_string_equal(small, "abc");
  assert_int_equal(page_snprintf(NULL, 0, "%d", 1234), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(doubles_are_written_and_read_as_by_the_c_library),
      cmocka_unit_test(numbers_end_where_the_c_library_ends_them),
      cmocka_unit_test(words_and_integers_are_those_of_the_c_library),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
