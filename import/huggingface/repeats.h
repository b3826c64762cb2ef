/* A sequence of calls as a person writes it: `repeat 3 { attend; dense }`. */
#ifndef NETC_IMPORT_HUGGINGFACE_REPEATS_H
#define NETC_IMPORT_HUGGINGFACE_REPEATS_H

#include "base/text.h"

/* One statement for each word, or a loop where several follow each other. */
void repeats_put(struct text *out, const struct slice *words, size_t count);

#endif
