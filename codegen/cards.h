/* Cards that have layers of their own: their names, and their layers. */
#ifndef NETC_CODEGEN_CARDS_H
#define NETC_CODEGEN_CARDS_H

#include "memory/serving/serving.h"

/* "RTX 4090"; "card 2" if no name is given. */
void cards_put_one(struct text *out, const struct serving_answer *a, int card);

/* "2 x M40 and T4" */
void cards_put_all(struct text *out, const struct serving_answer *a);

/* "layers 1 to 12 and the output" */
void cards_put_range(struct text *out, int64_t first, int64_t last,
                     bool output);

#endif
