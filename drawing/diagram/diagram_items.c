/*
 * Items: one for each box of a diagram. Rows with equal repeats share one.
 * Repeats are inside a group or hold whole groups; they never cross its border.
 */

#include "drawing/diagram/diagram.h"

const struct row *item_row(const struct diagram *d, size_t item) {
  return &d->rows.at[d->items.at[item].row];
}

/* The group directly inside `outer` that holds a group; NO_NODE: none. */
static int64_t group_inside(const struct model *model, int64_t outer,
                            int64_t group) {
  while (group > 0 && model->groups.at[group].parent != outer)
    group = model->groups.at[group].parent;
  return group > 0 ? group : NO_NODE;
}

static struct diagram_pieces find_pieces(struct diagram *d, size_t first,
                                         size_t end, int64_t group) {
  struct diagram_pieces pieces = {0};
  const struct model *model = d->c->model;
  for (size_t row = first; row < end;) {
    struct diagram_piece piece = {row, row + 1, NO_NODE};
    int64_t inside = d->rows.at[row].owner == group
                         ? NO_NODE
                         : group_inside(model, group, d->rows.at[row].owner);
    if (inside != NO_NODE) {
      piece.group = inside;
      while (
          piece.end < end &&
          (d->rows.at[piece.end].owner == inside ||
           group_inside(model, inside, d->rows.at[piece.end].owner) != NO_NODE))
        piece.end++;
    }
    *VEC_PUSH(d->arena, &pieces) = piece;
    row = piece.end;
  }
  diagram_sum_pieces(d, &pieces);
  return pieces;
}

/* Units */

static struct diagram_unit *make_units(struct diagram *d,
                                       const struct diagram_pieces *p,
                                       size_t from, size_t to);

/* Finds the kind and family of a layer; a kind outside the table is looked
 * up. */
static void find_kind(struct diagram *d, struct diagram_item *item) {
  const struct row *row = &d->rows.at[item->row];
  const struct layer_kind *kind = d->c->model->nodes.at[row->head].kind;
  size_t count = layer_kind_count();
  while (item->kind < count && layer_kind_at(item->kind) != kind)
    item->kind++;
  int *family = &d->families[item->kind];
  if (*family == 0 || item->kind == count)
    *family = 1 + family_of(kind);
  item->family = *family - 1;
}

static void add_item(struct diagram *d, size_t row, struct diagram_unit *unit) {
  struct diagram_item *item = VEC_PUSH(d->arena, &d->items);
  *item = (struct diagram_item){
      .row = row, .last_row = row, .times = 1, .reader = -1};
  find_kind(d, item);
  d->item_of_row[row] = unit->first;
}

static void fill_unit(struct diagram *d, struct diagram_unit *unit,
                      const struct diagram_piece *piece) {
  unit->first = d->items.count;
  unit->group = piece->group;
  if (piece->group == NO_NODE) {
    add_item(d, piece->first, unit);
  } else {
    struct diagram_pieces inner =
        find_pieces(d, piece->first, piece->end, piece->group);
    unit->child = make_units(d, &inner, 0, inner.count);
  }
  unit->end = d->items.count;
}

/* Merges the rows of all iterations into those of the first. */
static void share_turns(struct diagram *d, const struct diagram_unit *unit,
                        size_t first, size_t length) {
  for (size_t i = unit->first; i < unit->end; i++) {
    struct diagram_item *item = &d->items.at[i];
    item->last_row += ((size_t)unit->count - 1) * length;
    item->times *= unit->count;
    item->varies |= unit->varies;
    if (item->nested_count < MOST_NESTED)
      item->nested[item->nested_count++] =
          (struct diagram_turns){length, (size_t)unit->count, unit->varies};
    if (item->turns == 0) {
      item->turn = first;
      item->stride = length;
      item->turns = (size_t)unit->count;
    }
  }
  d->items.at[unit->end - 1].ends_repeat |= unit->varies;
  for (size_t turn = 1; turn < (size_t)unit->count; turn++)
    for (size_t i = 0; i < length; i++)
      d->item_of_row[first + turn * length + i] = d->item_of_row[first + i];
}

