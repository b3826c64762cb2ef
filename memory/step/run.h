/* Inside the simulation: the state of a run, which its files share. */
#ifndef NETC_MEMORY_STEP_RUN_H
#define NETC_MEMORY_STEP_RUN_H

#include "memory/step/simulate.h"

/* A gradient that is not a parameter's; several values may share it. */
struct buffer {
  int64_t bytes;
  int64_t room; /* bytes of these that are unused, behind all samples */
  int64_t users;
  int64_t node;
  bool view; /* the gradient is a view of it: nothing is added to it */
};

/* How a pass over operations uses a storage. */
struct run_use {
  int64_t left;   /* reads, saves and outputs still to come */
  int64_t packed; /* saves still to come, if kept in groups */
  bool saved;     /* kept for backward */
  bool packs;     /* kept in groups of fewer bits */
  bool stored;    /* the groups are allocated */
  bool there;     /* the tensor is allocated */
  bool held;      /* a result that a segment keeps until it runs again */
};

/* A cached size: many tensors have the same extent. */
struct run_sized {
  struct extent extent;
  int64_t bytes;
};

/* An operation that no gradient reaches, and what it keeps for a while. */
struct run_loose {
  size_t op;
  int64_t kept; /* bytes besides tensors */
};

enum { SIZED = 64 }; /* a power of two */

/* The kind of a change; keys are `index * CHANGES + kind`. */
enum change_of {
  CHANGE_ONCE,
  CHANGE_AGAIN,
  CHANGE_STORED,
  CHANGE_BUFFER,
  CHANGES
};

/* A value's gradient: its buffer, from 1, and how it is used. */
struct held_gradient {
  size_t buffer;
  enum row_order turned;
  int64_t bytes, users;
  bool view;
};

/* Iterations that do not all run, and the state before the current one. */
struct run_skip {
  struct tape_turns turns;    /* clipped to the part that runs */
  size_t turn;                /* backward: the current iteration */
  struct held_gradient *held; /* by value of an iteration */
  struct moment now, peak;
  size_t peak_changes, changes, requests, buffers;
  int64_t cached;
};

struct run {
  struct simulation *s;
  const struct tape *tape;
  /* Only these are used if a part of the tape runs. */
  size_t first_storage, end_storage, first_value, end_value;
  struct run_use *once;           /* by storage: the forward pass */
  struct run_use *again;          /* by storage: a segment that is recomputed */
  const struct segment *repeated; /* the segment being recomputed, or NULL */
  bool keeps;                     /* operations keep what backward needs */
  int64_t cached;                 /* 16-bit weights of segments, in forward */
  size_t *gradient;               /* by value: its buffer, from 1 */
  enum row_order *turned;         /* by value: row order of its gradient */
  bool *has_gradient;             /* by parameter */
  bool *gradient_views;           /* by parameter: it is a view */
  size_t *first_use;              /* by parameter: its first operation */
  size_t *made; /* room for gradients of an operation's inputs */
  size_t made_room;
  VEC(struct buffer) buffers;
  int64_t *bytes;                /* by extent; -1: not yet computed */
  struct run_sized sized[SIZED]; /* recent sizes, by count */
  VEC(size_t) changes;      /* keys of allocations and frees: enum change_of */
  size_t changes_before[2]; /* its lengths at the two peaks */
  size_t key;               /* key + 1 of the next change; 0: it has none */
  struct moment now;
  size_t leg;        /* number of marks passed */
  size_t leap;       /* index of the next leap in the trace */
  size_t leap_at;    /* leap_pass() runs before this operation */
  struct left *left; /* the state one iteration before: leap.c */
  VEC(struct run_skip) skips;
  size_t skip;                 /* the next one */
  size_t due;                  /* the operation at which it is due */
  bool released;               /* the current operation's saves are freed */
  const uint32_t *until;       /* trace->until; NULL without a `detach` */
  VEC(struct run_loose) loose; /* loose.h */
  size_t loose_end;            /* operation count that frees the next one */
};

static inline const struct tape_value *run_value_at(const struct run *run,
                                                    size_t value) {
  return &run->tape->values.at[value];
}

/* The storage with the data: at a batch of 1, some copies are views. */
static inline size_t run_root_of(const struct run *run, size_t storage) {
  const struct tape_storage *at = run->tape->storages.at;
  while (run->s->batch == 1 && at[storage].view_of)
    storage = at[storage].view_of - 1;
  return storage;
}

