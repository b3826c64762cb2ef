/* The first lines of a report: whether the net fits, and how much it takes. */
#include "codegen/report/summary.h"

#include <inttypes.h>

#include "codegen/asked.h"
#include "codegen/grid.h"
#include "codegen/rows.h"

struct summary {
  const struct compiled *c;
  const struct answer *a; /* NULL: a size passes 2^63 - 1 */
  struct answer step;     /* of training, whatever was asked */
  /* For inference, if it was asked for or serving has settings; else NULL. */
  const struct answer *prediction;
  struct text *out; /* complete lines */
  struct text line; /* current line */
};

static void end_line(struct summary *s) {
  text_wrap(s->out, text_slice(&s->line), 2, output_width(s->c));
  s->line.length = 0;
}

/* Changes that would make it fit */

static void put_ways(struct summary *s) {
  const struct fit *fit = &s->c->memory.fit;
  int64_t macs = s->c->model->total.macs;
  struct grid_column columns[] = {
      {.align = ALIGN_LEFT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "  ", .least = 12},
  };
  struct grid grid = grid_new(s->c->arena, columns, 4);
  for (size_t i = 0; i < fit->ways.count; i++) {
    const struct way_out *way = &fit->ways.at[i];
    grid_text(&grid, way->options);
    grid_bytes(&grid, output_units(s->c), way->peak);
    if (way->extra_macs && macs) {
      text_put(&grid.pool, "recomputes ");
      text_fixed(&grid.pool, 100.0 * (double)way->extra_macs / (double)macs, 1);
      text_put(&grid.pool, " % of a forward pass");
    }
    grid_cell(&grid);
  }
  grid_put(s->out, &grid, output_width(s->c));
}

/* The verdict on a device */

/* The part of a device's memory that the net cannot use. */
static void put_taken(struct summary *s) {
  const struct answer *a = s->a;
  bool all = a->device.taken > a->device.bytes; /* nothing is left to reserve */
  if (a->device.taken)
    text_printf(&s->line, "%s%s",
                all ? ", less than the framework's own "
                    : ", of which the framework has ",
                output_size(s->c, a->device.taken).text);
  if (a->device.reserve > 0 && !all)
    text_printf(
        &s->line, "%s%s are %s", a->device.taken ? " and " : ", of which ",
        output_size(s->c, a->device.reserve).text,
        s->c->settings->infer.utilization && a != &s->step ? "left to others"
                                                           : "a reserve");
}

/* The host memory needed; or the net fits the devices, but not the host. */
static void put_host(struct summary *s) {
  const struct answer *a = s->a;
  int64_t devices = s->c->memory.parallel.host_devices;
  if (a->host && !a->host_room)
    text_printf(&s->line, "; a host needs %s", output_size(s->c, a->host).text);
  if (!a->host_room || a->host <= a->host_room)
    return;
  text_put(&s->line, "; but ");
  if (devices > 1)
    text_printf(&s->line, "%" PRId64 " devices have ", devices);
  else
    text_put(&s->line, "the device has ");
  text_printf(&s->line, "%s in the host's memory, which is %s too much for %s",
              output_size(s->c, a->host).text,
              output_size(s->c, a->host - a->host_room).text,
              output_size(s->c, a->host_room).text);
}

/* "on each of 8 devices" */
static void put_devices(struct summary *s, const struct answer *a) {
  if (a->devices > 1)
    text_printf(&s->line, "on %s of %" PRId64 " devices",
                a->uneven ? "the most loaded" : "each", a->devices);
}

/* A process cannot use all of a card. */
static void put_card(struct summary *s) {
  const struct gpu *card = s->a->card;
  if (card && gpu_card_bytes(card) != s->a->device.bytes)
    text_printf(&s->line, " (of %s: %s a process can have)",
                output_size(s->c, gpu_card_bytes(card)).text,
                gpu_is_estimated(card) ? "an estimate of what" : "what");
}

static void put_room(struct summary *s) {
  const struct answer *a = s->a;
  int64_t rest = a->device.room - a->bytes;
  bool tight = a->verdict == VERDICT_TIGHT;
  text_printf(&s->line, "%s%s", output_size(s->c, a->bytes).text,
              a->devices > 1 ? " " : "");
  put_devices(s, a);
  text_printf(&s->line, "%s%s%s%s",
              rest >= 0 || tight ? ", and " : ", which is ",
              output_size(s->c, rest < 0 ? -rest : rest).text,
              tight       ? " are in the reserve of "
              : rest >= 0 ? " are left of "
                          : " too much for ",
              output_size(s->c, a->device.bytes).text);
  put_card(s);
  put_taken(s);
  put_host(s);
}

