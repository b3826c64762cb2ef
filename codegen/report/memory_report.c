/* The report's sections about memory: training and inference. */
#include "codegen/report/memory_report.h"

#include "base/check.h"
#include "codegen/report/compared.h"
#include "codegen/report/devices_report.h"
#include "codegen/grid.h"
#include "codegen/section.h"
#include "sema/model/written.h"
#include "sema/model/weights.h"

enum { SHOWN = 5 }; /* tensors listed at a peak */

struct section {
  const struct compiled *c;
  struct text *out;
  struct text line; /* current line */
  struct grid_column columns[4];
  struct grid grid;
};

static struct section *section_new(const struct compiled *c, struct text *out) {
  static const struct grid_column columns[4] = {
      {.align = ALIGN_LEFT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "   ", .least = 20}};
  struct section *b = ARENA_NEW(c->arena, struct section);
  b->c = c;
  b->out = out;
  b->line = text_new(c->arena);
  memcpy(b->columns, columns, sizeof columns);
  b->grid = grid_new(c->arena, b->columns, 4);
  return b;
}

/* A row: label and amount; the caller adds the remark to the pool. */
static void put_amount(struct section *b, const char *what, int64_t bytes) {
  grid_text(&b->grid, what);
  grid_bytes(&b->grid, output_units(b->c), bytes);
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
  grid_put(b->out, &b->grid, output_width(b->c));
}

/* Writes the current line, wrapped if it is long. */
static void end_line(struct section *b) {
  if (b->line.length == 0)
    return;
  text_wrap(b->out, text_slice(&b->line), 4, output_width(b->c));
  b->line.length = 0;
}

/* Training */

static void put_place(struct section *b, const struct moment *at) {
  struct text *pool = &b->grid.pool;
  switch (at->phase) {
  case PHASE_STEP: text_put(pool, "in the optimizer step"); return;
  case PHASE_FORWARD: text_put(pool, "in the forward pass of "); break;
  case PHASE_BACKWARD: text_put(pool, "in the backward pass of "); break;
  }
  model_put_name(pool, b->c->model, at->node);
}

/* The largest tensors at the peak. */
static void put_alive(struct section *b) {
  const struct memory *m = &b->c->memory;
  static const char *const kinds[] = {"gradient", "saved", "temporary"};
  if (!m->alive.count)
    return;
  text_put(&b->line, "  in memory at the peak:");
  for (size_t i = 0; i < m->alive.count && i < SHOWN; i++) {
    const struct step_alive *alive = &m->alive.at[i];
    text_put(&b->line, i ? ", " : " ");
    if (alive->node == NO_NODE)
      text_put(&b->line, "loss");
    else
      model_put_name(&b->line, b->c->model, alive->node);
    text_printf(&b->line, " (%s, %s)", kinds[alive->part],
                output_size(b->c, alive->bytes).text);
  }
  if (m->alive.count > SHOWN)
    text_printf(&b->line, " and %zu more", m->alive.count - SHOWN);
  end_line(b);
}

static void put_checkpoints(struct section *b) {
  const struct memory *m = &b->c->memory;
  int64_t macs = b->c->model->total.macs;
  if (b->c->settings->train.checkpoint == CHECKPOINT_AUTO && !m->ranges.count)
    text_put(&b->line,
             fit_verdict(&m->fit) == VERDICT_FITS
                 ? "  checkpoints: not needed"
                 : "  checkpoints: no number of segments makes the step fit");
  end_line(b);
  bool cores = b->c->settings->train.checkpoint == CHECKPOINT_SELECTIVE;
  if (!m->ranges.count && !(cores && m->extra_macs))
    return;
  text_put(&b->line, "  checkpoints: ");
  if (cores)
    text_printf(&b->line, "the core of attention%s",
                m->ranges.count ? " and " : ", ");
  if (m->ranges.count)
    text_printf(&b->line, "%zu segment%s, ", m->ranges.count,
                m->ranges.count == 1 ? "" : "s");
  text_count(&b->line, m->extra_macs);
  text_put(&b->line, " MACs per sample recomputed (");
  text_fixed(&b->line, macs ? 100.0 * (double)m->extra_macs / (double)macs : 0,
             1);
  text_put(&b->line, m->ranges.count ? " % of a forward pass):"
                                     : " % of a forward pass)");
  for (size_t i = 0; i < m->ranges.count && i < SHOWN; i++) {
    text_put(&b->line, i ? ", " : " ");
    model_put_name(&b->line, b->c->model, m->ranges.at[i].first);
    text_put(&b->line, "..");
    model_put_name(&b->line, b->c->model, m->ranges.at[i].end - 1);
  }
  if (m->ranges.count > SHOWN)
    text_printf(&b->line, " and %zu more", m->ranges.count - SHOWN);
  end_line(b);
}

