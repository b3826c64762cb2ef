/* Given: where settings were given, and how a message names others. */
#ifndef NETC_SEMA_MODEL_GIVEN_H
#define NETC_SEMA_MODEL_GIVEN_H

#include "sema/model/model.h"
#include "sema/model/settings.h"

/*
 * Where `train NAME=` or `infer NAME=` was given last, in a source or as an
 * option; where it was not, the input of the net.
 */
struct span given_train(const struct model *model,
                        const struct settings *settings, const char *name);
struct span given_infer(const struct model *model,
                        const struct settings *settings, const char *name);

/* Whether `train NAME=` was given at all. */
bool given_has(const struct settings *settings, const char *name);

/*
 * A help whose `name=value` between backticks are written `--name value` if
 * the setting at `place` was given so.
 */
void given_help(struct diagnostic *d, struct span place, const char *format,
                ...) PRINTF_LIKE(3, 4);

#endif
