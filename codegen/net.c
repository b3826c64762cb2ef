/* net: the canonical source, with every loop and call written out. */
#include "base/map.h"
#include "codegen/rows.h"
#include "lexer/scan.h"

/* A checkpoint that can be kept as a block, for it is used by its result. */
struct kept_block {
  int64_t group;
  struct slice label;
};

struct flat {
  const struct compiled *c;
  const struct model *model;
  struct text *out;
  struct slice *labels; /* by node: how the text calls its tensor */
  struct map taken;
  int64_t current; /* the node whose tensor is the current one */
  bool *entered;   /* by group: something outside uses what is inside */
  VEC(struct kept_block) open; /* checkpoints around the row, outermost first */
};

/*
 * stem.conv1 becomes stem_conv1, skip[3] skip_3, and no two nodes share a
 * label. Inside a
 * block, its own name is left out: the block gives it.
 */
static struct slice unique_label(struct flat *f, struct slice name) {
  struct text label = text_new(f->c->arena);
  if (f->open.count) {
    struct text block = text_new(f->c->arena);
    int64_t group = f->open.at[f->open.count - 1].group;
    model_put_group_name(&block, f->model, group);
    name.at += block.length + 1;
    name.length -= block.length + 1;
  }
  for (size_t i = 0; i < name.length; i++)
    if (name.at[i] != ']')
      text_putc(&label, strchr(".[-", name.at[i]) ? '_' : name.at[i]);
  while (map_find(&f->taken, text_slice(&label)))
    text_put(&label, "_");
  map_add(f->c->arena, &f->taken, text_slice(&label));
  return text_slice(&label);
}

static struct slice make_label(struct flat *f, int64_t node) {
  struct text name = text_new(f->c->arena);
  if (f->model->nodes.at[node].kind == &model_input_kind &&
      !f->model->nodes.at[node].stmt->name.at)
    text_put(&name, "net_input"); /* `input` is a word of the language */
  else
    model_put_name(&name, f->model, node);
  return unique_label(f, text_slice(&name));
}

/* A file's name need not be one of the language: my-net.v2 is my_net_v2. */
static void put_net_name(struct flat *f) {
  struct text name = text_new(f->c->arena);
  struct slice given = f->model->name;
  for (size_t i = 0; i < given.length; i++) {
    struct slice letter = {given.at + i, 1};
    bool digit = *letter.at >= '0' && *letter.at <= '9';
    text_putc(&name,
              digit || is_name(letter) || *letter.at == 'x' ? *letter.at : '_');
  }
  if (!is_name(text_slice(&name))) {
    text_put(f->out, "net net_");
    text_puts(f->out, text_slice(&name));
  } else {
    text_printf(f->out, "net %.*s", SLICE_ARG(text_slice(&name)));
  }
  text_putc(f->out, '\n');
}

static void put_settings(struct flat *f, const char *word,
                         const struct arg_spec *specs, const void *section) {
  bool any = false;
  for (; specs->name; specs++) {
    const void *at = (const char *)section + specs->offset;
    int64_t value =
        specs->type == TYPE_INT ? *(const int64_t *)at : *(const int *)at;
    if (value == specs->initial)
      continue;
    text_printf(f->out, "%s %s=", any ? "" : word, specs->name);
    if (specs->type == TYPE_INT && (value >= 0 || !specs->words))
      text_int(f->out, value);
    else
      text_puts(f->out, word_at(specs->words, value < 0 ? 1 : (int)value));
    any = true;
  }
  if (any)
    text_putc(f->out, '\n');
}

static void indent(const struct flat *f) {
  text_fill(f->out, ' ', 2 * f->open.count);
}

static void put_mark(struct flat *f, int64_t node) {
  text_put(f->out, " -> ");
  shape_put(f->out, &f->model->nodes.at[node].out, LAYOUT_HWC);
  text_putc(f->out, '\n');
}

static void put_input(struct flat *f, int64_t index) {
  const struct shape *shape = &f->model->nodes.at[index].out;
  text_printf(f->out, "input %.*s ", SLICE_ARG(f->labels[index]));
  shape_put(f->out, shape, LAYOUT_HWC);
  if (shape->dtype != DTYPE_FLOAT)
    text_put(f->out, shape->dtype == DTYPE_I32 ? " : i32" : " : i64");
  text_putc(f->out, '\n');
}

/* A layer of the row whose parameters another row has already. */
static bool shares_params(const struct flat *f, const struct row *row) {
  for (int64_t i = row->first; i < row->end; i++)
    if (f->model->nodes.at[i].shares != NO_NODE &&
        f->model->nodes.at[i].param_count > 0)
      return true;
  return false;
}

