/* Written attention: has no KV cache, as it is written out or not causal. */
#ifndef NETC_SEMA_MODEL_WRITTEN_H
#define NETC_SEMA_MODEL_WRITTEN_H

#include "sema/model/model.h"

/*
 * The last softmax of scores that are a product of two tensors of one sequence;
 * NO_NODE: none. Such attention has no KV cache. Earlier ones may be an
 * encoder's, which needs none.
 */
int64_t written_attention(const struct model *model);

/*
 * The same. If no layer has a KV cache, the last attention, which without
 * `causal` attends to all tokens.
 */
int64_t unkept_attention(const struct model *model);

#endif
