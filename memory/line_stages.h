/*
 * Stages of a prediction that are made line by line, as they are looked for:
 * by line_buffers.c for one prediction, by line_stream.c for one after the
 * other.
 */
#ifndef NETC_MEMORY_LINE_STAGES_H
#define NETC_MEMORY_LINE_STAGES_H

#include "layers/tape/lowering.h"
#include "memory/line_buffers.h"
#include "runtime/line_buffer.h"

struct staging {
  struct tasks *b;
  struct line_op ops[LINES_MOST_OPS];
  size_t count; /* that may be made line by line */
  bool stream;  /* the first one keeps the input's lines, and is no task */
  int64_t window, hop; /* of a stream: struct line_buffers */
  int64_t *made, *kept;
  int64_t below; /* of the last one's output and the input: struct plan_task */
};

/* Where `before` of the first axis lies in an operation's numbers; -1: it has
 * no window. */
int line_stages_before(enum opcode opcode);

/* Whether a value is all of a tensor of the net, with lines. */
bool line_stages_have(const struct staging *s, size_t value,
                      const struct strides *lies);

/* Whether a task may be made line by line, after those before it. */
bool line_stages_add(struct staging *s, size_t number);

/* Where lines of the first `count` stages lie; false: beyond 2^63 - 1. */
bool line_stages_lay(struct staging *s, size_t count,
                     struct line_buffers *lines);

/* Makes task 0 of the first `count` stages, whose lines have been laid. */
void line_stages_take(struct staging *s, size_t count);

#endif
