/* Degrees: checks that devices can share a net with the settings. */
#ifndef NETC_SEMA_MODEL_DEGREES_H
#define NETC_SEMA_MODEL_DEGREES_H

#include "sema/model/model.h"
#include "sema/model/settings.h"

/*
 * Reports degrees that do not divide heads, tokens, experts or devices, with
 * the nearest that do, and settings that need others. True if there are none.
 */
bool degrees_check(const struct model *model, const struct settings *settings,
                   struct diags *diags);

/* Checks each degree by itself, because others may still be chosen. */
bool degrees_divide(const struct model *model, const struct settings *settings,
                    struct diags *diags);

/*
 * Warns of degrees that divide nothing, so that devices have the same tensors
 * or parts of different sizes. True if there are none.
 */
bool degrees_share(const struct model *model, const struct settings *settings,
                   struct diags *diags);

/* Warns of settings without effect unless others are set. */
void degrees_idle(const struct model *model, const struct settings *settings,
                  struct diags *diags);

/*
 * The dense layer that a fused loss computes for the node of an output; -1:
 * none. Functions of single values, such as a softcap or a scale, may follow
 * it.
 */
int64_t degrees_head(const struct model *model, int64_t node);

#endif
