/*
 * llama.cpp: one compute buffer for both steps, as its logs print it. It
 * reserves a step of n_ubatch tokens with 32-bit logits for each
 * (src/llama-context.cpp, graph_reserve); recent servers only those of their
 * slots (n_outputs_max), which is scores=last. Without flash attention it adds
 * the attention scores of one layer, with in-place softmax and a mask, and four
 * rows of the net's width, or six where queries, keys and values are one
 * matrix. Four and six come from logs.
 *
 * With all layers on several cards it works on several microbatches at a time
 * (pipeline parallelism): the scheduler keeps COPIES of what a card receives,
 * the rows and the mask, which has 16 bits with flash attention
 * (ggml-backend.cpp, GGML_SCHED_MAX_COPIES).
 */
#include "base/check.h"
#include "memory/serving/serving.h"

enum { FLOAT = 4, HALF = 2, COPIES = 4 };
enum { CELLS = 256 }; /* n_ctx is a multiple of it */

bool serving_is_llama_cpp(const struct serving *s) {
  return s->settings->infer.step == STEP_LLAMA_CPP;
}

bool serving_is_fused(const struct infer_settings *infer) {
  return infer->attention ? infer->attention == TAPE_FUSED
                          : infer->flash != FLASH_OFF;
}

int64_t serving_page(const struct infer_settings *infer) {
  return infer->step == STEP_LLAMA_CPP ? CELLS : infer->page;
}

struct widest {
  int64_t heads, width; /* maxima over the causal layers */
};

static struct widest find_widest(const struct serving *s,
                                 enum served_place place) {
  struct widest most = {0, 0};
  for (size_t i = 0; i < s->layers.count; i++) {
    const struct served_layer *layer = &s->layers.at[i];
    const struct node *node = &s->model->nodes.at[layer->node];
    most.width = max_i64(most.width, shape_channels(node->out));
    if (serving_place(s, layer->node) == place)
      most.heads = max_i64(most.heads, layer->heads.queries);
  }
  return most;
}

/* Logits of `ends` tokens, if the output is here, and `rows` rows. */
static int64_t of_words(const struct serving *s, enum served_place place,
                        int64_t rows, int64_t ends, int64_t width) {
  int64_t last = (int64_t)s->model->nodes.count - 1;
  bool there = serving_place(s, min_i64(s->head, last)) == place;
  int64_t words = there ? serving_scores(s) : 0;
  return size_product(
      size_sum(size_product(words, ends), size_product(rows, width)), FLOAT);
}

/* Copies of the rows and the mask; the attention itself counts one mask. */
static int64_t of_copies(const struct serving *s, enum served_place place,
                         int64_t rows, int64_t cells, int64_t width) {
  bool fused = serving_is_fused(&s->settings->infer);
  if (s->cards < 2 || s->on_card < s->blocks || place == ON_HOST)
    return 0;
  int64_t received = size_product(size_product(rows, FLOAT), width);
  int64_t mask = size_product(size_product(rows, fused ? HALF : FLOAT), cells);
  return size_sum(size_product(received, COPIES),
                  size_product(mask, fused ? COPIES : COPIES - 1));
}

int64_t serving_compute(const struct serving *s, enum served_place place,
                        int64_t context, int64_t sequences) {
  const struct infer_settings *infer = &s->settings->infer;
  struct widest most = find_widest(s, place);
  int64_t cells = size_product(context, sequences);
  cells = size_product(ceil_div_i64(cells, CELLS), CELLS);
  int64_t rows = min_i64(infer->ubatch, cells);
  int64_t ends = infer->scores == SCORES_LAST ? min_i64(sequences, rows) : rows;
  int64_t words = of_words(s, place, rows, ends, most.width);
  int64_t copies = of_copies(s, place, rows, cells, most.width);
  if (serving_is_fused(infer) || !most.heads)
    return size_sum(words, copies);
  bool packed = s->layers.at[0].heads.keys && !s->roles.keys;
  int64_t scores = size_product(most.heads + 1, cells);
  int64_t widths = size_product(packed ? 6 : 4, most.width);
  int64_t attention =
      size_product(size_product(rows, FLOAT), size_sum(scores, widths));
  return size_sum(max_i64(words, attention), copies);
}
