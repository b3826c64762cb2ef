/* Texts of a diagram's boxes and frames. */
#include <inttypes.h>
#include <math.h>

#include "codegen/plain.h"
#include "drawing/diagram/diagram.h"

const char *item_sign(const struct diagram *d, size_t item) {
  const struct row *row = item_row(d, item);
  const struct node *node = item_node(d, item);
  return row->group == NO_NODE && !d->items.at[item].is_entry &&
                 node_joins(node)
             ? node->kind->sign
             : NULL;
}

/* True for a chain that only moves values, named by its kinds or its call. */
static bool is_chain(const struct diagram *d, const struct row *row) {
  return row->end - row->first > 1 && row_only_moves(d, row);
}

/* The call of the def that consists of this row, if the row is a chain. */
static struct slice call_of_chain(const struct diagram *d,
                                  const struct row *row) {
  const struct model *model = d->c->model;
  int64_t group = model->nodes.at[row->first].group;
  if (group > 0 && is_chain(d, row) &&
      model->groups.at[group].first == row->first &&
      model->groups.at[group].end == row->end)
    return model->groups.at[group].call;
  return (struct slice){0};
}

/* Tails */

/* " bn relu": the text after a box's first layer. */
static struct slice tail_of(struct diagram *d, const struct row *row) {
  struct text head = text_new(d->arena), all = head;
  if (is_chain(d, row))
    return (struct slice){0};
  model_put_layer(&head, d->c->model, row->head, NULL);
  row_put_acting(&all, d->c, row, false);
  return slice_from(text_slice(&all), head.length);
}

/* The tail of an item if it is equal in all iterations. */
static struct slice common_tail(struct diagram *d, size_t index) {
  const struct diagram_item *item = &d->items.at[index];
  struct slice tail = tail_of(d, item_row(d, index));
  for (size_t i = 0; i < item_all_turns(item) && tail.length; i++)
    if (!slice_equal(tail, tail_of(d, &d->rows.at[item_any_row(item, i)])))
      return (struct slice){0};
  return tail;
}

enum { FEW = 6 }; /* boxes: a tail of fewer is not in the legend */

void diagram_find_tails(struct diagram *d) {
  size_t kinds = layer_kind_count();
  size_t *boxes = arena_alloc(d->arena, kinds + 1, sizeof *boxes);
  d->tails = arena_alloc(d->arena, kinds + 1, sizeof *d->tails);
  for (size_t i = 0; i < d->items.count && d->c->options->source_labels; i++) {
    size_t kind = d->items.at[i].kind;
    if (item_row(d, i)->group != NO_NODE || kind == kinds || item_sign(d, i) ||
        d->items.at[i].is_entry)
      continue;
    struct slice tail = common_tail(d, i);
    if (boxes[kind]++ == 0)
      d->tails[kind] = tail;
    else if (!slice_equal(tail, d->tails[kind]))
      d->tails[kind] = (struct slice){0};
  }
  for (size_t kind = 0; kind < kinds; kind++)
    if (boxes[kind] < FEW)
      d->tails[kind] = (struct slice){0};
}

/* Lines */

struct slice shape_words(struct diagram *d, const struct shape *shape) {
  struct text text = text_new(d->arena);
  shape_put_grouped(&text, shape, output_layout(d->c));
  return text_tamed(d->arena, text_slice(&text), true);
}

static void add_line(struct diagram_label *label, struct slice line,
                     int64_t width) {
  int most = (int)(sizeof label->lines / sizeof *label->lines);
  if (label->line_count == most || !line.length)
    return;
  label->lines[label->line_count++] = line;
  label->width = width > label->width ? width : label->width;
}

static void add_note(struct diagram_label *label, struct slice line) {
  int before = label->line_count;
  add_line(label, line, text_extent(line, SMALL_SIZE, false));
  label->note_count += label->line_count - before;
}

struct slice line_that_fits(struct slice words, int64_t size, int64_t most,
                            int64_t *width) {
  struct slice line = {words.at, 0};
  int64_t units = 0;
  for (size_t from = 0, i = 1; i <= words.length; i++) {
    if (i < words.length && words.at[i] != ' ')
      continue;
    units +=
        text_extent((struct slice){words.at + from, i - from}, 1000, false);
    from = i;
    if ((units * size + 999) / 1000 > most)
      break;
    bool sign = words.at[i - 1] == '\x97'; /* of ×, before its number */
    if (i == words.length || !sign) {
      line.length = i;
      *width = (units * size + 999) / 1000;
    }
  }
  return line;
}