static struct diagram_unit *make_units(struct diagram *d,
                                       const struct diagram_pieces *p,
                                       size_t from, size_t to) {
  struct diagram_unit *list = NULL, **tail = &list;
  for (size_t at = from; at < to;) {
    struct diagram_run run = diagram_find_run(d, p, at, to);
    struct diagram_unit *unit = ARENA_NEW(d->arena, struct diagram_unit);
    size_t first = p->at[at].first;
    size_t length = p->at[at + run.period - 1].end - first;
    unit->group = NO_NODE;
    unit->first = d->items.count;
    if (run.period == 1)
      fill_unit(d, unit, &p->at[at]);
    else
      unit->child = make_units(d, p, at, at + run.period);
    unit->end = d->items.count;
    unit->count = (int64_t)run.count;
    unit->varies = run.varies;
    if (run.count > 1)
      share_turns(d, unit, first, length);
    *tail = unit;
    tail = &unit->next;
    at += run.period * run.count;
  }
  return list;
}

/* Marks a single box in a repeat as a stack. */
void diagram_mark_repeat(struct diagram *d, const struct diagram_unit *unit) {
  struct diagram_item *item = &d->items.at[unit->first];
  item->stacked = 1;
  for (; unit; unit = unit->child)
    item->stacked *= unit->count;
  item->opens_repeat = item->stacked > 1;
}

/* Links */

/* Adds a stub for an input from outside of the drawing or from a distant
 * box. */
static void add_stub(struct diagram *d, struct diagram_item *item,
                     struct diagram_stub stub) {
  if (d->reader_of_node[stub.node] == d->reading)
    return;
  d->reader_of_node[stub.node] = d->reading;
  *VEC_PUSH(d->arena, &d->stubs) = stub;
  item->stub_count++;
}

/* True if the call that is drawn once shows what all equal calls read. An
 * overview and a grid show it at their boxes, too, the grid only as a line. */
static bool is_shown_once(const struct diagram *d, const struct row *row,
                          int64_t node, bool cut) {
  const struct diagram_call *call = call_of_group(d, row->group);
  if ((d->effort == EFFORT_BLOCKS || d->grids) && !(d->grids && cut) &&
      row < &d->rows.at[d->sections.at[0].end])
    return false;
  for (size_t i = 0; call && i < call->shared_count; i++)
    if (call->shared[i] == node)
      return true;
  return false;
}

/* Compares a read in the first iteration of a repeat with the second. */
static void compare_turns(const struct diagram *d,
                          const struct diagram_item *item,
                          const struct diagram_stub *read,
                          struct diagram_link *link) {
  const struct model *model = d->c->model;
  const struct diagram_section *section = section_of(d, item->row);
  if (item->turns < 2)
    return;
  const struct row *next = &d->rows.at[item->row + item->stride];
  const struct node *reader = &model->nodes.at[next->first + read->reader];
  link->constant = node_input(model, reader, read->input) == read->node;
  link->carried = !link->constant &&
                  row_of_node(d, section, read->node) < (int64_t)item->turn;
}

static void find_link(struct diagram *d, size_t index, int64_t reader, int k) {
  struct diagram_item *item = &d->items.at[index];
  const struct row *row = &d->rows.at[item->row];
  const struct model *model = d->c->model;
  int64_t node = node_input(model, &model->nodes.at[reader], k);
  struct diagram_stub stub = {.from = NO_ITEM,
                              .node = node,
                              .reader = reader - row->first,
                              .input = k,
                              .source = NO_ITEM};
  const struct diagram_section *section = section_of(d, item->row);
  int64_t from = row_of_node(d, section, node);
  if (node >= row->first && node < row->end)
    return;
  if (from < (int64_t)section->first || from >= (int64_t)section->end) {
    add_stub(d, item, stub);
    return;
  }
  size_t other = d->item_of_row[from];
  bool cut = d->cut && d->cut[d->link_count];
  if (other >= index || d->reader_of_item[other] == d->reading ||
      is_shown_once(d, row, node, false))
    return;
  d->reader_of_item[other] = d->reading;
  size_t number = d->link_count++;
  if (is_shown_once(d, row, node, cut))
    return;
  if (cut) {
    stub.from = other;
    add_stub(d, item, stub);
    return;
  }
  struct diagram_link link = {.from = other, .node = node, .number = number};
  compare_turns(d, item, &stub, &link);
  *VEC_PUSH(d->arena, &d->links) = link;
  item->link_count++;
  d->items.at[other].reader = (int64_t)index;
}

