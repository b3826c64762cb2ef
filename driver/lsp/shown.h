/* What several methods show: texts and shapes. */
#ifndef NETC_DRIVER_LSP_SHOWN_H
#define NETC_DRIVER_LSP_SHOWN_H

#include "driver/lsp/server.h"

void lsp_put(struct bytes *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* "56x56x64", with ? for what is unknown. */
void lsp_put_shape(struct bytes *out, const struct netc_shape *shape);

/* What was put, as a string; frees it. */
json_t *lsp_take(struct bytes *out);

#endif
