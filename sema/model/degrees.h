/* Degrees: whether devices can share a net as the settings say. */
#ifndef NETC_SEMA_MODEL_DEGREES_H
#define NETC_SEMA_MODEL_DEGREES_H

#include "sema/model/model.h"
#include "sema/model/settings.h"

/*
 * Reports degrees that do not divide what they share (heads, positions,
 * experts, devices) with the nearest that do, and settings that need others;
 * returns whether there were none.
 */
bool degrees_check(const struct model *model, const struct settings *settings,
                   struct diags *diags);

/* The same of each degree by itself: others may be chosen yet. */
bool degrees_divide(const struct model *model, const struct settings *settings,
                    struct diags *diags);

/*
 * Warns of degrees that divide nothing, so that devices only have the same, or
 * parts of unlike sizes; returns whether there were none.
 */
bool degrees_share(const struct model *model, const struct settings *settings,
                   struct diags *diags);

/* Warns of settings that change nothing without others that are not set. */
void degrees_idle(const struct model *model, const struct settings *settings,
                  struct diags *diags);

#endif
