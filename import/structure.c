/*
 * Turns a graph into statements. A join's operands are blocks if a node d
 * dominates the join and no tensor between d and the join has other users; d is
 * then the tensor before the join. All other operands are named.
 */
#include <inttypes.h>
#include <string.h>

#include "import/builder.h"

enum {
  DEEPEST = 150 /* nesting of emit; deeper operands are written late */
};

/* Statements. */

static struct source_piece *put(struct source_builder *b, struct statement *s,
                                enum piece_kind kind) {
  return statement_put(b->plan, s, kind);
}

static void put_word(struct source_builder *b, struct statement *s,
                     const char *word) {
  statement_put_text(b->plan, s, PART_NONE, word);
}

static struct statement *begin(struct source_builder *b,
                               struct source_block *out) {
  struct statement *s = VEC_PUSH(b->arena, &out->all);
  s->node = -1;
  s->first = s->last = b->plan->count;
  return s;
}

/* Adds a label of a node, and notes the ordinal that reads it. */
static void put_label(struct source_builder *b, struct statement *s,
                      const char *key, int node) {
  struct source_piece *piece = put(b, s, PIECE_LABEL);
  piece->text.before = key;
  piece->node = node;
  b->plan->labelled[node] = true;
  b->plan->read_until[node] = b->plan->count;
}

/* True for a convolution of 1x1 without padding. */
static bool may_be_padded(const struct graph_node *node) {
  bool one = false;
  for (size_t i = 0; i < node->args.count; i++) {
    one = one || part_is_one(&node->args.at[i]);
    if (strncmp(node->args.at[i].before, "pad", 3) == 0)
      return false;
  }
  return one && (node->word == WORD_CONV || node->word == WORD_DWCONV);
}

static void put_args(struct source_builder *b, struct statement *s,
                     const struct graph_node *node) {
  bool pads = b->layout.pads && may_be_padded(node);
  for (size_t i = 0; i < node->args.count; i++) {
    put(b, s, PIECE_TEXT)->text = node->args.at[i];
    if (pads && node->args.at[i].part == PART_STRIDE)
      put_word(b, s, "pad");
  }
}

/* By default, a layer with bn in its tail has no bias and others have one. */
static void put_bias(struct source_builder *b, struct statement *s,
                     const struct graph_node *node) {
  if (node->bias == BIAS_UNSAID)
    return;
  const char *word = node->bias == BIAS_WITH ? "bias" : "nobias";
  s->bias = s->pieces.count + 1;
  put(b, s, PIECE_TEXT)->text = (struct part_text){
      PART_NONE, "", word, node->bias == BIAS_WITH ? word : NULL, NULL};
}

static void note_bn_in_tail(struct statement *s, enum layer_word word) {
  if (s->bias && word == WORD_BN) {
    struct part_text *bias = &s->pieces.at[s->bias - 1].text;
    bias->usual = strcmp(bias->value, "nobias") == 0 ? bias->value : NULL;
  }
}

/* True for activations and norms, which can follow a layer on its line. */
static bool may_be_in_tail(const struct graph_node *node) {
  switch (node->word) {
  case WORD_BN:
  case WORD_LEAKY:
  case WORD_GELU:
  case WORD_ELU:
  case WORD_SOFTMAX:
  case WORD_PRELU:
  case WORD_LOGSOFTMAX: return graph_feeds(node) == 1;
  default:
    return function_of(node->word) && !function_of(node->word)->arithmetic &&
           graph_feeds(node) == 1;
  }
}

/* Writes a layer of a tail: `leaky(0.1)`. */
static void put_in_tail(struct source_builder *b, struct statement *s,
                        const struct graph_node *node) {
  struct text text = text_new(b->arena);
  size_t shown = 0;
  text_put(&text, word_name(node->word));
  for (size_t i = 0; i < node->args.count; i++) {
    const struct part_text *arg = &node->args.at[i];
    if (!part_is_shown(arg))
      continue;
    text_put(&text, shown++ ? ", " : "(");
    text_put(&text, arg->before);
    text_put(&text, arg->value);
  }
  text_put(&text, shown ? ")" : "");
  put_word(b, s, text_string(&text));
  note_bn_in_tail(s, node->word);
}

/* True if `frozen`, which covers a layer and its tail, is right for both. */
static bool frozen_alike(const struct source_builder *b,
                         const struct statement *s,
                         const struct graph_node *node) {
  bool weighs = node->word == WORD_BN || node->word == WORD_PRELU;
  const struct graph_node *head = graph_at(b->graph, b->plan->order[s->first]);
  return !weighs || node->frozen == head->frozen;
}

