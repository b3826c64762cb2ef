/*
 * Tape: the operations that a framework runs for a net, in their order, with
 * what each keeps for its backward pass. Layers record, memory/ reads.
 *
 * A value is a tensor; its bytes are in a storage, which views and in-place
 * results share. Sizes are linear in the batch, so that one tape serves all
 * batches.
 */
#ifndef NETC_LAYERS_TAPE_TAPE_H
#define NETC_LAYERS_TAPE_TAPE_H

#include "base/arena.h"
#include "layers/tape/layout.h"
#include "layers/tape/lowering.h"
#include "layers/tape/profile.h"
#include "layers/tape/strides.h"

enum width {
  WIDTH_NET, /* what the net computes in; resolved when it is recorded */
  WIDTH_LOW, /* mixed precision: 16 bits */
  WIDTH_F32, /* statistics */
  WIDTH_I32,
  WIDTH_INDEX, /* 64 bits */
  WIDTH_MASK,  /* of dropout: the net's, or a byte */
  WIDTH_BOOL,
};

/*
 * Experts [first, first + count) of `of`, over which the rows of the batch are
 * spread as evenly as they can be: what is left over goes to the first ones.
 */
struct share {
  int64_t first, count, of;
  int64_t rows; /* of a sample, of all experts */
};

/* `count` values a sample, or in all if `fixed`. */
struct extent {
  int64_t count;
  const struct share *share; /* of which only their part; NULL: all */
  bool fixed;
  bool mask;    /* of dropout */
  bool whole;   /* each of several devices has all of it */
  bool meets;   /* a value for each two positions: scores of attention */
  bool several; /* nothing of a single sample */
  unsigned char at_once; /* so many samples at most; 0: all */
  enum width width;
};

enum result {
  RESULT_NEW,
  RESULT_VIEW,     /* the first input, seen otherwise */
  RESULT_IN_PLACE, /* written over the first input, where that is allowed */
};

/* The gradients of the inputs that need one. */
enum gradient {
  GRADIENT_NEW,    /* each of its input's size */
  GRADIENT_SHARED, /* the output's own, or a part of it */
  GRADIENT_FIRST,  /* so only the first input's: a difference */
  GRADIENT_MOVED,  /* new, but one number that is spread stays one */
  GRADIENT_LARGER, /* of the output's size, where that is larger */
};

/* How the gradients of an operation on maps lie. */
enum map_order {
  MAP_NONE,   /* it is none */
  MAP_AS_IN,  /* as the input does */
  MAP_AS_OUT, /* as the output's gradient does, of a map with channels last */
  MAP_FIRST,  /* channels first */
};

/* What of a gradient is copied, so that it is in one piece. */
enum tape_packing {
  PACKS_NOTHING,
  PACKS_PLACES, /* spread over some places, which are seen as one axis */
  PACKS_PARTS,  /* of a larger one, whose samples lie apart */
  PACKS_VALUES, /* and one number that is spread */
  PACKS_MAPS,   /* and a map that has its channels last */
  PACKS_FIRST,  /* or, but for one channel or place, first */
};

/* Mixed precision: what an operation computes in (ATen/autocast_mode.h). */
enum cast {
  CAST_NONE, /* the widest of its inputs */
  CAST_LOW,
  CAST_FULL,
};

enum { KEEPS_OUT = 1 << 8 };
#define KEEPS_IN(i) (1 << (i))

/* What a layer records. Unused members are zero. */
struct operation {
  const char *name;
  const struct lowering *does; /* what it computes; NULL: only in training */
  const size_t *in;
  int in_count;
  bool listed;       /* `in` is part of the tape's parts: */
  size_t first_part; /* from there, which is not copied */
  int held; /* the last so many inputs: alive while it runs, but not read */
  struct extent out;
  int outs; /* several of the same extent, as a split gives; 0: one */
  enum result result;
  bool elementwise; /* may be written over its first input */
  bool packs;       /* the output is in one piece, however the input lies */
  uint32_t layout;  /* of the output: layout.h */
  const uint32_t *layouts; /* of each of several */
  enum map_order map;      /* how its gradients lie */
  enum row_order rows;     /* the input's, of a product of rows */
  bool view_of_one;        /* at a batch of 1 no copy is needed */
  int keeps;               /* KEEPS_IN(i) | KEEPS_OUT */
  bool in_place_clones;    /* in place it keeps a copy of its input instead */
  bool view;               /* autograd knows the output as a view of another */
  bool stops;              /* no gradient passes */
  struct extent kept[2];   /* more that backward needs */
  bool always_makes;  /* these, while training, also if nothing needs them */
  struct extent work; /* while it runs */
  enum gradient gradient;
  enum row_order turns; /* a view: so lie the rows of its input's gradient */
  enum row_order parts; /* of its gradient, which it gives its inputs */
  bool by_rows; /* a gradient whose rows are not together is copied first */
  enum tape_packing packs_gradient;   /* before the kernel sees it */
  struct extent back_work, back_more; /* while its gradients are computed */
  bool reduces; /* of a smaller input first a gradient of the output's size */
  bool gradient_as_in; /* elementwise: it lies as the input does */
  bool gives_frozen;   /* parameters that are not trained get gradients, too */
  /* Of the layer, which it reads and gives gradients; or all of them. */
  int first_param, param_count;
  int param_step; /* from one to the next; 0: 1 */
  bool all_params;
  bool splits;     /* its weights may be spread over devices */
  bool by_channel; /* no channel of its output needs another one */
  bool scores;     /* devices that share a layer can compare parts of the
                      channels, and sum up what they found: a loss */
  bool rings;      /* every position meets every row of its operands but the
                      first: attention */
  bool exchanges;  /* rows come from and go to experts */
  int64_t macs;    /* of a sample, where `checkpoint=selective` asks */
  bool folds;      /* scale and shift: a plan folds it away */
  enum cast cast;
  bool still;  /* the same for every sample, and so there once: constants */
  bool inner;  /* a step of several that are one kernel where speed counts */
  bool spares; /* backward reads each operand, or its matrix, only for the
                  gradients of the others */
};

