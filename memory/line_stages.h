/*
 * Line stages: the search for operations that run line by line. line_buffers.c
 * uses it within one inference, line_stream.c from one inference to the next.
 */
#ifndef NETC_MEMORY_LINE_STAGES_H
#define NETC_MEMORY_LINE_STAGES_H

#include "layers/tape/lowering.h"
#include "memory/line_buffers.h"
#include "runtime/line_buffer.h"

struct staging {
  struct tasks *b;
  struct line_op ops[LINES_MOST_OPS];
  size_t count;        /* stages that may run line by line */
  bool stream;         /* ops[0] keeps the input's lines and is no task */
  int64_t window, hop; /* stream: see struct line_buffers */
  int64_t *made, *kept;
  int64_t below; /* last output and the input: see struct plan_task */
};

/* Index of the first axis's `before` in an operation's numbers; -1: none. */
int line_stages_before(enum opcode opcode);

/* True if a value is a complete tensor of the net and has lines. */
bool line_stages_have(const struct staging *s, size_t value,
                      const struct strides *lies);

/* Adds a task if it can run line by line after those before it. */
bool line_stages_add(struct staging *s, size_t number);

/* Places the lines of the first `count` stages. False: beyond 2^63 - 1. */
bool line_stages_lay(struct staging *s, size_t count,
                     struct line_buffers *lines);

/* Merges the first `count` stages, whose lines are placed, into task 0. */
void line_stages_take(struct staging *s, size_t count);

#endif
