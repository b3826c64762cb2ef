/* Screen: its rows as text, with a bar for what is needed. */
#include "base/check.h"
#include "codegen/asked.h"
#include "codegen/grid.h"
#include "codegen/report/screen.h"

enum { LABEL = 13 }; /* columns before the text of a row */

static const char *verdict_text(enum fit_verdict verdict) {
  switch (verdict) {
  case VERDICT_NONE: return "";
  case VERDICT_FITS: return "FITS";
  case VERDICT_TIGHT: return "TIGHT";
  default: return "DOES NOT FIT";
  }
}

static const char *colour_of(const struct compiled *c,
                             enum fit_verdict verdict) {
  if (!c->options->colour || verdict == VERDICT_NONE)
    return "";
  return verdict == VERDICT_FITS    ? "\x1b[1;32m"
         : verdict == VERDICT_TIGHT ? "\x1b[1;33m"
                                    : "\x1b[1;31m";
}

static void write_title(const struct compiled *c,
                        const struct screen_page *page, struct text *out) {
  const char *verdict = verdict_text(page->verdict);
  const char *colour = colour_of(c, page->verdict);
  size_t width = output_width(c), length = strlen(verdict);
  struct text title = text_new(c->arena);
  text_printf(&title, "%.*s   %.*s", SLICE_ARG(c->model->name),
              SLICE_ARG(page->counts));
  size_t used = text_width(text_slice(&title));
  if (length)
    text_fill(&title, ' ',
              used + length + 2 < width ? width - used - length : 2);
  text_puts(out, text_slice(&title));
  text_printf(out, "%s%s%s\n", colour, verdict, *colour ? "\x1b[0m" : "");
}

/* A bar of the need against what is available; beyond that, `:`. */
static void put_bar(const struct compiled *c, struct text *line, int64_t bytes,
                    int64_t available) {
  enum { LEAST = 12, MOST = 42 };
  size_t used = text_width(text_slice(line)) + 4;
  size_t width = output_width(c);
  if (used + LEAST > width)
    return;
  int64_t cells = (int64_t)min_i64((int64_t)(width - used), MOST);
  int64_t all = max_i64(bytes, available);
  int64_t full = (int64_t)((double)min_i64(bytes, available) / (double)all *
                               (double)cells +
                           0.5);
  text_put(line, "  [");
  text_fill(line, '#', (size_t)full);
  if (bytes > available && full < cells) {
    text_putc(line, '|');
    text_fill(line, ':', (size_t)(cells - full - 1));
  } else {
    text_fill(line, '.', (size_t)(cells - full));
  }
  text_putc(line, ']');
}

static void write_row(const struct compiled *c, const struct screen_row *row,
                      struct text *out) {
  enum { OPTION = 28 };
  struct text line = text_new(c->arena);
  text_printf(&line, "  %-*s", LABEL - 2, row->label);
  text_puts(&line, row->lead);
  size_t indent = LABEL;
  if (row->available) {
    put_bar(c, &line, row->bytes, row->available);
    text_printf(&line, "\n%*s", LABEL, "");
  } else if (row->option) {
    size_t used = text_width(text_slice(&line));
    text_fill(&line, ' ', used < OPTION + LABEL ? OPTION + LABEL - used : 2);
  } else if (row->lead.length) {
    text_put(&line, "   ");
    indent = text_width(text_slice(&line));
  }
  text_puts(&line, row->text);
  struct slice all = text_slice(&line);
  const char *end = row->available ? memchr(all.at, '\n', all.length) : NULL;
  if (end) {
    size_t first = (size_t)(end - all.at) + 1;
    text_bytes(out, all.at, first);
    all = slice_from(all, first);
  }
  text_wrap(out, all, indent, output_width(c));
}

static void write_lead(const struct compiled *c, const struct screen_page *page,
                       struct text *out) {
  write_title(c, page, out);
  text_wrap(out, page->question, 2, output_width(c));
}

void screen_put_answer(const struct compiled *c, struct text *out) {
  const struct screen_page *page = screen_page(c);
  write_lead(c, page, out);
  for (size_t i = 0; i < page->count; i++)
    write_row(c, &page->rows[i], out);
}

void screen_put_last(const struct compiled *c, struct text *out) {
  const struct screen_page *page = screen_page(c);
  write_lead(c, page, out);
  write_row(c, &page->rows[0], out);
}

/* Adds it if the line has room. */
static void add_hint(const struct compiled *c, struct text *line,
                     const char *hint) {
  if (text_width(text_slice(line)) + strlen(hint) <= output_width(c))
    text_put(line, hint);
}

void screen_put_foot(const struct compiled *c, bool folded, size_t left_out,
                     struct text *out) {
  const struct answer *a = asked_of(c);
  struct text line = text_new(c->arena);
  size_t warnings = c->model->warnings.count;
  bool small =
      c->options->predict && c->settings->infer.runtime == RUNTIME_NETRT;
  text_put(&line, "  ");
  if (warnings)
    text_printf(&line, "! %zu warning%s above.  ", warnings,
                warnings == 1 ? "" : "s");
  if (left_out)
    text_printf(&line, "%zu smaller row%s: --unfold.  ", left_out,
                left_out == 1 ? "" : "s");
  if (a && !a->device.bytes)
    add_hint(c, &line,
             small ? "--board nucleo-f746zg: does it fit?  "
                   : "--gpu t4: does it fit?  ");
  if (folded && !left_out)
    add_hint(c, &line, "--unfold, ");
  add_hint(c, &line, "--details");
  add_hint(c, &line, ", --explain");
  add_hint(c, &line, ", -o x.html");
  while (line.length && line.at[line.length - 1] == ' ')
    line.length--;
  text_wrap(out, text_slice(&line), 2, output_width(c));
}
