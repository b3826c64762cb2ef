/* Cut check: validates given numbers of blocks, and warns of uneven stages. */
#include "memory/devices/cut_check.h"

#include <inttypes.h>

#include "memory/devices/cut.h"
#include "sema/model/given.h"

/* Checks that the given blocks are those of the net. */
bool cut_check(const struct model *model, const struct settings *settings,
               struct diags *diags) {
  const struct train_settings *train = &settings->train;
  int64_t parts = train->pipeline * stage_parts(train), sum = 0;
  struct span place = given_train(model, settings, "cut");
  struct arena scratch;
  if (train->cut != CUT_TURNS || train->pipeline == 1)
    return true;
  arena_open_in(&scratch, model->arena);
  struct net_borders borders = borders_find(model, &scratch);
  const struct node_turns r = borders.repeated;
  bool right = cut_is_given(&borders, train->turns, parts);
  arena_close(&scratch);
  if (right)
    return true;
  for (int64_t i = 0; i < train->turns->count; i++)
    sum += train->turns->at[i]; /* of at most LIMIT_LAYERS each */
  if (!r.count)
    given_help(diag(diags, OUT_OF_RANGE, place,
                    "the net has no repeated blocks to divide among stages"),
               place, "use `cut=macs`, or leave it out");
  else if (train->turns->count != parts)
    given_help(diag(diags, OUT_OF_RANGE, place,
                    "`cut` has %" PRId64 " numbers for %" PRId64 " stages",
                    train->turns->count, parts),
               place,
               "give %" PRId64 " numbers that add up to %" PRId64 ", the "
               "number of repeated blocks",
               parts, r.count);
  else if (sum == r.count)
    given_help(diag(diags, OUT_OF_RANGE, place, "a stage has no layers"), place,
               "only the first and the last stage may have no blocks, if other "
               "layers are before or after the blocks");
  else
    given_help(diag(diags, OUT_OF_RANGE, place,
                    "the numbers add up to %" PRId64
                    ", but the net repeats %" PRId64 " blocks",
                    sum, r.count),
               place, "they must add up to %" PRId64, r.count);
  return false;
}

/* Finds the cut between blocks whose slowest stage is fastest, as "4,4,8".
 * False: it is no faster than `most` MACs. */
static bool find_even_turns(const struct model *model, const double *before,
                            const struct node_turns *r, int64_t parts,
                            double most, struct arena *arena,
                            struct text *out) {
  struct cuts places = {0}, cuts = {0};
  int64_t last = 0, end = (int64_t)model->nodes.count, from = 0;
  double slowest = 0;
  const struct cuts single = borders_find(model, arena).single;
  for (size_t i = 0; i < single.at.count; i++) {
    int64_t off = single.at.at[i] - r->first;
    if (off >= 0 && off % r->length == 0 && off / r->length <= r->count)
      *VEC_PUSH(arena, &places.at) = single.at.at[i];
  }
  if (!cut_by_work(&places, before, end, parts, arena, &cuts))
    return false;
  *VEC_PUSH(arena, &cuts.at) = end;
  for (size_t i = 0; i < cuts.at.count; i++) {
    int64_t at = cuts.at.at[i];
    int64_t turn = at < end ? (at - r->first) / r->length : r->count;
    text_printf(out, "%s%" PRId64, i ? "," : "", turn - last);
    if (before[at] - before[from] > slowest)
      slowest = before[at] - before[from];
    last = turn;
    from = at;
  }
  return slowest < 0.999 * most;
}

/* Warns because all stages wait for the slowest one. */
void cut_warn(const struct model *model, const struct settings *settings,
              const struct parallel *p, struct diags *diags) {
  struct span place = given_train(model, settings, "pipeline");
  struct arena scratch;
  double most = 0, mean;
  size_t slowest = 0;
  if (p->stages.count < 2)
    return;
  arena_open_in(&scratch, model->arena);
  const double *before = cut_macs_before(model, &scratch);
  mean = before[model->nodes.count] / (double)p->stages.count;
  for (size_t i = 0; i < p->stages.count; i++) {
    double macs = 0;
    for (size_t k = 0; k < p->stages.at[i].part_count; k++)
      macs += before[p->stages.at[i].parts[k].end] -
              before[p->stages.at[i].parts[k].first];
    slowest = macs > most ? i : slowest;
    most = macs > most ? macs : most;
  }
  if (most > 1.1 * mean) {
    struct text even = text_new(&scratch);
    struct diagnostic *d =
        diag(diags, UNEVEN_STAGES, place,
             "stage %zu has %.0f %% more MACs than the stages' mean",
             slowest + 1, 100 * (most / mean - 1));
    if (p->repeated.count && p->stages.at[0].part_count == 1 &&
        find_even_turns(model, before, &p->repeated, (int64_t)p->stages.count,
                        most, &scratch, &even))
      given_help(d, place, "the most even cut between blocks is `cut=\"%.*s\"`",
                 SLICE_ARG(even));
  }
  arena_close(&scratch);
}
