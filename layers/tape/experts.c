/* Experts of a plan: operations on rows that have an expert each. */
#include "layers/tape/experts.h"

#include "layers/tape/lowering.h"

/* True if an output row depends on the same row of each input alone. */
static bool is_by_row(enum opcode opcode) {
  static const bool elementwise[] = {
#define OP(code, name, ins, most, numbers, reals, elementwise) \
  [DOES_##code] = elementwise,
#include "runtime/ops.def"
#undef OP
  };
  return elementwise[opcode] || opcode == DOES_VIEW || opcode == DOES_LINEAR ||
         opcode == DOES_LN || opcode == DOES_RMSNORM || opcode == DOES_GLU ||
         opcode == DOES_COPY || opcode == DOES_CONCAT;
}

/* True if the first axes are those of the rows, in their order. */
static bool has_rows(const struct strides *rows, const struct strides *lies) {
  int64_t next = -1; /* stride of the axis before */
  if (lies->rank < rows->rank)
    return false;
  for (int i = rows->rank - 1; i >= 0; i--) {
    if (lies->dim[i] != rows->dim[i])
      return false;
    if (lies->dim[i] == 1)
      continue;
    if (next >= 0 && lies->stride[i] != next)
      return false;
    next = size_product(lies->stride[i], lies->dim[i]);
  }
  return true;
}

/* True if all operands are rows of experts. */
static bool reads_rows(const struct tape *tape, const struct expert_turn *turn,
                       const struct operation *op) {
  const struct lowering *does = op->does;
  for (int i = 0; i < op->in_count; i++) {
    struct strides lies =
        does->in ? does->in[i] : tape_strides(tape, op->in[i]);
    size_t storage = tape->values.at[op->in[i]].storage;
    if (tape->storages.at[storage].weight || !has_rows(&turn->rows, &lies))
      return false;
  }
  for (int i = 0; does->out && i < (op->outs ? op->outs : 1); i++)
    if (!has_rows(&turn->rows, &does->out[i]))
      return false;
  return op->in_count > 0 &&
         (does->out || op->out.count == tape_extent(tape, op->in[0])->count);
}

/* Strides of parameter `i` of all experts. */
static struct strides of_all(const struct tape *tape,
                             const struct expert_turn *turn,
                             const struct operation *op, int i) {
  const struct tape_param *param = &tape->node_params[operation_param(op, i)];
  struct strides one = op->does->weights ? op->does->weights[i] : param->lies;
  return strides_insert(&one, 0, turn->count, param->count);
}

/* True if every expert has parameters of its own. */
static bool has_own(const struct tape *tape, const struct expert_turn *turn,
                    const struct operation *op) {
  for (int i = 0; i < op->param_count; i++)
    if (tape->node_params[operation_param(op, i)].copies != (size_t)turn->count)
      return false;
  return true;
}

static size_t product(struct tape *tape, const struct expert_turn *turn,
                      const struct operation *op) {
  size_t pair[2] = {op->in[0], turn->experts};
  struct strides weights[2];
  struct strides lies[2] = {op->does->in ? op->does->in[0]
                                         : tape_strides(tape, op->in[0]),
                            tape_strides(tape, turn->experts)};
  struct lowering does = {.opcode = DOES_EXPERTS,
                          .in = lies,
                          .out = op->does->out,
                          .weights = weights};
  struct operation own = *op;
  lowering_add(&does, turn->room);
  for (int i = 0; i < op->param_count; i++)
    weights[i] = of_all(tape, turn, op, i);
  own.does = &does;
  own.in = pair;
  own.in_count = 2;
  return tape_run(tape, &own);
}

/* A norm, then the scale and the shift of each row's expert. */
static size_t norm(struct tape *tape, const struct expert_turn *turn,
                   const struct operation *op) {
  struct operation own = *op;
  own.param_count = 0;
  size_t pair[2] = {tape_run(tape, &own)};
  for (int i = 0; i < op->param_count; i++) {
    struct strides table = of_all(tape, turn, op, i);
    struct strides out = tape_strides(tape, pair[0]);
    pair[1] =
        tape_run_on(tape, turn->experts,
                    (struct operation){
                        .name = op->name,
                        .does = LOWERS(EMBED, .weights = &table, .out = &out),
                        .out = op->out,
                        .first_param = operation_param(op, i),
                        .param_count = 1});
    pair[0] = tape_run(
        tape, &(struct operation){.name = op->name,
                                  .does = i ? LOWERS(ADD, 0) : LOWERS(MUL, 0),
                                  .in = pair,
                                  .in_count = 2,
                                  .out = op->out,
                                  .elementwise = true});
  }
  return pair[0];
}

size_t experts_run(struct tape *tape, const struct operation *op) {
  struct expert_turn *turn = tape->turn;
  struct operation own = *op;
  enum opcode opcode = op->does ? op->does->opcode : DOES_UNKNOWN;
  bool known = opcode > DOES_UNKNOWN && is_by_row(opcode) &&
               reads_rows(tape, turn, op) && has_own(tape, turn, op);
  size_t out;
  tape->turn = NULL;
  if (known && op->param_count && opcode == DOES_LINEAR)
    out = product(tape, turn, op);
  else if (known && op->param_count &&
           (opcode == DOES_LN || opcode == DOES_RMSNORM))
    out = norm(tape, turn, op);
  else {
    if (!known || op->param_count)
      own.does = LOWERS(UNKNOWN, 0);
    out = tape_run(tape, &own);
  }
  tape->turn = turn;
  return out;
}
