/* The report's section about several devices and their hosts. */
#include "codegen/report/devices_report.h"

#include <inttypes.h>

#include "base/check.h"
#include "codegen/grid.h"

struct devices {
  const struct compiled *c;
  const struct parallel *parallel;
  const struct train_settings *train;
  struct text *out;
  struct text line; /* current line */
  struct grid grid;
};

/* Writes the current line, wrapped if it is long. */
static void end_line(struct devices *b) {
  if (b->line.length == 0)
    return;
  text_wrap(b->out, text_slice(&b->line), 4, output_width(b->c));
  b->line.length = 0;
}

/* Adds a row, with the formula in the pool. */
static void put_row(struct devices *b, const char *what, int64_t bytes,
                    struct slice formula) {
  grid_text(&b->grid, what);
  grid_bytes(&b->grid, output_units(b->c), bytes);
  if (b->c->options->explain)
    text_puts(&b->grid.pool, formula);
  grid_cell(&b->grid);
}

static void put_some(struct devices *b, const char *what, int64_t bytes,
                     struct slice formula) {
  if (bytes)
    put_row(b, what, bytes, formula);
}

/* Formulas */

/* "7,500,000,000 x 16 bits / 64" */
static struct slice shared_text(struct devices *b, int64_t values,
                                const char *type, bool shared) {
  struct text text = text_new(b->c->arena);
  int64_t devices = b->train->data_parallel * b->train->context_parallel;
  if (b->train->shard_devices)
    devices = min_i64(devices, b->train->shard_devices);
  text_printf(&text, "%s x %s", count_text(values).text, type);
  if (shared && devices > 1)
    text_printf(&text, " / %" PRId64, devices);
  if (shared && b->train->expert_parallel > 1)
    text_printf(&text, ", of experts / %" PRId64,
                max_i64(devices / b->train->expert_parallel, 1));
  return text_slice(&text);
}

/* The type of the model's weights, which depends on `precision=`. */
static const char *element_of(const struct devices *b) {
  bool half = element_bits(b->train->dtype) == 16;
  if (b->train->precision == PRECISION_MASTER && !half)
    return "bf16";
  if (b->train->precision == PRECISION_MIXED && half)
    return "f32";
  return element_word(b->train->dtype);
}

static const char *gradients_of(const struct devices *b) {
  return b->train->gradient_dtype ? element_word(b->train->gradient_dtype)
                                  : element_of(b);
}

/* True if FSDP keeps whole gradients and parameters between microbatches. */
static bool holds_whole(const struct devices *b) {
  return parallel_holds_whole(
      b->train, ceil_div_i64(b->train->batch, b->parallel->microbatch));
}

static const char *gathered_text(const struct devices *b) {
  const struct train_settings *train = b->train;
  if (train->zero < 3)
    return train->bucket > 0 ? "two buckets of gradients"
                             : "gradients of the largest unit";
  if (train->reshard == TOGGLE_OFF || holds_whole(b))
    return "gradients of the largest unit, and all parameters gathered since "
           "forward";
  return train->prefetch == TOGGLE_ON
             ? "the largest unit three times: gradients, parameters, the next"
             : "the largest unit twice: gradients, parameters";
}

static struct slice flight_text(struct devices *b, const struct stage *stage) {
  struct text text = text_new(b->c->arena);
  text_printf(&text, "%" PRId64 " %s of %" PRId64 " sample%s", stage->in_flight,
              stage->part_count > 1   ? "passes of parts"
              : stage->in_flight == 1 ? "microbatch"
                                      : "microbatches",
              b->parallel->microbatch, b->parallel->microbatch == 1 ? "" : "s");
  return text_slice(&text);
}

/* Blocks */

static const struct slice away = {"in the host's memory", 20};

/* ", turns 4..6 of 24" */
static void put_turns(struct devices *b, struct node_range part) {
  const struct node_turns *r = &b->parallel->repeated;
  int64_t first, turns = borders_turns(r, part, &first);
  if (r->count && turns)
    text_printf(&b->line, ", iteration%s %" PRId64, turns == 1 ? "" : "s",
                first + 1);
  if (r->count && turns > 1)
    text_printf(&b->line, "..%" PRId64, first + turns);
  if (r->count && turns)
    text_printf(&b->line, " of %" PRId64, r->count);
}

static void put_stage(struct devices *b, size_t index) {
  const struct stage *stage = &b->parallel->stages.at[index];
  int64_t turns = parallel_turns(b->parallel, stage);
  text_printf(&b->line, "  stage %zu: ", index + 1);
  for (size_t i = 0; i < stage->part_count; i++) {
    text_put(&b->line, i ? ", " : "");
    model_put_name(&b->line, b->c->model, stage->parts[i].first);
    text_put(&b->line, "..");
    model_put_name(&b->line, b->c->model, stage->parts[i].end - 1);
    if (b->c->options->explain)
      put_turns(b, stage->parts[i]);
  }
  if (b->parallel->repeated.count && !b->c->options->explain)
    text_printf(&b->line, ", %" PRId64 " iteration%s", turns,
                turns == 1 ? "" : "s");
  text_printf(&b->line, ", peak %s", output_size(b->c, stage->peak).text);
  text_printf(&b->line, ", %" PRId64 " %s%s in flight", stage->in_flight,
              stage->part_count > 1 ? "pass" : "microbatch",
              stage->in_flight == 1 ? "" : "es");
  end_line(b);
}