/* True if `node` can join the tail of the last statement. */
static bool joins_tail(const struct source_builder *b,
                       const struct source_block *out,
                       const struct graph_node *node) {
  if (b->layout.flat || out->all.count == 0 || !may_be_in_tail(node))
    return false;
  const struct statement *s = &out->all.at[out->all.count - 1];
  int before = node->inputs.at[0];
  return s->takes_tail && s->node == before && frozen_alike(b, s, node) &&
         b->tree.first_use[before + 1] - b->tree.first_use[before] == 1 &&
         !graph_at(b->graph, before)->output;
}

/* Marks a node as written. In the flat layout each has the file's name. */
static void enlist(struct source_builder *b, const struct graph_node *node) {
  if (b->layout.flat && node->name && node->word != WORD_INPUT)
    b->plan->labelled[node->index] = true;
  b->plan->ordinal[node->index] = b->plan->count;
  b->plan->order[b->plan->count++] = node->index;
  b->written[node->index] = true;
}

static void emit(struct source_builder *b, struct source_block *out,
                 int *current, int target);

static void emit_target(struct source_builder *b, struct source_block *out,
                        int *current, int target) {
  if (b->layout.cells)
    cells_emit(b, out, current, target);
  else
    emit(b, out, current, target);
}

static struct source_block *branch(struct source_builder *b, int top,
                                   int bottom) {
  struct source_block *block = ARENA_NEW(b->arena, struct source_block);
  int current = top;
  if (bottom != top)
    emit_target(b, block, &current, bottom);
  return block;
}

/* Writes the heads that fork off after a node. */
static void put_heads(struct source_builder *b, struct source_block *out,
                      int node) {
  for (size_t i = 0; i < b->heads[node].all.count; i++) {
    int head = b->heads[node].all.at[i];
    struct statement fork = {.node = -1, .first = b->plan->count};
    put_word(b, &fork, "fork");
    struct source_block *block = branch(b, node, head);
    put(b, &fork, PIECE_BLOCK)->block = block;
    fork.last = b->plan->count - 1;
    *VEC_PUSH(b->arena, &out->all) = fork;
  }
}

/* The place after those that are written and those without a node. */
static void step_listed(struct source_builder *b, int place) {
  b->listed[place] = -1;
  while (b->next <= b->graph->outputs && b->listed[b->next] < 0)
    b->next++;
}

static void put_output(struct source_builder *b, struct source_block *out,
                       const struct graph_node *node) {
  if (!node->output)
    return;
  if (node->place) {
    b->disordered = b->disordered || node->place != b->next;
    if (b->layout.listed && node->place != b->next)
      return; /* put_listed writes it */
    step_listed(b, node->place);
  }
  struct statement *s = begin(b, out);
  s->last--;
  put_word(b, s, "output");
  put_word(b, s, node->output);
}

void source_put_from(struct source_builder *b, struct source_block *out,
                     int node) {
  struct statement *s = begin(b, out);
  s->last--;
  put_word(b, s, "from");
  put_label(b, s, "", node);
}

/* Writes operands by name. The current one is {}, or omitted if it is first. */
static void put_named_operands(struct source_builder *b, struct statement *s,
                               const struct graph_node *node, int current) {
  bool short_form = node->inputs.count == 2 && node->inputs.at[0] == current &&
                    node->inputs.at[1] != current;
  for (size_t i = short_form; i < node->inputs.count; i++) {
    if (node->inputs.at[i] == current)
      put(b, s, PIECE_BLOCK)->block = ARENA_NEW(b->arena, struct source_block);
    else
      put_label(b, s, "", node->inputs.at[i]);
  }
}

/* Writes operands by name, or as blocks if they have no other users. */
static void put_mixed_operands(struct source_builder *b, struct statement *s,
                               const struct graph_node *node, int current) {
  bool short_form = node->inputs.count == 2 && node->inputs.at[0] == current &&
                    node->inputs.at[1] != current;
  for (size_t i = short_form; i < node->inputs.count; i++) {
    int operand = node->inputs.at[i];
    if (b->written[operand] && operand != current) {
      put_label(b, s, "", operand);
      continue;
    }
    struct source_block *block = cells_operand(b, current, operand);
    put(b, s, PIECE_BLOCK)->block = block;
  }
}

