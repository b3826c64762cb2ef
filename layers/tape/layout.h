/*
 * Layout: how a framework's tensors lie in memory, one notion for all
 * operations. A view has the strides that it has in PyTorch; what is computed
 * value by value lies as its first operand, in one piece; convolutions and
 * their kin give channels first, products of rows and norms of them channels
 * last. From that follows what must be copied, and what autograd then keeps.
 * A plan has layouts of its own: tape_strides().
 */
#ifndef NETC_LAYERS_TAPE_LAYOUT_H
#define NETC_LAYERS_TAPE_LAYOUT_H

#include "layers/tape/strides.h"

struct tape;

/* A value's layout, or that of an operation's output: */
enum {
  LAYOUT_AS_INPUT, /* an operation: by the rule above; a value: in one piece,
                      in the order that its readers like */
  LAYOUT_ROWS,     /* in one piece, channels last */
  LAYOUT_LAST,     /* likewise, of a map that has them in front as its axes */
  LAYOUT_APART,    /* rows of something larger, of which no more is known */
  LAYOUT_KNOWN,    /* and beyond: in tape->layouts */
};

struct tape_layout {
  struct strides lies;
  bool front;    /* the framework has its channels in front */
  bool by_steps; /* samples lie inside the first axis: recurrent layers */
  bool boxes;    /* its first axis and the samples are one: maps of boxes */
};

/* Maps of so many axes may have their channels last, where a kernel asks. */
enum layout_last {
  LAST_NEVER,
  LAST_1D = 1,
  LAST_2D = 2,
  LAST_3D = 4,
};

bool layout_has_last(const struct shape *shape, int last);

/* The layout of a map that an operation makes of value `in`: channels first, or
   as they are if they may be `last` (suggest_memory_format of PyTorch). */
uint32_t layout_of_map(struct tape *tape, size_t in, const struct shape *shape,
                       int last);

/* That of a view: a value, or what `lies` says of a storage; `front`: the
   framework has the channels in front. */
struct strides layout_as_seen(const struct tape *tape, size_t in,
                              const struct shape *shape);
uint32_t layout_of_view(struct tape *tape, const struct strides *lies,
                        bool front);

/* What is computed of `in` by an operation of which no more is said. */
uint32_t layout_of_result(struct tape *tape, size_t in, bool elementwise,
                          bool packs, const struct strides *out);

/* The same of `in` as of a value with the layout `lies`, but that a framework
   has its channels where it has those of `in`. */
uint32_t layout_alike(struct tape *tape, size_t in, uint32_t lies);

/* That of a part of `in`, which lies so. */
uint32_t layout_of_cut(struct tape *tape, size_t in,
                       const struct strides *lies);

/* What is computed value by value of a part of it. */
uint32_t layout_of_part(struct tape *tape, size_t in,
                        const struct strides *part);

/* Of what is computed value by value of `in`, whose channels a framework sees
   as the last axis. */
uint32_t layout_of_rows(struct tape *tape, size_t in);

/* The same, but that they are in front. */
uint32_t layout_of_front(struct tape *tape, size_t in);

/* Of several that are put together: channels stay last if all have them so
   (compute_output_memory_format() of ATen/native/TensorShape.cpp). */
uint32_t layout_of_joined(struct tape *tape, const size_t *in, int count,
                          const struct shape *out);

/* `in`, of that shape, with other sizes: false if it must be copied first. */
bool layout_reshape(struct tape *tape, size_t in, const struct shape *shape,
                    const struct strides *to, uint32_t *layout);

/* Whether a matrix can be made of it without a copy. */
bool layout_is_whole(const struct tape *tape, size_t in);

/* Rows of `in`, for a product. */
enum row_order layout_rows(const struct tape *tape, size_t in);

/* Whether a framework's axes are those of a map, channels in front. */
bool layout_of_axes(const struct tape *tape, uint32_t layout);

/* Maps of boxes: each is a sample to a framework, channels first. */
uint32_t layout_of_boxes(struct tape *tape, const struct shape *shape);

/* What a recurrent layer gives, in one piece for each step; or, in `front`, a
   product for each position of a map. */
uint32_t layout_by_steps(struct tape *tape, const struct shape *shape,
                         bool front);

/* Whether the samples of each step are one piece. Where `samples` are not
   written first, what is in one piece is taken to be so. */
bool layout_lies_by_steps(const struct tape *tape, size_t in, bool samples);

/* Its last axis is not the innermost. */
bool layout_turned(const struct tape *tape, uint32_t layout);

/* A map in one piece: `in`, or a copy of it; channels may be `last`. */
size_t layout_pack(struct tape *tape, size_t in, const struct shape *shape,
                   int last);

/* Values that a kernel copies of it while it runs, which wants it so. */
int64_t layout_copied(const struct tape *tape, size_t in,
                      const struct shape *shape);

#endif
