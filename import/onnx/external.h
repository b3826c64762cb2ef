/* Values of a model in files beside it. */
#ifndef NETC_IMPORT_ONNX_EXTERNAL_H
#define NETC_IMPORT_ONNX_EXTERNAL_H

#include "import/onnx/reader.h"

/* One of them: either what is wrong with it, or where it is. */
struct external_file {
  const char *absent; /* why it cannot be read; fatal where it is needed */
  const char *wrong;  /* what no model may name; NULL: nothing */
  const char *path;
  int64_t size;
};

/* Whether a tensor's values are beside the model, and are there. */
bool external_is(const Onnx__TensorProto *proto);
bool external_is_there(struct onnx *x, const Onnx__TensorProto *proto);

/* Fails, since they are not there; false. */
bool external_missing(struct onnx *x, const Onnx__TensorProto *proto);

/* Whether all of them are zeros that take no room on disk. */
bool external_is_hole(struct onnx *x, const Onnx__TensorProto *proto,
                      int64_t size);

/* They, `size` bytes from *at of a store on, which the caller closes; false,
 * and failed, if that is not what is there. */
bool external_open(struct onnx *x, const Onnx__TensorProto *proto, int64_t size,
                   struct byte_store *store, uint64_t *at);

#endif
