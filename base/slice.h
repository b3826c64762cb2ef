/* Slice: a borrowed piece of text, not NUL-terminated. */
#ifndef NETC_BASE_SLICE_H
#define NETC_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
  const char *at;
  size_t length;
};

/* Arguments for "%.*s"; `s` may be a struct text. `s` is evaluated twice and
 * must have an address, so that a call does not compile. */
#define SLICE_ARG(s) (int)(&(s))->length, (&(s))->at

/* isdigit() depends on the locale. */
static inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static inline bool is_word_byte(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

static inline struct slice slice_of(const char *text) {
  return (struct slice){text, strlen(text)};
}

static inline bool slice_equal(struct slice a, struct slice b) {
  return a.length == b.length &&
         (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

static inline bool slice_is(struct slice s, const char *text) {
  return slice_equal(s, slice_of(text));
}

/*
 * Parts of a text. All code that shortens a slice uses these: they never exceed
 * it, while a length that wraps would read far outside.
 */
static inline struct slice slice_from(struct slice s, size_t at) {
  if (at > s.length)
    at = s.length;
  return at ? (struct slice){s.at + at, s.length - at} : s;
}

static inline struct slice slice_to(struct slice s, size_t end) {
  return (struct slice){s.at, end < s.length ? end : s.length};
}

/* Without its last `count` bytes. */
static inline struct slice slice_less(struct slice s, size_t count) {
  return slice_to(s, s.length > count ? s.length - count : 0);
}

/* Offsets of the line that contains byte `at`: its start,
 * and its '\n' or end. */
static inline size_t slice_line_begin(struct slice s, size_t at) {
  while (at > 0 && s.at[at - 1] != '\n')
    at--;
  return at;
}

static inline size_t slice_line_end(struct slice s, size_t at) {
  while (at < s.length && s.at[at] != '\n')
    at++;
  return at;
}

static inline bool slice_begins(struct slice s, const char *start) {
  size_t length = strlen(start);
  return s.length >= length && memcmp(s.at, start, length) == 0;
}

static inline bool slice_ends_in(struct slice s, struct slice end) {
  return s.length >= end.length &&
         slice_equal(slice_from(s, s.length - end.length), end);
}

static inline bool slice_ends(struct slice s, const char *end) {
  return slice_ends_in(s, slice_of(end));
}

/* Removes the suffix `end`, if there is one. */
static inline struct slice slice_without(struct slice s, struct slice end) {
  return slice_ends_in(s, end) ? slice_less(s, end.length) : s;
}

/* Lists of words with blanks between them. */

/* The position of a word in `words`, from 1; 0: not found. */
int word_index(const char *words, struct slice word);

/* The position of the first word for which `same` is true. */
int word_index_as(const char *words, struct slice word,
                  bool same(struct slice, struct slice));

/* The word at a position from 1. */
struct slice word_at(const char *words, int index);

#endif
