/* Inside the simulation: the state of a run, which its files share. */
#ifndef NETC_MEMORY_STEP_RUN_H
#define NETC_MEMORY_STEP_RUN_H

#include "memory/step/simulate.h"

/* Bytes of a gradient that is not a parameter's; several may use it. */
struct buffer {
  int64_t bytes;
  int64_t room; /* of these, behind all samples */
  int64_t users;
  int64_t node;
};

/* How a pass over operations uses a storage. */
struct run_use {
  int64_t left;   /* reads, saves and outputs to come */
  int64_t packed; /* saves to come, if it is kept in groups */
  bool saved;     /* it is kept for backward */
  bool packs;     /* in groups of fewer bits */
  bool stored;    /* these are allocated */
  bool there;     /* it is allocated */
};

/* Bytes of an extent, which many tensors have. */
struct run_sized {
  struct extent extent;
  int64_t bytes;
};

/* An operation that no gradient will reach, and what it keeps for a while. */
struct run_loose {
  size_t op;
  int64_t kept; /* bytes besides tensors */
};

enum { SIZED = 64 }; /* a power of two */

/* What a change is of: `index * CHANGES + this`. */
enum change_of {
  CHANGE_ONCE,
  CHANGE_AGAIN,
  CHANGE_STORED,
  CHANGE_BUFFER,
  CHANGES
};

/* A value's gradient: which buffer, from 1, and how it is used. */
struct held_gradient {
  size_t buffer;
  enum row_order turned;
  int64_t bytes, users;
};

/* Iterations that are not all run, and what was in front of the current one. */
struct run_skip {
  struct tape_turns turns;    /* as many as there are in the part that runs */
  size_t turn;                /* backward: the current one, or run */
  struct held_gradient *held; /* by value of an iteration */
  struct moment now, peak;
  size_t peak_changes, changes, requests, buffers;
  int64_t cached;
};

struct run {
  struct simulation *s;
  const struct tape *tape;
  /* A part of the tape sees only some storages and values. */
  size_t first_storage, end_storage, first_value, end_value;
  struct run_use *once;           /* by storage: of the forward pass */
  struct run_use *again;          /* of a segment that is computed once more */
  const struct segment *repeated; /* which that is; NULL: none */
  bool keeps;                     /* operations keep what backward needs */
  int64_t cached;                 /* 16-bit weights of segments, in forward */
  size_t *gradient;               /* by value: its buffer, from 1 */
  enum row_order *turned; /* by value: how the rows of its gradient lie */
  bool *has_gradient;     /* by parameter */
  size_t *first_use;      /* likewise: of all operations, if each is stepped */
  size_t *made;           /* room for the gradients of an operation's inputs */
  size_t made_room;
  VEC(struct buffer) buffers;
  int64_t *bytes;                /* by extent of the tape; -1: not yet known */
  struct run_sized sized[SIZED]; /* of late, by count */
  VEC(size_t) changes; /* what came or went, by iteration: enum change_of */
  size_t changes_before[2]; /* the peaks of forward and backward */
  size_t key; /* of what changes next, from 1: as `changes`; 0: it has none */
  struct moment now;
  size_t leg;        /* marks after which it is */
  size_t leap;       /* of the trace's, the next one */
  size_t leap_at;    /* leap_pass() comes next before this operation */
  struct left *left; /* as it was an iteration before: leap.c */
  VEC(struct run_skip) skips;
  size_t skip;                 /* that is next */
  size_t due;                  /* the operation where it has to be asked */
  bool released;               /* what the operation that runs backward kept */
  const uint32_t *until;       /* trace->until; NULL without a `detach` */
  VEC(struct run_loose) loose; /* loose.h */
  size_t loose_end;            /* after so many operations the next ones go */
};

static inline const struct tape_value *run_value_at(const struct run *run,
                                                    size_t value) {
  return &run->tape->values.at[value];
}

/* The storage that holds it: at a batch of 1, some copies are views. */
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

/* Whether what the pass that goes on keeps is moved to the host at once. */
static inline bool run_moves(const struct run *run) {
  return run->s->offload && !run->repeated;
}

static inline struct run_use *run_once(const struct run *run, size_t storage) {
  return &run->once[storage - run->first_storage];
}

/* In the pass that goes on: what a segment makes, it makes again. */
static inline struct run_use *run_use_of(struct run *run, size_t storage) {
  if (run->repeated && run_made_in(run, run->repeated, storage))
    return &run->again[storage - run->first_storage];
  return run_once(run, storage);
}

static inline enum row_order *run_turned(const struct run *run, size_t value) {
  return &run->turned[value - run->first_value];
}

/* The same of the value itself. */
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

/* In front of run_change(). */
static inline void run_note_change(struct run *run, enum change_of of,
                                   size_t index) {
  run->key = index * CHANGES + of + 1;
  if (run->s->lists)
    *VEC_PUSH(run->s->arena, &run->changes) = index * CHANGES + of;
}

/* Storages and bytes: storage.c */

int64_t run_some_bytes(struct run *run, const struct extent *extent);

/* Most operations have no extra room. */
static inline int64_t run_bytes_of(struct run *run,
                                   const struct extent *extent) {
  return extent->count ? run_some_bytes(run, extent) : 0;
}

