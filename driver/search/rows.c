/* Rows of a sweep: CSV with a header, or JSON with an object a line. */
#include "driver/search/rows.h"

#include <inttypes.h>

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

bool rows_key(struct sweep_rows *rows, const struct space *space,
              const int64_t *places) {
  struct sweep_row row;
  row_open(&row, rows);
  put_places(&row, space, places);
  return text_flush(&row.out);
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
    snprintf(value, sizeof value, "%.9f", variant->seconds);
    put_cell(&row, "bound_seconds",
             right && variant->seconds > 0 ? value : NULL);
    put_cell(&row, "verdict", right ? variant->verdict : NULL);
  }
  return row_end(&row);
}
