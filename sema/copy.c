/*
 * Copies: most iterations of a long loop make the same. If its statements are
 * literals and the tensor has the shape that the iteration before had, then an
 * iteration adds to the model what that one added, further on.
 */
#include "base/check.h"
#include "sema/statements.h"

/* The state in front of the next iteration. */
static struct turn_mark mark_of(const struct expander *e) {
  const struct model *model = e->model;
  const struct node *current = NULL;
  if (e->current != NO_NODE && !e->lost)
    current = &model->nodes.at[e->current];
  return (struct turn_mark){.nodes = model->nodes.count,
                            .inputs = model->inputs.count,
                            .params = model->params.count,
                            .steps = e->steps,
                            .current = e->current,
                            .shape = current ? current->out : NULL,
                            .train_only = current && current->train_only};
}

struct loop loop_begin(const struct expander *e, const struct stmt *stmt,
                       int64_t total) {
  return (struct loop){.stmt = stmt, .total = total, .at[2] = mark_of(e)};
}

/* Both iterations began with the same, and so does the next one. */
static bool were_alike(const struct turn_mark *at) {
  for (int i = 0; i < 2; i++)
    if (!at[i].shape || !at[i + 1].shape ||
        !shape_equal(at[i].shape, at[i + 1].shape) ||
        at[i].train_only != at[i + 1].train_only)
      return false;
  int64_t length = (int64_t)(at[2].nodes - at[1].nodes);
  return length > 0 && at[2].current - at[1].current == length;
}

/* The number of coming iterations that stay below all limits. */
static int64_t turns_within(const struct expander *e, const struct loop *loop,
                            int64_t turns) {
  const struct turn_mark *a = &loop->at[1], *b = &loop->at[2];
  int64_t most = e->in->node_budget ? e->in->node_budget : LIMIT_LAYERS;
  const int64_t limits[][3] = {
      {most, (int64_t)b->nodes, (int64_t)(b->nodes - a->nodes)},
      {LIMIT_STEPS, b->steps, b->steps - a->steps},
      {INT32_MAX, (int64_t)b->inputs, (int64_t)(b->inputs - a->inputs)},
      {INT32_MAX, (int64_t)b->params, (int64_t)(b->params - a->params)}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i][2])
      turns = min_i64(turns, (limits[i][0] - limits[i][1]) / limits[i][2]);
  return max_i64(turns, 0);
}

static struct frame *copy_frames(struct expander *e, const struct loop *loop,
                                 int64_t done, int64_t turns) {
  struct frame *frames = arena_room(e->arena, (size_t)turns, sizeof *frames);
  int64_t first = (int64_t)loop->at[2].nodes;
  int64_t length = first - (int64_t)loop->at[1].nodes;
  for (int64_t i = 0; i < turns; i++) {
    frames[i] = *e->model->nodes.at[loop->at[1].nodes].frame;
    frames[i].ordinal = (int32_t)(done + i + 1);
    frames[i].first = (int32_t)(first + i * length);
    frames[i].end = (int32_t)(first + (i + 1) * length);
  }
  return frames;
}

/* Each node is that of the iteration before; numbers in names grow as before.
 */
static void copy_nodes(struct expander *e, const struct loop *loop,
                       struct frame *frames, size_t turns) {
  struct model *model = e->model;
  const struct turn_mark *a = &loop->at[1], *b = &loop->at[2];
  size_t length = b->nodes - a->nodes;
  struct node *node = VEC_MORE(e->arena, &model->nodes, turns * length);
  for (size_t turn = 0; turn < turns; turn++)
    for (size_t i = 0; i < length; i++, node++) {
      *node = node[-(ptrdiff_t)length];
      node->name.ordinal +=
          node->name.ordinal - node[-2 * (ptrdiff_t)length].name.ordinal;
      node->head += (int32_t)length;
      node->first_input += (uint32_t)(b->inputs - a->inputs);
      node->first_param += (uint32_t)(b->params - a->params);
      node->frame = &frames[turn];
    }
}

static void copy_parts(struct expander *e, const struct loop *loop,
                       size_t turns) {
  struct model *model = e->model;
  const struct turn_mark *a = &loop->at[1], *b = &loop->at[2];
  size_t inputs = b->inputs - a->inputs, params = b->params - a->params;
  uint32_t length = (uint32_t)(b->nodes - a->nodes);
  if (inputs) {
    uint32_t *input = VEC_MORE(e->arena, &model->inputs, turns * inputs);
    for (size_t i = 0; i < turns * inputs; i++, input++)
      *input = input[-(ptrdiff_t)inputs] + length;
  }
  if (params) {
    struct model_param *param =
        VEC_MORE(e->arena, &model->params, turns * params);
    for (size_t i = 0; i < turns * params; i++, param++) {
      *param = param[-(ptrdiff_t)params];
      param->same += (uint32_t)params;
    }
  }
}

int64_t loop_copy(struct expander *e, struct loop *loop, int64_t done) {
  loop->at[0] = loop->at[1];
  loop->at[1] = loop->at[2];
  loop->at[2] = mark_of(e);
  if (done < 2 || e->diags->errors || e->stopped || e->share != NO_NODE ||
      !were_alike(loop->at) || !block_repeats(e, loop->stmt->more->block) ||
      !names_are_counted(e))
    return 0;
  int64_t turns = turns_within(e, loop, loop->total - done);
  size_t length = loop->at[2].nodes - loop->at[1].nodes;
  if (turns == 0)
    return 0;
  copy_parts(e, loop, (size_t)turns);
  copy_nodes(e, loop, copy_frames(e, loop, done, turns), (size_t)turns);
  e->steps += turns * (loop->at[2].steps - loop->at[1].steps);
  e->current += turns * (int64_t)length;
  for (size_t i = e->model->nodes.count - length; i < e->model->nodes.count;
       i++)
    if (e->model->nodes.at[i].head == (int64_t)i)
      name_given(e, &e->model->nodes.at[i].name);
  return turns;
}
