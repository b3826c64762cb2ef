/* Inside the linter: what its files share. */
#ifndef NETC_SEMA_LINT_LINTER_H
#define NETC_SEMA_LINT_LINTER_H

#include "sema/lint/lint.h"
#include "sema/lint/remainder.h"

/* The node that gave a map its size, and the number of the input behind. */
struct map_origin {
  int64_t node, input; /* input -1: a learned tensor */
};

/* A layer whose windows leave nothing, on such a map. */
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
  int32_t *readers;                     /* by node: how many nodes read it */
  int32_t *reader;                      /* by node: the last of them */
  bool *output;                         /* by node: it is one */
  bool *alive;                          /* by node: some output depends on it */
  bool strided;                         /* a layer with weights has a stride */
  struct clean_sizes *clean;            /* by input */
  int64_t clean_effort;                 /* that is left to find them */
  struct map_origin *maps;              /* by node, once they are asked for */
  struct fitting fitting[LINT_FITTING]; /* of late, by model->like */
};

/* Reports about a node, and remembers it for the rows of reports. */
struct diagnostic *lint_warn(struct lint *l, enum slug slug, int64_t node,
                             const char *format, ...) PRINTF_LIKE(4, 5);

/* conv 64 3x3 pad */
struct slice lint_layer_text(struct lint *l, int64_t node);

/*
 * Offers one more word for a layer, in the words of `help`; help alone where
 * it is written otherwise, or may be several layers.
 */
void lint_offer_word(struct lint *l, struct diagnostic *d, int64_t node,
                     const char *word, const char *help);

/* Windows that leave values unread, or step over some: lint_window.c */
void lint_windows(struct lint *l, int64_t node);

/* Slips of the pen: lint_slip.c */
void lint_channels_first(struct lint *l, int64_t node);
void lint_pool_padding(struct lint *l, int64_t node);
void lint_dense_on_map(struct lint *l, int64_t node);

#endif