/* "4 sequences of 8,192 positions" */
static void put_sequences(struct summary *s, const struct answer *a) {
  text_printf(&s->line, "%s sequence%s of %s positions",
              count_text(a->sequences).text, a->sequences == 1 ? "" : "s",
              count_text(a->context).text);
}

static void put_subject(struct summary *s) {
  const struct answer *a = s->a;
  bool several = a->asked == ASKED_SERVING && a->sequences > 1;
  if (a->asked == ASKED_SERVING && a->served)
    put_sequences(s, a);
  else
    text_put(&s->line, a->asked == ASKED_TRAINING ? "The training step"
                                                  : "The prediction");
  if (a->verdict == VERDICT_TIGHT)
    text_put(&s->line, several ? " are tight: " : " is tight: ");
  else if (a->verdict == VERDICT_FITS)
    text_put(&s->line, several ? " fit: " : " fits: ");
  else
    text_put(&s->line, several ? " do not fit: " : " does not fit: ");
}

/* "3 devices do not divide 32 heads: ...", if the user asked for 3. */
static void put_refusal(struct summary *s) {
  struct text why = text_new(s->c->arena), help = why;
  serving_possible(s->c->model, s->c->settings, &why, &help);
  text_puts(&s->line, text_slice(&why));
  text_put(&s->line, "; ");
  text_puts(&s->line, text_slice(&help));
  text_putc(&s->line, '.');
}

/* "20 of 33 layers are on the card; 21 would need 5.47 GiB" */
static void put_layers(struct summary *s, const struct answer *a) {
  const struct serving_answer *served = a->served;
  if (!served || !served->blocks)
    return;
  text_printf(&s->line, "%s of %s layers are on the card",
              count_text(served->on_card).text,
              count_text(served->blocks).text);
  if (served->next)
    text_printf(&s->line, "; %s would need %s",
                count_text(served->on_card + 1).text,
                output_size(s->c, served->next).text);
}

static void put_limits(struct summary *s) {
  const struct answer *a = s->a;
  if (a->served && a->served->blocks)
    text_put(&s->line, ". ");
  put_layers(s, a);
  if (a->largest_batch >= 0)
    text_printf(&s->line, ". Largest batch: %s",
                count_text(a->largest_batch).text);
  if (a->longest_context >= 0)
    text_put(&s->line, ". Longest context");
  if (a->longest_context >= 0 && a->asked == ASKED_PREDICTION)
    text_printf(&s->line, " at batch %s",
                count_text(s->c->settings->infer.batch).text);
  if (a->longest_context == 0)
    text_put(&s->line, ": none");
  else if (a->longest_context >= LONGEST_CONTEXT)
    text_put(&s->line, ": any");
  else if (a->longest_context > 0)
    text_printf(&s->line, ": %s positions",
                count_text(a->longest_context).text);
  if (a->most_sequences >= 0)
    text_printf(&s->line, ". Most sequences: %s",
                count_text(a->most_sequences).text);
  if (a->positions >= 0)
    text_printf(&s->line, ". Positions in all: %s",
                count_text(a->positions).text);
  text_putc(&s->line, '.');
}

/* Changes of the settings that would make a step fit. */
static void put_advice(struct summary *s) {
  const struct answer *a = s->a;
  bool ways = s->c->memory.fit.ways.count > 0;
  if (a->asked == ASKED_TRAINING &&
      (a->verdict == VERDICT_TOO_MUCH || (a->verdict == VERDICT_TIGHT && ways)))
    text_put(&s->line, ways ? " It fits with"
                       : a->devices > 1
                           ? " No known setting makes it fit."
                           : " No known setting makes it fit one device; "
                             "`netc place` tries several, with what they "
                             "share.");
}

static enum fit_verdict put_verdict(struct summary *s) {
  if (!s->a || !s->a->device.bytes)
    return VERDICT_NONE;
  put_subject(s);
  if (s->a->bytes == INT64_MAX) {
    put_refusal(s);
  } else {
    put_room(s);
    put_limits(s);
    put_advice(s);
  }
  return s->a->verdict;
}

