/* net: the canonical source, with all loops and calls expanded. */
#include "base/map.h"
#include "codegen/rows.h"
#include "lexer/scan.h"

/* A layer's block, or a checkpoint whose result alone is used. */
struct kept_block {
  int64_t group;
  struct slice label;
};

struct flat {
  const struct compiled *c;
  const struct model *model;
  struct text *out;
  struct slice *labels; /* by node: its tensor's label */
  struct map taken;
  int64_t current;             /* node of the current tensor */
  bool *entered;               /* by group: its inside is used from outside */
  VEC(struct kept_block) open; /* open blocks, outermost first */
  bool forked;                 /* inside `fork train { }` */
  size_t around;               /* open blocks around the fork */
  int64_t before_fork;         /* tensor that is current after the fork */
};

/*
 * A label that no other node has: stem.conv1 becomes stem_conv1, skip[3]
 * skip_3. Inside a block, the block's own name is left out, as the block adds
 * it.
 */
static struct slice unique_label(struct flat *f, struct slice name) {
  struct text label = text_new(f->c->arena);
  if (f->open.count) {
    struct text block = text_new(f->c->arena);
    int64_t group = f->open.at[f->open.count - 1].group;
    model_put_group_name(&block, f->model, group);
    name = slice_from(name, block.length + 1);
  }
  for (size_t i = 0; i < name.length; i++)
    if (name.at[i] != ']')
      text_putc(&label, strchr(".[-", name.at[i]) ? '_' : name.at[i]);
  while (map_find(&f->taken, text_slice(&label)) ||
         layer_kind_find(text_slice(&label))) /* the label would hide it */
    text_put(&label, "_");
  map_add(f->c->arena, &f->taken, text_slice(&label));
  return text_slice(&label);
}

static struct slice make_label(struct flat *f, int64_t node) {
  struct text name = text_new(f->c->arena);
  if (f->model->nodes.at[node].kind == &model_input_kind &&
      slice_is(name_text(&f->model->nodes.at[node].name), "input"))
    text_put(&name, "net_input"); /* `input` is a keyword */
  else
    model_put_name(&name, f->model, node);
  return unique_label(f, text_slice(&name));
}

/* Makes a file's name an identifier: my-net.v2 becomes my_net_v2. */
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
    text_printf(f->out, "net %.*s", SLICE_ARG(name));
  }
  text_putc(f->out, '\n');
}

/* The warnings that any source file allows. */
static void put_allowed(struct flat *f) {
  bool any = false;
  for (int slug = 0; slug < SLUG_COUNT; slug++) {
    bool found = false;
    for (size_t i = 0; i < f->c->diags->allowed.count; i++)
      found = found || (int)f->c->diags->allowed.at[i].slug == slug;
    if (found)
      text_printf(f->out, "%s%s", any ? " " : "allow \"",
                  slug_info((enum slug)slug)->name);
    any = any || found;
  }
  text_put(f->out, any ? "\"\n" : "");
}

/* Lists are quoted. */
static void put_choice(struct text *out, const struct arg_spec *spec,
                       struct slice word) {
  bool quoted =
      settings_is_list(spec, word) || memchr(word.at, ' ', word.length);
  text_printf(out, quoted ? "\"%.*s\"" : "%.*s", SLICE_ARG(word));
}

/* Loops are unrolled, so that no block of them can be named. */
static bool is_lost(struct flat *f, const struct arg_spec *spec,
                    int64_t value) {
  if (strcmp(spec->name, "checkpoint") != 0 ||
      (value != CHECKPOINT_BLOCKS && value != CHECKPOINT_OPS))
    return false;
  text_printf(f->out,
              "# checkpoint=%s is left out, because loops are written "
              "as layers\n",
              value == CHECKPOINT_OPS ? "ops" : "blocks");
  return true;
}

