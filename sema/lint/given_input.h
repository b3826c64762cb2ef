/* Inputs whose sizes were probably meant otherwise. */
#ifndef NETC_SEMA_LINT_GIVEN_INPUT_H
#define NETC_SEMA_LINT_GIVEN_INPUT_H

#include "sema/expand.h"

/* The place of an input's sizes; `begin` 0: they are not all numbers. */
struct span given_sizes(struct sources *sources, const struct node *input);

/*
 * Offers other sizes of an input for the first error of a layer's shape: a
 * picture without its axis of channels, with channels first, with the batch or
 * as a vector. Whether the layer accepts them is found when offers are tried.
 */
void given_input_help(const struct expansion *expansion,
                      const struct model *model);

#endif