static inline size_t run_storage_of(const struct run *run, size_t value) {
  return run_root_of(run, run_value_at(run, value)->storage);
}

static inline size_t run_input_of(const struct run *run,
                                  const struct tape_op *op, int i) {
  return tape_input(run->tape, op, i);
}

/* Storages are numbered in the order of the operations that make them. */
static inline bool run_made_in(const struct run *run,
                               const struct segment *segment, size_t storage) {
  const struct tape *tape = run->tape;
  size_t end = segment->end < tape->ops.count
                   ? tape->ops.at[segment->end].first_storage
                   : tape->storages.count;
  return storage >= tape->ops.at[segment->first].first_storage && storage < end;
}

/* True if the current pass moves what it saves to the host at once. */
static inline bool run_moves(const struct run *run) {
  return run->s->offload && !run->repeated;
}

static inline struct run_use *run_once(const struct run *run, size_t storage) {
  return &run->once[storage - run->first_storage];
}

/* In the current pass; a recomputed segment has its own uses, but for what it
 * has held. */
static inline struct run_use *run_use_of(struct run *run, size_t storage) {
  struct run_use *once = run_once(run, storage);
  if (run->repeated && run_made_in(run, run->repeated, storage) && !once->held)
    return &run->again[storage - run->first_storage];
  return once;
}

/* True if a segment keeps the results of an operation: checkpoint=ops. */
static inline bool run_holds(const struct run *run, const struct tape_op *op) {
  const bool *held = run->s->trace->held;
  return held && held[op - run->tape->ops.at];
}

static inline enum row_order *run_turned(const struct run *run, size_t value) {
  return &run->turned[value - run->first_value];
}

/* True if the rows of the value itself are transposed. */
static inline bool run_lies_turned(const struct run *run, size_t value) {
  return layout_turned(run->tape, run_value_at(run, value)->strides);
}

static inline size_t *run_gradient_of(const struct run *run, size_t value) {
  return &run->gradient[value - run->first_value];
}

/* True if changes need keys, so that each buffer has a number of its own. */
static inline bool run_lists(const struct run *run) {
  return run->s->lists || run->s->asks;
}

/* Called before run_change(). */
static inline void run_note_change(struct run *run, enum change_of of,
                                   size_t index) {
  run->key = index * CHANGES + of + 1;
  if (run->s->lists)
    *VEC_PUSH(run->s->arena, &run->changes) = index * CHANGES + of;
}

/* Storages and bytes: storage.c */

int64_t run_some_bytes(struct run *run, const struct extent *extent);

/* Most extents are empty. */
static inline int64_t run_bytes_of(struct run *run,
                                   const struct extent *extent) {
  return extent->count ? run_some_bytes(run, extent) : 0;
}

/* Bytes of an extent of the tape, by index. */
static inline int64_t run_extent_bytes(struct run *run, size_t extent) {
  if (run->bytes[extent] < 0)
    run->bytes[extent] = run_bytes_of(run, &run->tape->extents.at[extent]);
  return run->bytes[extent];
}

static inline int64_t run_value_bytes(struct run *run, size_t value) {
  return run_extent_bytes(run, run_value_at(run, value)->extent);
}

int64_t run_storage_bytes(struct run *run, size_t storage);

/*
 * `saved_dtype=`: tensors saved for backward are stored in groups of 256 values
 * and read back during a backward, if they have the net's type and a gradient
 * passes through. A recomputed segment's own saves are not.
 */
bool run_packable(const struct run *run, size_t storage);
int64_t run_packed_bytes(struct run *run, const struct extent *extent);

/* Writes a saved storage in groups, unless it already is. */
void run_pack(struct run *run, size_t storage);

/* A user of the groups is done. */
void run_unpack(struct run *run, size_t storage);

/* Bytes kept besides tensors, as stored until backward. */
int64_t run_stored_bytes(struct run *run, const struct tape_op *op);

/* Bytes during an operation: work space, unpacked matrices, gathered
 * tensors. */
int64_t run_work_bytes(struct run *run, const struct tape_op *op,
                       const struct extent *work,
                       const struct extent *gathered);

/* Adds bytes to those in memory, under the key of run_note_change(). */
void run_change(struct run *run, enum memory_part part, int64_t bytes);

void run_allocate(struct run *run, size_t storage);
void run_release(struct run *run, size_t storage); /* by one user */