/* Places in the tape's arrays have 32 bits: there are as many as layers. */
struct tape_value {
  uint32_t extent; /* tape_extent() */
  uint32_t storage;
  uint32_t strides;     /* in the tape's numbers, if it lowers; else layout.h */
  uint32_t param;       /* it is this one of the model, from 1; 0: none */
  uint32_t param_count; /* and those after it, so many in all */
  uint32_t first_part;  /* of a concat, in the tape's parts */
  uint32_t part_count;
  signed char axis;
  bool needs_gradient : 1;
  bool still : 1;  /* there once for all samples */
  bool shared : 1; /* two layers read it */
  bool point : 1;  /* without an axis: it widens no values of fewer bits */
  bool part : 1;   /* one of several views, which are never written over */
  bool view : 1;   /* autograd knows it as a view: struct operation */
};

struct tape_storage {
  uint32_t extent;  /* tape_storage_extent() */
  uint32_t sample;  /* of all samples: tape_sample_values() */
  int32_t pending;  /* layers that will still read it */
  int32_t node;     /* that made it */
  uint32_t view_of; /* at a batch of 1 it is that storage, from 1; 0: none */
  uint32_t weight;  /* it is that parameter of the model, from 1; 0: none */
  bool owned : 1;   /* neither parameter nor input of the net */
  bool saved : 1;
  bool leads_back : 1; /* a gradient passes through it */
  bool stays : 1;      /* a module has it until it computes it again */
};

/* What an operation is: the same for all that are alike. */
struct op_facts {
  const char *name;
  int in_count, out_count, saved_count;
  int held_count;                /* of the inputs, the last */
  int param_count, frozen_count; /* that are trained; after these, others */
  enum result result;
  enum gradient gradient;
  bool elementwise, folds;
  bool listed; /* its inputs are among the tape's parts */
  bool splits, by_channel, scores, rings, exchanges;
  bool core;            /* of attention, where every position meets others */
  int64_t macs;         /* of that, in a sample */
  bool ahead;           /* gradients of parameters are made forward */
  bool by_sample;       /* its matrix first has a gradient for each sample */
  bool input_by_sample; /* so has its second input, which is a matrix */
  bool packs;
  bool on_view; /* it writes over a view: CopySlices of autograd */
  enum map_order map;
  enum row_order turns; /* of the input's gradient, if they do otherwise */
  enum row_order parts;
  bool by_rows;
  enum tape_packing packs_gradient;
  bool matrix_last; /* its gradient comes after those of its bias */
  bool reduces; /* a smaller input's gradient is summed up from a larger one */
  bool gradient_as_in;
  bool gives_frozen;
  bool inner; /* a step of what is timed as one kernel */
  bool quiet; /* many alike at once: what is alive meanwhile says nothing */
  bool drops; /* what would be kept, for nothing needs a gradient */
  struct extent kept[4]; /* the last two: a clone, 16-bit matrices */
  struct extent work, back_work, back_more;
  struct extent unpacked; /* matrices in blocks, written out while it runs */
  /* Of several devices: what is whole while it runs, forward and backward. */
  struct extent gathered, back_gathered;
};

/* One channel, or one place, lies in one order only. */
static inline enum tape_packing packing_of(const struct shape *map) {
  return shape_channels(map) > 1 && shape_rows(map) > 1 ? PACKS_MAPS
                                                        : PACKS_VALUES;
}

