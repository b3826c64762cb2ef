/* deformattn: arguments and sizes, shared by its two files. */
#ifndef NETC_LAYERS_SEQUENCE_DEFORMATTN_H
#define NETC_LAYERS_SEQUENCE_DEFORMATTN_H

#include "layers/layer.h"

struct deformattn {
  int64_t heads, points;
  struct map_list maps;
  struct layer_ref at, values;
};

/* First parameter of each projection. */
enum {
  DEFORM_OFFSETS = 0,
  DEFORM_WEIGHTS = 2,
  DEFORM_VALUE = 4,
  DEFORM_OUT = 6
};

/* The input with positions, and the numbers of a point or a box. */
enum { DEFORM_AT = 1, DEFORM_POINT = 2, DEFORM_BOX = 4 };

/* Index of the input that is read. */
int deformattn_values(const struct deformattn *deform);

/* Sizes of one sample. Overflows are INT64_MAX, which later sums report. */
struct deform_sizes {
  int64_t queries, channels, heads, dim; /* dim: features of a head */
  int64_t maps, points, seen;            /* seen: positions read by a head */
  int64_t rows, row_channels;            /* of the input that is read */
  int64_t weights, offsets;              /* of all heads of a query */
  int64_t places, numbers;               /* of `at`, for a query */
};

struct deform_sizes deformattn_sizes(const struct layer *layer);

int64_t deformattn_height(const struct sizes *map);
int64_t deformattn_width(const struct sizes *map);

/* Rows of a map. */
int64_t deformattn_rows(const struct layer *layer, int map);

/* layer->kind->trace */
size_t deformattn_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in);

#endif
