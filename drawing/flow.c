/* Flow: reduces a net to few enough boxes, with edges. */
#include "drawing/flow.h"

#include <stdlib.h>

enum { FEWEST = 5, MOST_LANES = 10 };

enum { NO_LEAF = -1, SEVERAL = -2 };

struct builder {
  struct flow flow;
  enum flow_join join;
  int64_t *reads;   /* by leaf: the only leaf that it reads, or SEVERAL */
  int64_t *read_by; /* by leaf: its only reader, or SEVERAL */
  bool *parted;     /* by leaf: a frame begins or ends before it */
  size_t *box_of;   /* by leaf */
};

static size_t leaf_of(const struct flow *flow, int64_t node) {
  return flow->leaves.of_row[flow->leaves.rows.of_node[node]];
}

/* Readers of leaves */

static void note(int64_t *at, size_t leaf) {
  *at = *at == NO_LEAF || *at == (int64_t)leaf ? (int64_t)leaf : SEVERAL;
}

static void find_readers(struct builder *b) {
  const struct model *model = b->flow.c->model;
  const struct flow *flow = &b->flow;
  size_t count = flow->leaves.count;
  b->reads = arena_alloc(flow->c->arena, count + 1, sizeof *b->reads);
  b->read_by = arena_alloc(flow->c->arena, count + 1, sizeof *b->read_by);
  for (size_t i = 0; i < count; i++)
    b->reads[i] = b->read_by[i] = NO_LEAF;
  for (size_t n = 0; n < model->nodes.count && count; n++) {
    const struct node *node = &model->nodes.at[n];
    size_t to = leaf_of(flow, (int64_t)n);
    for (int k = 0; k < node->input_count; k++) {
      size_t from = leaf_of(flow, node_input(model, node, k));
      if (from == to)
        continue;
      note(&b->reads[to], from);
      note(&b->read_by[from], to);
    }
  }
  for (size_t i = 0; i < model->outputs.count && count; i++)
    b->read_by[leaf_of(flow, model->outputs.at[i].node)] = SEVERAL;
}

static void find_borders(struct builder *b) {
  const struct leaves *leaves = &b->flow.leaves;
  b->parted =
      arena_alloc(b->flow.c->arena, leaves->count + 1, sizeof *b->parted);
  for (size_t i = 0; i < leaves->frames.count; i++)
    b->parted[leaves->frames.at[i].first] =
        b->parted[leaves->frames.at[i].end] = true;
}

/* True if a leaf has the shape, or size, of the one before it. */
static bool is_like(const struct builder *b, const struct leaf *leaf) {
  const struct leaves *leaves = &b->flow.leaves;
  const struct shape *now = row_shape(leaves->c, leaf_row(leaves, leaf));
  const struct shape *before = row_shape(leaves->c, leaf_row(leaves, leaf - 1));
  int sides = shape_spatial(now);
  return shape_equal(now, before) ||
         (b->join == FLOW_SIZES && sides && shape_spatial(before) == sides &&
          memcmp(now->dim, before->dim, (size_t)sides * sizeof *now->dim) == 0);
}

/* True if a leaf joins the box of the one before it. */
static bool goes_on(const struct builder *b, size_t leaf) {
  return b->join && leaf > 0 &&
         (b->join == FLOW_SIZES || b->reads[leaf] == (int64_t)leaf - 1) &&
         b->read_by[leaf - 1] == (int64_t)leaf &&
         b->reads[leaf - 1] != NO_LEAF && !b->parted[leaf] &&
         is_like(b, &b->flow.leaves.at[leaf]);
}

/* Boxes */

static void make_boxes(struct builder *b) {
  struct flow *flow = &b->flow;
  flow->boxes =
      arena_alloc(flow->c->arena, flow->leaves.count + 1, sizeof *flow->boxes);
  flow->count = 0;
  find_readers(b);
  find_borders(b);
  for (size_t i = 0; i < flow->leaves.count; i++) {
    if (!goes_on(b, i))
      flow->boxes[flow->count++].first = i;
    flow->boxes[flow->count - 1].end = i + 1;
  }
}

/* Leaves out the middle, since both ends say more. */
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

/* Leaves out inner lines until the boxes fit. */
static void find_leaves(struct builder *b, size_t most, enum fold_how how) {
  struct flow *flow = &b->flow;
  flow->leaves = leaves_of(flow->c, how);
  make_boxes(b);
  while (flow->count > most && leaves_close(&flow->leaves, FEWEST))
    make_boxes(b);
}