/* Kernels have channels first, but where they may be `last`: layout_of_map()
 * says so of values. */
static inline enum map_order map_order(const struct shape *map, int last) {
  return map->rank == 1 || layout_has_last(map, last) ? MAP_AS_IN : MAP_FIRST;
}

/* An operation on the tape. Ranges are into the tape's arrays. */
struct tape_op {
  const struct op_facts *facts; /* tape_own_facts() changes them */
  int32_t node;
  uint32_t first_in, first_out, first_saved, first_param;
  uint32_t first_storage; /* it makes none before */
};

/*
 * What an operation of the tape computes. Ranges are into its arrays; weights
 * are among its parameters, from that of the operation.
 */
struct tape_lowered {
  enum opcode opcode;
  uint32_t first_number, first_strides;
  int number_count, weight_count;
  double real[LOWERING_REALS];
  struct slide slide;
};

/* A parameter's part in the tape. */
struct tape_param {
  size_t index; /* in the model; that of the first, if it is shared */
  int64_t count;
  size_t copies; /* so many in the model, one after the other */
  bool trained, matrix;
  struct strides lies; /* if the tape lowers */
};

/*
 * A block of experts runs in iterations, of some of them each. The layers in
 * front of it and after it tell each other here what goes around it.
 */
struct expert_turn {
  const struct share *share; /* NULL: all at once */
  bool first, last;
  struct extent out; /* what the experts' results are added to */
  size_t weights, mask, places, sum; /* values */
};

/* Norms of rows: as the profile has them, one kernel, one that keeps less, on
 * a copy in 32 bits of what has 16. */
enum tape_norms { NORMS_PLAIN = 1, NORMS_FUSED, NORMS_EFFICIENT, NORMS_FLOAT };

/* Places in arrays of the tape. */
typedef VEC(uint32_t) tape_places;

struct tape {
  struct arena *arena;
  const struct profile *profile;
  bool training, in_place, mixed;
  bool half; /* products have 16 bits, by themselves or under autocast */
  enum tape_norms norms;
  bool packed; /* products with frozen matrices, in blocks, keep their input */
  bool stops;  /* a gradient ends before it reaches all that would take it */
  VEC(struct tape_value) values;
  VEC(struct tape_storage) storages;
  VEC(struct tape_op) ops;
  VEC(struct extent) extents;      /* those that differ, of all of these */
  VEC(struct tape_layout) layouts; /* likewise: layout.h */
  const struct op_facts **recent;  /* facts.c */
  uint32_t *recent_extents;
  tape_places ins;    /* values */
  tape_places saved;  /* storages */
  VEC(size_t) parts;  /* values: of concats, also of several */
  size_t part_count;  /* all of these concats together */
  tape_places params; /* in the model: of training, or of what is lowered */
  size_t fence;       /* storages before it are not overwritten: checkpoints */

  /* For a net that will run: what its operations compute, and on what. */
  bool lowers;
  bool single; /* a batch of 1, for which some copies are views */
  VEC(struct tape_lowered) lowered; /* operations that are alike have one */
  VEC(uint32_t) lowered_of;         /* by operation */
  VEC(int64_t) numbers;             /* of lowered operations, and layouts */
  VEC(uint32_t) strides; /* of inputs, parameters and outputs: in numbers */

  bool *copied;       /* mixed: parameters whose 16-bit copy is there */
  uint32_t *computed; /* by parameter: the value from 1 that a module has */

  struct expert_turn *turn;  /* NULL: no block of experts */
  const struct share *share; /* of the rows that are recorded now */

  /* While a layer records: */
  bool core; /* the core of attention */
  int64_t node;
  const struct tape_param *node_params;
  int node_param_count;
};

/* How long the tape's arrays are. */
struct tape_marks {
  size_t values, storages, ops, ins, saved, params, parts;
};

static inline struct tape_marks tape_marks(const struct tape *tape) {
  return (struct tape_marks){tape->values.count, tape->storages.count,
                             tape->ops.count,    tape->ins.count,
                             tape->saved.count,  tape->params.count,
                             tape->parts.count};
}

/* The value that is an operation's input `i`. */
static inline size_t tape_input(const struct tape *tape,
                                const struct tape_op *op, int i) {
  size_t at = op->first_in + (size_t)i;
  return op->facts->listed ? tape->parts.at[at] : tape->ins.at[at];
}

/* How large a value is, and its storage; until the tape records another. */
static inline const struct extent *tape_extent(const struct tape *tape,
                                               size_t value) {
  return &tape->extents.at[tape->values.at[value].extent];
}

static inline const struct extent *tape_storage_extent(const struct tape *tape,
                                                       size_t storage) {
  return &tape->extents.at[tape->storages.at[storage].extent];
}

