/* h: a header with all sizes of a net as macros. */
#include "base/check.h"
#include "codegen/c/header.h"
#include "codegen/c/run.h"
#include "memory/tables.h"

/* #define VGG16_BATCH 1 */
static void header_macro(struct header *h, const char *name, int64_t value) {
  text_printf(h->out, "#define %.*s%s ", SLICE_ARG(h->ids.prefix), name);
  text_int(h->out, value);
  text_putc(h->out, '\n');
}

/* A macro whose stem is reserved. */
void header_stem_macro(struct header *h, struct slice stem, const char *ending,
                       int64_t value) {
  text_printf(h->out, "#define %.*s%.*s%s ", SLICE_ARG(h->ids.prefix),
              SLICE_ARG(stem), ending);
  text_int(h->out, value);
  text_putc(h->out, '\n');
}

static void put_comment_line(struct header *h, const char *text) {
  text_printf(h->out, "\n/* %s */\n", text);
}

/* --header=deploy: only macros that inference needs. */
static bool is_deploy(const struct header *h) {
  return h->c->options->deploy;
}

/* The beginning describes the net, as in its report. */

static void put_head(struct header *h) {
  static const struct netc_options plain = {.ascii = true, .width = 77};
  struct compiled c = *h->c;
  struct text table = text_new(c.arena);
  c.options = &plain;
  report_put_table(&c, &table);
  while (table.length && table.at[table.length - 1] == '\n')
    table.length--;
  text_put(h->out, "/*\n * ");
  c_put_comment(h->out, c.model->name);
  text_put(h->out, ": sizes of a net, made by netc. Do not edit.");
  if (!is_deploy(h)) {
    text_put(h->out, "\n *\n * ");
    c_put_comment(h->out, text_slice(&table));
  }
  text_put(h->out,
           "\n"
           " *\n"
           " * _BYTES and _OFFSET are in bytes, _COUNT in values or "
           "multiply-accumulates.\n"
           " * Figures of layers are for one sample; inputs, outputs and "
           "offsets in the\n"
           " * arena are for the whole batch. To check limits, define "
           "_ARENA_LIMIT_BYTES\n"
           " * or _WEIGHT_LIMIT_BYTES, with the prefix, before you include "
           "this file.\n"
           " */\n");
  text_printf(h->out, "#ifndef %.*sH\n#define %.*sH\n",
              SLICE_ARG(h->ids.prefix), SLICE_ARG(h->ids.prefix));
  text_put(h->out, "\n#include <stddef.h>\n#include <stdint.h>\n\n");
}

static void put_totals(struct header *h) {
  const struct cost *total = &h->c->model->predicted;
  const struct inference *f = &h->program->plan;
  const struct inference *known = &h->c->memory.inference;
  text_printf(h->out, "#define %.*sSOURCE_HASH \"", SLICE_ARG(h->ids.prefix));
  c_put_hash(h->out, h->c);
  text_put(h->out, "\"\n");
  header_macro(h, "BATCH", h->c->settings->infer.batch);
  header_macro(h, "INPUT_COUNT", (int64_t)h->c->model->predicted_sources);
  header_macro(h, "OUTPUT_COUNT", (int64_t)h->c->model->predicted_outputs);
  header_macro(h, "PARAM_COUNT", total->params);
  header_macro(h, "TRAINABLE_COUNT", total->trainable);
  header_macro(h, "BUFFER_COUNT", total->buffers);
  header_macro(h, "MAC_COUNT", total->macs);
  put_comment_line(h, "Prediction");
  header_macro(h, "ARENA_BYTES", f->plan.height);
  header_macro(h, "ARENA_ALIGN", h->c->settings->infer.align);
  header_macro(h, "ARENA_LOWER_BOUND_BYTES", f->plan.lower_bound);
  header_macro(h, "PEAK_LIVE_BYTES", f->live);
  header_macro(h, "WEIGHT_BYTES", known->weights);
  header_macro(h, "WEIGHT_ALIGN", NETRT_ALIGN);
  header_macro(h, "CACHE_BYTES", known->cache);
  if (!f->lines.window)
    return;
  header_macro(h, "WINDOW_ROWS", f->lines.window);
  header_macro(h, "HOP_ROWS", f->lines.hop);
}

