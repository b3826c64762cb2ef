/* Flow: few enough boxes to draw a net with, and what leads where. */
#include "codegen/flow.h"

#include <stdlib.h>

enum { DEEPEST = 8, FEWEST = 4, MOST_LANES = 10 };

enum { NO_ROW = -1, SEVERAL = -2 };

struct builder {
  struct flow flow;
  enum flow_alike alike;
  int64_t *reads;   /* by row: the only row that it reads, or SEVERAL */
  int64_t *read_by; /* by row: the only row that reads it */
  size_t *box_of;   /* by row */
};

/* Which rows read which */

static void note(int64_t *at, int64_t row) {
  *at = *at == NO_ROW || *at == row ? row : SEVERAL;
}

static void find_readers(struct builder *b) {
  const struct model *model = b->flow.c->model;
  const struct rows *rows = &b->flow.rows;
  struct arena *arena = b->flow.c->arena;
  b->reads = arena_alloc(arena, rows->count + 1, sizeof *b->reads);
  b->read_by = arena_alloc(arena, rows->count + 1, sizeof *b->read_by);
  for (size_t i = 0; i < rows->count; i++)
    b->reads[i] = b->read_by[i] = NO_ROW;
  for (size_t n = 0; n < model->nodes.count && rows->count; n++) {
    const struct node *node = &model->nodes.at[n];
    int64_t to = rows->of_node[n];
    for (int k = 0; k < node->input_count; k++) {
      int64_t from = rows->of_node[node_input(model, node, k)];
      if (from == to)
        continue;
      note(&b->reads[to], from);
      note(&b->read_by[from], to);
    }
  }
}

static struct slice layer_text(const struct builder *b, size_t row) {
  struct text text = text_new(b->flow.c->arena);
  row_put_layer(&text, b->flow.c, &b->flow.rows.at[row], false);
  return text_slice(&text);
}

static bool is_output(const struct builder *b, size_t row) {
  const struct model *model = b->flow.c->model;
  for (size_t i = 0; i < model->outputs.count; i++)
    if (b->flow.rows.of_node[model->outputs.at[i].node] == (int64_t)row)
      return true;
  return false;
}

/* Whether a row goes on in the box of the one before it. */
static bool goes_on(const struct builder *b, size_t row) {
  const struct flow *flow = &b->flow;
  const struct row *now = &flow->rows.at[row], *before = now - 1;
  int64_t last = (int64_t)row - 1;
  if (row == 0 || b->reads[row] != last || b->read_by[row - 1] != (int64_t)row)
    return false;
  if (b->reads[row - 1] == NO_ROW || is_output(b, row - 1) ||
      !shape_equal(row_shape(flow->c, before), row_shape(flow->c, now)))
    return false;
  return b->alike == FLOW_SHAPES ||
         (before->cost.params == now->cost.params &&
          before->cost.macs == now->cost.macs &&
          slice_equal(layer_text(b, row - 1), layer_text(b, row)));
}

/* Boxes */

static void make_boxes(struct builder *b, int depth) {
  struct flow *flow = &b->flow;
  flow->options.depth = depth;
  flow->rows = rows_of(flow->c, &flow->options);
  flow->boxes =
      arena_alloc(flow->c->arena, flow->rows.count + 1, sizeof *flow->boxes);
  flow->count = 0;
  find_readers(b);
  for (size_t i = 0; i < flow->rows.count; i++) {
    if (!goes_on(b, i))
      flow->boxes[flow->count++].first = i;
    flow->boxes[flow->count - 1].end = i + 1;
  }
}

/* The middle is left out; both ends say more. */
static void elide(struct flow *flow, size_t most) {
  size_t front = (most - 1) / 2, back = most - 1 - front;
  struct flow_box middle = {flow->boxes[front].first,
                            flow->boxes[flow->count - back - 1].end, true};
  flow->boxes[front] = middle;
  flow->elided = flow_size(&middle);
  for (size_t i = 0; i < back; i++)
    flow->boxes[front + 1 + i] = flow->boxes[flow->count - back + i];
  flow->count = most;
}

/* The deepest groups are folded first, and no further than must be. */
static void choose_depth(struct builder *b, size_t most) {
  int asked = b->flow.options.depth;
  make_boxes(b, asked);
  for (int depth = DEEPEST; !asked && depth > 0 && b->flow.count > most;
       depth--) {
    struct builder deeper = *b;
    make_boxes(b, depth);
    if (b->flow.count < FEWEST) {
      *b = deeper;
      break;
    }
    b->flow.folded =
        b->flow.rows.count < deeper.flow.rows.count || deeper.flow.folded;
  }
  if (b->flow.count > most)
    elide(&b->flow, most);
}

/* Edges */

