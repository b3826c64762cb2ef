/* Text: a buffer that grows in an arena or flows into a sink. */
#ifndef NETC_BASE_TEXT_H
#define NETC_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/slice.h"

/* Takes bytes; returns false on failure, such as a full disk. */
typedef bool netc_sink_fn(void *user, const char *bytes, size_t length);

struct text {
  struct arena *arena;
  char *at;
  size_t length, room;
  netc_sink_fn *sink; /* NULL: the text stays in memory */
  void *user;
  bool failed; /* the sink failed; all further text is dropped */
};

/* A text in memory. */
struct text text_new(struct arena *arena);

/* A text that is written to `sink` in pieces; finish with text_flush(). */
struct text text_to(struct arena *arena, netc_sink_fn *sink, void *user);
/* text_to() with the caller's buffer and no arena: for numbers, strings and
 * JSON, and formats of at most 255 bytes. */
struct text text_by(char *at, size_t room, netc_sink_fn *sink, void *user);
bool text_flush(struct text *text);

struct slice text_slice(const struct text *text);

/* The text with a NUL, which is included in its length. */
const char *text_string(struct text *text);

/* text_bytes() if there is not enough room. */
void text_overflow(struct text *text, const char *bytes, size_t length);

/*
 * Inline, because reports of large nets consist of hundreds of millions of
 * small pieces.
 */
static inline void text_bytes(struct text *text, const char *bytes,
                              size_t length) {
  if (length > text->room - text->length) {
    text_overflow(text, bytes, length);
  } else if (length) {
    memcpy(text->at + text->length, bytes, length);
    text->length += length;
  }
}

static inline void text_put(struct text *text, const char *string) {
  text_bytes(text, string, strlen(string));
}

static inline void text_putc(struct text *text, char c) {
  if (text->length == text->room)
    text_overflow(text, &c, 1);
  else
    text->at[text->length++] = c;
}

static inline void text_puts(struct text *text, struct slice slice) {
  text_bytes(text, slice.at, slice.length);
}

void text_fill(struct text *text, char c, size_t count);

#if defined __GNUC__
#define PRINTF_LIKE(string, first) \
  __attribute__((format(printf, string, first)))
#else
#define PRINTF_LIKE(string, first)
#endif

/* Do not format reals with these: printf depends on the locale. */
void text_printf(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_vprintf(struct text *text, const char *format, va_list args);

/* Plain decimal digits. */
void text_int(struct text *text, int64_t value);

enum { TEXT_DIGITS = 20 }; /* maximum of an int64_t, with its sign */

/*
 * A number that is printed often and mostly stays or grows a little: changing
 * one digit takes a third of the time.
 */
struct counter {
  int64_t value; /* not negative */
  size_t length; /* 0: not printed yet */
  char digits[TEXT_DIGITS];
};
void text_counter(struct text *text, struct counter *counter, int64_t value);

/* "3x3" */
void text_sizes(struct text *text, const int64_t *sizes, int count);

/* With thousands separators: 4,632,902. */
void text_count(struct text *text, int64_t value);

/* text_count() as a string, for text_printf(). */
struct count_text {
  char text[32];
};
struct count_text count_text(int64_t value);

/* The shortest decimal that reads back as the same double, always with ".". */
void text_real(struct text *text, double value);

/* 900000 as 0.9 */
void text_millionths(struct text *text, int64_t value);

/* `value` with `decimals` decimals. */
void text_fixed(struct text *text, double value, int decimals);

/* "1.154 s", "521.4 ms": four digits. */
void text_seconds(struct text *text, double seconds);

/* "12.3 hours", "1,234 hours"; "246.00", "1,234,567". */
void text_hours(struct text *text, double hours);
void text_money(struct text *text, double money);

enum text_units { UNITS_IEC, UNITS_SI, UNITS_BYTES };

/* A size for people: "17.67 MiB", "18.53 MB" or "18,531,608 B". */
void text_size(struct text *text, int64_t bytes, enum text_units units,
               int decimals);
struct count_text size_text(int64_t bytes, enum text_units units);

/* A size with three significant digits: "17.7 MiB", "115 MiB"; bytes exactly.
 * short_size() is the same as a string. */
void text_short_size(struct text *text, int64_t bytes, enum text_units units);
struct count_text short_size(int64_t bytes, enum text_units units);

/* The size in the unit of a larger one, without the unit: "17.7". */
void text_size_in(struct text *text, int64_t bytes, int64_t larger,
                  enum text_units units);

/* The unit of a size: "MiB", and its bytes. */
const char *text_unit(int64_t bytes, enum text_units units);
int64_t text_unit_bytes(int64_t bytes, enum text_units units);

/* A number with three significant digits from 100,000 on: "25.6 M", "8.03 B".
 * `billion` is the letter of 10^9: B of parameters, G of operations. */
void text_short_count(struct text *text, int64_t value, char billion);

/* A number from 10^9 on with three digits and a unit: " (79.1 T)". Nothing for
 * smaller ones. `units` are those of 10^9, 10^12 and so on: "GTP". */
void text_rounded(struct text *text, int64_t value, const char *units);

/* Number of code points. */
size_t text_width(struct slice slice);

#endif