/* Training: the peak as a function of the batch */

static int64_t line_at(const struct header_line *line, int64_t batch) {
  return line->base + line->each * batch;
}

/* The line through the last two of the peaks [from, end), raised above all. */
static struct header_line line_through(const struct header_peaks *p, int from,
                                       int end) {
  struct header_line line = {.base = INT64_MIN};
  if (end - from > 1) {
    int64_t rise = p->bytes[end - 1] - p->bytes[end - 2];
    int64_t run = p->batch[end - 1] - p->batch[end - 2];
    line.each = rise > 0 ? (rise + run - 1) / run : 0;
  }
  for (int i = from; i < end; i++)
    line.base = max_i64(line.base, p->bytes[i] - line.each * p->batch[i]);
  return line;
}

/* Finds two lines, split where they are closest to the peaks. */
static void fit_lines(struct header_peaks *p) {
  p->worst = INT64_MAX;
  for (int parts = 1; parts < p->count - 1; parts++) {
    struct header_line low = line_through(p, 0, parts);
    struct header_line high = line_through(p, parts - 1, p->count);
    int64_t worst = 0;
    for (int i = 0; i < p->count; i++)
      worst = max_i64(worst, line_at(i < parts ? &low : &high, p->batch[i]) -
                                 p->bytes[i]);
    if (worst >= p->worst)
      continue;
    p->worst = worst;
    p->low = low;
    p->high = high;
    p->parts = parts;
  }
}

/* Peaks for batches of 1, 2, 3, 4, 6, 8, 12, ..., up to an overflow. */
static void find_peaks(struct header *h, struct header_peaks *p) {
  const struct model *model = h->c->model;
  int most = model->nodes.count > 1000 ? 6 : MOST_PEAKS;
  for (int64_t batch = 1; p->count < most; batch += batch < 4 ? 1 : 0) {
    int64_t bytes = fit_peak(model, &h->c->settings->train, batch, h->c->arena);
    if (bytes > INT64_MAX / 4096)
      return;
    p->batch[p->count] = batch;
    p->bytes[p->count++] = bytes;
    if (batch >= 4) /* 4, 6, 8, 12, 16 */
      batch += (batch & (batch - 1)) == 0 ? batch / 2 : batch / 3;
  }
}

/* Computes in 64 bits whatever the type of `batch`: 64 images take 6 GB. */
static void put_line(struct header *h, const struct header_line *line) {
  text_printf(h->out, "%lld + INT64_C(%lld) * (batch)", (long long)line->base,
              (long long)line->each);
}

/* The bound is only certain for the batches that were simulated. */
static void put_peaks(struct header *h, const struct header_peaks *p) {
  text_printf(h->out,
              "\n/*\n * A training step at its peak, with a batch: %s, %s.\n"
              " * At the batches",
              h->c->memory.training.profile->name,
              optimizer_word(h->c->settings->train.optimizer));
  for (int i = 0; i < p->count; i++)
    text_printf(h->out, "%s %lld", i ? "," : "", (long long)p->batch[i]);
  if (p->worst == 0)
    text_put(h->out, "\n * it is exact.");
  else
    text_printf(h->out,
                "\n * it is never too low, and at most %lld bytes too "
                "high.",
                (long long)p->worst);
  text_put(h->out, " At others it\n"
                   " * is interpolated; allocators round, so it may be "
                   "slightly too low.\n"
                   " */\n");
  text_printf(h->out,
              "#define %.*sTRAIN_BYTES(batch) \\\n  ((batch) <= %lld \\\n   ? ",
              SLICE_ARG(h->ids.prefix), (long long)p->batch[p->parts - 1]);
  put_line(h, &p->low);
  text_put(h->out, " \\\n   : ");
  put_line(h, &p->high);
  text_put(h->out, ")\n");
}

static void put_training(struct header *h) {
  struct header_peaks peaks = {.count = 0};
  find_peaks(h, &peaks);
  text_putc(h->out, '\n');
  header_macro(h, "TRAIN_BATCH", h->c->settings->train.batch);
  header_macro(h, "TRAIN_PEAK_BYTES", h->train_peak);
  if (peaks.count < 3)
    return;
  fit_lines(&peaks);
  put_peaks(h, &peaks);
}

