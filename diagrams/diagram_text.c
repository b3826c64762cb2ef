/* What stands in a diagram's boxes and on its frames, and how they are filled.
 */
#include <inttypes.h>
#include <stdio.h>

#include "diagrams/diagram.h"
#include "diagrams/palette.h"

enum { LINE = 11 * POINT };

static const struct node *item_node(const struct diagram *d, size_t item) {
  return &d->c->model->nodes.at[item_row(d, item)->head];
}

const char *item_sign(const struct diagram *d, size_t item) {
  const struct row *row = item_row(d, item);
  const struct node *node = item_node(d, item);
  return row->group == NO_NODE && node_joins(node) ? node->kind->sign : NULL;
}

/* Fills */

int family_of(const struct layer_kind *kind) {
  const char *before = "";
  int families = 0;
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *known = layer_kind_at(i);
    if (strcmp(known->family, before) != 0) {
      before = known->family;
      families++;
    }
    if (known == kind)
      return families - 1;
  }
  return NO_NODE;
}

static int64_t heat_of(const struct diagram *d, size_t item) {
  const struct row *row = item_row(d, item);
  int64_t sum = 0;
  switch (d->options->tint) {
  case TINT_MACS: return row->cost.macs;
  case TINT_PARAMS: return row->cost.params;
  case TINT_SAVED:
    for (int64_t i = row->first; i < row->end; i++)
      sum += d->c->memory.saved_by_node[i];
    return sum;
  default: return 0;
  }
}

/* Sixths of the most: white is nothing at all. */
static int heat_step(const struct diagram *d, int64_t heat) {
  if (heat <= 0 || d->most_heat <= 0)
    return 0;
  int step = 1 + (int)(heat / (d->most_heat / (PALETTE_HEATS - 1) + 1));
  return step < PALETTE_HEATS ? step : PALETTE_HEATS - 1;
}

int item_fill(const struct diagram *d, size_t item) {
  const struct row *row = item_row(d, item);
  const struct layer_kind *kind = item_node(d, item)->kind;
  if (d->options->tint != TINT_OP)
    return palette_heat(heat_step(d, heat_of(d, item)));
  if (row->group != NO_NODE)
    return 0xf4f4f4;
  return kind == &model_input_kind ? 0xffffff : palette_fill(family_of(kind));
}

int64_t item_bytes(const struct diagram *d, size_t item) {
  const struct row *row = &d->rows.at[d->items.at[item].last_row];
  const struct shape *shape = row_shape(d->c, row);
  int64_t count = 1, bytes;
  for (int i = 0; i < shape->rank; i++)
    if (__builtin_mul_overflow(count, shape->dim[i], &count))
      return INT64_MAX;
  return element_bytes(d->c->settings->infer.dtype, count, &bytes) ? bytes
                                                                   : INT64_MAX;
}

void diagram_find_scales(struct diagram *d) {
  for (size_t i = 0; i < d->items.count; i++) {
    int64_t bytes = item_bytes(d, i), heat = heat_of(d, i);
    d->most_bytes = bytes > d->most_bytes ? bytes : d->most_bytes;
    d->most_heat = heat > d->most_heat ? heat : d->most_heat;
  }
}

/* Lines */

static struct slice shape_words(struct diagram *d, const struct shape *shape) {
  struct text text = text_new(d->arena);
  shape_put(&text, shape, d->options->layout);
  return text_tamed(d->arena, text_slice(&text), true);
}

static void add_line(struct item *item, struct slice line) {
  int most = (int)(sizeof item->lines / sizeof *item->lines);
  if (item->line_count < most && line.length)
    item->lines[item->line_count++] = line;
}

/* Breaks at blanks what would make a box too wide; the last line takes all. */
static void add_words(struct item *item, struct slice words, int64_t size,
                      int64_t most) {
  while (item->line_count < 3 && text_extent(words, size, false) > most) {
    size_t cut = 0;
    for (size_t i = 1; i < words.length; i++) {
      struct slice head = {words.at, i};
      if (words.at[i] == ' ' && text_extent(head, size, false) <= most)
        cut = i;
    }
    if (cut == 0)
      break;
    add_line(item, (struct slice){words.at, cut});
    words.at += cut + 1;
    words.length -= cut + 1;
  }
  add_line(item, words);
}

static struct slice label_of(const struct diagram *d, size_t item) {
  const struct row *row = item_row(d, item);
  const struct node_name *name = row->group != NO_NODE
                                     ? &d->c->model->groups.at[row->group].name
                                     : &item_node(d, item)->name;
  bool word = name->ordinal && !name->repeated;
  return word ? (struct slice){0} : name->text;
}

static struct slice output_of(const struct diagram *d, size_t item) {
  const struct model *model = d->c->model;
  for (size_t i = 0; i < model->outputs.count; i++) {
    const struct output *output = &model->outputs.at[i];
    if (d->item_of_row[d->rows.of_node[output->node]] == item &&
        output->name.at)
      return output->name;
  }
  return (struct slice){0};
}

