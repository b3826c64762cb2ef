/* Tasks: the operations that inference has to run, before they are planned. */
#ifndef NETC_MEMORY_TASKS_H
#define NETC_MEMORY_TASKS_H

#include "memory/inference.h"
#include "memory/step/trace.h"
#include "memory/plan/schedule.h"

#define NO_TAPE_OP UINT32_MAX

/* Origin of a task. */
struct task_origin {
  const char *part; /* name inside the layer; NULL: the layer's output */
  int32_t node;
  uint32_t op; /* tape operation; NO_TAPE_OP: none */
};

/*
 * The graph of tasks that a tape describes. The graph has an arena of its own,
 * and does not need the tape or anything else here.
 */
struct tasks {
  struct arena *arena; /* of the tape */
  const struct model *model;
  const struct infer_settings *settings;
  struct inference *inference; /* that the tasks belong to */
  struct trace trace;
  struct task_graph graph;
  struct task_origin *origins; /* by task */
  /* Indices into the tape and the graph have 32 bits. */
  uint32_t *tensor; /* by storage: its tensor, from 1; 0: needs no memory */
  uint32_t *root;   /* by storage: the one that contains it */
  uint32_t *reads;  /* by value: operations that read it */
  uint32_t *stamp;  /* by tensor: the last task that read it, from 1 */
  bool *tied;       /* by parameter: several layers use it */
  int64_t folded;   /* parameter and buffer values that folding removes */
  int64_t q8_bytes; /* int8: bytes besides weights */
  bool small;       /* values are int8: q8.h */
  bool overflow;
  struct line_buffers *lines; /* all of task 0; NULL: none */
  bool leaps;  /* iterations may be left out of the tape, not of the graph */
  bool uneven; /* they differ, so that the graph is incomplete */
};

/* Fills in the members after `inference`, and the folds. */
void tasks_find(struct tasks *b);

/* The storage that contains a value. */
size_t tasks_root(const struct tasks *b, size_t value);

/* The operation after `index` that folds into its weights; SIZE_MAX: none. */
size_t tasks_folded(const struct tasks *b, size_t index);

/*
 * The sum that operation `index` starts from: the operation after it, or after
 * the norm that folds into it. SIZE_MAX: none. `*input` is the sum's input with
 * the other addend.
 */
size_t tasks_joined(const struct tasks *b, size_t index, int *input);

/* True if operation `index` has a bias of its own. */
bool tasks_has_bias(const struct tasks *b, size_t index);

/* True if results may overwrite inputs. */
bool tasks_may_overlap(const struct infer_settings *settings);

/* The state of placing tasks in the arena. */
struct placing {
  struct tasks *b;
  const struct schedule *schedule;
  struct inference *inference;
  uint32_t *buffer; /* by tensor: its buffer, from 1 */
  int64_t *left;    /* by tensor: remaining readers */
  uint32_t *work;   /* by task: its buffer, from 1; 0: none */
};

#endif
