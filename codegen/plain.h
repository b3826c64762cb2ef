/* The words of papers for rows and groups, where `--labels=plain` asks. */
#ifndef NETC_CODEGEN_PLAIN_H
#define NETC_CODEGEN_PLAIN_H

#include "codegen/rows.h"

/* "7x7 conv, 64, stride 2, batch norm, ReLU"; nothing for an input. `said`, or
 * NULL, has the arguments that are said even if they say nothing, by node. */
void row_put_plain(struct text *out, const struct compiled *c,
                   const struct row *row, const uint64_t *said);

/* Adds to `said` the windows in which a turn of a loop differs from a row. */
void row_find_varying(const struct compiled *c, const struct row *row,
                      const struct row *turn, uint64_t *said);

/* A label: "patch_embedding" as "Patch embedding". */
void plain_put_name(struct text *out, struct slice name);

/* A call: "c2f 64 2 true" as "C2f, 64". */
void plain_put_call(struct text *out, struct slice call);

/* ", stride 2", or " /2" where labels are those of the source: in which windows
 * a group differs from another one with the same layers. */
void group_put_differences(struct text *out, const struct compiled *c,
                           int64_t group, int64_t from);

#endif
