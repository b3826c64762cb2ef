/* Report: the section on serving, for people and for programs. */
#include <inttypes.h>

#include "base/check.h"
#include "codegen/grid.h"
#include "codegen/section.h"
#include "serving/serving.h"

struct report {
  const struct compiled *c;
  const struct emit_options *options;
  struct text *out;
  struct text line;
  struct serving_answer a;
};

static bool has_device(const struct report *r) {
  return r->c->settings->train.memory || r->c->settings->train.gpu;
}

/* Asked for by settings, or by --predict of a device for a net that can. */
static bool is_wanted(const struct report *r) {
  return serving_wanted(r->c->settings) ||
         (r->options->predict && has_device(r));
}

/* False: there is nothing to say. Verdict and section need it once. */
static bool find(struct report *r) {
  struct text why = text_new(r->c->arena), help = why;
  r->line = text_new(r->c->arena);
  if (!is_wanted(r) ||
      !serving_possible(r->c->model, r->c->settings, &why, &help))
    return false;
  if (!*r->c->served) {
    struct serving_answer *found =
        ARENA_NEW(r->c->arena, struct serving_answer);
    if (!serving_find(r->c->model, r->c->settings, r->c->arena, true, found))
      return false;
    *r->c->served = found;
  }
  r->a = **r->c->served;
  return true;
}

static void put_size(struct report *r, int64_t bytes) {
  text_size(&r->line, bytes, r->options->units, 2);
}

static void end_line(struct report *r) {
  text_wrap(r->out, text_slice(&r->line), 2, options_width(r->options));
  r->line.length = 0;
}

static void put_sequences(struct report *r, int64_t count) {
  text_count(&r->line, count);
  text_put(&r->line, count == 1 ? " sequence of " : " sequences of ");
}

/* Where windows are full a context takes no more. */
static void put_context(struct text *out, const struct served *found) {
  if (found->context >= LONGEST_CONTEXT)
    text_put(out, "any");
  else if (found->context > 0)
    text_count(out, found->context);
  else
    text_putc(out, '-');
}

/* The verdict */

static void put_room(struct report *r) {
  const struct serving_answer *a = &r->a;
  bool fits = a->need <= a->room;
  put_size(r, a->need);
  if (a->devices > 1)
    text_printf(&r->line, " on each of %" PRId64 " devices", a->devices);
  text_put(&r->line, fits ? ", and " : ", which is ");
  put_size(r, fits ? a->room - a->need : a->need - a->room);
  text_put(&r->line, fits ? " are left of " : " too much for ");
  put_size(r, a->device);
  if (a->taken) {
    text_put(&r->line, ", of which the framework has ");
    put_size(r, a->taken);
  }
  if (a->reserve > 0) {
    text_put(&r->line, a->taken ? " and " : ", of which ");
    put_size(r, a->reserve);
    text_put(&r->line, " are a reserve");
  }
}

/* "3 devices do not divide 32 heads: ...", if so many were asked for. */
static bool put_refusal(const struct compiled *c, struct text *out) {
  struct text why = text_new(c->arena), help = why;
  if (serving_possible(c->model, c->settings, &why, &help))
    return false;
  text_put(out, "The prediction does not fit: ");
  text_puts(out, text_slice(&why));
  text_put(out, "; ");
  text_puts(out, text_slice(&help));
  text_putc(out, '.');
  return true;
}

static void put_answer(struct report *r) {
  bool fits = r->a.need <= r->a.room;
  put_sequences(r, r->a.sequences);
  text_count(&r->line, r->a.context);
  if (r->a.sequences == 1)
    text_put(&r->line,
             fits ? " positions fits: " : " positions does not fit: ");
  else
    text_put(&r->line, fits ? " positions fit: " : " positions do not fit: ");
  put_room(r);
  text_put(&r->line, ". Longest context: ");
  put_context(&r->line, &(struct served){.context = r->a.longest});
  text_put(&r->line, r->a.longest < LONGEST_CONTEXT ? " positions." : ".");
  text_put(&r->line, " Most sequences: ");
  text_count(&r->line, r->a.most);
  text_putc(&r->line, '.');
}