static void put_settings(struct flat *f, const char *word,
                         const struct arg_spec *specs, const void *section,
                         const void *usual) {
  const struct settings *settings = f->c->settings;
  const struct arg_spec *all = specs;
  struct text parts = text_new(f->c->arena);
  bool any = false;
  for (; specs->name; specs++) {
    const void *at = (const char *)section + specs->offset;
    int64_t value =
        arg_is_int64(specs) ? *(const int64_t *)at : *(const int *)at;
    if (specs->forms || is_lost(f, specs, value) ||
        !settings_differ(all, specs, section, usual))
      continue;
    text_printf(f->out, "%s %s=", any ? "" : word, specs->name);
    if (specs->type == TYPE_DECIMAL)
      text_millionths(f->out, value);
    else if (specs->type == TYPE_INT && (value >= 0 || !specs->words))
      text_int(f->out, value);
    else if (specs->parts) {
      parts.length = 0;
      settings_put_parts(&parts, all, specs, section);
      put_choice(f->out, specs, text_slice(&parts));
    } else
      put_choice(
          f->out, specs,
          settings_choice(settings, specs, (int)(value < 0 ? -value : value)));
    any = true;
  }
  if (any)
    text_putc(f->out, '\n');
}

static void indent(const struct flat *f) {
  text_fill(f->out, ' ', 2 * (f->open.count + f->forked));
}

static void put_mark(struct flat *f, int64_t node) {
  text_put(f->out, " -> ");
  shape_put(f->out, f->model->nodes.at[node].out, LAYOUT_HWC);
  text_putc(f->out, '\n');
}

static void put_input(struct flat *f, int64_t index) {
  const struct shape *shape = f->model->nodes.at[index].out;
  text_printf(f->out, "input %.*s ", SLICE_ARG(f->labels[index]));
  shape_put(f->out, shape, LAYOUT_HWC);
  if (shape->dtype != DTYPE_FLOAT)
    text_put(f->out, shape->dtype == DTYPE_I32 ? " : i32" : " : i64");
  text_putc(f->out, '\n');
}

/* True if a layer of the row has the parameters of another row. */
static bool shares_params(const struct flat *f, const struct row *row) {
  for (int64_t i = row->first; i < row->end; i++)
    if (f->model->nodes.at[i].shares != NO_NODE &&
        f->model->nodes.at[i].param_count > 0)
      return true;
  return false;
}

/* The parts of a split are not written; the first one is current. */
static bool is_part(const struct flat *f, int64_t node) {
  const struct node *n = &f->model->nodes.at[node];
  return n->input_count == 1 &&
         f->model->nodes.at[node_input(f->model, n, 0)].kind->parts;
}

/* Makes the first input of a node current. */
static void put_from(struct flat *f, const struct node *node) {
  int64_t input = node->input_count ? node_input(f->model, node, 0) : NO_NODE;
  if (!node->input_count || node_joins(node) || input == f->current)
    return;
  indent(f);
  text_printf(f->out, "from %.*s\n", SLICE_ARG(f->labels[input]));
}

/* The layers of the tail. */
static void put_tail(struct flat *f, const struct row *row) {
  for (int64_t i = row->head + 1; i < row->end; i++) {
    text_putc(f->out, ' ');
    model_put_tail(f->out, f->model, i, f->labels);
  }
  put_mark(f, row->end - (f->model->nodes.at[row->head].kind->parts ? 0 : 1));
}

