/*
 * Rows of a diagram: those of the net, where a tail belongs to the row before
 * it. A call that is drawn once is one row. After the rows of the net, each
 * call that is drawn has a section of rows.
 */
#include "drawing/diagram/diagram.h"

#include "base/hash.h"
#include "sema/repeat/iteration.h"

static bool node_is_of(const struct node *node, const char *family) {
  return node->kind->family && strcmp(node->kind->family, family) == 0;
}

bool row_may_vary(const struct diagram *d, const struct row *row) {
  if (row->group != NO_NODE)
    return false;
  for (int64_t i = row->first; i < row->end; i++)
    if (model_may_vary(d->c->model->nodes.at[i].kind))
      return true;
  return false;
}

/* Leaves out arguments that do not make a block different. */
static void put_common(const struct diagram *d, struct text *out,
                       const struct row *row) {
  const struct model *model = d->c->model;
  for (int64_t i = row->first; i < row->end; i++) {
    text_putc(out, ' ');
    model_put_common(out, model, i,
                     i != row->head && model->nodes.at[i].head != i);
  }
}

/*
 * Hashes rows. Shifted windows in every other block make no difference: a row
 * that only moves values is equal to any other with its shapes.
 */
static void hash_rows(struct diagram *d) {
  struct text text = text_new(d->arena);
  for (size_t i = 0; i < d->rows.count; i++) {
    text.length = 0;
    if (row_only_moves(d, &d->rows.at[i]))
      text_put(&text, "moves");
    else if (row_may_vary(d, &d->rows.at[i]))
      put_common(d, &text, &d->rows.at[i]);
    else
      row_put_acting(&text, d->c, &d->rows.at[i], false);
    d->hash_of_row[i] = hash_text(HASH_TEXT, text_slice(&text));
  }
}

const struct diagram_section *section_of(const struct diagram *d, size_t row) {
  size_t i = 0;
  while (row >= d->sections.at[i].end)
    i++;
  return &d->sections.at[i];
}

/* The row that gives a node's tensor to rows of a section. */
int64_t row_of_node(const struct diagram *d, const struct diagram_section *s,
                    int64_t node) {
  if (s->call) {
    const struct group *group = &d->c->model->groups.at[s->call->group];
    if (node == s->call->entry)
      return (int64_t)s->first;
    if (node >= group->first && node < group->end)
      return s->row_of[node - group->first];
  }
  return d->rows.of_node[node];
}

