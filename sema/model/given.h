/* Given: where settings are given, and how messages name others. */
#ifndef NETC_SEMA_MODEL_GIVEN_H
#define NETC_SEMA_MODEL_GIVEN_H

#include "sema/model/model.h"
#include "sema/model/settings.h"

/*
 * The last place where `train NAME=` or `infer NAME=` is given, in a source or
 * as an option; otherwise, the input of the net.
 */
struct span given_train(const struct model *model,
                        const struct settings *settings, const char *name);
struct span given_infer(const struct model *model,
                        const struct settings *settings, const char *name);

/* True if `train NAME=` or `infer NAME=` is given. */
bool given_has(const struct settings *settings, const char *name);
bool given_has_infer(const struct settings *settings, const char *name);

/*
 * Adds a help. `name=value` in backticks becomes `--name value` if the setting
 * at `place` was given as an option.
 */
void given_help(struct diagnostic *d, struct span place, const char *format,
                ...) PRINTF_LIKE(3, 4);

#endif