/* Requirements */

/* "; largest batch 3 in 24.00 GiB, 17 in 80.00 GiB" */
static void put_largest(struct summary *s) {
  static const int64_t devices[] = {(int64_t)24 << 30, (int64_t)80 << 30};
  const char *between = "; largest batch ";
  int64_t batches[2];
  if (s->c->memory.fit.device.bytes || s->c->options->predict ||
      !memory_largest_batches(&s->c->memory, 2, devices, batches))
    return;
  if (!batches[0] && !batches[1]) {
    if (output_units(s->c) == UNITS_IEC)
      text_put(&s->line, "; fits neither 24 nor 80 GiB");
    else
      text_printf(&s->line, "; fits neither %s nor %s",
                  output_size(s->c, devices[0]).text,
                  output_size(s->c, devices[1]).text);
    return;
  }
  for (int i = 0; i < 2; i++) {
    if (batches[i])
      text_printf(&s->line, "%s%s in %s", between, count_text(batches[i]).text,
                  output_size(s->c, devices[i]).text);
    else
      text_printf(&s->line, "; does not fit %s",
                  output_size(s->c, devices[i]).text);
    between = batches[i] ? ", " : between;
  }
}

/* "on each of 8 devices (163.62 GiB on one); "; empty for one device. */
static void put_share(struct summary *s, const struct answer *a) {
  size_t start = s->line.length;
  put_devices(s, a);
  if (a->devices == 1 && (a->bytes != a->alone || a->host))
    text_put(&s->line, "on the device");
  if (a->bytes != a->alone && a->alone < INT64_MAX)
    text_printf(&s->line, " (%s %s)", output_size(s->c, a->alone).text,
                a->devices > 1                  ? "on one"
                : a->asked == ASKED_SERVING     ? "if it had all"
                : s->c->settings->train.offload ? "without --offload"
                                                : "without --zero");
  if (a->host)
    text_printf(&s->line, ", %s in the host's memory",
                output_size(s->c, a->host).text);
  if (s->line.length > start)
    text_put(&s->line, "; ");
}

static void put_training(struct summary *s) {
  const struct training *t = &s->c->memory.training;
  const struct train_settings *train = &s->c->settings->train;
  put_share(s, &s->step);
  text_printf(&s->line, "batch %s, %s%s; %s", count_text(train->batch).text,
              optimizer_word(train->optimizer),
              precision_remark(train->precision), t->profile->said);
  put_largest(s);
}

static void put_planned(struct summary *s) {
  const struct inference *f = &s->c->memory.inference;
  text_printf(&s->line, "weights %s, arena %s",
              output_size(s->c, f->weights).text,
              output_size(s->c, f->plan.height).text);
  if (s->c->settings->infer.decode)
    text_printf(&s->line, ", keys and values %s",
                output_size(s->c, f->cache).text);
}

static void put_served(struct summary *s) {
  const struct answer *a = s->prediction;
  const struct serving_answer *served = a->served;
  put_sequences(s, a);
  text_put(&s->line, a->devices > 1 ? " " : "; ");
  put_share(s, a);
  text_printf(&s->line, "weights %s, %s %s",
              output_size(s->c, served->card.weights).text,
              served->card.sequence &&
                      served->card.state == served->card.sequence
                  ? "states"
                  : "keys and values",
              output_size(s->c, served->card.cache).text);
  if (served->blocks && (a != s->a || !a->device.bytes)) {
    text_put(&s->line, "; ");
    put_layers(s, a);
  }
}

static void put_prediction(struct summary *s) {
  const struct answer *a = s->prediction;
  struct count_text batch = count_text(s->c->settings->infer.batch);
  if (a && a->asked == ASKED_SERVING && a->served) {
    put_served(s);
  } else if (a && a->asked == ASKED_PREDICTION) {
    text_printf(&s->line,
                "in PyTorch, %s planned: ", output_size(s->c, a->planned).text);
    put_planned(s);
    text_printf(&s->line, "; batch %s", batch.text);
  } else {
    text_printf(&s->line, "batch %s; ", batch.text);
    put_planned(s);
  }
}

