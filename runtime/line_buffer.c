/*
 * Runs operations line by line: each makes its next line as soon as its inputs
 * are there, and only the last lines of each map are kept, in a line buffer.
 * Maps that do not fit memory never exist as a whole, and nothing is computed
 * twice. The operations are the next ones in the model; a line is an operation
 * with tables of its own.
 *
 * In a stream, each run adds a line to those of the runs before. Its windows
 * have no padding. The number of input rows so far decides which operations
 * have a new line.
 */
#include "line_buffer.h"

#include <string.h>

#include "kernel.h"

enum {
  MOST_SHAPES = 2 * LINES_MOST_RANK * LINES_MOST_OPERANDS, /* their numbers */
  MOST_ARGS = 16
};

/* Numbers of an operation, followed by those of each map it reads. */
enum { HEIGHT, BEFORE_AT, MAPS, FIRST_MAP };
enum { PLACE, MAKER, EXTENT, STRIDE, BEFORE, MAP_NUMBERS };
/* In a stream: input rows until its first line, and from line to line. */
enum { FIRST = HEIGHT, EVERY = BEFORE_AT };

struct lines {
  const struct netrt *net;
  const struct netrt_op *ops;
  const int32_t *of[LINES_MOST_OPS]; /* numbers of each operation */
  int32_t made[LINES_MOST_OPS];      /* number of lines made so far */
  int32_t count;
  int32_t window, hop; /* 0: not a stream */
};

/* The tables of an operation that makes one line. */
struct one_line {
  struct netrt net;
  struct netrt_model model;
  struct netrt_op op;
  struct netrt_operand operands[LINES_MOST_OPERANDS];
  int32_t numbers[MOST_SHAPES + MOST_ARGS];
};

/* Lines [*first, *last) of a map that a line reads, without padding. */
static void lines_read(const struct lines *l, const int32_t *map,
                       int32_t height, int32_t line, int32_t *first,
                       int32_t *last) {
  int32_t from = line * map[STRIDE] - map[BEFORE], to = from + map[EXTENT];
  if (l->window) { /* the most recent ones */
    *last = map[MAKER] < 0 ? height : l->made[map[MAKER]];
    *first = *last - map[EXTENT];
    return;
  }
  if (map[MAKER] >= 0)
    height = l->of[map[MAKER]][HEIGHT];
  *first = from > 0 ? from : 0;
  *last = to < height ? to : height;
}

static int is_ready(const struct lines *l, int32_t i) {
  const int32_t *of = l->of[i], *map = of + FIRST_MAP;
  int32_t k, first, last;
  for (k = 0; k < of[MAPS]; k++, map += MAP_NUMBERS) {
    if (map[MAKER] < 0)
      continue;
    lines_read(l, map, 0, l->made[i], &first, &last);
    if (last > l->made[map[MAKER]])
      return 0;
  }
  return l->made[i] < of[HEIGHT];
}

/* Bytes between two lines. */
static size_t line_bytes(const struct one_line *one,
                         const struct netrt_operand *at) {
  return (size_t)one->numbers[at->shape + at->rank + 1u] *
         netrt_type_bytes(at->type);
}

/* Copies the tables of operation i, so that they can be changed. */
static void copy_tables(const struct lines *l, int32_t i,
                        struct one_line *one) {
  const struct netrt_model *m = l->net->model;
  const struct netrt_op *op = &l->ops[i];
  uint32_t k, n, count = (uint32_t)op->outs + op->ins, at = 0;
  one->net = *l->net;
  one->model = *m;
  one->op = *op;
  for (k = 0; k < count; k++) {
    struct netrt_operand *to = &one->operands[k];
    *to = m->operands[op->operands + k];
    memcpy(&one->numbers[at], &m->numbers[to->shape],
           2 * sizeof *m->numbers * to->rank);
    to->shape = at;
    at += 2u * to->rank;
  }
  n = m->number_count - op->args;
  memcpy(&one->numbers[at], &m->numbers[op->args],
         sizeof *m->numbers * (n < MOST_ARGS ? n : MOST_ARGS));
  one->op.args = at;
  one->op.operands = 0;
  one->model.operands = one->operands;
  one->model.numbers = one->numbers;
  one->model.ops = &one->op;
  one->net.model = &one->model;
  one->net.kept = NULL;
  one->net.ahead = NULL;
}

/* Makes room for the next line of operation i; drops the
 * oldest one if needed. */
static void make_room(const struct lines *l, int32_t i, struct one_line *one) {
  struct netrt_operand *out = one->operands;
  size_t bytes = line_bytes(one, out);
  int32_t *kept = &one->numbers[out->shape + 1u], at = l->made[i];
  unsigned char *begin = one->net.arena + out->offset;
  if (at >= *kept) {
    at = *kept - 1;
    memmove(begin, begin + bytes, (size_t)at * bytes);
  }
  out->offset += (size_t)at * bytes;
  *kept = 1;
}

