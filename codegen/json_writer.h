/* What the files that write the JSON report share. */
#ifndef NETC_CODEGEN_JSON_WRITER_H
#define NETC_CODEGEN_JSON_WRITER_H

#include "base/json.h"
#include "codegen/backend.h"

struct writer {
  const struct compiled *c;
  const struct emit_options *options;
  struct json json;
  struct text scratch;
};

/* The text made in `scratch`, which is then empty again. */
struct slice writer_text(struct writer *w);

/* The members "training" and "inference". */
void writer_put_training(struct writer *w);
void writer_put_inference(struct writer *w);

#endif
