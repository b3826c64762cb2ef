/* Trace: the tape of a whole net. */
#ifndef NETC_MEMORY_STEP_TRACE_H
#define NETC_MEMORY_STEP_TRACE_H

#include "layers/tape/tape.h"
#include "sema/model/settings.h"
#include "sema/model/model.h"

/* Nodes [first, end) of which training keeps only the inputs. */
struct node_range {
  int64_t first, end;
};

/*
 * Iterations that are all alike and not on the tape: what they would do is what
 * the `length` nodes before have done, so many times more.
 */
struct step_leap {
  int64_t node, length,
      count; /* the node after it, nodes of an iteration, iterations */
  size_t op, storage, value;    /* the first ones after it */
  size_t ops, storages, values; /* of an iteration */
  size_t ins;
};

/*
 * Iterations of the net that are alike on the tape, each with so many nodes,
 * operations, values and storages after those of the one before: what they
 * refer to is as far after, or the same and in front of all iterations.
 */
struct tape_turns {
  size_t count;
  size_t node, op, value, storage; /* the first ones */
  size_t nodes, ops, values, storages;
};

struct trace {
  struct tape tape;
  VEC(struct tape_turns) turns; /* in order, apart */
  /* By node, in 32 bits as all places in the tape. */
  uint32_t *value_of;          /* its output */
  uint32_t *op_end;            /* its operations end here */
  VEC(struct step_leap) leaps; /* in order */
  VEC(size_t) ends;            /* training: values that backward starts from */
  uint32_t *until; /* by operation that no gradient reaches: those before this
                      one have run when what it keeps goes; 0: one does, or
                      none is asked for; NULL: it reaches all (loose.h) */
  bool has_loss;   /* they are numbers, not the outputs themselves */
  bool drops_outputs; /* nothing but the loss reads them */
  bool scores;        /* of classes: nothing else reads the outputs */
};

/* What to trace. */
struct trace_options {
  const struct profile *profile;
  bool training, in_place, mixed, half;
  bool lowers, single; /* struct tape */
  int norms;           /* enum tape_norms; 0: NORMS_PLAIN */
  bool packed; /* frozen matrices are in blocks but of what gives an output,
                  and their products keep their inputs */
  int loss;
  enum width loss_width; /* what a loss computes in, and the output is cast to;
                            WIDTH_NET: as autocast has it, or as it is */
  int loss_dtype;        /* enum loss_type */
  int64_t loss_chunks;   /* 0: of a fused one as many as it takes, or one */
  const struct node_range *ranges; /* checkpointed, in order, apart */
  size_t range_count;
  bool drops_outputs; /* a loss is all that reads them */
  bool leaps;         /* iterations may be left out */
};

/* Outputs that training has, or a prediction; these are first. */
static inline size_t trace_outputs(const struct model *model, bool training) {
  return training ? model->outputs.count : model->predicted_outputs;
}

bool trace_is_output(const struct model *model, int64_t node);

/* As a profile runs the net; all in `arena`. */
void trace_model(struct trace *trace, const struct model *model,
                 const struct trace_options *options, struct arena *arena);

#endif
