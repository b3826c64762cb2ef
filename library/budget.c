/* Budgets: limits that a net promises to keep. */
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
  diag_here(d, "exceeds the budget by %.*s", SLICE_ARG(over));
}

static void check_seconds(struct diags *diags, struct span span, int64_t limit,
                          const struct step_time *time) {
  double bound = time->bound.step, most = (double)limit / 1e6;
  if (limit == 0 || (bound > 0 && bound <= most))
    return;
  if (bound > 0)
    diag(diags, OVER_BUDGET, span,
         "a training step takes at least %.6f seconds, but the budget is %g",
         bound, most);
  else
    diag_help(diag(diags, MISSING_ARGUMENT, span,
                   "a budget of seconds needs a device whose speed is known"),
              "name the device with `--gpu NAME`, or `train gpu=NAME`");
}

static void check_fits(struct diags *diags, struct span span,
                       const struct answer_request *request) {
  struct answer a;
  if (!answer_find(request, &a) || a.verdict == VERDICT_NONE)
    diag_help(
        diag(diags, MISSING_ARGUMENT, span, "a budget `fits` needs a device"),
        "name the device with `--gpu NAME`, or `train gpu=NAME`");
  else if (!verdict_holds(a.verdict))
    diag(diags, OVER_BUDGET, span,
         "%s does not fit the device: it needs %s, and %s are "
         "available",
         request->predict ? "inference" : "a training step",
         size_text(a.bytes, UNITS_IEC).text,
         size_text(a.device.room, UNITS_IEC).text);
}

/* Bytes of inference on a device: what is served, if that is asked. */
static int64_t inference_bytes(const struct model *model,
                               const struct settings *settings,
                               const struct memory *memory) {
  struct answer a;
  struct answer_request request = {.model = model,
                                   .settings = settings,
                                   .memory = memory,
                                   .predict = true,
                                   .arena = model->arena};
  if (!settings->budget.infer || !serving_asked(settings))
    return answer_planned_bytes(&memory->inference);
  return answer_find(&request, &a) ? a.bytes : INT64_MAX;
}

void budget_check(const struct model *model, const struct settings *settings,
                  const struct memory *memory, struct diags *diags) {
  const struct budget *budget = &settings->budget;
  const struct span *spans = settings->budget_spans;
  check(diags, spans[0], "parameters", false, budget->params,
        model->total.params);
  check(diags, spans[1], "MACs", false, budget->macs, model->total.macs);
  check(diags, spans[2], "of inference", true, budget->infer,
        inference_bytes(model, settings, memory));
  check(diags, spans[3], "of a training step", true, budget->train,
        memory_device(memory).peak);
  check(diags, spans[4], "of arena", true, budget->arena,
        memory->inference.plan.height);
  check(diags, spans[5], "of weights", true, budget->weights,
        memory->inference.weights);
  struct step_time time = {.missing = NULL};
  if (budget->seconds)
    memory_time(model, settings, memory, &time);
  check_seconds(diags, spans[6], budget->seconds, &time);
  struct answer_request request = {.model = model,
                                   .settings = settings,
                                   .memory = memory,
                                   .predict = budget->fits == FITS_PREDICTION,
                                   .arena = diags->arena};
  if (budget->fits)
    check_fits(diags, spans[7], &request);
}
