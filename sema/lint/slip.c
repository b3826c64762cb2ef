/* Likely mistakes: legal nets that mean something else. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/window.h"
#include "sema/lint/given_input.h"
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
  struct text sizes = text_new(l->model->arena);
  text_printf(&sizes, "%" PRId64 "x%" PRId64 "x%" PRId64, n->out->dim[at + 1],
              n->out->dim[at + 2], n->out->dim[at]);
  diag_help(d,
            at ? "an input has no batch, and its channels come last: `%.*s`"
               : "channels come last: `%.*s`",
            SLICE_ARG(sizes));
  struct span place = given_sizes(l->diags->sources, n);
  if (place.begin)
    diag_offer(d, place, text_slice(&sizes), "write `input %.*s`",
               SLICE_ARG(sizes));
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
                  "netc reads depth %" PRId64 ", height %" PRId64
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
                                   "netc reads height %" PRId64
                                   ", width %" PRId64 ", %" PRId64 " channels",
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
        "the padding of %" PRId64 " is more than half of the window", most);
    diag_help(
        d,
        "PyTorch, Caffe and ONNX Runtime refuse it: use at most `pad=%" PRId64
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
            "`fc %" PRId64 "` takes the whole map as one vector; `gap` before "
            "it takes the mean of all positions",
            shape_channels(n->out));
}

/* dense-on-states: weights for each step of a sequence */

/* The row of `last`, which recurrent layers can have; -1: none. */
static int row_of_last(const struct layer_kind *kind) {
  for (int i = 0; kind->specs && kind->specs[i].name; i++)
    if (strcmp(kind->specs[i].name, "last") == 0)
      return i;
  return -1;
}

/*
 * The recurrent layer whose states come in, through layers that keep the shape;
 * -1: none. Where all states are meant, `flatten` says so.
 */
static int64_t states_before(const struct lint *l, int64_t node) {
  const struct model *model = l->model;
  const struct node *n = &model->nodes.at[node];
  const struct shape *states = NULL;
  while (n->input_count == 1) {
    int64_t before = node_input(model, n, 0);
    n = &model->nodes.at[before];
    states = states ? states : n->out;
    if (states->rank != 2 || !shape_equal(n->out, states))
      return -1;
    int row = row_of_last(n->kind);
    if (row >= 0)
      return n->given >> row & 1 ? -1 : before;
  }
  return -1;
}

void lint_dense_on_states(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  int64_t from;
  if (n->out->rank != 1 || !n->kind->macs || !n->kind->params ||
      row_of_last(n->kind) >= 0 || (from = states_before(l, node)) < 0)
    return;
  const struct node *states = &l->model->nodes.at[from];
  struct slice all = lint_layer_text(l, from), name = slice_of(n->kind->name);
  struct text help = text_new(l->model->arena);
  struct diagnostic *d =
      lint_warn(l, DENSE_ON_STATES, node, "%.*s reads all %" PRId64 " states",
                SLICE_ARG(name), states->out->dim[0]);
  diag_label(d, states->span, "gives %s", shape_text(states->out).text);
  text_printf(&help,
              "`%.*s last` returns only the last one; `flatten` before %.*s "
              "takes all",
              SLICE_ARG(all), SLICE_ARG(name));
  lint_offer_word(l, d, from, "last", text_string(&help));
}
