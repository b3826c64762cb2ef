/* Replay: the shapes of a net if an input had others, without expanding it. */
#ifndef NETC_SEMA_LINT_REPLAY_H
#define NETC_SEMA_LINT_REPLAY_H

#include "base/diag.h"
#include "sema/model/model.h"

/*
 * Expansion is determined by the source and by the sizes that expressions ask
 * for (`in.h`), which nodes remember. While these are the same, the nodes are
 * the same, and their shape rules give what an expansion would give.
 */
struct replay {
  const struct model *model;
  struct arena *arena;
  VEC(int64_t) nodes;      /* that depend on the input, in their order */
  struct shape *shapes;    /* by node: the last ones tried */
  bool *changed;           /* by node: they are not those of the model */
  const struct shape **in; /* room for the inputs of a node */
  struct span *in_spans;
  struct params params;
  struct diags quiet;
  bool possible; /* no parameters are shared, whose counts must agree */
};

/* The shapes are those of the model. `source` is the node of an input. */
void replay_open(struct replay *replay, const struct model *model,
                 int64_t source, struct arena *arena, struct sources *sources);

enum replay_result {
  REPLAY_DONE,
  REPLAY_FAILED,  /* some layer refuses its input */
  REPLAY_UNKNOWN, /* an expression would see another size */
  REPLAY_STOPPED, /* a layer was not wanted */
};

/* Whether a layer, with the shapes tried, may be there. */
typedef bool replay_fn(const void *user, const struct layer *layer);

/*
 * All shapes for another one of the input, up to a layer that is not wanted:
 * an expansion would have that one, too. Without `wants` each is.
 */
enum replay_result replay_run(struct replay *replay, const struct shape *input,
                              replay_fn *wants, const void *user);

/* A node that depends on the input, with the shapes tried. */
struct layer replay_layer(const struct replay *replay, int64_t node);

#endif
