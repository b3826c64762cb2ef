/* Report: the section on serving, and the answer to a question about it. */
#include <inttypes.h>

#include "codegen/asked.h"
#include "codegen/cards.h"
#include "codegen/grid.h"
#include "codegen/serving/report.h"
#include "sema/model/weights.h"

bool serving_report_find(struct serving_report *r) {
  const struct serving_answer *found = asked_served(r->c);
  r->line = text_new(r->c->arena);
  if (found)
    r->a = *found;
  return found != NULL;
}

static void end_line(struct serving_report *r) {
  text_wrap(r->out, text_slice(&r->line), 2, output_width(r->c));
  r->line.length = 0;
}

static void put_sequences(struct serving_report *r, int64_t count) {
  text_count(&r->line, count);
  text_put(&r->line, count == 1 ? " sequence of " : " sequences of ");
}

/* Once windows are full, a longer context needs no more memory. */
static void put_context(struct text *out, const struct served *found) {
  if (found->context >= LONGEST_CONTEXT)
    text_put(out, "any");
  else if (found->context > 0)
    text_count(out, found->context);
  else
    text_putc(out, '-');
}

/* The section */

void serving_put_types(struct text *out, const struct infer_settings *infer) {
  const char *keys = cache_word(cache_type(infer));
  if (cache_type(infer) == cache_type_v(infer))
    text_printf(out, "KV cache in %s", keys);
  else
    text_printf(out, "keys in %s and values in %s", keys,
                cache_word(cache_type_v(infer)));
}

static void put_title(struct serving_report *r) {
  const struct infer_settings *infer = &r->c->settings->infer;
  text_put(&r->line, "Serving (");
  put_sequences(r, r->a.sequences);
  text_count(&r->line, r->a.context);
  text_put(&r->line, " tokens, ");
  serving_put_types(&r->line, infer);
  if (serving_page(infer) > 1)
    text_printf(&r->line, " and blocks of %" PRId64, serving_page(infer));
  if (r->a.devices > 1)
    text_printf(&r->line, ", on each of %" PRId64 " devices", r->a.devices);
  text_putc(&r->line, ')');
  end_line(r);
}

static void put_row(struct serving_report *r, struct grid *grid,
                    const char *what, int64_t bytes) {
  grid_text(grid, what);
  grid_bytes(grid, output_units(r->c), bytes);
}

/* Bytes that each device sends and receives in a step. */
static void put_traffic(struct serving_report *r, struct grid *grid,
                        const char *step,
                        const struct served_traffic *traffic) {
  put_row(r, grid, step, traffic->sent);
  text_put(&grid->pool, "and received, including logits ");
  text_size(&grid->pool, traffic->all_gather, output_units(r->c), 2);
  grid_cell(grid);
}

static void put_steps(struct serving_report *r, struct grid *grid,
                      const struct served_part *part) {
  const struct infer_settings *infer = &r->c->settings->infer;
  if (part->compute) {
    put_row(r, grid, "compute buffer", part->compute);
    text_printf(&grid->pool,
                "as llama.cpp prints it: %" PRId64 " tokens, flash "
                "attention %s",
                infer->ubatch, serving_is_fused(infer) ? "on" : "off");
    grid_cell(grid);
    return;
  }
  put_row(r, grid, "prefill", part->prefill);
  if (infer->prefill)
    text_printf(&grid->pool, "at most %" PRId64 " tokens in a step",
                infer->prefill);
  else
    text_put(&grid->pool, "the whole prompt in one step");
  text_put(&grid->pool, part->source ? ", and its source" : "");
  grid_cell(grid);
  put_row(r, grid, "decode", part->decode);
  text_put(&grid->pool, "one token of each sequence");
  grid_cell(grid);
  if (part->sampler) {
    put_row(r, grid, "sampling", part->sampler);
    text_put(&grid->pool, "with the logits of each sequence");
    grid_cell(grid);
  }
}

