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
  WIDTH_NET, /* the net's element type; recording resolves it */
  WIDTH_LOW, /* mixed precision: 16 bits */
  WIDTH_F32, /* statistics */
  WIDTH_I32,
  WIDTH_INDEX, /* 64 bits */
  WIDTH_MASK,  /* of dropout: the net's element type, or a byte */
  WIDTH_BOOL,
  WIDTH_TYPED, /* and an element: another type than the net's, by `dtype=` */
};

/* The element of a width after WIDTH_TYPED; 0: it has none. */
static inline int width_element(enum width width) {
  return (int)width > WIDTH_TYPED ? (int)width - WIDTH_TYPED : 0;
}

/*
 * Experts [first, first + count) of `of`. The rows of the batch are divided
 * among all experts evenly; the first ones get the remainder.
 */
struct share {
  int64_t first, count, of;
  int64_t rows; /* of a sample, over all experts */
};

/* `count` values per sample, or in total if `fixed`. */
struct extent {
  int64_t count;
  const struct share *share; /* only these experts' part; NULL: all of it */
  bool fixed;
  bool mask;             /* a dropout mask */
  bool whole;            /* every device holds all of it */
  bool meets;            /* a value per pair of tokens: scores of attention */
  bool routed;           /* rows that a device's experts get */
  bool several;          /* empty at a batch of 1 */
  bool pages;            /* rounded up to pages of 4,096 bytes */
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
  MAP_AS_OUT, /* the output gradient's, if its map has channels last */
  MAP_FIRST,  /* channels first */
};

/* Gradients that are copied to be contiguous; each value
 * includes those above. */
enum tape_packing {
  PACKS_NOTHING,
  PACKS_PLACES, /* expanded over positions that are viewed as one axis */
  PACKS_PARTS,  /* slices of a larger one, with gaps between samples */
  PACKS_VALUES, /* one expanded number */
  PACKS_MAPS,   /* a map with channels last */
  PACKS_FIRST,  /* a map with channels first, unless trivial */
};

/* The element type of an operation under ATen/autocast_mode.h of PyTorch 2.6:
 * AT_FORALL_LOWER_PRECISION_FP and AT_FORALL_FP32. */
enum cast {
  CAST_NONE, /* the widest type of its inputs */
  CAST_LOW,
  CAST_FULL,
  CAST_FIRST, /* that of its first input; no other is cast */
  CAST_OUT,   /* AT_FORALL_FP32_SET_OPT_DTYPE: 32 bits, and no input is cast */
};

enum { KEEPS_MOST = 24, KEEPS_OUT = 1 << KEEPS_MOST };
enum { KEEPS_ALL = KEEPS_OUT - 1 }; /* inputs */
#define KEEPS_IN(i) (1 << (i))

struct lowering; /* lowering.h; few files need it */
struct tape_lowered;

/* An operation as a layer records it. facts.def lists the members;
 * unused ones are zero. */
/* Tensors that are kept, besides values of the tape: facts.def. */
enum { KEPT_OWN = 4, KEPT_CLONE = KEPT_OWN, KEPT_CASTS, KEPT_COUNT };

struct operation {
#define SAID(type, member) type member;
#define FACT SAID
#define EXTENT(member, said, found) struct extent member said;
#include "layers/tape/facts.def"
};

/* Indices into the tape's arrays have 32 bits: a large net has many values. */
struct tape_value {
  uint32_t extent; /* tape_extent() */
  uint32_t storage;
  uint32_t strides;     /* index in `numbers` if the tape lowers; else
                         * layout.h */
  uint32_t param;       /* the model's parameter, from 1; 0: none */
  uint32_t param_count; /* this one and those after it */
  uint32_t first_part;  /* of a concat, in tape->parts */
  uint32_t part_count;
  signed char axis;
  bool needs_gradient : 1;
  bool still : 1;  /* stored once for all samples */
  bool shared : 1; /* two layers read it */
  bool point : 1;  /* a 0-d tensor, which does not widen other elements */
  bool part : 1;   /* one of several views; never overwritten */
  bool view : 1;   /* is_view() of autograd: facts.def */
};

