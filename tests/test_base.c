/* base/: memory, texts, numbers, places, suggestions. */
#define _POSIX_C_SOURCE 200809L
#include <jansson.h>
#include <locale.h>
#include <math.h>

#include "tests/run.h"
#if SANITIZED
#include <sanitizer/asan_interface.h>
#endif

#include "base/check.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "base/real.h"
#include "base/shown.h"
#include "base/suggest.h"
#include "base/utf8.h"

static int open_arena(void **state) {
  struct arena *arena = malloc(sizeof *arena);
  arena_open(arena, NULL, NULL);
  *state = arena;
  return 0;
}

static int close_arena(void **state) {
  arena_close(*state);
  free(*state);
  return 0;
}

/* Arena */

static void an_arena_gives_zeroed_aligned_memory(void **state) {
  for (size_t size = 0; size < 40000; size = size * 2 + 1) {
    char *at = arena_alloc(*state, size, 1);
    assert_int_equal((uintptr_t)at % _Alignof(int64_t), 0);
    for (size_t i = 0; i < size; i++)
      assert_int_equal(at[i], 0);
    memset(at, 0xAA, size);
  }
}

#if SANITIZED
static bool poisoned(const char *at) {
  return __asan_address_is_poisoned(at) != 0;
}

/* A write past the end of a request, or a return to it, is noticed. */
static void sanitizers_see_the_ends_of_requests(void **state) {
  char *before = arena_room(*state, 16, 1), *at = arena_room(*state, 10, 4);
  assert_false(poisoned(before + 15) || poisoned(at) || poisoned(at + 39));
  assert_true(poisoned(before + 16) && poisoned(at - 1) && poisoned(at + 40));
  struct arena_mark mark = arena_mark(*state);
  char *after = arena_room(*state, 8, 1);
  arena_release(*state, mark);
  assert_true(poisoned(after));
  assert_ptr_equal(arena_room(*state, 8, 1), after);
  assert_false(poisoned(after));
  arena_take_back(*state, after, 8);
  assert_true(poisoned(after));
}
#endif

static void a_growing_array_keeps_what_it_holds(void **state) {
  VEC(int) small = {0}, large = {0};
  for (int i = 0; i < 100000; i++) {
    *VEC_PUSH((struct arena *)*state, &large) = i;
    if (i % 1000 == 0)
      *VEC_PUSH((struct arena *)*state, &small) = i;
  }
  for (int i = 0; i < 100000; i++)
    assert_int_equal(large.at[i], i);
  for (int i = 0; i < 100; i++)
    assert_int_equal(small.at[i], i * 1000);
}

static void ask_for_too_much(void *user) {
  arena_alloc(user, SIZE_MAX / 2, 3);
  fail();
}

/* Asks for a block, then for too much in an arena inside an inner guard. */
static void ask_deeper(void *user) {
  struct arena inner;
  struct arena *const arenas[GUARD_ARENAS] = {user};
  arena_open_in(&inner, user);
  arena_alloc(&inner, 100, 1);
  assert_false(guard_run(arenas, ask_for_too_much, &inner));
  assert_non_null(inner.blocks); /* it was open before */
  arena_alloc(user, 10, 1);      /* the outer one is as it was */
  ask_for_too_much(user);
}

/* Leaves one open in the second arena. */
static void ask_in_another(void *user) {
  struct arena *const *arenas = user;
  struct arena inner;
  arena_open_in(&inner, arenas[1]);
  arena_alloc(&inner, 100, 1);
  ask_for_too_much(arenas[0]);
}

static void what_is_open_in_any_guarded_arena_is_closed(void **state) {
  struct arena other;
  struct arena *arenas[GUARD_ARENAS] = {*state, &other};
  arena_open(&other, NULL, NULL);
  assert_false(guard_run(arenas, ask_in_another, arenas));
  assert_null(other.inner);
  arena_close(&other);
}

static void an_impossible_size_goes_to_the_guard(void **state) {
  struct arena *const arenas[GUARD_ARENAS] = {*state};
  assert_false(guard_run(arenas, ask_for_too_much, *state));
  assert_false(guard_run(arenas, ask_deeper, *state));
  assert_non_null(arena_alloc(*state, 10, 1));
}

/* Reals */