/* True if a join's blocks are too long for a line: the layers after it are
 * separate lines. */
static bool is_long(struct source_builder *b, struct statement *s) {
  for (size_t i = 0; i < s->pieces.count; i++)
    if (s->pieces.at[i].kind == PIECE_BLOCK)
      block_measure(b->plan, s->pieces.at[i].block);
  statement_measure(b->plan, s);
  return s->width > LINE;
}

static void put_layer(struct source_builder *b, struct source_block *out,
                      const struct graph_node *node, enum source_form form,
                      int current) {
  if (joins_tail(b, out, node)) {
    struct statement *s = &out->all.at[out->all.count - 1];
    put_in_tail(b, s, node);
    s->last = b->plan->count;
    s->node = node->index;
    enlist(b, node);
    return;
  }
  struct statement s = {.node = node->index, .first = b->plan->count};
  put_word(b, &s, word_name(node->again ? WORD_AGAIN : node->word));
  if (!node->again) {
    put_args(b, &s, node);
    put_bias(b, &s, node);
  }
  if (form == FORM_BLOCKS) {
    int top = b->tree.parent[node->index];
    for (size_t i = 0; i < node->inputs.count; i++) {
      struct source_block *block = branch(b, top, node->inputs.at[i]);
      put(b, &s, PIECE_BLOCK)->block = block;
    }
  } else if (form == FORM_MIXED && node->inputs.count > 1) {
    put_mixed_operands(b, &s, node, current);
  } else if (node->inputs.count > 1) {
    put_named_operands(b, &s, node, current);
  }
  if (node->keyed >= 0)
    put_label(b, &s, node->key, node->keyed);
  if (node->values >= 0)
    put_label(b, &s, graph_values_key(node), node->values);
  if (node->mask >= 0)
    put_label(b, &s, "mask=", node->mask);
  if (node->frozen)
    put_word(b, &s, "frozen");
  s.last = b->plan->count;
  /* A tail would be shared with the layer, so a shared layer has none. */
  bool keeps = node->shared || node->again || node->word == WORD_AGAIN;
  bool bare = b->layout.bare_joins && graph_feeds(node) > 1;
  s.takes_tail = !keeps && !bare && !(form == FORM_MIXED && is_long(b, &s)) &&
                 (!may_be_in_tail(node) || node->word == WORD_BN);
  enlist(b, node);
  *VEC_PUSH(b->arena, &out->all) = s;
}

/* The operand that becomes the current tensor: the latest one. */
static int main_input(const struct graph_node *node) {
  int best = node->inputs.at[0];
  for (size_t i = 1; i < node->inputs.count; i++)
    if (node->inputs.at[i] > best)
      best = node->inputs.at[i];
  return best;
}

/* Writes the operands other than the main one. */
static void emit_others(struct source_builder *b, struct source_block *out,
                        int *current, const struct graph_node *node, int main) {
  for (size_t i = 0; i < graph_feeds(node); i++)
    if (graph_feed(node, i) != main && !b->written[graph_feed(node, i)])
      emit(b, out, current, graph_feed(node, i));
}

void source_put_node(struct source_builder *b, struct source_block *out,
                     int *current, int index, enum source_form form) {
  const struct graph_node *node = graph_at(b->graph, index);
  put_layer(b, out, node, form, *current);
  *current = index;
  put_output(b, out, node);
  put_heads(b, out, index);
}

/* Writes one layer whose main input is already written. */
static void emit_one(struct source_builder *b, struct source_block *out,
                     int *current, int index) {
  const struct graph_node *node = graph_at(b->graph, index);
  enum source_form form = source_form_of(b, node);
  if (graph_feeds(node) > 0) {
    int main = form == FORM_BLOCKS ? b->tree.parent[index] : main_input(node);
    if (form == FORM_LABELS)
      emit_others(b, out, current, node, main);
    if (*current != main)
      source_put_from(b, out, main);
    *current = main;
  }
  source_put_node(b, out, current, index, form);
}

/* Writes all layers that `target` needs, and makes it the current tensor. */
static void emit(struct source_builder *b, struct source_block *out,
                 int *current, int target) {
  VEC(int) chain = {0};
  b->depth++;
  for (int at = target; at >= 0 && !b->written[at];) {
    const struct graph_node *node = graph_at(b->graph, at);
    *VEC_PUSH(b->arena, &chain) = at;
    if (graph_feeds(node) == 0)
      break;
    enum source_form form = source_form_of(b, node);
    int next = form == FORM_BLOCKS ? b->tree.parent[at] : main_input(node);
    if (form == FORM_LABELS && b->depth < DEEPEST)
      emit_others(b, out, current, node, next);
    at = next;
  }
  while (chain.count > 0) {
    int at = chain.at[--chain.count];
    if (!b->written[at])
      emit_one(b, out, current, at);
  }
  if (*current != target)
    source_put_from(b, out, target);
  *current = target;
  b->depth--;
}

