/* The question that an output answers; the answer is computed once. */
#include "codegen/asked.h"

const struct answer *asked_of(const struct compiled *c) {
  struct answer_request request = {.model = c->model,
                                   .settings = c->settings,
                                   .memory = &c->memory,
                                   .predict = c->options->predict,
                                   .table = true,
                                   .arena = c->arena};
  if (*c->answer)
    return *c->answer;
  struct answer *found = ARENA_NEW(c->arena, struct answer);
  if (!answer_find(&request, found))
    return NULL;
  if (found->served)
    *c->served = found->served;
  return *c->answer = found;
}

static bool serves(const struct compiled *c) {
  const struct train_settings *train = &c->settings->train;
  struct text why = text_new(c->arena), help = why;
  return (serving_wanted(c->settings) ||
          (c->options->predict && (train->memory || train->gpu))) &&
         serving_possible(c->model, c->settings, &why, &help);
}

const struct serving_answer *asked_served(const struct compiled *c) {
  if (!serves(c))
    return NULL;
  if (!*c->served) {
    struct serving_answer *found = ARENA_NEW(c->arena, struct serving_answer);
    if (serving_find(c->model, c->settings, c->arena, true, found))
      *c->served = found;
  }
  return *c->served;
}

void asked_put_types(struct text *out, const struct compiled *c) {
  int train = c->settings->train.dtype, infer = c->settings->infer.dtype;
  text_put(out, element_long_name(c->options->predict ? infer : train));
  if (train != infer && !c->options->predict)
    text_printf(out, ", %s in inference", element_long_name(infer));
}
