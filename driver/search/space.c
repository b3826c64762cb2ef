/* Spaces: the values that a search tries, by axis. */
#include "driver/search/space.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"

enum { MOST_DIGITS = 18, MOST_DECIMALS = 9 };

/* A decimal number: value / 10^decimals. */
struct digits {
  int64_t value;
  int decimals;
};

static bool read_digits(const char *at, size_t length, struct digits *to) {
  bool negative = length > 0 && *at == '-', point = false;
  size_t digits = 0;
  *to = (struct digits){0, 0};
  for (size_t i = negative; i < length; i++) {
    if (at[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (at[i] < '0' || at[i] > '9' || ++digits > MOST_DIGITS)
      return false;
    to->value = to->value * 10 + (at[i] - '0');
    to->decimals += point;
  }
  if (negative)
    to->value = -to->value;
  return digits > 0 && to->decimals <= MOST_DECIMALS;
}

static bool scale(struct digits *d, int decimals) {
  for (; d->decimals < decimals; d->decimals++)
    if (!mul_i64(d->value, 10, &d->value))
      return false;
  return true;
}

static const char *range_end(const char *at, size_t length) {
  for (size_t i = 0; i + 1 < length; i++)
    if (at[i] == '.' && at[i + 1] == '.')
      return at + i;
  return NULL;
}

static int complain_of_axis(const struct axis *axis,
                            const struct axis_piece *piece, const char *why) {
  return complain(EXIT_USAGE, "%s=%.*s: %s", axis->name, (int)piece->length,
                  piece->text, why);
}

/* A..B or A..B:STEP */
static int read_range(const struct axis *axis, struct axis_piece *piece) {
  const char *at = piece->text, *end = at + piece->length;
  const char *dots = range_end(at, piece->length);
  const char *colon = memchr(dots, ':', (size_t)(end - dots));
  struct digits low, high, step = {1, 0};
  int64_t span;
  if (!read_digits(at, (size_t)(dots - at), &low) ||
      !read_digits(dots + 2, (size_t)((colon ? colon : end) - dots - 2),
                   &high) ||
      (colon && !read_digits(colon + 1, (size_t)(end - colon - 1), &step)))
    return complain_of_axis(axis, piece,
                            axis->kind == AXIS_INPUT
                                ? "write a range of sides as A..B or "
                                  "A..B:STEP: 48..256:16 is 48x48, 64x64 and "
                                  "so on"
                                : "write a range as A..B or A..B:STEP, with "
                                  "numbers of at most 18 digits");
  if (!colon && low.decimals + high.decimals > 0)
    return complain_of_axis(axis, piece,
                            "a range of decimals needs a step: 0.5..1.5:0.25");
  if (step.value <= 0)
    return complain_of_axis(axis, piece, "a step must be above 0");
  int decimals = low.decimals;
  decimals = high.decimals > decimals ? high.decimals : decimals;
  decimals = step.decimals > decimals ? step.decimals : decimals;
  if (!scale(&low, decimals) || !scale(&high, decimals) ||
      !scale(&step, decimals) || !sub_i64(high.value, low.value, &span))
    return complain_of_axis(axis, piece, "these numbers are too large");
  if (span < 0)
    return complain_of_axis(axis, piece,
                            "a range must begin with its smaller end");
  piece->range = true;
  piece->decimals = decimals;
  piece->first = low.value;
  piece->step = step.value;
  piece->count = span / step.value + 1;
  return EXIT_DONE;
}

/* True for "1-256", "1:256:8": ranges in another notation. */
static bool is_like_range(const char *at, size_t length) {
  size_t i = 0, numbers = 0;
  while (i < length) {
    size_t digits = 0;
    for (; i < length && ((at[i] >= '0' && at[i] <= '9') || at[i] == '.'); i++)
      digits++;
    if (digits == 0 || (i < length && at[i] != '-' && at[i] != ':'))
      return false;
    numbers++;
    i++;
  }
  return numbers > 1 && !range_end(at, length) && at[length - 1] >= '0' &&
         at[length - 1] <= '9';
}

static int read_piece(struct axis *axis, const char *at, size_t length) {
  struct axis_piece *piece = &axis->pieces[axis->piece_count];
  while (length && *at == ' ')
    at++, length--;
  while (length && at[length - 1] == ' ')
    length--;
  *piece = (struct axis_piece){.text = at, .length = length, .count = 1};
  if (is_like_range(at, length))
    return complain_of_axis(
        axis, piece,
        "write a range as A..B or A..B:STEP; both ends are included");
  if (axis->piece_count == MOST_PIECES - 1)
    return complain(EXIT_USAGE, "%s: a list has at most %d values", axis->name,
                    MOST_PIECES - 1);
  if (length == 0)
    return complain(EXIT_USAGE, "%s: a value is missing beside a comma",
                    axis->name);
  if (length >= AXIS_VALUE)
    return complain_of_axis(axis, piece, "this value is too long");
  if (range_end(at, length) && read_range(axis, piece) != EXIT_DONE)
    return EXIT_USAGE;
  axis->piece_count++;
  if (add_i64(axis->count, piece->count, &axis->count))
    return EXIT_DONE;
  return complain_of_axis(axis, piece, "there are too many values");
}

int space_add(struct space *space, enum axis_kind kind, const char *name,
              const char *values) {
  struct axis *axis = &space->axes[space->count];
  for (size_t i = 0; i < space->count; i++)
    if (strcmp(space->axes[i].name, name) == 0)
      return complain(EXIT_USAGE, "`%s` has two lists of values", name);
  if (space->count == MOST_AXES)
    return complain(EXIT_USAGE, "%s: at most %d names can have several values",
                    name, MOST_AXES);
  *axis = (struct axis){.kind = kind};
  if (snprintf(axis->name, AXIS_VALUE, "%s", name) >= AXIS_VALUE)
    return complain(EXIT_USAGE, "%s: this name is too long", name);
  for (const char *at = values;; at++) {
    size_t length = strcspn(at, ",");
    if (read_piece(axis, at, length) != EXIT_DONE)
      return EXIT_USAGE;
    at += length;
    if (!*at)
      break;
  }
  space->count++;
  return EXIT_DONE;
}

bool space_size(const struct space *space, int64_t *size) {
  *size = 1;
  for (size_t i = 0; i < space->count; i++)
    if (!mul_i64(*size, space->axes[i].count, size))
      return false;
  return true;
}

void space_place(const struct space *space, int64_t variant, int64_t *places) {
  for (size_t i = space->count; i-- > 0;) {
    places[i] = variant % space->axes[i].count;
    variant /= space->axes[i].count;
  }
}

/* 75 with two decimals is "0.75", 50 is "0.5". */
static void put_decimals(int64_t value, int decimals, char *to, size_t room) {
  uint64_t whole = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, unit = 1;
  for (; decimals > 0 && whole % 10 == 0; decimals--)
    whole /= 10;
  for (int i = 0; i < decimals; i++)
    unit *= 10;
  char part[MOST_DECIMALS + 12];
  snprintf(part, sizeof part, ".%0*u", decimals & 15, (unsigned)(whole % unit));
  snprintf(to, room, "%s%" PRIu64 "%s", value < 0 ? "-" : "", whole / unit,
           decimals > 0 ? part : "");
}

void axis_value(const struct axis *axis, int64_t place, char *to, size_t room) {
  const struct axis_piece *piece = axis->pieces;
  for (; place >= piece->count; piece++)
    place -= piece->count;
  if (piece->range)
    put_decimals(piece->first + place * piece->step, piece->decimals, to, room);
  else
    snprintf(to, room, "%.*s", (int)piece->length, piece->text);
}

bool axis_grows(const struct axis *axis) {
  return axis->piece_count == 1 && axis->pieces[0].range;
}
