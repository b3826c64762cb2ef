/* Diagnostics as structs, and as text. */
#include "library/context.h"
#include "library/repair.h"

size_t netc_diagnostic_count(const struct netc *netc) {
  return netc->load ? netc->load->diags.all.count : 0;
}

struct netc_place load_place(struct load *load, struct span span) {
  struct sources *sources = &load->sources;
  span = repair_written(load, span);
  struct position begin = sources_position(sources, span.begin);
  struct position end = sources_position(sources, span.end);
  return (struct netc_place){.file = begin.source->name.at,
                             .line = begin.line,
                             .column = begin.column,
                             .end_line = end.line,
                             .end_column = end.column,
                             .begin = span.begin - begin.source->base,
                             .end = span.end - begin.source->base};
}

static const char *const *texts_of(struct arena *arena,
                                   const struct slice *from, size_t count) {
  const char **to = arena_alloc(arena, count + 1, sizeof *to);
  for (size_t i = 0; i < count; i++)
    to[i] = context_keep(arena, from[i]).at;
  return to;
}

static const struct netc_label *labels_of(struct load *load,
                                          const struct diagnostic *d) {
  struct netc_label *to =
      arena_alloc(&load->arena, d->labels.count + 1, sizeof *to);
  for (size_t i = 0; i < d->labels.count; i++) {
    to[i].place = load_place(load, d->labels.at[i].span);
    to[i].text = context_keep(&load->arena, d->labels.at[i].text).at;
  }
  return to;
}

static const struct netc_fixit *fixits_of(struct load *load,
                                          const struct diagnostic *d) {
  struct netc_fixit *to =
      arena_alloc(&load->arena, d->fixits.count + 1, sizeof *to);
  for (size_t i = 0; i < d->fixits.count; i++) {
    to[i].place = load_place(load, d->fixits.at[i].span);
    to[i].text = context_keep(&load->arena, d->fixits.at[i].text).at;
  }
  return to;
}

static struct netc_diagnostic shown(struct load *load,
                                    const struct diagnostic *d) {
  struct arena *arena = &load->arena;
  bool error = d->severity == SEVERITY_ERROR;
  return (struct netc_diagnostic){
      .severity = error ? NETC_SEVERITY_ERROR : NETC_SEVERITY_WARNING,
      .slug = slug_info(d->slug)->name,
      .message = context_keep(arena, d->message).at,
      .place = load_place(load, d->span),
      .net = d->net.length ? context_keep(arena, d->net).at : NULL,
      .here = context_keep(arena, d->at_span).at,
      .label_count = d->labels.count,
      .note_count = d->notes.count,
      .help_count = d->help.count,
      .fixit_count = d->fixits.count,
      .labels = labels_of(load, d),
      .notes = texts_of(arena, d->notes.at, d->notes.count),
      .help = texts_of(arena, d->help.at, d->help.count),
      .fixits = fixits_of(load, d),
      .repeats = d->repeats};
}

/* Makes the struct once and keeps it. */
static void call_diagnostic(struct call *call) {
  size_t index = *(const size_t *)call->request;
  struct load *load = call->netc->load;
  size_t count = load->diags.all.count;
  if (!load->diagnostics)
    load->diagnostics =
        arena_alloc(&load->arena, count + 1, sizeof *load->diagnostics);
  if (!load->diagnostics[index].slug)
    load->diagnostics[index] = shown(load, load->diags.all.at[index]);
}

enum netc_status netc_diagnostic(struct netc *netc, size_t index,
                                 struct netc_diagnostic *diagnostic) {
  if (index >= netc_diagnostic_count(netc))
    return NETC_USAGE;
  enum netc_status status =
      context_call(netc, CALL_READS, call_diagnostic, &index);
  return status == NETC_OK ? FILL(diagnostic, &netc->load->diagnostics[index])
                           : status;
}

struct rendering {
  size_t index;
  enum netc_style style;
  netc_sink_fn *sink;
  void *user;
};

static void call_render(struct call *call) {
  const struct rendering *r = call->request;
  struct load *load = call->netc->load;
  const struct diagnostic *d = load->diags.all.at[r->index];
  struct text out = text_to(&call->scratch, r->sink, r->user);
  if (r->style == NETC_STYLE_JSON) {
    struct json json = json_writer(&out, 0);
    diag_render_json(&json, &load->sources, d);
  } else {
    diag_render_text(&out, &load->sources, d, r->style == NETC_STYLE_COLOUR);
  }
  if (!text_flush(&out))
    call->status = NETC_IO;
  if (call->status == NETC_IO)
    context_say(call->netc, "the diagnostic could not be written");
}

enum netc_status netc_diagnostic_emit(struct netc *netc, size_t index,
                                      enum netc_style style, netc_sink_fn *sink,
                                      void *user) {
  struct rendering r = {index, style, sink, user};
  if (index >= netc_diagnostic_count(netc) || (unsigned)style > NETC_STYLE_JSON)
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_render, &r);
}
