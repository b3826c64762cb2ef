/*
 * Names of tensors, for stubs: the label of a row, which its box shows; else
 * the label of a group that ends with it, or a number. The last two are signs
 * where the tensor leaves its box. A loop that is drawn once has one name for
 * all iterations: "skip[1-29]".
 */
#include "drawing/diagram/diagram.h"

static bool is_labelled(const struct node_name *name) {
  return !name->ordinal || name->repeated;
}

/* The innermost label among the groups that end with a node. */
static struct slice label_of_groups(const struct diagram *d, int64_t index) {
  const struct model *model = d->c->model;
  for (int64_t g = model->nodes.at[index].group;
       g > 0 && model->groups.at[g].out == index;
       g = model->groups.at[g].parent)
    if (is_labelled(&model->groups.at[g].name))
      return text_tamed(d->arena, name_text(&model->groups.at[g].name), false);
  return (struct slice){0};
}

/* The label that the box of a node's row shows in the open net. */
static struct slice label_of_row(const struct diagram *d, int64_t node) {
  const struct row *row = &d->open.at[d->open.of_node[node]];
  const struct node *head = &d->c->model->nodes.at[row->head];
  if (head->kind == &model_input_kind || is_labelled(&head->name))
    return text_tamed(d->arena, name_text(&head->name), false);
  return (struct slice){0};
}

static struct slice label_of(const struct diagram *d, int64_t node) {
  struct slice label = label_of_row(d, node);
  return label.length ? label : label_of_groups(d, node);
}

bool item_has_name(const struct diagram *d, size_t item) {
  return label_of(d, item_row(d, item)->end - 1).length > 0;
}

/* The row that gives `node` to a reader: in the same drawing, or in the net. */
static size_t row_for(const struct diagram *d,
                      const struct diagram_item *reader, int64_t node) {
  return (size_t)row_of_node(d, section_of(d, reader->row), node);
}

/* The label of a loop's output in all iterations; `node` is in one of them. */
static struct slice labels_of_turns(const struct diagram *d, size_t row,
                                    int64_t node) {
  const struct diagram_item *item = &d->items.at[d->item_of_row[row]];
  size_t turns = item_turns(d, item);
  struct slice *names = arena_alloc(d->arena, turns + 1, sizeof *names);
  int64_t place = node - d->rows.at[row].first;
  if (turns < 2)
    return label_of(d, node);
  for (size_t i = 0; i < turns; i++)
    names[i] = label_of(d, d->rows.at[item_turn_row(item, i)].first + place);
  return merge_turns(d->arena, names, turns);
}

/* True if the text of a box begins with the label of its output. */
static bool is_shown(const struct diagram *d, const struct row *row,
                     int64_t node) {
  if (!d->c->options->source_labels) /* names are not shown */
    return d->c->model->nodes.at[row->head].kind == &model_input_kind;
  return row->group == NO_NODE
             ? label_of_row(d, node).length > 0
             : is_labelled(&d->c->model->groups.at[row->group].name);
}

/* The name of a node; if its box does not show it, a sign of the box. */
static struct slice find_name(struct diagram *d, size_t row, int64_t node,
                              int *signs) {
  struct diagram_item *item = &d->items.at[d->item_of_row[row]];
  struct slice label = label_of(d, node);
  bool shown = is_shown(d, &d->rows.at[row], node);
  if (!item->sign.length && label.length && !shown)
    item->sign = labels_of_turns(d, row, node);
  if (!item->sign.length && !label.length) {
    struct text text = text_new(d->arena);
    text_printf(&text, "[%d]", ++*signs);
    item->sign = text_slice(&text);
  }
  return label.length ? label : item->sign;
}

/* The name of a stub for all iterations of its reader. */
static struct slice name_of(struct diagram *d,
                            const struct diagram_item *reader,
                            const struct diagram_stub *stub, int *signs) {
  const struct model *model = d->c->model;
  size_t row = row_for(d, reader, stub->node), turns = item_turns(d, reader);
  const struct diagram_item *from = &d->items.at[d->item_of_row[row]];
  size_t all = item_turns(d, from);
  struct slice *names = arena_alloc(d->arena, turns + 1, sizeof *names);
  names[0] = find_name(d, row, stub->node, signs);
  /* Read after the loop, so all iterations are read. */
  if (all > 1 && row == from->row && names[0].length && *names[0].at != '[' &&
      reader->row > item_turn_row(from, all - 1))
    return labels_of_turns(d, row, stub->node);
  size_t count = 1;
  for (size_t i = 1; i < turns; i++) {
    const struct row *turn = &d->rows.at[item_turn_row(reader, i)];
    int64_t node = node_input(
        model, &model->nodes.at[turn->first + stub->reader], stub->input);
    row = row_for(d, reader, node);
    bool itself = d->item_of_row[row] == d->item_of_row[reader->row];
    if (!itself || label_of(d, node).length)
      names[count++] = find_name(d, row, node, signs);
  }
  return count > 1 ? merge_turns(d->arena, names, count) : names[0];
}

/* The number of an input that only some calls read, not the entry; or of one
 * that all read, but whose name is nowhere. */
static struct slice number_input(struct diagram *d,
                                 const struct diagram_item *reader,
                                 int64_t node, bool shared) {
  const struct diagram_call *call = section_of(d, reader->row)->call;
  size_t count = !call ? 0 : shared ? call->shared_count : call->input_count;
  struct text text = text_new(d->arena);
  for (size_t i = 0; i < count; i++)
    if ((shared ? call->shared : call->inputs)[i] == node)
      text_printf(&text, "in %zu", (shared ? call->input_count : 0) + i + 2);
  return text_slice(&text);
}

/* True if the box that gives a tensor says its name, or is it. */
static bool is_named(const struct diagram *d, const struct diagram_item *reader,
                     const struct diagram_stub *stub) {
  size_t row = row_for(d, reader, stub->node);
  const struct diagram_item *from = &d->items.at[d->item_of_row[row]];
  return is_shown(d, &d->rows.at[row], stub->node) ||
         slice_equal(from->sign, stub->name);
}

void diagram_name_stubs(struct diagram *d) {
  int signs = 0;
  for (size_t i = 0; i < d->items.count; i++)
    d->items.at[i].sign = (struct slice){0};
  for (size_t i = 0; i < d->items.count; i++)
    for (size_t k = 0; k < d->items.at[i].stub_count; k++) {
      const struct diagram_item *item = &d->items.at[i];
      struct diagram_stub *stub = &d->stubs.at[item->first_stub + k];
      stub->name = number_input(d, item, stub->node, false);
      if (!stub->name.length) {
        stub->name = name_of(d, item, stub, &signs);
        if (d->effort == EFFORT_BLOCKS && !is_named(d, item, stub))
          stub->name = number_input(d, item, stub->node, true);
      }
    }
}
