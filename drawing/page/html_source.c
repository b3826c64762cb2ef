/* html: the sources line by line, with their diagnostics. */
#include <stdlib.h>

#include "base/shown.h"
#include "drawing/page/html.h"

struct listing {
  struct page_writer *w;
  const struct diagnostic **diags; /* by place */
  size_t count, next;
  struct text line;
};

static int by_place(const void *a, const void *b) {
  const struct diagnostic *x = *(const struct diagnostic *const *)a;
  const struct diagnostic *y = *(const struct diagnostic *const *)b;
  if (x->span.begin != y->span.begin)
    return x->span.begin < y->span.begin ? -1 : 1;
  return x->slug < y->slug ? -1 : x->slug > y->slug;
}

static void find_diags(struct listing *l) {
  const struct diags *diags = l->w->c->diags;
  l->count = diags->all.count;
  l->diags = arena_alloc(l->w->c->arena, l->count + 1, sizeof *l->diags);
  for (size_t i = 0; i < l->count; i++)
    l->diags[i] = diags->all.at[i];
  qsort(l->diags, l->count, sizeof *l->diags, by_place);
}

/* Expands tabs to blanks, so that carets are aligned. */
static size_t expand(struct listing *l, struct slice text) {
  l->line.length = 0;
  return shown_put(&l->line, text, 8);
}

enum { CARETS = 200 }; /* longer marks are off screen */

static void put_carets(struct listing *l, struct span span, struct slice said) {
  struct text *out = l->w->out;
  struct position at = sources_position(l->w->c->sources, span.begin);
  size_t length = span.end - span.begin, room = at.text.length - at.offset;
  if (length > room)
    length = room;
  size_t before = expand(l, (struct slice){at.text.at, at.offset});
  size_t under = expand(l, (struct slice){at.text.at, at.offset + length});
  size_t width = under > before ? under - before : 1;
  text_put(out, "<div class=\"carets\"><span aria-hidden=\"true\">");
  text_fill(out, ' ', before);
  text_fill(out, '^', width < CARETS ? width : CARETS);
  text_put(out, "</span> ");
  html_put(l->w, said);
  text_put(out, "</div>\n");
}

static void put_remark(struct listing *l, const char *kind,
                       struct slice remark) {
  text_printf(l->w->out, "<div>%s: ", kind);
  html_put(l->w, remark);
  text_put(l->w->out, "</div>\n");
}

static void put_diag(struct listing *l, const struct diagnostic *d) {
  struct text *out = l->w->out;
  bool error = d->severity == SEVERITY_ERROR;
  put_carets(l, d->span, d->at_span);
  text_printf(out, "<div class=\"said %s\" role=\"note\">\n<div><b>%s:</b> ",
              error ? "error" : "warning", error ? "error" : "warning");
  html_put(l->w, d->message);
  text_printf(out, " <code>%s</code></div>\n", slug_info(d->slug)->name);
  for (size_t i = 0; i < d->labels.count; i++) {
    text_put(out, "<div><a href=\"#");
    html_put_line_id(l->w, d->labels.at[i].span.begin);
    struct position at =
        sources_position(l->w->c->sources, d->labels.at[i].span.begin);
    text_printf(out, "\">line %u</a>: ", (unsigned)at.line);
    html_put(l->w, d->labels.at[i].text);
    text_put(out, "</div>\n");
  }
  for (size_t i = 0; i < d->notes.count; i++)
    put_remark(l, "note", d->notes.at[i]);
  for (size_t i = 0; i < d->help.count; i++)
    put_remark(l, "help", d->help.at[i]);
  text_put(out, "</div>\n");
}

static void put_text(struct listing *l, size_t number) {
  const struct source *source = &l->w->c->sources->all.at[number];
  struct slice rest = source->text;
  for (unsigned line = 1; rest.length; line++) {
    const char *end = memchr(rest.at, '\n', rest.length);
    size_t length = end ? (size_t)(end - rest.at) : rest.length;
    size_t past = (size_t)(rest.at - source->text.at) + length + 1;
    size_t shown = length;
    if (shown && rest.at[shown - 1] == '\r')
      shown--;
    expand(l, (struct slice){rest.at, shown});
    text_printf(l->w->out, "<div class=\"line\" id=\"s%zuL%u\">", number, line);
    html_put(l->w, text_slice(&l->line));
    text_put(l->w->out, "</div>\n");
    while (l->next < l->count &&
           l->diags[l->next]->span.begin < source->base + past)
      put_diag(l, l->diags[l->next++]);
    length += end != NULL;
    rest = slice_from(rest, length);
  }
  /* Diagnostics after the last line, or in an empty source. */
  while (l->next < l->count &&
         l->diags[l->next]->span.begin <= source->base + source->text.length)
    put_diag(l, l->diags[l->next++]);
}

static void put_source(struct listing *l, size_t number) {
  struct page_writer *w = l->w;
  const struct source *source = &w->c->sources->all.at[number];
  l->next = 0;
  while (l->next < l->count && l->diags[l->next]->span.begin < source->base)
    l->next++;
  text_put(w->out, "<h3>");
  html_put_file(w, source->name);
  text_put(w->out, "</h3>\n<div class=\"code\" tabindex=\"0\" "
                   "role=\"region\" aria-label=\"");
  html_put_file(w, source->name);
  text_put(w->out, "\">\n");
  put_text(l, number);
  text_put(w->out, "</div>\n");
}

void html_put_sources(struct page_writer *w) {
  struct listing l = {.w = w, .line = text_new(w->c->arena)};
  find_diags(&l);
  text_put(w->out, "<section id=\"source\" aria-labelledby=\"source-head\">\n"
                   "<h2 id=\"source-head\">Source</h2>\n");
  put_source(&l, (size_t)w->c->source);
  for (size_t i = 0; i < w->c->sources->all.count; i++)
    if (i != (size_t)w->c->source)
      put_source(&l, i);
  text_put(w->out, "</section>\n");
}
