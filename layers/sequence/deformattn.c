/*
 * deformattn: attention that reads a few positions of each map (Zhu et al.
 * 2021, "Deformable DETR", arXiv 2010.04159).
 *
 * It runs like `ms_deform_attn_core_pytorch` of
 * fundamentalvision/Deformable-DETR and `MSDeformableAttention` of
 * lyuwenyu/RT-DETR: linear, softmax, grid_sample of each map, a weighted sum.
 * Parameters have their order.
 */
#include "layers/sequence/deformattn.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/check.h"

static const struct arg_spec deformattn_specs[] = {
    ARG(INT, POSITION, "heads", deformattn, heads, .required = true, .min = 1,
        .doc = "number of heads, each with its own sampling points"),
    ARG(MAPS, POSITION, "maps", deformattn, maps, .required = true, .min = 1,
        .doc = "size of each map, `80x80 40x40 20x20`; one number is a square"),
    ARG(INPUT, KEY, "at", deformattn, at, .required = true,
        .doc = "label of the reference points, Nx2 (x and y from 0 to 1) or "
               "Nx4 (boxes: centre and size); with one for each map NxMAPSx2 "
               "or NxMAPSx4"),
    ARG(INPUT, KEY, "values", deformattn, values, .fallback = "its input",
        .doc = "label of the tensor that is read: the rows of the first map, "
               "then those of the next"),
    ARG(INT, KEY, "points", deformattn, points, .min = 1, .initial = 4,
        .fallback = "4", .doc = "sampling points of a head in each map"),
    SPEC_END};

int deformattn_values(const struct deformattn *deform) {
  return deform->values.name.length ? DEFORM_AT + 1 : 0;
}

struct deform_sizes deformattn_sizes(const struct layer *layer) {
  const struct deformattn *deform = layer->args;
  const struct shape *in = layer->in[0], *at = layer->in[DEFORM_AT];
  const struct shape *values = layer->in[deformattn_values(deform)];
  struct deform_sizes s = {.queries = in->dim[0],
                           .channels = shape_channels(in),
                           .heads = deform->heads,
                           .maps = deform->maps.count,
                           .points = deform->points,
                           .rows = values->dim[0],
                           .row_channels = shape_channels(values),
                           .places = at->rank == 3 ? at->dim[1] : 1,
                           .numbers = shape_channels(at)};
  s.dim = s.channels / s.heads;
  s.seen = size_product(s.maps, s.points);
  s.weights = size_product(s.heads, s.seen);
  s.offsets = size_product(2, s.weights);
  return s;
}

int64_t deformattn_height(const struct sizes *map) {
  return map->at[0];
}

int64_t deformattn_width(const struct sizes *map) {
  return size_at(map, 1, 1);
}

int64_t deformattn_rows(const struct layer *layer, int map) {
  const struct deformattn *deform = layer->args;
  const struct sizes *size = &deform->maps.at[map];
  return size_product(deformattn_height(size), deformattn_width(size));
}

/* Shapes */

static bool check_heads(const struct layer *layer) {
  const struct deformattn *deform = layer->args;
  int64_t channels = shape_channels(layer->in[0]);
  if (channels % deform->heads == 0)
    return true;
  struct diagnostic *d =
      layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "heads",
                 "%" PRId64 " heads do not divide %" PRId64 " channels",
                 deform->heads, channels);
  layer_offer_divisor(d, "heads", deform->heads, channels);
  return false;
}

/* Rows of all maps. */
static int64_t all_rows(const struct layer *layer) {
  const struct deformattn *deform = layer->args;
  int64_t rows = 0;
  for (int i = 0; i < deform->maps.count; i++)
    rows = size_sum(rows, deformattn_rows(layer, i));
  return rows;
}

/* Maps of a pyramid are square: offers the missing rows as one more map. */
static void offer_square(struct diagnostic *d, int64_t left) {
  int64_t side = left > 0 && left < 1 << 30 ? (int64_t)sqrt((double)left) : 0;
  char map[32];
  if (side < 1 || side * side != left)
    return;
  int length = snprintf(map, sizeof map, " %" PRId64 "x%" PRId64, side, side);
  diag_offer(d, (struct span){d->span.end, d->span.end},
             (struct slice){map, (size_t)length},
             "%" PRId64 " rows are left; is there another map, `%s`?", left,
             map + 1);
}