/* A recomputed tensor replaces the one that its module has kept. */
void run_replace(struct run *run, const struct tape_op *op);

/* Count reads and saves of an operation in the current pass. */
void run_count_reads(struct run *run, const struct tape_op *op);
void run_count_saves(struct run *run, const struct tape_op *op);

/* Counts all users of storages that forward makes or reads. */
void run_count_uses(struct run *run);

/* Copies the inputs of a segment back from the host's memory. */
void run_fetch_inputs(struct run *run, const struct segment *segment);

/* Bytes copied back from the host while the backward of `op` runs. */
int64_t run_fetched_bytes(struct run *run, const struct tape_op *op);

/* Calls `does` once for each read of a segment's inputs. */
void run_each_input(struct run *run, const struct segment *segment,
                    void (*does)(struct run *run, size_t storage));

/* Releases the inputs that a segment held, after its backward. */
void run_release_inputs(struct run *run, const struct segment *segment);

/* The segment that begins at an operation, or NULL. */
const struct segment *run_segment_at(const struct run *run, size_t *next,
                                     size_t op);

/* The passes: simulate.c */

/* Updates the peaks at an operation. */
void run_sample(struct run *run, const struct tape_op *op);

/* Bytes in memory besides saved tensors. */
static inline int64_t run_beside(const struct run *run) {
  return run->now.bytes - run->now.parts[PART_SAVED];
}

/* Records a mark, forward or backward. */
void run_pass_mark(struct run *run);

/* Bytes that an operation keeps besides tensors. */
int64_t run_kept_bytes(struct run *run, const struct tape_op *op);

/* Runs a segment again, now keeping all that its backward needs. */
void run_segment_again(struct run *run, const struct segment *segment);

/* Skips: skips.c */

/* Finds the skips, and the operation where the first one is due. */
void run_find_skips(struct run *run);

/*
 * Called before operation `op` when it is run->due. Returns the next operation,
 * further ahead if iterations are skipped.
 */
size_t run_turn_ahead(struct run *run, size_t op);

/* Backward, where the operations after `op` have been run. */
void run_begin_back(struct run *run);
size_t run_turn_back(struct run *run, size_t op);

/* Backward: backward.c */

void run_backward(struct run *run);

/* Allocates a buffer for a gradient; returns its number, from 1. */
size_t run_new_buffer(struct run *run, int64_t node, int64_t bytes);

int64_t run_sum(struct run *run, int64_t a, int64_t b);

/*
 * With a loss, backward starts from a gradient of 1, which its caller holds.
 * Without one, a number is expanded over each output without memory.
 */
void run_start_backward(struct run *run, size_t end);

/* Gradients of parameters: params.c */

/* Adds the gradient of a parameter, which stays until the next step. `view`:
 * what is made is a view, as of a matrix that is transposed. */
void run_add_param_gradient(struct run *run, size_t param, bool view);

/*
 * Sums a second gradient of a parameter: a third tensor, unless it is added in
 * place.
 */
void run_add_to_param(struct run *run, const struct tape_op *op, size_t param);

/*
 * Make the gradients of an operation's parameters, beside those from other
 * operations that share them, marked in `again`; then sum those.
 */
void run_param_gradients(struct run *run, const struct tape_op *op,
                         bool *again);
void run_sum_param_gradients(struct run *run, const struct tape_op *op,
                             const bool *again);
/*
 * Sums a product's bias, which comes before the product's input and matrix in
 * addmm, and clears its mark; false if there is nothing to sum. Its part stays
 * until the input's gradient is passed on: run_drop_bias.
 */
bool run_sum_bias(struct run *run, const struct tape_op *op, bool *again);
void run_drop_bias(struct run *run, const struct tape_op *op);

/* A matrix with a gradient for each sample: bytes of all; their sum, before the
 * gradients of its inputs go on; a copy of the sum, after that. */
int64_t run_sample_gradients(struct run *run, const struct tape_op *op);
void run_sum_samples(struct run *run, const struct tape_op *op, int64_t each);
void run_turn_sum(struct run *run, const struct tape_op *op);

/* Bytes of gradients: of frozen parameters; of a bias whose gradient comes
 * before the product's. */
int64_t run_frozen_bytes(struct run *run, const struct tape_op *op);
int64_t run_bias_bytes(struct run *run, const struct tape_op *op);

/* A hook steps each parameter whose gradient is complete. */
void run_step_params(struct run *run, const struct tape_op *op);

#endif