static void put_row(struct flat *f, const struct row *row) {
  const struct node *head = &f->model->nodes.at[row->head];
  int64_t input = head->input_count ? node_input(f->model, head, 0) : NO_NODE;
  if (head->input_count && !node_joins(head) && input != f->current) {
    indent(f);
    text_printf(f->out, "from %.*s\n", SLICE_ARG(f->labels[input]));
  }
  indent(f);
  text_printf(f->out, "%.*s: ", SLICE_ARG(f->labels[row->end - 1]));
  if (shares_params(f, row)) {
    int64_t first = f->model->nodes.at[row->head].shares;
    int64_t end = model_row_end(f->model, first);
    text_printf(f->out, "again %.*s", SLICE_ARG(f->labels[end - 1]));
  } else {
    model_put_layer(f->out, f->model, row->head, f->labels);
    for (int i = 0; node_joins(head) && i < head->input_count; i++)
      text_printf(f->out, " %.*s",
                  SLICE_ARG(f->labels[node_input(f->model, head, i)]));
    for (int64_t i = row->head + 1; i < row->end; i++) {
      text_putc(f->out, ' ');
      model_put_tail(f->out, f->model, i, f->labels);
    }
  }
  put_mark(f, row->end - 1);
}

static void put_outputs(struct flat *f, int64_t node) {
  for (size_t i = 0; i < f->model->outputs.count; i++) {
    const struct output *output = &f->model->outputs.at[i];
    if (output->node != node || !output->name.at)
      continue;
    indent(f);
    text_printf(f->out, "output %.*s\n", SLICE_ARG(output->name));
  }
}

/* checkpoint { ... } */

/* Marks the groups around `inside` that do not hold `outside`. */
static void mark_entered(struct flat *f, int64_t inside, int64_t outside,
                         bool result) {
  int64_t g = f->model->nodes.at[inside].group;
  for (; g > 0; g = f->model->groups.at[g].parent) {
    int64_t end = f->model->groups.at[g].end;
    if (outside >= end && !(result && inside == end - 1))
      f->entered[g] = true;
  }
}

/* Labels inside braces are not seen outside: only the result may be used. */
static void find_entered(struct flat *f) {
  f->entered =
      arena_alloc(f->c->arena, f->model->groups.count + 1, sizeof(bool));
  for (size_t i = 0; i < f->model->nodes.count; i++) {
    const struct node *node = &f->model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      mark_entered(f, node_input(f->model, node, k), (int64_t)i, true);
    if (node->shares != NO_NODE)
      mark_entered(f, node->shares, (int64_t)i, false);
  }
}

/* Opens the checkpoints that begin with a row, the outermost first. */
static void open_blocks(struct flat *f, const struct row *row) {
  for (size_t g = 1; g < f->model->groups.count; g++) {
    const struct group *group = &f->model->groups.at[g];
    if (!group->checkpoint || group->first != row->first ||
        group->first == group->end)
      continue;
    if (f->entered[g]) {
      indent(f);
      text_put(f->out, "# a checkpoint whose layers are used from outside is "
                       "written out\n");
      continue;
    }
    struct text name = text_new(f->c->arena);
    model_put_group_name(&name, f->model, (int64_t)g);
    struct slice label = unique_label(f, text_slice(&name));
    indent(f);
    text_printf(f->out, "%.*s: checkpoint {\n", SLICE_ARG(label));
    *VEC_PUSH(f->c->arena, &f->open) = (struct kept_block){(int64_t)g, label};
  }
}

/* From here on the result is called as the block is. */
static void close_blocks(struct flat *f, const struct row *row) {
  while (f->open.count) {
    const struct kept_block *block = &f->open.at[f->open.count - 1];
    const struct group *group = &f->model->groups.at[block->group];
    if (group->end != row->end)
      return;
    for (int64_t node = row->first; node < row->end; node++)
      f->labels[node] = block->label;
    f->open.count--;
    indent(f);
    text_put(f->out, "}\n");
  }
}

void emit_net(const struct compiled *c, const struct emit_options *options,
              struct text *out) {
  struct flat f = {.c = c, .model = c->model, .out = out, .current = NO_NODE};
  struct emit_options all = {.units = options->units};
  struct rows rows = rows_of(c, &all);
  f.labels = arena_alloc(c->arena, c->model->nodes.count + 1, sizeof *f.labels);
  find_entered(&f);
  put_net_name(&f);
  for (size_t i = 0; i < rows.count; i++) {
    const struct row *row = &rows.at[i];
    open_blocks(&f, row);
    struct slice label = make_label(&f, row->head);
    for (int64_t node = row->first; node < row->end; node++)
      f.labels[node] = label;
    if (c->model->nodes.at[row->head].kind == &model_input_kind)
      put_input(&f, row->head);
    else
      put_row(&f, row);
    f.current = row->end - 1;
    for (int64_t node = row->first; node < row->end; node++)
      put_outputs(&f, node);
    close_blocks(&f, row);
  }
  put_settings(&f, "train", train_specs, &c->settings->train);
  put_settings(&f, "infer", infer_specs, &c->settings->infer);
  put_settings(&f, "budget", budget_specs, &c->settings->budget);
}
