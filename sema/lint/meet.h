/* Meeting: sizes of an input at which the inputs of a join have equal sizes. */
#ifndef NETC_SEMA_LINT_MEET_H
#define NETC_SEMA_LINT_MEET_H

#include "sema/expand.h"

/*
 * For a net whose only errors are of shapes that do not meet: a U-Net whose
 * map is halved where it is odd. Larger sizes of its one input are tried, and
 * the nearest with which all of the net is built is told. It changes the
 * first of those errors, nothing else.
 */
void meet_help(const struct expansion *expansion, const struct block *program,
               const struct model *model);

#endif