/* Weights, KV cache and steps on one device or host, with their sum. */
static void put_part(struct serving_report *r, struct grid *grid,
                     const struct served_part *part) {
  put_row(r, grid, "weights", part->weights);
  grid_cell(grid);
  int64_t states = size_product(part->state, r->a.sequences);
  if (states) {
    put_row(r, grid, "states", states);
    text_printf(&grid->pool, "%s a sequence",
                output_size(r->c, part->state).text);
    grid_cell(grid);
  }
  if (!states || part->cache > states)
    put_row(r, grid, "KV cache", part->cache - states);
  if (!states || part->cache > states)
    text_printf(&grid->pool, "%s a sequence",
                output_size(r->c, part->sequence - part->state).text);
  if (part->source) {
    text_printf(&grid->pool, ", including %s of its source",
                output_size(r->c, part->source).text);
  }
  grid_cell(grid);
  put_steps(r, grid, part);
  put_row(r, grid, "total", part->need);
  text_put(&grid->pool, part->compute   ? "with it"
                        : part->sampler ? "with the largest of these"
                                        : "with the larger step");
  grid_cell(grid);
}

/* The memory of one place; `sent`: with the traffic. */
static void put_place(struct serving_report *r, const struct served_part *part,
                      bool sent) {
  struct grid_column columns[] = {
      {.align = ALIGN_LEFT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "   ", .least = 12},
  };
  struct grid grid = grid_new(r->c->arena, columns, 4);
  put_part(r, &grid, part);
  if (sent) {
    put_traffic(r, &grid, "sent in prefill", &r->a.prefill_traffic);
    put_traffic(r, &grid, "sent in decode", &r->a.decode_traffic);
  }
  grid_put(r->out, &grid, output_width(r->c));
}

/* The layers on the card: the last ones, and the output if all are there. */
static void put_card_layers(struct serving_report *r) {
  const struct serving_answer *a = &r->a;
  int64_t turns = a->blocks - 1, rest = turns - a->on_card;
  text_printf(&r->line, "On the card%s, %" PRId64 " of %" PRId64 ": ",
              a->cards > 1 ? "s" : "", a->on_card, a->blocks);
  if (a->on_card == 0)
    text_put(&r->line, "none");
  else
    cards_put_range(&r->line, rest > 0 ? rest + 1 : 1, turns,
                    a->on_card > turns);
  end_line(r);
}

/* Each of several cards has a table of its own. */
static void put_cards(struct serving_report *r) {
  const struct serving_answer *a = &r->a;
  for (int i = 0; i < a->cards; i++) {
    text_put(&r->line, "On ");
    cards_put_one(&r->line, a, i);
    text_put(&r->line, ": ");
    cards_put_range(&r->line, a->by_card[i].first, a->by_card[i].last,
                    a->by_card[i].output);
    end_line(r);
    put_place(r, &a->by_card[i].part, a->devices > 1 && i == a->tightest);
  }
}

static void put_host_layers(struct serving_report *r) {
  const struct serving_answer *a = &r->a;
  int64_t rest = a->blocks - 1 - a->on_card;
  int64_t experts = r->c->settings->infer.host_experts;
  text_put(&r->line, "In host memory: the token table");
  if (r->c->model->predicted_sources > 1)
    text_put(&r->line, ", the encoder");
  if (rest > 0) {
    text_put(&r->line, ", ");
    cards_put_range(&r->line, 1, rest, false);
  }
  if (rest >= 0)
    text_put(&r->line, ", the output");
  if (experts == EXPERTS_ALL || experts > a->blocks - 1)
    text_put(&r->line, ", all experts");
  else if (experts) {
    text_put(&r->line, ", the experts of ");
    cards_put_range(&r->line, 1, experts, false);
  }
  if (a->copied)
    text_printf(&r->line, "; %s are on both",
                output_size(r->c, a->copied).text);
  end_line(r);
}

