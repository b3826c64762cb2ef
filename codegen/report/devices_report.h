/* The report's section about several devices and their hosts. */
#ifndef NETC_CODEGEN_REPORT_DEVICES_REPORT_H
#define NETC_CODEGEN_REPORT_DEVICES_REPORT_H

#include "codegen/backend.h"

/* Contents and traffic of each device of the most loaded stage, if there are
 * several devices. */
void devices_report(const struct compiled *c, struct text *out);

#endif
