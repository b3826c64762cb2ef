/*
 * NETRT_CHECK: verifies that the run keeps to the plan. Memory that is not in
 * use holds a signalling NaN: a stray write changes it, and a stray read
 * carries it into an output. Needs the model's table of buffers.
 */
#include "kernel.h"

#ifdef NETRT_CHECK

/* A signalling NaN. Operations make it quiet and keep the other bits. */
static const unsigned char poison[4] = {0xad, 0xde, 0xa0, 0x7f};

static void fill(struct netrt *net, size_t from, size_t to) {
  for (; from < to; from++)
    net->arena[from] = poison[from & 3];
}

static int is_alive(const struct netrt_buffer *buffer, uint32_t op) {
  return buffer->first <= op && op <= buffer->last;
}

static int holds(const struct netrt_buffer *buffer, size_t offset) {
  return buffer->offset <= offset && offset - buffer->offset < buffer->bytes;
}

/* True if the buffer has the state of the run before. */
static int is_state(const struct netrt_model *m, const struct netrt_op *op,
                    const struct netrt_buffer *buffer) {
  const struct netrt_operand *at = &m->operands[op->operands];
  uint32_t i;
  if (op->works != NETRT_STAYS || buffer->last + 1 < m->op_count)
    return 0;
  for (i = 0; i < op->outs; i++)
    if (holds(buffer, at[i].offset))
      return 1;
  return holds(buffer, at[op->outs + op->ins].offset);
}

/* True if the buffer is in use before the first operation. */
static int is_input(const struct netrt_model *m,
                    const struct netrt_buffer *buffer) {
  uint32_t i;
  for (i = 0; i < m->op_count && buffer->first == 0; i++)
    if (is_state(m, &m->ops[i], buffer))
      return 1;
  for (i = 0; i < m->input_count && buffer->first == 0; i++)
    if (holds(buffer, m->inputs[i].operand.offset))
      return 1;
  return 0;
}

/* The next bytes [*from, *to) that no buffer in use contains; 0: none. */
static int next_gap(const struct netrt_model *m, uint32_t op, int inputs,
                    size_t *from, size_t *to) {
  uint32_t i;
  int moved = 1;
  while (moved) {
    moved = 0;
    for (i = 0; i < m->buffer_count; i++)
      if (is_alive(&m->buffers[i], op) && holds(&m->buffers[i], *from) &&
          (!inputs || is_input(m, &m->buffers[i]))) {
        *from = m->buffers[i].offset + m->buffers[i].bytes;
        moved = 1;
      }
  }
  *to = m->arena_bytes;
  for (i = 0; i < m->buffer_count; i++)
    if (is_alive(&m->buffers[i], op) && m->buffers[i].offset > *from &&
        m->buffers[i].offset < *to && m->buffers[i].bytes &&
        (!inputs || is_input(m, &m->buffers[i])))
      *to = m->buffers[i].offset;
  return *from < *to;
}

void netrt_check_open(struct netrt *net) {
  if (net->model->buffers)
    fill(net, 0, net->model->arena_bytes);
}

/*
 * Poisons bytes [from, to), except those of buffers, from index i on, that are
 * in use before the operation, or after it if `after`.
 */
static void fill_around(struct netrt *net, uint32_t op, int after, size_t from,
                        size_t to, uint32_t i) {
  const struct netrt_model *m = net->model;
  for (; i < m->buffer_count; i++) {
    const struct netrt_buffer *b = &m->buffers[i];
    int stays = after ? b->first <= op && op < b->last
                      : is_alive(b, op) && (b->first < op || is_input(m, b));
    if (!stays || b->offset >= to || b->offset + b->bytes <= from)
      continue;
    if (b->offset > from)
      fill_around(net, op, after, from, b->offset, i + 1);
    from = b->offset + b->bytes;
    if (from >= to)
      return;
  }
  fill(net, from, to);
}

/* True if the operation may write the buffer: an output, or work memory. */
static int may_write(const struct netrt_model *m, const struct netrt_op *op,
                     const struct netrt_buffer *buffer) {
  uint32_t i, count = (uint32_t)op->outs + op->ins + (op->works != 0);
  for (i = 0; i < count; i++) {
    const struct netrt_operand *at = &m->operands[op->operands + i];
    int read = i >= op->outs && i < (uint32_t)op->outs + op->ins;
    if (!read && at->place == NETRT_IN_ARENA && holds(buffer, at->offset))
      return 1;
  }
  return 0;
}