static enum verdict put_verdict(const struct compiled *c,
                                const struct emit_options *options,
                                struct text *out) {
  struct report r = {.c = c, .options = options};
  if (!serving_asked(c->settings) || !options->predict || !has_device(&r))
    return VERDICT_NONE;
  if (put_refusal(c, out))
    return VERDICT_TOO_MUCH;
  if (!find(&r))
    return VERDICT_NONE;
  put_answer(&r);
  text_puts(out, text_slice(&r.line));
  return r.a.need <= r.a.room ? VERDICT_FITS : VERDICT_TOO_MUCH;
}

/* The section */

static void put_title(struct report *r) {
  const struct infer_settings *infer = &r->c->settings->infer;
  text_put(&r->line, "Serving (");
  put_sequences(r, r->a.sequences);
  text_count(&r->line, r->a.context);
  text_printf(&r->line, " positions, keys and values in %s",
              element_word(infer->cache ? infer->cache : infer->dtype));
  if (infer->page > 1)
    text_printf(&r->line, " and blocks of %" PRId64, infer->page);
  if (r->a.devices > 1)
    text_printf(&r->line, ", on each of %" PRId64 " devices", r->a.devices);
  text_putc(&r->line, ')');
  end_line(r);
}

static void put_row(struct report *r, struct grid *grid, const char *what,
                    int64_t bytes) {
  grid_text(grid, what);
  grid_bytes(grid, r->options->units, bytes);
}

/* What each device sends in a step, and receives. */
static void put_traffic(struct report *r, struct grid *grid, const char *step,
                        const struct served_traffic *traffic) {
  put_row(r, grid, step, traffic->sent);
  text_put(&grid->pool, "and received; of it scores ");
  text_size(&grid->pool, traffic->all_gather, r->options->units, 2);
  grid_cell(grid);
}

static void put_parts(struct report *r) {
  const struct serving_answer *a = &r->a;
  const struct infer_settings *infer = &r->c->settings->infer;
  struct grid_column columns[] = {
      {.align = ALIGN_LEFT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_LEFT, .before = "   ", .least = 12},
  };
  struct grid grid = grid_new(r->c->arena, columns, 4);
  put_row(r, &grid, "weights", a->weights);
  grid_cell(&grid);
  put_row(r, &grid,
          !a->state                 ? "keys and values"
          : a->state == a->sequence ? "states"
                                    : "keys, values, states",
          a->cache);
  text_size(&grid.pool, a->sequence, r->options->units, 2);
  text_put(&grid.pool, " a sequence");
  if (a->source) {
    text_put(&grid.pool, ", of it ");
    text_size(&grid.pool, a->source, r->options->units, 2);
    text_put(&grid.pool, " of its source");
  }
  grid_cell(&grid);
  put_row(r, &grid, "step of a prompt", a->prefill);
  if (infer->prefill)
    text_printf(&grid.pool, "at most %" PRId64 " positions at once",
                infer->prefill);
  else
    text_put(&grid.pool, "all of it at once");
  text_put(&grid.pool, a->source ? ", and a source" : "");
  grid_cell(&grid);
  put_row(r, &grid, "step of decoding", a->decode);
  text_put(&grid.pool, "a position of each sequence");
  grid_cell(&grid);
  if (a->sampler) {
    put_row(r, &grid, "drawing of words", a->sampler);
    text_put(&grid.pool, "with the scores of each sequence");
    grid_cell(&grid);
  }
  put_row(r, &grid, "total", a->need);
  text_put(&grid.pool,
           a->sampler ? "with the largest of these" : "with the larger step");
  grid_cell(&grid);
  if (a->devices > 1) {
    put_traffic(r, &grid, "sent for a prompt", &a->prefill_traffic);
    put_traffic(r, &grid, "sent in decoding", &a->decode_traffic);
  }
  grid_fit(&grid, options_width(r->options));
  for (size_t i = 0; i < grid_rows(&grid); i++)
    grid_put_row(r->out, &grid, i);
}

static void put_number(struct grid *grid, int64_t value) {
  if (value > 0)
    text_count(&grid->pool, value);
  else
    text_putc(&grid->pool, '-');
  grid_cell(grid);
}

