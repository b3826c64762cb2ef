/* c: the tables of a net for the runtime. */
#include "codegen/c/run.h"
#include "memory/tables.h"

static const char *make(const struct compiled *c, struct netrt_model *made) {
  struct program *program = ARENA_NEW(c->model->arena, struct program);
  if (!program_find(c->model, c->settings, program))
    return "the memory of the net passes 2^63 - 1 bytes";
  return tables_make(c->model, c->settings, program, made);
}

/* Builds the tables to see whether that is possible, and frees them. */
const char *source_refuses(const struct compiled *c) {
  struct netrt_model made;
  struct arena scratch;
  struct model model = *c->model;
  struct compiled copy = *c;
  arena_open_in(&scratch, c->arena);
  model.arena = &scratch;
  copy.model = &model;
  const char *why = make(&copy, &made);
  if (why)
    why = arena_copy(c->arena, why, strlen(why));
  arena_close(&scratch);
  return why;
}

struct printing {
  struct text *out;
  const struct netrt_model *model;
  struct slice name;           /* "vgg16" */
  unsigned place[NETRT_CODES]; /* by code: index in model's kernels + 1 */
  unsigned order[NETRT_CODES]; /* codes of the kernels */
  unsigned kernel_count;
};

static void put_head(struct printing *p, const struct compiled *c) {
  text_put(p->out, "/*\n * ");
  c_put_comment(p->out, c->model->name);
  text_put(p->out,
           ": tables for netrt, the runtime of netc. Do not edit: they are\n"
           " * generated from a net with the hash ");
  c_put_hash(p->out, c);
  text_put(p->out, ".\n */\n#include \"netrt.h\"\n\n");
}

static void begin_array(struct printing *p, const char *type, const char *name,
                        size_t count) {
  text_printf(p->out, "static const %s %s[%zu] = {", type, name,
              count ? count : 1);
  if (!count)
    text_put(p->out, "0"); /* C has no empty arrays */
}

static void end_array(struct printing *p) {
  text_put(p->out, "};\n\n");
}

/* Adds an item, on the same line if it fits. */
static void put_item(struct printing *p, size_t *column, struct slice item,
                     bool last) {
  if (*column == 0 || *column + item.length + 2 > 78) {
    text_put(p->out, "\n  ");
    *column = 2;
  } else {
    text_putc(p->out, ' ');
    ++*column;
  }
  text_puts(p->out, item);
  *column += item.length + 1;
  if (!last)
    text_putc(p->out, ',');
  else
    text_putc(p->out, '\n');
}

static void put_numbers(struct printing *p, struct text *item) {
  const struct netrt_model *m = p->model;
  size_t column = 0;
  begin_array(p, "int32_t", "numbers", m->number_count);
  for (uint32_t i = 0; i < m->number_count; i++) {
    item->length = 0;
    text_int(item, m->numbers[i]);
    put_item(p, &column, text_slice(item), i + 1 == m->number_count);
  }
  end_array(p);
  column = 0;
  begin_array(p, "float", "reals", m->real_count);
  for (uint32_t i = 0; i < m->real_count; i++) {
    item->length = 0;
    c_put_float(item, m->reals[i]);
    put_item(p, &column, text_slice(item), i + 1 == m->real_count);
  }
  end_array(p);
}

/* {offset, shape, rank, type, place} */
static void format_operand(struct text *item, const struct netrt_operand *o) {
  static const char *const types[] = {
      [NETRT_F32] = "NETRT_F32", [NETRT_I32] = "NETRT_I32",
      [NETRT_I64] = "NETRT_I64", [NETRT_I8] = "NETRT_I8",
      [NETRT_F16] = "NETRT_F16", [NETRT_BF16] = "NETRT_BF16"};
  static const char *const places[] = {[NETRT_IN_ARENA] = "NETRT_IN_ARENA",
                                       [NETRT_IN_WEIGHTS] = "NETRT_IN_WEIGHTS",
                                       [NETRT_IN_PANELS] = "NETRT_IN_PANELS"};
  text_putc(item, '{');
  text_int(item, (int64_t)o->offset);
  text_printf(item, ", %lu, %u, %s, %s}", (unsigned long)o->shape, o->rank,
              types[o->type], places[o->place]);
}

