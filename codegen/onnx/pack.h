/* A model as the bytes of a file: the messages of onnx.proto. */
#ifndef NETC_CODEGEN_ONNX_PACK_H
#define NETC_CODEGEN_ONNX_PACK_H

#include "driver/export.h"
#include "codegen/onnx/model.h"

/* More bytes of weights than this go to a file beside it. */
#define PACK_INSIDE ((int64_t)1 << 30)

/* Complains, and returns an exit status. */
int pack_model(struct model *model, const struct export_request *request);

#endif
