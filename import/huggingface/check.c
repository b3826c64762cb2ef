/* The check: what is stored beside a config, and the net that it gives. */
#include <inttypes.h>

#include "base/check.h"
#include "import/huggingface/huggingface.h"
#include "netc.h"

static int64_t width_of(const char *dtype) {
  return strcmp(dtype, "f64") == 0 ? 8 : strcmp(dtype, "f32") == 0 ? 4 : 2;
}

bool hugging_count(struct slice source, int64_t *params, int64_t *all) {
  struct netc_totals totals = {.size = sizeof totals};
  struct netc *netc = netc_open(NULL, NULL);
  bool right =
      netc &&
      netc_load_text(netc, "template", source.at, source.length) == NETC_OK &&
      netc_totals(netc, &totals) == NETC_OK;
  netc_close(netc);
  *params = totals.param_count;
  *all = totals.param_count + totals.buffer_count;
  return right;
}

void hugging_guess_dtype(struct hugging *h, int64_t params) {
  static const char *const words[] = {"bf16", "f32", "f64"};
  for (size_t i = 0; !h->dtype && i < 3; i++)
    if (params > 0 && params < INT64_MAX / 8 &&
        h->stored.bytes == params * width_of(words[i]))
      h->dtype = words[i];
}

static int64_t integer_named(const struct hugging *h, const char *name) {
  const struct fact *fact = hugging_fact(h, slice_of(name));
  return fact && fact->kind == FACT_INT && fact->integer > 0 &&
                 fact->integer <= HUGGING_MOST
             ? fact->integer
             : 0;
}

/* One for half of a head's features, in 32 or 16 bits, for each layer. */
static bool are_rotations(const struct hugging *h, int64_t rest) {
  int64_t heads = integer_named(h, "num_attention_heads");
  int64_t dim = integer_named(h, "head_dim"), tables = h->stored.computed;
  if (dim == 0 && heads > 0)
    dim = integer_named(h, "hidden_size") / heads;
  return tables > 0 && (rest == 2 * dim * tables || rest == dim * tables);
}

/* The table of words once more, as the output's that is tied to it. */
static bool is_table(const struct hugging *h, int64_t rest, const char *what) {
  int64_t width = strcmp(what, "bytes") == 0 ? width_of(h->dtype) : 1;
  int64_t values, words = integer_named(h, "vocab_size");
  return h->stored.output &&
         mul_i64(words, integer_named(h, "hidden_size"), &values) &&
         mul_i64(values, width, &values) && rest == values;
}

/* Layers after the last one predict words that are further away. */
static bool has_further(const struct hugging *h) {
  int64_t layers = integer_named(h, "num_hidden_layers");
  return layers > 0 && h->stored.last >= layers;
}

static bool differs(struct hugging *h, const char *what, int64_t stored,
                    int64_t ours) {
  int64_t rest = stored - ours;
  const char *more = rest > 0 ? "more" : "less";
  if (are_rotations(h, rest)) {
    graph_note(h->graph, "%s also has %" PRId64 " tables of rotations",
               h->stored.name, h->stored.computed);
    return true;
  }
  if (is_table(h, rest, what)) {
    graph_note(h->graph,
               "%s also has a second copy of the token table, lm_head.weight",
               h->stored.name);
    return true;
  }
  if (rest > 0 && has_further(h)) {
    graph_note(h->graph,
               "%s also has %s %s in layer %" PRId64 ", which predicts later "
               "tokens",
               h->stored.name, count_text(rest).text, what, h->stored.last);
    return true;
  }
  if (h->options->allow_unknown) {
    graph_note(h->graph, "%s has %s %s %s than this net", h->stored.name,
               count_text(rest < 0 ? -rest : rest).text, what, more);
    return true;
  }
  graph_fail(
      h->graph, 0, "%s has %s %s, but the net of this config has %s: %s %s",
      h->stored.name, count_text(stored).text, what, count_text(ours).text,
      count_text(rest < 0 ? -rest : rest).text, more);
  return graph_help(h->graph,
                    "they may belong to different models, or the files may "
                    "have tensors that the net lacks; `netc import "
                    "--allow-unknown` writes the net anyway");
}

bool hugging_check(struct hugging *h, int64_t params, int64_t all) {
  int64_t bytes, most;
  if (!h->stored.name)
    return true;
  if (h->stored.values)
    return h->stored.values == params || h->stored.values == all ||
           differs(h, "values", h->stored.values, params);
  if (!h->stored.bytes || !mul_i64(params, width_of(h->dtype), &bytes) ||
      !mul_i64(all, width_of(h->dtype), &most))
    return true;
  return h->stored.bytes == bytes || h->stored.bytes == most ||
         differs(h, "bytes", h->stored.bytes, bytes);
}

/* What tools store beside the values differs: no reason to refuse a net. */
void hugging_note_bytes(struct hugging *h, struct slice source) {
  struct netc_inference ours = {.size = sizeof ours};
  struct netc *netc = netc_open(NULL, NULL);
  bool right =
      netc && h->stored.bytes &&
      netc_load_text(netc, "template", source.at, source.length) == NETC_OK &&
      netc_inference(netc, &ours) == NETC_OK;
  netc_close(netc);
  int64_t rest = h->stored.bytes - h->stored.formats - ours.weight_bytes;
  if (!right || rest == 0)
    return;
  struct slice type = slice_of(h->weight_dtype ? h->weight_dtype : h->dtype);
  if (slice_begins(type, "\"")) /* a list */
    type = slice_less(slice_from(type, 1), 1);
  graph_note(h->graph, "%s has %s bytes %s than this net in %.*s%s",
             h->stored.name, count_text(rest < 0 ? -rest : rest).text,
             rest > 0 ? "more" : "less", SLICE_ARG(type),
             rest > 0 && has_further(h)
                 ? graph_text(h->graph,
                              ", in layer %" PRId64 ", which predicts later "
                              "tokens",
                              h->stored.last)
                 : "");
}
