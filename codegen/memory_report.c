/* The report's blocks about memory: training, what fits, inference. */
#include "codegen/memory_report.h"

#include "base/check.h"
#include "codegen/grid.h"

enum { SHOWN = 5 }; /* tensors named at a peak */

struct section {
  const struct compiled *c;
  const struct emit_options *options;
  struct text *out;
  struct grid_column columns[4];
  struct grid grid;
};

static struct section *section_new(const struct compiled *c,
                                   const struct emit_options *options,
                                   struct text *out) {
  static const struct grid_column columns[4] = {{ALIGN_LEFT, "  ", 0},
                                                {ALIGN_RIGHT, "  ", 0},
                                                {ALIGN_RIGHT, "  ", 0},
                                                {ALIGN_LEFT, "   ", 0}};
  struct section *b = ARENA_NEW(c->arena, struct section);
  b->c = c;
  b->options = options;
  b->out = out;
  memcpy(b->columns, columns, sizeof columns);
  b->grid = grid_new(c->arena, b->columns, 4);
  return b;
}

/* A row: what, how much; the remark is put into the pool by the caller. */
static void put_amount(struct section *b, const char *what, int64_t bytes) {
  grid_text(&b->grid, what);
  grid_bytes(&b->grid, b->options->units, bytes);
}

static void end_row(struct section *b) {
  grid_cell(&b->grid);
}

static void put_row(struct section *b, const char *what, int64_t bytes) {
  put_amount(b, what, bytes);
  end_row(b);
}

static void put_some(struct section *b, const char *what, int64_t bytes) {
  if (bytes)
    put_row(b, what, bytes);
}

static void put_section(struct section *b) {
  for (size_t i = 0; i < grid_rows(&b->grid); i++)
    grid_put_row(b->out, &b->grid, i);
}

static void put_size(struct section *b, struct text *out, int64_t bytes) {
  text_size(out, bytes, b->options->units, 2);
}

/* Training */

static void put_place(struct section *b, const struct moment *at) {
  struct text *pool = &b->grid.pool;
  switch (at->phase) {
  case PHASE_STEP: text_put(pool, "in the optimizer's step"); return;
  case PHASE_FORWARD: text_put(pool, "in the forward pass of "); break;
  case PHASE_BACKWARD: text_put(pool, "in the backward pass of "); break;
  }
  model_put_name(pool, b->c->model, at->node);
}

/* The tensors that are largest at the peak. */
static void put_alive(struct section *b) {
  const struct memory *m = &b->c->memory;
  static const char *const kinds[] = {"gradient", "saved", "temporary"};
  if (!m->alive.count)
    return;
  text_put(b->out, "  live at the peak:");
  for (size_t i = 0; i < m->alive.count && i < SHOWN; i++) {
    const struct alive *alive = &m->alive.at[i];
    text_put(b->out, i ? ", " : " ");
    if (alive->node == NO_NODE)
      text_put(b->out, "loss");
    else
      model_put_name(b->out, b->c->model, alive->node);
    text_printf(b->out, " (%s, ", kinds[alive->part]);
    put_size(b, b->out, alive->bytes);
    text_putc(b->out, ')');
  }
  if (m->alive.count > SHOWN)
    text_printf(b->out, " and %zu more", m->alive.count - SHOWN);
  text_putc(b->out, '\n');
}

static void put_checkpoints(struct section *b) {
  const struct memory *m = &b->c->memory;
  int64_t macs = b->c->model->total.macs;
  if (b->c->settings->train.checkpoint == CHECKPOINT_AUTO && !m->ranges.count)
    text_put(b->out, m->fit.peak <= m->fit.room
                         ? "  checkpoints: none are needed\n"
                         : "  checkpoints: none make it fit\n");
  if (!m->ranges.count)
    return;
  text_printf(b->out, "  checkpoints: %zu segment%s, ", m->ranges.count,
              m->ranges.count == 1 ? "" : "s");
  text_count(b->out, m->extra_macs);
  text_put(b->out, " MACs a sample recomputed (");
  text_fixed(b->out, macs ? 100.0 * (double)m->extra_macs / (double)macs : 0,
             1);
  text_put(b->out, " % of a forward pass):");
  for (size_t i = 0; i < m->ranges.count && i < SHOWN; i++) {
    text_put(b->out, i ? ", " : " ");
    model_put_name(b->out, b->c->model, m->ranges.at[i].first);
    text_put(b->out, "..");
    model_put_name(b->out, b->c->model, m->ranges.at[i].end - 1);
  }
  if (m->ranges.count > SHOWN)
    text_printf(b->out, " and %zu more", m->ranges.count - SHOWN);
  text_putc(b->out, '\n');
}