static void put_operands(struct printing *p, struct text *item) {
  const struct netrt_model *m = p->model;
  begin_array(p, "struct netrt_operand", "operands", m->operand_count);
  for (uint32_t i = 0; i < m->operand_count; i++) {
    size_t column = 0;
    item->length = 0;
    format_operand(item, &m->operands[i]);
    put_item(p, &column, text_slice(item), i + 1 == m->operand_count);
  }
  end_array(p);
}

/* Lists used kernels in order of use, so that others are not linked. */
static void find_kernels(struct printing *p) {
  for (uint32_t i = 0; i < p->model->op_count; i++) {
    unsigned code = p->model->ops[i].kernel;
    if (p->place[code])
      continue;
    p->order[p->kernel_count++] = code;
    p->place[code] = p->kernel_count;
  }
}

static void put_kernels(struct printing *p, struct text *item) {
  size_t column = 0;
  text_printf(p->out, "static const struct netrt_kernel *const kernels[%u] = {",
              p->kernel_count ? p->kernel_count : 1);
  if (!p->kernel_count)
    text_put(p->out, "NULL");
  for (unsigned i = 0; i < p->kernel_count; i++) {
    item->length = 0;
    text_printf(item, "&netrt_%s", tables_kernel_name(p->order[i]));
    put_item(p, &column, text_slice(item), i + 1 == p->kernel_count);
  }
  end_array(p);
}

/* {layer, operands, args, reals, ins, outs, works, kernel} */
static void put_ops(struct printing *p, struct text *item) {
  const struct netrt_model *m = p->model;
  if (m->op_count == 0) {
    text_put(p->out, "static const struct netrt_op ops[1] = {{0, 0, 0, 0, 0, "
                     "0, 0, 0}};\n\n");
    return;
  }
  begin_array(p, "struct netrt_op", "ops", m->op_count);
  for (uint32_t i = 0; i < m->op_count; i++) {
    const struct netrt_op *op = &m->ops[i];
    size_t column = 0;
    item->length = 0;
    text_printf(item, "{%lu, %lu, %lu, %lu, %u, %u, %u, %u}",
                (unsigned long)op->layer, (unsigned long)op->operands,
                (unsigned long)op->args, (unsigned long)op->reals, op->ins,
                op->outs, op->works, p->place[op->kernel] - 1);
    put_item(p, &column, text_slice(item), i + 1 == m->op_count);
  }
  end_array(p);
}

static void put_ports(struct printing *p, const char *name,
                      const struct netrt_port *ports, uint32_t count,
                      struct text *item) {
  text_printf(p->out, "static const struct netrt_port %s[%lu] = {", name,
              (unsigned long)(count ? count : 1));
  if (!count)
    text_put(p->out, "{NULL, {0, 0, 0, 0, 0}, 0}");
  for (uint32_t i = 0; i < count; i++) {
    size_t column = 0;
    item->length = 0;
    text_putc(item, '{');
    c_put_string(item, slice_of(ports[i].name));
    text_put(item, ", ");
    format_operand(item, &ports[i].operand);
    text_printf(item, ", %zu}", ports[i].step);
    put_item(p, &column, text_slice(item), i + 1 == count);
  }
  end_array(p);
}

static void put_names(struct printing *p, struct text *item) {
  const struct netrt_model *m = p->model;
  size_t column = 0;
  text_printf(p->out, "static const char *const layers[%lu] = {",
              (unsigned long)(m->layer_count ? m->layer_count : 1));
  if (!m->layer_count)
    text_put(p->out, "NULL");
  for (uint32_t i = 0; i < m->layer_count; i++) {
    item->length = 0;
    c_put_string(item, slice_of(m->layers[i]));
    put_item(p, &column, text_slice(item), i + 1 == m->layer_count);
  }
  end_array(p);
}