void diagram_find_links(struct diagram *d) {
  const struct model *model = d->c->model;
  d->links.count = d->stubs.count = d->link_count = 0;
  for (size_t i = 0; i < d->items.count; i++) {
    struct diagram_item *item = &d->items.at[i];
    const struct row *row = &d->rows.at[item->row];
    item->first_link = d->links.count;
    item->first_stub = d->stubs.count;
    item->link_count = item->stub_count = 0;
    item->reader = -1;
    item->in_branch = false;
    d->reading++;
    if (item->is_entry)
      continue;
    for (int64_t node = row->first; node < row->end; node++)
      for (int k = 0; k < model->nodes.at[node].input_count; k++)
        find_link(d, i, node, k);
  }
}

static struct diagram_unit *new_unit(struct diagram *d,
                                     struct diagram_unit unit) {
  struct diagram_unit *new = ARENA_NEW(d->arena, struct diagram_unit);
  *new = unit;
  new->first = d->items.count;
  new->count = 1;
  return new;
}

/* The units of a call drawn once: its entry, and a frame around the rest. */
static struct diagram_unit *call_units(struct diagram *d,
                                       const struct diagram_section *s) {
  size_t first = s->first;
  struct diagram_unit *entry = NULL;
  if (s->call->entry != NO_NODE) {
    entry = new_unit(d, (struct diagram_unit){.group = NO_NODE});
    add_item(d, first++, entry);
    d->items.at[entry->first].is_entry = true;
    entry->end = d->items.count;
  }
  struct diagram_unit *unit = new_unit(
      d, (struct diagram_unit){.group = s->call->group, .call = s->call});
  struct diagram_pieces pieces = find_pieces(d, first, s->end, s->call->group);
  unit->child = make_units(d, &pieces, 0, pieces.count);
  unit->end = d->items.count;
  if (!entry)
    return unit;
  entry->next = unit;
  return entry;
}

/* Marks outputs of the net and the families of layers. */
static void mark_items(struct diagram *d) {
  const struct model *model = d->c->model;
  memset(d->shown, 0, sizeof d->shown);
  for (size_t i = 0; i < d->items.count; i++) {
    const struct diagram_item *item = &d->items.at[i];
    if (item_row(d, i)->group == NO_NODE && !item->is_entry &&
        item->family >= 0 && item->family < MOST_FAMILIES)
      d->shown[item->family] = item_node(d, i)->kind->family;
  }
  for (size_t i = model->outputs.count; i-- > 0 && d->items.count;) {
    const struct output *output = &model->outputs.at[i];
    struct diagram_item *item =
        &d->items.at[d->item_of_row[d->rows.of_node[output->node]]];
    if (output->name.at && !(output->train_only && item->times > 1))
      item->output = output->name;
  }
}

void diagram_find_items(struct diagram *d) {
  const struct diagram_section *net = &d->sections.at[0];
  struct diagram_pieces all = find_pieces(d, 0, net->end, 0);
  diagram_open_search(d);
  d->items.count = 0;
  d->cut = NULL;
  d->units = make_units(d, &all, 0, all.count);
  struct diagram_unit **tail = &d->units;
  for (size_t i = 1; i < d->sections.count; i++) {
    while (*tail)
      tail = &(*tail)->next;
    *tail = call_units(d, &d->sections.at[i]);
  }
  mark_items(d);
  diagram_find_links(d);
}