static void put_batches(struct section *b) {
  static const int64_t devices[] = {(int64_t)24 << 30, (int64_t)80 << 30};
  int64_t batches[2];
  if (b->c->memory.fit.device ||
      !memory_largest_batches(b->c->model, &b->c->settings->train, 2, devices,
                              batches))
    return;
  text_put(b->out, "  largest batch:");
  for (int i = 0; i < 2; i++) {
    text_put(b->out, i ? ", " : " ");
    text_count(b->out, batches[i]);
    text_printf(b->out, " in %d GiB", (int)(devices[i] >> 30));
  }
  text_putc(b->out, '\n');
}

static void put_training(struct section *b) {
  const struct training *t = &b->c->memory.training;
  const struct train_settings *train = &b->c->settings->train;
  text_printf(b->out, "\nTraining, %s (%s, batch ",
              t->profile->measured ? "exact" : "simulated, not yet measured",
              t->profile->name);
  text_count(b->out, train->batch);
  text_printf(b->out, ", %s%s)\n", optimizer_word(train->optimizer),
              train->precision == PRECISION_MIXED ? ", mixed precision" : "");
  put_row(b, "parameters", t->parameters);
  put_some(b, "optimizer's state", t->optimizer);
  put_some(b, "buffers", t->buffers);
  put_row(b, "batch", t->input);
  put_some(b, "rounding", t->rounding);
  put_row(b, "gradients", t->at.parts[PART_GRADIENTS]);
  put_row(b, "saved activations", t->at.parts[PART_SAVED]);
  put_row(b, "temporaries", t->at.parts[PART_TEMPORARY]);
  put_amount(b, "peak", t->peak);
  put_place(b, &t->at);
  end_row(b);
  put_section(b);
  text_put(b->out, "  forward ");
  put_size(b, b->out, t->forward);
  text_put(b->out, ", backward ");
  put_size(b, b->out, t->backward);
  text_put(b->out, ", step ");
  put_size(b, b->out, t->step);
  text_put(b->out, "; kept for backward: ");
  text_count(b->out, t->saved);
  text_put(b->out, " B\n");
  put_alive(b);
  put_checkpoints(b);
  put_batches(b);
}

/* What fits */

static void put_ways(struct section *b) {
  const struct fit *fit = &b->c->memory.fit;
  if (!fit->ways.count) {
    text_put(b->out, "  no known setting makes it fit\n");
    return;
  }
  text_put(b->out, "  it would fit with\n");
  for (size_t i = 0; i < fit->ways.count; i++) {
    const struct way_out *way = &fit->ways.at[i];
    int64_t macs = b->c->model->total.macs;
    text_put(&b->grid.pool, way->options);
    grid_cell(&b->grid);
    grid_bytes(&b->grid, b->options->units, way->peak);
    if (way->extra_macs && macs) {
      text_put(&b->grid.pool, "recomputes ");
      text_fixed(&b->grid.pool, 100.0 * (double)way->extra_macs / (double)macs,
                 1);
      text_put(&b->grid.pool, " % of a forward pass");
    }
    end_row(b);
  }
  put_section(b);
}

static void put_fit(struct section *b) {
  const struct fit *fit = &b->c->memory.fit;
  int64_t peak = fit->peak;
  bool fits = peak <= fit->room;
  if (!fit->device)
    return;
  text_put(b->out, "\nDevice of ");
  put_size(b, b->out, fit->device);
  if (fit->taken) {
    text_put(b->out, ", ");
    put_size(b, b->out, fit->taken);
    text_put(b->out, " of it for the framework");
  }
  text_put(b->out, fits ? ": the step fits, " : ": the step does not fit, ");
  put_size(b, b->out, fits ? fit->room - peak : peak - fit->room);
  text_put(b->out, fits ? " are left" : " too much");
  text_put(b->out, "; largest batch ");
  text_count(b->out, fit->largest_batch);
  text_putc(b->out, '\n');
  if (!fits)
    put_ways(b);
}

/* Several devices */

static void put_stage(struct section *b, size_t index) {
  const struct parallel *p = &b->c->memory.parallel;
  const struct stage *stage = &p->stages.at[index];
  text_printf(b->out, "  stage %zu: ", index + 1);
  model_put_name(b->out, b->c->model, stage->nodes.first);
  text_put(b->out, "..");
  model_put_name(b->out, b->c->model, stage->nodes.end - 1);
  text_put(b->out, ", peak ");
  put_size(b, b->out, stage->peak);
  text_printf(b->out, ", %lld microbatch%s in flight\n",
              (long long)stage->in_flight, stage->in_flight == 1 ? "" : "es");
}

