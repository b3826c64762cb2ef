/* Words and figures of a roofline chart. */
#include "drawing/charts/roofline.h"

#include <math.h>

void roof_put_rounded(struct text *out, double value) {
  text_fixed(out, value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/* 8.10 TFLOP/s; whole numbers without decimals. */
void roof_put_scaled(struct text *out, double value, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  for (; value >= 999.5 && prefix < 5; prefix++)
    value /= 1000;
  if (value >= 0.999 && value - floor(value + 0.001) < 0.001)
    text_count(out, (int64_t)(value + 0.5));
  else
    roof_put_rounded(out, value);
  text_printf(out, " %s%s", prefixes[prefix], unit);
}

void roof_put_seconds(struct text *out, double seconds) {
  static const char *const units[] = {"s", "ms", "\xC2\xB5s"};
  int unit = 0;
  for (; seconds < 0.9995 && unit < 2; unit++)
    seconds *= 1000;
  roof_put_rounded(out, seconds);
  text_printf(out, " %s", units[unit]);
}

void roof_put_percent(struct text *out, double part, double of) {
  text_fixed(out, of > 0 ? 100 * part / of : 0, 1);
  text_put(out, " %");
}

struct slice roof_title(struct roofline *r) {
  text_printf(&r->chart.note, "its layers under the roof of %s", r->gpu->word);
  return chart_note(&r->chart);
}

struct slice roof_subtitle(struct roofline *r, struct text *out) {
  text_printf(out, "Computed from the maker's peaks of %s, not measured",
              r->gpu->word);
  if (r->lacking)
    text_printf(out,
                " (the peaks of %s are not known; this device is the default)",
                r->lacking);
  else if (!r->chosen)
    text_put(out, " (no --gpu was given; this device is the default)");
  text_printf(out, ". Forward pass, batch %s, %s", count_text(r->batch).text,
              element_long_name(r->element));
  if (r->rated != r->element)
    text_printf(out, ", for which no figure is known: the roof is for %s",
                element_long_name(r->rated));
  text_put(out, ". Each layer reads its inputs and weights once and writes its "
                "output once, without fusion; FLOPs = 2 x MACs.");
  return text_slice(out);
}

struct slice roof_words_below(struct roofline *r, struct text *out) {
  text_printf(out, "%zu of %zu layers with MACs are bound by memory: left of ",
              r->bound, r->layers);
  roof_put_rounded(out, r->peak / r->bandwidth);
  text_put(out, " FLOP/byte the bytes take longer than the operations. A "
                "forward pass takes ");
  roof_put_seconds(out, r->seconds);
  text_put(out, " at least, ");
  roof_put_percent(out, r->waiting, r->seconds);
  text_put(out, " of it bound by memory");
  if (r->idle.count) {
    text_put(out, ", ");
    roof_put_percent(out, r->idle.seconds, r->seconds);
    text_printf(out, " in %zu layer%s without MACs", r->idle.count,
                r->idle.count == 1 ? "" : "s");
  }
  text_put(out, ". Layers of about the same intensity share a dot and a bar, "
                "named after the slowest (+n more).");
  return text_slice(out);
}
