/* Tables: a net for the runtime, runtime/netrt.h. */
#include "memory/tables.h"

#include "base/check.h"
#include "memory/q8.h"
#include "sema/model/weights.h"

enum { LOOK_BACK = 256 }; /* recent shapes that are reused */

static const struct table_code {
  const char *kernel, *reals;
} codes[] = {
#define OP(code, name, ins, most, numbers, reals, elementwise) {#name, reals},
#include "runtime/ops.def"
#undef OP
};

struct table_making {
  struct arena *arena;
  const struct model *net;
  const struct settings *settings;
  const struct program *program;
  struct netrt_model *model;
  VEC(struct netrt_op) ops;
  VEC(struct netrt_operand) operands;
  VEC(int32_t) numbers;
  VEC(float) reals;
  VEC(uint32_t) shapes; /* offsets in numbers */
  VEC(const char *) names;
  uint32_t *name_of; /* by node, plus 1 */
  struct text text;  /* the next text to keep */
  bool too_large;
};

const char *tables_kernel_name(unsigned code) {
  return codes[code].kernel;
}

static const char *keep_text(struct table_making *m) {
  const char *copy = arena_copy(m->arena, m->text.at, m->text.length);
  m->text.length = 0;
  return copy;
}

static uint32_t small(struct table_making *m, size_t value) {
  m->too_large = m->too_large || value > UINT32_MAX;
  return (uint32_t)value;
}

static void add_number(struct table_making *m, int64_t value) {
  m->too_large = m->too_large || value > INT32_MAX || value < INT32_MIN;
  *VEC_PUSH(m->arena, &m->numbers) = (int32_t)value;
}

/* Reuses a recent equal shape. */
static uint32_t shape_at(struct table_making *m, size_t first, int length) {
  size_t bytes = (size_t)length * sizeof *m->numbers.at;
  size_t count = m->shapes.count;
  for (size_t i = count; i > 0 && i + LOOK_BACK > count; i--) {
    uint32_t old = m->shapes.at[i - 1];
    if (old + (size_t)length > first ||
        memcmp(m->numbers.at + old, m->numbers.at + first, bytes) != 0)
      continue;
    m->numbers.count = first;
    return old;
  }
  *VEC_PUSH(m->arena, &m->shapes) = small(m, first);
  return small(m, first);
}

uint8_t tables_type(const struct program *program,
                    const struct operand *operand) {
  switch (operand->type) {
  case OPERAND_I32: return NETRT_I32;
  case OPERAND_I64: return NETRT_I64;
  case OPERAND_REAL: return NETRT_F32;
  case OPERAND_I8: return NETRT_I8;
  case OPERAND_F16: return NETRT_F16;
  case OPERAND_BF16: return NETRT_BF16;
  case OPERAND_OWN: break;
  }
  return program->q8 ? NETRT_I8 : NETRT_F32;
}

static struct netrt_operand operand_of(struct table_making *m,
                                       const struct operand *operand) {
  size_t first = m->numbers.count;
  for (int i = 0; i < operand->rank; i++)
    add_number(m, operand->dim[i]);
  for (int i = 0; i < operand->rank; i++) {
    bool steps = operand->dim[i] > 1 || operand->stride[i] <= INT32_MAX;
    add_number(m, steps ? operand->stride[i] : 0);
  }
  return (struct netrt_operand){
      .offset = (size_t)operand->first,
      .shape = operand->rank ? shape_at(m, first, 2 * operand->rank) : 0,
      .rank = (uint8_t)operand->rank,
      .type = tables_type(m->program, operand),
      .place = operand->panels    ? NETRT_IN_PANELS
               : operand->weights ? NETRT_IN_WEIGHTS
                                  : NETRT_IN_ARENA};
}

static uint32_t name_at(struct table_making *m, int64_t node) {
  if (!m->name_of[node]) {
    model_put_name(&m->text, m->net, node);
    *VEC_PUSH(m->arena, &m->names) = keep_text(m);
    m->name_of[node] = small(m, m->names.count);
  }
  return m->name_of[node] - 1;
}

static int words_in(const char *text) {
  int count = 0;
  for (; *text; text += *text == ' ') {
    count++;
    text += strcspn(text, " ");
  }
  return count;
}

