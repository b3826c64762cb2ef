/* Likely mistakes: legal nets that mean something else. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/window.h"
#include "sema/lint/linter.h"

/* channels-first: 3x224x224 is a map of 3 rows and 224 channels */

static bool has_windows(const struct lint *l) {
  for (size_t i = 0; i < l->model->nodes.count; i++)
    if (l->model->nodes.at[i].kind->windows)
      return true;
  return false;
}

/* Offers height, width and channels of an input whose channels are dim `at`. */
static void offer_sizes(struct lint *l, struct diagnostic *d, int64_t node,
                        int at) {
  const struct node *n = &l->model->nodes.at[node];
  struct slice text = sources_slice(l->diags->sources, n->span);
  size_t begin = text.length;
  struct text sizes = text_new(l->model->arena);
  text_printf(&sizes, "%" PRId64 "x%" PRId64 "x%" PRId64, n->out->dim[at + 1],
              n->out->dim[at + 2], n->out->dim[at]);
  while (begin > 0 && text.at[begin - 1] != ' ')
    begin--;
  diag_help(d,
            at ? "the batch is never written, and channels come last: `%.*s`"
               : "channels come last: `%.*s`",
            SLICE_ARG(sizes));
  for (size_t i = begin; i < text.length; i++)
    if (text.at[i] != 'x' && (text.at[i] < '0' || text.at[i] > '9'))
      return; /* sizes are names */
  diag_offer(d, (struct span){n->span.begin + (uint32_t)begin, n->span.end},
             text_slice(&sizes), "write `input %.*s`", SLICE_ARG(sizes));
}

void lint_channels_first(struct lint *l, int64_t node) {
  enum { MOST_CHANNELS = 4 }; /* of images with a depth or alpha channel */
  const struct node *n = &l->model->nodes.at[node];
  const struct shape *map = n->out;
  if (n->kind == &model_input_kind && map->rank == 4 &&
      (map->dim[1] == 1 || map->dim[1] == 3) && map->dim[2] == map->dim[3] &&
      map->dim[2] > MOST_CHANNELS && has_windows(l)) {
    struct diagnostic *d =
        lint_warn(l, CHANNELS_FIRST, node,
                  "read as depth %" PRId64 ", height %" PRId64
                  ", width %" PRId64 ", %" PRId64 " channels",
                  map->dim[0], map->dim[1], map->dim[2], map->dim[3]);
    offer_sizes(l, d, node, 1);
    return;
  }
  if (n->kind != &model_input_kind || map->rank != 3 ||
      map->dtype != DTYPE_FLOAT || (map->dim[0] != 1 && map->dim[0] != 3) ||
      map->dim[1] <= MOST_CHANNELS || map->dim[2] <= MOST_CHANNELS ||
      !has_windows(l))
    return;
  struct diagnostic *d = lint_warn(l, CHANNELS_FIRST, node,
                                   "read as height %" PRId64 ", width %" PRId64
                                   ", %" PRId64 " channels",
                                   map->dim[0], map->dim[1], map->dim[2]);
  offer_sizes(l, d, node, 0);
}

/* pool-padding: other frameworks reject more than half of the window */

void lint_pool_padding(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  struct window windows[3];
  if (!n->kind->windows || n->kind->params)
    return;
  struct layer layer = model_layer(l->model, node, l->in);
  int axes = n->kind->windows(&layer, windows);
  for (int i = 0; i < axes; i++) {
    int64_t most = max_i64(windows[i].before, windows[i].after);
    int64_t half = window_extent(&windows[i]) / 2;
    if (most <= half)
      continue;
    struct diagnostic *d = lint_warn(
        l, POOL_PADDING, node,
        "padding of %" PRId64 " is more than half of the window", most);
    diag_help(d,
              "PyTorch, Caffe and ONNX Runtime refuse it: at most `pad=%" PRId64
              "`",
              half);
    return;
  }
}

/* dense-on-map: the net's output is a vector for every place of a map */

static bool is_output(const struct lint *l, int64_t node) {
  for (size_t i = 0; i < l->model->outputs.count; i++)
    if (l->model->outputs.at[i].node == node)
      return true;
  return false;
}

void lint_dense_on_map(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  if (!n->kind->per_position || n->out->rank < 3)
    return;
  int64_t end = model_row_end(l->model, n->head) - 1;
  int64_t next = l->readers[end] == 1 ? l->reader[end] : end;
  bool closes = is_output(l, end) ||
                (l->model->nodes.at[next].kind->loss && is_output(l, next));
  if (!closes)
    return;
  struct diagnostic *d =
      lint_warn(l, DENSE_ON_MAP, node,
                "%s gives %" PRId64 " values for each of %" PRId64 " positions",
                n->kind->name, shape_channels(n->out),
                shape_values(n->out) / shape_channels(n->out));
  diag_help(d,
            "`fc %" PRId64 "` takes the whole map as one vector, `gap` "
            "before it the mean of all positions",
            shape_channels(n->out));
}
