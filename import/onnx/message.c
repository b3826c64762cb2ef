/* Operators as messages show them. */
#include "base/shown.h"
#include "import/onnx/reader.h"

const char *onnx_shown(struct onnx *x, const char *name) {
  struct text text = text_new(x->arena);
  struct slice slice = slice_of(name ? name : "");
  if (slice.length > 200)
    slice.length = 200;
  shown_put(&text, slice, 0);
  return text_string(&text);
}

static void put_attribute(struct onnx *x, struct text *text,
                          const Onnx__AttributeProto *a) {
  text_put(text, onnx_shown(x, a->name));
  text_put(text, "=");
  if (a->has_i)
    text_int(text, a->i);
  else if (a->has_f)
    text_real(text, (double)a->f);
  else if (a->has_s)
    text_put(text,
             onnx_shown(x, arena_copy(x->arena, (char *)a->s.data, a->s.len)));
  else if (a->n_ints > 0)
    for (size_t i = 0; i < a->n_ints && i < 8; i++) {
      text_put(text, i ? "," : "[");
      text_int(text, a->ints[i]);
      if (i + 1 == a->n_ints || i == 7)
        text_put(text, i + 1 == a->n_ints ? "]" : ",..]");
    }
  else
    text_put(text, "..");
}

const char *onnx_op_text(struct onnx *x, const struct onnx_op *op) {
  struct text text = text_new(x->arena);
  text_put(&text, "`");
  text_put(&text, onnx_shown(x, op->name));
  text_put(&text, "` (");
  text_put(&text, onnx_shown(x, op->type));
  for (size_t i = 0; i < op->proto->n_attribute && i < 12; i++) {
    text_put(&text, i ? ", " : "; ");
    put_attribute(x, &text, op->proto->attribute[i]);
  }
  text_put(&text, ")");
  return text_string(&text);
}

bool onnx_fail(struct onnx *x, const char *format, ...) {
  struct text text = text_new(x->arena);
  va_list args;
  if (x->graph->failed)
    return false;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  text_putc(&text, '\0');
  return x->at ? graph_fail(x->graph, 0, "%s: %s", onnx_op_text(x, x->at),
                            text.at)
               : graph_fail(x->graph, 0, "%s", text.at);
}