static void put_parts(struct serving_report *r) {
  const struct serving_answer *a = &r->a;
  if (!a->blocks) {
    put_place(r, &a->card, a->devices > 1);
    return;
  }
  if (!a->staged)
    put_card_layers(r);
  if (a->cards > 1)
    put_cards(r);
  else
    put_place(r, &a->card, false);
  if (a->staged)
    return;
  put_host_layers(r);
  put_place(r, &a->host, false);
}

static void put_number(struct grid *grid, int64_t value) {
  if (value > 0)
    text_count(&grid->pool, value);
  else
    text_putc(&grid->pool, '-');
  grid_cell(grid);
}

static void put_heads(struct grid *grid) {
  static const char *const heads[] = {"context", "a sequence", "max. sequences",
                                      "sequences", "longest context"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    grid_text(grid, heads[i]);
}

/* Feasible pairs: the maximum of sequences, and the longest context. */
static void put_table(struct serving_report *r) {
  struct grid_column columns[] = {
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "     "},
      {.align = ALIGN_RIGHT, .before = "  "},
  };
  struct grid grid = grid_new(r->c->arena, columns, 5);
  put_heads(&grid);
  for (int i = 0; i < r->a.count; i++) {
    put_number(&grid, r->a.by_context[i].context);
    text_size(&grid.pool, r->a.by_context[i].cache, output_units(r->c), 2);
    grid_cell(&grid);
    put_number(&grid, r->a.by_context[i].sequences);
    put_number(&grid, r->a.by_sequences[i].sequences);
    put_context(&grid.pool, &r->a.by_sequences[i]);
    grid_cell(&grid);
  }
  grid_put(r->out, &grid, output_width(r->c));
}

/* With a type of llama.cpp's files, suggests llama.cpp's step as well. */
static void put_whose_step(struct serving_report *r) {
  const struct infer_settings *infer = &r->c->settings->infer;
  if (infer->step || !infer->weight_dtype ||
      weights_type(infer->weight_dtype)->scope != SCOPE_FILE)
    return;
  text_put(&r->line,
           "  the step is the profile's; for llama.cpp's use `--runtime "
           "llama.cpp`");
  end_line(r);
}

/* The lines at the end of vLLM's log. */
static void put_concurrency(struct serving_report *r) {
  int64_t rest = r->a.concurrency % 100;
  if (r->a.positions < 0)
    return;
  text_put(&r->line, "  KV cache for ");
  text_count(&r->line, r->a.positions);
  text_put(&r->line, " tokens in total; maximum concurrency for ");
  text_count(&r->line, r->a.context);
  text_put(&r->line, " tokens: ");
  text_count(&r->line, r->a.concurrency / 100);
  text_printf(&r->line, ".%d%d", (int)(rest / 10), (int)(rest % 10));
  end_line(r);
}

static void put_report(const struct compiled *c, struct text *out) {
  struct serving_report r = {.c = c, .out = out};
  if (!serving_report_find(&r))
    return;
  text_putc(out, '\n');
  put_title(&r);
  put_parts(&r);
  put_whose_step(&r);
  if (c->options->explain)
    serving_explain(&r);
  if (!r.a.device.bytes)
    return;
  if (r.a.device.taken >= r.a.device.bytes) {
    text_put(out, "  the runtime itself takes all memory of the device\n");
    return;
  }
  text_printf(&r.line, "  of %s on %s: longest context ",
              output_size(r.c, r.a.device.room).text,
              r.a.devices > 1 ? "each device"
              : r.a.cards > 1 ? "the tightest card"
                              : "the device");
  put_context(&r.line, &(struct served){.context = r.a.longest});
  text_printf(&r.line, ", at most %s sequences", count_text(r.a.most).text);
  end_line(&r);
  put_concurrency(&r);
  if (r.a.count)
    put_table(&r);
}

const struct report_section serving_section = {put_report, serving_put_json,
                                               NULL};
