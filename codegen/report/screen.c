/* Screen: the default report, at most 24 lines that answer the question. */
#include "codegen/report/screen.h"

#include <inttypes.h>

#include "base/check.h"
#include "codegen/asked.h"
#include "codegen/cards.h"
#include "codegen/grid.h"
#include "codegen/report/board.h"
#include "codegen/report/question.h"
#include "codegen/report/time_line.h"
#include "codegen/rows.h"
#include "memory/answer/files.h"
#include "sema/model/optimizer.h"
#include "sema/model/recipe.h"

struct screen {
  const struct compiled *c;
  const struct answer *a; /* NULL: a size passes 2^63 - 1 */
  bool predict;
  struct screen_page *page;
  struct text line; /* text of the current row */
};

static enum text_units units_of(const struct screen *s) {
  return output_units(s->c);
}

/* Rows */

static struct slice take(struct screen *s) {
  struct slice line = text_slice(&s->line);
  s->line = text_new(s->c->arena);
  return line;
}

static struct screen_row *add_row(struct screen *s, const char *label) {
  struct screen_row *row = &s->page->rows[s->page->count++];
  *row = (struct screen_row){.label = label};
  return row;
}

/* Ends the row that `line` was for. */
static struct screen_row *end_row(struct screen *s, const char *label) {
  struct screen_row *row = add_row(s, label);
  row->text = take(s);
  return row;
}

static void put_size(struct screen *s, int64_t bytes) {
  text_short_size(&s->line, bytes, units_of(s));
}

/* Parts of a total */

struct need_part {
  const char *name;
  int64_t bytes;
};

struct parts {
  struct need_part at[SCREEN_PARTS - 1];
  size_t count;
  int64_t total;
  int64_t unit; /* sizes are in the unit of this one */
};

static void add_part(struct parts *parts, const char *name, int64_t bytes) {
  if (bytes > 0)
    parts->at[parts->count++] = (struct need_part){name, bytes};
}

/* Largest first. Equal ones stay in order: qsort() differs between systems. */
static void sort_parts(struct parts *parts) {
  for (size_t i = 1; i < parts->count; i++)
    for (size_t k = i; k && parts->at[k - 1].bytes < parts->at[k].bytes; k--) {
      struct need_part less = parts->at[k - 1];
      parts->at[k - 1] = parts->at[k];
      parts->at[k] = less;
    }
}

/* Adds the other nets of the process. */
static void add_beside(const struct screen *s, struct parts *parts) {
  if (!s->c->memory.beside.count)
    return;
  add_part(parts, "other nets", s->a->bytes - parts->total);
  parts->total = s->a->bytes;
}

static void put_part(struct screen *s, const struct parts *parts,
                     const char *name, int64_t bytes) {
  struct screen_page *page = s->page;
  struct text size = text_new(s->c->arena);
  text_size_in(&size, bytes, parts->unit, units_of(s));
  text_printf(&s->line, "%s%s ", page->part_count ? ", " : "", name);
  text_puts(&s->line, text_slice(&size));
  page->parts[page->part_count++] =
      (struct screen_part){name, bytes, text_slice(&size)};
}

/* Largest first; parts below half a percent are one, with what rounding and
 * small tensors take. */
static void put_parts(struct screen *s, struct parts *parts) {
  int64_t rest = parts->total;
  int64_t least = max_i64(parts->total / 200,
                          text_unit_bytes(parts->unit, units_of(s)) / 200);
  sort_parts(parts);
  for (size_t i = 0; i < parts->count; i++) {
    if (parts->at[i].bytes < least)
      continue;
    put_part(s, parts, parts->at[i].name, parts->at[i].bytes);
    rest -= parts->at[i].bytes;
  }
  if (rest >= least)
    put_part(s, parts, "other", rest);
}

/* One device: what is in memory at the peak, which a stage does not know. */
static void take_moment(struct stage *m, const struct training *t) {
  m->activations = t->at.parts[PART_SAVED];
  m->gradients = t->at.parts[PART_GRADIENTS];
  m->temporary = t->at.parts[PART_TEMPORARY];
  m->steps = t->at.phase == PHASE_STEP;
}

static struct parts training_parts(const struct screen *s) {
  struct stage m = memory_device(&s->c->memory);
  struct parts parts = {.total = m.peak};
  if (!s->c->memory.parallel.stages.count)
    take_moment(&m, &s->c->memory.training);
  bool there = !m.paged || m.steps;
  add_part(&parts, "activations", m.activations);
  add_part(&parts, "weights", m.parameters);
  add_part(&parts, "gradients", m.gradients);
  add_part(&parts, "optimizer", there ? m.optimizer : 0);
  add_part(&parts, "32-bit weights", there ? m.master : 0);
  add_part(&parts, "averaged weights", m.averaged);
  add_part(&parts, "gathered", m.gathered);
  add_part(&parts, "buckets", m.buckets);
  add_part(&parts, "kept for weights", m.deferred);
  add_part(&parts, "temporaries", m.temporary);
  return parts;
}