static void put_row(struct flat *f, const struct row *row) {
  const struct node *head = &f->model->nodes.at[row->head];
  put_from(f, head);
  indent(f);
  text_printf(f->out, "%.*s: ", SLICE_ARG(f->labels[row->end - 1]));
  if (shares_params(f, row)) {
    int64_t first = f->model->nodes.at[row->head].shares;
    int64_t end = model_row_end(f->model, first);
    text_printf(f->out, "again %.*s", SLICE_ARG(f->labels[end - 1]));
  } else {
    model_put_layer(f->out, f->model, row->head, f->labels);
    for (int i = 0; node_joins(head) && i < head->input_count; i++) {
      text_putc(f->out, ' ');
      text_puts(f->out, f->labels[node_input(f->model, head, i)]);
    }
    put_tail(f, row);
    return;
  }
  put_mark(f, row->end - (head->kind->parts ? 0 : 1));
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

/* The split has made the part; `output` names the current one. */
static void put_part(struct flat *f, int64_t node) {
  int64_t split = node_input(f->model, &f->model->nodes.at[node], 0);
  struct text label = text_new(f->c->arena);
  text_printf(&label, "%.*s[%lld]", SLICE_ARG(f->labels[split]),
              (long long)(node - split));
  f->labels[node] = text_slice(&label);
  for (size_t i = 0; i < f->model->outputs.count && node > split + 1; i++) {
    if (f->model->outputs.at[i].node != node)
      continue;
    indent(f);
    text_printf(f->out, "from %.*s\n", SLICE_ARG(f->labels[node]));
    f->current = node;
    return;
  }
}

/* checkpoint { ... } */

/* Marks the groups around `inside` that do not enclose `outside`. */
static void mark_entered(struct flat *f, int64_t inside, int64_t outside,
                         bool result) {
  int64_t g = f->model->nodes.at[inside].group;
  for (; g > 0; g = f->model->groups.at[g].parent) {
    int64_t end = f->model->groups.at[g].end;
    if (outside >= end && !(result && inside == end - 1))
      f->entered[g] = true;
  }
}

/* Labels inside braces are local: only a block's result may be used outside. */
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

/* The layer of a block: it comes after the inside, and has the block's tail. */
static int64_t layer_of_block(const struct flat *f, const struct group *group) {
  return f->model->nodes.at[group->end - 1].head;
}

/* fork train { ... } */

static bool only_trains(const struct flat *f, int64_t index) {
  const struct node *node = &f->model->nodes.at[index];
  return node->train_only && node->kind != &model_input_kind;
}

static void open_fork(struct flat *f) {
  indent(f);
  text_put(f->out, "fork train {\n");
  f->forked = true;
  f->around = f->open.count;
  f->before_fork = f->current;
}

static void close_fork(struct flat *f) {
  f->forked = false;
  f->current = f->before_fork;
  indent(f);
  text_put(f->out, "}\n");
}

/* Opens the blocks that begin with a row, outermost first, and the fork, which
 * may enclose some of them. */
static void open_blocks(struct flat *f, const struct row *row) {
  bool fork = only_trains(f, row->head) && !f->forked;
  for (size_t g = 1; g < f->model->groups.count; g++) {
    const struct group *group = &f->model->groups.at[g];
    if (!(group->checkpoint || group->block) || group->first != row->first ||
        group->first == group->end)
      continue;
    if (fork && only_trains(f, group->end - 1)) {
      open_fork(f);
      fork = false;
    }
    if (f->entered[g] && group->checkpoint) {
      indent(f);
      text_put(f->out, "# a checkpoint is written as layers, because layers "
                       "outside use its tensors\n");
      continue;
    }
    struct text name = text_new(f->c->arena);
    model_put_group_name(&name, f->model, (int64_t)g);
    struct slice label = unique_label(f, text_slice(&name));
    if (group->block)
      put_from(f, &f->model->nodes.at[row->head]);
    indent(f);
    text_printf(f->out, "%.*s: ", SLICE_ARG(label));
    if (group->block)
      model_put_layer(f->out, f->model, layer_of_block(f, group), f->labels);
    else
      text_put(f->out, CHECKPOINT_WORD);
    text_put(f->out, " {\n");
    *VEC_PUSH(f->c->arena, &f->open) = (struct kept_block){(int64_t)g, label};
  }
  if (fork)
    open_fork(f);
}

/* Closes blocks down to `outer`; a result then has its block's label. */
static void close_blocks(struct flat *f, const struct row *row, size_t outer) {
  while (f->open.count > outer) {
    const struct kept_block *block = &f->open.at[f->open.count - 1];
    const struct group *group = &f->model->groups.at[block->group];
    if (group->end != row->end)
      return;
    for (int64_t node = row->first; node < row->end; node++)
      f->labels[node] = block->label;
    f->open.count--;
    indent(f);
    text_putc(f->out, '}');
    if (group->block)
      put_tail(f, row);
    else
      text_putc(f->out, '\n');
  }
}

/* Writes a repeated block as `again` and skips its rows. */
static bool repeat_block(struct flat *f, struct rows *rows, size_t *at) {
  const struct row *row = &rows->at[*at];
  const struct node *front = &f->model->nodes.at[row->head];
  const struct group *group = &f->model->groups.at[front->group];
  if (!group->block || group->first != row->first || front->shares == NO_NODE)
    return false;
  struct text name = text_new(f->c->arena);
  model_put_group_name(&name, f->model, front->group);
  struct slice label = unique_label(f, text_slice(&name));
  const struct node *layer = &f->model->nodes.at[layer_of_block(f, group)];
  if (only_trains(f, row->head) && !f->forked)
    open_fork(f);
  put_from(f, front);
  indent(f);
  text_printf(f->out, "%.*s: again %.*s", SLICE_ARG(label),
              SLICE_ARG(f->labels[layer->shares]));
  put_mark(f, group->end - 1);
  for (int64_t node = group->first; node < group->end; node++)
    f->labels[node] = label;
  f->current = group->end - 1;
  while (*at + 1 < rows->count && rows->at[*at + 1].first < group->end)
    ++*at;
  return true;
}

/* A block's own tensor gets a label, for branches inside. */
static void put_layer_row(struct flat *f, const struct row *row) {
  const struct node *head = &f->model->nodes.at[row->head];
  const struct group *group = &f->model->groups.at[head->group];
  if (head->kind == &model_input_kind) {
    put_input(f, row->head);
  } else if (group->block && group->first == row->first) {
    indent(f);
    text_printf(f->out, "%.*s: {}\n", SLICE_ARG(f->labels[row->head]));
  } else if (!head->kind->front) {
    put_row(f, row);
  }
}

/* Closes all that ends with a row: blocks, the fork, the blocks around it. */
static void end_row(struct flat *f, const struct row *row, bool last) {
  close_blocks(f, row, f->forked ? f->around : 0);
  if (!f->forked || (!last && only_trains(f, row->end)))
    return;
  close_fork(f);
  close_blocks(f, row, 0);
}

void emit_net(const struct compiled *c, struct text *out) {
  struct flat f = {.c = c, .model = c->model, .out = out, .current = NO_NODE};
  static const struct netc_options all = {0};
  struct compiled whole = *c;
  struct settings usual;
  settings_open(&usual);
  whole.options = &all;
  struct rows rows = rows_of(&whole);
  f.labels = arena_alloc(c->arena, c->model->nodes.count + 1, sizeof *f.labels);
  find_entered(&f);
  put_net_name(&f);
  put_allowed(&f);
  for (size_t i = 0; i < rows.count; i++) {
    const struct row *row = &rows.at[i];
    if (repeat_block(&f, &rows, &i)) {
      end_row(&f, &rows.at[i], i + 1 == rows.count);
      continue;
    }
    open_blocks(&f, row);
    if (is_part(&f, row->head)) {
      put_part(&f, row->head);
      put_outputs(&f, row->head);
      end_row(&f, row, i + 1 == rows.count);
      continue;
    }
    struct slice label = make_label(&f, row->head);
    for (int64_t node = row->first; node < row->end; node++)
      f.labels[node] = label;
    put_layer_row(&f, row);
    f.current = row->end - (c->model->nodes.at[row->head].kind->parts ? 0 : 1);
    for (int64_t node = row->first; node < row->end; node++)
      put_outputs(&f, node);
    end_row(&f, row, i + 1 == rows.count);
  }
  put_settings(&f, "train", train_specs, &c->given->train, &usual.train);
  put_settings(&f, "infer", infer_specs, &c->given->infer, &usual.infer);
  put_settings(&f, "budget", budget_specs, &c->given->budget, &usual.budget);
}
