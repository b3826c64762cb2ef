/* X_run of a net: a function that calls the runtime, with its own arena. */
#include "codegen/c/run.h"

static const char *const words[] = {[NETRT_F32] = "float",
                                    [NETRT_I32] = "int32_t",
                                    [NETRT_I64] = "int64_t",
                                    [NETRT_I8] = "int8_t"};

/* "input", or "input_0" if there are several. */
static void put_name(struct text *out, const char *name, size_t i,
                     size_t count) {
  text_put(out, name);
  if (count > 1)
    text_printf(out, "_%zu", i);
}

/* Nets with more than two inputs and outputs have a line for each. */
void run_put_prototype(struct text *out, const struct run_ends *ends) {
  bool many = ends->inputs + ends->outputs > 2;
  const char *next = many ? ",\n    " : ", ", *comma = many ? "\n    " : "";
  text_printf(out, "int %.*s_run(", SLICE_ARG(ends->name));
  for (size_t i = 0; i < ends->inputs; i++, comma = next) {
    text_printf(out, "%sconst %s *", comma, words[ends->types[i]]);
    put_name(out, "input", i, ends->inputs);
  }
  for (size_t i = 0; i < ends->outputs; i++, comma = next) {
    text_printf(out, "%s%s *", comma, words[ends->types[ends->inputs + i]]);
    put_name(out, "output", i, ends->outputs);
  }
  text_putc(out, ')');
}

void run_put_reset(struct text *out, const struct run_ends *ends) {
  text_printf(out, "void %.*s_reset(void)", SLICE_ARG(ends->name));
}

static unsigned long long values_of(const struct netrt_model *model,
                                    const struct netrt_operand *at) {
  unsigned long long values = 1;
  for (int i = 0; i < at->rank; i++)
    values *= (unsigned long long)model->numbers[at->shape + (uint32_t)i];
  return values;
}

static void put_copies(struct text *out, const struct run_ends *ends,
                       const struct netrt_model *model) {
  for (size_t i = 0; i < ends->inputs; i++) {
    text_printf(out, "  memcpy(netrt_input(&net, %zu), ", i);
    put_name(out, "input", i, ends->inputs);
    text_printf(out, ", %llu * sizeof *",
                values_of(model, &model->inputs[i].operand));
    put_name(out, "input", i, ends->inputs);
    text_put(out, ");\n");
  }
  text_put(out, "  status = netrt_run(&net);\n");
  for (size_t i = 0; i < ends->outputs; i++) {
    text_printf(out,
                "  if (status == NETRT_OK)\n"
                "    netrt_copy_output(&net, %zu, ",
                i);
    put_name(out, "output", i, ends->outputs);
    text_put(out, ");\n");
  }
}

/* X_reset works on the net that X_run has opened. */
static void put_reset(struct text *out, const struct run_ends *ends) {
  text_put(out, "static struct netrt net;\n\n"
                "#ifdef __cplusplus\nextern \"C\"\n#endif\n");
  run_put_reset(out, ends);
  text_put(out, ";\n\n");
  run_put_reset(out, ends);
  text_put(out, " {\n  if (net.model)\n    netrt_reset(&net);\n}\n");
}

/* True if some weights are not float32: the block is then an array of bytes. */
static bool is_small(const struct netrt_model *model) {
  for (uint32_t i = 0; i < model->operand_count; i++)
    if (model->operands[i].type >= NETRT_I8)
      return true;
  return false;
}

void run_put_function(struct text *out, const struct run_ends *ends,
                      const struct netrt_model *model) {
  bool weights = model->weight_bytes > 0;
  text_printf(out,
              "\n"
              "/* See %.*s.h. */\n"
              "#ifdef NETRT_RUN\n"
              "#include <string.h>\n"
              "\n",
              SLICE_ARG(ends->name));
  if (weights)
    text_printf(out, "extern const %s %.*s_weights[];\n",
                is_small(model) ? "unsigned char" : "float",
                SLICE_ARG(ends->name));
  text_put(out, "#ifdef __cplusplus\nextern \"C\"\n#endif\n");
  run_put_prototype(out, ends);
  text_printf(
      out, ";\nstatic NETRT_ARENA unsigned char arena[%llu];\n",
      (unsigned long long)(model->arena_bytes ? model->arena_bytes : 1));
  if (ends->stream)
    put_reset(out, ends);
  text_putc(out, '\n');
  run_put_prototype(out, ends);
  text_printf(out,
              " {\n%s"
              "  enum netrt_status status = NETRT_OK;\n"
              "  if (!net.model)\n"
              "    status = netrt_open(&net, &%.*s_model, ",
              ends->stream ? "" : "  static struct netrt net;\n",
              SLICE_ARG(ends->name));
  if (weights)
    text_printf(out, "%.*s_weights,\n", SLICE_ARG(ends->name));
  else
    text_put(out, "NULL,\n");
  text_printf(out,
              "                        %llu, arena, sizeof arena);\n"
              "  if (status != NETRT_OK)\n    return status;\n",
              (unsigned long long)model->weight_bytes);
  put_copies(out, ends, model);
  text_put(out, "  return status;\n}\n#endif\n");
}
