/* Shared by the parts of onnx_open(): the samples and the requested axes. */
#ifndef NETC_EXPORT_OPEN_H
#define NETC_EXPORT_OPEN_H

#include "export/onnx.h"
#include "export/sizes.h"

struct open_model {
  struct open_sizes sizes; /* of all samples */
  struct onnx_model *m;    /* the first sample */
  const struct onnx_model **models;
  size_t *kept; /* indices of the samples that were kept */
  size_t count;
  const struct onnx_opening *asked;
  struct map tables; /* shared parts of constants */
  struct text *why;
};

/* Refuses because of a value; returns false. */
bool open_refuse(struct open_model *o, value_id value);

/* True if a size differs between samples. */
bool open_varies(const struct open_model *o, const int64_t *sizes);

/* The name of an axis with these sizes; "": derived from others. */
const char *open_name(const struct open_model *o, const int64_t *sizes);

/* open_nodes.c */

/* Index of the first node that differs, or the number of nodes. Contents of
 * constants may differ, and padding that open_padding() unifies. */
size_t open_same_nodes(struct arena *arena, const struct onnx_model *a,
                       const struct onnx_model *b);

/* Lets Resize use sizes instead of scales if the scales differ. */
void open_resizes(const struct onnx_opening *asked);

/* Gives a node a padding that works for all samples; false: refused. */
bool open_padding(struct open_model *o, size_t node);

/* open_operands.c */

/* Replaces constants of a node that differ, by computed values or parts of a
 * table; false: refused. */
bool open_operands(struct open_model *o, size_t node);

#endif
