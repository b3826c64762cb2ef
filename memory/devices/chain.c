/* Chain: memory of a stage of many units, from runs of three units each. */
#include "memory/devices/chain.h"

void chain_open(struct search *s, const size_t *far) {
  s->chain = (struct units){.model = s->step->model,
                            .trace = s->trace,
                            .segments = s->step->segments.at,
                            .segment_count = s->step->segments.count,
                            .cut = s->cut,
                            .count = s->units,
                            .far = far};
  if (!far)
    units_open(&s->chain, s->arena);
}

static struct unit_linked run_three(struct search *s, size_t from) {
  struct arena scratch;
  struct node_range nodes = {s->cut[from], s->cut[from + LINKED]};
  arena_open_in(&scratch, s->arena);
  struct simulation run = stage_simulation(s, nodes, &scratch);
  struct unit_linked linked = units_link(&s->chain, from, &run);
  arena_close(&scratch);
  return linked;
}

/* Runs three units from `from` on, or returns an earlier run of equal ones. */
static const struct unit_linked *three_from(struct search *s, size_t from) {
  struct ran *ran;
  if (s->linked[from])
    return s->linked[from];
  struct run_key key = stage_key(s, alike_span(&s->alike, from, from + LINKED));
  ran = runs_find(s->step->runs, &key);
  if (!ran->linked) {
    struct unit_linked *own = arena_alloc(s->step->runs->arena, 1, sizeof *own);
    *own = run_three(s, from);
    ran->linked = own;
  }
  return s->linked[from] = ran->linked;
}

bool chain_run(struct search *s, size_t from, size_t to, struct ran *ran) {
  struct unit_joined joined;
  if (s->train->saved_dtype || to - from == LINKED ||
      !units_are_near(&s->chain, from, to))
    return false;
  for (size_t i = from; i + LINKED <= to; i++)
    if (!three_from(s, i)->plain)
      return false;
  if (!units_join(s->linked, from, to, &joined))
    return false;
  ran->kept = joined.saved;
  ran->most =
      joined.forward > joined.backward ? joined.forward : joined.backward;
  return true;
}
