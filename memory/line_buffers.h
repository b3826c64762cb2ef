/*
 * Line buffers: the first stages of inference become one task. It makes their
 * maps line by line and keeps only the lines that are still to be read, so that
 * no map between them is ever complete. Nothing is computed twice.
 * runtime/line_buffer.c runs it.
 */
#ifndef NETC_MEMORY_LINE_BUFFERS_H
#define NETC_MEMORY_LINE_BUFFERS_H

#include "layers/tape/lowering.h"
#include "memory/tasks.h"

/* A map that an operation reads. */
struct line_map {
  uint32_t tensor;
  int place;             /* index among the operation's operands */
  int64_t maker;         /* line operation that makes it; -1: made before */
  int64_t height, bytes; /* its lines, and bytes per line */
  struct slide slide;
};

struct line_op {
  struct task_origin origin;
  uint32_t tensor; /* output */
  int64_t height;  /* output lines */
  int64_t kept;    /* lines kept at a time; all, if other tasks read it */
  int64_t bytes;   /* bytes per line */
  int64_t offset;  /* in the task's workspace, unless all lines are kept */
  bool whole;      /* it is a tensor of the graph */
  int64_t first;   /* stream: input rows until the first line, */
  int64_t every;   /* and between lines */
  VEC(struct line_map) maps;
};

struct line_buffers {
  size_t count;
  struct line_op *ops;
  int64_t bytes; /* all kept lines */
  /* For a stream, whose first operation keeps lines of the input itself: rows
   * of the window, and rows between outputs. Else 0. */
  int64_t window, hop;
  size_t state; /* tensor that keeps the lines from one run to the next */
};

/*
 * Merges the first tasks into task 0 of the graph, as many as give the lowest
 * peak. Merges none if that saves nothing, if the batch is not 1, or if the
 * first operations read more than a few lines.
 */
void line_buffers_find(struct tasks *b);

/* True if one run of a stream leaves the complete map to the next. */
static inline bool line_op_stays(const struct line_buffers *lines, size_t i) {
  return lines->window && lines->ops[i].whole && lines->ops[i].height > 1;
}

/* The operation that buffers lines of a tensor; NULL: it is complete. */
const struct line_op *line_buffers_of(const struct tasks *b, size_t tensor);

#endif
