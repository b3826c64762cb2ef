/* Rows of a sweep: CSV with a header, or JSON with an object per line. */
#ifndef NETC_DRIVER_SEARCH_ROWS_H
#define NETC_DRIVER_SEARCH_ROWS_H

#include "driver/origin.h"
#include "driver/search/variant.h"

enum sweep_columns { /* as bits; other columns are always there */
                     WITH_SECONDS = 1, /* a training step on a device */
                     WITH_ANSWER = 2,  /* inference */
                     WITH_BOARD = 4,   /* inference on a microcontroller */
                     WITH_SERVING = 8,
                     WITH_VERDICT = 16
};

struct sweep_rows {
  struct bytes made;
  bool json;
  unsigned with; /* enum sweep_columns */
  struct origin_word origin;
};

/* These append to `made`; false: out of memory. */

/* The names of the columns; nothing for JSON. */
bool rows_header(struct sweep_rows *rows, const struct space *space);

bool rows_add(struct sweep_rows *rows, const struct space *space,
              const int64_t *places, const struct measured_net *variant);

/* True if a line is that header; also false if out of memory. */
bool rows_is_header(struct sweep_rows *rows, const struct space *space,
                    struct slice line);

/*
 * Reads the row at these places, with its line end, and its figures. Returns
 * NULL if it is valid, so that writing it gives the same bytes. Otherwise the
 * reason, as the end of a sentence: "of another source".
 */
const char *rows_read(struct sweep_rows *rows, const struct space *space,
                      const int64_t *places, struct slice line,
                      struct measured_net *variant);

#endif