/* Promises that the compiler of C checks */

static void put_assert_macro(struct header *h) {
  struct slice prefix = h->ids.prefix;
  text_printf(
      h->out,
      "\n"
      "/* For C11, C++11 and older compilers. */\n"
      "#if defined __cplusplus && __cplusplus >= 201103L\n"
      "#define %.*sASSERT(name, what) static_assert(what, #name)\n"
      "#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L\n"
      "#define %.*sASSERT(name, what) _Static_assert(what, #name)\n"
      "#else\n"
      "#define %.*sASSERT(name, what) typedef char name[(what) ? 1 : -1]\n"
      "#endif\n",
      SLICE_ARG(prefix), SLICE_ARG(prefix), SLICE_ARG(prefix));
}

static void put_assert(struct header *h, const char *name, const char *left,
                       const char *right) {
  struct slice small = identifiers_small(&h->ids);
  text_printf(h->out,
              "%.*sASSERT(%.*s_%s,\n  %.*s%s <= ", SLICE_ARG(h->ids.prefix),
              SLICE_ARG(small), name, SLICE_ARG(h->ids.prefix), left);
  text_printf(h->out, "%.*s%s);\n", SLICE_ARG(h->ids.prefix), right);
}

/* A budget in the source. */
static void put_budget(struct header *h, const char *name, const char *left,
                       const char *right, int64_t budget) {
  if (!budget)
    return;
  header_macro(h, right, budget);
  put_assert(h, name, left, right);
}

/* A limit that the user may define. */
static void put_limit(struct header *h, const char *name, const char *left,
                      const char *right) {
  text_printf(h->out, "#ifdef %.*s%s\n", SLICE_ARG(h->ids.prefix), right);
  put_assert(h, name, left, right);
  text_put(h->out, "#endif\n");
}

static void put_promises(struct header *h) {
  const struct budget *budget = &h->c->settings->budget;
  const struct inference *known = &h->c->memory.inference;
  put_assert_macro(h);
  put_budget(h, "params_exceed_the_budget", "PARAM_COUNT", "PARAM_BUDGET_COUNT",
             budget->params);
  put_budget(h, "macs_exceed_the_budget", "MAC_COUNT", "MAC_BUDGET_COUNT",
             budget->macs);
  if (budget->infer)
    header_macro(h, "INFER_BYTES",
                 known->weights + known->plan.height + known->cache);
  put_budget(h, "prediction_exceeds_the_budget", "INFER_BYTES",
             "INFER_BUDGET_BYTES", budget->infer);
  if (!is_deploy(h))
    put_budget(h, "training_exceeds_the_budget", "TRAIN_PEAK_BYTES",
               "TRAIN_BUDGET_BYTES", budget->train);
  put_budget(h, "arena_exceeds_the_budget", "ARENA_BYTES", "ARENA_BUDGET_BYTES",
             budget->arena);
  put_budget(h, "weights_exceed_the_budget", "WEIGHT_BYTES",
             "WEIGHT_BUDGET_BYTES", budget->weights);
  put_limit(h, "arena_exceeds_the_limit", "ARENA_BYTES", "ARENA_LIMIT_BYTES");
  put_limit(h, "weights_exceed_the_limit", "WEIGHT_BYTES",
            "WEIGHT_LIMIT_BYTES");
  if (!is_deploy(h))
    put_limit(h, "training_exceeds_the_limit", "TRAIN_PEAK_BYTES",
              "TRAIN_LIMIT_BYTES");
}

