/*
 * Places: the last layers of a net are on a card, the others in the host's
 * memory, as in llama.cpp (src/llama-model.cpp, load_tensors). A layer is an
 * iteration of the loop that has a KV cache or a state; outside of loops it
 * begins where a single tensor leads to a cache or a state. The output is one
 * more layer. The token embedding, in front of all layers, is on the host.
 * Several cards have one part each: layer k of n is on the first card whose
 * share, with those of the cards before it, exceeds k / n.
 */
#include <string.h>

#include "base/check.h"
#include "memory/serving/serving.h"
#include "sema/repeat/iteration.h"

/* A layer with a cache or a state, and the iteration it is in; NULL: none. */
struct anchor {
  int64_t node;
  const struct frame *turn;
};
struct anchors {
  VEC(struct anchor) all;
  VEC(const struct frame *) loops; /* an iteration of each loop of anchors */
  int64_t *reach; /* the last node that reads what is made before each */
};

static bool repeats(const struct anchors *anchors, const struct frame *turn) {
  for (size_t i = 0; i < anchors->loops.count; i++)
    if (anchors->loops.at[i]->stmt == turn->stmt &&
        anchors->loops.at[i]->parent == turn->parent)
      return true;
  return false;
}

/* The innermost loops that have anchors in several iterations. */
static void find_turns(const struct model *model, struct arena *arena,
                       struct anchors *anchors) {
  struct anchor *at = anchors->all.at;
  for (size_t i = 1; i < anchors->all.count; i++) {
    const struct frame *turn =
        iteration_apart(model, at[i].node, at[i - 1].node);
    if (turn && !repeats(anchors, turn))
      *VEC_PUSH(arena, &anchors->loops) = turn;
  }
  for (size_t i = 0; i < anchors->all.count; i++) {
    const struct frame *frame = model->nodes.at[at[i].node].frame;
    while (frame && !repeats(anchors, frame))
      frame = frame->parent;
    at[i].turn = frame;
  }
}

static void find_anchors(const struct model *model, struct arena *arena,
                         struct anchors *anchors) {
  const struct shape **in = model_layer_room(model);
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (!model->nodes.at[i].train_only && serving_grows(&layer))
      *VEC_PUSH(arena, &anchors->all) = (struct anchor){.node = (int64_t)i};
  }
  find_turns(model, arena, anchors);
}

static void find_readers(const struct model *model, struct arena *arena,
                         struct anchors *anchors) {
  size_t count = model->nodes.count;
  int64_t *reach = arena_alloc(arena, count + 1, sizeof *reach);
  for (size_t i = 0; i < count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      reach[node_input(model, node, k) + 1] = (int64_t)i;
  }
  for (size_t i = 1; i <= count; i++)
    reach[i] = max_i64(reach[i], reach[i - 1]);
  anchors->reach = reach;
}

/* The last node up to `node` to which one tensor alone leads, or `least`. */
static int64_t led_to(const struct anchors *anchors, int64_t node,
                      int64_t least) {
  while (node > least && anchors->reach[node - 1] >= node)
    node--;
  return node;
}

/* The node after the iteration, or after an anchor outside of loops. */
static int64_t end_of(const struct anchor *anchor) {
  return anchor->turn ? anchor->turn->end : anchor->node + 1;
}

/* A layer outside of loops that comes first begins after the embedding. */
static int64_t after_table(const struct model *model, int64_t anchor) {
  int64_t node = anchor;
  while (node > 0 && model->nodes.at[node - 1].kind->input != INPUT_INDEX)
    node--;
  return node;
}

/* Two anchors outside of loops are layers of their own if a single tensor leads
   from one to the other. */
static bool is_same_layer(const struct anchors *anchors,
                          const struct anchor *anchor,
                          const struct anchor *before) {
  return anchor->turn == before->turn &&
         (anchor->turn ||
          led_to(anchors, anchor->node, before->node) == before->node);
}

/* The first node of an anchor's layer; `before` may be NULL. */
static int64_t begin_of(const struct model *model,
                        const struct anchors *anchors,
                        const struct anchor *anchor,
                        const struct anchor *before) {
  int64_t least = before ? before->node + 1 : 0;
  if (!before && !anchor->turn)
    least = after_table(model, anchor->node);
  if (!anchor->turn)
    return before && before->turn
               ? end_of(before)
               : led_to(anchors, anchor->node, before ? before->node : least);
  if (before && end_of(before) <= anchor->node)
    least = end_of(before);
  return max_i64(least, anchor->turn->first);
}

/*
 * The first node of the output layer: all that is after the last iteration.
 * Outside of loops, the last matrix with what leads to it alone, a norm.
 */
static int64_t output_of(const struct model *model,
                         const struct anchors *anchors,
                         const struct anchor *last) {
  int64_t first = (int64_t)model->nodes.count;
  if (last->turn)
    return end_of(last);
  for (int64_t i = first - 1; i > last->node; i--)
    if (model->nodes.at[i].param_count && !model->nodes.at[i].train_only) {
      first = i;
      break;
    }
  while (first - 1 > last->node && model->nodes.at[first - 1].input_count < 2 &&
         anchors->reach[first - 1] < first)
    first--;
  return first;
}