static void find_edges(struct builder *b) {
  struct flow *flow = &b->flow;
  const struct model *model = flow->c->model;
  struct arena *arena = flow->c->arena;
  size_t *edge = arena_alloc(arena, flow->count * flow->count + 1,
                             sizeof *edge); /* from 1 */
  for (size_t i = 0; i < flow->count; i++)
    for (size_t row = flow->boxes[i].first; row < flow->boxes[i].end; row++)
      b->box_of[row] = i;
  for (size_t n = 0; n < model->nodes.count && flow->count; n++) {
    const struct node *node = &model->nodes.at[n];
    size_t to = b->box_of[flow->rows.of_node[n]];
    for (int k = 0; k < node->input_count; k++) {
      int64_t in = node_input(model, node, k);
      size_t from = b->box_of[flow->rows.of_node[in]];
      size_t *at = &edge[from * flow->count + to];
      if (from >= to)
        continue;
      if (!*at) {
        *VEC_PUSH(arena, &flow->edges) = (struct flow_edge){from, to, in, 0};
        *at = flow->edges.count;
      } else if (shape_values(&model->nodes.at[in].out) >
                 shape_values(
                     &model->nodes.at[flow->edges.at[*at - 1].node].out)) {
        flow->edges.at[*at - 1].node = in;
      }
    }
  }
}

/* Shorter ones first, so that longer ones pass over them. */
static int by_length(const void *a, const void *b) {
  const struct flow_edge *x = *(struct flow_edge *const *)a;
  const struct flow_edge *y = *(struct flow_edge *const *)b;
  size_t left = x->to - x->from, right = y->to - y->from;
  if (left != right)
    return left < right ? -1 : 1;
  return x->from < y->from ? -1 : x->from > y->from;
}

static void choose_lanes(struct flow *flow) {
  struct arena *arena = flow->c->arena;
  bool *taken = arena_alloc(arena, MOST_LANES * (flow->count + 1),
                            sizeof *taken); /* by lane and gap of boxes */
  struct flow_edge **order =
      arena_alloc(arena, flow->edges.count + 1, sizeof *order);
  for (size_t i = 0; i < flow->edges.count; i++)
    order[i] = &flow->edges.at[i];
  if (flow->edges.count)
    qsort(order, flow->edges.count, sizeof *order, by_length);
  for (size_t i = 0; i < flow->edges.count; i++) {
    struct flow_edge *edge = order[i];
    int lane = 1;
    if (edge->to == edge->from + 1)
      continue;
    for (; lane <= MOST_LANES; lane++) {
      bool *gaps = &taken[(size_t)(lane - 1) * (flow->count + 1)], free = true;
      for (size_t gap = edge->from; gap < edge->to; gap++)
        free = free && !gaps[gap];
      if (!free)
        continue;
      memset(&gaps[edge->from], true, edge->to - edge->from);
      break;
    }
    edge->lane = lane <= MOST_LANES ? lane : -1;
    if (lane > MOST_LANES)
      flow->hidden++;
    else if (lane > flow->lanes)
      flow->lanes = lane;
  }
}

struct flow flow_of(const struct compiled *c,
                    const struct emit_options *options, size_t most,
                    enum flow_alike alike) {
  struct builder b = {.flow = {.c = c, .options = *options}, .alike = alike};
  choose_depth(&b, most);
  b.box_of = arena_alloc(c->arena, b.flow.rows.count + 1, sizeof *b.box_of);
  find_edges(&b);
  choose_lanes(&b.flow);
  return b.flow;
}

/* Texts */

void flow_put_name(struct text *out, const struct flow *flow,
                   const struct flow_box *box) {
  if (box->elided) {
    text_count(out, (int64_t)flow_size(box));
    text_put(out, " rows");
    return;
  }
  row_put_name(out, flow->c, &flow->rows.at[box->first]);
  if (flow_size(box) > 1)
    text_printf(out, " x %zu", flow_size(box));
}

/* relu1: relu */
static bool says_it(struct slice name, struct slice layer) {
  size_t i = layer.length;
  if (name.length <= i || memcmp(name.at, layer.at, i) != 0)
    return false;
  while (i < name.length && name.at[i] >= '0' && name.at[i] <= '9')
    i++;
  return i == name.length;
}

void flow_put_layer(struct text *out, const struct flow *flow,
                    const struct flow_box *box) {
  const struct row *row = flow_row(flow, box);
  const struct node *node = &flow->c->model->nodes.at[row->head];
  struct text name = text_new(out->arena), layer = text_new(out->arena);
  if (box->elided)
    return;
  if (node->kind == &model_input_kind)
    shape_put(&layer, row_shape(flow->c, row), flow->options.layout);
  else
    row_put_layer(&layer, flow->c, row, false);
  name_put(&name, &node->name);
  if (row->group != NO_NODE || !says_it(text_slice(&name), text_slice(&layer)))
    text_puts(out, text_slice(&layer));
}

void flow_put_change(struct text *out, const struct flow *flow,
                     const struct flow_edge *edge) {
  const struct model *model = flow->c->model;
  const struct shape *shape = &model->nodes.at[edge->node].out;
  const struct row *row = flow_row(flow, &flow->boxes[edge->from]);
  const struct node *head = &model->nodes.at[row->first];
  if (head->kind == &model_input_kind)
    return; /* its own box says it */
  if (!head->input_count ||
      !shape_equal(shape, &model->nodes.at[node_input(model, head, 0)].out))
    shape_put(out, shape, flow->options.layout);
}

void flow_put_remarks(struct text *out, const struct flow *flow) {
  if (flow->folded)
    text_put(out, " Groups are folded, so that it fits.");
  if (flow->elided) {
    text_putc(out, ' ');
    text_count(out, (int64_t)flow->elided);
    text_put(out, " rows in the middle are left out.");
  }
  if (flow->hidden) {
    text_putc(out, ' ');
    text_count(out, (int64_t)flow->hidden);
    text_put(out, " connections are not drawn.");
  }
}
