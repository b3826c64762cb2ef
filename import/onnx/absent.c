/* A build without ONNX: reports that it reads neither ONNX nor what is
 * translated into it. */
#include "import/reader.h"

bool onnx_type(struct graph *graph, size_t index, struct import_type *type) {
  (void)graph;
  (void)index;
  (void)type;
  return false;
}

bool onnx_read(struct graph *graph, struct slice file,
               const struct import_options *options) {
  (void)file;
  (void)options;
  return graph_fail(graph, 0,
                    "this netc was built without ONNX (`make ONNX=0`): it "
                    "needs libprotobuf-c-dev, protobuf-c-compiler and "
                    "libonnx-dev");
}

bool openvino_type(struct graph *graph, size_t index,
                   struct import_type *type) {
  return onnx_type(graph, index, type);
}

bool openvino_read(struct graph *graph, struct slice file,
                   const struct import_options *options) {
  return onnx_read(graph, file, options);
}

bool exported_type(struct graph *graph, size_t index,
                   struct import_type *type) {
  return onnx_type(graph, index, type);
}

bool exported_read(struct graph *graph, struct slice file,
                   const struct import_options *options) {
  return onnx_read(graph, file, options);
}

bool ncnn_type(struct graph *graph, size_t index, struct import_type *type) {
  return onnx_type(graph, index, type);
}

bool ncnn_read(struct graph *graph, struct slice file,
               const struct import_options *options) {
  return onnx_read(graph, file, options);
}

bool python_read(struct graph *graph, struct slice file,
                 const struct import_options *options) {
  return onnx_read(graph, file, options);
}