/* Breaks long words at blanks; the last line takes the rest. */
static void add_words(struct diagram_label *label, struct slice words,
                      int64_t size, int64_t most) {
  while (words.length) {
    int64_t width;
    struct slice line = line_that_fits(words, size, most, &width);
    if (line.length == 0 || label->line_count == 3) {
      line = words;
      width = text_extent(words, size, false);
    }
    add_line(label, line, width);
    size_t used = line.length + (line.length < words.length);
    words = slice_from(words, used);
  }
}

static struct slice label_of(const struct diagram *d, size_t item) {
  const struct row *row = item_row(d, item);
  const struct node_name *name = row->group != NO_NODE
                                     ? &d->c->model->groups.at[row->group].name
                                     : &item_node(d, item)->name;
  bool word = name->ordinal && !name->repeated;
  return word ? (struct slice){0} : name_text(name);
}

enum { MOST_DIGITS = 8 }; /* of a number that is not rounded */

/* The length of a number with a fraction at the start of a text, or 0. */
static size_t real_length(struct slice text) {
  size_t whole = 0;
  while (whole < text.length && is_digit(text.at[whole]))
    whole++;
  size_t end = whole + 1; /* after the decimal point */
  while (end < text.length && is_digit(text.at[end]))
    end++;
  bool real = whole > 0 && end > whole + 1 && text.at[whole] == '.';
  return real ? end : 0;
}

/* Four digits, without trailing zeros. */
static void put_rounded(struct text *out, struct slice number) {
  double value = 0, parts = 1, scale = 1;
  bool fraction = false;
  for (size_t i = 0; i < number.length; i++)
    if (number.at[i] == '.') {
      fraction = true;
    } else {
      value = value * 10 + (number.at[i] - '0');
      parts *= fraction ? 10 : 1;
    }
  value /= parts;
  while (value * scale < 1000 && scale < 1e12)
    scale *= 10;
  text_real(out, round(value * scale) / scale);
}

/* Words whose long reals have four digits: 32**-0.5 as 0.1768. */
static struct slice rounded(struct arena *arena, struct slice words) {
  struct text out = text_new(arena);
  size_t length;
  for (; words.length; words.at += length, words.length -= length) {
    length = real_length(words);
    if (length > MOST_DIGITS) {
      put_rounded(&out, (struct slice){words.at, length});
      continue;
    }
    length += length == 0;
    text_bytes(&out, words.at, length);
  }
  return text_slice(&out);
}

/* "roll reshape permute": with figures, a chain would fill a box. */
static void put_kinds(struct diagram *d, struct text *out,
                      const struct row *row) {
  for (int64_t i = row->first; i < row->end; i++)
    text_printf(out, "%s%s", out->length ? " " : "",
                d->c->model->nodes.at[i].kind->name);
}

/* The layer as written; for a chain its call or its kinds. */
static void put_written(struct diagram *d, struct text *out,
                        const struct row *row) {
  struct slice call = call_of_chain(d, row);
  if (call.length) {
    text_puts(out, call);
    return;
  }
  if (is_chain(d, row))
    put_kinds(d, out, row);
  else
    row_put_acting(out, d->c, row, false);
}

/* The windows in which a call that is a box differs from another one, unless
 * its arguments show it. */
static void put_difference(struct diagram *d, struct text *out, int64_t group,
                           int64_t other) {
  const struct group *groups = d->c->model->groups.at;
  if (group != other && (!d->c->options->source_labels ||
                         slice_equal(groups[group].call, groups[other].call)))
    group_put_differences(out, d->c, group, other);
}

/* Compares with the drawn call, and in a repeat also with the last one. */
static void put_differences(struct diagram *d, struct text *out,
                            const struct diagram_item *item) {
  int64_t group = d->rows.at[item->row].group;
  const struct diagram_call *call = call_of_group(d, group);
  size_t length = out->length;
  if (!call)
    return;
  put_difference(d, out, group, call->group);
  if (out->length == length)
    put_difference(d, out, group, d->rows.at[item->last_row].group);
}

