/* seats: the rows of a mixture of experts, sorted by expert. */
#include "kernel.h"

enum { SEATS_TOKENS, SEATS_ROWS, SEATS_EXPERTS, SEATS_KEPT };

struct seating {
  const int32_t *args; /* of ops.def: mode, experts, room */
  struct netrt_view out, in;
  ptrdiff_t count, top; /* choices of all tokens, and of one */
};

static int64_t expert_at(const struct seating *s, ptrdiff_t choice) {
  const int64_t *experts = (const int64_t *)(const void *)s->in.data;
  return experts[row_at(&s->in, 0, choice)];
}

static void put(const struct seating *s, ptrdiff_t at, ptrdiff_t value) {
  ptrdiff_t offset = row_at(&s->out, 0, at);
  if (s->args[0] == SEATS_KEPT)
    netrt_floats(&s->out)[offset] = (float)value;
  else
    ((int64_t *)(void *)s->out.data)[offset] = value;
}

/* Gives a row to a choice; -1: the row stays free. */
static void seat(const struct seating *s, ptrdiff_t row, ptrdiff_t choice,
                 ptrdiff_t expert) {
  int mode = s->args[0];
  if (mode == SEATS_TOKENS)
    put(s, row, choice < 0 ? 0 : choice / s->top);
  else if (mode == SEATS_EXPERTS)
    put(s, row, expert);
  else if (choice >= 0)
    put(s, choice, mode == SEATS_ROWS ? row : 1);
}

/* Choices [from, to) get rows from `row` on; returns the row after them. */
static ptrdiff_t seat_all(const struct seating *s, ptrdiff_t row,
                          ptrdiff_t from, ptrdiff_t to) {
  ptrdiff_t expert, i, room = s->args[2];
  for (expert = 0; expert < s->args[1]; expert++) {
    ptrdiff_t end = row + (room ? room : s->count);
    for (i = from; i < to && row < end; i++)
      if (expert_at(s, i) == expert)
        seat(s, row++, i, expert);
    while (room && row < end)
      seat(s, row++, -1, expert);
  }
  return row;
}

static int netrt_reference_seats(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct seating s;
  ptrdiff_t i, made, samples, each, row = 0;
  int by_row;
  s.args = netrt_args(net, op);
  s.out = netrt_out(net, op);
  s.in = netrt_in(net, op, 0);
  s.count = rows_of(&s.in, 0);
  s.top = size_back(&s.in, 0);
  made = rows_of(&s.out, 0);
  samples = s.args[2] ? s.in.size[0] : 1;
  each = s.count / samples;
  by_row = s.args[0] == SEATS_TOKENS || s.args[0] == SEATS_EXPERTS;
  if (made != (s.args[2] && by_row ? samples * s.args[1] * s.args[2] : s.count))
    return NETRT_BAD_MODEL;
  for (i = 0; i < s.count; i++)
    if (expert_at(&s, i) < 0 || expert_at(&s, i) >= s.args[1])
      return NETRT_BAD_INDEX;
  for (i = 0; i < made && !by_row; i++)
    put(&s, i, 0);
  for (i = 0; i < samples; i++)
    row = seat_all(&s, row, i * each, (i + 1) * each);
  return NETRT_OK;
}

KERNEL(seats);