static void put_heads(struct grid *grid) {
  static const char *const heads[] = {"context", "a sequence", "most sequences",
                                      "sequences", "longest context"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    grid_text(grid, heads[i]);
}

/* What goes together: the most sequences, and the longest context. */
static void put_table(struct report *r) {
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
    text_size(&grid.pool, r->a.by_context[i].cache, r->options->units, 2);
    grid_cell(&grid);
    put_number(&grid, r->a.by_context[i].sequences);
    put_number(&grid, r->a.by_sequences[i].sequences);
    put_context(&grid.pool, &r->a.by_sequences[i]);
    grid_cell(&grid);
  }
  grid_fit(&grid, options_width(r->options));
  for (size_t i = 0; i < grid_rows(&grid); i++)
    grid_put_row(r->out, &grid, i);
}

static const char *explain_mark(const struct report *r) {
  return r->options->ascii ? "|" : "\xE2\x94\x82";
}

static bool same(const struct served_layer *a, const struct served_layer *b) {
  return a->each == b->each && a->always == b->always &&
         a->window == b->window && a->state == b->state &&
         a->source == b->source;
}

/* 32*2048*4096: layers, values of a position, positions. */
static void put_product(struct report *r, const struct serving *s,
                        const struct served_layer *layer, int64_t count) {
  const struct infer_settings *infer = &s->settings->infer;
  int64_t positions = layer->each || layer->source
                          ? serving_positions(s, layer, r->a.context)
                          : 1;
  int64_t values = layer->state    ? layer->state
                   : layer->each   ? layer->each
                   : layer->source ? layer->always / layer->source
                                   : layer->always;
  int kept = infer->cache && !layer->state ? infer->cache : infer->dtype;
  text_printf(r->out, "  %s %s %" PRId64 "*%" PRId64 "*%" PRId64,
              explain_mark(r), layer->state ? "state" : "keys and values",
              count, values, positions);
  text_put(r->out, " = ");
  text_count(r->out, count * values * positions); /* less than the bytes */
  text_printf(r->out, " of %d bits, of %" PRId64 " layer%s", element_bits(kept),
              count, count == 1 ? "" : "s");
  if (layer->window)
    text_printf(r->out, " with a window of %" PRId64, layer->window);
  if (layer->source)
    text_put(r->out, ", of the source");
  text_putc(r->out, '\n');
}

/* What weights are to the net, and their bytes on a device. */
static void put_weights(struct report *r, const struct serving *s) {
  static const char *const names[] = {[ROLE_OTHER] = "others",
                                      [ROLE_TABLE] = "table of words",
                                      [ROLE_HEAD] = "output",
                                      [ROLE_ROUTER] = "routers",
                                      [ROLE_LATENT] = "latent",
                                      [ROLE_QUERY] = "queries",
                                      [ROLE_KEY] = "keys",
                                      [ROLE_VALUE] = "values",
                                      [ROLE_ATTENDED] = "attended",
                                      [ROLE_LINEAR] = "linear",
                                      [ROLE_BACK] = "back to the width"};
  int64_t sums[sizeof names / sizeof *names] = {0}, bytes;
  for (size_t i = 0; i < s->model->params.count; i++)
    if (serving_weight(s, i, &bytes))
      sums[s->roles.at[i].role] += bytes; /* less than all weights */
  text_printf(&r->line, "  %s weights", explain_mark(r));
  for (size_t i = 0, put = 0; i < sizeof names / sizeof *names; i++) {
    if (!sums[i])
      continue;
    text_printf(&r->line, "%s %s ", put++ ? " +" : "", names[i]);
    text_count(&r->line, sums[i]);
  }
  end_line(r);
}

enum { KINDS = 16 }; /* of layers that are listed */

/* drawing 16*128256*(2 + 26): sequences, scores, their bytes and copies'. */
static void put_drawing(struct report *r, const struct serving *s) {
  const struct infer_settings *infer = &s->settings->infer;
  int bits = element_bits(infer->dtype);
  if (!r->a.sampler)
    return;
  text_printf(r->out, "  %s drawing %" PRId64 "*%" PRId64 "*(", explain_mark(r),
              r->a.sequences, serving_scores(s));
  if (bits % 8)
    text_printf(r->out, "%d/8", bits);
  else
    text_printf(r->out, "%d", bits / 8);
  text_printf(r->out, " + %d) = ", sampler_bytes(infer->sampler, bits));
  text_count(r->out, r->a.sampler);
  text_put(r->out, " bytes\n");
}

