/* What several methods show: shapes, arguments, names in words. */
#ifndef NETC_DRIVER_LSP_SHOWN_H
#define NETC_DRIVER_LSP_SHOWN_H

#include "driver/lsp/server.h"

void lsp_put(struct bytes *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* "56x56x64", with ? for what is unknown. */
void lsp_put_shape(struct bytes *out, const struct netc_shape *shape);

/* "groups=N: so many groups (1)" */
void lsp_put_argument(struct bytes *out, const struct netc_argument *argument);

/* How it is written: "groups=N", "/STRIDE", "CHANNELS", "bias|nobias". */
void lsp_put_form(struct bytes *out, const struct netc_argument *argument);

/* "label", "def".. */
const char *lsp_name_word(enum netc_name_kind kind);

/* What was put, as a string; frees it. */
json_t *lsp_take(struct bytes *out);

#endif
