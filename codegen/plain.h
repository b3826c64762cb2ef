/* The words of papers for rows and groups, where `--labels=plain` asks. */
#ifndef NETC_CODEGEN_PLAIN_H
#define NETC_CODEGEN_PLAIN_H

#include "codegen/rows.h"

/* "7x7 conv, 64, stride 2, batch norm, ReLU"; nothing for an input. */
void row_put_plain(struct text *out, const struct compiled *c,
                   const struct row *row);

/* A label: "patch_embedding" as "Patch embedding". */
void plain_put_name(struct text *out, struct slice name);

/* A call: "c2f 64 2 true" as "C2f, 64". */
void plain_put_call(struct text *out, struct slice call);

#endif
