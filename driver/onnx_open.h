/* Models of ONNX whose batch, or sizes with bounds, are left open. */
#ifndef NETC_DRIVER_ONNX_OPEN_H
#define NETC_DRIVER_ONNX_OPEN_H

#include "export/onnx.h"
#include "driver/export.h"

/* Whether the net that is compiled has inputs with bounds. */
bool onnx_has_bounds(struct netc *netc);

/*
 * The model, in the arena; the net is compiled again as it was, but for an
 * open batch. NULL: `status` is not EXIT_DONE, and what it is about was said;
 * or `why` says it.
 */
struct onnx_model *onnx_build_open(const struct export_request *request,
                                   struct arena *arena, struct text *why,
                                   int *status);

#endif