static bool check_maps(const struct layer *layer) {
  const struct deformattn *deform = layer->args;
  const struct map_list *maps = &deform->maps;
  const struct shape *values = layer->in[deformattn_values(deform)];
  const char *word = deform->values.name.length ? "values" : NULL;
  int64_t rows = all_rows(layer);
  struct diagnostic *d;
  for (int i = 0; i < maps->count; i++)
    if (maps->at[i].rank > 2)
      return layer_refuse(layer, WRONG_RANK, "maps",
                          "a map of deformattn has two axes (HxW), not three");
  if (values->rank != 2) {
    d = layer_fail(layer, WRONG_RANK, word,
                   "deformattn reads the rows of all maps (LxC), not %s",
                   shape_text(values).text);
    return diag_help(d, "`reshape _x%" PRId64 "` makes rows of a map",
                     shape_channels(values));
  }
  if (rows == INT64_MAX)
    return layer_refuse(layer, TOO_LARGE, "maps",
                        "the maps have more than 2^63 - 1 rows");
  if (values->dim[0] == rows)
    return true;
  d = layer_fail(layer, SHAPE_MISMATCH, "maps",
                 "%s %" PRId64 " rows, but %s %" PRId64,
                 maps->count == 1 ? "this map has" : "these maps have", rows,
                 word ? "`values` has" : "the input has", values->dim[0]);
  offer_square(d, values->dim[0] - rows);
  return diag_help(d, "name the size of each map whose rows `concat axis=l` "
                      "joined, in that order: `80x80 40x40 20x20`");
}

static bool check_places(const struct layer *layer) {
  const struct deformattn *deform = layer->args;
  const struct shape *in = layer->in[0], *at = layer->in[DEFORM_AT];
  int maps = deform->maps.count;
  bool several = at->rank == 3;
  if ((at->rank == 2 || several) && at->dtype == DTYPE_FLOAT &&
      at->dim[0] == in->dim[0] &&
      (!several || at->dim[1] == maps || at->dim[1] == 1) &&
      (shape_channels(at) == DEFORM_POINT || shape_channels(at) == DEFORM_BOX))
    return true;
  struct diagnostic *d =
      layer_fail(layer, SHAPE_MISMATCH, "at",
                 "`at=` takes %" PRId64 "x2 or %" PRId64 "x4 here, not %s",
                 in->dim[0], in->dim[0], shape_text(at).text);
  return diag_help(d,
                   "give x and y of each position from 0 to 1, or also width "
                   "and height; for each map separately: %" PRId64 "x%dx2",
                   in->dim[0], maps);
}

static bool deformattn_shape(struct layer *layer) {
  return layer_check_sequence(layer) && check_heads(layer) &&
         check_maps(layer) && check_places(layer) && layer_same_shape(layer);
}

/* Parameters and MACs */

static void add_dense(struct params *params, const char *matrix,
                      const char *bias, int64_t in, int64_t out) {
  params_add_matrix(params, matrix, in, out);
  params_add_vector(params, bias, out, 0, spread_bias(in));
}

static void deformattn_params(const struct layer *layer,
                              struct params *params) {
  struct deform_sizes s = deformattn_sizes(layer);
  add_dense(params, "sampling_offsets.weight", "sampling_offsets.bias",
            s.channels, s.offsets);
  add_dense(params, "attention_weights.weight", "attention_weights.bias",
            s.channels, s.weights);
  add_dense(params, "value_proj.weight", "value_proj.bias", s.row_channels,
            s.channels);
  add_dense(params, "output_proj.weight", "output_proj.bias", s.channels,
            s.channels);
}

/* Sampling and sums are not matrix products and are not counted, as for
 * `gridsample`, `mul` and `sum`. */
static void deformattn_macs(const struct layer *layer, struct terms *terms) {
  struct deform_sizes s = deformattn_sizes(layer);
  terms_add_product(terms, s.rows, s.row_channels, s.channels);
  terms_add_product(terms, s.queries, s.channels, s.offsets);
  terms_add_product(terms, s.queries, s.channels, s.weights);
  terms_add_product(terms, s.queries, s.channels, s.channels);
}

LAYER_KIND(deformattn, "Sequence",
           "attention to a few sampling points of maps, as in Deformable DETR",
           LAYER_ARGS(deformattn, deformattn_specs), .shape = deformattn_shape,
           .params = deformattn_params, .macs = deformattn_macs,
           .trace = deformattn_trace, .asks = true);