static void add_op(struct table_making *m, const struct program_op *op) {
  unsigned code = (unsigned)op->opcode - (DOES_VIEW + 1);
  int all = op->outs + op->ins + op->works;
  struct netrt_op made = {.layer = name_at(m, op->node),
                          .operands = small(m, m->operands.count),
                          .args = small(m, m->numbers.count),
                          .reals = small(m, m->reals.count),
                          .ins = (uint16_t)op->ins,
                          .outs = (uint8_t)op->outs,
                          .works = op->stays ? NETRT_STAYS : (uint8_t)op->works,
                          .kernel = (uint8_t)code};
  m->too_large = m->too_large || op->ins > UINT16_MAX || op->outs > UINT8_MAX;
  for (int i = 0; i < op->numbers; i++)
    add_number(m, m->program->numbers.at[op->first_number + (size_t)i]);
  for (int i = 0; i < words_in(codes[code].reals); i++)
    *VEC_PUSH(m->arena, &m->reals) = (float)op->real[i];
  for (int i = 0; i < all; i++) {
    size_t place = op->first_operand + (size_t)i;
    struct netrt_operand operand =
        operand_of(m, &m->program->operands.at[place]);
    *VEC_PUSH(m->arena, &m->operands) = operand;
  }
  *VEC_PUSH(m->arena, &m->ops) = made;
}

/* The index of a port's scale and zero; inputs come first. */
static size_t step_of(const struct table_making *m, size_t port) {
  return m->program->q8 ? (size_t)m->program->ports + 4 * Q8_PORT_WORDS * port
                        : 0;
}

static const struct netrt_port *ports(struct table_making *m, bool inputs) {
  const struct model *model = m->net;
  size_t count = inputs ? model->predicted_sources : model->predicted_outputs;
  struct netrt_port *ports = arena_alloc(m->arena, count + 1, sizeof *ports);
  for (size_t i = 0; i < count; i++) {
    if (inputs)
      model_put_name(&m->text, model, model->sources.at[i]);
    else if (model->outputs.at[i].name.at)
      text_puts(&m->text, model->outputs.at[i].name);
    else
      model_put_name(&m->text, model, model->outputs.at[i].node);
    ports[i] = (struct netrt_port){
        .name = keep_text(m),
        .operand = operand_of(m, inputs ? &m->program->inputs.at[i]
                                        : &m->program->outputs.at[i]),
        .step = step_of(m, (inputs ? 0 : model->predicted_sources) + i)};
  }
  return ports;
}

/* The index of a step's operation. The operations of lines follow the one that
 * runs them, at `lines_at`. */
static uint32_t op_at(const struct program *program, uint32_t step) {
  return step > program->lines_at ? step + (uint32_t)program->lines : step;
}

static const struct netrt_buffer *buffers(struct table_making *m) {
  const struct inference *plan = &m->program->plan;
  struct netrt_buffer *made =
      arena_alloc(m->arena, plan->arena.count + 1, sizeof *made);
  for (size_t i = 0; i < plan->arena.count; i++) {
    const struct arena_buffer *buffer = &plan->arena.at[i];
    made[i] = (struct netrt_buffer){.offset = (size_t)buffer->offset,
                                    .bytes = (size_t)buffer->bytes,
                                    .first = op_at(m->program, buffer->first),
                                    .last = op_at(m->program, buffer->last)};
  }
  return made;
}

static void fill(struct table_making *m) {
  const struct model *model = m->net;
  struct netrt_model made = {
      .name = arena_copy(m->arena, model->name.at, model->name.length),
      .version = NETRT_VERSION,
      .batch = (uint32_t)m->settings->infer.batch,
      .arena_bytes = (size_t)m->program->plan.plan.height,
      .weight_bytes = (size_t)m->program->weight_bytes,
      .inputs = ports(m, true),
      .outputs = ports(m, false),
      .buffers = buffers(m)};
  made.ops = m->ops.at;
  made.operands = m->operands.at;
  made.numbers = m->numbers.at;
  made.reals = m->reals.at;
  made.layers = m->names.at;
  made.op_count = small(m, m->ops.count);
  made.operand_count = small(m, m->operands.count);
  made.number_count = small(m, m->numbers.count);
  made.real_count = small(m, m->reals.count);
  made.layer_count = small(m, m->names.count);
  made.input_count = small(m, model->predicted_sources);
  made.output_count = small(m, model->predicted_outputs);
  made.buffer_count = small(m, m->program->plan.arena.count);
  *m->model = made;
}

/* The item made last is too large. */
static const char *refusal(struct table_making *m) {
  text_put(&m->text, "the runtime has numbers of up to 2^31 - 1, but this net "
                     "has larger ones");
  if (m->ops.count) {
    const struct netrt_op *last = &m->ops.at[m->ops.count - 1];
    text_printf(&m->text, " at %s", m->names.at[last->layer]);
  }
  text_put(&m->text, ": choose a smaller batch, or smaller tensors");
  return keep_text(m);
}