static void add_layer(struct diagram *d, struct item *item, size_t index) {
  const struct row *row = item_row(d, index);
  struct text text = text_new(d->arena), layer = text;
  struct slice label = label_of(d, index);
  row_put_layer(&layer, d->c, row, false);
  struct slice written = text_tamed(d->arena, text_slice(&layer), true);
  label = text_tamed(d->arena, label, false);
  if (label.length && !slice_equal(label, written)) {
    text_puts(&text, label);
    text_put(&text, written.length ? ": " : "");
  }
  const char *sign = item_sign(d, index);
  if (sign) { /* what follows its word is its tail */
    size_t word = strlen(item_node(d, index)->kind->name);
    text_put(&text, sign);
    written.at += word;
    written.length -= word;
  }
  text_puts(&text, written);
  if (!text.length)
    row_put_name(&text, d->c, row);
  if (item->opens_repeat)
    text_printf(&text, "  \xC3\x97 %" PRId64, item->times);
  add_words(item, text_slice(&text), tightness(d)->text, tightness(d)->line);
}

/* " parameters", or one of them. */
static void put_unit(struct text *out, const char *unit, bool one) {
  text_bytes(out, unit, strlen(unit) - (one ? 1 : 0));
}

static void put_note(struct diagram *d, struct item *item, int64_t first,
                     int64_t last, const char *unit) {
  struct text text = text_new(d->arena);
  if (first == 0 && last == 0)
    return;
  text_count(&text, first);
  if (first != last) {
    text_put(&text, "\xE2\x80\x93"); /* the first and the last repeat */
    text_count(&text, last);
  }
  if (!tightness(d)->bare_numbers || d->options->notes != NOTE_PARAMS)
    put_unit(&text, unit, first == 1 && last == 1);
  add_line(item, text_slice(&text));
}

static void add_output(struct diagram *d, struct item *item, size_t index) {
  struct slice output = output_of(d, index);
  if (output.at) {
    struct text text = text_new(d->arena);
    text_put(&text, "output ");
    text_puts(&text, text_tamed(d->arena, output, false));
    if (item->times > 1)
      text_put(&text, " (the last)");
    add_line(item, text_slice(&text));
    item->note_count++;
  }
}

static void add_notes(struct diagram *d, struct item *item, size_t index) {
  const struct row *first = item_row(d, index);
  const struct row *last = &d->rows.at[item->last_row];
  unsigned notes = d->options->notes;
  int before = item->line_count;
  if (tightness(d)->few_facts)
    notes = 0;
  if (notes & NOTE_PARAMS)
    put_note(d, item, first->cost.params, last->cost.params, " parameters");
  if (notes & NOTE_MACS)
    put_note(d, item, first->cost.macs, last->cost.macs, " MACs");
  if (notes & NOTE_BYTES && item_bytes(d, index) > 0) {
    struct text text = text_new(d->arena);
    text_size(&text, item_bytes(d, index), d->options->units, 1);
    add_line(item, text_slice(&text));
  }
  item->note_count += item->line_count - before;
}

static void add_warnings(struct diagram *d, struct item *item, size_t index) {
  const struct row *row = item_row(d, index);
  for (size_t i = 0; i < row->warning_count; i++) {
    struct text text = text_new(d->arena);
    enum slug slug = d->c->model->warnings.at[row->first_warning + i].slug;
    text_printf(&text, "! %s", slug_info(slug)->name);
    add_line(item, text_slice(&text));
    item->note_count++;
  }
}

/* Whether the shape that leaves differs from that of what comes in. */
static bool is_changed(const struct diagram *d, const struct item *item) {
  const struct row *row = &d->rows.at[item->last_row];
  if (item->link_count == 0)
    return true;
  size_t from = d->links.at[item->first_link].from;
  if (!shape_equal(row_shape(d->c, row),
                   row_shape(d->c, &d->rows.at[item->row])))
    return item->ends_repeat; /* inside it is another one at each turn */
  return !shape_equal(row_shape(d->c, row),
                      row_shape(d->c, &d->rows.at[d->items.at[from].last_row]));
}

void item_find_text(struct diagram *d, size_t index) {
  struct item *item = &d->items.at[index];
  const char *sign = item_sign(d, index);
  const struct row *row = item_row(d, index);
  bool bare = sign && row->end - row->first == 1 && !row->warning_count &&
              !output_of(d, index).at && !label_of(d, index).at;
  item->line_count = item->note_count = 0;
  if (bare)
    add_line(item, slice_of(sign));
  else
    add_layer(d, item, index);
  add_output(d, item, index);
  add_notes(d, item, index);
  add_warnings(d, item, index);
  item->out = (struct slice){0};
  if (is_changed(d, item) && !(tightness(d)->few_facts && item->in_branch))
    item->out = shape_words(d, row_shape(d->c, &d->rows.at[item->last_row]));
  item->width = item->height = 0;
  for (int i = 0; i < item->line_count; i++) {
    bool note = i >= item->line_count - item->note_count;
    int64_t width = text_extent(item->lines[i],
                                note ? SMALL_SIZE : tightness(d)->text, false);
    item->width = width > item->width ? width : item->width;
  }
  item->width += bare ? 0 : 12 * POINT;
  item->height = item->line_count * LINE + 5 * POINT;
  if (bare && item->line_count == 1)
    item->width = item->height = SIGN;
}

