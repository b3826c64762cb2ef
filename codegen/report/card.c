/*
 * Card: the answer for pages: the first lines of the report as HTML, with their
 * words and digits and a bar of the parts; for a page with an editor also the
 * layers and the lines of boxes.
 */
#include <math.h>

#include "base/json.h"
#include "base/xml.h"
#include "codegen/asked.h"
#include "codegen/columns.h"
#include "codegen/report/screen.h"
#include "memory/serving/serving.h"

enum { CARD_ROWS = 2000, CARD_PLACES = 20000 }; /* of layers, of boxes */

struct card {
  const struct compiled *c;
  struct json *json;
  struct rows rows;
};

/* Markup */

/* The size of the device, and how much of it is left or missing; "": none is
 * named. */
struct card_device {
  int64_t bytes, room;
  struct slice spare; /* "3.2 GiB free" */
};

static struct card_device device_of(const struct compiled *c) {
  const struct answer *a = asked_of(c);
  struct card_device device = {0};
  if (!a || !a->device.bytes || a->bytes == INT64_MAX)
    return device;
  int64_t left = a->device.room - a->bytes;
  struct text spare = text_new(c->arena);
  text_short_size(&spare, left < 0 ? -left : left, output_units(c));
  text_put(&spare, left < 0 ? " too much" : " free");
  /* Enough memory in all does not fit where a part of it is too small. */
  if (left < 0 || a->verdict != VERDICT_TOO_MUCH)
    device.spare = text_slice(&spare);
  device.room = a->device.room;
  device.bytes = a->card ? gpu_card_bytes(a->card) : a->device.bytes;
  return device;
}

static void put_element(struct text *out, const char *tag, const char *class,
                        struct slice text) {
  text_printf(out, *class ? "<%s class=\"%s\">" : "<%s>", tag, class);
  put_xml(out, text);
  text_printf(out, "</%s>", tag);
}

static void put_verdict(const struct compiled *c,
                        const struct screen_page *page, struct text *out) {
  static const char *const classes[] = {[VERDICT_FITS] = "fits",
                                        [VERDICT_TIGHT] = "tight",
                                        [VERDICT_TOO_MUCH] = "too-much"};
  if (page->verdict) {
    struct slice spare = device_of(c).spare;
    text_printf(out, "<p class=\"verdict %s\"><strong>%s</strong>%s",
                classes[page->verdict], fit_word(page->verdict),
                spare.length ? ", " : "");
    put_xml(out, spare);
    text_put(out, "</p>\n");
  } else if (page->rows[0].lead.length) {
    text_put(out, "<p class=\"verdict\">needs ");
    put_element(out, "span", "needs", page->rows[0].lead);
    text_put(out, "</p>\n");
  }
}

enum { BAR_WIDTH = 10000, BAR_HEIGHT = 220, BAR_COLOURS = 8 };

struct card_bar {
  struct text *out;
  double unit; /* of the picture, a byte */
  double at;   /* bytes */
};

static void put_piece(struct card_bar *bar, const char *class, double bytes,
                      const char *name, struct slice size) {
  if (bytes <= 0)
    return;
  text_printf(bar->out,
              "<rect class=\"%s\" x=\"%lld\" width=\"%lld\" height=\"%d\">"
              "<title>%s%s",
              class, llround(bar->at * bar->unit), llround(bytes * bar->unit),
              BAR_HEIGHT, name, size.length ? " " : "");
  put_xml(bar->out, size);
  text_put(bar->out, "</title></rect>");
  bar->at += bytes;
}

/* Draws the parts. If they fit, the rest of the device follows; else a mark
 * shows where its memory ends. */
static void put_bar(const struct compiled *c, const struct screen_page *page,
                    struct text *out) {
  struct card_device device = device_of(c);
  double need = 0, size = (double)device.bytes, room = (double)device.room;
  for (size_t i = 0; i < page->part_count; i++)
    need += (double)page->parts[i].bytes;
  bool fits = need <= room;
  struct card_bar bar = {out, BAR_WIDTH / fmax(fits ? size : need, 1), 0};
  text_printf(out,
              "<svg class=\"parts\" viewBox=\"0 0 %d %d\" "
              "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
              BAR_WIDTH, BAR_HEIGHT);
  put_xml(out, page->rows[0].lead);
  text_put(out, ": ");
  put_xml(out, page->rows[0].text);
  text_put(out, "\">");
  for (size_t i = 0; i < page->part_count; i++) {
    char class[] = "part0";
    class[4] = (char)('0' + i % BAR_COLOURS);
    put_piece(&bar, class, (double)page->parts[i].bytes, page->parts[i].name,
              page->parts[i].size);
  }
  if (fits) {
    put_piece(&bar, "free", room - need, "free", (struct slice){"", 0});
    put_piece(&bar, "taken", size - room, "not available to the net",
              (struct slice){"", 0});
  } else if (size > 0) {
    bar.at = room;
    put_piece(&bar, "end", need / 200, "here the memory ends",
              (struct slice){"", 0});
  }
  text_put(out, "</svg>\n<ul class=\"legend\">");
  for (size_t i = 0; i < page->part_count; i++) {
    text_printf(out, "<li><span class=\"dot part%zu\"></span>%s ",
                i % BAR_COLOURS, page->parts[i].name);
    put_element(out, "b", "", page->parts[i].size);
    text_put(out, "</li>");
  }
  text_put(out, "</ul>\n");
}

/* A row without a label goes on with the one before it. The first one is above
 * if there is a bar: its parts, and without a verdict all of it. */
static void put_facts(const struct screen_page *page, struct text *out) {
  bool bar = page->part_count > 0, open = false;
  text_put(out, "<dl>\n");
  for (size_t i = bar && !page->verdict; i < page->count; i++) {
    const struct screen_row *row = &page->rows[i];
    if (*row->label)
      text_printf(out, "%s<dt>%s</dt><dd>", open ? "</dd>\n" : "", row->label);
    open = true;
    text_put(out, "<div>");
    if (row->lead.length)
      put_element(out, row->option ? "code" : "b", "", row->lead);
    struct slice words = i || !bar ? row->text : (struct slice){"", 0};
    if (row->lead.length && words.length)
      text_put(out, " ");
    put_xml(out, words);
    text_put(out, "</div>");
  }
  text_put(out, open ? "</dd>\n</dl>\n" : "</dl>\n");
}

void card_put_html(const struct compiled *c, struct text *out) {
  const struct screen_page *page = screen_page(c);
  put_verdict(c, page, out);
  if (page->part_count)
    put_bar(c, page, out);
  put_element(out, "p", "counts", page->counts);
  text_put(out, "\n");
  put_element(out, "p", "question", page->question);
  text_put(out, "\n");
  put_facts(page, out);
}

/* Places and layers */

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
  struct text why = text_new(c->arena), help = why, html = why;
  struct card card = {c, &json, rows_of(c)};
  card_put_html(c, &html);
  json_put_open(&json, '{');
  json_member_string(&json, "html", text_slice(&html));
  json_member_bool(&json, "predict", c->options->predict);
  json_member_bool(&json, "serves",
                   serving_possible(c->model, c->settings, &why, &help));
  put_layers(&card);
  put_places(&card);
  json_put_close(&json, '}');
}
