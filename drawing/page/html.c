/*
 * html: one page about a net. It is complete without its script, which only
 * expands, sorts and searches. It loads nothing, and its content policy forbids
 * loading to anything that a name could inject.
 */
#include "drawing/page/html.h"

#include "base/json.h"
#include "codegen/report/screen.h"
#include "codegen/asked.h"
#include "codegen/report/memory_report.h"
#include "drawing/charts/chart.h"
#include "drawing/scene/scene.h"

void html_put(struct page_writer *w, struct slice text) {
  put_xml(w->out, text);
}

void html_put_file(struct page_writer *w, struct slice name) {
  size_t start = name.length;
  while (start > 0 && name.at[start - 1] != '/')
    start--;
  if (name.length && *name.at == '/') /* the directory is private */
    name = slice_from(name, start);
  html_put(w, name);
}

void html_put_line_id(struct page_writer *w, uint32_t offset) {
  struct position at = sources_position(w->c->sources, offset);
  text_printf(w->out, "s%uL%u", (unsigned)(at.source - w->c->sources->all.at),
              (unsigned)at.line);
}

static void put_lines(struct page_writer *w, const char *const *lines) {
  for (; *lines; lines++)
    text_put(w->out, *lines);
}

static void put_head(struct page_writer *w) {
  text_put(w->out,
           "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
           "<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\""
           "default-src 'none'; style-src 'unsafe-inline'; "
           "script-src 'unsafe-inline'; base-uri 'none'; "
           "form-action 'none'\">\n"
           "<meta name=\"viewport\" "
           "content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
  html_put(w, w->c->model->name);
  text_put(w->out, "</title>\n<style>\n");
  put_lines(w, view_style);
  put_lines(w, web_style);
  html_put_table_style(w);
  /* Layout runs once, after the script has closed most rows. */
  text_put(w->out, "</style>\n<script>document.documentElement.className="
                   "\"js\"</script>\n</head>\n");
}

/* "224x224x3, float32", and the file. */
static void put_title(struct page_writer *w) {
  const struct model *model = w->c->model;
  struct text inputs = text_new(w->c->arena);
  for (size_t i = 0; i < model->sources.count; i++) {
    const struct shape *in = model->nodes.at[model->sources.at[i]].out;
    text_put(&inputs, i ? ", " : "");
    shape_put(&inputs, in, output_layout(w->c));
    if (in->dtype != DTYPE_FLOAT)
      text_put(&inputs, in->dtype == DTYPE_I64 ? " i64" : " i32");
  }
  text_put(&inputs, ", ");
  asked_put_types(&inputs, w->c);
  text_put(w->out, "<body>\n<a class=\"skip\" href=\"#layers\">"
                   "Skip to the layers</a>\n<header>\n<h1>");
  html_put(w, model->name);
  text_put(w->out, "</h1>\n<p class=\"faint\">");
  html_put(w, text_slice(&inputs));
  text_put(w->out, " &#183; ");
  html_put_file(w, w->c->sources->all.at[w->c->source].name);
  text_put(w->out,
           "</p>\n<nav aria-label=\"Parts\"><a href=\"#layers\">Layers</a>"
           " <a href=\"#diagram\">Diagram</a> <a href=\"#charts\">Charts</a>"
           " <a href=\"#memory\">Memory</a> <a href=\"#source\">Source</a>"
           "</nav>\n<div id=\"find\" role=\"search\" hidden>"
           "<label for=\"query\">Find</label> <input id=\"query\" "
           "type=\"search\" autocomplete=\"off\" spellcheck=\"false\" "
           "placeholder=\"a name, conv 3x3, 56x56\"> "
           "<span id=\"found\" role=\"status\"></span></div>\n</header>\n");
}

static void put_answer(struct page_writer *w) {
  text_put(w->out, "<main>\n<section id=\"answer\" class=\"card\" "
                   "aria-label=\"Answer\">\n");
  card_put_html(w->c, w->out);
  text_put(w->out, "</section>\n");
}

/* Pictures */

typedef void emit_fn(const struct compiled *c, struct text *out);

static void put_diagram(struct page_writer *w) {
  struct compiled c = *w->c;
  c.inlined = true;
  text_put(w->out,
           "<section id=\"diagram\" aria-labelledby=\"diagram-head\">\n"
           "<h2 id=\"diagram-head\">Diagram</h2>\n<div class=\"bar\" "
           "role=\"toolbar\" aria-label=\"Size of the diagram\" hidden>"
           "<button type=\"button\" data-zoom=\"1.25\" "
           "aria-label=\"Larger\">+</button>"
           "<button type=\"button\" data-zoom=\"0.8\" "
           "aria-label=\"Smaller\">&#8722;</button>"
           "<button type=\"button\" data-zoom=\"0\">Fit</button>"
           "<span class=\"faint\">Drag to move; Ctrl and the wheel zoom. "
           "A box shows its layer.</span></div>\n"
           "<div id=\"canvas\" tabindex=\"0\" role=\"region\" "
           "aria-label=\"Diagram, can be moved\">\n");
  emit_svg(&c, w->out);
  text_put(w->out, "</div>\n</section>\n");
}

static void put_charts(struct page_writer *w) {
  static emit_fn *const charts[] = {emit_timeline, emit_arena, emit_bars,
                                    emit_roofline};
  text_put(w->out,
           "<section id=\"charts\" aria-labelledby=\"charts-head\">\n"
           "<h2 id=\"charts-head\">Charts</h2>\n<div class=\"charts\">\n");
  for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) {
    text_put(w->out, "<figure class=\"chart\">\n");
    charts[i](w->c, w->out);
    text_put(w->out, "</figure>\n");
  }
  text_put(w->out, "</div>\n</section>\n");
}

/* The memory part of the report. */
static void put_memory(struct page_writer *w) {
  struct netc_options options = *w->c->options;
  struct compiled c = *w->c;
  struct text report = text_new(w->c->arena);
  options.colour = false;
  options.width = 100;
  c.options = &options;
  memory_report_put(&c, &report);
  text_put(w->out, "<section id=\"memory\" aria-labelledby=\"memory-head\">\n"
                   "<h2 id=\"memory-head\">Memory</h2>\n<pre tabindex=\"0\">");
  html_put(w, text_slice(&report));
  text_put(w->out, "</pre>\n</section>\n");
}

void emit_html(const struct compiled *c, struct text *out) {
  struct page_writer w = {c, out};
  put_head(&w);
  put_title(&w);
  put_answer(&w);
  html_put_table(&w);
  put_diagram(&w);
  put_charts(&w);
  put_memory(&w);
  html_put_sources(&w);
  text_put(out, "</main>\n<aside id=\"detail\" aria-live=\"polite\" "
                "aria-label=\"The chosen layer\" hidden></aside>\n"
                "<div id=\"tip\" role=\"tooltip\" hidden></div>\n<script>\n");
  put_lines(&w, view_script);
  put_lines(&w, web_script);
  text_put(out, "</script>\n</body>\n</html>\n");
}

static void put_member(struct json *json, const struct compiled *c,
                       const char *name, const char *const *lines) {
  struct text text = text_new(c->arena);
  for (; *lines; lines++)
    text_put(&text, *lines);
  json_member_string(json, name, text_slice(&text));
}

void emit_view(const struct compiled *c, struct text *out) {
  struct json json = json_writer(out, 0);
  json_put_open(&json, '{');
  put_member(&json, c, "style", view_style);
  put_member(&json, c, "script", view_script);
  json_put_close(&json, '}');
}
