/* The pages of docs/diagnostics, which the build puts into the library. */
#ifndef NETC_LIBRARY_PAGES_H
#define NETC_LIBRARY_PAGES_H

#include <stddef.h>

struct page {
  const char *slug;
  const char *text;
};

extern const struct page pages[];
extern const size_t page_count;

#endif
