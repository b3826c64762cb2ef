/* ONNX forms of scan and delta: Scan over the steps, which has the state. */
#include "export/export.h"

/* Operands of the operation. */
enum { X, STEP, B, C, RATES, SKIP, OPERANDS };

/* Inputs of a step: first the state. */
enum { STATE, DECAY, GIVEN, ENTRY, EXIT, INPUTS };

/* The same of delta. */
enum {
  DELTA_Q,
  DELTA_K,
  DELTA_V,
  DELTA_STEP,
  DELTA_BETA,
  DELTA_RATES,
  DELTA_OPERANDS
};
enum { QUERY = 2, KEY, COLUMN, VALUE, BETA, DELTA_INPUTS };

/*
 * Heads that share b and c are an axis of their own. `by_step`: axes 0 and 1
 * are samples and steps. Axes of size 1 are left out.
 */
static bool split_heads(struct onnx_layout *at, bool by_step, int64_t groups) {
  int axis = by_step ? 2 : 0;
  int64_t sharing = at->dim[axis] / groups;
  if (!layout_split(at, axis, groups))
    return false;
  if (sharing == 1)
    layout_drop(at, axis + 1);
  if (groups == 1)
    layout_drop(at, axis);
  return true;
}

/* The axes of b or c: of the groups, with the state's values last. */
static void spread_groups(struct onnx_layout *at, int64_t sharing) {
  int64_t groups = at->dim[2];
  if (sharing > 1)
    layout_insert(at, 3);
  if (groups == 1)
    layout_drop(at, 2);
}

static value_id node_at(struct exporting *x, const char *op,
                        const struct onnx_layout *like, value_id a,
                        value_id b) {
  struct onnx_layout at = layout_dense(like->rank, like->dim);
  return NODE(x, op, &at, a, b);
}

/* -exp(A_log) */
static value_id rates_of(struct exporting *x, const struct onnx_layout *at,
                         value_id logarithms) {
  value_id y = node_at(x, "Exp", at, logarithms, NO_VALUE);
  return node_at(x, "Neg", at, y, NO_VALUE);
}

static value_id factors_of(struct exporting *x, const struct onnx_layout *at,
                           value_id step, value_id rates) {
  value_id y = node_at(x, "Mul", at, step, rates);
  return node_at(x, "Exp", at, y, NO_VALUE);
}

/* Layout of a step's value. */
static struct onnx_layout one_step(const struct onnx_layout *all) {
  struct onnx_layout at = layout_dense(all->rank, all->dim);
  layout_drop(&at, 1);
  return at;
}

/* Opens the body of a loop over axis 1 of all inputs but the first, the state.
 * `in`: its inputs. */
static struct onnx_body *open_steps(struct exporting *x,
                                    const struct onnx_layout *ins, int count,
                                    value_id *in) {
  struct onnx_body *body = model_open_body(&x->model);
  for (int i = 0; i < count; i++) {
    struct onnx_layout at = i == STATE ? ins[i] : one_step(&ins[i]);
    in[i] = model_body_input(&x->model, body, at.rank, at.dim);
  }
  return body;
}

/* state = decay state + given b; y = state c */
static struct onnx_body *scan_body(struct exporting *x, value_id rates,
                                   const struct onnx_layout ins[INPUTS]) {
  const struct onnx_layout *state = &ins[STATE];
  struct onnx_layout y = one_step(&ins[GIVEN]);
  value_id in[INPUTS], outs[2];
  struct onnx_body *body = open_steps(x, ins, INPUTS, in);
  value_id decay = in[DECAY];
  if (rates != NO_VALUE) {
    decay = node_at(x, "Mul", state, decay, rates);
    decay = node_at(x, "Exp", state, decay, NO_VALUE);
  }
  value_id kept = node_at(x, "Mul", state, decay, in[STATE]);
  value_id given = node_at(x, "Mul", state, in[GIVEN], in[ENTRY]);
  outs[0] = node_at(x, "Add", state, kept, given);
  outs[1] = node_at(x, "MatMul", &y, outs[0], in[EXIT]);
  model_close_body(&x->model, body, outs, 2);
  return body;
}

