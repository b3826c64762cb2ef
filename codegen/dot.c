/* dot: the diagram of the shape flow, for Graphviz. */
#include "codegen/rows.h"

struct diagram {
  const struct compiled *c;
  const struct emit_options *options;
  struct text *out;
  struct rows rows;
  int64_t *open; /* the groups whose clusters are open */
  int depth;
};

static void put_quoted(struct text *out, struct slice text) {
  for (size_t i = 0; i < text.length; i++) {
    if (text.at[i] == '"' || text.at[i] == '\\')
      text_putc(out, '\\');
    text_putc(out, text.at[i]);
  }
}

/* One colour for each family of layers, light enough for black text. */
static const char *family_colour(const struct layer_kind *kind) {
  static const char *const palette[] = {
      "#cfe3f7", "#fbd5c8", "#e3d7f4", "#d4efd4", "#fdebb8",
      "#e6e6e6", "#d9eef0", "#f7d9ea", "#ece2d0", "#d7dcf5"};
  const char *before = "";
  size_t families = 0;
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *known = layer_kind_at(i);
    if (strcmp(known->family, before) != 0) {
      before = known->family;
      families++;
    }
    if (known == kind)
      break;
  }
  return palette[(families - 1) % (sizeof palette / sizeof *palette)];
}

static void put_indent(struct diagram *d) {
  text_fill(d->out, ' ', 2 + 2 * (size_t)d->depth);
}

/* Clusters: groups hold neighbouring rows, so they open and close in turn. */

static int level_of(const struct model *model, int64_t group) {
  int level = 0;
  for (; group > 0; group = model->groups.at[group].parent)
    level++;
  return level;
}

static int64_t ancestor(const struct model *model, int64_t group, int level) {
  for (int at = level_of(model, group); at > level; at--)
    group = model->groups.at[group].parent;
  return group;
}

static void close_clusters(struct diagram *d, int depth) {
  while (d->depth > depth) {
    d->depth--;
    put_indent(d);
    text_put(d->out, "}\n");
  }
}

static void open_cluster(struct diagram *d, int64_t group) {
  struct text name = text_new(d->c->arena);
  model_put_group_name(&name, d->c->model, group);
  put_indent(d);
  text_printf(d->out, "subgraph cluster_%lld {\n", (long long)group);
  d->open[d->depth++] = group;
  put_indent(d);
  text_put(d->out, "label=\"");
  put_quoted(d->out, text_slice(&name));
  if (d->c->model->groups.at[group].call.length) {
    text_put(d->out, ": ");
    put_quoted(d->out, d->c->model->groups.at[group].call);
  }
  text_put(d->out, "\";\n");
}

static void enter_group(struct diagram *d, int64_t group) {
  const struct model *model = d->c->model;
  int level = level_of(model, group), same = 0;
  while (same < level && same < d->depth &&
         d->open[same] == ancestor(model, group, same + 1))
    same++;
  close_clusters(d, same);
  while (d->depth < level)
    open_cluster(d, ancestor(model, group, d->depth + 1));
}

/* Boxes */

static void put_box_label(struct diagram *d, const struct row *row) {
  struct text name = text_new(d->c->arena), layer = name;
  const struct model *model = d->c->model;
  if (row->group != NO_NODE) /* its cluster shows the groups around it */
    name_put(&name, &model->groups.at[row->group].name);
  else if (model->nodes.at[row->head].head == row->head)
    name_put(&name, &model->nodes.at[row->head].name);
  else
    row_put_name(&name, d->c, row);
  row_put_layer(&layer, d->c, row, false);
  put_quoted(d->out, text_slice(&name));
  if (layer.length) {
    text_put(d->out, "\\n");
    put_quoted(d->out, text_slice(&layer));
  } else {
    text_put(d->out, "\\n");
    shape_put(d->out, row_shape(d->c, row), d->options->layout);
  }
  if (row->cost.params) {
    text_put(d->out, "\\n");
    text_count(d->out, row->cost.params);
    text_put(d->out, " parameters");
  }
  for (size_t i = 0; i < row->warning_count; i++) {
    enum slug slug = d->c->model->warnings.at[row->first_warning + i].slug;
    text_printf(d->out, "\\n! %s", slug_info(slug)->name);
  }
}