/* A row for a number of values, with its formula if asked for. */
static void put_values(struct section *b, const char *what, int64_t bytes,
                       int64_t values) {
  put_amount(b, what, bytes);
  if (b->c->options->explain && values) {
    text_count(&b->grid.pool, values);
    text_printf(&b->grid.pool, " x %lld B", (long long)(bytes / values));
  }
  end_row(b);
}

/* The memory for clipping, and its parts. */
static void put_clip(struct section *b) {
  const struct training *t = &b->c->memory.training;
  const struct clipping *clip = &t->clip;
  int bits = element_bits(gradient_element(&b->c->settings->train));
  long long tensors = clip->tensors, width = max_i64(bits / 8, 1);
  if (!clip->bytes)
    return;
  text_printf(&b->line, "  clipping before the step: %s B beside the gradients",
              count_text(clip->bytes).text);
  if (b->c->options->explain) {
    text_put(&b->line, " = ");
    switch (clip->how) {
    case CLIP_FOREACH:
      text_printf(&b->line,
                  "(%lld + 1) norms x %lld B + (320 + %lld x %lld) sums x 4 B",
                  tensors, width, tensors, (long long)clip->chunks);
      break;
    case CLIP_FUSED: text_put(&b->line, "(320 + 1) sums x 4 B"); break;
    case CLIP_DOUBLE:
      text_printf(&b->line, "(%lld norms + %s values) x 8 B", tensors,
                  count_text(clip->largest).text);
      break;
    default:
      text_printf(&b->line, "max(2 x %lld norms, 4 numbers) x %lld B", tensors,
                  width);
    }
    if (clip->copied) {
      text_printf(&b->line, " + %s B of gradients in 32 bits",
                  count_text(clip->copied).text);
    }
    if (t->profile->block > 1)
      text_printf(&b->line, ", each tensor in whole blocks of %lld B",
                  (long long)t->profile->block);
  }
  end_line(b);
}

/* Reserved memory, as in torch.cuda; on the most loaded of several devices. */
static void put_reserved(struct section *b) {
  struct reserved reserved =
      memory_reserved(b->c->model, b->c->settings, &b->c->memory);
  if (!reserved.bytes)
    return;
  text_printf(&b->line, "  PyTorch's allocator: %s allocated%s, %s reserved",
              output_size(b->c, reserved.given).text,
              b->c->memory.parallel.stages.count ? ", on each device," : "",
              output_size(b->c, reserved.bytes).text);
  int64_t context = fit_context(&b->c->settings->train, reserved.bytes);
  if (context)
    text_printf(&b->line, "; with the CUDA context of %s nvidia-smi shows %s",
                output_size(b->c, context).text,
                output_size(b->c, reserved.bytes + context).text);
  end_line(b);
}

