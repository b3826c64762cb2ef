/* lora: two narrow trained matrices beside frozen weights. */
#ifndef NETC_LAYERS_LORA_H
#define NETC_LAYERS_LORA_H

#include "layers/layer.h"

/*
 * y = W x + b + alpha / rank * B A dropout(x), where only A and B are trained
 * (Hu et al. 2021, "LoRA", arXiv 2106.09685). Names are those of
 * src/peft/tuners/lora/layer.py of huggingface/peft. rank 0: no lora. With
 * `dora`, y = b + s (W + alpha / rank * B A) x and s = m / |W + alpha / rank *
 * B A| for each output. m is trained, too; its divisor is treated as a constant
 * (Liu et al. 2024, arXiv 2402.09353; peft's dora.py). The weights of inference
 * are s (W + alpha / rank * B A).
 */
struct lora {
  int64_t rank;
  double alpha; /* 0: the rank, which makes the factor 1 */
  double dropout;
  int dora;
  int type; /* of A and B, from 1 in LORA_TYPES; 0: the layer's */
};

/* Words of `lora_dtype`. */
#define LORA_TYPES "f32 bf16 f16"

/* Words of attention's `lora_on`. */
#define LORA_ON "qv qkv qkvo padded"

/* Rows of arg_spec for `lora=8 lora_alpha=16 lora_dropout=0.1 dora`. */
#define LORA_SPECS(owner, member)                                             \
  ARG(INT, KEY, "lora", owner, member.rank, .min = 1, .fallback = "none",     \
      .doc = "rank of the adapters, which are trained instead of the "        \
             "weights"),                                                      \
      ARG(REAL, KEY, "lora_alpha", owner, member.alpha, .low = 1e-6,          \
          .high = 1e9, .fallback = "the rank",                                \
          .doc = "factor of the adapters: alpha / rank"),                     \
      ARG(REAL, KEY, "lora_dropout", owner, member.dropout, .low = 0,         \
          .high = 1, .fallback = "0",                                         \
          .doc = "fraction of the adapters' input that is dropped"),          \
      ARG(CHOICE, KEY, "lora_dtype", owner, member.type, .words = LORA_TYPES, \
          .fallback = "the layer's",                                          \
          .doc = "type of the adapters; their input is cast to it"),          \
      ARG(WORDS, WORD, "dora", owner, member.dora, .words = "dora",           \
          .doc = "DoRA: train the magnitude of each output's weights, too")

/* Reports an error and returns false if an option is given without a rank. */
bool lora_check(const struct layer *layer, const struct lora *lora);

/* The word of the adapters' own type; empty: they have their layer's. */
struct slice lora_type(const struct lora *lora);

/* Number of parameters it adds: A, B and lengths. */
int lora_count(const struct lora *lora);

/*
 * Adds A and B of a dense layer, or of the projection with the name `prefix`
 * ("q_proj."). They adapt the parameter at index `weight`.
 */
void lora_params(struct params *params, int64_t in, int64_t out,
                 const struct lora *lora, size_t weight, const char *prefix);

/* For queries and values that share a matrix: litgpt's LoRAQKVLinear. */
void lora_padded_params(struct params *params, int64_t in, int64_t out,
                        const struct lora *lora, size_t weight);

/* Marks the last parameters (A, B and lengths, if any) as sources of the one at
 * index `weight`: the weights of inference include them. */
void lora_fold(struct params *params, const struct lora *lora,
               enum computed how, size_t weight);

/* Name of the outputs' lengths, which follow A and B. */
#define LORA_LENGTHS "lora_magnitude_vector.weight"

/* The operation with A, or with B: it has one parameter. */
struct lora_step {
  const struct lowering *does;
  struct extent out;
  bool rows;    /* multiplies rows of a matrix: torch.nn.Linear */
  bool several; /* several rows a sample: copies a gradient with rows apart */
  bool plain;   /* one row: no view is around the product */
};

/* The adapted weights; parameters are numbered as in the layer. */
struct lora_site {
  struct lora_step steps[2]; /* A and B */
  int weight;                /* index of W; the bias, if any, follows it */
  int first;                 /* index of A; B and the lengths follow it */
  int64_t in, out;           /* input values of one output; outputs */
  struct extent padded;      /* B's outputs among zeros; count 0: no zeros */
  int64_t kept_out;          /* features of B's outputs, if `padded` */
};

/* Adds the product of A, B and `in` to `base`. */
size_t lora_trace(struct tape *tape, const struct lora *lora, size_t in,
                  size_t base, const struct lora_site *site);

#endif
