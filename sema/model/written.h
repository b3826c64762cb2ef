/* Attention that keeps no keys and values: written out, or not causal. */
#ifndef NETC_SEMA_MODEL_WRITTEN_H
#define NETC_SEMA_MODEL_WRITTEN_H

#include "sema/model/model.h"

/*
 * The last softmax of scores that are a product of two tensors of one
 * sequence; NO_NODE: there is none. Such attention keeps no keys and values.
 * The last: what comes before it may be an encoder, which needs none.
 */
int64_t written_attention(const struct model *model);

/*
 * The same; or, of a net in which no layer keeps any, the last attention, which
 * without `causal` looks at all positions at once.
 */
int64_t unkept_attention(const struct model *model);

#endif