struct slice frame_title(struct diagram *d, const struct unit *unit) {
  struct text text = text_new(d->arena);
  if (unit->group != NO_NODE) {
    const struct group *group = &d->c->model->groups.at[unit->group];
    bool labelled = !group->name.ordinal || group->name.repeated;
    if (labelled)
      text_puts(&text, text_tamed(d->arena, group->name.text, false));
    if (labelled && group->call.length)
      text_put(&text, ": ");
    text_puts(&text, text_tamed(d->arena, group->call, true));
    if (!text.length)
      text_puts(&text, text_tamed(d->arena, group->name.text, false));
  }
  if (unit->count > 1)
    text_printf(&text, "%s\xC3\x97 %" PRId64, text.length ? "  " : "",
                unit->count);
  return text_slice(&text);
}

/* Tooltips, ids and links */

/* A name that XML takes as an id: others as _ and their bytes. */
static struct slice item_id(struct diagram *d, size_t index) {
  struct text name = text_new(d->arena), id = name;
  row_put_name(&name, d->c, item_row(d, index));
  text_put(&id, "n.");
  for (size_t i = 0; i < name.length; i++) {
    char c = name.at[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 (c >= '0' && c <= '9') || c == '.';
    if (plain)
      text_putc(&id, c);
    else
      text_printf(&id, "_%02x", (unsigned)(unsigned char)c);
  }
  return text_slice(&id);
}

/* Where the row stands: a relative reference, whatever the file is called. */
static struct slice item_href(struct diagram *d, const struct position *at) {
  struct text href = text_new(d->arena);
  struct slice name = at->source->name;
  if (d->options->inlined) {
    text_printf(&href, "#s%uL%u",
                (unsigned)(at->source - d->c->sources->all.at),
                (unsigned)at->line);
    return text_slice(&href);
  }
  if (name.length == 0 || *name.at == '<' || slice_is(name, "-"))
    return text_slice(&href);
  if (*name.at != '/' && *name.at != '.')
    text_put(&href, "./"); /* so that no name is a scheme */
  for (size_t i = 0; i < name.length; i++) {
    unsigned char c = (unsigned char)name.at[i];
    if ((c >= '-' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
        (c >= 'a' && c <= 'z'))
      text_putc(&href, (char)c);
    else
      text_printf(&href, "%%%02X", (unsigned)c);
  }
  text_printf(&href, "#L%u", (unsigned)at->line);
  return text_slice(&href);
}

struct slice item_shape(struct diagram *d, size_t index) {
  return shape_words(d,
                     row_shape(d->c, &d->rows.at[d->items.at[index].last_row]));
}

struct tip {
  struct diagram *d;
  struct text *out;
  put_fn *put;
  const char *newline;
  struct text line;
};

static void end_line(struct tip *tip, const char *newline) {
  tip->put(tip->out, text_tamed(tip->d->arena, text_slice(&tip->line), false));
  text_put(tip->out, newline);
  tip->line.length = 0;
}

static void put_fact(struct tip *tip, int64_t value, const char *unit) {
  if (value == 0)
    return;
  text_count(&tip->line, value);
  if (unit[strlen(unit) - 1] == 's')
    put_unit(&tip->line, unit, value == 1);
  else
    text_put(&tip->line, unit);
  end_line(tip, tip->newline);
}

void item_tip(struct diagram *d, size_t index, struct text *out, put_fn *put,
              const char *newline) {
  const struct item *item = &d->items.at[index];
  const struct row *row = item_row(d, index);
  struct tip tip = {d, out, put, newline, text_new(d->arena)};
  struct position at =
      sources_position(d->c->sources, item_node(d, index)->span.begin);
  struct text layer = text_new(d->arena);
  row_put_layer(&layer, d->c, row, true);
  row_put_name(&tip.line, d->c, row);
  text_put(&tip.line, layer.length ? ": " : "");
  text_puts(&tip.line, text_tamed(d->arena, text_slice(&layer), true));
  end_line(&tip, newline);
  text_puts(&tip.line, shape_words(d, row_shape(d->c, row)));
  end_line(&tip, newline);
  put_fact(&tip, row->cost.params, " parameters");
  put_fact(&tip, row->cost.macs, " MACs");
  if (item->times > 1)
    put_fact(&tip, item->times,
             item->varies ? " times, of different sizes"
                          : " times, each like this");
  if (!d->options->inlined) /* a page names its sources by itself */
    text_puts(&tip.line, at.source->name);
  text_printf(&tip.line, d->options->inlined ? "line %u" : ":%u",
              (unsigned)at.line);
  end_line(&tip, "");
}

void item_open(struct diagram *d, size_t index) {
  struct text tip = text_new(d->arena);
  struct position at =
      sources_position(d->c->sources, item_node(d, index)->span.begin);
  item_tip(d, index, &tip, text_puts, "\n");
  scene_add(d->scene, (struct scene_item){.kind = SCENE_OPEN,
                                          .text = text_slice(&tip),
                                          .id = item_id(d, index),
                                          .href = item_href(d, &at)});
}
