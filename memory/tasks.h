/* Tasks: what a prediction has to run, before it is planned. */
#ifndef NETC_MEMORY_TASKS_H
#define NETC_MEMORY_TASKS_H

#include "memory/inference.h"
#include "memory/step/trace.h"
#include "memory/plan/schedule.h"

#define NO_TAPE_OP UINT32_MAX

/* Where a task comes from. */
struct task_origin {
  const char *part; /* its name inside the layer; NULL: what the layer gives */
  int32_t node;
  uint32_t op; /* of the tape; NO_TAPE_OP: it is not on it */
};

/*
 * The graph of tasks that a tape describes, in the arena of the graph. It
 * does not need the tape and all else, which are in an arena of their own.
 */
struct tasks {
  struct arena *arena; /* of the tape */
  const struct model *model;
  const struct infer_settings *settings;
  struct inference *inference; /* that the tasks are of */
  struct trace trace;
  struct task_graph graph;
  struct task_origin *origins; /* by task */
  /* Places in the tape and the graph, which have 32 bits. */
  uint32_t *tensor; /* by storage: its tensor, from 1; 0: it takes no memory */
  uint32_t *root;   /* by storage: the one that holds it */
  uint32_t *reads;  /* by value: operations that read it */
  uint32_t *stamp;  /* by tensor: the last task that read it, from 1 */
  bool *tied;       /* by parameter: several layers use it */
  int64_t folded;   /* values of parameters and buffers that are gone */
  int64_t q8_bytes; /* of 8 bits: beside weights */
  bool small;       /* values are of 8 bits: q8.h */
  bool overflow;
  struct line_buffers *lines; /* task 0 is all of these; NULL: none */
  bool leaps;  /* turns may be left out of the tape, though not of the graph */
  bool uneven; /* they must not: the graph is not complete */
};

/* Fills in all that follows, and what folds. */
void tasks_find(struct tasks *b);

/* The storage that holds a value. */
size_t tasks_root(const struct tasks *b, size_t value);

/*
 * The operation that becomes part of the weights of operation `index`, which
 * is then the one after it; SIZE_MAX: none does.
 */
size_t tasks_folded(const struct tasks *b, size_t index);

/*
 * The sum with another value that operation `index` begins with instead: the
 * one after it, or after the norm that is part of its weights. SIZE_MAX: there
 * is none. Of `*input` it is that value.
 */
size_t tasks_joined(const struct tasks *b, size_t index, int *input);

/* Whether operation `index` has a bias of its own. */
bool tasks_has_bias(const struct tasks *b, size_t index);

/* Whether results may lie over what they are made of. */
bool tasks_may_overlap(const struct infer_settings *settings);

/* Where it all lies. */
struct placing {
  struct tasks *b;
  const struct schedule *schedule;
  struct inference *inference;
  uint32_t *buffer; /* by tensor: its buffer, from 1 */
  int64_t *left;    /* by tensor: readers to come */
  uint32_t *work;   /* by task: its buffer, from 1; 0: none */
};

#endif
