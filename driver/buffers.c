/*
 * A table of buffers: comma-separated values with a header, the exchange format
 * of MiniMalloc. Columns may have any order; unknown ones are kept.
 */
#include "driver/buffers.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/limits.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/utf8.h"
#include "driver/command.h"

enum buffer_column { ID, LOWER, UPPER, SIZE, ALIGNMENT, OFFSET, COLUMNS };

static const char *const column_names[COLUMNS] = {
    "id", "lower", "upper", "size", "alignment", "offset"};

struct reader {
  struct arena *arena;
  const char *name;
  struct table *table;
  struct slice line;
  int number; /* of the line */
  int errors;
  int place[COLUMNS]; /* index of its field; -1: no such column */
  int width;          /* fields of the header */
  VEC(struct slice) fields;
};

static bool error_at(struct reader *r, const char *at, const char *format, ...)
    PRINTF_LIKE(3, 4);
static bool error_at(struct reader *r, const char *at, const char *format,
                     ...) {
  va_list args;
  struct slice before = {r->line.at, (size_t)(at - r->line.at)};
  if (r->errors++ >= LIMIT_ERRORS)
    return false;
  say("%s:%d:%zu: error: ", r->name, r->number, text_width(before) + 1);
  va_start(args, format);
  say_va(format, args);
  va_end(args);
  fputc('\n', stderr);
  return false;
}

static struct slice trimmed(struct slice s) {
  while (s.length && (*s.at == ' ' || *s.at == '\t')) {
    s.at++;
    s.length--;
  }
  while (s.length && (s.at[s.length - 1] == ' ' || s.at[s.length - 1] == '\t'))
    s.length--;
  return s;
}

/* Parses a number of 63 bits; NULL, or the error. */
static const char *table_number(struct slice text, int64_t *value) {
  bool negative = text.length > 1 && *text.at == '-';
  int64_t sum = 0;
  if (text.length == 0)
    return "a number is missing";
  for (size_t i = negative; i < text.length; i++) {
    if (text.at[i] < '0' || text.at[i] > '9')
      return "this is not a whole number";
    if (sum > (INT64_MAX - (text.at[i] - '0')) / 10)
      return "this number has more than 63 bits";
    sum = sum * 10 + (text.at[i] - '0');
  }
  if (negative && sum)
    return "a number must not be negative";
  *value = sum;
  return NULL;
}

/* Reports bytes that are not text. */
static bool is_text(struct reader *r) {
  for (size_t i = 0, length; i < r->line.length; i += length) {
    const char *at = r->line.at + i;
    length = utf8_length(at, r->line.length - i);
    if (length == 0 || ((unsigned char)*at < ' ' && *at != '\t'))
      return error_at(r, at, "byte 0x%02X is not text; is this a CSV table?",
                      (unsigned)(unsigned char)*at);
  }
  return true;
}

/* Splits a line. A field in quotes may contain commas; a quote in it is
 * doubled. */
static bool split(struct reader *r) {
  const char *at = r->line.at, *end = at + r->line.length;
  r->fields.count = 0;
  for (;;) {
    const char *begin = at;
    bool quoted = false;
    for (; at < end && (quoted || *at != ','); at++)
      quoted = quoted != (*at == '"');
    if (quoted)
      return error_at(r, begin, "a quote is not closed on its line");
    *VEC_PUSH(r->arena, &r->fields) =
        trimmed((struct slice){begin, (size_t)(at - begin)});
    if (at++ == end)
      return true;
  }
}

/* The line without the column `offset`, which is written later. */
static struct slice kept(struct reader *r) {
  if (r->place[OFFSET] < 0)
    return r->line;
  struct text out = text_new(r->arena);
  bool first = true;
  for (int i = 0; i < (int)r->fields.count; i++) {
    if (i == r->place[OFFSET])
      continue;
    if (!first)
      text_putc(&out, ',');
    text_puts(&out, r->fields.at[i]);
    first = false;
  }
  return text_slice(&out);
}

static struct slice unquoted(struct slice s) {
  if (s.length >= 2 && *s.at == '"' && s.at[s.length - 1] == '"')
    return slice_less(slice_from(s, 1), 1);
  return s;
}

