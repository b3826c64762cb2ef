/* Meeting: input sizes at which the inputs of a join have equal sizes. */
#ifndef NETC_SEMA_LINT_MEET_H
#define NETC_SEMA_LINT_MEET_H

#include "sema/expand.h"

/*
 * Helps with a net whose only errors are shape mismatches, as a U-Net that
 * halves an odd map. Tries larger sizes of its one input and suggests the
 * nearest with which all of the net can be built. Only changes the first of
 * these errors.
 */
void meet_help(const struct expansion *expansion, const struct block *program,
               const struct model *model);

#endif