/* Runs the body from a state of zeros; returns the outputs of all steps. */
static value_id run_steps(struct exporting *x, struct onnx_body *body,
                          const struct onnx_layout *state,
                          const struct onnx_layout *out, value_id *ins,
                          int count) {
  static const int64_t axes[DELTA_INPUTS] = {1, 1, 1, 1, 1, 1, 1};
  size_t by_step = (size_t)count - 1;
  ins[STATE] = NODE(x, "Expand", state, model_scalar(&x->model, 0),
                    model_numbers(&x->model, state->dim, state->rank));
  if (onnx_node(x, "Scan", state, ins, (size_t)count) == NO_VALUE)
    return NO_VALUE;
  model_body(&x->model, "body", body);
  model_int(&x->model, "num_scan_inputs", count - 1);
  model_ints(&x->model, "scan_input_axes", axes, by_step);
  model_ints(&x->model, "scan_output_axes", axes, 1);
  return model_other(&x->model, ELEMENT_FLOAT, out->rank, out->dim);
}

/* Views of the operands with common axes; false: refused. */
static bool find_views(struct exporting *x, struct view view[OPERANDS],
                       struct onnx_layout *out) {
  for (size_t i = 0; i < OPERANDS; i++)
    view[i] = onnx_in(x, i);
  int64_t groups = view[B].at.dim[2], sharing = out->dim[2] / groups;
  if (!split_heads(&view[X].at, true, groups) ||
      !split_heads(&view[STEP].at, true, groups) ||
      !split_heads(&view[RATES].at, false, groups) ||
      !split_heads(&view[SKIP].at, false, groups) ||
      !split_heads(out, true, groups))
    return onnx_refuse(x, "cannot identify its heads") != NO_VALUE;
  for (int i = B; i <= C; i++) {
    spread_groups(&view[i].at, sharing);
    layout_insert(&view[i].at, view[i].at.rank - (i == B));
  }
  layout_insert(&view[X].at, view[X].at.rank);
  layout_insert(&view[STEP].at, view[STEP].at.rank);
  layout_insert(&view[SKIP].at, view[SKIP].at.rank);
  layout_insert(out, out->rank);
  return true;
}

/* Mamba's values have rates of their own; a head of Mamba 2 has one factor for
 * each step, which needs no loop. */
bool onnx_scan(struct exporting *x) {
  struct view view[OPERANDS];
  struct onnx_layout out = onnx_out(x, 0), all, ins[INPUTS];
  value_id of[OPERANDS], in[INPUTS];
  if (!find_views(x, view, &out))
    return false;
  for (int i = 0; i < OPERANDS; i++)
    of[i] = onnx_get(x, &view[i]);
  all = layout_dense(out.rank, out.dim);
  ins[DECAY] = view[STEP].at;
  ins[GIVEN] = all;
  ins[ENTRY] = view[B].at;
  ins[EXIT] = view[C].at;
  ins[STATE] = one_step(&all);
  ins[STATE].dim[ins[STATE].rank - 1] = view[B].at.dim[view[B].at.rank - 1];
  value_id rates = rates_of(x, &view[RATES].at, of[RATES]);
  in[DECAY] = of[STEP];
  in[GIVEN] = node_at(x, "Mul", &all, of[STEP], of[X]);
  in[ENTRY] = of[B];
  in[EXIT] = of[C];
  const struct onnx_layout *own = &view[RATES].at;
  if (own->dim[own->rank - 1] == 1 && own->dim[own->rank - 2] == 1) {
    in[DECAY] = factors_of(x, &view[STEP].at, of[STEP], rates);
    rates = NO_VALUE;
  }
  value_id y =
      run_steps(x, scan_body(x, rates, ins), &ins[STATE], &all, in, INPUTS);
  value_id more = node_at(x, "Mul", &all, of[X], of[SKIP]);
  return onnx_put_first(x, node_at(x, "Add", &all, y, more), &out);
}

