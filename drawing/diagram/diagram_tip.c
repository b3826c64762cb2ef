/* Tooltips, ids and links of a diagram's boxes. */
#include "drawing/diagram/diagram.h"

void put_plural(struct text *out, const char *unit, bool one) {
  text_bytes(out, unit, strlen(unit) - (one ? 1 : 0));
}

static struct slice item_id(struct diagram *d, size_t index) {
  struct text id = text_new(d->arena);
  row_put_id(&id, d->c, item_row(d, index));
  return text_slice(&id);
}

static void put_path(struct text *href, struct slice path) {
  for (size_t i = 0; i < path.length; i++) {
    unsigned char c = (unsigned char)path.at[i];
    if ((c >= '-' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
        (c >= 'a' && c <= 'z'))
      text_putc(href, (char)c);
    else
      text_printf(href, "%%%02X", (unsigned)c);
  }
}

/* A link to the row's line: a relative reference for any file name. */
static struct slice item_href(struct diagram *d, const struct position *at) {
  struct text href = text_new(d->arena);
  struct slice name = at->source->name;
  if (d->c->inlined) {
    text_printf(&href, "#s%uL%u",
                (unsigned)(at->source - d->c->sources->all.at),
                (unsigned)at->line);
    return text_slice(&href);
  }
  if (!d->c->options->source_labels || name.length == 0 || *name.at == '<' ||
      slice_is(name, "-")) /* figures for papers do not link to files */
    return text_slice(&href);
  const char *links = d->c->options->links ? d->c->options->links : "";
  if (*name.at != '/' && (*links ? *links : *name.at) != '.')
    text_put(&href, "./"); /* so that no name looks like a URL scheme */
  if (*name.at != '/')
    put_path(&href, slice_of(links));
  put_path(&href, name);
  text_printf(&href, "#L%u", (unsigned)at->line);
  return text_slice(&href);
}

struct tip {
  struct diagram *d;
  struct text *out;
  put_fn *put;
  const char *newline;
  struct text line;
  bool begun;
};

static void end_line(struct tip *tip) {
  if (tip->begun && tip->line.length)
    text_put(tip->out, tip->newline);
  tip->begun = true;
  tip->put(tip->out, text_tamed(tip->d->arena, text_slice(&tip->line), false));
  tip->line.length = 0;
}

static void put_fact(struct tip *tip, int64_t value, const char *unit) {
  if (value == 0)
    return;
  text_count(&tip->line, value);
  if (unit[strlen(unit) - 1] == 's')
    put_plural(&tip->line, unit, value == 1);
  else
    text_put(&tip->line, unit);
  end_line(tip);
}

void item_tip(struct diagram *d, size_t index, struct text *out, put_fn *put,
              const char *newline) {
  const struct diagram_item *item = &d->items.at[index];
  const struct row *row = item_row(d, index);
  struct tip tip = {d, out, put, newline, text_new(d->arena), false};
  struct position at =
      sources_position(d->c->sources, item_node(d, index)->span.begin);
  struct text layer = text_new(d->arena);
  row_put_layer(&layer, d->c, row, true);
  row_put_name(&tip.line, d->c, row);
  text_put(&tip.line, layer.length ? ": " : "");
  text_puts(&tip.line, text_tamed(d->arena, text_slice(&layer), true));
  end_line(&tip);
  text_puts(&tip.line, shape_words(d, row_shape(d->c, row)));
  end_line(&tip);
  put_fact(&tip, row->cost.params, " parameters");
  put_fact(&tip, row->cost.macs, " MACs");
  if (item->times > 1)
    put_fact(&tip, item->times,
             item->varies ? " times, with different sizes"
                          : " times, each like this");
  if (d->c->inlined) /* a page shows its sources itself */
    text_printf(&tip.line, "line %u", (unsigned)at.line);
  else if (d->c->options->source_labels)
    text_printf(&tip.line, "%.*s:%u", SLICE_ARG(at.source->name),
                (unsigned)at.line);
  end_line(&tip);
}

/* The entry of a call is shown elsewhere: no id, no link. */
static void open_entry(struct diagram *d, size_t index) {
  scene_add(d->scene, (struct scene_item){.kind = SCENE_OPEN,
                                          .text = item_shape(d, index)});
}

void item_open(struct diagram *d, size_t index) {
  if (d->items.at[index].is_entry) {
    open_entry(d, index);
    return;
  }
  struct text tip = text_new(d->arena);
  struct position at =
      sources_position(d->c->sources, item_node(d, index)->span.begin);
  item_tip(d, index, &tip, text_puts, "\n");
  scene_add(d->scene, (struct scene_item){.kind = SCENE_OPEN,
                                          .text = text_slice(&tip),
                                          .id = item_id(d, index),
                                          .href = item_href(d, &at)});
}
