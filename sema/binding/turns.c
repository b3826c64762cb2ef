/* Ranges: their values, and the steps that all loops may take. */
#include <inttypes.h>

#include "sema/binding/expander.h"

enum { TOLD_EVERY = 4096 }; /* steps, which take a few milliseconds */

bool turns_of(struct expander *e, const struct expr *low,
              const struct expr *high, const struct expr *step,
              struct turns *turns) {
  int64_t last;
  bool known = eval_count(e, low, &turns->first);
  if (!eval_count(e, high, &last) || !known)
    return false;
  turns->step = 1;
  if (step && !eval_int(e, step, &turns->step))
    return false;
  if (turns->step == 0 || turns->step == INT64_MIN) {
    report(e, OUT_OF_RANGE, step->span, "a range cannot have steps of %" PRId64,
           turns->step);
    return false;
  }
  bool down = turns->step < 0;
  uint64_t from = (uint64_t)(down ? last : turns->first);
  uint64_t to = (uint64_t)(down ? turns->first : last);
  uint64_t by = (uint64_t)(down ? -turns->step : turns->step);
  turns->count = 0;
  if (down ? last > turns->first : last < turns->first)
    return true;
  uint64_t steps = (to - from) / by; /* may need all 64 bits */
  turns->count = steps < INT64_MAX ? (int64_t)steps + 1 : INT64_MAX;
  return true;
}

int64_t turn_at(const struct turns *turns, int64_t i) {
  return (int64_t)((uint64_t)turns->first +
                   (uint64_t)i * (uint64_t)turns->step);
}

bool turns_step(struct expander *e, struct span span) {
  if (e->steps - e->told >= TOLD_EVERY) {
    e->told = e->steps;
    progress_tell(e->model->progress, "expanding the net", e->steps, 0);
  }
  int64_t limit = e->in->step_budget ? e->in->step_budget : LIMIT_STEPS;
  if (++e->steps > limit && !e->stopped) {
    struct diagnostic *d =
        report(e, TOO_MANY_STEPS, span,
               "the loops of this net take more than %s steps",
               count_text(LIMIT_STEPS).text);
    diag_help(d, "is a `repeat` count or the end of a range too large?");
    e->stopped = true;
  }
  return !e->stopped && !diags_full(e->diags);
}
