/* Arithmetic with a number, and reductions over axes; shared with joins. */
#ifndef NETC_LAYERS_MATH_H
#define NETC_LAYERS_MATH_H

#include "layers/layer.h"

/* Axes that are reduced: by letter, or `axis=0`. */
struct over {
  struct axes axes;
  int keep; /* the axes stay, with a size of 1 */
};

#define OVER_AXES(of, field)                                    \
  ARG(AXES, WORD, "axis", of, field.axes, .words = "c h w d l", \
      .doc = "axes to reduce; also `axis=0`, `axis=-1`")
#define OVER_KEEP(of, field)                                \
  ARG(WORDS, WORD, "keep", of, field.keep, .words = "keep", \
      .doc = "keep the axes, with a size of 1")

/* Shape rule of a reduction. */
bool over_shape(struct layer *layer, const struct over *over);

enum reduction { REDUCE_SUM, REDUCE_MEAN, REDUCE_MAX, REDUCE_MIN };

size_t over_trace(const struct layer *layer, struct tape *tape,
                  const size_t *in, const struct over *over,
                  enum reduction reduction);

/* Records an operation of a value and a number. */
size_t number_trace(const struct layer *layer, struct tape *tape,
                    const size_t *in, double number);

#endif