/* Lifetimes of bytes, for checks only. */
static void put_buffers(struct printing *p, struct text *item) {
  const struct netrt_model *m = p->model;
  size_t column = 0;
  text_put(p->out, "#ifdef NETRT_CHECK\n");
  begin_array(p, "struct netrt_buffer", "buffers", m->buffer_count);
  for (uint32_t i = 0; i < m->buffer_count; i++) {
    const struct netrt_buffer *b = &m->buffers[i];
    item->length = 0;
    text_putc(item, '{');
    text_int(item, (int64_t)b->offset);
    text_put(item, ", ");
    text_int(item, (int64_t)b->bytes);
    text_printf(item, ", %lu, %lu}", (unsigned long)b->first,
                (unsigned long)b->last);
    put_item(p, &column, text_slice(item), i + 1 == m->buffer_count);
  }
  text_printf(
      p->out,
      "};\n#define BUFFER_LIST buffers\n#define BUFFER_COUNT %lu\n#else\n"
      "#define BUFFER_LIST NULL\n#define BUFFER_COUNT 0\n#endif\n\n",
      (unsigned long)m->buffer_count);
}

static void put_counts(struct printing *p) {
  const struct netrt_model *m = p->model;
  const uint32_t counts[] = {m->op_count,     m->operand_count, m->number_count,
                             m->real_count,   p->kernel_count,  m->input_count,
                             m->output_count, m->layer_count};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    text_printf(p->out, "%s%lu", i ? ", " : "", (unsigned long)counts[i]);
}

static void put_model(struct printing *p) {
  const struct netrt_model *m = p->model;
  text_printf(p->out, "extern const struct netrt_model %.*s_model;\n",
              SLICE_ARG(p->name));
  text_printf(p->out, "const struct netrt_model %.*s_model = {\n  ",
              SLICE_ARG(p->name));
  c_put_string(p->out, slice_of(m->name));
  text_printf(p->out, ", NETRT_VERSION, %lu, ", (unsigned long)m->batch);
  text_int(p->out, (int64_t)m->arena_bytes);
  text_put(p->out, ", ");
  text_int(p->out, (int64_t)m->weight_bytes);
  text_put(p->out, ",\n  ops, operands, numbers, reals, kernels, inputs, "
                   "outputs, layers, BUFFER_LIST,\n  ");
  put_counts(p);
  text_put(p->out, ", BUFFER_COUNT};\n");
}

static void put_run(struct printing *p, const struct compiled *c) {
  const struct netrt_model *m = p->model;
  size_t inputs = m->input_count, outputs = m->output_count;
  uint8_t *types = arena_alloc(c->arena, inputs + outputs + 1, 1);
  for (size_t i = 0; i < inputs; i++)
    types[i] = m->inputs[i].operand.type;
  for (size_t i = 0; i < outputs; i++)
    types[inputs + i] = m->outputs[i].operand.type;
  run_put_function(
      p->out,
      &(struct run_ends){.name = p->name,
                         .types = types,
                         .inputs = inputs,
                         .outputs = outputs,
                         .stream = c->memory.inference.lines.window > 0},
      m);
}

void emit_source(const struct compiled *c, struct text *out) {
  struct netrt_model model;
  struct identifiers ids = identifiers_open(c);
  struct text item = text_new(c->arena);
  if (make(c, &model)) /* source_refuses has checked this */
    return;
  struct printing p = {
      .out = out, .model = &model, .name = identifiers_small(&ids)};
  find_kernels(&p);
  put_head(&p, c);
  put_numbers(&p, &item);
  put_operands(&p, &item);
  put_ops(&p, &item);
  put_kernels(&p, &item);
  put_ports(&p, "inputs", model.inputs, model.input_count, &item);
  put_ports(&p, "outputs", model.outputs, model.output_count, &item);
  put_names(&p, &item);
  put_buffers(&p, &item);
  put_model(&p);
  put_run(&p, c);
}
