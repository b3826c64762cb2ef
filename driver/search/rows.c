/* Rows of a sweep: CSV with a header, or JSON with an object per line. */
#include "driver/search/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"

/* Columns of figures; scripts rely on their names. */
static const struct {
  const char *name;
  int figure;    /* of enum figure */
  unsigned with; /* enum sweep_columns; 0: always there and never empty */
} columns[] = {
    {"param_count", FIGURE_PARAMS, 0},
    {"mac_count", FIGURE_MACS, 0},
    {"arena_bytes", FIGURE_ARENA, 0},
    {"weight_bytes", FIGURE_WEIGHTS, 0},
    {"training_peak_bytes", FIGURE_TRAIN, 0},
    {"bound_seconds", FIGURE_SECONDS, WITH_SECONDS},
    {"inference_bytes", ANSWER_BYTES, WITH_ANSWER},
    {"host_bytes", ANSWER_HOST, WITH_SERVING},
    {"longest_context", ANSWER_CONTEXT, WITH_SERVING},
    {"most_sequences", ANSWER_SEQUENCES, WITH_SERVING},
    {"ram_bytes", ANSWER_RAM, WITH_BOARD},
    {"flash_bytes", ANSWER_FLASH, WITH_BOARD},
};
#define ORIGIN "origin"
#define BILLION INT64_C(1000000000)
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

/* A row that is being written. */
struct sweep_row {
  struct text out;
  struct json json;
  bool in_json, first;
  char room[1024];
};

static void row_open(struct sweep_row *row, struct sweep_rows *rows) {
  row->out = text_by(row->room, sizeof row->room, bytes_sink, &rows->made);
  row->json = json_writer(&row->out, 0);
  row->in_json = rows->json;
  row->first = true;
  if (row->in_json)
    json_put_open(&row->json, '{');
}

/* NULL: an empty cell. */
static void put_cell(struct sweep_row *row, const char *name,
                     const char *value) {
  if (!row->in_json) {
    text_put(&row->out, row->first ? "" : ",");
    text_put(&row->out, value ? value : "");
    row->first = false;
    return;
  }
  json_put_key(&row->json, name);
  if (value)
    json_put_scalar(&row->json, slice_of(value));
  else
    json_put_null(&row->json);
}

static bool row_end(struct sweep_row *row) {
  if (row->in_json)
    json_put_close(&row->json, '}');
  text_putc(&row->out, '\n');
  return text_flush(&row->out);
}

static bool has_column(const struct sweep_rows *rows, int i) {
  return !columns[i].with || columns[i].with & rows->with;
}

/* Seconds are in billionths, and 0 if there are none. */
static void put_figure(struct sweep_row *row, int i,
                       const struct measured_net *variant) {
  char value[32];
  int64_t figure = variant->at[columns[i].figure];
  bool time = columns[i].figure == FIGURE_SECONDS;
  if (time)
    snprintf(value, sizeof value, "%" PRId64 ".%09" PRId64, figure / BILLION,
             figure % BILLION);
  else
    snprintf(value, sizeof value, "%" PRId64, figure);
  bool known = time ? figure > 0 : figure >= 0;
  put_cell(row, columns[i].name,
           variant->state != VARIANT_WRONG && known ? value : NULL);
}

bool rows_header(struct sweep_rows *rows, const struct space *space) {
  struct sweep_row row;
  if (rows->json)
    return true;
  row_open(&row, rows);
  for (size_t i = 0; i < space->count; i++)
    put_cell(&row, NULL, space->axes[i].name);
  for (int i = 0; i < COLUMN_COUNT; i++)
    if (has_column(rows, i))
      put_cell(&row, NULL, columns[i].name);
  if (rows->with & WITH_VERDICT)
    put_cell(&row, NULL, "verdict");
  put_cell(&row, NULL, ORIGIN);
  return row_end(&row);
}

static void put_places(struct sweep_row *row, const struct space *space,
                       const int64_t *places) {
  char value[AXIS_VALUE];
  for (size_t i = 0; i < space->count; i++) {
    axis_value(&space->axes[i], places[i], value, sizeof value);
    put_cell(row, space->axes[i].name, value);
  }
}