/* Prefers one iteration for all sizes to a hole in the middle. */
static void choose_leaves(struct builder *b, size_t most) {
  struct flow *flow = &b->flow;
  find_leaves(b, most, FOLD_EQUAL);
  if (flow->count > most) {
    struct builder equal = *b;
    find_leaves(b, most, FOLD_ALIKE);
    flow->alike = flow->count < equal.flow.count;
    if (!flow->alike)
      *b = equal;
  }
}

static void map_leaves(struct builder *b) {
  struct flow *flow = &b->flow;
  b->box_of =
      arena_alloc(flow->c->arena, flow->leaves.count + 1, sizeof *b->box_of);
  for (size_t i = 0; i < flow->count; i++)
    for (size_t k = flow->boxes[i].first; k < flow->boxes[i].end; k++)
      b->box_of[k] = i;
}

/* No frame begins or ends inside the elided boxes. */
static void find_frames(struct builder *b) {
  struct flow *flow = &b->flow;
  for (size_t i = 0; i < flow->leaves.frames.count; i++) {
    const struct leaf_frame *from = &flow->leaves.frames.at[i];
    struct flow_frame frame = {b->box_of[from->first],
                               b->box_of[from->end - 1] + 1, from->times};
    if (!flow->boxes[frame.first].elided && !flow->boxes[frame.end - 1].elided)
      *VEC_PUSH(flow->c->arena, &flow->frames) = frame;
  }
}

/* Edges */

static void find_edges(struct builder *b) {
  struct flow *flow = &b->flow;
  const struct model *model = flow->c->model;
  struct arena *arena = flow->c->arena;
  size_t *edge = arena_alloc(arena, flow->count * flow->count + 1,
                             sizeof *edge); /* index from 1 */
  for (size_t n = 0; n < model->nodes.count && flow->count; n++) {
    const struct node *node = &model->nodes.at[n];
    size_t to = b->box_of[leaf_of(flow, (int64_t)n)];
    for (int k = 0; k < node->input_count; k++) {
      int64_t in = node_input(model, node, k);
      size_t from = b->box_of[leaf_of(flow, in)];
      size_t *at = &edge[from * flow->count + to];
      if (from >= to) /* the next iteration of a frame */
        continue;
      if (!*at) {
        *VEC_PUSH(arena, &flow->edges) = (struct flow_edge){from, to, in, 0};
        *at = flow->edges.count;
        continue;
      }
      struct flow_edge *known = &flow->edges.at[*at - 1];
      if (shape_values(model->nodes.at[in].out) >
          shape_values(model->nodes.at[known->node].out))
        known->node = in;
    }
  }
}

/* Shorter edges first, so that longer ones pass over them. */
static int by_length(const void *a, const void *b) {
  const struct flow_edge *x = *(struct flow_edge *const *)a;
  const struct flow_edge *y = *(struct flow_edge *const *)b;
  size_t left = x->to - x->from, right = y->to - y->from;
  if (left != right)
    return left < right ? -1 : 1;
  return x->from < y->from ? -1 : x->from > y->from;
}

/* True if no other box's edge is in these gaps of a lane, which is taken. */
static bool take_lane(size_t *gaps, const struct flow_edge *edge) {
  for (size_t gap = edge->from; gap < edge->to; gap++)
    if (gaps[gap] && gaps[gap] != edge->from + 1)
      return false;
  for (size_t gap = edge->from; gap < edge->to; gap++)
    gaps[gap] = edge->from + 1;
  return true;
}

void flow_choose_lanes(struct flow *flow, const int *rows) {
  struct arena *arena = flow->c->arena;
  size_t count = rows ? flow->count : 1;
  size_t *taken = arena_alloc(arena, count * MOST_LANES * (flow->count + 1),
                              sizeof *taken); /* by row, lane and gap */
  struct flow_edge **order =
      arena_alloc(arena, flow->edges.count + 1, sizeof *order);
  for (size_t i = 0; i < flow->edges.count; i++)
    order[i] = &flow->edges.at[i];
  if (flow->edges.count)
    qsort(order, flow->edges.count, sizeof *order, by_length);
  flow->hidden = 0;
  for (size_t i = 0; i < flow->edges.count; i++) {
    struct flow_edge *edge = order[i];
    int row = rows                         ? rows[edge - flow->edges.at]
              : edge->to == edge->from + 1 ? -1
                                           : 0;
    int lane = row < 0 ? 0 : 1;
    while (lane && lane <= MOST_LANES &&
           !take_lane(&taken[((size_t)row * MOST_LANES + (size_t)lane - 1) *
                             (flow->count + 1)],
                      edge))
      lane++;
    edge->lane = lane <= MOST_LANES ? lane : -1;
    flow->hidden += lane > MOST_LANES;
  }
}