static struct parts serving_parts_of(const struct screen *s) {
  const struct served_part *card = &s->a->served->card;
  struct parts parts = {.total = card->need};
  int64_t step = card->need - card->weights - card->cache;
  add_part(&parts, "weights", card->weights);
  int64_t states = size_product(card->state, s->a->served->sequences);
  add_part(&parts, "KV cache", card->cache - states);
  add_part(&parts, "states", states);
  add_part(&parts,
           card->compute           ? "compute"
           : step == card->sampler ? "sampler"
                                   : "activations",
           step);
  return parts;
}

static struct parts inference_parts(const struct screen *s) {
  const struct inference *f = &s->c->memory.inference;
  struct parts parts = {.count = 0};
  if (s->a->asked == ASKED_SERVING && s->a->served)
    return serving_parts_of(s);
  bool planned = s->c->settings->infer.runtime == RUNTIME_NETRT;
  add_part(&parts, "weights",
           planned ? f->weights : size_sum(f->parameters, f->buffers));
  add_part(&parts, planned ? "arena" : "activations",
           planned ? f->plan.height : f->framework);
  add_part(&parts, "KV cache", f->cache);
  parts.total = 0; /* of this net alone */
  for (size_t i = 0; i < parts.count; i++)
    parts.total = size_sum(parts.total, parts.at[i].bytes);
  return parts;
}

static void put_devices(struct screen *s) {
  const struct serving_answer *served = s->predict ? s->a->served : NULL;
  if (served && served->cards > 1 && !served->staged)
    text_printf(&s->line, " on the tightest of %d cards", served->cards);
  else if (s->a->devices > 1)
    text_printf(&s->line, " on %s of %" PRId64 " devices",
                s->a->uneven ? "the most loaded" : "each", s->a->devices);
}

/* "21.0 of 12.4 GiB", and its parts. */
static void put_needs(struct screen *s) {
  const struct answer *a = s->a;
  struct parts parts = s->predict ? inference_parts(s) : training_parts(s);
  struct screen_row *row = add_row(s, "needs");
  parts.unit = a->bytes;
  add_beside(s, &parts);
  if (a->device.bytes && a->device.room <= 1) {
    put_size(s, a->bytes);
    text_put(&s->line, ", but none is available");
  } else if (a->device.bytes) {
    int64_t unit = max_i64(a->device.room, a->bytes);
    if (min_i64(a->device.room, a->bytes) < unit / 100) {
      put_size(s, a->bytes);
    } else {
      text_size_in(&s->line, a->bytes, unit, units_of(s));
      parts.unit = unit;
    }
    text_put(&s->line, " of ");
    text_size_in(&s->line, a->device.room, unit, units_of(s));
    text_printf(&s->line, " %s", text_unit(unit, units_of(s)));
    row->bytes = a->bytes;
    row->available = a->device.room;
  } else {
    put_size(s, a->bytes);
  }
  put_devices(s);
  row->lead = take(s);
  put_parts(s, &parts);
  row->text = take(s);
}

static void put_beside(struct screen *s) {
  enum { SHOWN = 4 };
  const struct beside_nets *beside = &s->c->memory.beside;
  for (size_t i = 0; i < beside->count && i < SHOWN; i++) {
    const struct beside_net *net = &beside->at[i];
    const struct beside_pass *pass = beside_pass_of(net, s->predict);
    text_printf(&s->line, "%s, ", net->name);
    text_short_count(&s->line, net->params, 'B');
    text_printf(&s->line, " parameters, %sbatch %s: ",
                s->predict    ? ""
                : net->frozen ? "frozen, "
                              : "trained, ",
                count_text(pass->batch).text);
    put_size(s, pass->peak);
    text_put(&s->line, " alone");
    if (i + 1 == SHOWN && beside->count > SHOWN)
      text_printf(&s->line, "; %zu more nets", beside->count - SHOWN);
    end_row(s, i ? "" : "beside");
  }
}

static bool reads_tokens(const struct model *model) {
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    if (node->kind == &model_input_kind && node->out->dtype != DTYPE_FLOAT &&
        node->out->rank == 1)
      return true;
  }
  return false;
}

