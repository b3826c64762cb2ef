/* The runtime: opens a model and runs its operations. */
#include "isa.h"
#include "onednn.h"

#include <string.h>

const char *netrt_status_text(enum netrt_status status) {
  switch (status) {
  case NETRT_OK: return "done";
  case NETRT_BAD_MODEL: return "the model's tables are not of this version";
  case NETRT_SMALL_ARENA: return "the arena has too few bytes";
  case NETRT_WRONG_WEIGHTS:
    return "the weights are not of this model's size, or in another order";
  case NETRT_MISALIGNED: return "arena or weights are not aligned";
  case NETRT_BAD_INDEX: return "an index is not in its table";
  case NETRT_STOPPED: return "stopped by the hook";
  case NETRT_NOT_YET:
    return "no window ends with this row: go on with the next one";
  case NETRT_STRAY_WRITE: return "bytes outside the plan were written";
  case NETRT_DEAD_READ: return "bytes were read that nothing had written";
  }
  return "unknown status";
}

size_t netrt_type_bytes(uint8_t type) {
  switch (type) {
  case NETRT_I64: return 8;
  case NETRT_I8: return 1;
  case NETRT_F16:
  case NETRT_BF16: return 2;
  default: return 4;
  }
}

size_t netrt_values(const struct netrt_model *model,
                    const struct netrt_operand *operand) {
  size_t values = 1;
  int i;
  for (i = 0; i < operand->rank; i++)
    values *= (size_t)model->numbers[operand->shape + (uint32_t)i];
  return values;
}

#ifndef NETRT_SMALL
/* "netrt: weights in panels of 32 outputs, 1", as little-endian words. */
const uint32_t netrt_panels[NETRT_PANELS_BYTES / 4] = {
    0x7274656e, 0x77203a74, 0x68676965, 0x69207374, 0x6170206e, 0x736c656e,
    0x20666f20, 0x6f203233, 0x75707475, 0x202c7374, 0x00000031, 0x00000000,
};
#endif

#ifndef NETRT_SMALL
/* FNV-1a by words: http://www.isthe.com/chongo/tech/comp/fnv. */
static uint32_t mix(uint32_t hash, uint32_t word) {
  return (hash ^ word) * 0x01000193u;
}

uint32_t netrt_panels_layout(const struct netrt_model *model) {
  uint32_t hash = 0x811c9dc5u, i, k;
  for (i = 0; i < model->operand_count; i++) {
    const struct netrt_operand *at = &model->operands[i];
    if (at->place != NETRT_IN_WEIGHTS && at->place != NETRT_IN_PANELS)
      continue;
    hash = mix(mix(mix(hash, (uint32_t)at->offset), at->place), at->type);
    for (k = 0; k < 2u * at->rank; k++)
      hash = mix(hash, (uint32_t)model->numbers[at->shape + k]);
  }
  return hash ? hash : 1;
}
#endif

int netrt_reads_panels(void) {
#ifdef NETRT_HAS_PANELS
  return 1;
#else
  return 0;
#endif
}

/* True if all bytes of an operand are in the arena or the weights. */
static int lies_inside(const struct netrt_model *model,
                       const struct netrt_operand *at) {
  const int32_t *size = &model->numbers[at->shape];
  size_t values = 1, bytes = netrt_type_bytes(at->type);
  size_t limit =
      at->place == NETRT_IN_ARENA ? model->arena_bytes : model->weight_bytes;
  int i;
  if (at->rank > NETRT_RANK || at->place > NETRT_IN_PANELS ||
      at->shape > model->number_count ||
      model->number_count - at->shape < 2u * at->rank)
    return 0;
  for (i = 0; i < at->rank; i++) {
    size_t stride = (size_t)size[at->rank + i];
    if (size[i] < 1 || size[at->rank + i] < 0)
      return 0;
    if (stride && (size_t)(size[i] - 1) > (SIZE_MAX - values) / stride)
      return 0;
    values += (size_t)(size[i] - 1) * stride;
  }
  return at->offset % bytes == 0 && at->offset <= limit &&
         values <= (limit - at->offset) / bytes;
}

static int is_sound_port(const struct netrt_model *m,
                         const struct netrt_port *port) {
  return lies_inside(m, &port->operand) &&
         (port->operand.type != NETRT_I8 ||
          (m->weight_bytes >= 8 && port->step <= m->weight_bytes - 8));
}