/* True if a buffer that starts with the operation may share its bytes;
 * overlap.c checks these. */
static int is_overlaid(const struct netrt_model *m, uint32_t op,
                       const struct netrt_buffer *buffer) {
  uint32_t i;
  for (i = 0; i < m->buffer_count; i++) {
    const struct netrt_buffer *b = &m->buffers[i];
    if (b != buffer && b->first == op && buffer->last == op &&
        b->offset < buffer->offset + buffer->bytes &&
        buffer->offset < b->offset + b->bytes)
      return 1;
  }
  return 0;
}

/* FNV-1a of the bytes that the operation must not change. */
static uint64_t sum_of_others(const struct netrt *net, uint32_t op) {
  const struct netrt_model *m = net->model;
  uint64_t sum = UINT64_C(14695981039346656037);
  uint32_t i;
  size_t k;
  for (i = 0; i < m->buffer_count; i++) {
    const struct netrt_buffer *buffer = &m->buffers[i];
    if (!is_alive(buffer, op) || may_write(m, &m->ops[op], buffer) ||
        is_overlaid(m, op, buffer))
      continue;
    for (k = 0; k < buffer->bytes; k++)
      sum = (sum ^ net->arena[buffer->offset + k]) * UINT64_C(1099511628211);
  }
  return sum;
}

uint64_t netrt_check_before(struct netrt *net, uint32_t op) {
  const struct netrt_model *m = net->model;
  size_t from = 0, to;
  uint32_t i;
  if (!m->buffers)
    return 0;
  for (; op == 0 && next_gap(m, 0, 1, &from, &to); from = to)
    fill(net, from, to);
  for (i = 0; i < m->buffer_count; i++)
    if (m->buffers[i].first == op && !is_input(m, &m->buffers[i]))
      fill_around(net, op, 0, m->buffers[i].offset,
                  m->buffers[i].offset + m->buffers[i].bytes, 0);
  return sum_of_others(net, op);
}

/* True if an output contains poison. */
static int is_poisoned(const struct netrt *net, const struct netrt_op *op,
                       uint32_t out) {
  struct netrt_view view = netrt_view(net, op, out);
  struct kernel_walk walk;
  ptrdiff_t k;
  if (view.type != NETRT_F32)
    return 0;
  netrt_walk_open(&walk, &view, 1);
  do
    for (k = 0; k < walk.length; k++) {
      const unsigned char *at =
          view.data + (walk.offset[0] + k * walk.step[0]) * 4;
      if (at[0] == poison[0] && at[1] == poison[1] &&
          (at[2] & 0xbf) == poison[2] && (at[3] & 0x7f) == poison[3])
        return 1;
    }
  while (netrt_walk_next(&walk));
  return 0;
}

enum netrt_status netrt_check_after(struct netrt *net, uint32_t op,
                                    uint64_t sum) {
  const struct netrt_model *m = net->model;
  size_t from = 0, to, i;
  if (!m->buffers)
    return NETRT_OK;
  for (; next_gap(m, op, 0, &from, &to); from = to)
    for (i = from; i < to; i++)
      if (net->arena[i] != poison[i & 3])
        return NETRT_STRAY_WRITE;
  if (sum != sum_of_others(net, op))
    return NETRT_STRAY_WRITE;
  for (i = 0; i < m->ops[op].outs; i++)
    if (is_poisoned(net, &m->ops[op], (uint32_t)i))
      return NETRT_DEAD_READ;
  for (i = m->arena_bytes; i > net->high_water; i--)
    if (net->arena[i - 1] != poison[(i - 1) & 3])
      net->high_water = i;
  for (i = 0; i < m->buffer_count; i++)
    if (m->buffers[i].last == op)
      fill_around(net, op, 1, m->buffers[i].offset,
                  m->buffers[i].offset + m->buffers[i].bytes, 0);
  return NETRT_OK;
}

#else
typedef int netrt_check_is_off; /* an empty file is not valid C */
#endif