struct tape_storage {
  uint32_t extent;  /* tape_storage_extent() */
  uint32_t sample;  /* extent of a sample: tape_sample_values() */
  int32_t pending;  /* layers that have yet to read it */
  int32_t node;     /* the node that allocates it */
  uint32_t view_of; /* the storage it aliases at batch 1, from 1; 0: none */
  uint32_t weight;  /* the model's parameter, from 1; 0: none */
  bool owned : 1;   /* neither a parameter nor an input of the net */
  bool saved : 1;
  bool leads_back : 1; /* a gradient passes through it */
  bool stays : 1;      /* a module holds it until it is computed again */
};

/* Facts of a recorded operation: facts.def has the members. Shared if equal. */
struct op_facts {
#define FACT(type, member) type member;
#define FOUND FACT
#define EXTENT(member, said, found) struct extent member found;
#define FOUND_EXTENT(member) struct extent member;
#include "layers/tape/facts.def"
};

/* A map of one channel or one position has no order of channels. */
static inline enum tape_packing packing_of(const struct shape *map) {
  return shape_channels(map) > 1 && shape_rows(map) > 1 ? PACKS_MAPS
                                                        : PACKS_VALUES;
}

/* Kernels have channels first unless `last` allows otherwise; layout_of_map()
 * is the same rule for values. */
static inline enum map_order map_order(const struct shape *map, int last) {
  return map->rank == 1 || layout_has_last(map, last) ? MAP_AS_IN : MAP_FIRST;
}

/* An operation on the tape. Indices are into the tape's arrays. */
struct tape_op {
  const struct op_facts *facts; /* tape_own_facts() makes a copy to change */
  int32_t node;
  uint32_t first_in, first_out, first_saved, first_param;
  uint32_t first_storage; /* the first of its own storages */
};

/* A parameter of the layer that records. */
struct tape_param {
  size_t index; /* in the model; a shared one has the first one's index */
  int64_t count;
  size_t copies; /* number of equal parameters of the model from there on */
  bool trained, matrix;
  bool typed;          /* its layer has `dtype=` */
  enum width width;    /* WIDTH_NET, or by `dtype=` */
  struct strides lies; /* if the tape lowers */
};

/*
 * A block of experts runs in iterations with some of the experts each. The
 * layers before and after it share the values that pass by it.
 */
struct expert_turn {
  const struct share *share; /* NULL: all at once */
  bool first, last;
  struct extent out;                 /* the experts' results are added to it */
  size_t weights, mask, places, sum; /* indices of values */
  size_t tokens;                     /* the value whose rows experts get */
  size_t sent, received;             /* grouped: rows in other orders */
  bool closed; /* no layer outside reads a value inside, or the reverse */

  /* A plan, while it is in the block: experts.h. */
  size_t experts;      /* the value with the expert of each row; 0: outside */
  int64_t count;       /* of experts */
  int64_t room;        /* rows of each expert of a sample; 0: unlimited */
  struct strides rows; /* all axes of the rows but their features */
};

/* Kernels for norms of rows: as in the profile, fused, fused and keeping less,
 * or on a copy in 32 bits. */
enum tape_norms { NORMS_PLAIN = 1, NORMS_FUSED, NORMS_EFFICIENT, NORMS_FLOAT };

/* Kernels for attention that names none: one that stores no scores; the steps
 * of its definition; those steps with softmax in 32 bits, as transformers'
 * eager_attention_forward() has it. 0: as in the profile. */
enum tape_attention { TAPE_FUSED = 1, TAPE_NAIVE, TAPE_EAGER };

/* Kernels for an activation times another path: both, or one that computes the
 * activation again in backward. */
enum tape_glu { GLU_PLAIN = 1, GLU_FUSED };

/* Experts one after the other; all in one product, on rows sorted by expert; or
 * so, and a token is sent once to each device. */
enum tape_experts { EXPERTS_ONE_BY_ONE = 1, EXPERTS_GROUPED, EXPERTS_DEEPEP };

/* Indices into the tape's arrays. */
typedef VEC(uint32_t) tape_places;