/* The recipe's batches are padded to their longest sample. */
static void put_varying(struct screen *s) {
  if (s->predict || !recipe_at(s->c->settings->train.like).varies ||
      !reads_tokens(s->c->model))
    return;
  text_put(&s->line, "each batch is padded to its longest sample; `--vary "
                     "A..B` has the range of peaks");
  end_row(s, "lengths");
}

/* Lengths that differ, and how much allocators held for such steps. */
static void put_lengths(struct screen *s) {
  const struct lengths_peaks *lengths = &s->c->memory.lengths;
  int64_t peak = memory_device(&s->c->memory).peak;
  if (!lengths->of.longest)
    put_varying(s);
  if (!lengths->of.longest || s->predict || !lengths->mean_peak)
    return;
  put_size(s, lengths->shortest_peak);
  text_printf(&s->line, " at %s tokens, ",
              count_text(lengths->of.shortest).text);
  put_size(s, lengths->mean_peak);
  text_printf(&s->line, " at %s, ", count_text(lengths->of.mean).text);
  put_size(s, peak);
  text_printf(&s->line,
              " at %s; in %d published runs whose lengths vary, "
              "allocators held up to ",
              count_text(lengths->of.longest).text, LENGTHS_RUNS);
  text_fixed(&s->line, LENGTHS_HELD_MOST / 100.0, 1);
  text_put(&s->line, " times the longest (median ");
  text_fixed(&s->line, LENGTHS_HELD / 100.0, 1);
  text_put(&s->line, ")");
  end_row(s, "lengths");
}

/* The device, less what is not available, if the net does not fit easily. */
static void put_available(struct screen *s) {
  const struct answer *a = s->a;
  int64_t card = a->card ? gpu_card_bytes(a->card) : a->device.bytes;
  int64_t unit = card;
  if (a->verdict == VERDICT_FITS || a->device.room == card)
    return;
  const struct need_part less[] = {
      {"driver", card - a->device.bytes},
      {runtime_name(s->predict ? s->c->settings->infer.runtime
                               : RUNTIME_PYTORCH),
       a->device.taken},
      {s->predict && s->c->settings->infer.utilization ? "used by others"
                                                       : "reserve",
       a->device.reserve}};
  text_size_in(&s->line, card, unit, units_of(s));
  text_put(&s->line, a->card ? " card" : " device");
  for (size_t i = 0; i < sizeof less / sizeof *less; i++) {
    if (less[i].bytes <= 0)
      continue;
    text_put(&s->line, " - ");
    text_size_in(&s->line, less[i].bytes, unit, units_of(s));
    text_printf(&s->line, " %s", less[i].name);
  }
  end_row(s, "available");
}

/* Each of the cards that have layers of their own. */
static void put_cards(struct screen *s) {
  const struct serving_answer *served = s->a->served;
  if (!served || served->cards < 2)
    return;
  for (int i = 0; i < served->cards; i++) {
    const struct served_card *card = &served->by_card[i];
    cards_put_one(&s->line, served, i);
    text_put(&s->line, ": ");
    put_size(s, card->part.need);
    if (card->device.bytes) {
      text_put(&s->line, " of ");
      put_size(s, card->device.room);
    }
    text_put(&s->line, ", ");
    cards_put_range(&s->line, card->first, card->last, card->output);
    end_row(s, i ? "" : served->staged ? "stages" : "cards");
  }
}

/* The host's memory, if a part is there. */
static void put_host(struct screen *s) {
  const struct answer *a = s->a;
  const struct serving_answer *served = a->served;
  if (!a->host)
    return;
  put_size(s, a->host);
  if (a->host_room) {
    text_put(&s->line, " of ");
    put_size(s, a->host_room);
  }
  if (served && served->blocks && served->on_card < served->blocks)
    text_printf(&s->line,
                "   %" PRId64 " of %" PRId64 " layers are on the card%s",
                served->on_card, served->blocks, served->cards > 1 ? "s" : "");
  else if (served && served->blocks)
    text_put(&s->line, s->c->settings->infer.host_experts
                           ? "   token table and experts"
                           : "   token table");
  end_row(s, "host");
}

/* Training: what would fit */

static void put_work(struct screen *s, const struct way_out *way) {
  int64_t macs = s->c->model->total.macs;
  if (!way->extra_macs || !macs)
    return;
  text_put(&s->line, ", ");
  text_fixed(&s->line, 100.0 * (double)way->extra_macs / (double)macs, 0);
  text_put(&s->line, " % more work in forward");
}

