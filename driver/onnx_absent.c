/* Replaces -o x.onnx in a program that is built without ONNX. */
#include "driver/export.h"

int export_onnx(const struct export_request *request) {
  if (request->refused) {
    snprintf(request->refused, request->refused_room,
             "this netc was built without ONNX");
    return EXIT_DONE;
  }
  return complain(EXIT_USAGE,
                  "this netc was built without ONNX (`make ONNX=0`): it needs "
                  "libprotobuf-c-dev, protobuf-c-compiler and libonnx-dev");
}