static const struct answer *find_prediction(const struct compiled *c,
                                            const struct answer *asked) {
  struct answer_request request = {.model = c->model,
                                   .settings = c->settings,
                                   .memory = &c->memory,
                                   .predict = true,
                                   .arena = c->arena};
  if (c->options->predict)
    return asked;
  if (!serving_wanted(c->settings))
    return NULL;
  struct answer *found = ARENA_NEW(c->arena, struct answer);
  return answer_find(&request, found) ? found : NULL;
}

static struct summary summary_open(const struct compiled *c, struct text *out) {
  struct summary s = {
      .c = c, .a = asked_of(c), .out = out, .line = text_new(c->arena)};
  answer_find(&(struct answer_request){.model = c->model,
                                       .settings = c->settings,
                                       .memory = &c->memory},
              &s.step);
  s.prediction = find_prediction(c, s.a);
  return s;
}

static struct slice take_line(struct summary *s) {
  struct slice line = text_slice(&s->line);
  s->line = text_new(s->c->arena);
  return line;
}

static void put_total(struct summary *s) {
  const struct model *model = s->c->model;
  text_put(&s->line, count_text(model->total.params).text);
  text_rounded(&s->line, model->total.params, "BTQ");
  if (model->total.active < model->total.params)
    text_printf(&s->line, ", %s active", count_text(model->total.active).text);
  if (s->c->expansion->adapters.rank)
    text_printf(&s->line, "; %s trained: LoRA of rank %" PRId64 " on %s%s",
                count_text(model->total.trainable).text,
                s->c->expansion->adapters.rank,
                s->c->expansion->adapters.all ? "all dense matrices"
                                              : "attention's four matrices",
                s->c->expansion->adapters_own
                    ? " where the source gives no rank of its own"
                    : "");
  text_printf(&s->line, "; %s MACs", count_text(model->total.macs).text);
  text_rounded(&s->line, model->total.macs, "GTP");
  text_printf(&s->line, " per %s", sample_word(s->c));
}

/* Bytes of inference are those of the plan unless inference was asked for. */
static int64_t bytes_of(const struct summary *s, bool predict) {
  const struct answer *a = s->prediction;
  if (!predict)
    return s->step.bytes;
  return a && a->bytes < INT64_MAX
             ? a->bytes
             : answer_planned_bytes(&s->c->memory.inference);
}

/* "; 1,000,000,000 tokens: 12.3 hours, 246.00 of money" */
static void put_cost(struct summary *s, const struct time_cost *cost) {
  const struct train_settings *train = &s->c->settings->train;
  bool tokens = train->tokens > 0;
  if (cost->hours <= 0)
    return;
  text_printf(&s->line, "; %s %s: ",
              count_text(tokens ? train->tokens : train->samples).text,
              tokens ? "tokens" : "samples");
  text_hours(&s->line, cost->hours);
  if (cost->money > 0) {
    text_put(&s->line, ", cost ");
    text_money(&s->line, cost->money);
  }
}

/* The time of a step, if the device's speed is known. */
static bool put_time(struct summary *s, struct summary_line *line) {
  const struct compiled *c = s->c;
  struct step_time time;
  if (!memory_time(c->model, c->settings, &c->memory, &time))
    return false;
  line->what = "step";
  text_seconds(&s->line, time.missing ? time.bound.step : time.predicted);
  line->size = take_line(s);
  if (time.missing) {
    text_printf(&s->line, "at least, not predicted: %s", time.missing);
  } else {
    text_put(&s->line, "predicted; at least ");
    text_seconds(&s->line, time.bound.step);
    text_put(&s->line, ", MFU ");
    text_fixed(&s->line, 100 * time.mfu, 1);
    text_put(&s->line, " %");
    put_cost(s, &time.cost);
  }
  line->more = take_line(s);
  return true;
}

/* The line that answers the question comes first. */
int summary_lines(const struct compiled *c,
                  struct summary_line lines[SUMMARY_LINES]) {
  struct summary s = summary_open(c, NULL);
  bool predict = c->options->predict;
  int count = 0;
  for (int i = 0; i < 2; i++, predict = !predict) {
    struct summary_line *line = &lines[count];
    int64_t bytes = bytes_of(&s, predict);
    if (bytes == INT64_MAX)
      continue;
    line->what = predict ? "prediction" : "training";
    text_put(&s.line, output_size(c, bytes).text);
    line->size = take_line(&s);
    if (predict)
      put_prediction(&s);
    else
      put_training(&s);
    line->more = take_line(&s);
    count++;
    if (!predict && !c->options->predict)
      count += put_time(&s, &lines[count]);
  }
  lines[count].what = "parameters";
  text_put(&s.line, output_size(c, c->memory.inference.parameters).text);
  lines[count].size = take_line(&s);
  put_total(&s);
  lines[count++].more = take_line(&s);
  return count;
}

