/* Weight formats: the bytes of each tensor, by what it is to the net. */
#ifndef NETC_MEMORY_WEIGHT_FORMAT_H
#define NETC_MEMORY_WEIGHT_FORMAT_H

#include "sema/model/model.h"
#include "sema/model/settings.h"
#include "sema/model/weights.h"

/* A parameter's role in a language model, as weight files distinguish it. */
enum weight_role {
  ROLE_OTHER,  /* vectors, kernels, tables that are added */
  ROLE_TABLE,  /* one row per token of the vocabulary */
  ROLE_HEAD,   /* one score per token of the vocabulary */
  ROLE_ROUTER, /* one score per expert */
  ROLE_LATENT, /* attention: projection to a latent vector for all heads */
  ROLE_DECAY,  /* recurrent state: decays and steps, one for a head */
  ROLE_GATE,   /* recurrent state: input and output gates */
  ROLE_STATED, /* recurrent state: output projection */
  ROLE_QUERY,  /* attention: projection to queries */
  ROLE_KEY,
  ROLE_VALUE,
  ROLE_JOINT,    /* queries, keys and values in one */
  ROLE_ATTENDED, /* attention: output projection */
  ROLE_LINEAR,
  ROLE_BACK, /* linear layer back to the embedding's width */
};

/* A parameter as stored in a file. */
struct weight_tensor {
  enum weight_role role;
  int64_t in, out; /* of a matrix */
  /* Index of the attention or recurrent layer, and of the one with a KV cache,
   * that it belongs to or follows; those of a tower do not count. */
  int64_t block, attention;
  bool expert; /* one of several */
  bool tower;  /* computed from other inputs than tokens: pictures, sound */
};

struct weight_roles {
  struct weight_tensor *at; /* by parameter of the model */
  int64_t blocks;           /* number of attention or recurrent layers */
  int64_t attentions;       /* those with a KV cache */
  int64_t queries, keys;    /* outputs in the first one; 0: packed */
  bool tied;                /* the embedding is also the head */
  int64_t experts;          /* maximum of a layer; 1: none */
  bool *have_experts;       /* blocks that do */
};

/* Allocates everything in `arena`. */
void weight_roles_find(const struct model *model, struct arena *arena,
                       struct weight_roles *roles);

/* The parts that matrices in these blocks have, a bit for each. */
unsigned weight_parts(const struct model *model,
                      const struct weight_roles *roles, int64_t first,
                      int64_t last);

/* A parameter of the same type as all other values. */
enum { WEIGHT_PLAIN = -1 };

/*
 * Bytes of parameter `index`, which has its layer's own type if there is one,
 * or WEIGHT_PLAIN; false if they pass 2^63 - 1.
 *
 * The types are those that llama.cpp chooses (src/llama-quant.cpp, commit
 * 007dbbf, llama_tensor_get_type_impl), with its fallbacks for rows that the
 * block size does not divide. Below IQ3_S, where types need one, an importance
 * matrix is assumed. Queries, keys and values in one matrix have the types of
 * published files, which are older than that commit. Norms, biases, routers and
 * added tables have 32 bits.
 */
bool weight_bytes(const struct model *model, const struct weight_roles *roles,
                  const struct infer_settings *infer, size_t index,
                  int64_t *bytes);

#endif
