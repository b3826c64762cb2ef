/* deformattn: the operations of a framework. */
#include "layers/gridsample.h"
#include "layers/math.h"
#include "layers/sequence/deformattn.h"
#include "layers/tape/lowering.h"

enum { MOST_HELD = LIMIT_NUMBERS + 4 }; /* inputs of an operation */

struct deform_recorder {
  const struct layer *layer;
  const struct deformattn *deform;
  struct tape *tape;
  struct deform_sizes s;
};

/* Extent of `values` for each query. */
static struct extent by_query(const struct deform_recorder *r, int64_t values) {
  return extent_sample(size_product(r->s.queries, values), WIDTH_NET);
}

/* Queries, heads, maps, points, x and y. */
static struct strides places_strides(const struct deform_recorder *r) {
  const int64_t dim[5] = {r->s.queries, r->s.heads, r->s.maps, r->s.points, 2};
  return strides_dense(5, dim);
}

/* `held` values stay in memory until it has run. */
static size_t project(const struct deform_recorder *r, const char *name,
                      size_t in, int64_t rows, int64_t out, int param,
                      const size_t *held, int held_count) {
  const int64_t dim[2] = {rows, out};
  struct strides lies = strides_dense(2, dim);
  enum row_order order;
  size_t read[MOST_HELD] = {tape_rows(r->tape, in, &order)};
  bool view = !r->tape->share && order == ROWS_TOGETHER && read[0] == in;
  for (int i = 0; i < held_count; i++)
    read[1 + i] = held[i];
  return tape_run(r->tape,
                  &(struct operation){
                      .name = name,
                      .does = LOWERS(LINEAR, .out = &lies),
                      .in = read,
                      .in_count = 1 + held_count,
                      .held = held_count,
                      .out = extent_sample(size_product(rows, out), WIDTH_NET),
                      .keeps = KEEPS_IN(0),
                      .rows = order,
                      .view = view,
                      .layout = LAYOUT_ROWS,
                      .first_param = param,
                      .param_count = 2,
                      .splits = true,
                      .by_rows = rows > 1,
                      .guarded = true,
                      .cast = CAST_LOW});
}

/* Softmax over all positions of all maps, for each query and head. */
static size_t soften(const struct deform_recorder *r, size_t weights) {
  const int64_t dim[3] = {r->s.queries, r->s.heads, r->s.seen};
  struct strides lies = strides_dense(3, dim);
  return tape_run_on(
      r->tape, weights,
      (struct operation){.name = "softmax",
                         .does = LOWERS(SOFTMAX, .in = &lies, .out = &lies),
                         .out = by_query(r, r->s.weights),
                         .keeps = KEEPS_OUT,
                         .elementwise = true,
                         .cast = CAST_FULL});
}

/* Arithmetic with a number: torch.mul and div, or add and sub. */
static size_t with_number(const struct deform_recorder *r, size_t in,
                          enum opcode opcode, double number) {
  struct strides lies = places_strides(r);
  struct lowering does = {
      .opcode = opcode, .in = &lies, .out = &lies, .real = {number}};
  struct operation op = {.name = opcode == DOES_SCALE ? "scale" : "shift",
                         .does = &does,
                         .out = by_query(r, r->s.offsets),
                         .elementwise = true,
                         .gradient = opcode == DOES_SCALE ? GRADIENT_NEW
                                                          : GRADIENT_SHARED};
  if (opcode == DOES_SCALE)
    op.kept[0] = tape_number(r->tape);
  return tape_run_on(r->tape, in, op);
}

/* Strides of two numbers of `at` from index `first`, broadcast to heads and
 * points, and to maps unless each has its own. */
static struct strides spread_places(const struct deform_recorder *r, size_t at,
                                    int64_t first) {
  struct strides lies = tape_strides(r->tape, at), out = places_strides(r);
  int last = lies.rank - 1;
  if (!r->tape->lowers)
    return out;
  out.offset = lies.offset + first * lies.stride[last];
  out.stride[0] = lies.stride[0];
  out.stride[1] = out.stride[3] = 0;
  out.stride[2] = r->s.places > 1 ? lies.stride[1] : 0;
  out.stride[4] = lies.stride[last];
  return out;
}

/* The same numbers of boxes as a slice, in a framework. A
 * plan needs no slice. */
static size_t cut_places(const struct deform_recorder *r, size_t at,
                         int64_t first) {
  struct strides lies = layout_as_seen(r->tape, at, r->layer->in[DEFORM_AT]);
  if (r->s.numbers == DEFORM_POINT || r->tape->lowers)
    return at;
  lies.offset += first * lies.stride[lies.rank - 1];
  lies.dim[lies.rank - 1] = 2;
  return layer_cut(r->layer, r->tape, at, &lies);
}