/* How many values of its storage lie between two samples of a value. */
static inline int64_t tape_sample_values(const struct tape *tape,
                                         size_t value) {
  size_t storage = tape->values.at[value].storage;
  return tape->extents.at[tape->storages.at[storage].sample].count;
}

/* What operation `index` computes, if the tape lowers. */
static inline const struct tape_lowered *tape_lowered(const struct tape *tape,
                                                      size_t index) {
  return &tape->lowered.at[tape->lowered_of.at[index]];
}

/* A value in the net's width, if mixed precision has it in 16 bits: a copy. */
size_t tape_widen(struct tape *tape, size_t in);

/* Records an operation; returns its first output. */
size_t tape_run(struct tape *tape, const struct operation *op);

/* A parameter of the operation, as its layer numbers them. */
static inline int operation_param(const struct operation *op, int i) {
  return op->first_param + i * (op->param_step ? op->param_step : 1);
}

/* The same of one that reads the value `in` alone. */
size_t tape_run_on(struct tape *tape, size_t in, struct operation op);

/* A place in an array, or a number of as many: 32 bits, checked. */
static inline uint32_t tape_place(const struct tape *tape, size_t place) {
  if (place > UINT32_MAX)
    arena_fail(tape->arena); /* hundreds of GiB */
  return (uint32_t)place;
}

/* Facts like those of an operation before are the same ones: facts.c */
const struct op_facts *tape_facts(struct tape *tape,
                                  const struct op_facts *facts);

/* The place of an extent in the tape's: alike ones have the same of late. */
uint32_t tape_keep_extent(struct tape *tape, struct extent extent);

/* Makes a value larger or smaller than it was recorded. */
void tape_resize(struct tape *tape, size_t value, struct extent extent);

/* Gives a value room for as many behind its samples: what PyTorch makes by
 * empty_like() and then makes smaller. */
void tape_enlarge(struct tape *tape, size_t value, int64_t count);

/* Facts of operation `index` that are its own, to be changed. */
struct op_facts *tape_own_facts(struct tape *tape, size_t index);

/* A value whose storage is not the net's own: an input, a parameter. */
size_t tape_outside(struct tape *tape, struct extent extent, bool trained);

bool extent_equal(const struct extent *a, const struct extent *b);

/* Of those that the tape keeps, each once unless many others came between. */
bool tape_same_extent(const struct tape *tape, size_t a, size_t b);

/* By members: the holes between them may hold anything. */
bool facts_equal(const struct op_facts *a, const struct op_facts *b);

/* Whether two values are alike, but for what they refer to and are parts of. */
bool tape_alike(const struct tape *tape, const struct tape_value *a,
                const struct tape_value *b);

/* The extent of a layer's tensor. */
struct extent extent_of(const struct shape *shape);
struct extent extent_fixed(int64_t count, enum width width);
struct extent extent_sample(int64_t count, enum width width);

/*
 * What an operation makes beside its output: kept for backward, or gone when it
 * has run. A plan has none: the runtime's kernels do without.
 */
void tape_makes(const struct tape *tape, struct operation *op,
                struct extent extent);

/* Common kinds of layers. */

/* How a value lies; without any axis if the tape does not lower. */
struct strides tape_strides(const struct tape *tape, size_t value);

/* The same from their place in the tape's numbers. */
struct strides tape_strides_at(const struct tape *tape, size_t place);

/* Whether what is at both places says the same. */
bool tape_same_strides(const struct tape *tape, size_t a, size_t b);

/* Whether two operations compute the same, if the tape lowers. */
bool tape_same_lowered(const struct tape *tape, size_t a, size_t b);

/* Sees a value that the layer has just made with other sizes. */
void tape_see(struct tape *tape, size_t value, const struct strides *strides);

/* Keeps what an operation computes: lowering.c */
void tape_lower(struct tape *tape, const struct operation *op, const size_t *in,
                size_t first_out, int out_count);

/* The same values, of shape `from`, with the sizes of `to`. */
size_t tape_view(struct tape *tape, const char *name, size_t in,
                 const struct shape *from, const struct shape *to);

/* The same values of a sample as one vector. */
size_t tape_flatten(struct tape *tape, size_t in, const struct shape *from);

/* A copy of strided values; others are returned as they are. */
size_t tape_dense(struct tape *tape, size_t in);

/* Of which the rows lie so: a copy, unless they are together. Of one sample it
   is a view, unless they are apart. */
size_t tape_together(struct tape *tape, size_t in, enum row_order rows);

/* The rows of a matrix: copied, if they are apart; how they lie then. */
size_t tape_rows(struct tape *tape, size_t in, enum row_order *rows);

/* A parameter of the layer as a value. */
size_t tape_parameter(struct tape *tape, int index);

/* Whether that parameter of the layer is trained. */
bool tape_trains(const struct tape *tape, int index);

#endif