/* Finds the node where a head's branch leaves the rest of the net. */
static void hang_head(struct source_builder *b, int head) {
  int top = b->tree.parent[head], bottom = head;
  region_new(b);
  while (top >= 0) {
    if (!region_stamp(b, top, bottom))
      return;
    if (graph_at(b->graph, top)->word == WORD_INPUT ||
        !region_keeps(b, top, head) || graph_at(b->graph, top)->output)
      break;
    bottom = top;
    top = b->tree.parent[top];
  }
  if (top < 0 || !region_is_private(b, head))
    return;
  *VEC_PUSH(b->arena, &b->heads[top].all) = head;
  for (size_t i = 0; i < b->region.count; i++)
    b->side_of[b->region.at[i]] = top;
}

static bool is_unused(const struct source_builder *b, int node) {
  return b->tree.first_use[node] == b->tree.first_use[node + 1];
}

/* Makes names of outputs unique: NAME, NAME_2, NAME_3. */
static void part_names(struct source_builder *b) {
  struct map names = {0};
  struct arena *arena = b->graph->arena;
  for (size_t i = 0; i < b->graph->nodes.count; i++) {
    struct graph_node *node = b->graph->nodes.at[i];
    if (!node->output)
      continue;
    const char *name = node->output;
    struct map_entry *first = map_find(&names, slice_of(name));
    while (map_find(&names, slice_of(name)))
      name = graph_text(b->graph, "%s_%" PRId64, node->output, ++first->number);
    map_add(arena, &names, slice_of(name))->number = 1;
    node->output = name;
  }
}

/* Lists outputs by their places in the file. */
static void list_outputs(struct source_builder *b) {
  for (int i = 0; i <= b->graph->outputs; i++)
    b->listed[i] = -1;
  for (size_t i = 0; i < b->graph->nodes.count; i++)
    if (b->graph->nodes.at[i]->output)
      b->listed[b->graph->nodes.at[i]->place] = (int)i;
  step_listed(b, 0);
}

/* Every tensor without users is an output. Only several need names. Returns
 * the last one: of the file's list if the last layer is in it. */
static int name_outputs(struct source_builder *b) {
  int count = (int)b->graph->nodes.count, outputs = 0, last = -1;
  for (int i = 0; i < count; i++)
    if (is_unused(b, i) || graph_at(b->graph, i)->output) {
      int place = graph_at(b->graph, i)->place;
      outputs++;
      if (is_unused(b, i) &&
          (last < 0 || !place || place > graph_at(b->graph, last)->place))
        last = i;
    }
  for (int i = 0; i < count; i++) {
    struct graph_node *node = graph_at(b->graph, i);
    if (outputs == 1)
      node->output = NULL;
    else if (is_unused(b, i) && !node->output)
      node->output = graph_identifier(b->graph, node->name);
    if (outputs > 1 && is_unused(b, i) && !node->output)
      node->output = graph_text(b->graph, "output%d", i);
  }
  part_names(b);
  return last;
}

/* Adds the only input's name, which is written if a statement reads it. */
static void offer_label(struct source_builder *b, struct statement *s,
                        int node) {
  struct source_piece *piece = put(b, s, PIECE_LABEL);
  piece->text.before = "";
  piece->node = node;
}

static void put_inputs(struct source_builder *b, int *current) {
  int inputs = 0;
  for (size_t i = 0; i < b->graph->nodes.count; i++)
    inputs += b->graph->nodes.at[i]->word == WORD_INPUT;
  for (size_t i = 0; i < b->graph->nodes.count; i++) {
    const struct graph_node *node = b->graph->nodes.at[i];
    if (node->word != WORD_INPUT)
      continue;
    struct statement s = {
        .node = node->index, .first = b->plan->count, .last = b->plan->count};
    put_word(b, &s, "input");
    if (inputs > 1)
      put_label(b, &s, "", node->index);
    else
      offer_label(b, &s, node->index);
    put(b, &s, PIECE_TEXT)->text = (struct part_text){
        PART_NONE, "",
        graph_sizes(b->graph, node->shape.size, node->shape.rank), NULL, NULL};
    put_args(b, &s, node);
    enlist(b, node);
    *VEC_PUSH(b->arena, &b->plan->top.all) = s;
    *current = node->index;
    put_output(b, &b->plan->top, node);
    put_heads(b, &b->plan->top, node->index);
  }
}

