/* Rows of a sweep: CSV with a header, or JSON with an object a line. */
#include "driver/search/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* The columns of figures: on which scripts rely. */
static const struct {
  const char *name;
  enum figure figure;
} columns[] = {
    {"param_count", FIGURE_PARAMS},        {"mac_count", FIGURE_MACS},
    {"arena_bytes", FIGURE_ARENA},         {"weight_bytes", FIGURE_WEIGHTS},
    {"training_peak_bytes", FIGURE_TRAIN},
};
#define BILLION INT64_C(1000000000)
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

/* A row on its way to what is made. */
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

bool rows_header(struct sweep_rows *rows, const struct space *space) {
  struct sweep_row row;
  if (rows->json)
    return true;
  row_open(&row, rows);
  for (size_t i = 0; i < space->count; i++)
    put_cell(&row, NULL, space->axes[i].name);
  for (int i = 0; i < COLUMN_COUNT; i++)
    put_cell(&row, NULL, columns[i].name);
  if (rows->on_device) {
    put_cell(&row, NULL, "bound_seconds");
    put_cell(&row, NULL, "verdict");
  }
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
  char value[32];
  bool right = variant->state != VARIANT_WRONG;
  row_open(&row, rows);
  put_places(&row, space, places);
  for (int i = 0; i < COLUMN_COUNT; i++) {
    snprintf(value, sizeof value, "%" PRId64, variant->at[columns[i].figure]);
    put_cell(&row, columns[i].name, right ? value : NULL);
  }
  if (rows->on_device) {
    int64_t time = variant->at[FIGURE_SECONDS];
    snprintf(value, sizeof value, "%" PRId64 ".%09" PRId64, time / BILLION,
             time % BILLION);
    put_cell(&row, "bound_seconds", right && time ? value : NULL);
    put_cell(&row, "verdict", right ? variant->verdict : NULL);
  }
  return row_end(&row);
}

/* Reading */

bool rows_is_header(struct sweep_rows *rows, const struct space *space,
                    const char *line, size_t length) {
  struct bytes *made = &rows->made;
  made->length = 0;
  bool same = rows_header(rows, space) && made->length == length &&
              memcmp(made->at, line, length) == 0;
  made->length = 0;
  return same;
}

bool rows_is(struct sweep_rows *rows, const struct space *space,
             const int64_t *places, const char *line, size_t length) {
  struct bytes *made = &rows->made;
  struct sweep_row row;
  made->length = 0;
  row_open(&row, rows);
  put_places(&row, space, places);
  if (!rows->json && space->count)
    text_putc(&row.out, ','); /* 4 is not 48 */
  bool same = text_flush(&row.out) && length > made->length &&
              memcmp(made->at, line, made->length) == 0 &&
              (!rows->json || !space->count || line[made->length] == ',');
  made->length = 0;
  return same && line[length - 1] == '\n';
}

/* "12" or "0.000000012" and what ends the cell; an empty one is none. */
static const char *read_cell(const char *at, int64_t *value, bool *empty) {
  char *end;
  *empty = *at == ',' || *at == '\n';
  *value = 0;
  if (*empty)
    return at;
  *value = strtoll(at, &end, 10);
  if (*end == '.' && end > at && strspn(end + 1, "0123456789") == 9)
    *value = *value * BILLION + strtoll(end + 1, &end, 10);
  return end > at && (*end == ',' || *end == '\n') ? end : NULL;
}

static const char *verdict_of(const char *at) {
  static const char *const verdicts[] = {"fits", "tight", "does not fit"};
  for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
    if (strncmp(at, verdicts[i], strlen(verdicts[i])) == 0 &&
        at[strlen(verdicts[i])] == '\n')
      return verdicts[i];
  return *at == '\n' ? "" : NULL;
}

bool rows_read(struct sweep_rows *rows, const struct space *space,
               const int64_t *places, const char *line, size_t length,
               struct measured_net *variant) {
  bool empty, wrong = false;
  *variant = (struct measured_net){.verdict = ""};
  if (!rows_is(rows, space, places, line, length))
    return false;
  const char *at = line;
  for (size_t i = 0; i < space->count; i++)
    at = strchr(at, ',') + 1;
  for (int i = 0; i < COLUMN_COUNT; i++) {
    int64_t *value = &variant->at[columns[i].figure];
    at = read_cell(at, value, &empty);
    wrong = wrong || empty;
    bool last = i + 1 == COLUMN_COUNT && !rows->on_device;
    if (!at || *at != (last ? '\n' : ',') || *value < 0)
      return false;
    at++;
  }
  if (rows->on_device) {
    at = read_cell(at, &variant->at[FIGURE_SECONDS], &empty);
    if (!at || *at != ',' || !(variant->verdict = verdict_of(at + 1)))
      return false;
  }
  if (wrong)
    variant->state = VARIANT_WRONG;
  return true;
}