/* Declares X_run(), which needs -DNETRT_RUN in the source. */
static void put_run(struct header *h) {
  const struct program *program = h->program;
  struct run_ends ends = {.name = identifiers_small(&h->ids),
                          .inputs = program->inputs.count,
                          .outputs = program->outputs.count,
                          .stream = program->plan.lines.window > 0};
  uint8_t *types = arena_alloc(h->c->arena, ends.inputs + ends.outputs + 1, 1);
  for (size_t i = 0; i < ends.inputs; i++)
    types[i] = tables_type(program, &program->inputs.at[i]);
  for (size_t i = 0; i < ends.outputs; i++)
    types[ends.inputs + i] = tables_type(program, &program->outputs.at[i]);
  ends.types = types;
  text_put(h->out, "\n"
                   "/*\n"
                   " * Runs the net once: takes the values of each input, and "
                   "writes those of each\n"
                   " * output. Returns an enum netrt_status, 0 on success. It "
                   "uses its own static\n"
                   " * arena, so only one thread may call it. Compile the "
                   "source with -DNETRT_RUN.\n"
                   " */\n");
  run_put_prototype(h->out, &ends);
  text_put(h->out, ";\n");
  if (!ends.stream)
    return;
  text_put(h->out,
           "\n"
           "/*\n"
           " * Each call takes the next row of the input. If no window ends "
           "with the row,\n"
           " * it returns NETRT_NOT_YET and does not change the output. This "
           "function\n"
           " * discards the rows so far.\n"
           " */\n");
  run_put_reset(h->out, &ends);
  text_put(h->out, ";\n");
}

static bool has_panels(const struct program *program) {
  for (size_t i = 0; i < program->operands.count; i++)
    if (program->operands.at[i].panels)
      return true;
  return false;
}

/* netrt.h may be included before, after or not at all. */
static void put_foot(struct header *h) {
  struct slice small = identifiers_small(&h->ids);
  text_printf(
      h->out,
      "\n/* The tables of `netc -o x.c`, and the array of `netc weights "
      "--fold`. */\n"
      "struct netrt_model;\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
      "extern const struct netrt_model %.*s_model;\n"
      "extern const %s %.*s_weights[];\n",
      SLICE_ARG(small), h->program->bytes ? "unsigned char" : "float",
      SLICE_ARG(small));
  if (has_panels(h->program))
    text_printf(h->out,
                "/* The array of --panels: NETRT_PANELS_BYTES more. */\n"
                "extern const float %.*s_panels[];\n",
                SLICE_ARG(small));
  put_run(h);
  text_put(h->out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* Reserves names of the header itself. */
static void take_names(struct identifiers *ids) {
  static const char *const names[] = {"H",
                                      "SOURCE_HASH",
                                      "BATCH",
                                      "INPUT_COUNT",
                                      "OUTPUT_COUNT",
                                      "PARAM_COUNT",
                                      "TRAINABLE_COUNT",
                                      "BUFFER_COUNT",
                                      "MAC_COUNT",
                                      "ARENA_BYTES",
                                      "ARENA_ALIGN",
                                      "ARENA_LOWER_BOUND_BYTES",
                                      "PEAK_LIVE_BYTES",
                                      "WEIGHT_BYTES",
                                      "WEIGHT_ALIGN",
                                      "CACHE_BYTES",
                                      "WINDOW_ROWS",
                                      "HOP_ROWS",
                                      "TRAIN_BATCH",
                                      "TRAIN_PEAK_BYTES",
                                      "TRAIN_BYTES",
                                      "ASSERT",
                                      "PARAM_BUDGET_COUNT",
                                      "MAC_BUDGET_COUNT",
                                      "INFER_BYTES",
                                      "INFER_BUDGET_BYTES",
                                      "TRAIN_BUDGET_BYTES",
                                      "ARENA_BUDGET_BYTES",
                                      "WEIGHT_BUDGET_BYTES",
                                      "ARENA_LIMIT_BYTES",
                                      "WEIGHT_LIMIT_BYTES",
                                      "TRAIN_LIMIT_BYTES"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    identifiers_take(ids, names[i]);
}

void emit_header(const struct compiled *c, struct text *out) {
  struct header h = {.c = c,
                     .out = out,
                     .program = ARENA_NEW(c->arena, struct program),
                     .ids = identifiers_open(c),
                     .train_peak = memory_device(&c->memory).peak};
  if (!program_find(c->model, c->settings, h.program))
    return; /* never: the plan exists already */
  take_names(&h.ids);
  put_head(&h);
  put_totals(&h);
  if (!is_deploy(&h))
    put_training(&h);
  header_put_ends(&h);
  if (!is_deploy(&h))
    header_put_layers(&h);
  put_promises(&h);
  put_foot(&h);
}
