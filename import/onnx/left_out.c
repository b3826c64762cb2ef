/*
 * Operators without an equivalent in netc are reported all at once. With
 * --allow-unknown they are left out with all that depends on them, and their
 * inputs become outputs of the net: a detector up to its heads, without the
 * selection of boxes.
 */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/fold.h"

/* Counts operators of a type; keeps the first one, and the reason. */
static void count_absence(struct onnx *x, const struct onnx_op *op,
                          const char *why) {
  for (size_t i = 0; i < x->absences.count; i++)
    if (strcmp(x->absences.at[i].first->type, op->type) == 0 &&
        !x->absences.at[i].why == !why) {
      x->absences.at[i].count++;
      return;
    }
  *VEC_PUSH(x->arena, &x->absences) =
      (struct onnx_absence){.first = op, .why = why, .count = 1};
}

bool onnx_refuse_unknown(struct onnx *x) {
  struct text text = text_new(x->arena);
  if (x->options->allow_unknown)
    return true;
  for (size_t k = 0; k < x->ops.count; k++)
    if (!x->ops.at[k].idle && !onnx_knows(&x->ops.at[k]) &&
        !fold_knows(x->ops.at[k].type))
      count_absence(x, &x->ops.at[k], NULL);
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
                    "--allow-unknown leaves them out, and all layers that "
                    "depend on them");
}

/* Notes a tensor of the file that training changes. */
static void note_parameter(struct onnx *x, struct constant *c) {
  if (!c->trained || c->buffer || c->left || !constant_is_real(c))
    return;
  c->left = true;
  *VEC_PUSH(x->arena, &x->left) = c;
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
    if (value && value->constant)
      note_parameter(x, value->constant);
  }
  if (unknown && x->options->allow_unknown)
    count_absence(x, x->at, NULL);
  return true;
}

bool onnx_leave_failed(struct onnx *x) {
  struct graph_error *error = &x->graph->error;
  if (!x->lenient || x->at->depth > 0)
    return false; /* the whole operator fails with its part */
  count_absence(x, x->at,
                graph_text(x->graph, "%.*s", SLICE_ARG(error->message)));
  *error = (struct graph_error){0};
  x->graph->failed = false;
  return onnx_leave_out(x, false);
}

/* Layers that only select or move values: the head is before them. */
static bool is_move(enum layer_word word) {
  return word == WORD_SLICE || word == WORD_RESHAPE || word == WORD_PERMUTE ||
         word == WORD_FLATTEN;
}

/* Marks nodes that depend on an input; nodes are sorted. */
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

/* True if an output of the file is left out. */
static bool is_cut(const struct onnx *x) {
  for (size_t i = 0; i < x->values.count; i++)
    if (x->values.at[i].output && x->values.at[i].absent)
      return true;
  return false;
}

/* "Left out with them: 13,898,843 parameters of 8 tensors, fc6.weight to .." */
static void say_parameters(struct onnx *x) {
  struct text sum = text_new(x->arena);
  int64_t count = 0;
  for (size_t i = 0; i < x->left.count; i++)
    count += x->left.at[i]->count; /* of a file: far below the limit */
  if (x->left.count == 0)
    return;
  text_count(&sum, count);
  text_putc(&sum, '\0');
  const char *first = x->left.at[0]->name;
  const char *last = x->left.at[x->left.count - 1]->name;
  graph_note(
      x->graph,
      "%s parameters of %zu tensor%s are left out with them: `%s`%s%s%s.",
      sum.at, x->left.count, x->left.count > 1 ? "s" : "", onnx_shown(x, first),
      x->left.count > 1 ? " to `" : "",
      x->left.count > 1 ? onnx_shown(x, last) : "",
      x->left.count > 1 ? "`" : "");
}

void onnx_say_left_out(struct onnx *x) {
  for (size_t i = 0; i < x->absences.count; i++) {
    const struct onnx_absence *absence = &x->absences.at[i];
    const char *why =
        absence->why ? absence->why : onnx_op_text(x, absence->first);
    const char *end = absence->why ? "" : ": netc has no equivalent";
    if (absence->count == 1)
      graph_note(x->graph, "%s%s left out, and all layers that depend on it%s.",
                 why, absence->why ? "; it is" : " is", end);
    else
      graph_note(x->graph,
                 "%s%s and %" PRId64
                 " more are left out, and all layers that depend on them%s.",
                 why, absence->why ? "; it" : "", absence->count - 1, end);
  }
  say_parameters(x);
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
    graph_note(x->graph, "Their inputs become outputs.");
}
