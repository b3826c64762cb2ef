/* Names of maps by their level in a pyramid. */
#ifndef NETC_IMPORT_LEVEL_H
#define NETC_IMPORT_LEVEL_H

#include "import/statement.h"

/*
 * The name of a map that a statement names: C4 for stride 16, or P4 if it was
 * upsampled or is about to be, as in the paper on feature pyramids (Lin et al.,
 * 2017). NULL: the net has other inputs than one image or upsamples nothing,
 * the stride is no power of two from 2 to 128, or another label of the plan has
 * this level, too.
 */
const char *const *level_names(const struct source_plan *plan);

#endif
