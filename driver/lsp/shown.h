/* Texts and shapes for several methods. */
#ifndef NETC_DRIVER_LSP_SHOWN_H
#define NETC_DRIVER_LSP_SHOWN_H

#include "driver/lsp/server.h"

void lsp_put(struct bytes *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* "56x56x64", with ? for unknown sizes. */
void lsp_put_shape(struct bytes *out, const struct netc_shape *shape);

/* The text as a JSON string; frees `out`. */
json_t *lsp_take(struct bytes *out);

#endif