/* Offsets times width and height, or plus x and y of `at`. */
static size_t with_places(const struct deform_recorder *r, size_t offsets,
                          size_t at, int64_t first, struct operation op) {
  struct strides out = places_strides(r);
  struct strides lies[2] = {out, spread_places(r, at, first)};
  struct lowering does = {
      .opcode = first ? DOES_MUL : DOES_ADD, .in = lies, .out = &out};
  op.name = first ? "mul" : "add";
  op.does = &does;
  op.in = (size_t[]){offsets, at};
  op.in_count = 2;
  op.out = by_query(r, r->s.offsets);
  op.elementwise = true;
  return tape_run(r->tape, &op);
}

/* In a plan: divides the offsets of a map by its width and height. */
static size_t scale_map(const struct deform_recorder *r, size_t offsets,
                        int map) {
  const struct sizes *size = &r->deform->maps.at[map];
  int64_t all = 2 * r->s.seen; /* of a head */
  const int64_t sizes[2] = {deformattn_width(size), deformattn_height(size)};
  bool square = sizes[0] == sizes[1];
  struct strides from = {
      .rank = 3,
      .offset = 2 * r->s.points * map,
      .dim = {r->s.queries * r->s.heads, r->s.points, square ? 2 : 1},
      .stride = {all, 2, 1}};
  struct strides to = strides_dense(3, from.dim), both = to;
  struct strides lies[2] = {to, to};
  size_t parts[2];
  for (int i = 0; i < 2 - square; i++) {
    from.offset += i;
    parts[i] = tape_run_on(
        r->tape, offsets,
        (struct operation){.name = "scale",
                           .does = LOWERS(SCALE, .in = &from, .out = &to,
                                          .real = {1 / (double)sizes[i]}),
                           .out = extent_sample(strides_values(&to), WIDTH_NET),
                           .elementwise = true});
  }
  if (square)
    return parts[0];
  both.dim[2] = 2;
  both = strides_dense(3, both.dim);
  struct lowering does = {.opcode = DOES_CONCAT, .in = lies, .out = &both};
  lowering_add(&does, 3); /* the last axis; axis 0 is the batch */
  return tape_run(r->tape,
                  &(struct operation){
                      .name = "concat",
                      .does = &does,
                      .in = parts,
                      .in_count = 2,
                      .out = extent_sample(strides_values(&both), WIDTH_NET)});
}

/* scale_map() of all maps. */
static size_t scale_maps(const struct deform_recorder *r, size_t offsets) {
  int maps = (int)r->s.maps;
  size_t parts[LIMIT_NUMBERS];
  struct strides lies[LIMIT_NUMBERS], out;
  const int64_t dim[2] = {r->s.queries * r->s.heads, 2 * r->s.points};
  const int64_t all[2] = {dim[0], 2 * r->s.seen};
  for (int i = 0; i < maps; i++) {
    lies[i] = strides_dense(2, dim);
    parts[i] = scale_map(r, offsets, i);
  }
  if (maps == 1)
    return parts[0];
  out = strides_dense(2, all);
  struct lowering does = {.opcode = DOES_CONCAT, .in = lies, .out = &out};
  lowering_add(&does, 2); /* the last axis; axis 0 is the batch */
  return tape_run(r->tape,
                  &(struct operation){.name = "concat",
                                      .does = &does,
                                      .in = parts,
                                      .in_count = maps,
                                      .out = by_query(r, r->s.offsets)});
}

/* torch.div by the maps' sizes, an integer tensor. */
static size_t by_maps(const struct deform_recorder *r, size_t offsets,
                      size_t *sizes) {
  if (r->tape->lowers)
    return scale_maps(r, offsets);
  *sizes = tape_run(
      r->tape,
      &(struct operation){.name = "sizes",
                          .out = extent_fixed(2 * r->s.maps, WIDTH_INDEX)});
  return tape_run(r->tape,
                  &(struct operation){.name = "div",
                                      .in = (size_t[]){offsets, *sizes},
                                      .in_count = 2,
                                      .out = by_query(r, r->s.offsets),
                                      .keeps = KEEPS_IN(1),
                                      .elementwise = true});
}

/* Positions from 0 to 1. Offsets are relative to the map, or for boxes to the
 * box and the number of points. */
