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

bool rows_add(struct sweep_rows *rows, const struct space *space,
              const int64_t *places, const struct measured_net *variant);

/* Whether a line is that header, or the row of these places; false when out of
 * memory, too. */
bool rows_is_header(struct sweep_rows *rows, const struct space *space,
                    const char *line, size_t length);
bool rows_is(struct sweep_rows *rows, const struct space *space,
             const int64_t *places, const char *line, size_t length);

/* The same of a row in CSV, and what it has. */
bool rows_read(struct sweep_rows *rows, const struct space *space,
               const int64_t *places, const char *line, size_t length,
               struct measured_net *variant);

#endif
