/* Rows of a sweep: CSV with a header, or JSON with an object a line. */
#ifndef NETC_DRIVER_SEARCH_ROWS_H
#define NETC_DRIVER_SEARCH_ROWS_H

#include "driver/origin.h"
#include "driver/search/variant.h"

struct sweep_rows {
  struct bytes made;
  bool json;
  bool on_device; /* seconds and verdicts, too */
  struct origin_word origin;
};

/* These add to what is made; false when out of memory. */

/* The names of the columns; nothing in JSON. */
bool rows_header(struct sweep_rows *rows, const struct space *space);

bool rows_add(struct sweep_rows *rows, const struct space *space,
              const int64_t *places, const struct measured_net *variant);

/* True if a line is that header; false when out of memory, too. */
bool rows_is_header(struct sweep_rows *rows, const struct space *space,
                    struct slice line);

/*
 * Reads the row of these places, with its line end, and what it has. NULL if
 * it is right: then these rows would write the same bytes. Else what is wrong,
 * as a sentence's end: "of another source".
 */
const char *rows_read(struct sweep_rows *rows, const struct space *space,
                      const int64_t *places, struct slice line,
                      struct measured_net *variant);

#endif
