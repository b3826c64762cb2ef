/*
 * Operations of a plan that ssm and deltanet share: projections of each step,
 * causal convolutions, and functions. Values are steps x features. The tape
 * must lower.
 */
#ifndef NETC_LAYERS_SEQUENCE_MIXER_H
#define NETC_LAYERS_SEQUENCE_MIXER_H

#include "layers/layer.h"
#include "layers/tape/lowering.h"

struct mixer_steps {
  struct tape *tape;
  int64_t steps;
};

/* Strides of a contiguous value. */
struct strides mixer_strides(const struct mixer_steps *m, int64_t features);

/* A product with parameter `param`, and a bias if `count` is 2. */
size_t mixer_project(const struct mixer_steps *m, const char *name, size_t in,
                     int64_t out, int param, int count);

/* Columns from `first` on, as a view. */
size_t mixer_part(const struct mixer_steps *m, const char *name, size_t in,
                  int64_t first, int64_t columns);

/* silu of a depthwise convolution with the last `window` steps. */
size_t mixer_convolve(const struct mixer_steps *m, size_t in, int64_t window,
                      int param, int count);

/* A function of single values. */
size_t mixer_apply(const struct mixer_steps *m, const char *name,
                   enum opcode opcode, size_t in);

/* A function of two values of equal sizes. */
size_t mixer_combine(const struct mixer_steps *m, const char *name,
                     enum opcode opcode, size_t a, size_t b);

/* The sum with a parameter that has a value for each feature. */
size_t mixer_add(const struct mixer_steps *m, const char *name, size_t in,
                 int param);

/* Times a number. */
size_t mixer_scale(const struct mixer_steps *m, const char *name, size_t in,
                   double factor);

/* x / root of (mean of squares + eps), over each of `parts` of a row, which
 * parameter `scale` multiplies; -1: none. */
size_t mixer_normalise(const struct mixer_steps *m, size_t in, int64_t parts,
                       double eps, int scale);

/* A copy of columns [first, first + columns) of each of `parts` of a row. */
size_t mixer_gather(const struct mixer_steps *m, const char *name, size_t in,
                    int64_t parts, int64_t first, int64_t columns);

/* Three values beside each other. */
size_t mixer_concat(const struct mixer_steps *m, const size_t in[3]);

#endif
