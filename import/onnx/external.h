/* Values of a model in other files. */
#ifndef NETC_IMPORT_ONNX_EXTERNAL_H
#define NETC_IMPORT_ONNX_EXTERNAL_H

#include "import/onnx/reader.h"

/* Such a file: an error, or its path. */
struct external_file {
  const char *absent; /* why it cannot be read; an error only if it is needed */
  const char *wrong;  /* why no model may name it; NULL: it may */
  const char *path;
  int64_t size;
};

/* True if a tensor's values are in another file, and if that file exists. */
bool external_is(const Onnx__TensorProto *proto);
bool external_is_there(struct onnx *x, const Onnx__TensorProto *proto);

/* Fails because the file is missing; returns false. */
bool external_missing(struct onnx *x, const Onnx__TensorProto *proto);

/* True if all values are zeros in a hole of the file. */
bool external_is_hole(struct onnx *x, const Onnx__TensorProto *proto,
                      int64_t size);

/* Opens a store in which the values are the `size` bytes from *at on; the
 * caller closes it. False, with an error, if the file has less. */
bool external_open(struct onnx *x, const Onnx__TensorProto *proto, int64_t size,
                   struct byte_store *store, uint64_t *at);

/* external_file.c, and in the playground web/files.c: looks up a file that
 * stays in the folder; opens it; true if it has a hole from `from` to `to`. */
void external_find(struct onnx *x, const char *folder, const char *location,
                   struct external_file *file);
bool external_open_file(struct byte_store *store,
                        const struct external_file *file);
bool external_has_hole(struct byte_store *store, int64_t from, int64_t to);

#endif
