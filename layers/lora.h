/* lora: two narrow matrices that are trained beside frozen weights. */
#ifndef NETC_LAYERS_LORA_H
#define NETC_LAYERS_LORA_H

#include "layers/layer.h"

/*
 * y = W x + b + alpha / rank * B A dropout(x), where only A and B are trained
 * (Hu et al. 2021, "LoRA", arXiv 2106.09685; src/peft/tuners/lora/layer.py of
 * huggingface/peft, whose names they have). rank 0: there is none. With `dora`
 * y = b + s (W + alpha / rank * B A) x, s = m / |W + alpha / rank * B A| for
 * each output, where m is trained, too, and what it is divided by is taken for
 * a constant (Liu et al. 2024, arXiv 2402.09353; peft's dora.py). A prediction
 * has s (W + alpha / rank * B A) as its weights.
 */
struct lora {
  int64_t rank;
  double alpha; /* 0: as the rank, a factor of 1 */
  double dropout;
  int dora;
};

/* Rows of arg_spec for `lora=8 lora_alpha=16 lora_dropout=0.1 dora`. */
#define LORA_SPECS(owner, member)                                             \
  ARG(INT, KEY, "lora", owner, member.rank, .min = 1, .fallback = "none",     \
      .doc = "rank of two matrices that are trained instead of the weights"), \
      ARG(REAL, KEY, "lora_alpha", owner, member.alpha, .low = 1e-6,          \
          .high = 1e9, .fallback = "the rank",                                \
          .doc = "their product counts alpha / rank times"),                  \
      ARG(REAL, KEY, "lora_dropout", owner, member.dropout, .low = 0,         \
          .high = 1, .fallback = "0",                                         \
          .doc = "share of their input that is dropped"),                     \
      ARG(WORDS, WORD, "dora", owner, member.dora, .words = "dora",           \
          .doc = "the length of each output's weights is trained, too")

/* Reports, and returns false, what is said of it without a rank. */
bool lora_check(const struct layer *layer, const struct lora *lora);

/* How many parameters it adds: A, B and lengths. */
int lora_count(const struct lora *lora);

/*
 * A and B of a dense layer, or of one projection whose name `prefix` begins
 * with: "q_proj."; beside the parameter at `weight`.
 */
void lora_params(struct params *params, int64_t in, int64_t out,
                 const struct lora *lora, size_t weight, const char *prefix);

/* Of queries and values alone, which share a matrix: litgpt's LoRAQKVLinear. */
void lora_padded_params(struct params *params, int64_t in, int64_t out,
                        const struct lora *lora, size_t weight);

/* The last parameters, A, B and perhaps lengths, as what the one at `weight`
 * is computed of: a prediction has them in its weights. */
void lora_fold(struct params *params, const struct lora *lora,
               enum computed how, size_t weight);

/* The name of the outputs' lengths, which stand after A and B. */
#define LORA_LENGTHS "lora_magnitude_vector.weight"

/* A and B: how an operation makes each, with one parameter. */
struct lora_step {
  const struct lowering *does;
  struct extent out;
  bool rows;    /* it multiplies rows of a matrix: torch.nn.Linear */
  bool several; /* of a sample: it copies a gradient whose rows are apart */
};

/* What is adapted; parameters as the layer numbers them. */
struct lora_site {
  struct lora_step steps[2]; /* A and B */
  int weight;                /* W; a bias is after it, or is not */
  int first;                 /* A, which B and the lengths follow */
  int64_t in, out;           /* values that one output sees; outputs */
  struct extent padded;      /* B's outputs among zeros; 0: they are all */
  int64_t kept_out;          /* features of B's outputs, if these are padded */
};

/* Adds to `base` what A and B make of `in`. */
size_t lora_trace(struct tape *tape, const struct lora *lora, size_t in,
                  size_t base, const struct lora_site *site);

#endif
