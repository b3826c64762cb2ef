/* Explain: how the figures of serving are computed, formula by formula. */
#include <inttypes.h>

#include "codegen/grid.h"
#include "codegen/serving/report.h"

static const char *explain_mark(const struct serving_report *r) {
  return r->c->options->ascii ? "|" : "\xE2\x94\x82";
}

static bool same(const struct serving *s, const struct served_layer *a,
                 const struct served_layer *b) {
  return serving_place(s, a->node) == serving_place(s, b->node) &&
         a->kept.each == b->kept.each && a->kept.rate == b->kept.rate &&
         a->kept.window == b->kept.window && a->state == b->state &&
         a->recent == b->recent && a->kept.source == b->kept.source;
}

/* The place, if there are several. */
static void put_place(struct text *out, const struct serving *s,
                      enum served_place place) {
  if (place == ON_HOST)
    text_put(out, ", on the host");
  else if (s->cards > 1)
    text_printf(out, ", on %s %d", s->staged ? "stage" : "card",
                (int)place + 1);
  else
    text_put(out, ", on the card");
}

/* 36*65536 of 32 bits: layers, values of a state or of a window. */
static void put_state(struct serving_report *r, const struct serving *s,
                      const struct served_layer *layer, const char *what,
                      int type, int64_t values, int64_t count) {
  if (!values)
    return;
  text_printf(r->out, "  %s %s %" PRId64 "*%" PRId64 " = ", explain_mark(r),
              what, count, values);
  text_count(r->out, count * values); /* less than the bytes */
  text_printf(r->out, " of %d bits, of %" PRId64 " layer%s", element_bits(type),
              count, count == 1 ? "" : "s");
  if (s->parted)
    put_place(r->out, s, serving_place(s, layer->node));
  text_putc(r->out, '\n');
}

/* 32*2048*4096: layers, values of a vector, vectors. */
static void put_product(struct serving_report *r, const struct serving *s,
                        const struct served_layer *layer, int64_t count) {
  const struct infer_settings *infer = &s->settings->infer;
  int64_t vectors = serving_vectors(s, layer, r->a.context);
  const struct cache_terms *terms = &layer->kept;
  int kept = cache_type(infer);
  text_printf(r->out, "  %s KV cache %" PRId64 "*%" PRId64 "*%" PRId64,
              explain_mark(r), count, terms->each, vectors);
  text_put(r->out, " = ");
  text_count(r->out, count * terms->each * vectors); /* less than the bytes */
  if (cache_blocks(kept) || cache_type_v(infer) != kept) {
    text_put(r->out, ", ");
    serving_put_types(r->out, infer);
  } else
    text_printf(r->out, " of %d bits", element_bits(kept));
  text_printf(r->out, ", of %" PRId64 " layer%s", count, count == 1 ? "" : "s");
  if (terms->window)
    text_printf(r->out, " with a window of %" PRId64, terms->window);
  if (terms->rate > 1)
    text_printf(r->out, ", for every %" PRId64 " tokens", terms->rate);
  if (terms->source)
    text_put(r->out, ", of the source");
  if (s->parted)
    put_place(r->out, s, serving_place(s, layer->node));
  text_putc(r->out, '\n');
}

static void put_layer(struct serving_report *r, const struct serving *s,
                      const struct served_layer *layer, int64_t count) {
  if (!layer->state) {
    put_product(r, s, layer, count);
    return;
  }
  put_state(r, s, layer, "state", serving_state_type(s), layer->state, count);
  put_state(r, s, layer, "window of its convolution", serving_window_type(s),
            layer->recent, count);
}