/* Those of other bases are the nearest doubles to 80 digits of the value. */
static void powers_and_logarithms_are_the_nearest_doubles(void **state) {
  static const struct {
    double base, exponent, power, log2;
  } cases[] = {
      {1.1, 10, 0x1.4bffc0c03023ep+1, 0x1.199b728cb9d0cp-3},
      {1.2, 0.5, 0x1.186f174f88472p+0, 0x1.0d58e42b1da16p-2},
      {1.3, -7.25, 0x1.31a953d2988a4p-3, 0x1.83988d0c1f60dp-2},
      {2.5, 100.5, 0x1.cea6159a7eaa7p+132, 0x1.5269e12f346e3p+0},
      {0.001, -30.1, 0x1.f580188d3a6b0p+299, -0x1.3ee7b471b3a95p+3},
      {3.0, -2.0, 0x1.c71c71c71c71cp-4, 0x1.95c01a39fbd68p+0},
  };
  char text[16];
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_true(real_pow(cases[i].base, cases[i].exponent) == cases[i].power);
    assert_true(real_log2(cases[i].base) == cases[i].log2);
  }
  for (int p = -22; p <= 22; p++) { /* 10^22 is the last that is exact */
    snprintf(text, sizeof text, "1e%d", p);
    assert_true(real_pow(10, p) == strtod(text, NULL));
    assert_true(real_log10(strtod(text, NULL)) == p);
    assert_true(real_pow(-2, p) == ldexp(p % 2 ? -1 : 1, p));
    assert_true(real_log2(ldexp(1, p)) == p);
  }
}

static void powers_of_no_number_are_those_of_c(void **state) {
  static const double all[] = {0,    -0.0, 1,     -1,     2,        -0.5,
                               3,    -3,   1e300, -1e300, 1e-300,   5e-324,
                               1024, NAN,  1e22,  0.5,    INFINITY, -INFINITY};
  size_t count = sizeof all / sizeof *all;
  (void)state;
  for (size_t i = 0; i < count * count; i++) {
    double base = all[i / count], exponent = all[i % count];
    double ours = real_pow(base, exponent), libc = pow(base, exponent);
    double log = real_log2(base), other = log2(base);
    assert_true(isnan(log)   ? isnan(other)
                : isinf(log) ? log == other
                             : fabs(log - other) < 1e-12);
    assert_true(isnan(ours) ? isnan(libc)
                            : ours == libc && !signbit(ours) == !signbit(libc));
  }
}

/* Arithmetic */

__extension__ typedef __int128 wide;

static bool fits(wide value) {
  return value >= INT64_MIN && value <= INT64_MAX;
}

static void checked_arithmetic_notices_every_overflow(void **state) {
  (void)state;
  static const int64_t values[] = {0,
                                   1,
                                   -1,
                                   2,
                                   3,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT64_MAX - 1,
                                   INT64_MAX / 2,
                                   INT64_MIN / 2,
                                   3037000499,
                                   3037000500};
  size_t n = sizeof values / sizeof *values;
  for (size_t i = 0; i < n * n; i++) {
    int64_t a = values[i / n], b = values[i % n], result;
    assert_int_equal(add_i64(a, b, &result), fits((wide)a + b));
    assert_int_equal(sub_i64(a, b, &result), fits((wide)a - b));
    assert_int_equal(mul_i64(a, b, &result), fits((wide)a * b));
  }
  assert_int_equal(floor_div_i64(-7, 2), -4);
  assert_int_equal(floor_div_i64(7, 2), 3);
  assert_int_equal(floor_div_i64(7, -2), -4);
  assert_int_equal(floor_div_i64(-7, -2), 3);
  assert_int_equal(floor_div_i64(-8, -2), 4);
  assert_int_equal(ceil_div_i64(7, 2), 4);
  assert_int_equal(ceil_div_i64(-7, 2), -3);
}

/* Texts */

static const char *ended(struct text *text) {
  text_putc(text, '\0');
  text->length--;
  return text->at;
}

#define ASSERT_TEXT(state, expected, call)      \
  do {                                          \
    struct text out = text_new(*(state));       \
    call;                                       \
    assert_string_equal(ended(&out), expected); \
  } while (0)

static void numbers_are_written_for_people(void **state) {
  ASSERT_TEXT(state, "0", text_count(&out, 0));
  ASSERT_TEXT(state, "999", text_count(&out, 999));
  ASSERT_TEXT(state, "1,000", text_count(&out, 1000));
  ASSERT_TEXT(state, "4,632,902", text_count(&out, 4632902));
  ASSERT_TEXT(state, "-1,234", text_count(&out, -1234));
  ASSERT_TEXT(state, "9,223,372,036,854,775,807", text_count(&out, INT64_MAX));
  ASSERT_TEXT(state, "-9223372036854775808", text_int(&out, INT64_MIN));
}

