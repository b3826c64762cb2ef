/* The report's sections about memory: training and inference. */
#ifndef NETC_CODEGEN_REPORT_MEMORY_REPORT_H
#define NETC_CODEGEN_REPORT_MEMORY_REPORT_H

#include "codegen/backend.h"

void memory_report_put(const struct compiled *c, struct text *out);

#endif