static void put_training(struct section *b) {
  const struct training *t = &b->c->memory.training;
  const struct train_settings *train = &b->c->settings->train;
  text_putc(b->out, '\n');
  text_printf(&b->line, "Training, %s (%s, batch %s, %s%s)", t->profile->said,
              t->profile->name, count_text(train->batch).text,
              optimizer_word(train->optimizer),
              precision_remark(train->precision));
  end_line(b);
  put_row(b, "parameters", t->parameters);
  bool there = !t->paged || t->at.phase == PHASE_STEP;
  put_some(b, "optimizer state", there ? t->optimizer : 0);
  if (t->master && there)
    put_values(b, "parameters in 32 bits", t->master,
               b->c->model->total.trainable);
  if (t->averaged)
    put_values(b, "averaged parameters", t->averaged,
               b->c->model->total.params);
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
  text_printf(
      &b->line,
      "  forward %s, backward %s, optimizer step %s; saved for backward: %s B",
      output_size(b->c, t->forward).text, output_size(b->c, t->backward).text,
      output_size(b->c, t->step).text, count_text(t->saved).text);
  if (train->saved_dtype)
    text_printf(&b->line, ", in %d bits a value", saved_bits(train));
  end_line(b);
  if (train->saved_dtype && b->c->options->explain) {
    text_printf(&b->line,
                "  each 256 values of a tensor: 256 x %d / 8 B, a scale and "
                "the least value in its type",
                saved_bits(train));
    end_line(b);
  }
  if (b->c->options->details) /* it replays the requests of two steps */
    put_reserved(b);
  put_clip(b);
  put_alive(b);
  put_checkpoints(b);
}

/* Inference */

static void put_bound(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  struct text *pool = &b->grid.pool;
  if (f->plan.optimal) {
    text_put(pool, "= lower bound, at ");
  } else {
    text_printf(pool, "lower bound %s B, at ",
                count_text(f->plan.lower_bound).text);
  }
  if (f->live_node == NO_NODE)
    text_put(pool, "the input");
  else
    model_put_name(pool, b->c->model, f->live_node);
}

static void put_peak_buffers(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  text_put(&b->line, "  in memory at the peak:");
  for (size_t i = 0; i < f->at_peak.count && i < SHOWN; i++) {
    const struct arena_buffer *buffer = &f->arena.at[f->at_peak.at[i]];
    text_put(&b->line, i ? ", " : " ");
    model_put_name(&b->line, b->c->model, buffer->node);
    if (buffer->part)
      text_printf(&b->line, ".%s", buffer->part);
  }
  if (f->at_peak.count > SHOWN)
    text_printf(&b->line, " and %zu more", f->at_peak.count - SHOWN);
  end_line(b);
}

static void put_fault(struct section *b, const struct inference_lines *lines) {
  model_put_name(&b->line, b->c->model, lines->fault_node);
  text_printf(&b->line, " %s", lines->fault);
}

/* How inference streams rows of the input, or why it does not. */
static void put_stream(struct section *b) {
  const struct inference_lines *lines = &b->c->memory.inference.lines;
  text_put(&b->line, "  a row at a time: ");
  if (!lines->window) {
    text_put(&b->line, "not possible: ");
    put_fault(b, lines);
    end_line(b);
    return;
  }
  text_put(&b->line, "up to ");
  model_put_name(&b->line, b->c->model, lines->last);
  if (lines->fault) {
    text_put(&b->line, " (");
    put_fault(b, lines);
    text_putc(&b->line, ')');
  }
  text_printf(&b->line, "; %s B stay; ", count_text(lines->bytes).text);
  if (lines->hop > 1)
    text_printf(&b->line, "an output every %s rows, for ",
                count_text(lines->hop).text);
  text_printf(&b->line, "%s MACs%s", count_text(lines->macs).text,
              lines->hop > 1 ? "" : " a row");
  end_line(b);
}

/* The first stages, if they are computed row by row. */
static void put_lines(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  const struct infer_settings *infer = &b->c->settings->infer;
  if (infer->stream == TOGGLE_ON) {
    put_stream(b);
    return;
  }
  if (!f->lines.count && infer->patches == PATCHES_AUTO) {
    text_put(&b->line,
             infer->batch == 1
                 ? "  row by row: no layers, because the arena would not get "
                   "smaller"
                 : "  row by row: no layers, because it needs a batch of 1");
    end_line(b);
  }
  if (!f->lines.count)
    return;
  text_put(&b->line, "  row by row: ");
  model_put_name(&b->line, b->c->model, f->lines.first);
  text_put(&b->line, " to ");
  model_put_name(&b->line, b->c->model, f->lines.last);
  text_printf(&b->line,
              ", %zu operations keep %s B of rows for later windows; nothing "
              "is computed twice",
              f->lines.count, count_text(f->lines.bytes).text);
  end_line(b);
}

