/*
 * The most that `linebuffer` has room for, on the stack. The planner takes no
 * more stages than these.
 */
#ifndef NETRT_LINE_BUFFER_H
#define NETRT_LINE_BUFFER_H

enum {
  LINES_MOST_OPS = 48,
  LINES_MOST_OPERANDS = 8, /* of one operation, its output among them */
  LINES_MOST_RANK = 5      /* with the batch */
};

#endif
