/*
 * Card: the answer for a page that draws it: the first lines of the report with
 * their words and digits, the parts for a bar, and the layers.
 */
#include "base/json.h"
#include "codegen/asked.h"
#include "codegen/columns.h"
#include "codegen/report/screen.h"
#include "memory/serving/serving.h"

enum { CARD_ROWS = 2000, CARD_PLACES = 20000 }; /* of layers, of boxes */

struct card {
  const struct compiled *c;
  const struct screen_page *page;
  struct json *json;
  struct rows rows;
};

static void put_string(struct card *card, const char *key, const char *value) {
  json_member_string(card->json, key, slice_of(value));
}

/* The size of the device, and how much of it is left or missing. */
static void put_device(struct card *card) {
  const struct answer *a = asked_of(card->c);
  if (!a || !a->device.bytes || a->bytes == INT64_MAX)
    return;
  int64_t left = a->device.room - a->bytes;
  struct text spare = text_new(card->c->arena);
  text_short_size(&spare, left < 0 ? -left : left, output_units(card->c));
  text_put(&spare, left < 0 ? " too much" : " free");
  json_member_string(card->json, "spare", text_slice(&spare));
  json_member_int(card->json, "room", a->device.room);
  json_member_int(card->json, "device",
                  a->card ? gpu_card_bytes(a->card) : a->device.bytes);
}

static void put_parts(struct card *card) {
  json_member_open(card->json, "parts", '[');
  for (size_t i = 0; i < card->page->part_count; i++) {
    const struct screen_part *part = &card->page->parts[i];
    json_put_open(card->json, '{');
    put_string(card, "name", part->name);
    json_member_int(card->json, "bytes", part->bytes);
    json_member_string(card->json, "size", part->size);
    json_put_close(card->json, '}');
  }
  json_put_close(card->json, ']');
}

static void put_rows(struct card *card) {
  json_member_open(card->json, "rows", '[');
  for (size_t i = 0; i < card->page->count; i++) {
    const struct screen_row *row = &card->page->rows[i];
    json_put_open(card->json, '{');
    put_string(card, "label", row->label);
    json_member_string(card->json, "lead", row->lead);
    json_member_string(card->json, "text", row->text);
    json_member_bool(card->json, "option", row->option);
    json_put_close(card->json, '}');
  }
  json_put_close(card->json, ']');
}

/* The lines of the source in which boxes are written: id, line, ... */
static void put_places(struct card *card) {
  const struct compiled *c = card->c;
  json_member_open(card->json, "places", '[');
  for (size_t i = 0; i < card->rows.count && i < CARD_PLACES; i++) {
    const struct row *row = &card->rows.at[i];
    const struct node *node = &c->model->nodes.at[row->head];
    struct position at = sources_position(c->sources, node->span.begin);
    bool own = at.source == &c->sources->all.at[c->source];
    struct text id = text_new(c->arena);
    row_put_id(&id, c, row);
    json_put_string(card->json, text_slice(&id));
    json_put_int(card->json, own ? (int64_t)at.line : 0);
  }
  json_put_close(card->json, ']');
}

static void put_cells(struct card *card, const struct column *const *columns,
                      size_t count, const struct fold_line *line) {
  struct line_view v = line_view(card->c, &card->rows, NULL, line);
  v.brief = true;
  json_put_open(card->json, '[');
  json_put_int(card->json, (int64_t)line->row);
  for (size_t i = 0; i < count; i++) {
    struct text cell = text_new(card->c->arena);
    columns[i]->put(&v, &cell);
    json_put_string(card->json, text_slice(&cell));
  }
  json_put_close(card->json, ']');
}

/* The report's table; before its cells a line has the number of its place. */
static void put_layers(struct card *card) {
  const struct column *columns[COLUMN_MOST];
  struct slice wrong;
  size_t count =
      columns_choose("name,mark,layer,output,params,macs", columns, &wrong);
  json_member_open(card->json, "columns", '[');
  for (size_t i = 0; i < count; i++)
    json_put_string(card->json, slice_of(columns[i]->heading));
  json_put_close(card->json, ']');
  struct folds folds = folds_of(card->c, &card->rows, FOLD_EQUAL);
  json_member_open(card->json, "layers", '[');
  for (size_t i = 0; i < folds.count && i < CARD_ROWS; i++)
    put_cells(card, columns, count, &folds.at[i]);
  json_put_close(card->json, ']');
  json_member_int(card->json, "left_out",
                  folds.count > CARD_ROWS ? (int64_t)folds.count - CARD_ROWS
                                          : 0);
}

void emit_card(const struct compiled *c, struct text *out) {
  struct json json = json_writer(out, 0);
  struct text why = text_new(c->arena), help = why;
  struct card card = {c, screen_page(c), &json, rows_of(c)};
  json_put_open(&json, '{');
  json_member_string(&json, "counts", card.page->counts);
  json_member_string(&json, "question", card.page->question);
  put_string(&card, "verdict",
             card.page->verdict ? fit_word(card.page->verdict) : "");
  put_device(&card);
  json_member_bool(&json, "predict", c->options->predict);
  json_member_bool(&json, "serves",
                   serving_possible(c->model, c->settings, &why, &help));
  put_parts(&card);
  put_rows(&card);
  put_layers(&card);
  put_places(&card);
  json_put_close(&json, '}');
}
