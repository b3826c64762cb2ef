/*
 * Operators that netc has no equivalent of. They are named all at once; with
 * --allow-unknown they are left out with what follows from them, and the
 * layers that they read are outputs: a detector up to its heads, without the
 * selection of its boxes.
 */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/fold.h"

/* How many of its type there are; the first of them is kept. */
static struct onnx_absence *count_absence(struct onnx *x,
                                          const struct onnx_op *op) {
  struct onnx_absence *absence;
  for (size_t i = 0; i < x->absences.count; i++)
    if (strcmp(x->absences.at[i].first->type, op->type) == 0) {
      x->absences.at[i].count++;
      return &x->absences.at[i];
    }
  absence = VEC_PUSH(x->arena, &x->absences);
  *absence = (struct onnx_absence){.first = op, .count = 1};
  return absence;
}

bool onnx_refuse_unknown(struct onnx *x) {
  struct text text = text_new(x->arena);
  if (x->options->allow_unknown)
    return true;
  for (size_t k = 0; k < x->ops.count; k++)
    if (!x->ops.at[k].idle && !onnx_knows(&x->ops.at[k]) &&
        !fold_knows(x->ops.at[k].type))
      count_absence(x, &x->ops.at[k]);
  if (x->absences.count == 0)
    return true;
  for (size_t i = 0; i < x->absences.count; i++)
    text_printf(&text, "%s%s (%" PRId64 ")", i ? ", " : "",
                onnx_shown(x, x->absences.at[i].first->type),
                x->absences.at[i].count);
  text_putc(&text, '\0');
  x->at = NULL;
  graph_fail(x->graph, 0,
             "netc has no equivalent of these operators: %s; the first is %s",
             text.at, onnx_op_text(x, x->absences.at[0].first));
  return graph_help(x->graph,
                    "--allow-unknown leaves them out, with what follows "
                    "from them");
}

bool onnx_leave_out(struct onnx *x, bool unknown) {
  for (size_t i = 0; i < x->at->out_count; i++)
    if (x->at->outs[i] >= 0)
      x->values.at[x->at->outs[i]].absent = true;
  for (size_t i = 0; i < x->at->in_count; i++) {
    const struct onnx_value *value =
        x->at->ins[i] < 0 ? NULL : onnx_operand(x, i);
    if (value && value->view)
      *VEC_PUSH(x->arena, &x->cuts) = value->view->node;
  }
  if (unknown && x->options->allow_unknown)
    count_absence(x, x->at);
  return true;
}

/* What only picks or moves values: the heads are before it. */
static bool is_move(enum layer_word word) {
  return word == WORD_SLICE || word == WORD_RESHAPE || word == WORD_PERMUTE ||
         word == WORD_FLATTEN;
}

/* Whether values of an input lead to a node; they are in order. */
static const bool *find_fed(struct onnx *x) {
  size_t count = x->graph->nodes.count;
  bool *fed = arena_alloc(x->arena, count + 1, sizeof *fed);
  for (size_t i = 0; i < count; i++) {
    const struct graph_node *node = x->graph->nodes.at[i];
    fed[i] = node->word == WORD_INPUT;
    for (size_t k = 0; k < graph_feeds(node); k++)
      fed[i] = fed[i] || fed[graph_feed(node, k)];
  }
  return fed;
}

/* Whether an output of the file is among what is left out. */
static bool is_cut(const struct onnx *x) {
  for (size_t i = 0; i < x->values.count; i++)
    if (x->values.at[i].output && x->values.at[i].absent)
      return true;
  return false;
}

void onnx_say_left_out(struct onnx *x) {
  for (size_t i = 0; i < x->absences.count; i++) {
    const struct onnx_absence *absence = &x->absences.at[i];
    if (absence->count == 1)
      graph_note(x->graph,
                 "%s is left out, with what follows from it: netc has no "
                 "equivalent.",
                 onnx_op_text(x, absence->first));
    else
      graph_note(x->graph,
                 "%s and %" PRId64 " more are left out, with what follows "
                 "from them: netc has no equivalent.",
                 onnx_op_text(x, absence->first), absence->count - 1);
  }
  if (!is_cut(x))
    return;
  const bool *fed = find_fed(x);
  bool some = false;
  for (size_t i = 0; i < x->cuts.count; i++) {
    struct graph_node *node = graph_at(x->graph, x->cuts.at[i]);
    while (is_move(node->word) && graph_feeds(node) == 1)
      node = graph_at(x->graph, graph_feed(node, 0));
    if (node->output || node->word == WORD_INPUT || !fed[node->index])
      continue;
    node->output = graph_identifier(x->graph, node->name ? node->name : "");
    if (!node->output)
      node->output = "result";
    some = true;
  }
  if (some)
    graph_note(x->graph, "What they read are outputs.");
}
