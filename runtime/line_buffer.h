/*
 * Limits of `linebuffer`, whose tables are on the stack. The planner uses no
 * more stages.
 */
#ifndef NETRT_LINE_BUFFER_H
#define NETRT_LINE_BUFFER_H

enum {
  LINES_MOST_OPS = 48,
  LINES_MOST_OPERANDS = 8, /* of an operation, with its output */
  LINES_MOST_RANK = 5      /* with the batch */
};

#endif
