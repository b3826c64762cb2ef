/* Budgets: what a net promises not to exceed. */
#include "library/budget.h"

#include "memory/answer/answer.h"

static void put_amount(struct text *out, int64_t amount, bool bytes) {
  text_count(out, amount);
  if (bytes)
    text_put(out, " B");
  if (!bytes || amount < 1024)
    return;
  text_put(out, " (");
  text_size(out, amount, UNITS_IEC, 2);
  text_putc(out, ')');
}

static void check(struct diags *diags, struct span span, const char *what,
                  bool bytes, int64_t limit, int64_t amount) {
  if (limit == 0 || amount <= limit)
    return;
  struct text have = text_new(diags->arena), may = have, over = have;
  put_amount(&have, amount, bytes);
  put_amount(&may, limit, bytes);
  put_amount(&over, amount - limit, bytes);
  struct diagnostic *d =
      diag(diags, OVER_BUDGET, span, "%.*s %s, but the budget is %.*s",
           SLICE_ARG(have), what, SLICE_ARG(may));
  diag_here(d, "over by %.*s", SLICE_ARG(over));
}

void budget_check(const struct model *model, const struct settings *settings,
                  const struct memory *memory, struct diags *diags) {
  const struct budget *budget = &settings->budget;
  const struct span *spans = settings->budget_spans;
  check(diags, spans[0], "parameters", false, budget->params,
        model->total.params);
  check(diags, spans[1], "MACs", false, budget->macs, model->total.macs);
  check(diags, spans[2], "at prediction", true, budget->infer,
        answer_planned_bytes(&memory->inference));
  check(diags, spans[3], "while training", true, budget->train,
        memory_device(memory).peak);
  check(diags, spans[4], "of arena", true, budget->arena,
        memory->inference.plan.height);
}