/*
 * state = decay state; lacks = beta (v - key state)
 * state += key' lacks; y = query state
 */
static struct onnx_body *delta_body(struct exporting *x,
                                    const struct onnx_layout *ins) {
  const struct onnx_layout *state = &ins[STATE];
  struct onnx_layout row = one_step(&ins[VALUE]);
  value_id in[DELTA_INPUTS], outs[2];
  struct onnx_body *body = open_steps(x, ins, DELTA_INPUTS, in);
  value_id kept = node_at(x, "Mul", state, in[STATE], in[DECAY]);
  value_id lacks = node_at(x, "MatMul", &row, in[KEY], kept);
  lacks = node_at(x, "Sub", &row, in[VALUE], lacks);
  lacks = node_at(x, "Mul", &row, in[BETA], lacks);
  value_id given = node_at(x, "Mul", state, in[COLUMN], lacks);
  outs[0] = node_at(x, "Add", state, kept, given);
  outs[1] = node_at(x, "MatMul", &row, in[QUERY], outs[0]);
  model_close_body(&x->model, body, outs, 2);
  return body;
}

/* Views of the loop's inputs, the state's rows before its columns; that of the
 * state is the rates' view. */
static bool find_delta_views(struct exporting *x,
                             struct view view[DELTA_INPUTS],
                             struct onnx_layout *out) {
  static const size_t operand[DELTA_INPUTS] = {
      DELTA_RATES, DELTA_STEP, DELTA_Q, DELTA_K, DELTA_K, DELTA_V, DELTA_BETA};
  for (int i = 0; i < DELTA_INPUTS; i++)
    view[i] = onnx_in(x, operand[i]);
  int64_t groups = view[KEY].at.dim[2], sharing = out->dim[2] / groups;
  for (int i = QUERY; i <= COLUMN; i++)
    spread_groups(&view[i].at, sharing);
  if (!split_heads(&view[STATE].at, false, groups) ||
      !split_heads(&view[DECAY].at, true, groups) ||
      !split_heads(&view[VALUE].at, true, groups) ||
      !split_heads(&view[BETA].at, true, groups) ||
      !split_heads(out, true, groups))
    return onnx_refuse(x, "cannot identify its heads") != NO_VALUE;
  for (int i = 0; i < DELTA_INPUTS; i++) {
    bool row = i == QUERY || i == KEY || i == VALUE;
    layout_insert(&view[i].at, view[i].at.rank - row);
  }
  layout_insert(&view[STATE].at, view[STATE].at.rank);
  layout_insert(&view[BETA].at, view[BETA].at.rank);
  layout_insert(out, out->rank - 1);
  return true;
}

bool onnx_delta(struct exporting *x) {
  struct view view[DELTA_INPUTS];
  struct onnx_layout out = onnx_out(x, 0), all, ins[DELTA_INPUTS];
  value_id in[DELTA_INPUTS];
  if (!find_delta_views(x, view, &out))
    return false;
  for (int i = 0; i < DELTA_INPUTS; i++) {
    in[i] = onnx_get(x, &view[i]);
    ins[i] = view[i].at;
  }
  all = layout_dense(out.rank, out.dim);
  value_id rates = rates_of(x, &view[STATE].at, in[STATE]);
  in[DECAY] = factors_of(x, &view[DECAY].at, in[DECAY], rates);
  ins[STATE] = one_step(&all);
  ins[STATE].dim[ins[STATE].rank - 2] = view[KEY].at.dim[view[KEY].at.rank - 1];
  value_id y =
      run_steps(x, delta_body(x, ins), &ins[STATE], &all, in, DELTA_INPUTS);
  return onnx_put_first(x, y, &out);
}