/* Reports an operation without a kernel. */
static const char *no_kernel(struct table_making *m) {
  for (size_t i = 0; i < m->program->ops.count; i++) {
    const struct program_op *op = &m->program->ops.at[i];
    if (op->opcode > DOES_UNKNOWN)
      continue;
    if (op->was > DOES_UNKNOWN) {
      text_printf(&m->text, "the runtime has no int8 kernel for `%s` of ",
                  op->name);
      model_put_name(&m->text, m->net, op->node);
      text_put(&m->text, ": choose `--dtype f32`");
      return keep_text(m);
    }
    text_printf(&m->text, "the runtime has no kernel for `%s` of ", op->name);
    model_put_name(&m->text, m->net, op->node);
    text_put(&m->text, ": netc can measure this net, but not run it");
    return keep_text(m);
  }
  return NULL;
}

/* Reports what prevents streaming, if it was asked for. */
static const char *no_stream(struct table_making *m) {
  const struct inference_lines *lines = &m->program->plan.lines;
  if (!lines->fault || lines->window)
    return NULL;
  text_put(&m->text, "this net cannot take a row at a time: ");
  model_put_name(&m->text, m->net, lines->fault_node);
  text_printf(&m->text, " %s; ", lines->fault);
  if (lines->advice)
    text_printf(&m->text, "%s, or ", lines->advice);
  text_put(&m->text, "leave out `stream`");
  return keep_text(m);
}

/* Reports sums of 8-bit products (8 and 9 bits) that pass 32 bits. */
static const char *long_sum(struct table_making *m) {
  for (size_t i = 0; i < m->program->ops.count; i++) {
    const struct program_op *op = &m->program->ops.at[i];
    const struct operand *weight =
        &m->program->operands.at[op->first_operand + 2];
    int64_t terms = 1;
    if (!q8_is_product(op->opcode))
      continue;
    for (int k = 0; k < weight->rank - 1 && terms <= Q8_MOST_TERMS; k++)
      terms *= min_i64(weight->dim[k], Q8_MOST_TERMS + 1);
    if (terms <= Q8_MOST_TERMS)
      continue;
    model_put_name(&m->text, m->net, op->node);
    text_printf(&m->text,
                " sums more than %d products, which 32 bits may not hold: "
                "choose `--dtype f32`",
                Q8_MOST_TERMS);
    return keep_text(m);
  }
  return NULL;
}

/* Reports layers that need a KV cache, with `decode`. */
static const char *needs_cache(struct table_making *m) {
  const struct model *model = m->net;
  if (!m->settings->infer.decode)
    return NULL;
  text_put(&m->text, "the runtime computes all tokens and has no KV cache");
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].kind->cache && !model->nodes.at[i].train_only) {
      text_put(&m->text, " for ");
      model_put_name(&m->text, model, (int64_t)i);
      break;
    }
  text_put(&m->text, ": leave out `decode`");
  return keep_text(m);
}

/* True if an offset fits size_t, the type where the tables run. */
static bool is_addressed(int64_t bytes) {
  return bytes == (int64_t)(size_t)bytes;
}

const char *tables_make(const struct model *net,
                        const struct settings *settings,
                        const struct program *program,
                        struct netrt_model *model) {
  struct table_making m = {.arena = net->arena,
                           .net = net,
                           .settings = settings,
                           .program = program,
                           .model = model,
                           .text = text_new(net->arena)};
  if (model_other_type(net, settings->infer.dtype) != NO_NODE)
    return "the runtime has one type for all layers: leave out `dtype=` after "
           "layers";
  if (!weights_run(settings->infer.weight_dtype))
    return "the runtime does not support this weight type: choose "
           "`--weight-dtype i8`, `f16` or `bf16`; or `--dtype i8` for int8 "
           "values, too";
  if (settings->infer.weight_dtype && settings->infer.dtype != ELEMENT_F32)
    return "a separate weight type needs float32 values: choose `--dtype f32`, "
           "or leave out `weight_dtype`";
  if (settings->infer.dtype != ELEMENT_F32 && !program->q8)
    return "the runtime computes in float32 or int8: choose `--dtype f32` or "
           "`--dtype i8`";
  const char *cached = needs_cache(&m);
  if (cached)
    return cached;
  if (!is_addressed(program->weight_bytes) ||
      !is_addressed(program->plan.plan.height))
    return "weights or an arena beyond 4 GiB need a 64-bit netc: this one has "
           "32 bits";
  const char *unknown = no_stream(&m);
  if (!unknown)
    unknown = no_kernel(&m);
  if (!unknown)
    unknown = long_sum(&m);
  if (unknown)
    return unknown;
  m.too_large = settings->infer.batch > INT32_MAX;
  m.name_of = arena_alloc(m.arena, net->nodes.count + 1, sizeof *m.name_of);
  for (size_t i = 0; i < program->ops.count && !m.too_large; i++)
    add_op(&m, &program->ops.at[i]);
  if (!m.too_large)
    fill(&m);
  return m.too_large ? refusal(&m) : NULL;
}