struct flow flow_of(const struct compiled *c, size_t most,
                    enum flow_join join) {
  struct builder b = {.flow = {.c = c},
                      .join = join == FLOW_SIZES ? FLOW_SHAPES : join};
  choose_leaves(&b, most);
  if (join == FLOW_SIZES) {
    b.join = join;
    make_boxes(&b);
  }
  if (b.flow.count > most)
    elide(&b.flow, most);
  map_leaves(&b);
  find_frames(&b);
  find_edges(&b);
  flow_choose_lanes(&b.flow, NULL);
  return b.flow;
}

/* Texts */

int64_t flow_turns(const struct flow *flow, const struct flow_box *box) {
  int64_t turns = 0;
  for (size_t i = box->first; i < box->end; i++)
    turns += flow->leaves.at[i].line->times;
  return turns;
}

/* True if all leaves of a box are layers of one kind, or groups. */
static bool is_of_one_kind(const struct flow *flow,
                           const struct flow_box *box) {
  const struct model *model = flow->c->model;
  const struct row *first = leaf_row(&flow->leaves, flow_leaf(flow, box));
  for (size_t i = box->first + 1; i < box->end; i++) {
    const struct row *row = leaf_row(&flow->leaves, &flow->leaves.at[i]);
    bool groups = first->group != NO_NODE && row->group != NO_NODE;
    if ((flow->leaves.at[i].line->period > 1) !=
        (flow_leaf(flow, box)->line->period > 1))
      return false;
    if (!groups &&
        (first->group != NO_NODE || row->group != NO_NODE ||
         model->nodes.at[first->head].kind != model->nodes.at[row->head].kind))
      return false;
  }
  return true;
}

void flow_put_count(struct text *out, const struct flow *flow,
                    const struct flow_box *box) {
  int64_t turns = flow_turns(flow, box);
  if (turns > 1 && is_of_one_kind(flow, box))
    text_printf(out, " \xC3\x97 %lld", (long long)turns);
  else if (turns > 1)
    text_printf(out, " +%lld", (long long)turns - 1);
}

/* In plain words; inputs keep their names. */
static void put_plain_name(struct text *out, const struct flow *flow,
                           const struct flow_box *box) {
  struct text words = text_new(flow->c->arena);
  leaf_put_layer(&words, &flow->leaves, flow_leaf(flow, box));
  if (words.length)
    text_puts(out, text_slice(&words));
  else
    leaf_put_name(out, &flow->leaves, flow_leaf(flow, box));
}

void flow_put_name(struct text *out, const struct flow *flow,
                   const struct flow_box *box) {
  if (box->elided) {
    text_count(out, (int64_t)flow_size(box));
    text_put(out, " boxes left out");
    return;
  }
  if (!flow->c->options->source_labels)
    put_plain_name(out, flow, box);
  else
    leaf_put_name(out, &flow->leaves, flow_leaf(flow, box));
  flow_put_count(out, flow, box);
}

/* True if a name such as relu1 already contains the layer's word. */
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
  if (!flow->c->options->source_labels && node->kind != &model_input_kind)
    return; /* the layer is already the name */
  if (node->kind == &model_input_kind)
    shape_put(&layer, row_shape(flow->c, row), output_layout(flow->c));
  else
    leaf_put_layer(&layer, &flow->leaves, flow_leaf(flow, box));
  name_put(&name, &node->name);
  if (flow_is_group(flow, box) ||
      !says_it(text_slice(&name), text_slice(&layer)))
    text_puts(out, text_slice(&layer));
}

void flow_put_change(struct text *out, const struct flow *flow,
                     const struct flow_edge *edge) {
  const struct model *model = flow->c->model;
  const struct shape *shape = model->nodes.at[edge->node].out;
  const struct leaf *leaf = flow_leaf(flow, &flow->boxes[edge->from]);
  const struct row *row = &flow->leaves.rows.at[leaf->line->row];
  const struct node *head = &model->nodes.at[row->first];
  if (head->kind == &model_input_kind)
    return; /* shown in its own box */
  if (!head->input_count ||
      !shape_equal(shape, model->nodes.at[node_input(model, head, 0)].out))
    shape_put(out, shape, output_layout(flow->c));
}

void flow_put_remarks(struct text *out, const struct flow *flow) {
  if (flow->leaves.closed)
    text_put(out, " Groups are folded to fit.");
  if (flow->alike)
    text_put(out, " Repeats with other sizes or inputs are drawn like the "
                  "first.");
  if (flow->elided)
    text_printf(out, " %s %s left out.", count_text((int64_t)flow->elided).text,
                flow->elided == 1 ? "box in the middle is"
                                  : "boxes in the middle are");
  if (flow->hidden)
    text_printf(out, " %s %s not drawn.",
                count_text((int64_t)flow->hidden).text,
                flow->hidden == 1 ? "connection is" : "connections are");
}
