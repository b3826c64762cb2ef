/*
 * Values that a model keeps between runs: the states of SVDF, and variables. A
 * state is an input of the net, and an output for the next run. VAR_HANDLE
 * names a variable, READ_VARIABLE and ASSIGN_VARIABLE are its input and output,
 * and CALL_ONCE runs a graph of initial values before the first run, which is
 * not read.
 */
#include <string.h>

#include "import/tflite/tflite.h"

enum { VARIABLE_NAME = 1 }; /* field of VarHandleOptions */

/* The variable of the operator's first operand; NULL with an error. */
static struct tflite_variable *variable_of(struct tflite *t) {
  const struct tflite_tensor *handle = tflite_in(t, 0);
  if (handle && handle->variable > 0)
    return &t->variables.at[handle->variable - 1];
  tflite_fail(t, "its variable has no VAR_HANDLE before it");
  return NULL;
}

/* Several handles of a name are one variable. */
static bool add_handle(struct tflite *t) {
  struct tflite_tensor *out = tflite_out(t, 0);
  struct slice name =
      flat_text(&t->flat, t->graph->arena, &t->at->options, VARIABLE_NAME);
  if (!out || tflite_is_constant(out) || out->node >= 0 || out->variable)
    return tflite_fail(t, "its output 0 %s",
                       out ? "is produced twice" : "is missing");
  struct map_entry *entry = map_add(t->graph->arena, &t->variable_names, name);
  if (!entry->number) {
    *VEC_PUSH(t->graph->arena, &t->variables) =
        (struct tflite_variable){.state = -1, .now = -1};
    entry->number = (int64_t)t->variables.count;
  }
  out->variable = (int)entry->number;
  return true;
}

bool tflite_handle(struct tflite *t) {
  (void)t; /* add_handle() */
  return true;
}

/* Makes a variable that is read before it is assigned an input. */
static bool add_variable(struct tflite *t) {
  struct tflite_tensor *out = tflite_out(t, 0);
  struct tflite_variable *v = variable_of(t);
  if (!v || !out || v->state >= 0 || v->assigned)
    return v && out;
  if (!tflite_shape(t, out))
    return false;
  v->name = graph_text(t->graph, "state%d", ++t->states);
  struct graph_node *node = graph_input(t->graph, v->name, &out->shape, NULL);
  v->state = v->now = node->index;
  tflite_keep_steps(t, out, node);
  out->node = -1; /* until the operator is read */
  return true;
}

bool tflite_variable(struct tflite *t) {
  const struct tflite_variable *v = variable_of(t);
  if (!v)
    return false;
  if (v->now < 0)
    return tflite_fail(t, "its variable has no value");
  return tflite_give_view(t, 0, v->now);
}

/* The last value of a run is an output. */
bool tflite_assign(struct tflite *t) {
  struct tflite_variable *v = variable_of(t);
  struct tflite_tensor *value = v ? tflite_value(t, 1) : NULL;
  if (!value)
    return false;
  v->now = tflite_exact(t, value);
  return true;
}

bool tflite_once(struct tflite *t) {
  (void)t;
  return true;
}

void tflite_put_states(struct tflite *t) {
  for (size_t i = 0; i < t->variables.count; i++) {
    const struct tflite_variable *v = &t->variables.at[i];
    if (v->state < 0 || v->now == v->state || t->graph->failed)
      continue;
    struct graph_node *node = graph_at(t->graph, v->now);
    if (node->output || node->word == WORD_INPUT)
      node = tflite_layer(t, WORD_IDENTITY, node->index);
    node->output = graph_text(t->graph, "%s_next", v->name);
  }
}

enum { SVDF = 27, HANDLE = 142, READ, ASSIGN };

static bool read_state(struct tflite *t, const struct tflite_op *op) {
  struct tflite_variable *v;
  switch (op->code) {
  case SVDF: return tflite_svdf_state(t, ++t->states);
  case HANDLE: return add_handle(t);
  case READ: return add_variable(t);
  case ASSIGN:
    v = variable_of(t);
    if (v)
      v->assigned = true;
    return v;
  default: return true;
  }
}

bool tflite_read_states(struct tflite *t) {
  for (size_t i = 0; i < t->ops.count && !t->graph->failed; i++) {
    const struct tflite_op *op = &t->ops.at[i];
    if (op->code != SVDF && (op->code < HANDLE || op->code > ASSIGN))
      continue;
    tflite_begin(t, op);
    if (t->batch < 1)
      return tflite_fail(t, "the model has no input");
    if (!read_state(t, op))
      return false;
  }
  if (t->states)
    graph_note(t->graph,
               "The model keeps states between runs: each becomes an input, "
               "and an output for the next run.");
  return !t->graph->failed;
}