/* Where there is little room: ", /2" as in papers for ", stride 2". */
static void put_short(struct text *out, struct slice words) {
  static const char *const shorter[][2] = {{", stride ", ", /"},
                                           {"upsample ", "up "}};
  while (words.length) {
    const char *const *found = NULL;
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
      if (slice_begins(words, shorter[i][0]))
        found = shorter[i];
    if (found)
      text_put(out, found[1]);
    else
      text_putc(out, *words.at);
    words = slice_from(words, found ? strlen(found[0]) : 1);
  }
}

/* In plain words, which need no name from the source. */
static struct slice plain_words(struct diagram *d, size_t index,
                                const uint64_t *said) {
  const struct row *row = item_row(d, index);
  struct text text = text_new(d->arena);
  const char *sign = item_sign(d, index);
  struct slice call = call_of_chain(d, row);
  if (call.length)
    plain_put_call(&text, call);
  else
    row_put_plain(&text, d->c, row, said);
  put_differences(d, &text, &d->items.at[index]);
  struct slice words = text_tamed(d->arena, text_slice(&text), true);
  if (sign && row->end - row->first == 1)
    words = slice_of(sign);
  text = text_new(d->arena);
  if (tightness(d)->short_words)
    put_short(&text, rounded(d->arena, words));
  else
    text_puts(&text, rounded(d->arena, words));
  if (!text.length)
    row_put_name(&text, d->c, row);
  return text_slice(&text);
}

static struct slice layer_words(struct diagram *d, size_t index,
                                const uint64_t *said) {
  if (!d->c->options->source_labels)
    return plain_words(d, index, said);
  const struct row *row = item_row(d, index);
  struct text text = text_new(d->arena), layer = text;
  struct slice label = label_of(d, index);
  put_written(d, &layer, row);
  put_differences(d, &layer, &d->items.at[index]);
  struct slice written = text_slice(&layer);
  if (tightness(d)->few_tails && row->group == NO_NODE && !is_chain(d, row) &&
      d->items.at[index].kind < layer_kind_count())
    written = slice_without(written, d->tails[d->items.at[index].kind]);
  written = rounded(d->arena, text_tamed(d->arena, written, true));
  label = text_tamed(d->arena, label, false);
  if (label.length && !slice_equal(label, written)) {
    text_printf(&text, "%.*s%s", SLICE_ARG(label), written.length ? ": " : "");
  }
  const char *sign = item_sign(d, index);
  if (sign) { /* the rest is its tail */
    size_t word = strlen(item_node(d, index)->kind->name);
    text_put(&text, sign);
    written = slice_from(written, word);
  }
  text_puts(&text, written);
  if (!text.length)
    row_put_name(&text, d->c, row);
  return text_slice(&text);
}

/* The words of all iterations, if they differ. */
static struct slice turns_words(struct diagram *d, size_t index) {
  struct diagram_item *item = &d->items.at[index];
  const struct diagram_item all = *item;
  const struct row *row = item_row(d, index);
  bool any = row_may_vary(d, row) || row_only_moves(d, row);
  size_t turns = any ? item_all_turns(item) : item_turns(d, item);
  struct slice *words = arena_alloc(d->arena, turns + 1, sizeof *words);
  size_t nodes = (size_t)(row->end - row->first);
  uint64_t *said = arena_alloc(d->arena, nodes + 1, sizeof *said);
  for (size_t i = 0; i < turns; i++)
    row_find_varying(
        d->c, row,
        &d->rows.at[any ? item_any_row(&all, i) : item_turn_row(&all, i)],
        said);
  for (size_t i = 0; i < turns; i++) { /* as if it were this iteration */
    item->row = any ? item_any_row(&all, i) : item_turn_row(&all, i);
    words[i] = layer_words(d, index, said);
  }
  item->row = all.row;
  return merge_turns(d->arena, words, turns);
}

static void add_layer(struct diagram *d, struct diagram_label *label,
                      size_t index) {
  struct diagram_item *item = &d->items.at[index];
  struct text text = text_new(d->arena);
  const struct diagram_call *call = call_of_group(d, item_row(d, index)->group);
  struct slice *words =
      &item->words[tightness(d)->few_tails + tightness(d)->short_words];
  if (!words->at)
    *words = turns_words(d, index);
  text_puts(&text, *words);
  if (call)
    text_printf(&text, " (%c)", call->letter);
  if (item->opens_repeat)
    text_printf(&text, "  \xC3\x97 %" PRId64, item->stacked);
  add_words(label, text_slice(&text), tightness(d)->text, tightness(d)->line);
}

