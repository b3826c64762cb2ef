/* A GGUF as it is read, and the facts that are made of it. */
#ifndef NETC_IMPORT_HUGGINGFACE_GGUF_H
#define NETC_IMPORT_HUGGINGFACE_GGUF_H

#include "import/huggingface/huggingface.h"
#include "import/tensors/gguf.h"

struct gguf_facts {
  struct facts *facts;
  struct graph *graph;
  struct tensor_file file; /* its tensors: of all parts */
  struct gguf gguf;
  struct slice architecture;
  int64_t layers;   /* that are computed */
  int64_t further;  /* after them, which predict later tokens */
  struct map found; /* tensors of layers by what follows `blk.N.` */
  uint32_t *parts;  /* of each layer: bits */
  bool *window;     /* of each layer: it reads the latest tokens only */
};

/* `KEY` of the architecture, as `llama.block_count`; NULL: there is none. */
const struct gguf_value *gguf_key(const struct gguf_facts *g, const char *key);

/* The tensors of the other parts of a file that was split. False: the graph
 * says which part is missing. */
bool gguf_read_parts(struct gguf_facts *g, const char *path);

/* Number of the layer that a tensor belongs to, and the rest of its name; -1:
 * to none. */
int64_t gguf_layer(struct slice name, struct slice *rest);

/* Facts of a net of blocks, by the tensors of its layers. False: refused. */
bool gguf_put_layers(struct gguf_facts *g);

#endif
