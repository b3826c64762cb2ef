/* The first lines of a report: does it fit, and how much does it take? */
#include "codegen/report/answer.h"

#include <inttypes.h>

#include "base/check.h"
#include "codegen/grid.h"
#include "codegen/rows.h"
#include "memory/predict.h"

struct answer {
  const struct compiled *c;
  struct text *out;
  struct text line;
};

static void end_line(struct answer *a) {
  text_wrap(a->out, text_slice(&a->line), 2, output_width(a->c));
  a->line.length = 0;
}

/* What would make it fit */

static void put_ways(struct answer *a) {
  const struct fit *fit = &a->c->memory.fit;
  int64_t macs = a->c->model->total.macs;
  struct grid_column columns[] = {
      {.align = ALIGN_LEFT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "  ", .least = 12},
  };
  struct grid grid = grid_new(a->c->arena, columns, 4);
  for (size_t i = 0; i < fit->ways.count; i++) {
    const struct way_out *way = &fit->ways.at[i];
    grid_text(&grid, way->options);
    grid_bytes(&grid, output_units(a->c), way->peak);
    if (way->extra_macs && macs) {
      text_put(&grid.pool, "recomputes ");
      text_fixed(&grid.pool, 100.0 * (double)way->extra_macs / (double)macs, 1);
      text_put(&grid.pool, " % of a forward pass");
    }
    grid_cell(&grid);
  }
  grid_fit(&grid, output_width(a->c));
  for (size_t i = 0; i < grid_rows(&grid); i++)
    grid_put_row(a->out, &grid, i);
}

void answer_put_taken(struct text *out, enum text_units units, int64_t device,
                      int64_t taken, int64_t reserve) {
  bool all = taken > device; /* nothing is left to reserve */
  if (taken) {
    text_put(out, all ? ", less than the framework's own "
                      : ", of which the framework has ");
    text_size(out, taken, units, 2);
  }
  if (reserve > 0 && !all) {
    text_put(out, taken ? " and " : ", of which ");
    text_size(out, reserve, units, 2);
    text_put(out, " are a reserve");
  }
}

/* The devices hold it, but the host does not. */
static void put_host(struct answer *a) {
  const struct fit *fit = &a->c->memory.fit;
  struct text *line = &a->line;
  int64_t devices = a->c->memory.parallel.host_devices;
  text_put(line, "; but ");
  if (devices > 1)
    text_printf(line, "%" PRId64 " devices have ", devices);
  else
    text_put(line, "the device has ");
  text_printf(line, "%s in the host's memory, which is %s too much for %s",
              output_size(a->c, fit->host).text,
              output_size(a->c, fit->host - fit->host_room).text,
              output_size(a->c, fit->host_room).text);
}

/* The verdict on a device, if one was named. */
static enum verdict put_fit(struct answer *a) {
  const struct fit *fit = &a->c->memory.fit;
  const struct parallel *p = &a->c->memory.parallel;
  bool holds = fit->peak <= fit->room, fits = fit_holds(fit);
  struct text *line = &a->line;
  if (!fit->device)
    return VERDICT_NONE;
  text_printf(line, "%s%s",
              fits ? "The training step fits: "
                   : "The training step does not fit: ",
              output_size(a->c, fit->peak).text);
  if (p->devices > 1)
    text_printf(line, " on %s of %" PRId64 " devices",
                p->stages.count > 1 ? "the most loaded" : "each", p->devices);
  text_printf(
      line, "%s%s%s%s", holds ? ", and " : ", which is ",
      output_size(a->c, holds ? fit->room - fit->peak : fit->peak - fit->room)
          .text,
      holds ? " are left of " : " too much for ",
      output_size(a->c, fit->device).text);
  answer_put_taken(line, output_units(a->c), fit->device, fit->taken,
                   fit->reserve);
  if (fit->host > fit->host_room)
    put_host(a);
  text_put(line, ". Largest batch: ");
  text_count(line, fit->largest_batch);
  text_put(line, fits              ? "."
                 : fit->ways.count ? ". It fits with"
                 : p->devices > 1  ? ". No known setting makes it fit."
                                   : ". No known setting makes it fit one "
                                     "device; `netc place` tries several, "
                                     "with what they share.");
  return fits ? VERDICT_FITS : VERDICT_TOO_MUCH;
}

/* The same on a prediction, which may have a context. */
static enum verdict put_predict(struct answer *a) {
  struct predict p;
  struct text *line = &a->line;
  if (!predict_find(a->c->model, a->c->settings, &p) || !p.device)
    return VERDICT_NONE;
  bool fits = p.need <= p.room;
  text_printf(line, "%s%s%s%s%s%s",
              fits ? "The prediction fits: " : "The prediction does not fit: ",
              output_size(a->c, p.need).text, fits ? ", and " : ", which is ",
              output_size(a->c, fits ? p.room - p.need : p.need - p.room).text,
              fits ? " are left of " : " too much for ",
              output_size(a->c, p.device).text);
  answer_put_taken(line, output_units(a->c), p.device, p.taken, p.reserve);
  text_printf(line, ". Largest batch: %s.", count_text(p.largest_batch).text);
  if (p.longest_context >= 0) {
    text_printf(line, " Longest context at batch %s: %s positions.",
                count_text(a->c->settings->infer.batch).text,
                count_text(p.longest_context).text);
  }
  return fits ? VERDICT_FITS : VERDICT_TOO_MUCH;
}