struct tape {
  struct arena *arena;
  const struct profile *profile;
  bool training, in_place, mixed;
  bool asked_in_place; /* by the layer itself, not by the setting */
  bool half;           /* products have 16 bits: the net's, or autocast's */
  enum tape_norms norms;
  int attention; /* enum tape_attention */
  bool gated;    /* the layer's only reader multiplies it by another path, in
                  * one kernel with it */
  enum tape_experts experts; /* 0: one after the other */
  bool packed;    /* products keep their input for a frozen matrix in blocks */
  bool in_blocks; /* products with a frozen matrix in blocks give the type of
                   * their input, not autocast's */
  bool as_read;   /* and read it as it is */
  bool blocked;   /* frozen matrices are in blocks, under autocast or not */
  bool stops;     /* a gradient ended before all that needs one */
  int element;    /* enum element of the net if layers have others; or 0 */
  int (*promote)(int a, int b); /* the type of a sum of two */
  VEC(struct tape_value) values;
  VEC(struct tape_storage) storages;
  VEC(struct tape_op) ops;
  VEC(struct extent) extents;      /* each once, if a recent one is equal */
  VEC(struct tape_layout) layouts; /* the same; see layout.h */
  const struct op_facts **recent;  /* facts.c */
  uint32_t *recent_extents;
  tape_places ins;    /* indices of values */
  tape_places saved;  /* indices of storages */
  VEC(size_t) parts;  /* values of concats; ranges may be shared */
  size_t part_count;  /* parts of all concats in total */
  tape_places params; /* indices in the model, if it trains or lowers */
  size_t fence;       /* storages before it are not overwritten: checkpoints */

  /* For a net that will run: computations and their strides. */
  bool lowers;
  bool single; /* a batch of 1, at which some copies are views */
  VEC(struct tape_lowered) lowered; /* equal operations share one */
  VEC(uint32_t) lowered_of;         /* index in `lowered`, by operation */
  VEC(int64_t) numbers;             /* of lowered operations, and strides */
  VEC(uint32_t) strides; /* of inputs, parameters, outputs: in numbers */

  bool *copied;       /* mixed: by parameter, true if it has a 16-bit copy */
  uint32_t *computed; /* by parameter: the value, from 1, that a module holds */

  struct expert_turn *turn;  /* NULL: outside a block of experts */
  const struct share *share; /* experts whose rows are recorded now */

  /* While a layer records: */
  enum width own; /* of its parameters */
  bool core;      /* it is in the core of attention */
  int64_t node;
  const struct tape_param *node_params;
  int node_param_count;
};

/* Lengths of the tape's arrays. */
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

/* The extent of a value, and of its storage. Valid until the
 * tape records another. */
static inline const struct extent *tape_extent(const struct tape *tape,
                                               size_t value) {
  return &tape->extents.at[tape->values.at[value].extent];
}

static inline const struct extent *tape_storage_extent(const struct tape *tape,
                                                       size_t storage) {
  return &tape->extents.at[tape->storages.at[storage].extent];
}

/* The distance between two samples of a value, in values of its storage. */
static inline int64_t tape_sample_values(const struct tape *tape,
                                         size_t value) {
  size_t storage = tape->values.at[value].storage;
  return tape->extents.at[tape->storages.at[storage].sample].count;
}

/* True if an operation may write over the value: PyTorch does not overwrite a
 * saved tensor, and no later layer may read it. */
bool tape_may_overwrite(const struct tape *tape, size_t value);

/* The value in the net's width: a copy if mixed precision made it 16 bits. */
size_t tape_widen(struct tape *tape, size_t in);

/* The value in the width of `as`, under mixed precision. */
size_t tape_cast_as(struct tape *tape, size_t in, size_t as);

/* The first of `count` values in `width`; the others, which callers hold, stay
 * in memory until then. */
size_t tape_cast_to(struct tape *tape, const size_t *in, int count,
                    enum width width);

/* The value in the type of the recording layer's parameters. */
size_t tape_cast_own(struct tape *tape, size_t in);

/* Records an operation; returns its first output. */
size_t tape_run(struct tape *tape, const struct operation *op);

/* The layer's index of parameter `i` of the operation. */
static inline int operation_param(const struct operation *op, int i) {
  return op->first_param + i * (op->param_step ? op->param_step : 1);
}

/* Records an operation with the single input `in`. */
size_t tape_run_on(struct tape *tape, size_t in, struct operation op);

