/*
 * Layouts: how the axes of a tensor lie in a block of values. An axis is made
 * of atoms, outer ones first: the C*H*W values of a flattened map, of a block
 * that lies HxWxC, are atoms C of stride 1, H of stride W*C and W of stride C.
 */
#ifndef NETC_CODEGEN_ONNX_LAYOUT_H
#define NETC_CODEGEN_ONNX_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum { LAYOUT_RANK = 24, LAYOUT_ATOMS = 48 };

/* `size` values that lie `stride` apart; 0: the same one again. */
struct onnx_atom {
  int64_t size, stride;
  int axis;
};

/* Axes of size 1 or 0 have no atoms; all are in the order of their axes. */
struct onnx_layout {
  int rank, count;
  int64_t dim[LAYOUT_RANK];
  struct onnx_atom atom[LAYOUT_ATOMS];
  int64_t first; /* where the first value lies */
};

struct onnx_layout layout_of(int rank, const int64_t *dims,
                             const int64_t *strides, int64_t first);

/* All in one piece, the last axis innermost. */
struct onnx_layout layout_dense(int rank, const int64_t *dims);

int64_t layout_values(const struct onnx_layout *layout);
bool layout_equal(const struct onnx_layout *a, const struct onnx_layout *b);

/* The axes in another order; `order` may leave out axes of size 1. */
struct onnx_layout layout_order(const struct onnx_layout *layout, int rank,
                                const int *order);

/* Channels, which are last, after the batch. */
struct onnx_layout layout_channels_first(const struct onnx_layout *layout);

/* Axis `from` at the place `to`. */
struct onnx_layout layout_move(const struct onnx_layout *layout, int from,
                               int to);

/* Axis `axis` as `outer` times what is left. False: it cannot be split so. */
bool layout_split(struct onnx_layout *layout, int axis, int64_t outer);

/* `count` axes from `axis` on as one. */
void layout_merge(struct onnx_layout *layout, int axis, int count);

/* An axis of size 1 comes or goes. */
void layout_insert(struct onnx_layout *layout, int axis);
void layout_drop(struct onnx_layout *layout, int axis);

/* `size` places of an axis from `from` on. False as above. */
bool layout_slice(struct onnx_layout *layout, int axis, int64_t from,
                  int64_t size);

/*
 * What `of` gives names to, as it lies where `in` does: atoms of `of` are in
 * the dense space of the values of `in`. False if the sizes do not divide.
 */
bool layout_through(const struct onnx_layout *in, const struct onnx_layout *of,
                    struct onnx_layout *result);

/*
 * The other way round: where the values of `at`, whose space is that of `in`,
 * are in the dense space of `in`. False as well if `in` has not all of them.
 */
bool layout_seen(const struct onnx_layout *in, const struct onnx_layout *at,
                 struct onnx_layout *result);

/* A place on an axis of a tensor: what an atom needs of one of its digits. */
struct onnx_piece {
  int digit;
  int64_t size, step;
};

/*
 * The atom as pieces of digits, outer ones first; how many, 0 if it cannot be.
 * Digits are sizes and strides that tile the space.
 */
int layout_pieces(const struct onnx_atom *digits, int count, int64_t size,
                  int64_t stride, struct onnx_piece *pieces);

#endif
