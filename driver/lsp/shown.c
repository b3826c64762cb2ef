/* Texts and shapes for several methods. */
#include "driver/lsp/shown.h"

#include <inttypes.h>
#include <stdlib.h>

void lsp_put(struct bytes *out, const char *format, ...) {
  char line[512];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(line, sizeof line, format, args);
  if (length >= 0 && (size_t)length < sizeof line) {
    bytes_sink(out, line, (size_t)length);
  } else if (length > 0) {
    char *whole = malloc((size_t)length + 1);
    if (whole && vsnprintf(whole, (size_t)length + 1, format, again) == length)
      bytes_sink(out, whole, (size_t)length);
    free(whole);
  }
  va_end(again);
  va_end(args);
}

void lsp_put_shape(struct bytes *out, const struct netc_shape *shape) {
  if (shape->rank == 0)
    lsp_put(out, "?");
  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] == NETC_UNKNOWN)
      lsp_put(out, "%s?", i ? "x" : "");
    else
      lsp_put(out, "%s%" PRId64, i ? "x" : "", shape->dims[i]);
}

json_t *lsp_take(struct bytes *out) {
  json_t *string =
      lsp_string((struct slice){out->at ? out->at : "", out->length});
  bytes_free(out);
  return string;
}
