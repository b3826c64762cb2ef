/*
 * Line buffers: the first stages of a prediction become one task that makes
 * their maps line by line and keeps of each only the lines that are still to
 * be read. No map between them is ever there as a whole, and nothing is
 * computed twice: runtime/line_buffer.c runs it.
 */
#ifndef NETC_MEMORY_LINE_BUFFERS_H
#define NETC_MEMORY_LINE_BUFFERS_H

#include "layers/tape/lowering.h"
#include "memory/tasks.h"

/* A map that an operation reads. */
struct line_map {
  uint32_t tensor;
  int place;     /* among the operation's operands */
  int64_t maker; /* of the line buffers' operations; -1: it is there before */
  int64_t height, bytes; /* its lines, and bytes of one */
  struct slide slide;
};

struct line_op {
  struct task_origin origin;
  uint32_t tensor; /* that it makes */
  int64_t height;  /* lines of it */
  int64_t kept;    /* of these at a time; all, if other tasks read it */
  int64_t bytes;   /* of a line */
  int64_t offset;  /* in the work memory of the task, unless all are kept */
  bool whole;      /* it is a tensor of the graph */
  int64_t first;   /* of a stream: rows of the input until its first line, */
  int64_t every;   /* and from a line to the next */
  VEC(struct line_map) maps;
};

struct line_buffers {
  size_t count;
  struct line_op *ops;
  int64_t bytes; /* of all lines that are kept for a while */
  /* A stream, of which the first one keeps lines of the input itself: rows of
   * its window, and from an output to the next. Else 0. */
  int64_t window, hop;
  size_t state; /* the tensor that has its lines, from one run to the next */
};

/*
 * The stages, from the first task on, with which the least is alive: task 0 of
 * the graph is then all of them. None if that spares nothing, if the batch is
 * not 1, or if the first operations read more than some lines.
 */
void line_buffers_find(struct tasks *b);

/* Whether a run of a stream leaves a map to the next one as a whole. */
static inline bool line_op_stays(const struct line_buffers *lines, size_t i) {
  return lines->window && lines->ops[i].whole && lines->ops[i].height > 1;
}

/* The operation whose lines a tensor is only; NULL: it is there as a whole. */
const struct line_op *line_buffers_of(const struct tasks *b, size_t tensor);

#endif