/* Roles of weights in the net, and their bytes on a device or its host. */
static void put_weights(struct serving_report *r, const struct serving *s,
                        enum served_place place) {
  static const char *const names[] = {[ROLE_OTHER] = "others",
                                      [ROLE_TABLE] = "token table",
                                      [ROLE_HEAD] = "output",
                                      [ROLE_ROUTER] = "routers",
                                      [ROLE_LATENT] = "latent",
                                      [ROLE_DECAY] = "decays",
                                      [ROLE_GATE] = "gates",
                                      [ROLE_STATED] = "outputs of states",
                                      [ROLE_QUERY] = "queries",
                                      [ROLE_KEY] = "keys",
                                      [ROLE_VALUE] = "values",
                                      [ROLE_JOINT] = "queries, keys and values",
                                      [ROLE_ATTENDED] = "attended",
                                      [ROLE_LINEAR] = "linear",
                                      [ROLE_BACK] = "back to the width"};
  int64_t sums[sizeof names / sizeof *names] = {0}, bytes;
  for (size_t i = 0; i < s->model->params.count; i++)
    if (s->held[place][i] && serving_weight(s, i, &bytes))
      sums[s->roles.at[i].role] += bytes; /* less than all weights */
  text_printf(&r->line, "  %s weights", explain_mark(r));
  if (s->parted)
    put_place(&r->line, s, place);
  for (size_t i = 0, put = 0; i < sizeof names / sizeof *names; i++) {
    if (!sums[i])
      continue;
    text_printf(&r->line, "%s %s ", put++ ? " +" : "", names[i]);
    text_count(&r->line, sums[i]);
  }
  text_wrap(r->out, text_slice(&r->line), 2, output_width(r->c));
  r->line.length = 0;
}

enum { KINDS = 16 }; /* kinds of layers that are listed */

/* drawing 16*128256*(2 + 26): sequences, scores, bytes of each and its copies.
 */
static void put_drawing(struct serving_report *r, const struct serving *s) {
  const struct infer_settings *infer = &s->settings->infer;
  int bits = element_bits(infer->dtype);
  int64_t sampler = r->a.card.sampler + r->a.host.sampler; /* one is 0 */
  if (!sampler)
    return;
  text_printf(r->out, "  %s drawing %" PRId64 "*%" PRId64 "*(", explain_mark(r),
              r->a.sequences, serving_scores(s));
  if (bits % 8)
    text_printf(r->out, "%d/8", bits);
  else
    text_printf(r->out, "%d", bits / 8);
  text_printf(r->out, " + %d) = ", sampler_bytes(s->settings));
  text_count(r->out, sampler);
  text_put(r->out, " bytes\n");
}

/* The layers that gpu_layers= selects. */
static void put_layers(struct serving_report *r) {
  const struct serving_answer *a = &r->a;
  int64_t turns = a->blocks - 1;
  if (!a->blocks)
    return;
  text_printf(&r->line,
              "  %s layers: %" PRId64 " with a KV cache or state, and the "
              "output; the last min(%" PRId64 ", %" PRId64 ") of them are on "
              "the card, and the output with %" PRId64,
              explain_mark(r), turns, a->on_card, turns, a->blocks);
  text_wrap(r->out, text_slice(&r->line), 2, output_width(r->c));
  r->line.length = 0;
}

/* Equal layers share a line. */
void serving_explain(struct serving_report *r) {
  struct serving s;
  const struct served_layer *kinds[KINDS];
  int64_t counts[KINDS], others = 0;
  int found = 0;
  if (!serving_open(r->c->model, r->c->settings, r->c->arena, &s))
    return;
  if (s.parted && !serving_put(&s, r->a.on_card))
    return;
  put_layers(r);
  for (int place = ON_CARD; place < SERVED_PLACES;
       place = serving_next_place(&s, place))
    if (place < ON_HOST || s.parted)
      put_weights(r, &s, (enum served_place)place);
  for (size_t i = 0; i < s.layers.count; i++) {
    int k = 0;
    while (k < found && !same(&s, kinds[k], &s.layers.at[i]))
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
    put_layer(r, &s, kinds[k], counts[k]);
  if (others)
    text_printf(r->out, "  %s and %" PRId64 " more layers\n", explain_mark(r),
                others);
  put_drawing(r, &s);
}