static void put_ways(struct screen *s) {
  const struct fit *fit = &s->c->memory.fit;
  const char *label =
      s->a->verdict == VERDICT_TIGHT ? "safer with" : "fits with";
  size_t most = s->c->options->details ? SCREEN_MOST_WAYS : SCREEN_WAYS;
  for (size_t i = 0; i < fit->ways.count && i < most; i++) {
    struct screen_row *row = add_row(s, i ? "" : label);
    row->lead = slice_of(fit->ways.at[i].options);
    row->option = true;
    put_size(s, fit->ways.at[i].peak);
    put_work(s, &fit->ways.at[i]);
    row->text = take(s);
  }
  if (fit->ways.count || s->a->verdict == VERDICT_TIGHT)
    return;
  text_put(&s->line, s->a->devices > 1
                         ? "no known setting"
                         : "no known setting on one device; `netc place` tries "
                           "several devices");
  end_row(s, "fits with");
}

/* Largest batches on common devices. */
static void put_largest(struct screen *s) {
  static const int64_t devices[] = {(int64_t)24 << 30, (int64_t)80 << 30};
  int64_t batches[2];
  if (!memory_largest_batches(&s->c->memory, 2, devices, batches))
    return;
  if (!batches[0] && !batches[1]) {
    text_put(&s->line, "neither 24 nor 80 GiB");
  } else {
    text_put(&s->line, "largest batch ");
    for (int i = 0; i < 2; i++) {
      text_put(&s->line, i ? ", " : "");
      if (batches[i])
        text_count(&s->line, batches[i]);
      else
        text_put(&s->line, "none");
      text_printf(&s->line, " on %d GiB", i ? 80 : 24);
    }
  }
  end_row(s, "fits");
}

static void put_training_limits(struct screen *s) {
  const struct answer *a = s->a;
  if (s->c->memory.beside.count)
    return;
  if (!a->device.bytes) {
    put_largest(s);
    return;
  }
  if (a->verdict != VERDICT_FITS) {
    put_ways(s);
    return;
  }
  if (a->largest_batch < 0)
    return;
  text_printf(&s->line, "up to %s", count_text(a->largest_batch).text);
  end_row(s, "batch");
}

/* The time and cost of a step, if the device's speed is known. */
static void put_time(struct screen *s) {
  const struct compiled *c = s->c;
  const struct train_settings *train = &c->settings->train;
  struct step_time time;
  if (!memory_time(c->model, c->settings, &c->memory, &time))
    return;
  text_seconds(&s->line, time.missing ? time.bound.step : time.predicted);
  if (time.missing) {
    text_printf(&s->line, " a step (lower bound: %s)", time.missing);
  } else {
    text_printf(&s->line, " a step%s (at least ",
                c->memory.beside.count ? " of this net" : "");
    text_seconds(&s->line, time.bound.step);
    text_put(&s->line, "), MFU ");
    text_fixed(&s->line, 100 * time.mfu, 1);
    text_put(&s->line, " %");
  }
  if (time.cost.hours > 0) {
    text_printf(
        &s->line, "; %s %s in ",
        count_text(train->tokens > 0 ? train->tokens : train->samples).text,
        train->tokens > 0 ? "tokens" : "samples");
    text_hours(&s->line, time.cost.hours);
  }
  if (time.cost.money > 0) {
    text_put(&s->line, ", cost ");
    text_money(&s->line, time.cost.money);
  }
  end_row(s, "time");
}

/* Inference: what would fit */

static void put_tokens(struct screen *s, int64_t tokens) {
  if (tokens >= LONGEST_CONTEXT)
    text_put(&s->line, "any number of tokens");
  else
    text_printf(&s->line, "%s tokens", count_text(tokens).text);
}

static void put_context(struct screen *s) {
  const struct answer *a = s->a;
  bool tight = a->verdict == VERDICT_TIGHT;
  if (a->longest_context < 0)
    return;
  if (a->longest_context == 0) {
    text_put(&s->line, tight ? "none without the reserve" : "none fits");
    end_row(s, "context");
    return;
  }
  put_tokens(s, a->longest_context);
  if (a->sequences > 1)
    text_printf(&s->line, " for %s sequences", count_text(a->sequences).text);
  else
    text_put(&s->line, " for one sequence");
  if (a->most_sequences > 0)
    text_printf(&s->line, ", or %s sequence%s of %s",
                count_text(a->most_sequences).text,
                a->most_sequences == 1 ? "" : "s", count_text(a->context).text);
  if (tight)
    text_put(&s->line, " without the reserve");
  end_row(s, "context");
}

static void put_inference_limits(struct screen *s) {
  const struct answer *a = s->a;
  if (!a->device.bytes)
    return;
  if (a->largest_batch >= 0) {
    if (a->largest_batch)
      text_printf(&s->line, "up to %s", count_text(a->largest_batch).text);
    else
      text_put(&s->line, "not even one sample fits");
    end_row(s, "batch");
  }
  put_context(s);
}

