/* Weight formats: the bytes of each tensor, by what it is to the net. */
#ifndef NETC_MEMORY_WEIGHT_FORMAT_H
#define NETC_MEMORY_WEIGHT_FORMAT_H

#include "sema/model/model.h"
#include "sema/model/settings.h"

/* What a parameter is to a language model, as files of weights see it. */
enum weight_role {
  ROLE_OTHER,  /* one axis, kernels, tables that are added */
  ROLE_TABLE,  /* a row for each word */
  ROLE_HEAD,   /* a score for each word */
  ROLE_ROUTER, /* a score for each expert */
  ROLE_LATENT, /* of attention, to a vector that all heads read */
  ROLE_QUERY,  /* of attention */
  ROLE_KEY,
  ROLE_VALUE,
  ROLE_JOINT,    /* queries, keys and values in one */
  ROLE_ATTENDED, /* of attention's output */
  ROLE_LINEAR,
  ROLE_BACK, /* a linear layer that leads to the table's width */
};

/* A parameter as a file has it. */
struct weight_tensor {
  enum weight_role role;
  int64_t in, out; /* of a matrix */
  int64_t block;   /* attention layers before it, its own among them, less 1 */
};

struct weight_roles {
  struct weight_tensor *at; /* by parameter of the model */
  int64_t blocks;           /* attention layers */
  int64_t queries, keys;    /* outputs of the first one's, 0 if packed */
  bool tied;                /* the table is the head, too */
  int64_t experts;          /* the most that a layer has; 1: none */
};

/* All of it is in `arena`. */
void weight_roles_find(const struct model *model, struct arena *arena,
                       struct weight_roles *roles);

/* A parameter has the type of all other values. */
enum { WEIGHT_PLAIN = -1 };

/*
 * Bytes of parameter `index`, or WEIGHT_PLAIN; false if they pass 2^63 - 1.
 *
 * The types in a file are those that llama.cpp chooses (src/llama-quant.cpp,
 * commit 007dbbf, llama_tensor_get_type_impl), with an importance matrix below
 * IQ3_S, where types need one, and with queries, keys and values in one matrix
 * as in the files that there are, made before that commit;
 * with its fallbacks for rows that blocks do not divide; norms, biases, routers
 * and tables that are added have 32 bits.
 */
bool weight_bytes(const struct model *model, const struct weight_roles *roles,
                  const struct infer_settings *infer, size_t index,
                  int64_t *bytes);

#endif
