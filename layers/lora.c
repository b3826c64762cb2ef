/* lora: two narrow matrices that are trained beside frozen weights. */
#include "layers/lora.h"

bool lora_check(const struct layer *layer, const struct lora *lora) {
  const char *said = lora->alpha != 0     ? "lora_alpha"
                     : lora->dropout != 0 ? "lora_dropout"
                                          : NULL;
  if (lora->rank || !said)
    return true;
  struct diagnostic *d = layer_fail(layer, MISSING_ARGUMENT, said,
                                    "`%s` without a rank says nothing", said);
  diag_help(d, "`lora=8` is a rank of 8");
  return false;
}

const char *lora_name(struct params *params, const char *prefix,
                      const char *name) {
  struct text text = text_new(params->arena);
  text_printf(&text, "%s%s", prefix, name);
  return arena_copy(params->arena, text.at, text.length);
}

void lora_params(struct params *params, int64_t in, int64_t out, int64_t rank,
                 const char *prefix) {
  params_add(params,
             (struct param){.name = lora_name(params, prefix, "lora_A.weight"),
                            .rank = 2,
                            .dim = {in, rank},
                            .adapter = true,
                            .order = FILE_OUT_FIRST,
                            .spread = spread_linear(in)});
  params_add(params,
             (struct param){.name = lora_name(params, prefix, "lora_B.weight"),
                            .rank = 2,
                            .dim = {rank, out},
                            .adapter = true,
                            .order = FILE_OUT_FIRST,
                            .spread = spread_linear(rank)});
}

static size_t drop(struct tape *tape, const struct lora *lora, size_t in) {
  struct extent mask = *tape_extent(tape, in);
  mask.width = WIDTH_MASK;
  if (!tape->training || lora->dropout == 0)
    return in;
  return tape_run(tape, &(struct operation){.name = "lora_dropout",
                                            .in = &in,
                                            .in_count = 1,
                                            .out = *tape_extent(tape, in),
                                            .by_channel = true,
                                            .kept = {mask},
                                            .always_makes = true});
}

static size_t multiply(struct tape *tape, const char *name, size_t in,
                       const struct lora_step *step, int param) {
  size_t from = step->rows ? tape_rows(tape, in) : in;
  return tape_run(tape, &(struct operation){.name = name,
                                            .does = step->does,
                                            .in = &from,
                                            .in_count = 1,
                                            .out = step->out,
                                            .keeps = KEEPS_IN(0),
                                            .first_param = param,
                                            .param_count = 1,
                                            .splits = true,
                                            .spares = step->rows,
                                            .cast = CAST_LOW});
}

size_t lora_trace(struct tape *tape, const struct lora *lora, size_t in,
                  size_t base, const struct lora_step steps[2], int first) {
  double factor = lora->alpha != 0 ? lora->alpha / (double)lora->rank : 1;
  size_t from = drop(tape, lora, in);
  size_t narrow = multiply(tape, "lora_A", from, &steps[0], first);
  size_t wide = multiply(tape, "lora_B", narrow, &steps[1], first + 1);
  struct strides lies = tape_strides(tape, base);
  struct lowering times = {.opcode = DOES_SCALE, .real = {factor}};
  struct operation op = {.name = "lora_scale",
                         .does = &times,
                         .in = &wide,
                         .in_count = 1,
                         .out = steps[1].out,
                         .kept = {extent_fixed(1, WIDTH_INDEX)},
                         .elementwise = true,
                         .by_channel = true};
  size_t pair[2] = {base, tape_run(tape, &op)};
  struct strides in_lies[2] = {lies, tape_strides(tape, pair[1])};
  return tape_run(tape, &(struct operation){
                            .name = "lora_add",
                            .does = LOWERS(ADD, .in = in_lies, .out = &lies),
                            .in = pair,
                            .in_count = 2,
                            .out = steps[1].out,
                            .gradient = GRADIENT_SHARED,
                            .elementwise = true,
                            .by_channel = true});
}
