/* A table of buffers: read as id,lower,upper,size and written with offsets. */
#ifndef NETC_DRIVER_BUFFERS_H
#define NETC_DRIVER_BUFFERS_H

#include <stdio.h>

#include "base/arena.h"
#include "base/slice.h"
#include "netc.h"

struct table {
  struct slice header;                  /* without a column `offset` */
  VEC(struct slice) rows;               /* without a column `offset` */
  VEC(struct netc_plan_buffer) buffers; /* by row */
};

/*
 * Reads a table. False after errors, which are written to standard error as
 * FILE:LINE:COLUMN: error: ...
 */
bool table_read(struct arena *arena, const char *name, struct slice text,
                struct table *table);

/* Writes the rows with the offset as the last column. */
void table_write(const struct table *table, FILE *file);

#endif