static void put_head(struct devices *b) {
  const struct parallel *p = b->parallel;
  const struct train_settings *train = b->train;
  text_printf(&b->line, "%" PRId64 " device%s: data x %" PRId64, p->devices,
              p->devices == 1 ? "" : "s", train->data_parallel);
  if (train->zero)
    text_printf(&b->line, " (ZeRO %" PRId64 ")", train->zero);
  text_printf(&b->line, ", tensor x %" PRId64, train->tensor_parallel);
  if (train->sequence_parallel == TOGGLE_ON && train->tensor_parallel > 1)
    text_put(&b->line, " with the sequence");
  if (train->context_parallel > 1)
    text_printf(&b->line, ", context x %" PRId64, train->context_parallel);
  if (train->expert_parallel > 1)
    text_printf(&b->line, ", experts x %" PRId64 " of the data",
                train->expert_parallel);
  text_printf(&b->line, ", pipeline x %zu", p->stages.count);
  if (p->stages.at[0].part_count > 1)
    text_printf(&b->line, " of %zu parts each", p->stages.at[0].part_count);
  end_line(b);
}

static void put_state(struct devices *b, const struct stage *most) {
  bool shared = b->train->zero >= 1;
  bool there = !most->paged || most->steps;
  put_row(b, "parameters", most->parameters,
          !most->parameters
              ? away
              : shared_text(b, most->values,
                            b->train->base ? "its type" : element_of(b),
                            b->train->zero >= 3));
  if (there)
    put_some(b, "optimizer state", most->optimizer,
             shared_text(b, most->trained, optimizer_word(b->train->optimizer),
                         shared));
  if (there)
    put_some(b, "parameters in 32 bits", most->master,
             shared_text(b, most->trained, "f32", shared));
  put_some(b, "averaged parameters", most->averaged,
           shared_text(b, most->values,
                       b->train->precision == PRECISION_MASTER ? "f32"
                                                               : element_of(b),
                       b->train->zero >= 3));
}

static void put_rows(struct devices *b) {
  const struct stage *most = &b->parallel->stages.at[b->parallel->most_loaded];
  put_state(b, most);
  put_some(b, "buffers", most->buffers, slice_of(""));
  put_some(b, "batch", most->input, slice_of(""));
  put_row(b, "gradients", most->gradients,
          most->gradients ? shared_text(b, most->trained, gradients_of(b),
                                        b->train->zero >= 2 && !holds_whole(b))
                          : away);
  put_some(b, "gathered unit", most->gathered, slice_of(gathered_text(b)));
  put_some(b, "gradients in transit", most->buckets,
           slice_of("a copy of the gradients, in DistributedDataParallel's "
                    "buckets"));
  put_row(b, "saved activations", most->activations, flight_text(b, most));
  put_some(b, "kept for weights", most->deferred,
           slice_of("inputs and gradients of outputs, until gradients of "
                    "weights are computed"));
  put_row(b, "temporaries", most->temporary,
          slice_of("other tensors at the peak"));
  put_row(b, "peak", most->peak, slice_of("total"));
  grid_put(b->out, &b->grid, output_width(b->c));
}

static void put_clip(struct devices *b) {
  const struct stage *most = &b->parallel->stages.at[b->parallel->most_loaded];
  if (!most->clip)
    return;
  text_printf(&b->line, "  clipping before the step: %s beside the gradients",
              output_size(b->c, most->clip).text);
  end_line(b);
}

/* Host */

static void put_host(struct devices *b) {
  const struct parallel *p = b->parallel;
  int64_t has = b->train->host_memory;
  if (!p->host)
    return;
  text_printf(&b->line, "  host: %s",
              output_size(b->c, p->host / max_i64(p->host_devices, 1)).text);
  text_printf(&b->line, " for each of %" PRId64 " device%s, ", p->host_devices,
              p->host_devices == 1 ? "" : "s");
  text_put(&b->line, output_size(b->c, p->host).text);
  if (!has)
    text_put(&b->line, " in all");
  else
    text_printf(&b->line, " of %s%s", output_size(b->c, has).text,
                p->host <= has ? "" : ": too much by ");
  if (has && p->host > has)
    text_put(&b->line, output_size(b->c, p->host - has).text);
  end_line(b);
}

static void put_traffic(struct devices *b) {
  static const char *const kinds[] = {"all-reduce",     "all-gather",
                                      "reduce-scatter", "all-to-all",
                                      "point to point", "to and from the host"};
  const struct stage *most = &b->parallel->stages.at[b->parallel->most_loaded];
  int said = 0;
  for (int i = 0; i < TRAFFIC_COUNT; i++) {
    if (!most->sent[i])
      continue;
    text_printf(&b->line, "%s%s %s",
                said++ ? ", " : "  sent by each device in a step: ", kinds[i],
                output_size(b->c, most->sent[i]).text);
  }
  end_line(b);
}

void devices_report(const struct compiled *c, struct text *out) {
  struct grid_column columns[4] = {
      {.align = ALIGN_LEFT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "   ", .least = 20}};
  const struct parallel *p = &c->memory.parallel;
  struct devices b = {.c = c,
                      .parallel = p,
                      .train = &c->settings->train,
                      .out = out,
                      .line = text_new(c->arena),
                      .grid = grid_new(c->arena, columns, 4)};
  if (!p->stages.count)
    return;
  text_putc(out, '\n');
  put_head(&b);
  for (size_t i = 0; i < p->stages.count && p->stages.count > 1; i++)
    put_stage(&b, i);
  if (p->stages.count > 1)
    text_printf(&b.line, "  each device of stage %zu, the most loaded",
                p->most_loaded + 1);
  end_line(&b);
  put_rows(&b);
  put_clip(&b);
  put_host(&b);
  put_traffic(&b);
}
