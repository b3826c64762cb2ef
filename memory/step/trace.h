/* Trace: the tape of a whole net. */
#ifndef NETC_MEMORY_STEP_TRACE_H
#define NETC_MEMORY_STEP_TRACE_H

#include "layers/tape/tape.h"
#include "sema/model/settings.h"
#include "sema/model/model.h"
#include "sema/model/weights.h"

/* Nodes [first, end), of which training keeps only the inputs. */
struct node_range {
  int64_t first, end;
};

/*
 * Iterations that are left out of the tape. Each would repeat what the `length`
 * nodes before them do.
 */
struct step_leap {
  int64_t node, length,
      count; /* the node after it, nodes of an iteration, iterations */
  size_t op, storage, value;    /* the first ones after it */
  size_t ops, storages, values; /* in an iteration */
  size_t ins;
};

/*
 * Equal iterations on the tape. Nodes, operations, values and storages of each
 * are at a fixed distance from those of the one before. References are as far
 * away, or equal and in front of all iterations.
 */
struct tape_turns {
  size_t count;
  size_t node, op, value, storage; /* the first ones */
  size_t nodes, ops, values, storages;
};

struct trace {
  struct tape tape;
  VEC(struct tape_turns) turns; /* in order, disjoint */
  /* By node, in 32 bits like all places on the tape. */
  uint32_t *value_of;          /* its output */
  uint32_t *op_end;            /* end of its operations */
  VEC(struct step_leap) leaps; /* in order */
  VEC(size_t) ends;            /* training: values that backward starts from */
  uint32_t *until;    /* by operation: if no gradient reaches it, the number of
                       * operations after which its saves are freed, else 0;
                       * NULL: gradients reach all (loose.h) */
  bool *held;         /* by operation: in a segment, but its results are kept
                       * (checkpoint=ops); NULL: none */
  bool has_loss;      /* `ends` are losses, not the outputs themselves */
  bool drops_outputs; /* only the loss reads the outputs */
  bool scores;        /* of classes; nothing else reads the outputs */
};

/* Options of a trace */
struct trace_options {
  const struct profile *profile;
  bool training, in_place, mixed, half;
  int element;         /* enum element of the net */
  bool lowers, single; /* struct tape */
  int norms;           /* enum tape_norms; 0: NORMS_PLAIN */
  int attention;       /* enum tape_attention */
  int glu;             /* enum tape_glu; 0: GLU_PLAIN */
  int experts;         /* enum tape_experts; 0: EXPERTS_ONE_BY_ONE */
  bool packed; /* frozen matrices are in blocks unless they give an output;
                * their products keep their inputs */
  const struct train_settings *train; /* the losses of the outputs */
  enum base_kernel in_blocks; /* under autocast: what multiplies by them */
  enum width loss_width; /* outputs are cast to it; WIDTH_NET: by autocast, or
                            not at all; found for each output */
  int loss_dtype;        /* enum loss_type */
  int64_t loss_chunks;   /* 0: one; of a fused loss as many as it needs */
  const struct node_range *ranges; /* checkpointed, in order, disjoint */
  size_t range_count;
  bool holds;         /* they hold some results: checkpoint=ops */
  bool drops_outputs; /* only the loss reads the outputs */
  bool leaps;         /* iterations may be left out */
};

/* The number of outputs of training or of inference, which come first. */
static inline size_t trace_outputs(const struct model *model, bool training) {
  return training ? model->outputs.count : model->predicted_outputs;
}

bool trace_is_output(const struct model *model, int64_t node);

/* Traces the net as a profile runs it; allocates all in `arena`. */
void trace_model(struct trace *trace, const struct model *model,
                 const struct trace_options *options, struct arena *arena);

#endif
