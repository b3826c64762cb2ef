/* What several methods show: shapes, arguments, names in words. */
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

void lsp_put_form(struct bytes *out, const struct netc_argument *argument) {
  const char *at = argument->form == NETC_WORD ? argument->words : "";
  if (argument->form == NETC_KEY) {
    lsp_put(out, "%s=%s", argument->name, argument->value);
    return;
  }
  for (; *at; at++)
    lsp_put(out, "%c", *at == ' ' ? '|' : *at);
  if (argument->form == NETC_WORD)
    return;
  lsp_put(out, "%s", argument->form == NETC_STRIDE ? "/" : "");
  for (at = argument->name; *at; at++)
    lsp_put(out, "%c", *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
}

void lsp_put_argument(struct bytes *out, const struct netc_argument *argument) {
  lsp_put_form(out, argument);
  lsp_put(out, ": %s", argument->doc);
  if (*argument->words && argument->form != NETC_WORD)
    lsp_put(out, "; one of %s", argument->words);
  if (*argument->fallback)
    lsp_put(out, " (%s)", argument->fallback);
  lsp_put(out, "\n");
}

const char *lsp_name_word(enum netc_name_kind kind) {
  static const char *const words[] = {
      [NETC_NAME_LABEL] = "label",       [NETC_NAME_DEF] = "def",
      [NETC_NAME_PARAM] = "param",       [NETC_NAME_LET] = "let",
      [NETC_NAME_ARGUMENT] = "argument", [NETC_NAME_TURN] = "loop variable"};
  return words[kind];
}

json_t *lsp_take(struct bytes *out) {
  json_t *string =
      lsp_string((struct slice){out->at ? out->at : "", out->length});
  bytes_free(out);
  return string;
}