/* Where the figures come from: --explain. Equal layers are one line. */
static void put_layers(struct report *r) {
  struct serving s;
  const struct served_layer *kinds[KINDS];
  int64_t counts[KINDS], others = 0;
  int found = 0;
  if (!serving_open(r->c->model, r->c->settings, r->c->arena, &s))
    return;
  put_weights(r, &s);
  for (size_t i = 0; i < s.layers.count; i++) {
    int k = 0;
    while (k < found && !same(kinds[k], &s.layers.at[i]))
      k++;
    if (k == KINDS) {
      others++;
      continue;
    }
    if (k == found) {
      kinds[found] = &s.layers.at[i];
      counts[found++] = 0;
    }
    counts[k]++;
  }
  for (int k = 0; k < found; k++)
    put_product(r, &s, kinds[k], counts[k]);
  if (others)
    text_printf(r->out, "  %s and %" PRId64 " more layers\n", explain_mark(r),
                others);
  put_drawing(r, &s);
}

static void put_report(const struct compiled *c,
                       const struct emit_options *options, struct text *out) {
  struct report r = {.c = c, .options = options, .out = out};
  if (!find(&r))
    return;
  text_putc(out, '\n');
  put_title(&r);
  put_parts(&r);
  if (options->explain)
    put_layers(&r);
  if (!r.a.device)
    return;
  text_put(&r.line, "  of ");
  put_size(&r, r.a.room);
  text_printf(&r.line, " on %s: longest context ",
              r.a.devices > 1 ? "each device" : "the device");
  put_context(&r.line, &(struct served){.context = r.a.longest});
  text_put(&r.line, ", most sequences ");
  text_count(&r.line, r.a.most);
  end_line(&r);
  if (r.a.count)
    put_table(&r);
}

/* For programs */

static void put_rows(struct json *json, const char *key,
                     const struct served *rows, int count) {
  json_put_key(json, key);
  json_put_open(json, '[');
  for (int i = 0; i < count; i++) {
    json_put_open(json, '{');
    json_member_int(json, "context", rows[i].context);
    json_member_int(json, "sequences", rows[i].sequences);
    json_member_int(json, "sequence_cache_bytes", rows[i].cache);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_json_traffic(struct json *json, const char *key,
                             const struct served_traffic *traffic) {
  json_put_key(json, key);
  json_put_open(json, '{');
  json_member_int(json, "all_reduce_bytes", traffic->all_reduce);
  json_member_int(json, "all_gather_bytes", traffic->all_gather);
  json_put_close(json, '}');
}

static void put_json(struct writer *w) {
  struct report r = {.c = w->c, .options = w->options};
  const struct serving_answer *a = &r.a;
  struct json *json = &w->json;
  if (!find(&r))
    return;
  json_put_key(json, "serving");
  json_put_open(json, '{');
  json_member_int(json, "devices", a->devices);
  json_member_int(json, "context", a->context);
  json_member_int(json, "sequences", a->sequences);
  json_member_int(json, "weight_bytes", a->weights);
  json_member_int(json, "cache_bytes", a->cache);
  json_member_int(json, "sequence_cache_bytes", a->sequence);
  if (a->state)
    json_member_int(json, "sequence_state_bytes", a->state);
  if (a->source)
    json_member_int(json, "sequence_source_bytes", a->source);
  json_member_int(json, "prefill_bytes", a->prefill);
  json_member_int(json, "decode_bytes", a->decode);
  if (a->sampler)
    json_member_int(json, "sampler_bytes", a->sampler);
  json_member_int(json, "need_bytes", a->need);
  if (a->devices > 1) {
    put_json_traffic(json, "prefill_sent", &a->prefill_traffic);
    put_json_traffic(json, "decode_sent", &a->decode_traffic);
  }
  if (a->device) {
    json_member_int(json, "device_bytes", a->device);
    json_member_int(json, "framework_bytes", a->taken);
    json_member_int(json, "reserve_bytes", a->reserve);
    json_member_int(json, "room_bytes", a->room);
    json_member_bool(json, "fits", a->need <= a->room);
    json_member_int(json, "longest_context", a->longest);
    json_member_int(json, "most_sequences", a->most);
    put_rows(json, "by_context", a->by_context, a->count);
    put_rows(json, "by_sequences", a->by_sequences, a->count);
  }
  json_put_close(json, '}');
}

const struct report_section serving_section = {put_verdict, put_report,
                                               put_json};
