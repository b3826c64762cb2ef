/* Renders diagnostics as text with source lines and carets, and as JSON. */
#include "base/diag.h"
#include "base/shown.h"

enum {
  SHOWN_COLUMNS = 120, /* longer lines are cut around the place */
  TAB = 8,
};

struct style {
  const char *error, *warning, *note, *bold, *off;
};

static const struct style plain = {"", "", "", "", ""};
static const struct style ansi = {"\033[1;31m", "\033[1;35m", "\033[1;36m",
                                  "\033[1m", "\033[0m"};

struct renderer {
  struct text *out;
  struct sources *sources;
  const struct style *style;
  const struct diagnostic *d;
  int margin; /* digits of the largest line number */
};

static int digits_of(uint32_t value) {
  int digits = 1;
  for (; value >= 10; value /= 10)
    digits++;
  return digits;
}

static size_t columns(struct arena *arena, struct slice line) {
  struct text scratch = text_new(arena);
  return shown_put(&scratch, line, TAB);
}

/* The part of a long line that is shown. */
struct line_window {
  size_t begin, end; /* bytes of the line */
};

static struct line_window window_of(struct slice line, size_t offset) {
  if (line.length <= SHOWN_COLUMNS)
    return (struct line_window){0, line.length};
  size_t begin = offset > SHOWN_COLUMNS / 2 ? offset - SHOWN_COLUMNS / 2 : 0;
  size_t end = begin + SHOWN_COLUMNS;
  if (end > line.length)
    end = line.length;
  while (begin > 0 && ((unsigned char)line.at[begin] & 0xC0) == 0x80)
    begin--;
  while (end < line.length && ((unsigned char)line.at[end] & 0xC0) == 0x80)
    end++;
  return (struct line_window){begin, end};
}

static void put_margin(struct renderer *r, uint32_t line) {
  if (line)
    text_printf(r->out, "%*u | ", r->margin + 2, line);
  else
    text_printf(r->out, "%*s | ", r->margin + 2, "");
}

static void put_source_line(struct renderer *r, const struct position *p,
                            struct line_window w) {
  put_margin(r, p->line);
  if (w.begin > 0)
    text_put(r->out, "...");
  shown_put(r->out, (struct slice){p->text.at + w.begin, w.end - w.begin}, TAB);
  text_put(r->out, w.end < p->text.length ? "...\n" : "\n");
}

struct label_place {
  struct label label;
  bool primary;
};

static void put_underline(struct renderer *r, const struct position *p,
                          struct line_window w,
                          const struct label_place *place) {
  struct label label = place->label;
  bool primary = place->primary;
  struct slice text = p->text;
  size_t length = label.span.end - label.span.begin;
  size_t room = text.length - p->offset;
  if (length > room)
    length = room; /* of several lines, mark the first one */
  size_t start = p->offset < w.begin ? w.begin : p->offset;
  size_t stop = start + length > w.end ? w.end : start + length;
  if (stop < start)
    stop = start;
  struct slice before = {text.at + w.begin, start - w.begin};
  struct slice under = {text.at + w.begin, stop - w.begin};
  struct arena *arena = r->out->arena;
  size_t left = columns(arena, before);
  size_t width = columns(arena, under) - left;
  put_margin(r, 0);
  text_fill(r->out, ' ', left + (w.begin > 0 ? 3 : 0));
  const char *colour = !primary                           ? r->style->note
                       : r->d->severity == SEVERITY_ERROR ? r->style->error
                                                          : r->style->warning;
  text_put(r->out, colour);
  text_fill(r->out, primary ? '^' : '-', width ? width : 1);
  if (label.text.length) {
    text_putc(r->out, ' ');
    shown_put(r->out, label.text, 0);
  }
  text_put(r->out, r->style->off);
  text_putc(r->out, '\n');
}