/* A note with the range over all iterations. */
static void put_note(struct diagram *d, struct diagram_label *label,
                     const struct diagram_item *item, unsigned note) {
  struct text text = text_new(d->arena);
  bool params = note == NETC_NOTE_PARAMS;
  int64_t least = INT64_MAX, most = 0;
  for (size_t i = 0; i < item_all_turns(item); i++) {
    const struct cost *cost = &d->rows.at[item_any_row(item, i)].cost;
    int64_t value = params ? cost->params : cost->macs;
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  if (most == 0)
    return;
  text_short_count(&text, least, params ? 'B' : 'G');
  if (least != most) {
    text_put(&text, "\xE2\x80\x93");
    text_short_count(&text, most, params ? 'B' : 'G');
  }
  if (d->has_units || d->c->options->notes != NETC_NOTE_PARAMS)
    put_plural(&text, params ? " parameters" : " MACs",
               least == 1 && most == 1);
  add_note(label, text_slice(&text));
}

static void add_output(struct diagram *d, struct diagram_label *label,
                       const struct diagram_item *item) {
  struct text text = text_new(d->arena);
  if (!item->output.at)
    return;
  text_put(&text, "output ");
  text_puts(&text, text_tamed(d->arena, item->output, false));
  if (item->times > 1)
    text_put(&text, " (the last)");
  add_note(label, text_slice(&text));
}

static void add_notes(struct diagram *d, struct diagram_label *label,
                      size_t index) {
  unsigned notes = tightness(d)->few_facts ? 0 : d->c->options->notes;
  if (notes & NETC_NOTE_PARAMS)
    put_note(d, label, &d->items.at[index], NETC_NOTE_PARAMS);
  if (notes & NETC_NOTE_MACS)
    put_note(d, label, &d->items.at[index], NETC_NOTE_MACS);
  if (notes & NETC_NOTE_BYTES && item_bytes(d, index) > 0) {
    struct text text = text_new(d->arena);
    text_size(&text, item_bytes(d, index), output_units(d->c), 1);
    add_note(label, text_slice(&text));
  }
}

static void add_warnings(struct diagram *d, struct diagram_label *label,
                         const struct row *row) {
  for (size_t i = 0; i < row->warning_count; i++) {
    struct text text = text_new(d->arena);
    enum slug slug = d->c->model->warnings.at[row->first_warning + i].slug;
    text_printf(&text, "! %s", slug_info(slug)->name);
    add_note(label, text_slice(&text));
  }
}

/* True if the output shape differs from the input's. */
static bool is_changed(const struct diagram *d,
                       const struct diagram_item *item) {
  const struct row *row = &d->rows.at[item->last_row];
  size_t from = item->link_count   ? d->links.at[item->first_link].from
                : item->stub_count ? d->stubs.at[item->first_stub].from
                                   : NO_ITEM;
  bool varies = !shape_equal(row_shape(d->c, row),
                             row_shape(d->c, &d->rows.at[item->row]));
  if (varies && (from != NO_ITEM || d->effort >= EFFORT_LOOPS))
    return item->ends_repeat; /* inside, it differs in each iteration */
  if (from == NO_ITEM)
    return true;
  return !shape_equal(row_shape(d->c, row),
                      row_shape(d->c, &d->rows.at[d->items.at[from].last_row]));
}

/* The shape, with the name that stubs use for the tensor. */
static struct slice out_with_sign(struct diagram *d,
                                  const struct diagram_item *item) {
  struct text text = text_new(d->arena);
  text_printf(&text, "%.*s%s%.*s", SLICE_ARG(item->sign),
              item->out.length ? ": " : "", SLICE_ARG(item->out));
  return text_slice(&text);
}

static const struct diagram_label *make_label(struct diagram *d, size_t index) {
  const struct diagram_item *item = &d->items.at[index];
  struct diagram_label *label = ARENA_NEW(d->arena, struct diagram_label);
  const char *sign = item_sign(d, index);
  const struct row *row = item_row(d, index);
  bool bare = item->is_entry ||
              (sign && row->end - row->first == 1 && !row->warning_count &&
               !item->output.at && !label_of(d, index).at);
  struct slice word =
      item->is_entry ? slice_of("in") : slice_of(sign ? sign : "");
  if (bare)
    add_line(label, word, text_extent(word, tightness(d)->text, false));
  else
    add_layer(d, label, index);
  if (!item->is_entry)
    add_output(d, label, item);
  add_notes(d, label, index);
  add_warnings(d, label, row);
  label->width += bare ? 0 : (tightness(d)->few_tails ? 8 : 12) * POINT;
  label->height = label->line_count * tightness(d)->leading + 5 * POINT;
  if (bare && label->line_count == 1)
    label->width = label->height = SIGN;
  return label;
}

void item_find_text(struct diagram *d, size_t index) {
  struct diagram_item *item = &d->items.at[index];
  if (!item->labels[d->level])
    item->labels[d->level] = make_label(d, index);
  item->label = item->labels[d->level];
  item->width = item->label->width;
  item->height = item->label->height;
  item->out = (struct slice){0};
  if (is_changed(d, item) && !tightness(d)->no_shapes &&
      !(tightness(d)->few_facts && item->in_branch))
    item->out = item_shape(d, index);
  if (item->sign.length)
    item->out = out_with_sign(d, item);
}

const struct diagram_label *source_label(struct diagram *d, size_t index) {
  const struct diagram_item *item = &d->items.at[index];
  struct diagram_label *label = ARENA_NEW(d->arena, struct diagram_label);
  struct text text = text_new(d->arena);
  if (item->sign.length)
    text_printf(&text, "%.*s: ", SLICE_ARG(item->sign));
  text_puts(&text, turns_words(d, index));
  add_words(label, text_slice(&text), tightness(d)->text, tightness(d)->line);
  if (item_node(d, index)->kind == &model_input_kind)
    add_note(label, item_shape(d, index));
  label->width += 12 * POINT;
  label->height = label->line_count * tightness(d)->leading + 5 * POINT;
  return label;
}

/* A block that is drawn once has the name of its boxes. */
static struct slice group_title(struct diagram *d, int64_t index, bool once) {
  struct text text = text_new(d->arena);
  const struct group *group = &d->c->model->groups.at[index];
  bool labelled = !group->name.ordinal || group->name.repeated;
  if (!d->c->options->source_labels) {
    struct text plain = text_new(d->arena);
    if (labelled && !(once && group->call.length))
      plain_put_name(&plain, name_text(&group->name));
    else if (group->call.length)
      plain_put_call(&plain, group->call);
    return text_tamed(d->arena, text_slice(&plain), true);
  }
  if (labelled)
    text_puts(&text, text_tamed(d->arena, name_text(&group->name), false));
  if (labelled && group->call.length)
    text_put(&text, ": ");
  text_puts(&text, text_tamed(d->arena, group->call, true));
  if (!text.length)
    text_puts(&text, text_tamed(d->arena, name_text(&group->name), false));
  return text_slice(&text);
}

/* The title of a group in all iterations of a loop around it. */
static struct slice turns_title(struct diagram *d,
                                const struct diagram_unit *unit) {
  const struct diagram_item *item = &d->items.at[unit->first];
  const struct model *model = d->c->model;
  size_t turns = item_all_turns(item);
  struct slice *titles = arena_alloc(d->arena, turns + 1, sizeof *titles);
  int up = 0;
  for (int64_t g = d->rows.at[item->row].owner; g > 0 && g != unit->group;
       g = model->groups.at[g].parent)
    up++;
  for (size_t i = 0; i < turns; i++) {
    int64_t g = d->rows.at[item_any_row(item, i)].owner;
    for (int k = 0; k < up && g > 0; k++)
      g = model->groups.at[g].parent;
    titles[i] = group_title(d, g > 0 ? g : unit->group, unit->call);
  }
  return turns > 1 ? merge_titles(d->arena, titles, turns)
                   : group_title(d, unit->group, unit->call);
}

struct slice frame_title(struct diagram *d, struct diagram_unit *unit) {
  struct text text = text_new(d->arena);
  if (unit->title.at)
    return unit->title;
  if (unit->call)
    text_printf(&text, "(%c) ", unit->call->letter);
  if (unit->group != NO_NODE)
    text_puts(&text, turns_title(d, unit));
  if (unit->count > 1)
    text_printf(&text, "%s\xC3\x97 %" PRId64, text.length ? "  " : "",
                unit->count);
  return unit->title = text_slice(&text);
}

struct slice item_shape(struct diagram *d, size_t index) {
  struct diagram_item *item = &d->items.at[index];
  if (!item->shape.at)
    item->shape = shape_words(d, row_shape(d->c, &d->rows.at[item->last_row]));
  return item->shape;
}