/* Sets the lines that it reads of a map; 0: they are not in memory. */
static int see_lines(const struct lines *l, int32_t i, const int32_t *map,
                     struct one_line *one) {
  struct netrt_operand *in = &one->operands[map[PLACE]];
  int32_t *kept = &one->numbers[in->shape + 1u], first, last;
  int32_t made = map[MAKER] < 0 ? *kept : l->made[map[MAKER]];
  int32_t oldest = made > *kept ? made - *kept : 0;
  lines_read(l, map, *kept, l->made[i], &first, &last);
  if (first < oldest || last > made || first >= last)
    return 0;
  in->offset += (size_t)(first - oldest) * line_bytes(one, in);
  *kept = last - first;
  if (map == l->of[i] + FIRST_MAP && l->of[i][BEFORE_AT] >= 0 && !l->window)
    one->numbers[one->op.args + (uint32_t)l->of[i][BEFORE_AT]] =
        first - (l->made[i] * map[STRIDE] - map[BEFORE]);
  return 1;
}

static int make_line(struct lines *l, int32_t i) {
  const struct netrt_kernel *kernel = l->net->model->kernels[l->ops[i].kernel];
  const int32_t *map = l->of[i] + FIRST_MAP;
  struct one_line one;
  int32_t k;
  int status = NOT_FOR_ME;
  copy_tables(l, i, &one);
  for (k = 0; k < l->of[i][MAPS]; k++, map += MAP_NUMBERS)
    if (!see_lines(l, i, map, &one))
      return NETRT_BAD_MODEL;
  make_room(l, i, &one);
  l->made[i]++;
  if (kernel->fast && !(l->net->flags & NETRT_REFERENCE))
    status = kernel->fast(&one.net, &one.op);
  return status == NOT_FOR_ME ? kernel->reference(&one.net, &one.op) : status;
}

/* True if an operation's tables and numbers fit. */
static int is_known(const struct netrt_op *op, const int32_t *of) {
  return op->outs == 1 && !op->works && op->ins < LINES_MOST_OPERANDS &&
         of[MAPS] <= op->ins;
}

/* Always runs the last operation that is ready, so that few lines are kept. */
static int make_all(struct lines *l) {
  int32_t i;
  int status = NETRT_OK;
  for (i = l->count - 1; i >= 0 && status == NETRT_OK; i--)
    if (is_ready(l, i)) {
      status = make_line(l, i);
      i = l->count;
    }
  return status;
}

/* Number of lines that an operation of a stream has made after `rows` rows. */
static int32_t lines_after(const int32_t *of, int32_t rows) {
  return rows < of[FIRST] ? 0 : (rows - of[FIRST]) / of[EVERY] + 1;
}

/* Makes a line of each operation that has one after this row. The counter wraps
 * at window + hop, since all later windows repeat the same pattern. */
static int add_row(struct lines *l, unsigned char *counted) {
  int32_t i, rows;
  int status = NETRT_OK, is_window;
  memcpy(&rows, counted, sizeof rows);
  for (i = 0; i < l->count; i++) {
    if (l->of[i][EVERY] < 1)
      return NETRT_BAD_MODEL;
    l->made[i] = lines_after(l->of[i], rows);
  }
  rows++;
  for (i = 0; i < l->count && status == NETRT_OK; i++)
    if (lines_after(l->of[i], rows) > l->made[i])
      status = make_line(l, i);
  is_window = rows >= l->window && (rows - l->window) % l->hop == 0;
  if (rows == l->window + l->hop)
    rows = l->window;
  memcpy(counted, &rows, sizeof rows);
  return status == NETRT_OK && !is_window ? NETRT_NOT_YET : status;
}

static int netrt_reference_linebuffer(const struct netrt *net,
                                      const struct netrt_op *op) {
  const int32_t *numbers = netrt_args(net, op);
  struct lines l;
  int32_t i;
  int status;
  l.net = net;
  l.ops = op + 1;
  l.count = *numbers++;
  l.window = *numbers++;
  l.hop = *numbers++;
  if (l.count > LINES_MOST_OPS || (l.window && l.hop < 1))
    return NETRT_BAD_MODEL;
  for (i = 0; i < l.count; i++) {
    if (!is_known(&l.ops[i], numbers))
      return NETRT_BAD_MODEL;
    l.of[i] = numbers;
    l.made[i] = 0;
    numbers += FIRST_MAP + numbers[MAPS] * MAP_NUMBERS;
  }
  status =
      l.window ? add_row(&l, netrt_in(net, op, op->ins).data) : make_all(&l);
  return status == NETRT_OK ? DONE_THOSE : status;
}

KERNEL(linebuffer);
