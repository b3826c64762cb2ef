/* Shared by kernels: walks over strided views, maps, parallel work. */
#include "kernel.h"

static void add_axis(struct kernel_walk *walk, const struct netrt_view *views,
                     int axis) {
  int k, to = walk->rank++;
  walk->size[to] = views[0].size[axis];
  walk->at[to] = 0;
  for (k = 0; k < walk->views; k++)
    walk->stride[k][to] = views[k].stride[axis];
}

/* True if `axis` merges with the walk's last axis in all views. */
static int continues(const struct kernel_walk *walk,
                     const struct netrt_view *views, int axis) {
  int k, last = walk->rank - 1;
  if (walk->rank == 0)
    return 0;
  for (k = 0; k < walk->views; k++)
    if (walk->stride[k][last] !=
        (ptrdiff_t)views[k].stride[axis] * views[0].size[axis])
      return 0;
  return 1;
}

static void open_axes(struct kernel_walk *walk, const struct netrt_view *views,
                      int count, int axes) {
  int i, k;
  walk->views = count;
  walk->rank = 0;
  walk->length = 1;
  for (k = 0; k < count; k++)
    walk->offset[k] = walk->step[k] = 0;
  for (i = 0; i < axes; i++) {
    if (views[0].size[i] == 1)
      continue;
    if (!continues(walk, views, i)) {
      add_axis(walk, views, i);
      continue;
    }
    walk->size[walk->rank - 1] *= views[0].size[i];
    for (k = 0; k < count; k++)
      walk->stride[k][walk->rank - 1] = views[k].stride[i];
  }
}

void netrt_walk_open(struct kernel_walk *walk, const struct netrt_view *views,
                     int count) {
  int k;
  open_axes(walk, views, count, views[0].rank);
  if (walk->rank == 0)
    return;
  walk->rank--;
  walk->length = walk->size[walk->rank];
  for (k = 0; k < count; k++)
    walk->step[k] = walk->stride[k][walk->rank];
}

void netrt_walk_open_outer(struct kernel_walk *walk,
                           const struct netrt_view *views, int count,
                           int kept) {
  open_axes(walk, views, count, views[0].rank - kept);
}

int netrt_walk_next(struct kernel_walk *walk) {
  int i, k;
  for (i = walk->rank - 1; i >= 0; i--) {
    for (k = 0; k < walk->views; k++)
      walk->offset[k] += walk->stride[k][i];
    if (++walk->at[i] < walk->size[i])
      return 1;
    for (k = 0; k < walk->views; k++)
      walk->offset[k] -= walk->stride[k][i] * walk->size[i];
    walk->at[i] = 0;
  }
  return 0;
}

void netrt_along_last(struct kernel_along *along,
                      const struct netrt_view *vector,
                      const struct netrt_view *like) {
  int i;
  for (i = 0; i < like->rank - 1; i++)
    along->stride[i] = 0;
  along->stride[like->rank - 1] = vector->stride[0];
  along->view = *vector;
  along->view.size = like->size;
  along->view.stride = along->stride;
  along->view.rank = like->rank;
}

struct kernel_map netrt_map_of(const struct netrt_view *view) {
  struct kernel_map map;
  int i, missing = 5 - view->rank;
  map.data = view->type == NETRT_I8 ? NULL : netrt_floats(view);
  map.small = view->type == NETRT_I8 ? (int8_t *)view->data : NULL;
  map.size[0] = view->size[0];
  map.stride[0] = view->stride[0];
  for (i = 1; i < 5; i++) {
    map.size[i] = i - missing > 0 ? view->size[i - missing] : 1;
    map.stride[i] = i - missing > 0 ? view->stride[i - missing] : 0;
  }
  return map;
}

static struct kernel_window window_of(const int32_t *args, int axes, int pool) {
  struct kernel_window w = {{0}, {0}, {0}, {0}, {0}};
  int i, each = pool ? 5 : 3;
  for (i = 0; i < 3; i++) {
    const int32_t *a = args + (i - (3 - axes)) * each + pool;
    int given = i >= 3 - axes;
    w.kernel[i] = given && pool ? a[-1] : 1;
    w.stride[i] = given ? a[0] : 1;
    w.dilation[i] = given ? a[1] : 1;
    w.before[i] = given ? a[2] : 0;
    w.after[i] = given && pool ? a[3] : 0;
  }
  return w;
}

struct kernel_window netrt_window_of_conv(const int32_t *args, int axes) {
  return window_of(args, axes, 0);
}

struct kernel_window netrt_window_of_pool(const int32_t *args, int axes) {
  return window_of(args, axes, 1);
}

/* Sums for eight, four or one output. */
#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define FOUR(X) X(0) X(1) X(2) X(3)
#define ONE(X) X(0)
#define BEGIN(o) float sum##o = out[o];
#define ADD(o) sum##o += value * matrix[o];
#define END(o) out[o] = sum##o;
#define ADD_PRODUCT(id, EACH)                                      \
  static void id(float *out, const float *in, const float *matrix, \
                 ptrdiff_t ins, ptrdiff_t row) {                   \
    const float *end = in + ins;                                   \
    EACH(BEGIN)                                                    \
    do {                                                           \
      float value = *in++;                                         \
      EACH(ADD)                                                    \
      matrix += row;                                               \
    } while (in != end);                                           \
    EACH(END)                                                      \
  }

ADD_PRODUCT(add_eight, EIGHT)
ADD_PRODUCT(add_four, FOUR)
ADD_PRODUCT(add_one, ONE)

void netrt_add_product(float *out, const float *in, const float *matrix,
                       ptrdiff_t ins, ptrdiff_t row, ptrdiff_t outs) {
  ptrdiff_t o = 0;
  if (ins <= 0)
    return;
  for (; o + 8 <= outs; o += 8)
    add_eight(out + o, in, matrix + o, ins, row);
  for (; o + 4 <= outs; o += 4)
    add_four(out + o, in, matrix + o, ins, row);
  for (; o < outs; o++)
    add_one(out + o, in, matrix + o, ins, row);
}

struct kernel_parts {
  ptrdiff_t count, parts;
  part_fn *part;
  void *data;
};

static void run_part(void *data, size_t i) {
  const struct kernel_parts *p = data;
  ptrdiff_t at = (ptrdiff_t)i;
  ptrdiff_t each = p->count / p->parts, rest = p->count % p->parts;
  ptrdiff_t from = at * each + least(at, rest);
  p->part(p->data, from, from + each + (at < rest));
}

void netrt_run_parts(const struct netrt *net, ptrdiff_t count, ptrdiff_t grain,
                     part_fn *part, void *data) {
  /* Several parts for each thread: they may take different times. */
  ptrdiff_t parts = net->threads > 1 ? (ptrdiff_t)net->threads * 4 : 1;
  struct kernel_parts p;
  parts = least(parts, count / most(grain, 1));
  if (!net->parallel || parts <= 1) {
    part(data, 0, count);
    return;
  }
  p.count = count;
  p.parts = parts;
  p.part = part;
  p.data = data;
  net->parallel(net->parallel_user, (size_t)parts, run_part, &p);
}
