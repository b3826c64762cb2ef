/* Rows: the lines or boxes of a report, a table or a diagram. */
#include "codegen/rows.h"

/* The outermost group around a node that is deeper than `depth`, or NO_NODE. */
static int64_t folded_group(const struct model *model, int64_t node,
                            int depth) {
  int64_t group = model->nodes.at[node].group, folded = NO_NODE;
  int level = 0;
  for (int64_t g = group; g > 0; g = model->groups.at[g].parent)
    level++;
  for (int64_t g = group; depth > 0 && g > 0;
       g = model->groups.at[g].parent, level--)
    if (level >= depth)
      folded = g;
  return folded;
}

static int64_t row_end(const struct compiled *c, int64_t node, int64_t folded) {
  if (folded != NO_NODE)
    return c->model->groups.at[folded].end;
  return c->options->expand ? node + 1 : model_row_end(c->model, node);
}

static void sum_costs(const struct model *model, struct row *row) {
  for (int64_t i = row->first; i < row->end; i++) {
    cost_add(&row->cost, model_cost(model, i));
    row->shares = row->shares || model->nodes.at[i].shares != NO_NODE;
  }
}

/* Warnings are sorted by node. */
static void take_warnings(const struct model *model, struct row *row,
                          size_t *next) {
  row->first_warning = *next;
  while (*next < model->warnings.count &&
         model->warnings.at[*next].node < row->end)
    (*next)++;
  row->warning_count = *next - row->first_warning;
}

struct rows rows_of(const struct compiled *c) {
  const struct model *model = c->model;
  int64_t nodes = (int64_t)model->nodes.count;
  struct rows rows = {
      .at = arena_alloc(c->arena, (size_t)nodes + 1, sizeof(struct row)),
      .of_node = arena_alloc(c->arena, (size_t)nodes + 1, sizeof(int64_t))};
  size_t next_warning = 0;
  if (c->options->depth < 0) /* only the totals are wanted */
    return rows;
  for (int64_t node = 0; node < nodes;) {
    int64_t folded = folded_group(model, node, c->options->depth);
    struct row *row = &rows.at[rows.count];
    *row = (struct row){.first = node, .head = node, .group = folded};
    row->end = row_end(c, node, folded);
    row->owner = folded != NO_NODE ? model->groups.at[folded].parent
                                   : model->nodes.at[node].group;
    sum_costs(model, row);
    take_warnings(model, row, &next_warning);
    for (; node < row->end; node++)
      rows.of_node[node] = (int64_t)rows.count;
    rows.count++;
  }
  return rows;
}

void row_put_name(struct text *out, const struct compiled *c,
                  const struct row *row) {
  if (row->group != NO_NODE)
    model_put_group_name(out, c->model, row->group);
  else
    model_put_name(out, c->model, row->head);
}

/* The name, in which other characters become _ and their bytes. */
void row_put_id(struct text *out, const struct compiled *c,
                const struct row *row) {
  struct text name = text_new(c->arena);
  row_put_name(&name, c, row);
  name_put_id(out, text_slice(&name));
}

void name_put_id(struct text *out, struct slice name) {
  text_put(out, "n.");
  for (size_t i = 0; i < name.length; i++) {
    char at = name.at[i];
    bool plain = (at >= 'a' && at <= 'z') || (at >= 'A' && at <= 'Z') ||
                 (at >= '0' && at <= '9') || at == '.';
    if (plain)
      text_putc(out, at);
    else
      text_printf(out, "_%02x", (unsigned)(unsigned char)at);
  }
}

/* Writes a name without the name of an enclosing group. */
static void put_inside(struct text *out, const struct model *model,
                       struct slice name, int64_t group) {
  struct text around = text_new(model->arena);
  if (group > 0)
    model_put_group_name(&around, model, group);
  size_t length = around.length;
  if (length && name.length > length + 1 && name.at[length] == '.' &&
      memcmp(name.at, around.at, length) == 0)
    name = slice_from(name, length + 1);
  text_puts(out, name);
}

void row_put_name_inside(struct text *out, const struct compiled *c,
                         const struct row *row, int64_t group) {
  struct text name = text_new(c->arena);
  row_put_name(&name, c, row);
  put_inside(out, c->model, text_slice(&name), group);
}

/* Writes a folded call with its values, or the contents of a folded group. */
static void put_folded(struct text *out, const struct compiled *c,
                       const struct row *row) {
  const struct group *group = &c->model->groups.at[row->group];
  if (group->call.length)
    text_puts(out, group->call);
  else
    text_printf(out, "{ %lld layers }", (long long)(row->end - row->first));
}

/* Writes the operands of a join, without the group's name if it is the same. */
static void put_operands(struct text *out, const struct compiled *c,
                         const struct node *join) {
  enum { SHOWN = 6 };
  for (int i = 0; i < join->input_count; i++) {
    int64_t head = c->model->nodes.at[node_input(c->model, join, i)].head;
    const struct node *operand = &c->model->nodes.at[head];
    text_putc(out, ' ');
    if (i == SHOWN && join->input_count > SHOWN + 1) {
      text_printf(out, "and %d more", join->input_count - SHOWN);
      return;
    }
    struct text name = text_new(c->arena);
    if (operand->group == join->group) {
      name_put(out, &operand->name);
    } else {
      model_put_name(&name, c->model, head);
      put_inside(out, c->model, text_slice(&name), join->group);
    }
  }
}

static void put_layer(struct text *out, const struct compiled *c,
                      const struct row *row, bool operands, bool idle) {
  const struct node *node = &c->model->nodes.at[row->head];
  if (row->group != NO_NODE) {
    put_folded(out, c, row);
    return;
  }
  if (node->kind == &model_input_kind)
    return;
  model_put_layer(out, c->model, row->head, NULL);
  if (node_joins(node) && operands)
    put_operands(out, c, node);
  for (int64_t i = row->first + 1; i < row->end; i++) {
    if (c->model->nodes.at[i].kind->idle && !idle)
      continue;
    text_putc(out, ' ');
    if (c->model->nodes.at[i].head == i) /* else merged with its head */
      model_put_layer(out, c->model, i, NULL);
    else
      model_put_tail(out, c->model, i, NULL);
  }
}

void row_put_layer(struct text *out, const struct compiled *c,
                   const struct row *row, bool operands) {
  put_layer(out, c, row, operands, true);
}

void row_put_acting(struct text *out, const struct compiled *c,
                    const struct row *row, bool operands) {
  put_layer(out, c, row, operands, false);
}

const struct shape *row_shape(const struct compiled *c, const struct row *row) {
  return c->model->nodes.at[row->end - 1].out;
}

const char *sample_word(const struct compiled *c) {
  if (c->model->sources.count == 0)
    return "sample";
  const struct shape *in = c->model->nodes.at[c->model->sources.at[0]].out;
  if (in->dtype == DTYPE_FLOAT && in->rank == 3)
    return "image";
  bool sequence = in->dtype != DTYPE_FLOAT || in->rank == 2;
  return sequence ? "sequence" : "sample";
}
