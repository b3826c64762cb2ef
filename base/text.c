/* Text: a buffer that grows in an arena or flows into a sink. */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SINK_BUFFER = 64 * 1024 };

struct text text_new(struct arena *arena) {
  return (struct text){.arena = arena};
}

struct text text_to(struct arena *arena, netc_sink_fn *sink, void *user) {
  struct text text = {.arena = arena, .sink = sink, .user = user};
  text.at = arena_alloc(arena, SINK_BUFFER, 1);
  text.room = SINK_BUFFER;
  return text;
}

struct text text_by(char *at, size_t room, netc_sink_fn *sink, void *user) {
  return (struct text){.at = at, .room = room, .sink = sink, .user = user};
}

bool text_flush(struct text *text) {
  if (text->sink && text->length && !text->failed)
    text->failed = !text->sink(text->user, text->at, text->length);
  if (text->sink)
    text->length = 0;
  return !text->failed;
}

struct slice text_slice(const struct text *text) {
  return (struct slice){text->at ? text->at : "", text->length};
}

const char *text_string(struct text *text) {
  text_putc(text, '\0');
  return text->at;
}

static void make_room(struct text *text, size_t length) {
  if (!text->at)
    text->room = 16; /* most texts are short words */
  do
    text->at = arena_grow(text->arena, text->at, &text->room, text->length, 1);
  while (text->room - text->length < length);
}

void text_overflow(struct text *text, const char *bytes, size_t length) {
  if (length > text->room - text->length) {
    if (text->sink)
      text_flush(text);
    if (text->sink && length > text->room) {
      if (!text->failed)
        text->failed = !text->sink(text->user, bytes, length);
      return;
    }
    if (length > text->room - text->length) /* a flush may have made room */
      make_room(text, length);
  }
  if (length)
    memcpy(text->at + text->length, bytes, length);
  text->length += length;
}

void text_fill(struct text *text, char c, size_t count) {
  char run[64];
  memset(run, c, sizeof run);
  while (count) {
    size_t piece = count < sizeof run ? count : sizeof run;
    text_bytes(text, run, piece);
    count -= piece;
  }
}

void text_vprintf(struct text *text, const char *format, va_list args) {
  char small[256];
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(small, sizeof small, format, args);
  if (length >= 0 && (size_t)length < sizeof small) {
    text_bytes(text, small, (size_t)length);
  } else if (length >= 0) {
    char *large = arena_alloc(text->arena, (size_t)length + 1, 1);
    vsnprintf(large, (size_t)length + 1, format, again);
    text_bytes(text, large, (size_t)length);
  }
  va_end(again);
}

void text_printf(struct text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vprintf(text, format, args);
  va_end(args);
}

/* Writes the digits of `value` right-aligned before `end`;
 * returns their start. */
static char *digits(char *end, int64_t value, int group) {
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  int count = 0;
  do {
    if (group && count && count % group == 0)
      *--end = ',';
    *--end = (char)('0' + rest % 10);
    rest /= 10;
    count++;
  } while (rest);
  if (value < 0)
    *--end = '-';
  return end;
}

/* digits() without groups, two digits for each division. */
static char *plain_digits(char *end, int64_t value) {
  static const char pairs[] =
      "00010203040506070809101112131415161718192021222324"
      "25262728293031323334353637383940414243444546474849"
      "50515253545556575859606162636465666768697071727374"
      "75767778798081828384858687888990919293949596979899";
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  for (; rest >= 10; rest /= 100) {
    const char *pair = &pairs[rest % 100 * 2];
    *--end = pair[1];
    *--end = pair[0];
  }
  if (rest || value == 0)
    *--end = (char)('0' + rest);
  if (value < 0)
    *--end = '-';
  return end;
}

void text_int(struct text *text, int64_t value) {
  char buffer[2 * TEXT_DIGITS] = {0}; /* room to copy TEXT_DIGITS bytes */
  char *end = buffer + TEXT_DIGITS;
  char *start = plain_digits(end, value);
  size_t length = (size_t)(end - start);
  if (text->room - text->length < TEXT_DIGITS) {
    text_bytes(text, start, length);
  } else {
    memcpy(text->at + text->length, start, TEXT_DIGITS);
    text->length += length;
  }
}

