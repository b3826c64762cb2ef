/*
 * Layouts: places of a tensor's axes in a block of values. An axis consists of
 * atoms, outermost first. Example: the flattened C*H*W axis of a block stored
 * as HxWxC has the atoms C with stride 1, H with stride W*C and W with stride
 * C.
 */
#ifndef NETC_EXPORT_LAYOUT_H
#define NETC_EXPORT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum { LAYOUT_RANK = 24, LAYOUT_ATOMS = 48 };

/* `size` values at distance `stride`; stride 0 repeats a value. */
struct onnx_atom {
  int64_t size, stride;
  int axis;
};

/* Axes of size 0 or 1 have no atoms. Atoms are sorted by axis. */
struct onnx_layout {
  int rank, count;
  int64_t dim[LAYOUT_RANK];
  struct onnx_atom atom[LAYOUT_ATOMS];
  int64_t first; /* place of the first value */
};

struct onnx_layout layout_of(int rank, const int64_t *dims,
                             const int64_t *strides, int64_t first);

/* Adds an axis after the others. */
void layout_add(struct onnx_layout *layout, int64_t dim, int64_t stride);

/* Contiguous, last axis innermost. */
struct onnx_layout layout_dense(int rank, const int64_t *dims);

int64_t layout_values(const struct onnx_layout *layout);
bool layout_equal(const struct onnx_layout *a, const struct onnx_layout *b);

/* Reorders the axes; `order` may omit axes of size 1. */
struct onnx_layout layout_order(const struct onnx_layout *layout, int rank,
                                const int *order);

/* Moves the channels, the last axis, after the batch. */
struct onnx_layout layout_channels_first(const struct onnx_layout *layout);

/* Moves axis `from` to place `to`. */
struct onnx_layout layout_move(const struct onnx_layout *layout, int from,
                               int to);

/* Splits an axis into `outer` and the rest. False if it cannot be split so. */
bool layout_split(struct onnx_layout *layout, int axis, int64_t outer);

/* Merges `count` axes from `axis` on. */
void layout_merge(struct onnx_layout *layout, int axis, int count);

/* Inserts or removes an axis of size 1. */
void layout_insert(struct onnx_layout *layout, int axis);
void layout_drop(struct onnx_layout *layout, int axis);

/* Keeps `size` places of an axis from `from` on. False if impossible. */
bool layout_slice(struct onnx_layout *layout, int axis, int64_t from,
                  int64_t size);

/*
 * Composes layouts: `of` is a layout in the dense space of the values of `in`;
 * the result is their layout in the block. False if sizes do not divide.
 */
bool layout_through(const struct onnx_layout *in, const struct onnx_layout *of,
                    struct onnx_layout *result);

/*
 * The inverse: the layout of the values of `at`, in the block of `in`, in the
 * dense space of `in`. False also if `in` lacks some of them.
 */
bool layout_seen(const struct onnx_layout *in, const struct onnx_layout *at,
                 struct onnx_layout *result);

/* Part of an atom: `size` places of a digit, `step` apart. */
struct onnx_piece {
  int digit;
  int64_t size, step;
};

/*
 * Splits an atom into pieces of digits, outermost first. Returns their number,
 * 0 if impossible. Digits are sizes and strides that tile the space.
 */
int layout_pieces(const struct onnx_atom *digits, int count, int64_t size,
                  int64_t stride, struct onnx_piece *pieces);

#endif