static int is_sound(const struct netrt_model *m) {
  uint32_t i, k;
  for (i = 0; i < m->op_count; i++) {
    const struct netrt_op *op = &m->ops[i];
    uint32_t count = (uint32_t)op->outs + op->ins + (op->works != 0);
    if (op->kernel >= m->kernel_count || !m->kernels[op->kernel] ||
        op->outs == 0 || op->operands > m->operand_count ||
        m->operand_count - op->operands < count || op->args > m->number_count ||
        op->reals > m->real_count)
      return 0;
    for (k = 0; k < count; k++)
      if (!lies_inside(m, &m->operands[op->operands + k]))
        return 0;
  }
  for (i = 0; i < m->input_count; i++)
    if (!is_sound_port(m, &m->inputs[i]))
      return 0;
  for (i = 0; i < m->output_count; i++)
    if (!is_sound_port(m, &m->outputs[i]))
      return 0;
  return 1;
}

/* The count of rows is at the start of the work memory. */
void netrt_reset(struct netrt *net) {
  const struct netrt_model *m = net->model;
  uint32_t i;
  for (i = 0; i < m->op_count; i++) {
    const struct netrt_op *op = &m->ops[i];
    if (op->works == NETRT_STAYS)
      memset(net->arena + m->operands[op->operands + op->outs + op->ins].offset,
             0, sizeof(int32_t));
  }
}

/* 64-bit inputs need an alignment of 8. */
static int aligned(const struct netrt_model *model, const void *at) {
  uint32_t i;
  size_t align = 4;
  for (i = 0; i < model->input_count; i++)
    if (netrt_type_bytes(model->inputs[i].operand.type) > align)
      align = 8;
  return (uintptr_t)at % align == 0;
}

#ifdef NETRT_HAS_PANELS
/* True if the block is in panels and the model has weights that may be. */
static int is_in_panels(const struct netrt_model *model, const void *weights,
                        size_t bytes) {
  uint32_t i;
  uint32_t layout;
  if (bytes < NETRT_PANELS_BYTES ||
      bytes - NETRT_PANELS_BYTES != model->weight_bytes || !weights ||
      memcmp(weights, netrt_panels, NETRT_PANELS_BYTES - 4) != 0)
    return 0;
  memcpy(&layout, (const unsigned char *)weights + NETRT_PANELS_BYTES - 4, 4);
  if (layout != 0 && layout != netrt_panels_layout(model))
    return 0; /* made for another model of the same size */
  for (i = 0; i < model->operand_count; i++)
    if (model->operands[i].place == NETRT_IN_PANELS)
      return 1;
  return 0;
}
#endif

enum netrt_status netrt_open(struct netrt *net, const struct netrt_model *model,
                             const void *weights, size_t weight_bytes,
                             void *arena, size_t arena_bytes) {
  memset(net, 0, sizeof *net);
  if (!model || model->version != NETRT_VERSION)
    return NETRT_BAD_MODEL;
  if (arena_bytes < model->arena_bytes || (!arena && model->arena_bytes))
    return NETRT_SMALL_ARENA;
#ifdef NETRT_HAS_PANELS
  if (is_in_panels(model, weights, weight_bytes)) {
    net->panels = 1;
    weights = (const unsigned char *)weights + NETRT_PANELS_BYTES;
    weight_bytes -= NETRT_PANELS_BYTES;
  }
#endif
  if (weight_bytes != model->weight_bytes || (!weights && weight_bytes))
    return NETRT_WRONG_WEIGHTS;
  if (!aligned(model, arena) || (uintptr_t)weights % 4 != 0)
    return NETRT_MISALIGNED;
  if (!is_sound(model))
    return NETRT_BAD_MODEL;
  net->model = model;
  net->weights = weights;
  net->arena = arena;
  net->isa = isa_here();
#ifdef NETRT_CHECK
  netrt_check_open(net);
#endif
  netrt_reset(net);
  netrt_onednn_open(net);
  return NETRT_OK;
}

void netrt_close(struct netrt *net) {
  netrt_onednn_close(net);
}

/* After a failed netrt_open() there is no model. */
void *netrt_input(struct netrt *net, uint32_t i) {
  if (!net->model || i >= net->model->input_count)
    return NULL;
  return net->arena + net->model->inputs[i].operand.offset;
}

const void *netrt_output(const struct netrt *net, uint32_t i) {
  const struct netrt_operand *at;
  if (!net->model || i >= net->model->output_count)
    return NULL;
  at = &net->model->outputs[i].operand;
  return (at->place >= NETRT_IN_WEIGHTS ? net->weights : net->arena) +
         at->offset;
}

