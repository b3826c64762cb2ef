/* ONNX models with an open batch or open sizes. */
#ifndef NETC_DRIVER_ONNX_OPEN_H
#define NETC_DRIVER_ONNX_OPEN_H

#include "export/onnx.h"
#include "driver/export.h"

/* True if the compiled net has inputs with bounds. */
bool onnx_has_bounds(struct netc *netc);

/*
 * Builds the model in the arena. Afterwards the net is compiled again with its
 * own settings, except for an open batch. NULL: `status` is not EXIT_DONE and
 * the error was reported, or `why` has the reason.
 */
struct onnx_model *onnx_build_open(const struct export_request *request,
                                   struct arena *arena, struct text *why,
                                   int *status);

#endif
