/* Pages of docs/ that the build embeds for `netc explain`. */
#ifndef NETC_LIBRARY_PAGES_H
#define NETC_LIBRARY_PAGES_H

#include <stddef.h>

struct page {
  const char *slug;
  const char *text;
};

extern const struct page pages[];
extern const size_t page_count;

/* Sections of docs/words.md. */
extern const struct page words[];
extern const size_t word_count;

#endif
