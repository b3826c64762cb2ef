/*
 * vLLM: the KV cache tokens that fit besides weights and a step, as its logs
 * report.
 */
#include "base/check.h"
#include "memory/serving/serving.h"

/* A block is allocated in all layers; a sequence needs whole blocks. */
void serving_positions_in_all(const struct serving *s,
                              struct serving_answer *a) {
  const struct served_part *card = &a->card;
  int64_t page = s->settings->infer.page;
  int64_t pages = ceil_div_i64(a->context, page);
  int64_t step = card->need - card->weights - card->cache;
  int64_t left = max_i64(a->device.room - card->weights - step, 0);
  a->positions = -1;
  if (s->parted || serving_is_llama_cpp(s) || card->sequence <= card->state)
    return;
  int64_t blocks = left / ceil_div_i64(card->sequence, pages);
  a->positions = size_product(blocks, page);
  a->concurrency = size_sum(size_product(blocks, 100), pages / 2) / pages;
}
