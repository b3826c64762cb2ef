/*
 * Shared by kernels: views of operands, walks over them, maps of five axes, and
 * parallel work. Internal to the runtime; users need only netrt.h.
 */
#ifndef NETRT_KERNEL_H
#define NETRT_KERNEL_H

#include <math.h>

#include "netrt.h"

/*
 * KERNEL has a plain form, KERNEL_FAST also a fast one. NETRT_SMALL omits fast
 * kernels for devices with little flash. They need vectors of gcc or clang, and
 * float arithmetic in 32 bits, which the x87 of an i386 without SSE does not
 * have.
 */
#if defined __GNUC__ && !defined NETRT_SMALL && \
    !(defined __i386__ && !defined __SSE2_MATH__)
#define NETRT_HAS_FAST 1
#endif

/* Kernels can read weights in panels; oneDNN has its own order. */
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

/* Results of kernels. NOT_FOR_ME: the fast one does not support the operation.
 * DONE_AHEAD: it also ran net->ahead. DONE_THOSE: it also ran following
 * operations, whose number is its first number. */
enum { NOT_FOR_ME = -1, DONE_AHEAD = -2, DONE_THOSE = -3 };

/*
 * A sum of floats with nearly the accuracy of doubles, which small processors
 * compute in software (Neumaier's algorithm). Infinities and NaN are kept.
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

/* The view of operand i: outputs first, then inputs. */
static inline struct netrt_view
netrt_view(const struct netrt *net, const struct netrt_op *op, uint32_t i) {
  const struct netrt_model *model = net->model;
  const struct netrt_operand *at = &model->operands[op->operands + i];
  struct netrt_view view;
  /* Casts away const of weights; no kernel writes its inputs. */
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

/* True if input i is in panels. */
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

/* Size and stride of an axis, counted from the last one, 0. */
static inline ptrdiff_t size_back(const struct netrt_view *view, int i) {
  return i < view->rank ? view->size[view->rank - 1 - i] : 1;
}

static inline ptrdiff_t stride_back(const struct netrt_view *view, int i) {
  return i < view->rank ? view->stride[view->rank - 1 - i] : 0;
}

/* Product of the sizes of all axes but the last `without`. */
static inline ptrdiff_t rows_of(const struct netrt_view *view, int without) {
  ptrdiff_t rows = 1;
  int i;
  for (i = 0; i < view->rank - without; i++)
    rows *= view->size[i];
  return rows;
}

/* Offset of the row at `index` among all axes but the last `without`. */
static inline ptrdiff_t row_at(const struct netrt_view *view, int without,
                               ptrdiff_t index) {
  ptrdiff_t offset = 0;
  int i;
  for (i = view->rank - without; i-- > 0; index /= view->size[i])
    offset += index % view->size[i] * view->stride[i];
  return offset;
}

/* True if the last `axes` axes are contiguous. */
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
 * A walk over several views of equal sizes, row by row. A row is the last axis,
 * or several merged axes, and the caller loops over it. offset[k] is the start
 * of the row in view k.
 */
enum { WALK_VIEWS = 6 };

struct kernel_walk {
  int views, rank;
  ptrdiff_t length, step[WALK_VIEWS]; /* of a row */
  ptrdiff_t size[NETRT_RANK], at[NETRT_RANK];
  ptrdiff_t stride[WALK_VIEWS][NETRT_RANK];
  ptrdiff_t offset[WALK_VIEWS];
};

/* Walks over all axes, merged where possible; views[0] has the sizes. */
void netrt_walk_open(struct kernel_walk *walk, const struct netrt_view *views,
                     int count);

/* Walks over all but the last `kept` axes; a row has length 1. */
void netrt_walk_open_outer(struct kernel_walk *walk,
                           const struct netrt_view *views, int count, int kept);

/* Advances to the next row; 0: there is none. */
int netrt_walk_next(struct kernel_walk *walk);

/* A vector by channel, broadcast to the sizes of another view. */
struct kernel_along {
  struct netrt_view view;
  int32_t stride[NETRT_RANK];
};
void netrt_along_last(struct kernel_along *along,
                      const struct netrt_view *vector,
                      const struct netrt_view *like);

/*
 * A map: batch, depth, height, width, channels. Missing axes have size 1, so
 * that one kernel serves one, two and three axes.
 */
struct kernel_map {
  float *data;   /* NULL: values have 8 bits */
  int8_t *small; /* NULL: values are floats */
  ptrdiff_t size[5], stride[5];
};
struct kernel_map netrt_map_of(const struct netrt_view *view);

/* A window over the three axes of a map. Convolutions set the kernel later. */
struct kernel_window {
  ptrdiff_t kernel[3], stride[3], dilation[3], before[3], after[3];
};

/* Reads [stride dilation before] of each axis from `args`. */
struct kernel_window netrt_window_of_conv(const int32_t *args, int axes);
/* Reads [kernel stride dilation before after]. */
struct kernel_window netrt_window_of_pool(const int32_t *args, int axes);

/* Runs part(data, from, to) for parts of 0..count with at least `grain` each.
 * Deterministic: each value is computed by one part. */
typedef void part_fn(void *data, ptrdiff_t from, ptrdiff_t to);
void netrt_run_parts(const struct netrt *net, ptrdiff_t count, ptrdiff_t grain,
                     part_fn *part, void *data);

/* out[o] += sum over i < ins of in[i] * matrix[i * row + o] for o < outs, with
 * sums in registers. For plain kernels. */
void netrt_add_product(float *out, const float *in, const float *matrix,
                       ptrdiff_t ins, ptrdiff_t row, ptrdiff_t outs);

/*
 * A window whose output may overlap its input: `make` computes `out` from `in`,
 * as a whole or one row along the map's first axis (overlap.c).
 */
struct kernel_rows {
  struct kernel_map *out, *in;
  struct kernel_window *window;
  int (*make)(void *user);
  void *user;
};

/* 0: disjoint; 1: the output starts before the input; -1: after. */
int netrt_overlap(const struct kernel_rows *rows);

/* Computes all at once if disjoint, else row by row in the order that the
 * overlap requires. Changes the maps. */
int netrt_by_rows(const struct kernel_rows *rows);

/* NETRT_CHECK: check.c. */
void netrt_check_open(struct netrt *net);
uint64_t netrt_check_before(struct netrt *net, uint32_t op);
enum netrt_status netrt_check_after(struct netrt *net, uint32_t op,
                                    uint64_t sum);

#endif
