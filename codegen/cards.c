/* Cards: the names of those that have layers of their own, and the layers. */
#include "codegen/cards.h"

#include <inttypes.h>

#include "sema/model/gpu.h"

void cards_put_range(struct text *out, int64_t first, int64_t last,
                     bool output) {
  if (first > last)
    text_put(out, output ? "the output" : "no layers");
  else if (first == last)
    text_printf(out, "layer %" PRId64, first);
  else
    text_printf(out, "layers %" PRId64 " to %" PRId64, first, last);
  if (first <= last && output)
    text_put(out, " and the output");
}

void cards_put_one(struct text *out, const struct serving_answer *a, int card) {
  if (a->staged)
    text_printf(out, "stage %d", card + 1);
  else if (a->by_card[card].gpu)
    gpu_put_title(out, a->by_card[card].gpu);
  else
    text_printf(out, "card %d", card + 1);
}

void cards_put_all(struct text *out, const struct serving_answer *a) {
  for (int i = 0, equal; i < a->cards; i += equal) {
    for (equal = 1; i + equal < a->cards &&
                    a->by_card[i + equal].gpu == a->by_card[i].gpu;)
      equal++;
    text_put(out, !i ? "" : i + equal < a->cards ? ", " : " and ");
    if (equal > 1)
      text_printf(out, "%d x ", equal);
    cards_put_one(out, a, i);
  }
}
