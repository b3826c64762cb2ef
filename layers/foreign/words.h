/* Pieces of a line of a foreign statement. */
#ifndef NETC_LAYERS_FOREIGN_WORDS_H
#define NETC_LAYERS_FOREIGN_WORDS_H

#include <stdbool.h>
#include <string.h>

#include "base/slice.h"

/* Removes leading and trailing `signs`. */
static inline struct slice slice_trim(struct slice s, const char *signs) {
  while (s.length && s.at[0] && strchr(signs, s.at[0]))
    s = slice_from(s, 1);
  while (s.length && s.at[s.length - 1] && strchr(signs, s.at[s.length - 1]))
    s.length--;
  return s;
}

static inline struct slice slice_plain(struct slice s) {
  return slice_trim(s, " \t\r\n");
}

static inline size_t slice_find(struct slice s, const char *what) {
  size_t at = 0;
  while (at < s.length && !slice_begins(slice_from(s, at), what))
    at++;
  return at;
}

static inline struct slice slice_word(struct slice s) {
  size_t length = 0;
  while (length < s.length && is_word_byte(s.at[length]))
    length++;
  return slice_to(s, length);
}

static inline bool slice_starts_word(struct slice s, const char *word) {
  return slice_is(slice_word(s), word);
}

/* Index of the bracket that closes the first one; the length, if none does. */
static inline size_t slice_close(struct slice s) {
  int depth = 0;
  for (size_t i = 0; i < s.length; i++) {
    depth += s.at[i] == '(' || s.at[i] == '[' || s.at[i] == '{';
    depth -= s.at[i] == ')' || s.at[i] == ']' || s.at[i] == '}';
    if (depth <= 0)
      return i;
  }
  return s.length;
}

/* Removes and returns the piece before the first comma at depth 0. */
static inline struct slice slice_item(struct slice *s) {
  int depth = 0;
  size_t i = 0;
  for (; i < s->length; i++) {
    char c = s->at[i];
    depth +=
        (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (c == ',' && depth == 0)
      break;
  }
  struct slice item = slice_plain(slice_to(*s, i));
  *s = slice_from(*s, i + 1);
  return item;
}

static inline bool slice_is_number(struct slice s) {
  bool digits = false;
  for (size_t i = 0; i < s.length; i++) {
    if (!is_digit(s.at[i]) && s.at[i] != '.' && !(i == 0 && s.at[i] == '-'))
      return false;
    digits = digits || is_digit(s.at[i]);
  }
  return digits;
}

#endif
