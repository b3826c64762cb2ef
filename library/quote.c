/*
 * Diagnostics only quote the net and used files whose names end in .net. Any
 * other file may contain secrets.
 */
#include "library/context.h"

static struct unit *hidden_at(struct load *load, uint32_t place) {
  const struct source *source = sources_position(&load->sources, place).source;
  for (size_t i = 0; i < load->units.count; i++) {
    struct unit *unit = &load->units.at[i];
    if (unit->hidden && unit->source >= 0 &&
        &load->sources.all.at[unit->source] == source)
      return unit;
  }
  return NULL;
}

static void drop_labels(struct load *load, struct label *at, size_t *count) {
  size_t kept = 0;
  for (size_t i = 0; i < *count; i++)
    if (!hidden_at(load, at[i].span.begin))
      at[kept++] = at[i];
  *count = kept;
}

/* Moves the message to the `use` of the file, or of the first file that leads
 * to it. */
static void say_where(struct load *load, struct diagnostic *d,
                      const struct unit *unit) {
  struct text message = text_new(&load->arena);
  text_printf(&message,
              "line %u of \"%.*s\" has %s; the line is not shown, because the "
              "name of the file does not end in .net",
              sources_position(&load->sources, d->span.begin).line,
              SLICE_ARG(unit->path),
              d->severity == SEVERITY_ERROR ? "an error" : "a warning");
  for (const struct unit *in = unit; in; in = hidden_at(load, d->span.begin))
    d->span = in->used;
  d->message = text_slice(&message);
  d->at_span = (struct slice){"", 0};
  d->labels.count = d->notes.count = d->help.count = d->fixits.count = 0;
  d->offers.count = 0;
  d->repeats = 0;
  diag_help(d, "if it is a source, rename it to NAME.net; if it is a link, "
               "rename its target");
}

void quote_sources(struct load *load) {
  bool some = false;
  size_t kept = 0;
  for (size_t i = 0; i < load->units.count; i++)
    some = some || load->units.at[i].hidden;
  for (size_t i = 0; i < load->diags.all.count && some; i++) {
    struct diagnostic *d = load->diags.all.at[i];
    struct unit *unit = hidden_at(load, d->span.begin);
    drop_labels(load, d->labels.at, &d->labels.count);
    drop_labels(load, d->fixits.at, &d->fixits.count);
    if (unit && unit->hinted)
      continue;
    if (unit) {
      unit->hinted = true;
      say_where(load, d, unit);
    }
    load->diags.all.at[kept++] = d;
  }
  if (some)
    load->diags.all.count = kept;
}