static size_t locate(const struct deform_recorder *r, size_t offsets, size_t at,
                     size_t *sizes) {
  size_t middle = cut_places(r, at, 0), size;
  if (r->s.numbers == DEFORM_POINT) {
    offsets = by_maps(r, offsets, sizes);
  } else {
    offsets = with_number(r, offsets, DOES_SCALE, 1 / (double)r->s.points);
    size = cut_places(r, at, 2);
    offsets = with_places(r, offsets, size, 2,
                          (struct operation){.keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                             .guarded = true,
                                             .reduces = true});
    offsets = with_number(r, offsets, DOES_SCALE, 0.5);
  }
  return with_places(r, offsets, middle, 0,
                     (struct operation){.gradient = GRADIENT_SHARED});
}

/* Moves heads before positions and merges them with samples: a copy,
 * unless the batch is 1. */
static size_t by_heads(const struct deform_recorder *r, size_t in,
                       int64_t positions) {
  if (r->tape->lowers || positions == 1 || r->s.heads == 1)
    return in;
  return tape_run_on(r->tape, in,
                     (struct operation){.name = "heads",
                                        .out = *tape_extent(r->tape, in),
                                        .view_of_one = true,
                                        .layout = LAYOUT_ROWS,
                                        .gradient = GRADIENT_SHARED});
}

/* torch.split: the rows of each map, in a framework. A plan needs no split. */
static size_t split_maps(const struct deform_recorder *r, size_t value) {
  int maps = (int)r->s.maps;
  int64_t dim[2] = {0, r->s.channels};
  uint32_t layouts[LIMIT_NUMBERS];
  for (int i = 0; i < maps; i++) {
    dim[0] = deformattn_rows(r->layer, i);
    struct strides lies = strides_dense(2, dim);
    layouts[i] = layout_of_view(r->tape, &lies, false);
  }
  size_t first =
      tape_run_on(r->tape, value,
                  (struct operation){.name = "split",
                                     .out = *tape_extent(r->tape, value),
                                     .outs = maps,
                                     .result = RESULT_VIEW,
                                     .layouts = layouts});
  for (int i = 0; i < maps; i++) {
    struct extent extent = *tape_extent(r->tape, first + (size_t)i);
    extent.count = size_product(deformattn_rows(r->layer, i), r->s.channels);
    tape_resize(r->tape, first + (size_t)i, extent);
    r->tape->values.at[first + (size_t)i].part = true;
  }
  return first;
}

/* Strides of the positions of one map: [heads, queries, points, 2]. */
static struct strides places_of(const struct deform_recorder *r, int map) {
  struct strides lies = places_strides(r);
  lies.offset = map * lies.stride[2];
  lies = strides_move(&lies, 2, 4);
  lies.rank--; /* drops the axis of the maps */
  return strides_move(&lies, 1, 0);
}

/* Samples a map, whose first row of the values is `begin`. */
static size_t sample(const struct deform_recorder *r, size_t value,
                     size_t places, int map, int64_t begin) {
  const struct sizes *size = &r->deform->maps.at[map];
  const struct shape out = {.rank = 3,
                            .dim = {r->s.queries, r->s.points, r->s.channels}};
  const int64_t dim[3] = {deformattn_height(size), deformattn_width(size),
                          r->s.channels};
  struct strides lies[2] = {strides_dense(3, dim), places_of(r, map)};
  struct strides to = strides_of(&out), seen = places_strides(r);
  struct lowering does = {.opcode = DOES_GRIDSAMPLE, .in = lies, .out = &to};
  size_t pair[2] = {value, places};
  lies[0].offset = size_product(begin, r->s.channels);
  for (int i = 0; i < 3; i++)
    lowering_add(&does, 0); /* bilinear, zeros, align_corners off */
  if (!r->tape->lowers) {
    seen.offset = map * seen.stride[2];
    seen.dim[2] = 1;
    pair[0] = by_heads(r, value, r->s.rows);
    pair[1] =
        by_heads(r, layer_cut(r->layer, r->tape, places, &seen), r->s.queries);
  }
  return gridsample_run(r->tape, pair, &does, &out);
}

/* torch.stack: all positions read by a query. */
static size_t join(const struct deform_recorder *r, const size_t *found) {
  int maps = (int)r->s.maps;
  const int64_t own[3] = {r->s.queries, r->s.points, r->s.channels};
  const int64_t all[3] = {r->s.queries, r->s.seen, r->s.channels};
  struct strides lies[LIMIT_NUMBERS], out = strides_dense(3, all);
  struct lowering does = {.opcode = DOES_CONCAT, .in = lies, .out = &out};
  lowering_add(&does, 2); /* the points; axis 0 is the batch */
  for (int i = 0; i < maps; i++)
    lies[i] = strides_dense(3, own);
  if (maps == 1 && r->tape->lowers)
    return found[0];
  return tape_run(
      r->tape, &(struct operation){
                   .name = "stack",
                   .does = &does,
                   .in = found,
                   .in_count = maps,
                   .out = by_query(r, size_product(r->s.seen, r->s.channels)),
                   .layout = LAYOUT_ROWS,
                   .gradient = GRADIENT_SHARED});
}