/* Of an extent of the tape's, by its place. */
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
 * `saved_dtype=`: what is kept for backward is written in groups of 256 values
 * when it is saved, and back while a backward runs. Only what leads back and
 * has the net's type, and not what a segment that runs again keeps for itself.
 */
bool run_packable(const struct run *run, size_t storage);
int64_t run_packed_bytes(struct run *run, const struct extent *extent);

/* What of an operation's saved storages is not there in groups yet. */
void run_pack(struct run *run, size_t storage);

/* One of those that need them is done. */
void run_unpack(struct run *run, size_t storage);

/* What an operation keeps besides, as it is stored until backward. */
int64_t run_stored_bytes(struct run *run, const struct tape_op *op);

/* While an operation runs: its own, matrices written out, what is whole. */
int64_t run_work_bytes(struct run *run, const struct tape_op *op,
                       const struct extent *work,
                       const struct extent *gathered);

/* Adds bytes to what is alive now: those of a change that was just noted. */
void run_change(struct run *run, enum memory_part part, int64_t bytes);

void run_allocate(struct run *run, size_t storage);
void run_release(struct run *run, size_t storage); /* by one of its users */

/* What a segment computes again takes the place of what its module had. */
void run_replace(struct run *run, const struct tape_op *op);

/* Reads, and what backward needs, of the pass that goes on. */
void run_count_reads(struct run *run, const struct tape_op *op);
void run_count_saves(struct run *run, const struct tape_op *op);

/* All users of the storages that the forward pass makes or reads. */
void run_count_uses(struct run *run);

/* What a segment reads of others, back from the host's memory. */
void run_fetch_inputs(struct run *run, const struct segment *segment);

/* Likewise what the backward of an operation needs, while it runs. */
int64_t run_fetched_bytes(struct run *run, const struct tape_op *op);

/* Does so with whatever a segment reads of others, once for each time. */
void run_each_input(struct run *run, const struct segment *segment,
                    void (*does)(struct run *run, size_t storage));

/* What a segment held of others, after its backward. */
void run_release_inputs(struct run *run, const struct segment *segment);

/* The segment that begins at an operation; NULL: none does. */
const struct segment *run_segment_at(const struct run *run, size_t *next,
                                     size_t op);

/* The passes: simulate.c */

/* Takes the present state into account, at an operation. */
void run_sample(struct run *run, const struct tape_op *op);

/* Alive, but for tensors that are kept. */
static inline int64_t run_beside(const struct run *run) {
  return run->now.bytes - run->now.parts[PART_SAVED];
}

/* At a mark, forward or backward. */
void run_pass_mark(struct run *run);

/* What an operation keeps besides tensors. */
int64_t run_kept_bytes(struct run *run, const struct tape_op *op);

/* A segment once more, now with all that its backward needs. */
void run_segment_again(struct run *run, const struct segment *segment);

/* Skips: skips.c */

/* Finds them, and where the first one is due. */
void run_find_skips(struct run *run);

/*
 * In front of operation `op`, where run->due is: the one to go on with, which
 * is further ahead if iterations are skipped.
 */
size_t run_turn_ahead(struct run *run, size_t op);

/* The same backward, where what is after `op` has been run. */
void run_begin_back(struct run *run);
size_t run_turn_back(struct run *run, size_t op);

/* Backward: backward.c */

void run_backward(struct run *run);

/* A new buffer for a gradient, from 1. */
size_t run_new_buffer(struct run *run, int64_t node, int64_t bytes);

int64_t run_sum(struct run *run, int64_t a, int64_t b);

/*
 * A loss starts from a gradient of 1, which its caller holds. Without one,
 * a number is spread over each output, which takes no memory.
 */
void run_start_backward(struct run *run, size_t end);

/* Gradients of parameters: params.c */

/* The gradient of a parameter stays until the next step. */
void run_add_param_gradient(struct run *run, size_t param);

/*
 * A parameter that has a gradient gets the sum of both: a third tensor, unless
 * it is added to the first.
 */
void run_add_to_param(struct run *run, const struct tape_op *op, size_t param);

/*
 * Those of an operation, beside those of others that share its parameters,
 * which are marked in `again`; then these are added.
 */
void run_param_gradients(struct run *run, const struct tape_op *op,
                         bool *again);
void run_sum_param_gradients(struct run *run, const struct tape_op *op,
                             const bool *again);

/* A matrix that first has one for each sample: the bytes of all of them; their
 * sum, before the gradients of its inputs go on; its copy, after that. */
int64_t run_sample_gradients(struct run *run, const struct tape_op *op);
void run_sum_samples(struct run *run, const struct tape_op *op, int64_t each);
void run_turn_sum(struct run *run, const struct tape_op *op);

/* Of parameters that are not trained; of a bias that has its own before that of
 * the product. */
int64_t run_frozen_bytes(struct run *run, const struct tape_op *op);
int64_t run_bias_bytes(struct run *run, const struct tape_op *op);

/* A hook steps what has its whole gradient. */
void run_step_params(struct run *run, const struct tape_op *op);

#endif