/* Finds the last reader of each row; an output is read after all rows. */
static void find_readers(struct diagram *d) {
  const struct model *model = d->c->model;
  for (size_t i = 0; i < d->rows.count; i++)
    d->reader_of_row[i] = -1;
  for (size_t s = 0; s < d->sections.count; s++) {
    const struct diagram_section *section = &d->sections.at[s];
    size_t row = section->first;
    if (section->call && section->call->entry != NO_NODE)
      row++; /* it only represents its source */
    for (; row < section->end; row++)
      for (int64_t i = d->rows.at[row].first; i < d->rows.at[row].end; i++)
        for (int k = 0; k < model->nodes.at[i].input_count; k++) {
          int64_t from = row_of_node(d, section,
                                     node_input(model, &model->nodes.at[i], k));
          if (from >= (int64_t)section->first && from != (int64_t)row &&
              d->reader_of_row[from] < (int64_t)row)
            d->reader_of_row[from] = (int64_t)row;
        }
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    d->reader_of_row[d->rows.of_node[model->outputs.at[i].node]] = INT64_MAX;
}

/* A node that only moves values, without changing any. */
static bool node_moves(const struct diagram *d, int64_t index) {
  const struct model *model = d->c->model;
  const struct node *node = &model->nodes.at[index];
  return node_is_of(node, "Shape") && node->input_count == 1 &&
         !node->kind->parts &&
         shape_values(node->out) ==
             shape_values(model->nodes.at[node_input(model, node, 0)].out);
}

bool row_only_moves(const struct diagram *d, const struct row *row) {
  if (row->group != NO_NODE || row->first == row->end)
    return false;
  for (int64_t i = row->first; i < row->end; i++)
    if (!node_moves(d, i))
      return false;
  return true;
}

/*
 * A row that only changes values joins the tail of the row before it. A chain
 * of rows that only move values, as in a split of a map into windows, is one
 * row.
 */

static bool is_tail(const struct diagram *d, const struct row *row,
                    const struct row *before) {
  const struct model *model = d->c->model;
  const struct node *node = &model->nodes.at[row->first];
  const struct layer_kind *kind = node->kind;
  bool labelled = !node->name.ordinal || node->name.repeated;
  if (row->group != NO_NODE || before->group != NO_NODE || labelled ||
      row->end - row->first != 1 || node->input_count != 1 ||
      row->owner != before->owner || node_joins(node) || kind->source ||
      kind->windows || row->cost.params || row->cost.macs ||
      before->first == before->end ||
      model->nodes.at[before->head].kind == &model_input_kind ||
      node_input(model, node, 0) != before->end - 1)
    return false;
  if (node_moves(d, row->first))
    return row_only_moves(d, before) &&
           iteration_around(node->frame) ==
               iteration_around(model->nodes.at[before->first].frame);
  return kind->memory != OUTPUT_VIEW &&
         shape_equal(node->out, row_shape(d->c, before));
}

static void merge_tails(struct diagram *d) {
  struct rows *rows = &d->rows;
  size_t kept = 0;
  for (size_t i = 0; i < rows->count; i++) {
    struct row *row = &rows->at[i], *before = kept ? &rows->at[kept - 1] : NULL;
    if (before && !d->c->options->expand &&
        d->reader_of_row[i - 1] == (int64_t)i && is_tail(d, row, before)) {
      before->end = row->end;
      before->warning_count += row->warning_count;
      cost_add(&before->cost, &row->cost);
    } else {
      rows->at[kept++] = *row;
    }
    for (int64_t node = row->first; node < row->end; node++)
      rows->of_node[node] = (int64_t)kept - 1;
  }
  rows->count = kept;
}

static void add_section(struct diagram *d, struct diagram_section section) {
  *VEC_PUSH(d->arena, &d->sections) = section;
}

static void index_rows(struct diagram *d) {
  size_t rows = d->rows.count;
  d->item_of_row = arena_alloc(d->arena, rows + 1, sizeof *d->item_of_row);
  d->reader_of_row = arena_alloc(d->arena, rows + 1, sizeof *d->reader_of_row);
  d->hash_of_row = arena_alloc(d->arena, rows + 1, sizeof *d->hash_of_row);
  d->reader_of_item =
      arena_alloc(d->arena, rows + 1, sizeof *d->reader_of_item);
  d->reader_of_node = arena_alloc(d->arena, d->c->model->nodes.count + 1,
                                  sizeof *d->reader_of_node);
  find_readers(d);
  hash_rows(d);
}

void diagram_open_rows(struct diagram *d) {
  d->rows = rows_of(d->c);
  d->reader_of_row =
      arena_alloc(d->arena, d->rows.count + 1, sizeof *d->reader_of_row);
  d->sections.count = 0;
  add_section(d, (struct diagram_section){.end = d->rows.count});
  find_readers(d);
  merge_tails(d);
  d->open = d->rows;
  d->sections.at[0].end = d->rows.count;
  index_rows(d);
}

/* Calls that are drawn once */

/* The outermost call inside `around` that is a box, or NO_NODE. */
static int64_t closed_call(const struct diagram *d, int64_t group,
                           int64_t around) {
  int64_t closed = NO_NODE;
  for (; group > 0 && group != around;
       group = d->c->model->groups.at[group].parent)
    if (d->call_of_group[group])
      closed = group;
  return closed;
}

static struct row close_rows(const struct diagram *d, size_t *next,
                             int64_t group) {
  const struct group *g = &d->c->model->groups.at[group];
  struct row row = d->open.at[*next];
  row.head = row.first;
  row.end = g->end;
  row.group = group;
  row.owner = g->parent;
  for (++*next; *next < d->open.count && d->open.at[*next].end <= g->end;
       ++*next) {
    cost_add(&row.cost, &d->open.at[*next].cost);
    row.warning_count += d->open.at[*next].warning_count;
  }
  return row;
}

/* Makes the rows of the net, or of a call after the row of its entry. */
static void close_section(struct diagram *d, const struct diagram_call *call,
                          int64_t *row_of, int64_t first_node) {
  int64_t around = call ? call->group : 0;
  int64_t end_node = call ? d->c->model->groups.at[around].end : INT64_MAX;
  size_t next = call ? (size_t)d->open.of_node[first_node] : 0;
  struct diagram_section section = {.first = d->rows.count, .call = call};
  section.row_of = call ? row_of : NULL;
  if (call && call->entry != NO_NODE)
    d->rows.at[d->rows.count++] = (struct row){.first = call->entry,
                                               .end = call->entry + 1,
                                               .head = call->entry,
                                               .group = NO_NODE,
                                               .owner = around};
  while (next < d->open.count && d->open.at[next].first < end_node) {
    int64_t closed = closed_call(d, d->open.at[next].owner, around);
    struct row row =
        closed == NO_NODE ? d->open.at[next++] : close_rows(d, &next, closed);
    for (int64_t node = row.first; node < row.end; node++)
      row_of[node - first_node] = (int64_t)d->rows.count;
    d->rows.at[d->rows.count++] = row;
  }
  section.end = d->rows.count;
  add_section(d, section);
}

void diagram_close_rows(struct diagram *d) {
  const struct model *model = d->c->model;
  size_t nodes = model->nodes.count, room = 2 * d->open.count + 1;
  for (size_t i = 0; i < d->calls.count; i++)
    room += d->open.count + 1;
  d->rows = (struct rows){
      .at = arena_alloc(d->arena, room, sizeof(struct row)),
      .of_node = arena_alloc(d->arena, nodes + 1, sizeof(int64_t))};
  d->sections.count = 0;
  close_section(d, NULL, d->rows.of_node, 0);
  for (size_t i = 0; i < d->calls.count; i++) {
    const struct diagram_call *call = &d->calls.at[i];
    const struct group *group = &model->groups.at[call->group];
    close_section(d, call,
                  arena_alloc(d->arena, (size_t)(group->end - group->first),
                              sizeof(int64_t)),
                  group->first);
  }
  index_rows(d);
}