static bool read_header(struct reader *r) {
  bool right = true;
  r->width = (int)r->fields.count;
  for (int c = 0; c < COLUMNS; c++) {
    struct suggestion s = suggest_begin(slice_of(column_names[c]));
    r->place[c] = -1;
    for (int i = 0; i < r->width; i++) {
      struct slice field = unquoted(r->fields.at[i]);
      suggest_offer(&s, field);
      if (!slice_is(field, column_names[c]))
        continue;
      if (r->place[c] >= 0)
        right =
            error_at(r, field.at, "column `%s` appears twice", column_names[c]);
      r->place[c] = i;
    }
    if (r->place[c] >= 0 || c > SIZE)
      continue;
    if (s.best.at)
      right =
          error_at(r, s.best.at, "column `%s` is missing; did you mean `%.*s`?",
                   column_names[c], SLICE_ARG(s.best));
    else
      right = error_at(r, r->line.at,
                       "column `%s` is missing; the first line names the "
                       "columns id,lower,upper,size",
                       column_names[c]);
  }
  r->table->header = kept(r);
  return right;
}

static bool read_field(struct reader *r, enum buffer_column column,
                       int64_t *value) {
  if (r->place[column] < 0)
    return true;
  struct slice field = unquoted(r->fields.at[r->place[column]]);
  const char *wrong = table_number(field, value);
  if (!wrong)
    return true;
  return error_at(r, field.at, "`%s`: %s", column_names[column], wrong);
}

static bool read_row(struct reader *r) {
  struct netc_plan_buffer b = {0};
  if ((int)r->fields.count != r->width)
    return error_at(r, r->line.at, "%zu field%s, but the header has %d",
                    r->fields.count, r->fields.count == 1 ? "" : "s", r->width);
  if (!read_field(r, LOWER, &b.lower) || !read_field(r, UPPER, &b.upper) ||
      !read_field(r, SIZE, &b.size) || !read_field(r, ALIGNMENT, &b.align))
    return false;
  if (b.upper <= b.lower)
    return error_at(r, r->fields.at[r->place[UPPER]].at,
                    "`upper` must be above `lower`; a buffer is in memory in "
                    "[lower, upper)");
  *VEC_PUSH(r->arena, &r->table->buffers) = b;
  *VEC_PUSH(r->arena, &r->table->rows) = kept(r);
  return true;
}

/* Reads the next line without its end; false after the last. */
static bool next_line(struct reader *r, struct slice *rest) {
  if (rest->length == 0)
    return false;
  const char *end = memchr(rest->at, '\n', rest->length);
  size_t length = end ? (size_t)(end - rest->at) : rest->length;
  r->line = (struct slice){rest->at, length};
  r->number++;
  *rest = slice_from(*rest, length + (end != NULL));
  if (r->line.length && r->line.at[r->line.length - 1] == '\r')
    r->line.length--;
  return true;
}

bool table_read(struct arena *arena, const char *name, struct slice text,
                struct table *table) {
  struct reader r = {.arena = arena, .name = name, .table = table};
  bool headed = false;
  *table = (struct table){0};
  if (text.length >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0) {
    text.at += 3; /* a byte order mark of some spreadsheets */
    text.length -= 3;
  }
  while (r.errors < LIMIT_ERRORS && next_line(&r, &text)) {
    if (trimmed(r.line).length == 0)
      continue;
    if (!is_text(&r) || !split(&r)) {
      if (!headed)
        break;
      continue;
    }
    if (headed)
      read_row(&r);
    else if (!read_header(&r))
      break;
    headed = true;
  }
  if (!headed && r.errors == 0) {
    r.line = text;
    r.number = 1;
    error_at(&r, text.at,
             "the table is empty; the first line must name the columns "
             "id,lower,upper,size");
  }
  if (r.errors >= LIMIT_ERRORS)
    complain(EXIT_SOURCE, "stopped after %d errors", LIMIT_ERRORS);
  return r.errors == 0;
}

void table_write(const struct table *table, FILE *file) {
  fprintf(file, "%.*s,offset\n", SLICE_ARG(table->header));
  for (size_t i = 0; i < table->rows.count; i++)
    fprintf(file, "%.*s,%" PRId64 "\n", SLICE_ARG(table->rows.at[i]),
            table->buffers.at[i].offset);
}
