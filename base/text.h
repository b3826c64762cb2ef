/* Text: a buffer that grows in an arena or flows into a sink. */
#ifndef NETC_BASE_TEXT_H
#define NETC_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/slice.h"

/* Takes bytes; returns false when it could not (a full disk, say). */
typedef bool netc_sink_fn(void *user, const char *bytes, size_t length);

struct text {
  struct arena *arena;
  char *at;
  size_t length, room;
  netc_sink_fn *sink; /* NULL: the text stays in `at` */
  void *user;
  bool failed; /* the sink refused: what follows is dropped */
};

/* A text in memory. */
struct text text_new(struct arena *arena);

/* A text that goes to `sink` piece by piece; end with text_flush. */
struct text text_to(struct arena *arena, netc_sink_fn *sink, void *user);
/* The same by way of the caller's `at`, without an arena: numbers, strings and
 * JSON go through it, formats of at most 255 bytes. */
struct text text_by(char *at, size_t room, netc_sink_fn *sink, void *user);
bool text_flush(struct text *text);

struct slice text_slice(const struct text *text);

/* The same with a NUL after it, which counts. */
const char *text_string(struct text *text);

/* text_bytes for what has no room yet. */
void text_overflow(struct text *text, const char *bytes, size_t length);

/*
 * These are in the header because the reports of large nets are made of
 * hundreds of millions of small pieces.
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

/* Use no conversion of reals here: they depend on the locale. */
void text_printf(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_vprintf(struct text *text, const char *format, va_list args);

/* Plain decimal digits. */
void text_int(struct text *text, int64_t value);

enum { TEXT_DIGITS = 20 }; /* the most of a number, with a sign */

/*
 * A number that is printed again and again, and is mostly the same or a little
 * more: then one digit is changed, which takes a third of the time of all.
 */
struct counter {
  int64_t value; /* at least 0 */
  size_t length; /* 0: nothing yet */
  char digits[TEXT_DIGITS];
};
void text_counter(struct text *text, struct counter *counter, int64_t value);

/* "3x3" */
void text_sizes(struct text *text, const int64_t *sizes, int count);

/* With thousands separators: 4,632,902. */
void text_count(struct text *text, int64_t value);

/* The same as a string, for text_printf. */
struct count_text {
  char text[32];
};
struct count_text count_text(int64_t value);

/* The shortest decimal that reads back as the same double; always ".". */
void text_real(struct text *text, double value);

/* 900000 as 0.9 */
void text_millionths(struct text *text, int64_t value);

/* `value` with `decimals` digits after the point. */
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

/* Three digits of a number from 10^9 on, as it is said: " (79.1 T)"; nothing of
 * a shorter one. `units` are those of 10^9, 10^12 and so on: "GTP". */
void text_rounded(struct text *text, int64_t value, const char *units);

/* Number of code points, for columns. */
size_t text_width(struct slice slice);

#endif