static void sizes_have_the_unit_that_fits(void **state) {
  ASSERT_TEXT(state, "40 B", text_size(&out, 40, UNITS_IEC, 1));
  ASSERT_TEXT(state, "1,023 B", text_size(&out, 1023, UNITS_IEC, 1));
  ASSERT_TEXT(state, "1.0 KiB", text_size(&out, 1024, UNITS_IEC, 1));
  ASSERT_TEXT(state, "17.67 MiB", text_size(&out, 18531608, UNITS_IEC, 2));
  ASSERT_TEXT(state, "18.53 MB", text_size(&out, 18531608, UNITS_SI, 2));
  ASSERT_TEXT(state, "1.00 kB", text_size(&out, 1000, UNITS_SI, 2));
  ASSERT_TEXT(state, "18,531,608 B", text_size(&out, 18531608, UNITS_BYTES, 2));
  ASSERT_TEXT(state, "8192.0 PiB", text_size(&out, INT64_MAX, UNITS_IEC, 1));
}

static void a_real_reads_back_as_itself(void **state) {
  static const double values[] = {
      0,   0.1,  1.0 / 3,           1e300, 5e-324, -2.5, 1e-5, 123456789.125,
      0.5, 1e16, 21.333333333333332};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    struct text out = text_new(*state);
    text_real(&out, values[i]);
    assert_true(strtod(ended(&out), NULL) == values[i]);
  }
  ASSERT_TEXT(state, "0.1", text_real(&out, 0.1));
  ASSERT_TEXT(state, "2.50", text_fixed(&out, 2.5, 2));
}

/* A program that embeds the library may have chosen a locale. */
static void reals_do_not_follow_the_locale(void **state) {
  const char *dir = scratch("locale");
  struct run r =
      run("localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", dir);
  run_free(&r);
  setenv("LOCPATH", dir, 1);
  if (r.status || !setlocale(LC_NUMERIC, "de_DE.UTF-8"))
    skip(); /* Debian's `locales` is not installed */
  ASSERT_TEXT(state, "0.25", text_real(&out, 0.25));
  ASSERT_TEXT(state, "1.50", text_fixed(&out, 1.5, 2));
  setlocale(LC_NUMERIC, "C");
}

struct sunk {
  char bytes[256];
  size_t length, calls, limit;
};

static bool sink(void *user, const char *bytes, size_t length) {
  struct sunk *sunk = user;
  sunk->calls++;
  if (sunk->length + length > sunk->limit)
    return false;
  if (sunk->length + length <= sizeof sunk->bytes)
    memcpy(sunk->bytes + sunk->length, bytes, length);
  sunk->length += length;
  return true;
}

static void a_text_flows_into_its_sink(void **state) {
  struct sunk sunk = {.limit = 10000000};
  struct text out = text_to(*state, sink, &sunk);
  for (int i = 0; i < 100000; i++)
    text_put(&out, "0123456789");
  char *long_one = arena_alloc(*state, 200000, 1);
  memset(long_one, 'x', 200000);
  text_bytes(&out, long_one, 200000);
  assert_true(text_flush(&out));
  assert_int_equal(sunk.length, 1200000);
  assert_in_range(sunk.calls, 2, 40);
}

static void a_sink_that_refuses_is_not_asked_again(void **state) {
  struct sunk sunk = {.limit = 100000};
  struct text out = text_to(*state, sink, &sunk);
  for (int i = 0; i < 100000; i++)
    text_put(&out, "0123456789");
  assert_false(text_flush(&out));
  assert_int_equal(sunk.length, 65530);
  assert_int_equal(sunk.calls, 2);
}

/* UTF-8: https://www.rfc-editor.org/rfc/rfc3629 */

