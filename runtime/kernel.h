/*
 * What kernels share: views of operands, walks over them, maps of five axes,
 * work cut into parts. Of the runtime's own; users need only netrt.h.
 */
#ifndef NETRT_KERNEL_H
#define NETRT_KERNEL_H

#include <math.h>

#include "netrt.h"

/*
 * A kernel that has only the plain form, or a plain and a fast one. With
 * NETRT_SMALL there are no fast ones: for devices with little flash. They
 * need the vectors of gcc and clang, and floats that are computed as such,
 * which the x87 of an i386 without SSE does not.
 */
#if defined __GNUC__ && !defined NETRT_SMALL && \
    !(defined __i386__ && !defined __SSE2_MATH__)
#define NETRT_HAS_FAST 1
#endif

/* What reads weights in panels; oneDNN has an order of its own. */
#if defined NETRT_HAS_FAST && !defined NETRT_ONEDNN
#define NETRT_HAS_PANELS 1
#endif

#define KERNEL(id) \
  const struct netrt_kernel netrt_##id = {#id, netrt_reference_##id, NULL}
#ifdef NETRT_HAS_FAST
#define KERNEL_FAST(id)                                                    \
  int netrt_fast_##id(const struct netrt *net, const struct netrt_op *op); \
  const struct netrt_kernel netrt_##id = {#id, netrt_reference_##id,       \
                                          netrt_fast_##id}
#else
#define KERNEL_FAST(id) KERNEL(id)
#endif

/* Of a fast kernel; of one that has run those after it in the model, of which
 * its first number says how many. */
enum { NOT_FOR_ME = -1, DONE_AHEAD = -2, DONE_THOSE = -3 };

/*
 * A sum of floats as exact as one of doubles, which small processors compute
 * in software (Neumaier's). What is infinite or NaN stays so.
 */
struct netrt_sum {
  float sum, rest;
};

static inline void netrt_sum_add(struct netrt_sum *to, float x) {
  float sum = to->sum + x;
  if (fabsf(to->sum) >= fabsf(x))
    to->rest += (to->sum - sum) + x;
  else
    to->rest += (x - sum) + to->sum;
  to->sum = sum;
}

static inline float netrt_sum_total(const struct netrt_sum *of) {
  return isnan(of->rest) ? of->sum : of->sum + of->rest;
}

/* The operand at place i: first what is made, then what is read. */
static inline struct netrt_view
netrt_view(const struct netrt *net, const struct netrt_op *op, uint32_t i) {
  const struct netrt_model *model = net->model;
  const struct netrt_operand *at = &model->operands[op->operands + i];
  struct netrt_view view;
  /* Weights lose their const here; no kernel writes what it reads. */
  const unsigned char *base =
      at->place >= NETRT_IN_WEIGHTS ? net->weights : net->arena;
  view.data = (unsigned char *)(uintptr_t)base + at->offset;
  view.size = &model->numbers[at->shape];
  view.stride = view.size + at->rank;
  view.rank = at->rank;
  view.type = at->type;
  return view;
}

static inline struct netrt_view netrt_out(const struct netrt *net,
                                          const struct netrt_op *op) {
  return netrt_view(net, op, 0);
}

static inline struct netrt_view
netrt_in(const struct netrt *net, const struct netrt_op *op, uint32_t i) {
  return netrt_view(net, op, (uint32_t)(op->outs + i));
}

/* Whether operand i of those that are read is in panels. */
static inline int netrt_in_panels(const struct netrt *net,
                                  const struct netrt_op *op, uint32_t i) {
#ifdef NETRT_HAS_PANELS
  return net->panels &&
         net->model->operands[op->operands + op->outs + i].place ==
             NETRT_IN_PANELS;
#else
  (void)net;
  (void)op;
  (void)i;
  return 0;
#endif
}

static inline const int32_t *netrt_args(const struct netrt *net,
                                        const struct netrt_op *op) {
  return &net->model->numbers[op->args];
}

static inline const float *netrt_reals(const struct netrt *net,
                                       const struct netrt_op *op) {
  return &net->model->reals[op->reals];
}

static inline float *netrt_floats(const struct netrt_view *view) {
  return (float *)(void *)view->data;
}

/* The size and stride of an axis counted from the last one, 0. */
static inline ptrdiff_t size_back(const struct netrt_view *view, int i) {
  return i < view->rank ? view->size[view->rank - 1 - i] : 1;
}

