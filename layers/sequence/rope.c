/* rope: checks and lowers base and stretch. */
#include "layers/sequence/rope.h"

#include "layers/tape/lowering.h"
#include "runtime/turn.h"

bool rope_check(const struct layer *layer, const struct rope_rule *rule,
                bool turns) {
  const char *given = rule->base > 0      ? "base"
                      : rule->stretch > 0 ? "stretch"
                      : rule->trained     ? "trained"
                                          : NULL;
  if (given && !turns) {
    struct diagnostic *d =
        layer_fail(layer, MISSING_ARGUMENT, given, "`%s` needs `rope`", given);
    diag_offer(d, (struct span){d->span.begin, d->span.begin},
               slice_of("rope "), "write `rope` before it");
    return diag_help(d, "`rope` rotates queries and keys by their position");
  }
  if (rule->trained && !(rule->stretch > 0)) {
    struct diagnostic *d = layer_fail(layer, MISSING_ARGUMENT, "trained",
                                      "`trained` needs `stretch`");
    layer_offer_omission(layer, d);
    return diag_help(d, "Llama 3.1 has `rope base=500000 stretch=8 "
                        "trained=8192`");
  }
  return true;
}

void rope_lower(struct lowering *does, const struct rope_rule *rule,
                bool neighbours) {
  does->opcode = rule->stretch > 1 ? DOES_STRETCHED : DOES_ROPE;
  does->real[TURN_BASE] = rule->base > 0 ? rule->base : 10000;
  if (rule->stretch > 1) {
    does->real[TURN_STRETCH] = rule->stretch;
    does->real[TURN_TRAINED] = (double)rule->trained;
  }
  lowering_add(does, neighbours);
}