static void utf8_sequences_are_told_from_others(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t expected;
  } cases[] = {
      {"a", 1},
      {"\xC3\xA9", 2},
      {"\xE2\x82\xAC", 3},
      {"\xF0\x9F\x98\x80", 4},
      {"\x80", 0},
      {"\xC0\xAF", 0},
      {"\xC3", 0},
      {"\xE0\x80\x80", 0},
      {"\xED\xA0\x80", 0},
      {"\xF0\x80\x80\x80", 0},
      {"\xF4\x90\x80\x80", 0},
      {"\xFF", 0},
      {"\xE2\x82", 0},
      {"\xF4\x8F\xBF\xBF", 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(utf8_length(cases[i].bytes, strlen(cases[i].bytes)),
                     cases[i].expected);
  assert_int_equal(utf8_length("", 0), 0);
}

/* Bytes that a terminal must not get, with the columns of the rest. */
static void what_is_shown_does_nothing_to_a_terminal(void **state) {
#define HIDDEN "\xEF\xBF\xBD"
  static const struct {
    const char *text, *shown;
    size_t columns;
  } cases[] = {
      {"", "", 0},
      {"plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
       "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", 11},
      {"\x1B[31mred\x7F\r\n", "?[31mred???", 11},
      {"\xC2\x9B"
       "31m",
       HIDDEN "31m", 4}, /* CSI as one character */
      {"\x9B"
       "31m \xE9",
       HIDDEN "31m " HIDDEN, 6}, /* and in Latin-1 */
      {"\xC2\xA0\xC2\x9F", "\xC2\xA0" HIDDEN, 2},
      {"a\xE2\x80\xAE"
       "b\xE2\x80\xAC",
       "a" HIDDEN "b" HIDDEN, 4},
      {"\xE2\x80\xAA\xE2\x80\xAB\xE2\x80\xAD", HIDDEN HIDDEN HIDDEN, 3},
      {"\xE2\x81\xA6\xE2\x81\xA7\xE2\x81\xA8\xE2\x81\xA9",
       HIDDEN HIDDEN HIDDEN HIDDEN, 4},
      {"\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", HIDDEN HIDDEN HIDDEN, 3},
      {"\xE2\x80\xA8\xE2\x80\xA9", HIDDEN HIDDEN, 2}, /* line ends */
      {"\xE2\x80\x94\xE2\x81\xB0", "\xE2\x80\x94\xE2\x81\xB0", 2},
      {"\xE2\x80\x8B\xEF\xBB\xBF", HIDDEN HIDDEN, 2}, /* no width */
      {"\xF3\xA0\x81\x81\xF3\xA0\x82\x80", HIDDEN "\xF3\xA0\x82\x80", 2},
      {"\xE2\x80", HIDDEN HIDDEN, 2}, /* cut off */
      {"\ta\tb", "        a       b", 17},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct text out = text_new(*state);
    size_t columns = shown_put(&out, slice_of(cases[i].text), 8);
    assert_string_equal(ended(&out), cases[i].shown);
    assert_int_equal(columns, cases[i].columns);
  }
  ASSERT_TEXT(state, "a?b", shown_put(&out, slice_of("a\tb"), 0));
}

/* JSON: what the writer writes, jansson reads back. */

static void json_strings_survive(void **state) {
  static const char text[] = "quote \" slash \\ tab \t \x01 \xC3\xA9 end";
  struct text out = text_new(*state);
  struct json json = json_writer(&out, 1);
  json_put_open(&json, '[');
  json_put_string(&json, slice_of(text));
  json_put_int(&json, INT64_MIN);
  json_put_real(&json, 0.1);
  json_put_real(&json, INFINITY);
  json_put_bool(&json, true);
  json_put_open(&json, '{');
  json_put_close(&json, '}');
  json_put_string(&json, slice_of("bad \xFF byte"));
  json_put_close(&json, ']');
  json_t *read = json_loads(ended(&out), 0, NULL);
  assert_non_null(read);
  assert_string_equal(json_string_value(json_array_get(read, 0)), text);
  assert_true(json_integer_value(json_array_get(read, 1)) == INT64_MIN);
  assert_true(json_real_value(json_array_get(read, 2)) == 0.1);
  assert_true(json_is_null(json_array_get(read, 3)));
  assert_true(json_is_true(json_array_get(read, 4)));
  assert_int_equal(json_object_size(json_array_get(read, 5)), 0);
  assert_string_equal(json_string_value(json_array_get(read, 6)),
                      "bad \xEF\xBF\xBD byte");
  json_decref(read);
}

/* Slices */

static void a_piece_stays_in_its_text(void **state) {
  static const char text[] = "conv relu";
  struct slice s = {text, 4}, empty = {NULL, 0};
  (void)state;
  assert_true(slice_is(slice_from(s, 2), "nv"));
  assert_int_equal(slice_from(s, 9).length, 0);
  assert_true(slice_is(slice_to(s, 9), "conv"));
  assert_true(slice_is(slice_less(s, 1), "con"));
  assert_int_equal(slice_less(s, 5).length, 0);
  assert_true(slice_is(slice_without(s, slice_of("nv")), "co"));
  assert_true(slice_is(slice_without(s, slice_of("relu")), "conv"));
  assert_true(slice_is(slice_without(s, slice_of(" conv relu")), "conv"));
  assert_int_equal(slice_without(s, s).length, 0);
  assert_int_equal(slice_from(empty, 0).length, 0);
  assert_true(slice_is(slice_without(s, empty), "conv"));
}

/* Maps and suggestions */

static void a_map_finds_what_was_put_in(void **state) {
  struct map map = {0};
  char keys[2000][8];
  for (int i = 0; i < 2000; i++) {
    snprintf(keys[i], sizeof keys[i], "k%d", i);
    map_add(*state, &map, slice_of(keys[i]))->number = i;
  }
  for (int i = 0; i < 2000; i++)
    assert_int_equal(map_find(&map, slice_of(keys[i]))->number, i);
  assert_null(map_find(&map, slice_of("k2000")));
  assert_int_equal(map.count, 2000);
}

static const char *suggested(const char *wanted) {
  static const char *const known[] = {"conv", "deconv", "dwconv", "pool",
                                      "relu", "relu6",  "softmax"};
  static char result[32];
  struct suggestion s = suggest_begin(slice_of(wanted));
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    suggest_offer(&s, slice_of(known[i]));
  struct slice best = s.best.at ? s.best : slice_of("-");
  snprintf(result, sizeof result, "%.*s", SLICE_ARG(best));
  return result;
}

static void close_names_are_suggested_and_others_are_not(void **state) {
  (void)state;
  assert_string_equal(suggested("cnov"), "conv"); /* swapped */
  assert_string_equal(suggested("Conv"), "conv");
  assert_string_equal(suggested("pol"), "pool");
  assert_string_equal(suggested("softmaxx"), "softmax");
  assert_string_equal(suggested("rellu"), "relu");
  assert_string_equal(suggested("frobnicate"), "-");
  assert_string_equal(suggested("x"), "-");
}

/* Places */

static void places_are_lines_and_columns(void **state) {
  struct sources sources = {.arena = *state};
  static const char text[] = "ab\n\xC3\xA9\xC3\xA9 c\r\n\nend";
  assert_int_equal(sources_add(&sources, slice_of("one"), slice_of("x")), 0);
  assert_int_equal(sources_add(&sources, slice_of("two"), slice_of(text)), 1);
  uint32_t base = sources.all.at[1].base;
  static const struct {
    uint32_t offset, line, column;
  } cases[] = {{0, 1, 1}, {2, 1, 3},  {3, 2, 1},  {5, 2, 2},
               {8, 2, 4}, {11, 3, 1}, {12, 4, 1}, {15, 4, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct position p = sources_position(&sources, base + cases[i].offset);
    assert_int_equal(p.line, cases[i].line);
    assert_int_equal(p.column, cases[i].column);
    assert_true(slice_is(p.source->name, "two"));
  }
  assert_true(slice_is(sources_position(&sources, base + 4).text,
                       "\xC3\xA9\xC3\xA9 c"));
  assert_true(slice_is(sources_position(&sources, 0).source->name, "one"));
}

/* One mistake in a loop is one message with a count. */
static void a_diagnostic_at_one_place_is_kept_once(void **state) {
  struct sources sources = {.arena = *state};
  struct diags diags;
  sources_add(&sources, slice_of("f"), slice_of("conv 3"));
  diags_open(&diags, *state, &sources);
  for (int i = 0; i < 1000; i++)
    diag_help(diag(&diags, POOL_REMAINDER, (struct span){0, 4}, "once"),
              "help %d", i);
  diag(&diags, POOL_REMAINDER, (struct span){0, 5}, "another place");
  diag(&diags, HUGE_FC, (struct span){0, 4}, "another slug");
  assert_int_equal(diags.all.count, 3);
  assert_int_equal(diags.all.at[0]->repeats, 999);
  assert_int_equal(diags.all.at[0]->help.count, 1);
  assert_int_equal(diags.warnings, 3);
}

static void a_place_in_a_very_long_line_is_shown_around_itself(void **state) {
  struct sources sources = {.arena = *state};
  struct diags diags;
  char *line = arena_alloc(*state, 100001, 1);
  memset(line, 'a', 100000);
  memcpy(line + 50000, "WRONG", 5);
  sources_add(&sources, slice_of("f"), (struct slice){line, 100000});
  diags_open(&diags, *state, &sources);
  diag(&diags, SYNTAX, (struct span){50000, 50005}, "here");
  struct text out = text_new(*state);
  diag_render_text(&out, &sources, diags.all.at[0], false);
  assert_in_range(out.length, 200, 500);
  assert_holds(ended(&out), "WRONG");
  assert_holds(ended(&out), "^^^^^\n");
  assert_holds(ended(&out), "f:1:50001: error: here [syntax]");
}

/* In names of files, in messages and in lines; carets stay below. */
static void messages_do_nothing_to_a_terminal(void **state) {
  static const char text[] = "\x1B[2J\xE2\x80\xAE"
                             "ab wrong";
  struct sources sources = {.arena = *state};
  struct diags diags;
  sources_add(&sources, slice_of("f\x1B[1m"), slice_of(text));
  sources_add(&sources, slice_of("g\xC2\x9B"), slice_of("x"));
  diags_open(&diags, *state, &sources);
  struct diagnostic *d =
      diag(&diags, SYNTAX, (struct span){10, 15}, "a \x1B[3m name");
  diag_here(d, "\x07 here");
  diag_label(d, (struct span){16, 17}, "\x1B there");
  diag_note(d, "note \x08");
  diag_help(d, "help \xE2\x81\xA6");
  struct text out = text_new(*state);
  diag_render_text(&out, &sources, d, false);
  assert_string_equal(ended(&out), "f?[1m:1:9: error: a ?[3m name [syntax]\n"
                                   "   1 | ?[2J" HIDDEN "ab wrong\n"
                                   "     |         ^^^^^ ? here\n"
                                   "    --> g" HIDDEN "\n"
                                   "   1 | x\n"
                                   "     | - ? there\n"
                                   "   = note: note ?\n"
                                   "   = help: help " HIDDEN "\n");
}

/* Both ends of a name tell it from others; what mends a source is whole. */
static void long_names_are_shortened(void **state) {
  struct sources sources = {.arena = *state};
  struct diags diags;
  enum { LENGTH = 1000000 };
  char *name = arena_alloc(*state, LENGTH + 1, 1);
  memset(name, 'a', LENGTH);
  name[LENGTH - 1] = 'z';
  sources_add(&sources, slice_of("f"), slice_of("x"));
  diags_open(&diags, *state, &sources);
  struct diagnostic *d = diag(&diags, SYNTAX, (struct span){0, 1},
                              "no `%s` and no `%s`", name, name + LENGTH - 60);
  diag_help(d, "%s.%s", name + LENGTH - 61, "\xC3\xA9\xC3\xA9");
  diag_suggest(d, (struct span){0, 1}, slice_of(name));
  diag_take(d, &d->offers.at[0]);
#define FORTY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define FIFTEEN "aaaaaaaaaaaaaaa"
  assert_true(slice_is(d->message, "no `" FORTY "..." FIFTEEN
                                   "z` and no `" FORTY "aaaa" FIFTEEN "z`"));
  assert_true(
      slice_is(d->help.at[1], FORTY "..." FIFTEEN "z.\xC3\xA9\xC3\xA9"));
  assert_int_equal(d->fixits.at[0].text.length, LENGTH);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_arena, close_arena)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(an_arena_gives_zeroed_aligned_memory),
#if SANITIZED
    TEST(sanitizers_see_the_ends_of_requests),
#endif
    TEST(a_growing_array_keeps_what_it_holds),
    TEST(an_impossible_size_goes_to_the_guard),
    TEST(what_is_open_in_any_guarded_arena_is_closed),
    TEST(powers_and_logarithms_are_the_nearest_doubles),
    TEST(powers_of_no_number_are_those_of_c),
    TEST(checked_arithmetic_notices_every_overflow),
    TEST(numbers_are_written_for_people),
    TEST(sizes_have_the_unit_that_fits),
    TEST(a_real_reads_back_as_itself),
    TEST(reals_do_not_follow_the_locale),
    TEST(a_text_flows_into_its_sink),
    TEST(a_sink_that_refuses_is_not_asked_again),
    TEST(utf8_sequences_are_told_from_others),
    TEST(what_is_shown_does_nothing_to_a_terminal),
    TEST(json_strings_survive),
    TEST(a_piece_stays_in_its_text),
    TEST(a_map_finds_what_was_put_in),
    TEST(close_names_are_suggested_and_others_are_not),
    TEST(places_are_lines_and_columns),
    TEST(a_diagnostic_at_one_place_is_kept_once),
    TEST(a_place_in_a_very_long_line_is_shown_around_itself),
    TEST(messages_do_nothing_to_a_terminal),
    TEST(long_names_are_shortened),
  };
  return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