static void put_sizes(struct summary *s) {
  struct grid_column columns[] = {
      {.align = ALIGN_LEFT, .before = ""},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "  ", .least = 30},
  };
  struct grid grid = grid_new(s->c->arena, columns, 3);
  struct summary_line lines[SUMMARY_LINES];
  int count = summary_lines(s->c, lines);
  for (int i = 0; i < count; i++) {
    grid_text(&grid, lines[i].what);
    text_puts(&grid.pool, lines[i].size);
    grid_cell(&grid);
    text_puts(&grid.pool, lines[i].more);
    grid_cell(&grid);
  }
  grid_put(s->out, &grid, output_width(s->c));
}

enum fit_verdict summary_put_verdict(const struct compiled *c,
                                     struct text *out) {
  struct summary s = summary_open(c, NULL);
  enum fit_verdict verdict = put_verdict(&s);
  text_puts(out, text_slice(&s.line));
  return verdict;
}

static const char *verdict_colour(const struct compiled *c,
                                  enum fit_verdict verdict) {
  if (!c->options->colour || verdict == VERDICT_NONE)
    return NULL;
  return verdict == VERDICT_FITS    ? "\x1b[1;32m"
         : verdict == VERDICT_TIGHT ? "\x1b[1;33m"
                                    : "\x1b[1;31m";
}

/* Ends the verdict with a line whose text up to the colon has its colour. */
static void end_verdict(struct summary *s, enum fit_verdict verdict) {
  const char *colour = verdict_colour(s->c, verdict);
  struct text lines = text_new(s->c->arena), *out = s->out;
  s->out = colour ? &lines : out;
  end_line(s);
  s->out = out;
  struct slice all = text_slice(&lines), said = all;
  for (said.length = 0; said.length < all.length; said.length++)
    if (all.at[said.length] == ':')
      break;
  if (!colour)
    return;
  text_put(out, colour);
  text_puts(out, said);
  text_put(out, "\x1b[0m");
  text_puts(out, slice_from(all, said.length));
}

void summary_put(const struct compiled *c, struct text *out) {
  struct summary s = summary_open(c, out);
  enum fit_verdict verdict = put_verdict(&s);
  if (verdict != VERDICT_NONE)
    end_verdict(&s, verdict);
  if (verdict > VERDICT_FITS && !c->options->predict)
    put_ways(&s);
  if (verdict == VERDICT_NONE || !c->options->brief)
    put_sizes(&s);
}

/* "; 14.67 GiB left", "; 7.81 GiB too much". */
static void put_rest(struct summary *s) {
  const struct answer *a = s->a;
  int64_t rest = a->device.room - a->bytes;
  text_put(&s->line, output_size(s->c, a->bytes).text);
  text_putc(&s->line, a->devices > 1 ? ' ' : ',');
  put_devices(s, a);
  text_printf(&s->line, "%s %s %s", a->devices > 1 ? "," : "",
              output_size(s->c, rest < 0 ? -rest : rest).text,
              a->verdict == VERDICT_TIGHT ? "in the reserve"
              : rest >= 0                 ? "left"
                                          : "too much");
  put_host(s);
  put_limits(s);
}

/* "training 115.24 MiB, prediction 18.05 MiB, parameters 17.67 MiB" */
static void put_totals(struct summary *s) {
  struct summary_line lines[SUMMARY_LINES];
  int count = summary_lines(s->c, lines);
  for (int i = 0; i < count; i++)
    text_printf(&s->line, "%s%s %.*s", i ? ", " : "", lines[i].what,
                SLICE_ARG(lines[i].size));
}

void summary_put_last(const struct compiled *c, struct text *out) {
  struct summary s = summary_open(c, out);
  enum fit_verdict verdict = VERDICT_NONE;
  if (s.a)
    verdict = s.a->verdict;
  if (verdict == VERDICT_NONE) {
    put_totals(&s);
  } else {
    put_subject(&s);
    if (s.a->bytes == INT64_MAX)
      put_refusal(&s);
    else
      put_rest(&s);
  }
  end_verdict(&s, verdict);
}
