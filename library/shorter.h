/* Shorter sequences with which a language model's training step fits. */
#ifndef NETC_LIBRARY_SHORTER_H
#define NETC_LIBRARY_SHORTER_H

#include "library/context.h"

/*
 * If the step does not fit the device with its reserve, adds the longest half,
 * quarter.. of the sequence with which it does to the ways of the fit. The net
 * is compiled again for each, without a message.
 */
void shorter_find(struct load *load);

#endif