/* Names the only input if a statement reads it. */
static void name_input(struct source_builder *b) {
  struct statement *s = &b->plan->top.all.at[0];
  if (b->plan->top.all.count == 0 || s->node < 0 || s->pieces.count < 2 ||
      !statement_is(s, "input") || s->pieces.at[1].kind == PIECE_LABEL ||
      !b->plan->labelled[s->node])
    return;
  put(b, s, PIECE_LABEL);
  for (size_t i = s->pieces.count - 1; i > 1; i--)
    s->pieces.at[i] = s->pieces.at[i - 1];
  s->pieces.at[1] = (struct source_piece){
      .kind = PIECE_LABEL, .text.before = "", .node = s->node};
}

/* Writes each output of the file's list after those before it. */
static void put_listed(struct source_builder *b, int *current) {
  for (int i = 1; i <= b->graph->outputs; i++) {
    int node = b->listed[i];
    if (node >= 0)
      emit_target(b, &b->plan->top, current, node);
    if (node >= 0 && b->listed[i] >= 0)
      put_output(b, &b->plan->top, graph_at(b->graph, node));
  }
}

static void build(struct source_builder *b) {
  int current = -1, count = (int)b->graph->nodes.count;
  int last = name_outputs(b);
  bool flat = b->layout.flat, listed = b->layout.listed;
  list_outputs(b);
  for (int i = 0; i < count && !flat && !listed; i++)
    if (i != last && is_unused(b, i) &&
        graph_at(b->graph, i)->word != WORD_INPUT)
      hang_head(b, i);
  put_inputs(b, &current);
  if (listed && !flat)
    put_listed(b, &current);
  for (int i = 0; i < count; i++)
    if (!b->written[i] &&
        (flat || (i == last || (is_unused(b, i) && b->side_of[i] < 0))))
      emit_target(b, &b->plan->top, &current, i);
  if (listed && flat)
    put_listed(b, &current);
  name_input(b);
}

/* Marks layers that other statements name: such a label means one layer, not a
 * line of several. */
static void mark_shared(struct source_builder *b) {
  for (size_t i = 0; i < b->graph->nodes.count; i++) {
    const struct graph_node *node = b->graph->nodes.at[i];
    if (node->keyed >= 0 &&
        (node->again || node->word == WORD_AGAIN || node->word == WORD_UNPOOL))
      b->graph->nodes.at[node->keyed]->shared = true;
  }
}

void source_structure(struct source_plan *plan, struct graph *graph,
                      struct source_layout layout) {
  size_t count = graph->nodes.count;
  struct arena *arena = graph->arena;
  *plan = (struct source_plan){
      .graph = graph,
      .layout = layout,
      .order = arena_alloc(arena, count + 1, sizeof(int)),
      .ordinal = arena_alloc(arena, count + 1, sizeof(int)),
      .labelled = arena_alloc(arena, count + 1, sizeof(bool)),
      .read_until = arena_alloc(arena, count + 1, sizeof(int)),
      .label = arena_alloc(arena, count + 1, sizeof(char *)),
      .series = arena_alloc(arena, count + 1, sizeof(int)),
      .iteration = arena_alloc(arena, count + 1, sizeof(int))};
  struct source_builder b = {
      .plan = plan,
      .graph = graph,
      .arena = arena,
      .layout = layout,
      .written = arena_alloc(arena, count + 1, sizeof(bool)),
      .stamp = arena_alloc(arena, count + 1, sizeof(int)),
      .side_of = arena_alloc(arena, count + 1, sizeof(int)),
      .heads = arena_alloc(arena, count + 1, sizeof *b.heads),
      .listed = arena_alloc(arena, (size_t)graph->outputs + 1, sizeof(int))};
  for (size_t i = 0; i < count; i++)
    b.side_of[i] = plan->read_until[i] = -1;
  mark_shared(&b);
  dominate(&b.tree, graph);
  if (layout.cells)
    cells_open(&b);
  build(&b);
  block_measure(plan, &plan->top);
  if (b.disordered && !layout.listed) {
    layout.listed = true;
    source_structure(plan, graph, layout);
  }
}
