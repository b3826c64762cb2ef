/* Compared: training steps with other settings than the net's own. */
#include "codegen/report/compared.h"

#include <inttypes.h>

#include "codegen/grid.h"

struct compared_step compared_step(const struct compiled *c, size_t index) {
  struct compared_step step = {slice_of("as set"), c->settings, &c->memory, 0};
  if (index) {
    const struct comparison *other = &c->compared[index - 1];
    step.name = other->text;
    step.settings = &other->settings;
    step.memory = &other->memory;
  }
  step.peak = memory_device(step.memory).peak;
  return step;
}

void compared_put_change(struct text *out, int64_t bytes, int64_t than) {
  int64_t rest = bytes < than ? than - bytes : bytes - than;
  double percent = than ? 100.0 * (double)rest / (double)than : 0;
  if (percent < 0.05) {
    text_put(out, "as much");
    return;
  }
  text_fixed(out, percent, percent < 10 ? 1 : 0);
  text_put(out, bytes < than ? " % less" : " % more");
}

bool compared_put_price(struct text *out, const struct compiled *c,
                        const struct compared_step *step) {
  int64_t macs = c->model->total.macs, extra = step->memory->extra_macs;
  int64_t devices = step->memory->parallel.devices;
  if (extra && macs) {
    text_put(out, "recomputes ");
    text_fixed(out, 100.0 * (double)extra / (double)macs, 1);
    text_put(out, " % of a forward pass");
  }
  if (devices > 1)
    text_printf(out, "%s%" PRId64 " devices", extra && macs ? "; " : "",
                devices);
  return (extra && macs) || devices > 1;
}

void compared_report(const struct compiled *c, struct text *out) {
  struct grid_column columns[] = {
      {.align = ALIGN_LEFT, .before = "  ", .least = 12},
      {.align = ALIGN_RIGHT, .before = "  ", .rank = 1},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "  ", .least = 12},
  };
  struct grid grid = grid_new(c->arena, columns, 5);
  if (!c->compared_count)
    return;
  int64_t own = compared_step(c, 0).peak;
  for (size_t i = 0; i <= c->compared_count; i++) {
    struct compared_step step = compared_step(c, i);
    text_puts(&grid.pool, step.name);
    grid_cell(&grid);
    grid_bytes(&grid, output_units(c), step.peak);
    if (i)
      compared_put_change(&grid.pool, step.peak, own);
    grid_cell(&grid);
    compared_put_price(&grid.pool, c, &step);
    grid_cell(&grid);
  }
  text_put(out, "\nTraining, compared: peaks\n");
  grid_put(out, &grid, output_width(c));
}
