/* The parts of onnx_open: the samples at hand, and what is asked of them. */
#ifndef NETC_CODEGEN_ONNX_OPEN_H
#define NETC_CODEGEN_ONNX_OPEN_H

#include "export/onnx.h"
#include "export/sizes.h"

struct open_model {
  struct open_sizes sizes; /* of them all */
  struct onnx_model *m;    /* the first of the samples */
  const struct onnx_model **models;
  size_t *kept; /* which of those that were asked */
  size_t count;
  const struct onnx_opening *asked;
  struct map tables; /* parts of constants that are there */
  struct text *why;
};

/* Says of what a value depends; always false. */
bool open_refuse(struct open_model *o, value_id value);

/* Whether a size is not the same in all samples. */
bool open_varies(const struct open_model *o, const int64_t *sizes);

/* What an axis of these sizes is called; "": it follows from others. */
const char *open_name(const struct open_model *o, const int64_t *sizes);

/* open_nodes.c */

/* The first node by which two models differ, else how many there are; padding
 * may differ where open_padding decides, and what constants hold. */
size_t open_same_nodes(struct arena *arena, const struct onnx_model *a,
                       const struct onnx_model *b);

/* A map that is resized to the size of another one: by sizes, where scales
 * differ. */
void open_resizes(const struct onnx_opening *asked);

/* Gives a node the padding that does for all samples; false: refused. */
bool open_padding(struct open_model *o, size_t node);

/* open_operands.c */

/* Gives a node what is computed, or cut from a table, for constants that
 * differ; false: refused. */
bool open_operands(struct open_model *o, size_t node);

#endif