static void put_parallel(struct section *b) {
  const struct parallel *p = &b->c->memory.parallel;
  const struct train_settings *train = &b->c->settings->train;
  if (!p->stages.count)
    return;
  const struct stage *most = &p->stages.at[p->most_loaded];
  text_printf(b->out, "\n%lld devices: data x %lld", (long long)p->devices,
              (long long)train->data_parallel);
  if (train->zero)
    text_printf(b->out, " (ZeRO %lld)", (long long)train->zero);
  text_printf(b->out, ", tensor x %lld, pipeline x %zu",
              (long long)train->tensor_parallel, p->stages.count);
  if ((int64_t)p->stages.count < train->pipeline)
    text_printf(b->out, ", where %lld were asked for: it can be cut no more",
                (long long)train->pipeline);
  text_putc(b->out, '\n');
  for (size_t i = 0; i < p->stages.count && p->stages.count > 1; i++)
    put_stage(b, i);
  if (p->stages.count > 1)
    text_printf(b->out, "  each device of stage %zu, the most loaded\n",
                p->most_loaded + 1);
  put_row(b, "parameters", most->parameters);
  put_some(b, "optimizer's state", most->optimizer);
  put_some(b, "buffers", most->buffers);
  put_some(b, "batch", most->input);
  put_row(b, "gradients", most->gradients);
  put_some(b, "gathered unit", most->gathered);
  put_some(b, "gradients in transit", most->buckets);
  put_row(b, "saved activations", most->activations);
  put_row(b, "temporaries", most->temporary);
  put_row(b, "peak", most->peak);
  put_section(b);
}

/* Inference */

static void put_bound(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  struct text *pool = &b->grid.pool;
  if (f->plan.optimal) {
    text_put(pool, "= lower bound, at ");
  } else {
    text_put(pool, "lower bound ");
    text_count(pool, f->plan.lower_bound);
    text_put(pool, " B, at ");
  }
  if (f->live_node == NO_NODE)
    text_put(pool, "the input");
  else
    model_put_name(pool, b->c->model, f->live_node);
}

static void put_peak_buffers(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  text_put(b->out, "  live at the peak:");
  for (size_t i = 0; i < f->at_peak.count && i < SHOWN; i++) {
    const struct arena_buffer *buffer = &f->arena.at[f->at_peak.at[i]];
    text_put(b->out, i ? ", " : " ");
    model_put_name(b->out, b->c->model, buffer->node);
    if (buffer->part)
      text_printf(b->out, ".%s", buffer->part);
  }
  if (f->at_peak.count > SHOWN)
    text_printf(b->out, " and %zu more", f->at_peak.count - SHOWN);
  text_putc(b->out, '\n');
}

static void put_order(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  if (f->live < f->source_order) {
    text_put(b->out, "  order of the source: ");
    text_count(b->out, f->source_order);
    text_printf(b->out, " B; %s order: ",
                f->order_exact ? "the best" : "the best known");
    text_count(b->out, f->live);
    text_put(b->out, " B\n");
  }
  text_printf(b->out, "  run by %s: activations ",
              b->c->memory.training.profile->name);
  text_count(b->out, f->framework);
  text_put(b->out, " B\n");
}

static void put_inference(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  const struct infer_settings *infer = &b->c->settings->infer;
  int64_t total = f->weights;
  text_put(b->out, "\nInference, exact (batch ");
  text_count(b->out, infer->batch);
  text_put(b->out, ")\n");
  put_row(b, "weights", f->weights);
  put_amount(b, "arena", f->plan.height);
  put_bound(b);
  end_row(b);
  if (infer->decode) {
    put_amount(b, "keys and values", f->cache);
    text_printf(&b->grid.pool, "of %lld positions", (long long)infer->decode);
    end_row(b);
  }
  if (add_i64(total, f->plan.height, &total) &&
      add_i64(total, f->cache, &total))
    put_row(b, "total", total);
  put_section(b);
  put_peak_buffers(b);
  put_order(b);
}

void memory_report_put(const struct compiled *c,
                       const struct emit_options *options, struct text *out) {
  put_training(section_new(c, options, out));
  put_fit(section_new(c, options, out));
  put_parallel(section_new(c, options, out));
  put_inference(section_new(c, options, out));
}
