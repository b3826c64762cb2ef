/* Inference in 8 bits: the data of each operation in the weight block. */
#include "memory/tables.h"
#include "library/context.h"
#include "memory/q8.h"

struct q8_list {
  VEC(struct netc_q8) all;
  struct netc_q8_block block;
};

struct q8_listing {
  struct call *call;
  struct load *load;
  const struct program *program;
  int64_t *gives; /* by node: the node whose output it computes */
  struct q8_list *list;
};

static const char *code_of(enum opcode opcode) {
  return tables_kernel_name(opcode - (DOES_VIEW + 1));
}

/* Folded norms first, then merged clamps. */
static void find_givers(struct q8_listing *l) {
  const struct inference *plan = &l->program->plan;
  size_t nodes = l->load->model.nodes.count;
  l->gives = arena_alloc(&l->call->scratch, nodes + 1, sizeof *l->gives);
  for (size_t i = 0; i < nodes; i++)
    l->gives[i] = (int64_t)i;
  for (size_t i = 0; i < plan->folds.count; i++)
    l->gives[plan->folds.at[i].into] = plan->folds.at[i].norm;
  for (size_t i = 0; i < plan->merged.count; i++)
    l->gives[plan->merged.at[i].into] = plan->merged.at[i].node;
}

static int64_t giver_of(const struct q8_listing *l, int64_t node) {
  return node < 0 ? -1 : l->gives[node];
}

static int64_t tensor_of(struct q8_listing *l, const struct operand *operand) {
  return operand->param < 0 ? -1 : load_tensor(l->call, (size_t)operand->param);
}

/* Adds weight, scales, words and the bias, if there is one. */
static void add_weight(struct q8_listing *l, const struct program_op *op,
                       struct netc_q8 *q8) {
  const struct operand *first =
      l->program->operands.at + op->first_operand + op->outs;
  const struct operand *weight = first + 1, *bias = first + 4;
  q8->weight = tensor_of(l, weight);
  q8->outputs = weight->dim[weight->rank - 1];
  q8->outputs_first = weight->rank > 1 && weight->dim[weight->rank - 2] > 1;
  if (op->ins == 5)
    q8->bias = bias->param < 0 ? load_made_bias(l->call, op->node)
                               : tensor_of(l, bias);
}

static void add_op(struct q8_listing *l, const struct program_op *op) {
  struct netc_q8 q8 = {.code = code_of(op->opcode),
                       .was = code_of(op->was),
                       .clamp = "",
                       .layer = op->node,
                       .weight = -1,
                       .bias = -1,
                       .scales = op->scales,
                       .words = op->words,
                       .table = op->table};
  const struct operand *operand = l->program->operands.at + op->first_operand;
  bool weighs = q8_is_product(op->opcode) || op->opcode == DOES_Q8PRELU;
  size_t more =
      (size_t)((op->scales >= 0) + (op->words >= 0) + (op->table >= 0));
  q8.in_count = weighs ? 1 : (size_t)op->ins - more;
  for (int i = 0; i < LOWERING_REALS; i++)
    q8.reals[i] = op->real[i];
  if (op->clamp != NO_NODE)
    q8.clamp = code_of(op->limits);
  q8.out = giver_of(l, operand[0].node);
  int64_t *ins = arena_alloc(&l->load->arena, 2 * q8.in_count + 1, sizeof *ins);
  for (size_t i = 0; i < q8.in_count; i++) {
    const struct operand *in = &operand[(size_t)op->outs + i];
    ins[i] = in->weights ? -1 : giver_of(l, in->node);
    ins[q8.in_count + i] = tensor_of(l, in);
  }
  q8.ins = ins;
  q8.tensors = ins + q8.in_count;
  if (weighs)
    add_weight(l, op, &q8);
  *VEC_PUSH(&l->load->arena, &l->list->all) = q8;
}

static void find_ports(struct q8_listing *l) {
  const struct program *p = l->program;
  size_t count = p->inputs.count + p->outputs.count;
  int64_t *layers = arena_alloc(&l->load->arena, count + 1, sizeof *layers);
  for (size_t i = 0; i < p->inputs.count; i++)
    layers[i] = l->load->model.sources.at[i];
  for (size_t i = 0; i < p->outputs.count; i++)
    layers[p->inputs.count + i] = giver_of(l, p->outputs.at[i].node);
  l->list->block = (struct netc_q8_block){.bytes = p->weight_bytes,
                                          .ports = p->ports,
                                          .narrow = p->narrow,
                                          .port_count = count,
                                          .port_layers = layers};
}

static void call_q8(struct call *call) {
  struct load *load = call->netc->load;
  if (!load || !load->compiled.model) {
    call->status = NETC_USAGE;
    return;
  }
  if (load->q8)
    return;
  if (!q8_is_on(&load->settings.infer)) {
    context_say(call->netc, "the net is not of 8 bits: `infer dtype=i8`");
    call->status = NETC_ERROR;
    return;
  }
  load_runtime(call);
  if (call->status != NETC_OK)
    return;
  struct q8_listing l = {.call = call,
                         .load = load,
                         .program = load_program(load),
                         .list = ARENA_NEW(&load->arena, struct q8_list)};
  find_givers(&l);
  for (size_t i = 0; i < l.program->ops.count; i++)
    add_op(&l, &l.program->ops.at[i]);
  find_ports(&l);
  load->q8 = l.list;
}

enum netc_status netc_q8(struct netc *netc, size_t index, struct netc_q8 *q8) {
  enum netc_status status = context_call(netc, CALL_READS, call_q8, NULL);
  if (status != NETC_OK)
    return status;
  const struct q8_list *list = netc->load->q8;
  return index < list->all.count ? FILL(q8, &list->all.at[index]) : NETC_USAGE;
}

enum netc_status netc_q8_block(struct netc *netc, struct netc_q8_block *block) {
  enum netc_status status = context_call(netc, CALL_READS, call_q8, NULL);
  return status == NETC_OK ? FILL(block, &netc->load->q8->block) : status;
}