/* An index or a count as 32 bits; fails if it does not fit. */
static inline uint32_t tape_place(const struct tape *tape, size_t place) {
  if (place > UINT32_MAX)
    arena_fail(tape->arena); /* hundreds of GiB */
  return (uint32_t)place;
}

/* Stores facts, or returns a recent equal copy: facts.c */
const struct op_facts *tape_facts(struct tape *tape,
                                  const struct op_facts *facts);

/* Stores an extent, or returns the index of a recent equal one. */
uint32_t tape_keep_extent(struct tape *tape, struct extent extent);

/* Changes the extent of a recorded value; its width stays. */
void tape_resize(struct tape *tape, size_t value, struct extent extent);

/* Enlarges the storage of a value to `count` values: PyTorch allocates it with
 * empty_like() and then shrinks it. */
void tape_enlarge(struct tape *tape, size_t value, int64_t count);

/* A copy of the facts of operation `index` that may be changed. */
struct op_facts *tape_own_facts(struct tape *tape, size_t index);

/* A value with a storage outside the net: an input, a parameter. */
size_t tape_outside(struct tape *tape, struct extent extent, bool trained);

bool extent_equal(const struct extent *a, const struct extent *b);

/* True if two extents are equal. */
bool tape_same_extent(const struct tape *tape, size_t a, size_t b);

/* Compares members: padding between them may hold anything. */
bool facts_equal(const struct op_facts *a, const struct op_facts *b);

/* True if two values are equal but for their storage, parameter and parts. */
bool tape_alike(const struct tape *tape, const struct tape_value *a,
                const struct tape_value *b);

/* The extent of a layer's tensor. */
struct extent extent_of(const struct shape *shape);
struct extent extent_fixed(int64_t count, enum width width);
struct extent extent_sample(int64_t count, enum width width);

/* A product with a number keeps it as a tensor of the host: a double, or
 * nothing where that is not the tensors' memory. */
struct extent tape_number(const struct tape *tape);

/*
 * A result beside the output, which is kept for backward, or freed with the
 * operation. A plan has none: the runtime's kernels do not need it.
 */
void tape_makes(const struct tape *tape, struct operation *op,
                struct extent extent);

/* A softmax keeps its output and, until 2021, its input. */
static inline int softmax_keeps(const struct tape *tape) {
  return KEEPS_OUT | (tape->profile->softmax_keeps_input ? KEEPS_IN(0) : 0);
}

/* Common kinds of layers. */

/* The strides of a value; rank 0 if the tape does not lower. */
struct strides tape_strides(const struct tape *tape, size_t value);

/* The strides at an index of the tape's numbers. */
struct strides tape_strides_at(const struct tape *tape, size_t place);

/* True if the strides at both indices are equal. */
bool tape_same_strides(const struct tape *tape, size_t a, size_t b);

/* True if two operations compute the same; the tape must lower. */
bool tape_same_lowered(const struct tape *tape, size_t a, size_t b);

/* Gives a value that the layer has just made other strides. */
void tape_see(struct tape *tape, size_t value, const struct strides *strides);

/* Stores an operation's lowering: lowering.c */
void tape_lower(struct tape *tape, const struct operation *op, const size_t *in,
                size_t first_out, int out_count);

/* Views `in` of shape `from` as shape `to`. */
size_t tape_view(struct tape *tape, const char *name, size_t in,
                 const struct shape *from, const struct shape *to);

/* Views `in` as one vector a sample. */
size_t tape_flatten(struct tape *tape, size_t in, const struct shape *from);

/* A contiguous copy; `in` if it is contiguous. */
size_t tape_dense(struct tape *tape, size_t in);

/* `in` with its rows together. Unless `rows` is ROWS_TOGETHER it is a copy, or
 * at a batch of 1 a view unless `rows` is ROWS_APART. */
size_t tape_together(struct tape *tape, size_t in, enum row_order rows);

/* `in` as rows of a matrix, copied if they are apart; sets their order. */
size_t tape_rows(struct tape *tape, size_t in, enum row_order *rows);

/* A parameter of the layer as a value. */
size_t tape_parameter(struct tape *tape, int index);

/* True if that parameter of the layer is trained. */
bool tape_trains(const struct tape *tape, int index);

#endif
