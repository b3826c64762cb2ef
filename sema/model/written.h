/* Attention that a net writes out as products and a softmax. */
#ifndef NETC_SEMA_MODEL_WRITTEN_H
#define NETC_SEMA_MODEL_WRITTEN_H

#include "sema/model/model.h"

/*
 * The last softmax of scores that are a product of two tensors of one
 * sequence; NO_NODE: there is none. Such attention keeps no keys and values.
 * The last: what comes before it may be an encoder, which needs none.
 */
int64_t written_attention(const struct model *model);

#endif