static inline ptrdiff_t stride_back(const struct netrt_view *view, int i) {
  return i < view->rank ? view->stride[view->rank - 1 - i] : 0;
}

/* Values in all axes but the last `without` ones. */
static inline ptrdiff_t rows_of(const struct netrt_view *view, int without) {
  ptrdiff_t rows = 1;
  int i;
  for (i = 0; i < view->rank - without; i++)
    rows *= view->size[i];
  return rows;
}

/* Whether values of the last axes lie one after the other. */
static inline int is_dense(const struct netrt_view *view, int axes) {
  ptrdiff_t expected = 1;
  int i;
  for (i = 0; i < axes && i < view->rank; i++) {
    if (size_back(view, i) != 1 && stride_back(view, i) != expected)
      return 0;
    expected *= size_back(view, i);
  }
  return 1;
}

static inline ptrdiff_t least(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

static inline ptrdiff_t most(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

/*
 * A walk over several views of equal sizes: rows of the last axis, or of
 * several that lie as one, the caller's loop goes along. offset[k] is where
 * the row begins in view k.
 */
enum { WALK_VIEWS = 6 };

struct kernel_walk {
  int views, rank;
  ptrdiff_t length, step[WALK_VIEWS]; /* of a row */
  ptrdiff_t size[NETRT_RANK], at[NETRT_RANK];
  ptrdiff_t stride[WALK_VIEWS][NETRT_RANK];
  ptrdiff_t offset[WALK_VIEWS];
};

/* All axes, those that lie together as one; views[0] gives the sizes. */
void netrt_walk_open(struct kernel_walk *walk, const struct netrt_view *views,
                     int count);

/* All but the last `kept` axes, which become no rows: length is 1. */
void netrt_walk_open_outer(struct kernel_walk *walk,
                           const struct netrt_view *views, int count, int kept);

/* The next row; 0: there is none. */
int netrt_walk_next(struct kernel_walk *walk);

/* A vector by channel as a view of the sizes of another: 0 strides. */
struct kernel_along {
  struct netrt_view view;
  int32_t stride[NETRT_RANK];
};
void netrt_along_last(struct kernel_along *along,
                      const struct netrt_view *vector,
                      const struct netrt_view *like);

/*
 * A map: batch, depth, height, width, channels. Axes that it has not are of
 * size 1, so that kernels of one, two and three axes are one.
 */
struct kernel_map {
  float *data;   /* or */
  int8_t *small; /* of 8 bits; the other one is NULL */
  ptrdiff_t size[5], stride[5];
};
struct kernel_map netrt_map_of(const struct netrt_view *view);

/* A window over the three axes of a map; kernel sizes are set apart. */
struct kernel_window {
  ptrdiff_t kernel[3], stride[3], dilation[3], before[3], after[3];
};

/* [stride dilation before] for each axis, from `args` on. */
struct kernel_window netrt_window_of_conv(const int32_t *args, int axes);
/* [kernel stride dilation before after] */
struct kernel_window netrt_window_of_pool(const int32_t *args, int axes);

/* Runs task(data, from, to) for parts of 0..count; each part has at least
 * `grain` of them. Deterministic: a value is computed by one part only. */
typedef void part_fn(void *data, ptrdiff_t from, ptrdiff_t to);
void netrt_run_parts(const struct netrt *net, ptrdiff_t count, ptrdiff_t grain,
                     part_fn *part, void *data);

/* out[o] += sum over i < ins of in[i] * matrix[i * row + o], o < outs: for the
 * plain kernels; sums are in registers. */
void netrt_add_product(float *out, const float *in, const float *matrix,
                       ptrdiff_t ins, ptrdiff_t row, ptrdiff_t outs);

/*
 * A window whose output may lie over its input: `make` fills in `out` from
 * `in`, all of it or one row along the first axis of the map (overlap.c).
 */
struct kernel_rows {
  struct kernel_map *out, *in;
  struct kernel_window *window;
  int (*make)(void *user);
  void *user;
};

/* 0: they are apart; 1: the output begins below the input; -1: above. */
int netrt_overlap(const struct kernel_rows *rows);

/* Makes all at once if they are apart, else one row after the other in the
 * order that the overlap asks for; the maps are changed then. */
int netrt_by_rows(const struct kernel_rows *rows);

/* NETRT_CHECK: check.c. */
void netrt_check_open(struct netrt *net);
uint64_t netrt_check_before(struct netrt *net, uint32_t op);
enum netrt_status netrt_check_after(struct netrt *net, uint32_t op,
                                    uint64_t sum);

#endif