int64_t serving_layers(const struct model *model, struct arena *arena,
                       int32_t *slot) {
  struct anchors anchors = {0};
  int32_t layers = 0;
  find_anchors(model, arena, &anchors);
  find_readers(model, arena, &anchors);
  const struct anchor *at = anchors.all.at;
  for (size_t i = 0; i < anchors.all.count; i++) {
    const struct anchor *before = i ? &at[i - 1] : NULL;
    if (!before || !is_same_layer(&anchors, &at[i], before))
      slot[begin_of(model, &anchors, &at[i], before)] = ++layers;
  }
  int64_t output = output_of(model, &anchors, &at[anchors.all.count - 1]);
  int32_t now = 0;
  for (int64_t i = 0; i < (int64_t)model->nodes.count; i++) {
    now = i == output ? layers + 1 : slot[i] > now ? slot[i] : now;
    slot[i] = now;
  }
  return layers + 1;
}

bool serving_parts(const struct infer_settings *infer) {
  return infer->gpu_layers != GPU_LAYERS_OFF || infer->host_experts ||
         infer->tensor_split == SPLIT_LIST || infer->pipeline > 1;
}

int serving_next_place(const struct serving *s, int place) {
  return place + 1 < s->cards ? place + 1
         : place < ON_HOST    ? ON_HOST
                              : SERVED_PLACES;
}

/* The card of layer `layer`, from 0, of those on cards. */
static enum served_place card_of(const struct serving *s, int64_t layer) {
  int card = ON_CARD;
  double at = (double)layer / (double)s->on_card;
  while (card + 1 < s->cards && s->ends[card] <= at)
    card++;
  return (enum served_place)card;
}

enum served_place serving_place(const struct serving *s, int64_t node) {
  int64_t experts = s->settings->infer.host_experts;
  if (!s->parted)
    return ON_CARD;
  int64_t slot = s->slot[node], blocks = s->blocks - 1;
  if (slot == 0 && s->staged)
    return ON_CARD;
  if (slot == 0 || (s->model->nodes.at[node].copies > 1 &&
                    (experts == EXPERTS_ALL || slot <= experts)))
    return ON_HOST;
  bool there = slot > blocks ? s->on_card > blocks : slot > blocks - s->on_card;
  int64_t first = max_i64(blocks - s->on_card, 0); /* on a card, from 0 */
  return there ? card_of(s, slot - 1 - first) : ON_HOST;
}

static void clear(struct serving *s, bool **marks, size_t count) {
  if (!*marks)
    *marks = arena_alloc(s->arena, count + 1, sizeof **marks);
  memset(*marks, 0, count);
}

/* Marks each storage where it is made and where it is read. */
static void find_reach(struct serving *s) {
  const struct tape *tape = &s->trace.tape;
  for (int place = ON_CARD; place < SERVED_PLACES;
       place = serving_next_place(s, place))
    clear(s, &s->reaches[place], tape->storages.count);
  for (size_t i = 0; i < tape->ops.count; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    bool *reaches = s->reaches[serving_place(s, op->node)];
    for (int k = 0; k < op->facts->in_count; k++)
      reaches[tape->values.at[tape_input(tape, op, k)].storage] = true;
    for (int k = 0; k < op->facts->out_count; k++)
      reaches[tape->values.at[op->first_out + (size_t)k].storage] = true;
  }
}

static bool is_held(const struct serving *s, size_t root) {
  bool held = false;
  for (int place = ON_CARD; place < SERVED_PLACES;
       place = serving_next_place(s, place))
    held = held || s->held[place][root];
  return held;
}

static bool add_node(struct serving *s, int64_t index) {
  const struct model *model = s->model;
  const struct node *node = &model->nodes.at[index];
  enum served_place place = serving_place(s, index);
  int64_t bytes;
  for (int i = 0; i < node->param_count; i++) {
    size_t root = model->params.at[node->first_param + (size_t)i].same;
    if (s->held[place][root])
      continue;
    if (!serving_weight(s, root, &bytes) ||
        !add_i64(s->weights[place], bytes, &s->weights[place]))
      return false;
    if (is_held(s, root))
      s->copied += bytes;
    s->held[place][root] = true;
  }
  if (node->shares != NO_NODE)
    return true;
  return element_bytes(s->settings->infer.dtype,
                       model_cost(model, index)->buffers, &bytes) &&
         add_i64(s->weights[place], bytes, &s->weights[place]) &&
         add_i64(s->weights[place], node_index_bytes(node), &s->weights[place]);
}

bool serving_put(struct serving *s, int64_t on_card) {
  size_t params = s->model->params.count;
  s->on_card = min_i64(on_card, s->blocks);
  s->copied = 0;
  for (int i = 0; i < KNOWN_STEPS; i++)
    s->known[i].bytes = -1;
  for (int place = ON_CARD; place < SERVED_PLACES;
       place = serving_next_place(s, place)) {
    s->weights[place] = 0;
    clear(s, &s->held[place], params);
  }
  for (size_t i = 0; i < s->model->nodes.count; i++)
    if (!s->model->nodes.at[i].train_only && !add_node(s, (int64_t)i))
      return false;
  find_reach(s);
  return true;
}