/* Sorts all places of a diagnostic by position in the source. */
static size_t sort_places(const struct diagnostic *d,
                          struct label_place *sorted) {
  size_t count = 0;
  sorted[count++] = (struct label_place){{d->span, d->at_span}, true};
  for (size_t i = 0; i < d->labels.count; i++) {
    struct label label = d->labels.at[i];
    size_t at = count++;
    for (; at > 0 && sorted[at - 1].label.span.begin > label.span.begin; at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = (struct label_place){label, false};
  }
  return count;
}

static void put_places(struct renderer *r) {
  const struct diagnostic *d = r->d;
  struct label_place *sorted =
      arena_alloc(r->out->arena, d->labels.count + 1, sizeof *sorted);
  size_t count = sort_places(d, sorted);
  struct position main = sources_position(r->sources, d->span.begin);
  const struct source *shown = main.source;
  uint32_t line = 0;
  struct line_window w = {0, 0};
  for (size_t i = 0; i < count; i++) {
    struct position p =
        sources_position(r->sources, sorted[i].label.span.begin);
    if (p.source != shown) {
      text_printf(r->out, "%*s--> ", r->margin + 2, "");
      shown_put(r->out, p.source->name, 0);
      text_putc(r->out, '\n');
      shown = p.source;
      line = 0;
    }
    if (p.line != line) {
      w = window_of(p.text, p.offset);
      put_source_line(r, &p, w);
    }
    line = p.line;
    put_underline(r, &p, w, &sorted[i]);
  }
}

static void put_remark(struct renderer *r, const char *kind,
                       struct slice remark) {
  text_printf(r->out, "%*s = %s: ", r->margin, "", kind);
  shown_put(r->out, remark, 0);
  text_putc(r->out, '\n');
}

static void put_remarks(struct renderer *r) {
  const struct diagnostic *d = r->d;
  struct text *out = r->out;
  for (size_t i = 0; i < d->notes.count; i++)
    put_remark(r, "note", d->notes.at[i]);
  if (d->repeats)
    text_printf(out, "%*s = note: the same %lld more time%s\n", r->margin, "",
                (long long)d->repeats, d->repeats == 1 ? "" : "s");
  for (size_t i = 0; i < d->help.count; i++)
    put_remark(r, "help", d->help.at[i]);
}

static int margin_of(struct renderer *r) {
  const struct diagnostic *d = r->d;
  uint32_t last = sources_position(r->sources, d->span.begin).line;
  for (size_t i = 0; i < d->labels.count; i++) {
    uint32_t line =
        sources_position(r->sources, d->labels.at[i].span.begin).line;
    last = line > last ? line : last;
  }
  int digits = digits_of(last);
  return digits < 2 ? 2 : digits;
}

void diag_render_text(struct text *out, struct sources *sources,
                      const struct diagnostic *d, bool colour) {
  struct renderer r = {out, sources, colour ? &ansi : &plain, d, 0};
  r.margin = margin_of(&r);
  struct position p = sources_position(sources, d->span.begin);
  bool error = d->severity == SEVERITY_ERROR;
  text_put(out, r.style->bold);
  shown_put(out, d->net.length ? d->net : p.source->name, 0);
  if (!d->net.length)
    text_printf(out, ":%u:%u", p.line, p.column);
  text_printf(out, ": %s%s:%s %s", error ? r.style->error : r.style->warning,
              error ? "error" : "warning", r.style->off, r.style->bold);
  shown_put(out, d->message, 0);
  text_printf(out, "%s [%s]\n", r.style->off, slug_info(d->slug)->name);
  put_places(&r);
  put_remarks(&r);
}

static void json_place(struct json *json, struct sources *sources,
                       struct span span) {
  struct position begin = sources_position(sources, span.begin);
  struct position end = sources_position(sources, span.end);
  json_member_string(json, "file", begin.source->name);
  json_member_int(json, "line", begin.line);
  json_member_int(json, "col", begin.column);
  json_member_int(json, "end_line", end.line);
  json_member_int(json, "end_col", end.column);
}

static void json_texts(struct json *json, const char *key,
                       const struct slice *texts, size_t count) {
  json_member_open(json, key, '[');
  for (size_t i = 0; i < count; i++)
    json_put_string(json, texts[i]);
  json_put_close(json, ']');
}

static void json_labels(struct json *json, struct sources *sources,
                        const char *key, const struct label *labels,
                        size_t count) {
  json_member_open(json, key, '[');
  for (size_t i = 0; i < count; i++) {
    json_put_open(json, '{');
    json_place(json, sources, labels[i].span);
    json_member_string(json, "text", labels[i].text);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

void diag_render_json(struct json *json, struct sources *sources,
                      const struct diagnostic *d) {
  bool error = d->severity == SEVERITY_ERROR;
  json_put_open(json, '{');
  json_member_string(json, "slug", slice_of(slug_info(d->slug)->name));
  json_member_string(json, "severity", slice_of(error ? "error" : "warning"));
  json_member_string(json, "message", d->message);
  json_place(json, sources, d->span);
  if (d->net.length)
    json_member_string(json, "net", d->net);
  json_member_string(json, "at", d->at_span);
  json_labels(json, sources, "labels", d->labels.at, d->labels.count);
  json_texts(json, "notes", d->notes.at, d->notes.count);
  json_texts(json, "help", d->help.at, d->help.count);
  json_labels(json, sources, "fixits", d->fixits.at, d->fixits.count);
  json_member_int(json, "repeats", d->repeats);
  json_put_close(json, '}');
}
