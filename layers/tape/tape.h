/*
 * Tape: the operations that a framework runs for a net, in order, with what
 * each keeps for its backward pass. Layers record it and memory/ reads it.
 *
 * A value is a tensor. Its bytes are in a storage, which views and in-place
 * results share. Sizes are linear in the batch, so that one tape serves all
 * batches.
 */
#ifndef NETC_LAYERS_TAPE_TAPE_H
#define NETC_LAYERS_TAPE_TAPE_H

#include "base/arena.h"
#include "layers/tape/layout.h"
#include "layers/tape/profile.h"
#include "layers/tape/strides.h"

enum width {
  WIDTH_NET, /* the net's element; resolved when it is recorded */
  WIDTH_LOW, /* mixed precision: 16 bits */
  WIDTH_F32, /* statistics */
  WIDTH_I32,
  WIDTH_INDEX, /* 64 bits */
  WIDTH_MASK,  /* of dropout: the net's element, or a byte */
  WIDTH_BOOL,
};

/*
 * Experts [first, first + count) of `of`. The rows of the batch are divided
 * among all experts evenly; the first ones get the remainder.
 */
struct share {
  int64_t first, count, of;
  int64_t rows; /* of a sample, for all experts together */
};

/* `count` values per sample, or in total if `fixed`. */
struct extent {
  int64_t count;
  const struct share *share; /* only these experts' part; NULL: all of it */
  bool fixed;
  bool mask;             /* a dropout mask */
  bool whole;            /* every device has all of it */
  bool meets;            /* a value per pair of tokens: scores of attention */
  bool several;          /* empty at a batch of 1 */
  unsigned char at_once; /* maximum number of samples; 0: all */
  enum width width;
};

enum result {
  RESULT_NEW,
  RESULT_VIEW,     /* a view of the first input */
  RESULT_IN_PLACE, /* overwrites the first input, where that is allowed */
};

/* The gradients of the inputs that need one. */
enum gradient {
  GRADIENT_NEW,    /* new tensors of the inputs' sizes */
  GRADIENT_SHARED, /* the output's own, or a part of it */
  GRADIENT_FIRST,  /* the first input's is shared: a difference */
  GRADIENT_MOVED,  /* new, but an expanded number stays one number */
  GRADIENT_LARGER, /* of the output's size if that is larger */
};

/* The memory format of the gradients of an operation on maps. */
enum map_order {
  MAP_NONE,   /* not an operation on maps */
  MAP_AS_IN,  /* the input's format */
  MAP_AS_OUT, /* the output gradient's, for a map with channels last */
  MAP_FIRST,  /* channels first */
};

/* Gradients that are copied to be in one piece; each row adds to the last. */
enum tape_packing {
  PACKS_NOTHING,
  PACKS_PLACES, /* expanded over places that are viewed as one axis */
  PACKS_PARTS,  /* slices of a larger one, with gaps between samples */
  PACKS_VALUES, /* one expanded number */
  PACKS_MAPS,   /* a map with channels last */
  PACKS_FIRST,  /* a map with channels first, unless it has one of either */
};

/* The element an operation computes in under ATen/autocast_mode.h. */
enum cast {
  CAST_NONE, /* the widest element of its inputs */
  CAST_LOW,
  CAST_FULL,
};

enum { KEEPS_OUT = 1 << 8 };
#define KEEPS_IN(i) (1 << (i))

struct lowering; /* lowering.h, which few files need */
struct tape_lowered;

/* An operation as a layer records it; facts.def has the members. Unused ones
 * are zero. */
struct operation {
#define SAID(type, member) type member;
#define FACT SAID
#define EXTENT(member, said, found) struct extent member said;
#include "layers/tape/facts.def"
};

/* Places in the tape's arrays have 32 bits: a large net has many of them. */
struct tape_value {
  uint32_t extent; /* tape_extent() */
  uint32_t storage;
  uint32_t strides;     /* in the tape's numbers, if it lowers; else layout.h */
  uint32_t param;       /* the model's parameter that it is, from 1; 0: none */
  uint32_t param_count; /* it and the parameters after it */
  uint32_t first_part;  /* of a concat, in the tape's parts */
  uint32_t part_count;
  signed char axis;
  bool needs_gradient : 1;
  bool still : 1;  /* stored once for all samples */
  bool shared : 1; /* two layers read it */
  bool point : 1;  /* a 0-d tensor, which promotes no narrower element */
  bool part : 1;   /* one of several views, which are never overwritten */
  bool view : 1;   /* is_view() of autograd: facts.def */
};

struct tape_storage {
  uint32_t extent;  /* tape_storage_extent() */
  uint32_t sample;  /* of all samples: tape_sample_values() */
  int32_t pending;  /* layers that have yet to read it */
  int32_t node;     /* the node that made it */
  uint32_t view_of; /* the storage it is at a batch of 1, from 1; 0: none */
  uint32_t weight;  /* the model's parameter it is, from 1; 0: none */
  bool owned : 1;   /* neither parameter nor input of the net */
  bool saved : 1;
  bool leads_back : 1; /* a gradient passes through it */
  bool stays : 1;      /* a module holds it until it computes it again */
};

/* Facts of a recorded operation: facts.def has the members. Operations that are
 * alike share one. */
struct op_facts {
#define FACT(type, member) type member;
#define FOUND FACT
#define EXTENT(member, said, found) struct extent member found;
#define FOUND_EXTENT(member) struct extent member;
#include "layers/tape/facts.def"
};

/* A map of one channel or one place has no order of channels. */
static inline enum tape_packing packing_of(const struct shape *map) {
  return shape_channels(map) > 1 && shape_rows(map) > 1 ? PACKS_MAPS
                                                        : PACKS_VALUES;
}

/* Kernels have channels first unless they may be `last`; layout_of_map() is the
 * same rule for values. */
static inline enum map_order map_order(const struct shape *map, int last) {
  return map->rank == 1 || layout_has_last(map, last) ? MAP_AS_IN : MAP_FIRST;
}

/* An operation on the tape. Ranges are into the tape's arrays. */
struct tape_op {
  const struct op_facts *facts; /* tape_own_facts() changes them */
  int32_t node;
  uint32_t first_in, first_out, first_saved, first_param;
  uint32_t first_storage; /* its own storages are at and after this one */
};

struct lowering; /* lowering.h, which few files need */
struct tape_lowered;

/* An operation as a layer records it; facts.def has the members. Unused ones
 * are zero. */
struct tape_param {
  size_t index; /* in the model; the first one's index if it is shared */
  int64_t count;
  size_t copies; /* equal parameters of the model from there on */
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

static inline struct tape_marks tape_between(const struct tape_marks *a,
                                             const struct tape_marks *b) {
  return (struct tape_marks){b->values - a->values, b->storages - a->storages,
                             b->ops - a->ops,       b->ins - a->ins,
                             b->saved - a->saved,   b->params - a->params,
                             b->parts - a->parts};
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