void text_sizes(struct text *text, const int64_t *sizes, int count) {
  for (int i = 0; i < count; i++) {
    if (i)
      text_putc(text, 'x');
    text_int(text, sizes[i]);
  }
}

static void print_counter(struct counter *counter, int64_t value) {
  char buffer[TEXT_DIGITS];
  char *end = buffer + sizeof buffer, *start = plain_digits(end, value);
  counter->value = value;
  counter->length = (size_t)(end - start);
  memcpy(counter->digits, start, counter->length);
}

void text_counter(struct text *text, struct counter *counter, int64_t value) {
  int64_t more = value - counter->value; /* not negative: no sum is negative */
  if (!counter->length || more < 0 || more > 9 ||
      more > '9' - counter->digits[counter->length - 1]) {
    print_counter(counter, value);
  } else {
    counter->digits[counter->length - 1] += (char)more;
    counter->value = value;
  }
  if (text->room - text->length < sizeof counter->digits) {
    text_bytes(text, counter->digits, counter->length);
  } else { /* copying a constant length is faster */
    memcpy(text->at + text->length, counter->digits, sizeof counter->digits);
    text->length += counter->length;
  }
}

void text_count(struct text *text, int64_t value) {
  char buffer[32];
  char *end = buffer + sizeof buffer;
  char *start = digits(end, value, 3);
  text_bytes(text, start, (size_t)(end - start));
}

struct count_text count_text(int64_t value) {
  struct count_text result;
  struct text text = {.at = result.text, .room = sizeof result.text};
  text_count(&text, value);
  text_putc(&text, '\0');
  return result;
}

/* printf writes the locale's decimal point, the only other character of a
 * number. netc always writes ".". localeconv() is not thread-safe. */
static void put_point(struct text *text, const char *number) {
  size_t whole = strspn(number, "-+0123456789aefin");
  text_bytes(text, number, whole);
  if (!number[whole])
    return;
  text_putc(text, '.');
  text_put(text, number + whole + strcspn(number + whole, "0123456789"));
}

/* Significant digits: from the first that is not 0 to the exponent. */
static int count_digits(const char *number) {
  int digits = 0;
  for (; *number && *number != 'e'; number++)
    digits += (*number >= '1' && *number <= '9') || (digits && *number == '0');
  return digits;
}

enum { FEW_DIGITS = 3, SURE_DIGITS = 15 /* a double has any such number */ };

void text_real(struct text *text, double value) {
  char buffer[64];
  for (int precision = 1; precision <= 17; precision++) {
    snprintf(buffer, sizeof buffer, "%.*g", precision, value);
    if (strtod(buffer, NULL) == value)
      break;
    if (precision != FEW_DIGITS)
      continue;
    /* Trailing zeros are not written. */
    snprintf(buffer, sizeof buffer, "%.*g", SURE_DIGITS, value);
    precision =
        strtod(buffer, NULL) == value ? count_digits(buffer) - 1 : SURE_DIGITS;
  }
  put_point(text, buffer);
}

void text_millionths(struct text *text, int64_t value) {
  int64_t rest = value % 1000000;
  text_int(text, value / 1000000);
  if (!rest)
    return;
  text_putc(text, '.');
  for (int64_t place = 100000; rest; place /= 10) {
    text_putc(text, (char)('0' + rest / place));
    rest %= place;
  }
}

void text_fixed(struct text *text, double value, int decimals) {
  char buffer[400]; /* the largest double has 309 digits */
  snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  put_point(text, buffer);
}

void text_seconds(struct text *text, double seconds) {
  static const char *const units[] = {"s", "ms", "us"};
  int unit = 0;
  for (; seconds < 1 && unit < 2; unit++)
    seconds *= 1000;
  text_fixed(text, seconds, seconds < 10 ? 3 : seconds < 100 ? 2 : 1);
  text_printf(text, " %s", units[unit]);
}

static void put_amount(struct text *text, double value, int decimals) {
  if (value < 1000 || value >= 1e18)
    text_fixed(text, value, decimals);
  else
    text_count(text, (int64_t)(value + 0.5));
}

void text_hours(struct text *text, double hours) {
  put_amount(text, hours, hours < 10 ? 2 : 1);
  text_put(text, " hours");
}