bool rows_add(struct sweep_rows *rows, const struct space *space,
              const int64_t *places, const struct measured_net *variant) {
  struct sweep_row row;
  row_open(&row, rows);
  put_places(&row, space, places);
  for (int i = 0; i < COLUMN_COUNT; i++)
    if (has_column(rows, i))
      put_figure(&row, i, variant);
  if (rows->with & WITH_VERDICT)
    put_cell(&row, "verdict",
             variant->state != VARIANT_WRONG ? variant->verdict : NULL);
  put_cell(&row, ORIGIN, rows->origin.text);
  return row_end(&row);
}

/* Reading: a row is valid if its values make the same bytes again. */

static bool is_made(struct sweep_rows *rows, bool made, struct slice line) {
  bool same =
      made &&
      slice_equal((struct slice){rows->made.at, rows->made.length}, line);
  rows->made.length = 0;
  return same;
}

bool rows_is_header(struct sweep_rows *rows, const struct space *space,
                    struct slice line) {
  rows->made.length = 0;
  return is_made(rows, rows_header(rows, space), line);
}

/* The next cell; in JSON, the value after its key. */
static struct slice next_cell(const struct sweep_rows *rows,
                              struct slice *line) {
  const char *ends = rows->json ? ",}" : ",\n";
  const char *colon = rows->json ? memchr(line->at, ':', line->length) : NULL;
  if (colon) /* and a blank */
    *line = slice_from(*line, (size_t)(colon - line->at) + 2);
  size_t length = 0;
  while (length < line->length && !memchr(ends, line->at[length], 2))
    length++;
  struct slice cell = slice_to(*line, length);
  *line = slice_from(*line, length + 1);
  return cell;
}

/* Removes the quotes around a string. */
static struct slice unquoted(struct slice cell) {
  return slice_begins(cell, "\"") ? slice_less(slice_from(cell, 1), 1) : cell;
}

/* "12", or "0.000000012" in billionths. */
static bool read_number(struct slice cell, int64_t *value) {
  char text[40], *end = text;
  if (cell.length == 0 || cell.length >= sizeof text)
    return false;
  memcpy(text, cell.at, cell.length);
  text[cell.length] = '\0';
  errno = 0;
  *value = strtoll(text, &end, 10);
  bool fits = errno == 0;
  if (*end == '.' && strspn(end + 1, "0123456789") == 9)
    fits = mul_i64(*value, BILLION, value) &&
           add_i64(*value, strtoll(end + 1, &end, 10), value);
  return fits && *end == '\0' && *value >= 0;
}

static const char *verdict_of(struct slice cell) {
  static const char *const verdicts[] = {"", "fits", "tight", "does not fit"};
  for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
    if (slice_is(cell, verdicts[i]))
      return verdicts[i];
  return NULL;
}

static bool is_empty(struct slice cell) {
  return cell.length == 0 || slice_is(cell, "null");
}

const char *rows_read(struct sweep_rows *rows, const struct space *space,
                      const int64_t *places, struct slice line,
                      struct measured_net *variant) {
  struct slice rest = line;
  bool right = true;
  *variant = (struct measured_net){.verdict = ""};
  for (size_t i = 0; i < space->count; i++)
    next_cell(rows, &rest);
  for (int i = 0; i < COLUMN_COUNT && right; i++) {
    if (!has_column(rows, i))
      continue;
    struct slice cell = next_cell(rows, &rest);
    int64_t *figure = &variant->at[columns[i].figure];
    if (!is_empty(cell))
      right = read_number(cell, figure);
    else if (!columns[i].with)
      variant->state = VARIANT_WRONG;
    else
      *figure = columns[i].figure == FIGURE_SECONDS ? 0 : -1;
  }
  if (rows->with & WITH_VERDICT && right) {
    struct slice verdict = unquoted(next_cell(rows, &rest));
    variant->verdict = verdict_of(is_empty(verdict) ? slice_of("") : verdict);
    right = right && variant->verdict;
  }
  struct slice origin = unquoted(next_cell(rows, &rest));
  const char *differs = right && slice_begins(origin, "netc-")
                            ? origin_differs(&rows->origin, origin)
                            : NULL;
  rows->made.length = 0;
  if (differs)
    return differs;
  right = right && is_made(rows, rows_add(rows, space, places, variant), line);
  return right ? NULL : "not of this sweep";
}