static enum verdict put_verdict(struct answer *a) {
  enum verdict found;
#define SECTION(name)                                         \
  if ((found = name.verdict(a->c, &a->line)) != VERDICT_NONE) \
    return found;
#include "codegen/sections.def"
  return a->c->options->predict ? put_predict(a) : put_fit(a);
}

/* What it takes */

static void put_largest(struct answer *a, struct text *to) {
  static const int64_t devices[] = {(int64_t)24 << 30, (int64_t)80 << 30};
  int64_t batches[2];
  if (a->c->memory.fit.device ||
      !memory_largest_batches(&a->c->memory, 2, devices, batches))
    return;
  text_put(to, "; largest batch ");
  for (int i = 0; i < 2; i++) {
    text_printf(to, "%s%s in %s", i ? ", " : "", count_text(batches[i]).text,
                output_size(a->c, devices[i]).text);
  }
}

static void put_training(struct answer *a, struct text *to) {
  const struct training *t = &a->c->memory.training;
  const struct train_settings *train = &a->c->settings->train;
  text_printf(to, "batch %s, %s%s; %s", count_text(train->batch).text,
              optimizer_word(train->optimizer),
              precision_remark(train->precision),
              t->profile->measured ? "exact" : "simulated, not yet measured");
  put_largest(a, to);
}

static void put_prediction(struct answer *a, struct text *to) {
  const struct inference *f = &a->c->memory.inference;
  text_printf(to, "batch %s; weights %s, arena %s",
              count_text(a->c->settings->infer.batch).text,
              output_size(a->c, f->weights).text,
              output_size(a->c, f->plan.height).text);
  if (a->c->settings->infer.decode) {
    text_printf(to, ", keys and values %s", output_size(a->c, f->cache).text);
  }
}

static void add_line(struct answer_line *line, const char *what,
                     struct text *size, struct text *more) {
  *line = (struct answer_line){what, text_slice(size), text_slice(more)};
  *size = text_new(size->arena);
  *more = text_new(more->arena);
}

int answer_lines(const struct compiled *c,
                 struct answer_line lines[ANSWER_LINES]) {
  struct answer a = {.c = c};
  const struct inference *f = &c->memory.inference;
  struct text size = text_new(c->arena), more = text_new(c->arena);
  int64_t predict = 0;
  int count = 0;
  text_put(&size, output_size(a.c, c->memory.training.peak).text);
  put_training(&a, &more);
  add_line(&lines[count++], "training", &size, &more);
  if (add_i64(f->weights, f->plan.height, &predict) &&
      add_i64(predict, f->cache, &predict)) {
    text_put(&size, output_size(a.c, predict).text);
    put_prediction(&a, &more);
    add_line(&lines[count++], "prediction", &size, &more);
  }
  text_put(&size, output_size(a.c, f->parameters).text);
  text_count(&more, c->model->total.params);
  if (c->model->total.active < c->model->total.params) {
    text_printf(&more, ", %s active", count_text(c->model->total.active).text);
  }
  text_printf(&more, "; %s MACs per %s", count_text(c->model->total.macs).text,
              sample_word(c));
  add_line(&lines[count++], "parameters", &size, &more);
  return count;
}

static void put_sizes(struct answer *a) {
  struct grid_column columns[] = {
      {.align = ALIGN_LEFT, .before = ""},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "  ", .least = 30},
  };
  struct grid grid = grid_new(a->c->arena, columns, 3);
  struct answer_line lines[ANSWER_LINES];
  int count = answer_lines(a->c, lines);
  for (int i = 0; i < count; i++) {
    grid_text(&grid, lines[i].what);
    text_puts(&grid.pool, lines[i].size);
    grid_cell(&grid);
    text_puts(&grid.pool, lines[i].more);
    grid_cell(&grid);
  }
  grid_fit(&grid, output_width(a->c));
  for (size_t i = 0; i < grid_rows(&grid); i++)
    grid_put_row(a->out, &grid, i);
}

enum verdict answer_put_verdict(const struct compiled *c, struct text *out) {
  struct answer a = {.c = c, .line = text_new(c->arena)};
  enum verdict verdict = put_verdict(&a);
  text_puts(out, text_slice(&a.line));
  return verdict;
}

void answer_put(const struct compiled *c, struct text *out) {
  struct answer a = {.c = c, .out = out, .line = text_new(c->arena)};
  enum verdict verdict = put_verdict(&a);
  if (verdict != VERDICT_NONE)
    end_line(&a);
  if (verdict == VERDICT_TOO_MUCH && !c->options->predict)
    put_ways(&a);
  put_sizes(&a);
}
