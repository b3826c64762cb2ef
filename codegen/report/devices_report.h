/* The report's block about several devices, and about their hosts. */
#ifndef NETC_CODEGEN_REPORT_DEVICES_REPORT_H
#define NETC_CODEGEN_REPORT_DEVICES_REPORT_H

#include "codegen/backend.h"

/* What each device of the most loaded stage holds and sends; or nothing. */
void devices_report(const struct compiled *c, struct text *out);

#endif
