/* seats: the rows of a mixture of experts, sorted by expert. */
#include "kernel.h"

enum { SEATS_TOKENS, SEATS_ROWS, SEATS_EXPERTS, SEATS_KEPT };

struct seating {
  const int32_t *args; /* of ops.def: mode, experts, room */
  const int64_t *expert;
  ptrdiff_t count, top; /* choices of all tokens, and of one */
  unsigned char *to;
};

/* Gives a row to a choice; -1: the row stays free. */
static void seat(const struct seating *s, ptrdiff_t row, ptrdiff_t choice,
                 ptrdiff_t expert) {
  int64_t *to = (int64_t *)(void *)s->to;
  int mode = s->args[0];
  if (mode == SEATS_TOKENS)
    to[row] = choice < 0 ? 0 : choice / s->top;
  else if (mode == SEATS_EXPERTS)
    to[row] = expert;
  else if (mode == SEATS_ROWS && choice >= 0)
    to[choice] = row;
  else if (mode == SEATS_KEPT && choice >= 0)
    ((float *)(void *)s->to)[choice] = 1;
}

/* Choices [from, to) get rows from `row` on; returns the row after them. */
static ptrdiff_t seat_all(const struct seating *s, ptrdiff_t row,
                          ptrdiff_t from, ptrdiff_t to) {
  ptrdiff_t expert, i, room = s->args[2];
  for (expert = 0; expert < s->args[1]; expert++) {
    ptrdiff_t end = row + (room ? room : s->count);
    for (i = from; i < to && row < end; i++)
      if (s->expert[i] == expert)
        seat(s, row++, i, expert);
    while (room && row < end)
      seat(s, row++, -1, expert);
  }
  return row;
}

static int netrt_reference_seats(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct seating s;
  ptrdiff_t i, made = rows_of(&out, 0), samples, row = 0;
  s.args = netrt_args(net, op);
  s.expert = (const int64_t *)(const void *)in.data;
  s.count = rows_of(&in, 0);
  s.top = size_back(&in, 0);
  s.to = out.data;
  samples = s.args[2] ? in.size[0] : 1;
  if (!is_dense(&in, in.rank) || !is_dense(&out, out.rank) ||
      made != (s.args[2] && s.args[0] % 2 == 0
                   ? samples * s.args[1] * s.args[2]
                   : s.count))
    return NETRT_BAD_MODEL;
  for (i = 0; i < s.count; i++)
    if (s.expert[i] < 0 || s.expert[i] >= s.args[1])
      return NETRT_BAD_INDEX;
  for (i = 0; i < made && s.args[0] == SEATS_ROWS; i++)
    ((int64_t *)(void *)out.data)[i] = 0;
  for (i = 0; i < made && s.args[0] == SEATS_KEPT; i++)
    netrt_floats(&out)[i] = 0;
  for (i = 0; i < samples; i++)
    row = seat_all(&s, row, i * (s.count / samples),
                   (i + 1) * (s.count / samples));
  return NETRT_OK;
}

KERNEL(seats);
