/*
 * Layout: strides of a framework's tensors; the rules are the same for all
 * operations. A view has PyTorch's strides. An elementwise result is
 * contiguous, in the order of its first operand. Convolutions and similar
 * kernels make channels first; products and norms of rows make channels last.
 * The layout decides which tensors are copied, and which autograd keeps. A plan
 * has layouts of its own: tape_strides().
 */
#ifndef NETC_LAYERS_TAPE_LAYOUT_H
#define NETC_LAYERS_TAPE_LAYOUT_H

#include "layers/tape/strides.h"

struct tape;

/* The layout of a value, or of an operation's output. */
enum {
  LAYOUT_AS_INPUT, /* operation: by the rules above; value: contiguous, in any
                    * order its readers need */
  LAYOUT_ROWS,     /* contiguous, channels last */
  LAYOUT_LAST,     /* the same for a map with channels on the first axis */
  LAYOUT_APART,    /* rows of a larger tensor; no more is known */
  LAYOUT_KNOWN,    /* from here on: index in `layouts` */
};

struct tape_layout {
  struct strides lies;
  bool front;    /* the framework's first axis is that of the channels */
  bool by_steps; /* samples are inside the first axis: recurrent layers */
  bool boxes;    /* the first axis and samples are one: maps of boxes */
};

/* Kernels that support channels last, by the number of spatial axes. */
enum layout_last {
  LAST_NEVER,
  LAST_1D = 1,
  LAST_2D = 2,
  LAST_3D = 4,
};

bool layout_has_last(const struct shape *shape, int last);

/* The layout of a map that an operation computes from `in`: channels first, or
 * still last if `last` allows it (suggest_memory_format of PyTorch), as 2-D
 * convolutions, pools, bn, gn, prelu, up, pad with zeros, and a concat of parts
 * that all have channels last. */
uint32_t layout_of_map(struct tape *tape, size_t in, const struct shape *shape,
                       int last);

/* The strides of `in`, viewed as `shape`; the layout of a view with the strides
 * `lies`. `front`: the framework's first axis is that of the channels. */
struct strides layout_as_seen(const struct tape *tape, size_t in,
                              const struct shape *shape);
uint32_t layout_of_view(struct tape *tape, const struct strides *lies,
                        bool front);

/* The layout computed from `in` by an operation that states none. */
uint32_t layout_of_result(struct tape *tape, size_t in, bool elementwise,
                          bool packs, const struct strides *out);

/* The layout `lies`, with the channel axis where `in` has it. */
uint32_t layout_alike(struct tape *tape, size_t in, uint32_t lies);

/* The layout of a slice of `in` with the strides `lies`. */
uint32_t layout_of_cut(struct tape *tape, size_t in,
                       const struct strides *lies);

/* The layout of an elementwise function of a slice. */
uint32_t layout_of_part(struct tape *tape, size_t in,
                        const struct strides *part);

/* The layout of an elementwise function of `in`, for which the framework's last
 * axis is that of the channels. */
uint32_t layout_of_rows(struct tape *tape, size_t in);

/* The same with channels on the first axis. */
uint32_t layout_of_front(struct tape *tape, size_t in);

/* The layout of a concatenation: channels stay last if they are last in all
 * inputs (compute_output_memory_format() of ATen/native/TensorShape.cpp). Maps
 * in both orders of axes are joined with channels on the first. */
uint32_t layout_of_joined(struct tape *tape, const size_t *in, int count,
                          const struct shape *out);

/* Reshapes `in` of `shape` to `to`: false if it must be copied first. */
bool layout_reshape(struct tape *tape, size_t in, const struct shape *shape,
                    const struct strides *to, uint32_t *layout);

/* True if it can be viewed as a matrix without a copy. */
bool layout_is_whole(const struct tape *tape, size_t in);

/* The order of the rows of `in`, for a product. */
enum row_order layout_rows(const struct tape *tape, size_t in);

/* True if the framework's first axis is that of the channels. */
bool layout_of_axes(const struct tape *tape, uint32_t layout);

/* Maps of boxes: to a framework each is a sample with channels first. */
uint32_t layout_of_boxes(struct tape *tape, const struct shape *shape);

/* The output of a recurrent layer, contiguous by step; or with `front`,
 * products by position of a map. */
uint32_t layout_by_steps(struct tape *tape, const struct shape *shape,
                         bool front);

/* True if the samples of each step are contiguous. A contiguous value counts as
 * such, unless its `samples` come first. */
bool layout_lies_by_steps(const struct tape *tape, size_t in, bool samples);

/* True if the last axis is not the innermost. */
bool layout_turned(const struct tape *tape, uint32_t layout);

/* `in` as a contiguous map, copied if needed; channels may be `last`. */
size_t layout_pack(struct tape *tape, size_t in, const struct shape *shape,
                   int last);

/* Values copied while a kernel runs that needs a contiguous map. */
int64_t layout_copied(const struct tape *tape, size_t in,
                      const struct shape *shape);

#endif
