/* Linter internals, shared by its files. */
#ifndef NETC_SEMA_LINT_LINTER_H
#define NETC_SEMA_LINT_LINTER_H

#include "sema/lint/lint.h"
#include "sema/lint/remainder.h"

/* The node that gave a map its size, and the index of the input behind it. */
struct map_origin {
  int64_t node, input; /* number of the input; -1: a learned tensor */
};

/* A layer whose windows leave no remainder on such a map. */
struct fitting {
  const struct layer_kind *kind;
  const void *args;
  const struct shape *in;
};

enum { LINT_FITTING = 16 };

struct lint {
  const struct expansion *expansion;
  const struct block *program;
  struct model *model;
  struct diags *diags;
  const struct shape **in;
  int32_t *readers;                     /* by node: number of readers */
  int32_t *reader;                      /* by node: the last reader */
  bool *output;                         /* by node: it is an output */
  bool *alive;                          /* by node: an output depends on it */
  bool strided;                         /* a layer with weights has a stride */
  struct clean_sizes *clean;            /* by input */
  int64_t clean_effort;                 /* effort left to find them */
  struct map_origin *maps;              /* by node, computed on demand */
  struct fitting fitting[LINT_FITTING]; /* recent ones, by model->like */
};

/* Reports a warning about a node, and records it for reports. */
struct diagnostic *lint_warn(struct lint *l, enum slug slug, int64_t node,
                             const char *format, ...) PRINTF_LIKE(4, 5);

/* The text of a layer, as conv 64 3x3 pad */
struct slice lint_layer_text(struct lint *l, int64_t node);

/*
 * Offers to add `word` to a layer, as described by `help`. Only gives help if
 * the layer is written otherwise, or may be several layers.
 */
void lint_offer_word(struct lint *l, struct diagnostic *d, int64_t node,
                     const char *word, const char *help);

/* Windows that leave or skip values: window.c */
void lint_windows(struct lint *l, int64_t node);

/* Likely mistakes: slip.c */
void lint_channels_first(struct lint *l, int64_t node);
void lint_pool_padding(struct lint *l, int64_t node);
void lint_dense_on_map(struct lint *l, int64_t node);
void lint_dense_on_states(struct lint *l, int64_t node);

#endif
