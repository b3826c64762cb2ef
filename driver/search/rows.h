/* Rows of a sweep: CSV with a header, or JSON with an object a line. */
#ifndef NETC_DRIVER_SEARCH_ROWS_H
#define NETC_DRIVER_SEARCH_ROWS_H

#include "driver/search/variant.h"

struct sweep_rows {
  struct bytes made;
  bool json;
  bool on_device; /* seconds and verdicts, too */
};

/* These add to what is made; false when out of memory. */

/* The names of the columns; nothing in JSON. */
bool rows_header(struct sweep_rows *rows, const struct space *space);

/* What the row of these places begins with, by which --append knows it. */
bool rows_key(struct sweep_rows *rows, const struct space *space,
              const int64_t *places);

bool rows_add(struct sweep_rows *rows, const struct space *space,
              const int64_t *places, const struct measured_net *variant);

#endif