void text_money(struct text *text, double money) {
  put_amount(text, money, 2);
}

/* A size in units of 1,024 or 1,000 bytes. */
struct scaled {
  double value;
  size_t unit; /* 0: bytes */
};

static const char *const unit_names[][6] = {
    {"B", "KiB", "MiB", "GiB", "TiB", "PiB"},
    {"B", "kB", "MB", "GB", "TB", "PB"},
    {"B", "B", "B", "B", "B", "B"}};

/* A value that would be printed as 1,024 or more has the next unit. */
static struct scaled scale_size(int64_t bytes, enum text_units units) {
  struct scaled s = {(double)bytes, 0};
  double step = units == UNITS_SI ? 1000 : 1024;
  while (units != UNITS_BYTES && s.value >= step - 0.5 && s.unit < 5) {
    s.value /= step;
    s.unit++;
  }
  return s;
}

/* Three significant digits of a value that is not negative. */
static void put_three(struct text *text, double value) {
  text_fixed(text, value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

void text_size(struct text *text, int64_t bytes, enum text_units units,
               int decimals) {
  double step = units == UNITS_SI ? 1000 : 1024;
  double value = (double)bytes;
  size_t unit = 0;
  while (units != UNITS_BYTES && value >= step && unit < 5) {
    value /= step;
    unit++;
  }
  if (unit == 0)
    text_count(text, bytes);
  else
    text_fixed(text, value, decimals);
  text_printf(text, " %s", unit_names[units][unit]);
}

struct count_text size_text(int64_t bytes, enum text_units units) {
  struct count_text result;
  struct text text = {.at = result.text, .room = sizeof result.text};
  text_size(&text, bytes, units, 2);
  text_putc(&text, '\0');
  return result;
}

const char *text_unit(int64_t bytes, enum text_units units) {
  return unit_names[units][scale_size(bytes, units).unit];
}

int64_t text_unit_bytes(int64_t bytes, enum text_units units) {
  size_t unit = scale_size(bytes, units).unit;
  int64_t all = 1;
  while (unit--)
    all *= units == UNITS_SI ? 1000 : 1024;
  return all;
}

void text_short_size(struct text *text, int64_t bytes, enum text_units units) {
  text_size_in(text, bytes, bytes, units);
  text_printf(text, " %s", text_unit(bytes, units));
}

struct count_text short_size(int64_t bytes, enum text_units units) {
  struct count_text result;
  struct text text = {.at = result.text, .room = sizeof result.text};
  text_short_size(&text, bytes, units);
  text_putc(&text, '\0');
  return result;
}

void text_size_in(struct text *text, int64_t bytes, int64_t larger,
                  enum text_units units) {
  double value = (double)bytes;
  size_t unit = scale_size(larger, units).unit;
  for (size_t i = 0; i < unit; i++)
    value /= units == UNITS_SI ? 1000 : 1024;
  if (unit == 0)
    text_count(text, bytes);
  else
    put_three(text, value);
}

void text_short_count(struct text *text, int64_t value, char billion) {
  static const char units[] = " KMBTQ";
  double shown = (double)value;
  size_t unit = 0;
  for (; value >= 100000 && shown >= 999.5 && unit < 5; unit++)
    shown /= 1000;
  if (unit == 0) {
    text_count(text, value);
    return;
  }
  put_three(text, shown);
  text_printf(text, " %c",
              unit == 3 && billion          ? billion
              : unit == 5 && billion == 'G' ? 'P'
                                            : units[unit]);
}

void text_rounded(struct text *text, int64_t value, const char *units) {
  double short_of = (double)value / 1e9;
  if (value < 1000000000)
    return;
  for (; short_of >= 999.5 && units[1]; units++)
    short_of /= 1000;
  text_put(text, " (");
  text_fixed(text, short_of, short_of < 9.995 ? 2 : short_of < 99.95 ? 1 : 0);
  text_printf(text, " %c)", *units);
}

size_t text_width(struct slice slice) {
  size_t width = 0;
  for (size_t i = 0; i < slice.length; i++)
    width += ((unsigned char)slice.at[i] & 0xC0) != 0x80;
  return width;
}
