/* Table of the ONNX forms of operations. */
#include <string.h>

#include "export/export.h"

/* An operation without a form; its row has the reason. */
bool onnx_none(struct exporting *x) {
  return onnx_refuse(x, "%s", onnx_form_find(x->op.code)->nodes) != NO_VALUE;
}

static const struct onnx_form forms[] = {
#define FORM(code, function, nodes) {#code, function, nodes},
#include "export/forms.def"
#undef FORM
#define FUNCTION(id, ...) {#id, onnx_function, ""},
#include "ops/ops.def"
};

static const struct onnx_form *onnx_form_at(size_t index) {
  return index < sizeof forms / sizeof *forms ? &forms[index] : NULL;
}

const struct onnx_form *onnx_form_find(const char *code) {
  for (size_t i = 0; onnx_form_at(i); i++)
    if (strcmp(forms[i].code, code) == 0)
      return &forms[i];
  return NULL;
}
