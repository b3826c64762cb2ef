/* Origins: the version, and hashes of sources and settings, as one word. */
#include "driver/origin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"

#define TWELVE_DIGITS UINT64_C(0xffffffffffff)

/* "netc-0.2": figures may change with a minor version, but not in between. */
static int put_version(struct origin_word *origin) {
  return snprintf(origin->text, sizeof origin->text, "netc-%d.%d",
                  NETC_VERSION_NUMBER / 10000, NETC_VERSION_NUMBER / 100 % 100);
}

static void put_hash(struct origin_word *origin, uint64_t hash) {
  size_t length = strlen(origin->text);
  snprintf(origin->text + length, sizeof origin->text - length, "-%012" PRIx64,
           hash & TWELVE_DIGITS);
}

/* Hashes a text and its end, so that "ab", "c" and "a", "bc" differ. */
static uint64_t add_text(uint64_t hash, struct slice text) {
  return hash_text(hash_text(hash, text), (struct slice){"", 1});
}

static uint64_t hash_sources(const struct netc *netc) {
  uint64_t hash = HASH_TEXT;
  for (size_t i = 0; netc_source(netc, i); i++) {
    struct slice text = {NULL, 0};
    text.at = netc_source_text(netc, i, &text.length);
    hash = add_text(hash, text.at ? text : slice_of(""));
  }
  return hash;
}

/* True for options that change figures: sources are hashed apart. */
static bool counts(const struct option_given *given) {
  return given->option == OPTION_SETTING ||
         (given->option < OPTION_COUNT && given->option != OPTION_INCLUDE &&
          option_row(given->option)->group == GROUP_SETTINGS);
}

/* "batch" of --batch 64, "D c" of -D c=4. */
static struct slice key_of(const struct option_given *given) {
  const char *equals = given->value ? strchr(given->value, '=') : NULL;
  if (given->option == OPTION_SETTING)
    return slice_of(given->name);
  if (equals &&
      (given->option == OPTION_DEFINE || given->option == OPTION_SIZES))
    return (struct slice){given->value, (size_t)(equals - given->value)};
  return slice_of("");
}

static bool same_key(const struct option_given *a,
                     const struct option_given *b) {
  return a->option == b->option && slice_equal(key_of(a), key_of(b));
}

static bool is_range(const struct net_options *o,
                     const struct option_given *given) {
  const char *equals = given->value ? strchr(given->value, '=') : NULL;
  return given->value && given->option != OPTION_DEVICES &&
         net_options_is_axis(o, equals ? equals + 1 : given->value);
}

/* A table of devices is hashed by its rows, not by its name. */
static uint64_t hash_value(const struct option_given *given, uint64_t hash) {
  struct arena arena;
  struct slice table;
  if (given->option != OPTION_DEVICES)
    return add_text(hash, slice_of(given->value ? given->value : "on"));
  arena_open(&arena, NULL, NULL);
  if (file_read(&arena, given->value, &table) == FILE_OK)
    hash = add_text(hash, table);
  arena_close(&arena);
  return hash;
}

/* The order does not matter; of several values for a name the last counts. */
static uint64_t hash_settings(const struct net_options *o) {
  uint64_t sum = 0;
  for (size_t i = 0; i < o->given_count; i++) {
    const struct option_given *given = &o->given[i];
    bool last = counts(given) && !is_range(o, given);
    for (size_t k = i + 1; k < o->given_count && last; k++)
      last = !same_key(given, &o->given[k]);
    if (last)
      sum += hash_value(given,
                        add_text(hash_word(HASH_TEXT, (uint64_t)given->option),
                                 key_of(given)));
  }
  return sum;
}

struct origin_word origin_of_rows(const struct net_options *options) {
  struct origin_word origin;
  put_version(&origin);
  put_hash(&origin, hash_sources(options->netc));
  put_hash(&origin, hash_settings(options));
  return origin;
}

/* True for lines of x.net about its use, which do not affect results. */
static bool is_usage(struct slice line) {
  static const char *const words[] = {"net ", "train ", "infer ", "budget ",
                                      "allow "};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (slice_begins(line, words[i]))
      return true;
  return false;
}

bool origin_of_layers(struct netc *netc, struct origin_word *origin) {
  struct bytes made = {NULL, 0, 0};
  struct netc_options look = {.size = sizeof look};
  uint64_t hash = HASH_TEXT;
  bool right = netc_emit(netc, "net", &look, bytes_sink, &made) == NETC_OK;
  for (size_t at = 0, length; right && at < made.length; at += length + 1) {
    const char *end = memchr(made.at + at, '\n', made.length - at);
    length = end ? (size_t)(end - made.at) - at : made.length - at;
    struct slice line = {made.at + at, length};
    if (!is_usage(line))
      hash = add_text(hash, line);
  }
  bytes_free(&made);
  put_version(origin);
  put_hash(origin, hash);
  return right;
}

/* Part `index` of a word with hyphens, from 0; empty if there is none. */
static struct slice part_of(struct slice text, int index) {
  const char *hyphen;
  for (; (hyphen = memchr(text.at, '-', text.length)) && index > 0; index--)
    text = slice_from(text, (size_t)(hyphen - text.at) + 1);
  size_t end = hyphen ? (size_t)(hyphen - text.at) : text.length;
  return slice_to(text, index > 0 ? 0 : end);
}

const char *origin_differs(const struct origin_word *origin,
                           struct slice stored) {
  static const char *const how[] = {NULL, "from another version of netc",
                                    "from another source",
                                    "with other settings"};
  struct slice own = slice_of(origin->text);
  if (slice_equal(own, stored))
    return NULL;
  for (int i = 1; i < 4; i++)
    if (!slice_equal(part_of(own, i), part_of(stored, i)))
      return how[i];
  return "from something else";
}

bool origin_other_net(const struct origin_word *origin, struct slice stored) {
  return !slice_equal(part_of(slice_of(origin->text), 2), part_of(stored, 2));
}