/* Multiplies all features of a head by the weight of the position. */
static size_t weigh(const struct deform_recorder *r, size_t found,
                    size_t weights) {
  const int64_t dim[4] = {r->s.queries, r->s.seen, r->s.heads, r->s.dim};
  struct strides out = strides_dense(4, dim), lies[2] = {out, out};
  struct lowering does = {.opcode = DOES_MUL, .in = lies, .out = &out};
  lies[1].stride[0] = r->s.weights;
  lies[1].stride[1] = 1;
  lies[1].stride[2] = r->s.seen;
  lies[1].stride[3] = 0;
  return tape_run(
      r->tape, &(struct operation){
                   .name = "mul",
                   .does = &does,
                   .in = (size_t[]){found, weights},
                   .in_count = 2,
                   .out = by_query(r, size_product(r->s.seen, r->s.channels)),
                   .elementwise = true,
                   .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                   .guarded = true,
                   .reduces = true});
}

/* Sums over all positions read. A framework has queries last and copies the
 * result, while its function holds the `held` values. */
static size_t sum_up(const struct deform_recorder *r, size_t weighed,
                     const size_t *held, int held_count) {
  const int64_t dim[4] = {r->s.queries, r->s.heads, r->s.dim, r->s.seen};
  struct strides from = strides_dense(4, dim), to = strides_dense(3, dim);
  const int64_t rows[2] = {r->s.queries, r->s.channels};
  struct strides seen = strides_dense(2, rows);
  size_t read[MOST_HELD] = {weighed};
  from.stride[0] = size_product(r->s.seen, r->s.channels);
  from.stride[1] = r->s.dim;
  from.stride[2] = 1;
  from.stride[3] = r->s.channels;
  struct lowering does = {.opcode = DOES_REDUCE, .in = &from, .out = &to};
  lowering_add(&does, REDUCE_SUM);
  for (int i = 0; i < held_count; i++)
    read[1 + i] = held[i];
  struct operation op = {.name = "sum",
                         .does = &does,
                         .in = read,
                         .in_count = 1 + held_count,
                         .held = held_count,
                         .out = by_query(r, r->s.channels),
                         .layout = LAYOUT_ROWS,
                         .gradient = GRADIENT_SHARED};
  read[0] = tape_run(r->tape, &op);
  tape_see(r->tape, read[0], &seen);
  if (r->tape->lowers || r->s.queries == 1 || r->s.channels == 1)
    return read[0];
  op.name = "copy";
  return tape_run(r->tape, &op);
}

size_t deformattn_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  const struct deformattn *deform = layer->args;
  struct deform_recorder r = {layer, deform, tape, deformattn_sizes(layer)};
  size_t found[MOST_HELD];
  int maps = deform->maps.count;
  size_t seen = in[deformattn_values(deform)];
  size_t value =
      project(&r, "value", seen, r.s.rows, r.s.channels, DEFORM_VALUE, NULL, 0);
  size_t offsets = project(&r, "offsets", in[0], r.s.queries, r.s.offsets,
                           DEFORM_OFFSETS, NULL, 0);
  size_t weights = project(&r, "weights", in[0], r.s.queries, r.s.weights,
                           DEFORM_WEIGHTS, NULL, 0);
  weights = soften(&r, weights);
  size_t sizes = offsets; /* unused for boxes */
  size_t at = locate(&r, offsets, in[DEFORM_AT], &sizes);
  size_t places = with_number(&r, at, DOES_SCALE, 2);
  places = with_number(&r, places, DOES_SHIFT, -1);
  size_t first = tape->lowers ? value : split_maps(&r, value);
  int64_t begin = 0;
  for (int i = 0; i < maps; i++) {
    size_t map = tape->lowers ? value : first + (size_t)i;
    found[i] = sample(&r, map, places, i, begin);
    begin += deformattn_rows(layer, i);
  }
  size_t turned = by_heads(&r, weights, r.s.queries);
  size_t weighed = weigh(&r, join(&r, found), turned);
  found[maps] = places;
  found[maps + 1] = turned;
  size_t sum = sum_up(&r, weighed, found, maps + 2);
  /* Python's frame holds these until the end. */
  size_t held[] = {in[0],   in[DEFORM_AT], seen, value,
                   offsets, weights,       at,   sizes};
  return project(&r, "out", sum, r.s.queries, r.s.channels, DEFORM_OUT, held,
                 sizeof held / sizeof *held);
}