/* Both */

/* Inference in the same framework, beside an answer about training. */
static void put_inference(struct screen *s) {
  const struct compiled *c = s->c;
  struct settings settings = *c->settings;
  struct memory memory = c->memory;
  struct answer a;
  settings.train.gpu = 0;
  settings.train.memory = 0;
  memory.beside.count = 0;
  struct answer_request request = {.model = c->model,
                                   .settings = &settings,
                                   .memory = &memory,
                                   .predict = true,
                                   .arena = c->arena};
  if (!answer_find(&request, &a) || a.bytes == INT64_MAX)
    return;
  put_size(s, a.bytes);
  if (a.asked == ASKED_SERVING)
    text_printf(&s->line, " for %s sequence%s of %s tokens",
                count_text(a.sequences).text, a.sequences == 1 ? "" : "s",
                count_text(a.context).text);
  else
    text_printf(&s->line, " at batch %s",
                count_text(settings.infer.batch).text);
  text_put(&s->line, "; ");
  text_short_count(&s->line, c->model->total.macs, 'G');
  text_printf(&s->line, " MACs per %s", sample_word(c));
  end_row(s, "inference");
}

static void put_macs(struct screen *s) {
  text_short_count(&s->line, s->c->model->total.macs, 'G');
  text_printf(&s->line, " MACs per %s", sample_word(s->c));
  end_row(s, "work");
}

static void put_files(struct screen *s) {
  const struct compiled *c = s->c;
  struct model_files files =
      files_find(c->model, c->settings, &c->memory, s->predict);
  if (files.weights == INT64_MAX)
    return;
  text_put(&s->line, "weights ");
  put_size(s, files.weights);
  if (!s->predict && files.checkpoint < INT64_MAX) {
    text_printf(&s->line, ", training checkpoint %s",
                short_size(files.checkpoint, units_of(s)).text);
    if (c->expansion->adapters.rank)
      text_put(&s->line, " of the adapters");
  }
  end_row(s, "files");
}

/* How often a step as large as this one ran. */
static void put_tight(struct screen *s) {
  const struct profile *profile = profile_at(s->c->settings->train.profile);
  if (s->a->verdict != VERDICT_TIGHT || !profile->tight)
    return;
  text_printf(&s->line,
              "of %d published steps that were tight like this, %d ran",
              profile->tight, profile->tight_ran);
  end_row(s, "tight");
}

/* "hf/qlora; no published run checks it" */
static void put_recipe(struct screen *s) {
  struct recipe recipe = recipe_at(s->c->settings->train.like);
  if (!recipe.word)
    return;
  text_put(&s->line, recipe.word);
  if (recipe.runs)
    text_printf(&s->line, "; of %d published runs, %.2f in the median",
                recipe.runs, recipe.median);
  else
    text_put(&s->line, "; no published run checks it");
  end_row(s, "recipe");
}

/* Why devices cannot share the net; the reason is an error above. */
static void put_refusal(struct screen *s) {
  text_put(&s->line,
           "not computed: the net cannot be divided among the devices");
  end_row(s, "needs");
}

struct screen_page *screen_page(const struct compiled *c) {
  struct screen s = {.c = c,
                     .a = asked_of(c),
                     .predict = c->options->predict,
                     .page = ARENA_NEW(c->arena, struct screen_page),
                     .line = text_new(c->arena)};
  struct screen_page *page = s.page;
  struct report_question question = {c, s.a, s.predict, &s.line};
  question_put_counts(&question);
  page->counts = take(&s);
  question_put(&question);
  page->question = take(&s);
  page->verdict = s.a && s.a->device.bytes ? s.a->verdict : VERDICT_NONE;
  if (!s.a || s.a->bytes == INT64_MAX) {
    put_refusal(&s);
    return page;
  }
  if (s.a->firmware) {
    page->count += board_rows(c, s.a->firmware, &page->rows[page->count]);
    put_macs(&s);
    return page;
  }
  put_needs(&s);
  if (s.a->device.bytes)
    put_available(&s);
  put_beside(&s);
  put_lengths(&s);
  put_cards(&s);
  put_host(&s);
  if (s.predict) {
    put_inference_limits(&s);
    page->count += (size_t)time_lines(c, &page->rows[page->count]);
    put_macs(&s);
  } else {
    put_tight(&s);
    put_training_limits(&s);
    put_time(&s);
    put_recipe(&s);
    put_inference(&s);
  }
  page->count += (size_t)type_line(c, &page->rows[page->count]);
  put_files(&s);
  return page;
}
