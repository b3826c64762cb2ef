/* Describes rows and groups in the words of papers, for `--labels=plain`. */
#ifndef NETC_CODEGEN_PLAIN_H
#define NETC_CODEGEN_PLAIN_H

#include "codegen/rows.h"

/* "7x7 conv, 64, stride 2, batch norm, ReLU"; empty for an input. `said`, or
 * NULL, is by node a bit mask of the arguments that are always written. */
void row_put_plain(struct text *out, const struct compiled *c,
                   const struct row *row, const uint64_t *said);

/* Adds to `said` the windows in which a loop's iteration differs from a row. */
void row_find_varying(const struct compiled *c, const struct row *row,
                      const struct row *turn, uint64_t *said);

/* A label: "patch_embedding" as "Patch embedding", "map[3]" as "Map". */
void plain_put_name(struct text *out, struct slice name);

/* A call: "c2f 64 2 true" as "C2f, 64". */
void plain_put_call(struct text *out, struct slice call);

/* The windows in which a group differs from another one with the same layers:
 * ", stride 2", or " /2" if labels are the source's. */
void group_put_differences(struct text *out, const struct compiled *c,
                           int64_t group, int64_t from);

#endif
