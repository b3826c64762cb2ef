/*
 * dot: the diagram for Graphviz and programs that read its language, with the
 * boxes, frames and shapes of the pictures; the reader lays them out.
 */

#include "drawing/diagram/diagram.h"
#include "drawing/scene/palette.h"

static void put_indent(struct text *out, int depth) {
  text_fill(out, ' ', 2 + 2 * (size_t)depth);
}

static void put_box(struct diagram *d, struct text *out, size_t index,
                    int depth) {
  item_find_text(d, index);
  const struct diagram_item *item = &d->items.at[index];
  const struct row *row = item_row(d, index);
  put_indent(out, depth);
  text_printf(out, "n%zu [label=\"", index);
  for (int i = 0; i < item->label->line_count; i++) {
    text_put(out, i ? "\\n" : "");
    put_dot(out, item->label->lines[i]);
  }
  text_put(out, "\", tooltip=\"");
  item_tip(d, index, out, put_dot, "\\n");
  text_printf(
      out, "\", fillcolor=\"#%06x\", color=\"#%06x\"",
      (unsigned)item_fill(d, index),
      (unsigned)(row->warning_count ? PALETTE_WARNING : item_edge(d, index)));
  if (item->opens_repeat || row->group != NO_NODE)
    text_put(out, ", shape=box3d");
  else if (item->link_count + item->stub_count == 0)
    text_put(out, ", shape=ellipse");
  else if (item->width == SIGN)
    text_put(out, ", shape=circle, margin=0");
  if (row->warning_count)
    text_put(out, ", penwidth=2");
  text_put(out, "];\n");
}

static void put_units(struct diagram *d, struct text *out,
                      struct diagram_unit *unit, int depth, int *clusters) {
  for (; unit; unit = unit->next) {
    if (unit->end - unit->first == 1 && !unit->call) {
      diagram_mark_repeat(d, unit);
      put_box(d, out, unit->first, depth);
      continue;
    }
    put_indent(out, depth);
    text_printf(out, "subgraph cluster_%d {\n", ++*clusters);
    put_indent(out, depth + 1);
    text_put(out, "label=\"");
    put_dot(out, frame_title(d, unit));
    text_put(out, unit->count > 1 ? "\"; style=\"rounded,filled\"; "
                                    "fillcolor=\"#f3f3f3\";\n"
                                  : "\"; style=rounded;\n");
    put_units(d, out, unit->child, depth + 1, clusters);
    put_indent(out, depth);
    text_put(out, "}\n");
  }
}

static void put_edge_end(struct diagram *d, struct text *out, size_t from,
                         bool always) {
  const struct diagram_item *item = &d->items.at[from];
  struct slice shape = item->out;
  if (always && !shape.length)
    shape = item_shape(d, from);
  if (shape.length) {
    text_put(out, " [label=\" ");
    put_dot(out, shape);
    text_put(out, "\"]");
  }
  text_put(out, ";\n");
}

/* Lists the inputs of a box without lines, by name. */
static void put_stubs(struct diagram *d, struct text *out, size_t index) {
  const struct diagram_item *item = &d->items.at[index];
  for (size_t k = 0; k < item->stub_count; k++) {
    const struct diagram_stub *stub = &d->stubs.at[item->first_stub + k];
    size_t source = stub_source(d, stub);
    if (source != NO_ITEM) {
      text_printf(out, "  n%zu -> n%zu;\n", source, index);
      continue;
    }
    text_printf(out, "  in%zu [label=\"", item->first_stub + k);
    put_dot(out, stub->name);
    text_printf(out, "\", shape=plaintext, style=\"\"];\n  in%zu -> n%zu;\n",
                item->first_stub + k, index);
  }
}

static void put_edges(struct diagram *d, struct text *out) {
  const struct model *model = d->c->model;
  for (size_t i = 0; i < d->items.count; i++)
    put_stubs(d, out, i);
  for (size_t i = 0; i < d->items.count; i++)
    for (size_t k = 0; k < d->items.at[i].link_count; k++) {
      size_t from = d->links.at[d->items.at[i].first_link + k].from;
      text_printf(out, "  n%zu -> n%zu", from, i);
      put_edge_end(d, out, from, false);
    }
  for (size_t i = 0; i < model->outputs.count && d->items.count; i++) {
    const struct output *output = &model->outputs.at[i];
    size_t from = d->item_of_row[d->rows.of_node[output->node]];
    struct slice name = output->name.at ? output->name : slice_of("output");
    text_printf(out, "  out%zu [label=\"", i);
    put_dot(out, text_tamed(d->arena, name, false));
    text_printf(out,
                "\", shape=ellipse, fillcolor=white];\n"
                "  n%zu -> out%zu",
                from, i);
    put_edge_end(d, out, from, true);
  }
}

void emit_dot(const struct compiled *c, struct text *out) {
  struct diagram d = diagram_of(c);
  int clusters = 0;
  d.has_units = true;
  diagram_find_drawing(&d);
  text_put(out, "digraph \"");
  put_dot(out, text_tamed(c->arena, c->model->name, false));
  text_printf(out, "\" {\n  rankdir=%s; ordering=out;\n",
              c->options->direction == NETC_RIGHT ? "LR" : "TB");
  text_put(out, "  node [shape=box, style=\"rounded,filled\", "
                "fontname=\"Helvetica\", fontsize=11, margin=\"0.14,0.06\"];\n"
                "  edge [fontname=\"Helvetica\", fontsize=9, "
                "color=\"#555555\", fontcolor=\"#444444\", arrowsize=0.7];\n"
                "  graph [fontname=\"Helvetica\", fontsize=11, "
                "color=\"#888888\", fontcolor=\"#444444\", "
                "labeljust=l];\n");
  put_units(&d, out, d.units, 0, &clusters);
  put_edges(&d, out);
  text_put(out, "}\n");
}