int netrt_step(const struct netrt *net, const struct netrt_port *port,
               float *scale, int32_t *zero) {
  if (!net->model || port->operand.type != NETRT_I8)
    return 0;
  memcpy(scale, net->weights + port->step, sizeof *scale);
  memcpy(zero, net->weights + port->step + 4, sizeof *zero);
  return 1;
}

/* The view of an output. */
static struct netrt_view port_view(const struct netrt *net, uint32_t i) {
  const struct netrt_operand *at = &net->model->outputs[i].operand;
  struct netrt_view view;
  view.data = (unsigned char *)(uintptr_t)netrt_output(net, i);
  view.size = &net->model->numbers[at->shape];
  view.stride = view.size + at->rank;
  view.rank = at->rank;
  view.type = at->type;
  return view;
}

int netrt_output_dense(const struct netrt *net, uint32_t i) {
  struct netrt_view view;
  if (!net->model || i >= net->model->output_count)
    return 0;
  view = port_view(net, i);
  return is_dense(&view, view.rank);
}

void netrt_copy_output(const struct netrt *net, uint32_t i, void *to) {
  struct netrt_view view;
  struct kernel_walk walk;
  unsigned char *next = to;
  size_t bytes;
  ptrdiff_t k;
  if (!net->model || i >= net->model->output_count)
    return;
  view = port_view(net, i);
  bytes = netrt_type_bytes(view.type);
  netrt_walk_open(&walk, &view, 1);
  do
    for (k = 0; k < walk.length; k++, next += bytes)
      memcpy(next,
             view.data + (walk.offset[0] + k * walk.step[0]) * (ptrdiff_t)bytes,
             bytes);
  while (netrt_walk_next(&walk));
}

#ifdef NETRT_HAS_FAST
/* True if two operands are the same contiguous floats of the arena. */
static int is_same(const struct netrt_model *m, const struct netrt_operand *a,
                   const struct netrt_operand *b) {
  return a->offset == b->offset && a->place == b->place && a->rank == b->rank &&
         a->type == NETRT_F32 && b->type == NETRT_F32 &&
         memcmp(&m->numbers[a->shape], &m->numbers[b->shape],
                2 * sizeof *m->numbers * a->rank) == 0;
}

/* The next operation, if it only overwrites this one's output. */
static const struct netrt_op *ahead_of(const struct netrt *net, uint32_t i) {
  const struct netrt_model *m = net->model;
  const struct netrt_op *op = &m->ops[i], *next = op + 1;
  const struct netrt_operand *made = &m->operands[op->operands], *at;
  if (net->flags & (NETRT_APART | NETRT_REFERENCE) || i + 1 == m->op_count ||
      next->outs != 1 || next->ins != 1 || op->outs != 1)
    return NULL;
  at = &m->operands[next->operands];
  return is_same(m, made, at) && is_same(m, made, at + 1) ? next : NULL;
}
#endif

/* Runs operation i. *done counts further operations it ran. */
static enum netrt_status run_op(struct netrt *net, uint32_t i, uint32_t *done) {
  const struct netrt_op *op = &net->model->ops[i];
  const struct netrt_kernel *kernel = net->model->kernels[op->kernel];
  int status = NOT_FOR_ME;
#ifdef NETRT_CHECK
  uint64_t sum = netrt_check_before(net, i);
#endif
#ifdef NETRT_HAS_FAST
  net->ahead = ahead_of(net, i);
  if (kernel->fast && !(net->flags & NETRT_REFERENCE))
    status = kernel->fast(net, op);
  if (status == DONE_AHEAD) {
    ++*done;
    status = NETRT_OK;
  }
#endif
  if (status == NOT_FOR_ME)
    status = kernel->reference(net, op);
  if (status == DONE_THOSE) {
    *done += (uint32_t)net->model->numbers[op->args];
    status = NETRT_OK;
  }
#ifdef NETRT_CHECK
  if (status == NETRT_OK)
    return netrt_check_after(net, i, sum);
#endif
  return (enum netrt_status)status;
}

enum netrt_status netrt_run(struct netrt *net) {
  uint32_t i, done = 0; /* operations that have run */
  if (!net->model)
    return NETRT_BAD_MODEL;
  for (i = 0; i < net->model->op_count; i++) {
    enum netrt_status status = NETRT_OK;
    net->failed_op = i;
    if (net->hook && net->hook(net->hook_user, net, i, NETRT_BEFORE))
      return NETRT_STOPPED;
    if (i == done) {
      done++;
      status = run_op(net, i, &done);
    }
    if (status != NETRT_OK)
      return status;
    if (net->hook && net->hook(net->hook_user, net, i, NETRT_AFTER))
      return NETRT_STOPPED;
  }
  return NETRT_OK;
}