static void put_box(struct diagram *d, size_t index) {
  const struct row *row = &d->rows.at[index];
  const struct layer_kind *kind = d->c->model->nodes.at[row->head].kind;
  put_indent(d);
  text_printf(d->out, "n%zu [label=\"", index);
  put_box_label(d, row);
  text_putc(d->out, '"');
  if (kind == &model_input_kind)
    text_put(d->out, ", shape=ellipse, fillcolor=white");
  else if (row->group != NO_NODE)
    text_put(d->out, ", shape=box3d, fillcolor=\"#f4f4f4\"");
  else
    text_printf(d->out, ", fillcolor=\"%s\"", family_colour(kind));
  if (row->warning_count)
    text_put(d->out, ", color=\"#c0392b\", penwidth=2");
  text_put(d->out, "];\n");
}

static void put_edge(struct diagram *d, size_t from, size_t to,
                     const struct shape *shape) {
  text_printf(d->out, "  n%zu -> n%zu [label=\" ", from, to);
  shape_put(d->out, shape, d->options->layout);
  text_put(d->out, "\"];\n");
}

/* Whether an earlier input of the row comes from the same row, as large. */
static bool is_drawn(const struct diagram *d, const struct row *row,
                     int64_t node, int input) {
  const struct model *model = d->c->model;
  int64_t from = node_input(model, &model->nodes.at[node], input);
  for (int64_t i = row->first; i <= node; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++) {
      int64_t other = node_input(model, &model->nodes.at[i], k);
      if (i == node && k == input)
        return false;
      if (d->rows.of_node[other] == d->rows.of_node[from] &&
          shape_equal(&model->nodes.at[other].out, &model->nodes.at[from].out))
        return true;
    }
  return false;
}

static void put_edges(struct diagram *d, size_t index) {
  const struct model *model = d->c->model;
  const struct row *row = &d->rows.at[index];
  for (int64_t i = row->first; i < row->end; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++) {
      int64_t from = node_input(model, node, k);
      bool folded = row->end - row->first > 1 && row->end - row->first < 1000;
      if (folded && is_drawn(d, row, i, k))
        continue;
      if (from < row->first || from >= row->end)
        put_edge(d, (size_t)d->rows.of_node[from], index,
                 &model->nodes.at[from].out);
    }
  }
}

static void put_outputs(struct diagram *d) {
  const struct model *model = d->c->model;
  for (size_t i = 0; i < model->outputs.count; i++) {
    const struct output *output = &model->outputs.at[i];
    text_printf(d->out, "  out%zu [label=\"", i);
    put_quoted(d->out, output->name.at ? output->name : slice_of("output"));
    text_put(d->out, "\", shape=ellipse, fillcolor=white];\n");
    text_printf(d->out, "  n%lld -> out%zu [label=\" ",
                (long long)d->rows.of_node[output->node], i);
    shape_put(d->out, &model->nodes.at[output->node].out, d->options->layout);
    text_put(d->out, "\"];\n");
  }
}

void emit_dot(const struct compiled *c, const struct emit_options *options,
              struct text *out) {
  struct diagram d = {
      .c = c, .options = options, .out = out, .rows = rows_of(c, options)};
  d.open = arena_alloc(c->arena, c->model->groups.count + 1, sizeof *d.open);
  text_put(out, "digraph \"");
  put_quoted(out, c->model->name);
  text_put(out, "\" {\n"
                "  node [shape=box, style=\"rounded,filled\", "
                "fontname=\"Helvetica\", fontsize=11, margin=\"0.14,0.06\"];\n"
                "  edge [fontname=\"Helvetica\", fontsize=9, "
                "color=\"#666666\", fontcolor=\"#444444\", arrowsize=0.7];\n"
                "  graph [fontname=\"Helvetica\", fontsize=11, "
                "color=\"#999999\", fontcolor=\"#444444\", style=rounded, "
                "labeljust=l];\n");
  for (size_t i = 0; i < d.rows.count; i++) {
    enter_group(&d, d.rows.at[i].owner);
    put_box(&d, i);
  }
  close_clusters(&d, 0);
  for (size_t i = 0; i < d.rows.count; i++)
    put_edges(&d, i);
  put_outputs(&d);
  text_put(out, "}\n");
}
