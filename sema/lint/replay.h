/* Replay: shapes of a net for another input shape, without expansion. */
#ifndef NETC_SEMA_LINT_REPLAY_H
#define NETC_SEMA_LINT_REPLAY_H

#include "base/diag.h"
#include "sema/model/model.h"

/*
 * Expansion depends on the source and on sizes that expressions ask for
 * (`in.h`), which nodes record. While these sizes stay the same, the nodes do
 * too, and their shape rules give the shapes of an expansion.
 */
struct replay {
  const struct model *model;
  struct arena *arena;
  VEC(int64_t) nodes;      /* nodes that depend on the input, in order */
  struct shape *shapes;    /* by node: the last ones tried */
  bool *changed;           /* by node: its shape differs from the model */
  const struct shape **in; /* scratch for the inputs of a node */
  struct span *in_spans;
  struct params params;
  struct diags quiet;
  bool possible; /* no shared parameters, whose counts must agree */
};

/* Starts with the shapes of the model. `source` is the node of an input. */
void replay_open(struct replay *replay, const struct model *model,
                 int64_t source, struct arena *arena, struct sources *sources);

enum replay_result {
  REPLAY_DONE,
  REPLAY_FAILED,  /* a layer rejects its input */
  REPLAY_UNKNOWN, /* an expression would read another size */
  REPLAY_STOPPED, /* a layer was rejected */
};

/* True if a layer with the tried shapes is accepted. */
typedef bool replay_fn(const void *user, const struct layer *layer);

/*
 * Infers all shapes for another input, up to a rejected layer, which an
 * expansion would have, too. Without `wants` all layers are accepted.
 */
enum replay_result replay_run(struct replay *replay, const struct shape *input,
                              replay_fn *wants, const void *user);

/* A node that depends on the input, with the tried shapes. */
struct layer replay_layer(const struct replay *replay, int64_t node);

#endif
