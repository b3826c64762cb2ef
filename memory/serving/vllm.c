/*
 * vLLM: the KV cache tokens that fit besides weights and a step, as its logs
 * report.
 */
#include "base/check.h"
#include "memory/serving/serving.h"

/* Blocks that fit a card besides its weights and a step; a block is allocated
 * in all its layers. -1: the card keeps nothing per token. */
static int64_t blocks_on(const struct served_part *card, int64_t room,
                         int64_t pages) {
  int64_t step = card->need - card->weights - card->cache;
  int64_t left = max_i64(room - card->weights - step, 0);
  return card->sequence > card->state
             ? left / ceil_div_i64(card->sequence, pages)
             : -1;
}

/* All stages have as many blocks as the one with the fewest. */
void serving_positions_in_all(const struct serving *s,
                              struct serving_answer *a) {
  int64_t page = s->settings->infer.page;
  int64_t pages = ceil_div_i64(a->context, page); /* of a sequence, whole */
  int64_t blocks = blocks_on(&a->card, a->device.room, pages);
  a->positions = -1;
  for (int i = 0; i < a->cards && a->cards > 1; i++) {
    int64_t found =
        blocks_on(&a->by_card[i].part, a->by_card[i].device.room, pages);
    if (found >= 0)
      blocks = blocks < 0 ? found : min_i64(blocks, found);
  }
  if ((s->parted && !s->staged) || serving_is_llama_cpp(s) || blocks < 0)
    return;
  a->positions = size_product(blocks, page);
  a->concurrency = size_sum(size_product(blocks, 100), pages / 2) / pages;
}
