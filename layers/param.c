/*
 * Maps parameters to tensors in files. netc's axes are divided into pieces
 * where PyTorch orders them differently (a flattened map, groups). The strides
 * of the pieces follow from PyTorch's order of them.
 */
#include "layers/param.h"

#include <string.h>

/* Pieces of axes in the file's order; `begins`: a new axis of the file. */
struct laying {
  const struct param *param;
  struct param_view *view;
  int begin[LIMIT_RANK], end[LIMIT_RANK]; /* range of pieces of netc's axis */
  int order[PARAM_AXES];
  bool begins[PARAM_AXES];
  int count;
};

static void add_piece(struct laying *l, int64_t size) {
  l->view->size[l->view->axes++] = size;
}

static void add_map(struct laying *l, const struct shape *map) {
  for (int i = 0; i < map->rank; i++)
    add_piece(l, map->dim[i]);
}

static bool flattens(const struct shape *map, int64_t size) {
  return map && shape_values(map) == size;
}

/* Divides netc's axes into pieces, in netc's order. */
static void part_axes(struct laying *l, const struct shape *in_map,
                      const struct shape *out_map) {
  const struct param *param = l->param;
  int64_t groups = param->groups ? param->groups : 1;
  int last = param->rank - 1;
  for (int i = 0; i <= last; i++) {
    l->begin[i] = l->view->axes;
    if (i == last && param->order == FILE_IN_FIRST) {
      add_piece(l, groups);
      add_piece(l, param->dim[i] / groups);
    } else if (i == last && flattens(out_map, param->dim[i])) {
      add_map(l, out_map);
    } else if (i == last - 1 && param->order == FILE_OUT_FIRST &&
               flattens(in_map, param->dim[i])) {
      add_map(l, in_map);
    } else {
      add_piece(l, param->dim[i]);
    }
    l->end[i] = l->view->axes;
  }
}

static void put(struct laying *l, int piece, bool begins) {
  l->begins[l->count] = begins;
  l->order[l->count++] = piece;
}

/* Makes netc's axis an axis of the file; a map gets its channels first. */
static void put_axis(struct laying *l, int axis, bool begins) {
  put(l, l->end[axis] - 1, begins);
  for (int i = l->begin[axis]; i < l->end[axis] - 1; i++)
    put(l, i, false);
}

static void order_axes(struct laying *l) {
  int rank = l->param->rank, from = 0;
  if (l->param->order == FILE_OUT_FIRST) {
    put_axis(l, rank - 1, true);
    put_axis(l, rank - 2, true);
    rank -= 2;
  } else if (l->param->order == FILE_IN_FIRST) {
    put(l, l->begin[rank - 1], true); /* groups */
    put_axis(l, rank - 2, false);
    put(l, l->begin[rank - 1] + 1, true);
    rank -= 2;
  } else if (l->param->order == FILE_FLAT) {
    for (; from < rank - 1; from++)
      put_axis(l, from, from == 0);
  }
  for (; from < rank; from++)
    put_axis(l, from, true);
}

static void find_strides(struct laying *l) {
  struct param_view *view = l->view;
  int64_t stride = 1, dim = 1;
  for (int i = l->count; i-- > 0;) {
    int64_t size = view->size[l->order[i]];
    view->stride[l->order[i]] = stride;
    stride = size_product(stride, size);
    dim = size_product(dim, size);
    if (!l->begins[i])
      continue;
    memmove(view->dim + 1, view->dim, (size_t)view->rank++ * sizeof *view->dim);
    view->dim[0] = dim;
    dim = 1;
  }
}

void param_view(const struct param *param, const struct shape *in_map,
                const struct shape *out_map, struct param_view *view) {
  struct laying l = {.param = param, .view = view};
  memset(view, 0, sizeof *view);
  part_axes(&l, in_map, out_map);
  order_axes(&l);
  find_strides(&l);
  if (param->whole) {
    view->rank = param->whole->point ? 0 : param->whole->rank;
    memcpy(view->dim, param->whole->dim, sizeof view->dim);
  }
  if (param->rows) {
    view->first = param->first;
    for (int i = 1; i < view->rank; i++)
      view->first = size_product(view->first, view->dim[i]);
    view->dim[0] = param->rows;
  }
  view->count = 1;
  for (int i = 0; i < view->rank; i++)
    view->count = size_product(view->count, view->dim[i]);
}
