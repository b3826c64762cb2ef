/*
 * mmd: the diagram in Mermaid, which GitHub and others draw in Markdown. Their
 * limits are 500 edges and 50,000 characters; MOST_BOXES stays below both.
 */
#include "drawing/diagram/diagram.h"
#include "drawing/flow.h"
#include "drawing/scene/palette.h"

enum { MOST_BOXES = 80 };

static bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || (c && strchr(" _.,/*+=-", c)) ||
         (unsigned char)c >= 0x80;
}

/* Escapes characters with a meaning in Mermaid as entities, which begin with
 * `#`. */
static void put_escaped(struct text *out, struct slice text) {
  struct text shown = text_new(out->arena);
  text_put_clean(&shown, text);
  for (size_t i = 0; i < shown.length; i++) {
    if (shown.at[i] == '\n')
      text_putc(out, '?');
    else if (is_plain(shown.at[i]))
      text_putc(out, shown.at[i]);
    else
      text_printf(out, "#%d;", shown.at[i]);
  }
}

static void put_label(struct text *out, const struct flow *flow,
                      const struct flow_box *box) {
  struct text text = text_new(out->arena);
  text_putc(out, '"');
  flow_put_name(&text, flow, box);
  put_escaped(out, text_slice(&text));
  text.length = 0;
  flow_put_layer(&text, flow, box);
  if (text.length)
    text_put(out, "<br>");
  put_escaped(out, text_slice(&text));
  text_putc(out, '"');
}

/* Rounded: an input; hexagon: a join; double sides: a folded group. */
static void put_box(struct text *out, const struct flow *flow, size_t index) {
  const struct flow_box *box = &flow->boxes[index];
  const struct row *row = flow_row(flow, box);
  const struct node *node = &flow->c->model->nodes.at[row->head];
  const char *open = "[", *shut = "]";
  if (node->kind == &model_input_kind) {
    open = "([";
    shut = "])";
  } else if (flow_is_group(flow, box) && !box->elided) {
    open = "[[";
    shut = "]]";
  } else if (node_joins(node) && !box->elided) {
    open = "{{";
    shut = "}}";
  }
  text_printf(out, "  n%zu%s", index, open);
  put_label(out, flow, box);
  text_printf(out, "%s\n", shut);
}

static void put_edge(struct text *out, const struct flow *flow,
                     const struct flow_edge *edge) {
  struct text shape = text_new(out->arena);
  flow_put_change(&shape, flow, edge);
  text_printf(out, "  n%zu -->", edge->from);
  if (shape.length) {
    text_put(out, "|\"");
    put_escaped(out, text_slice(&shape));
    text_put(out, "\"|");
  }
  text_printf(out, " n%zu\n", edge->to);
}

/* Ends frames before a box and begins those that start with it. */
static void put_frames(struct text *out, const struct flow *flow,
                       size_t index) {
  for (size_t i = 0; i < flow->frames.count; i++)
    if (flow->frames.at[i].end == index)
      text_put(out, "  end\n");
  for (size_t i = 0; i < flow->frames.count; i++)
    if (flow->frames.at[i].first == index)
      text_printf(out, "  subgraph s%zu [\"\xC3\x97 %lld\"]\n", i,
                  (long long)flow->frames.at[i].times);
}

/* The fill of a box, as in other pictures. */
static int fill_of(const struct flow *flow, const struct flow_box *box) {
  const struct row *row = flow_row(flow, box);
  const struct node *node = &flow->c->model->nodes.at[row->head];
  if (box->elided || node->kind == &model_input_kind)
    return PALETTE_PAPER;
  if (flow_is_group(flow, box))
    return PALETTE_REPEATS;
  return palette_fill(family_of(node->kind));
}

static int edge_of_fill(const struct flow *flow, const struct flow_box *box,
                        int fill) {
  const struct node *node =
      &flow->c->model->nodes.at[flow_row(flow, box)->head];
  return fill == PALETTE_PAPER || fill == PALETTE_REPEATS
             ? PALETTE_EDGES
             : palette_outline(family_of(node->kind));
}

static void put_fills(struct text *out, const struct flow *flow) {
  bool *known = arena_alloc(flow->c->arena, flow->count + 1, sizeof *known);
  for (size_t i = 0; i < flow->count; i++) {
    int fill = fill_of(flow, &flow->boxes[i]);
    if (known[i])
      continue;
    text_printf(out, "  classDef f%06x fill:#%06x,stroke:#%06x,color:#%06x\n",
                (unsigned)fill, (unsigned)fill,
                (unsigned)edge_of_fill(flow, &flow->boxes[i], fill),
                (unsigned)PALETTE_INK);
    text_put(out, "  class ");
    for (size_t k = i; k < flow->count; k++)
      if (fill_of(flow, &flow->boxes[k]) == fill) {
        text_printf(out, "%sn%zu", k > i ? "," : "", k);
        known[k] = true;
      }
    text_printf(out, " f%06x\n", (unsigned)fill);
  }
}

void emit_mermaid(const struct compiled *c, struct text *out) {
  struct flow flow = flow_of(c, MOST_BOXES, false);
  struct text remarks = text_new(c->arena);
  flow.hidden = 0; /* Mermaid needs no lanes */
  flow_put_remarks(&remarks, &flow);
  text_put(out, "flowchart TB\n  accTitle: ");
  put_escaped(out, c->model->name);
  text_put(out, "\n  accDescr: Layers of the net with the shapes that flow.");
  put_escaped(out, text_slice(&remarks));
  text_putc(out, '\n');
  for (size_t i = 0; i <= flow.count; i++) {
    put_frames(out, &flow, i);
    if (i < flow.count)
      put_box(out, &flow, i);
  }
  for (size_t i = 0; i < flow.edges.count; i++)
    put_edge(out, &flow, &flow.edges.at[i]);
  put_fills(out, &flow);
}