static void put_order(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  if (f->live < f->source_order) {
    text_printf(&b->line, "  order of the source: %s B; %s order: %s B",
                count_text(f->source_order).text,
                f->order_exact ? "the best" : "the best known",
                count_text(f->live).text);
    end_line(b);
  }
  text_printf(&b->line, "  in %s: activations %s B",
              b->c->memory.training.profile->name,
              count_text(f->framework).text);
  end_line(b);
}

/* Why there is no KV cache, or only a part of it. */
static void put_unkept(struct section *b) {
  const struct model *model = b->c->model;
  int64_t node = unkept_attention(model);
  if (node != NO_NODE && !model->nodes.at[node].kind->cache)
    text_put(&b->grid.pool, "; attention written as matrix products has none");
  else if (node != NO_NODE)
    text_put(&b->grid.pool, "; attention without `causal` has none");
  else if (b->c->memory.inference.cache == 0)
    text_put(&b->grid.pool, "; this net has no causal attention");
}

/* True if a layer has matrices that the runtime only reads in float32. */
static bool has_wide_matrices(const struct model *model, size_t index) {
  const struct node *node = &model->nodes.at[index];
  for (int i = 0; i < (int)node->param_count; i++) {
    const struct model_param *param =
        &model->params.at[node->first_param + (size_t)i];
    if (param->rank >= 2 && !param->narrow && !param->buffer && !param->part &&
        !param->train_only)
      return true;
  }
  return false;
}

static void put_wide_matrices(struct section *b) {
  const struct model *model = b->c->model;
  size_t first = 0, layers = 0;
  for (size_t i = model->nodes.count; i-- > 0;)
    if (has_wide_matrices(model, i)) {
      first = i;
      layers++;
    }
  if (!layers)
    return;
  text_put(&b->line, "; other matrices stay in float32 (");
  model_put_name(&b->line, model, (int64_t)first);
  if (layers > 1)
    text_printf(&b->line, " and %zu more", layers - 1);
  text_putc(&b->line, ')');
}

static void put_weight_dtype(struct section *b) {
  const struct infer_settings *infer = &b->c->settings->infer;
  if (!infer->weight_dtype)
    return;
  struct slice type = settings_weights(infer);
  text_printf(&b->line, "  %s as %.*s, ",
              weights_run(infer->weight_dtype)
                  ? "weights of convolutions and dense layers"
                  : "matrices",
              SLICE_ARG(type));
  text_put(&b->line, weights_source(infer->weight_dtype));
  if (weights_run(infer->weight_dtype))
    put_wide_matrices(b);
  end_line(b);
}

static void put_inference(struct section *b) {
  const struct inference *f = &b->c->memory.inference;
  const struct infer_settings *infer = &b->c->settings->infer;
  int64_t total = f->weights;
  text_putc(b->out, '\n');
  text_printf(&b->line, "Inference, planned (batch %s)",
              count_text(infer->batch).text);
  end_line(b);
  put_row(b, "weights", f->weights);
  put_amount(b, "arena", f->plan.height);
  put_bound(b);
  end_row(b);
  if (infer->decode) {
    put_amount(b, "KV cache", f->cache);
    text_printf(&b->grid.pool, "of %lld tokens", (long long)infer->decode);
    put_unkept(b);
    end_row(b);
  }
  if (add_i64(total, f->plan.height, &total) &&
      add_i64(total, f->cache, &total))
    put_row(b, "total", total);
  put_section(b);
  put_weight_dtype(b);
  put_peak_buffers(b);
  put_lines(b);
  put_order(b);
}

void memory_report_put(const struct compiled *c, struct text *out) {
  if (!c->options->predict) {
    put_training(section_new(c, out));
    devices_report(c, out);
    compared_report(c, out);
  }
  put_inference(section_new(c, out));
#define SECTION(name) name.text(c, out);
#include "codegen/sections.def"
}
