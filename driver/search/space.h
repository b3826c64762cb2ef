/* Spaces: the values that a search tries, by axis. */
#ifndef NETC_DRIVER_SEARCH_SPACE_H
#define NETC_DRIVER_SEARCH_SPACE_H

#include "driver/net_options.h"

enum { MOST_AXES = 8, MOST_PIECES = 256, AXIS_VALUE = 96 };

enum axis_kind { AXIS_PARAM, AXIS_INPUT, AXIS_SETTING };

/* A..B:STEP in units of 10^-decimals, or one value, which is in `text`. */
struct axis_piece {
  const char *text;
  size_t length;
  bool range;
  int64_t first, step, count;
  int decimals;
};

struct axis {
  enum axis_kind kind;
  char name[AXIS_VALUE];   /* column header: "width", "input" */
  char target[AXIS_VALUE]; /* name of an input, "" for the only one */
  int rank;                /* of an input; 0: not yet known */
  struct axis_piece pieces[MOST_PIECES];
  size_t piece_count;
  int64_t count;
};

/* All zero is the empty space, which has one variant. */
struct space {
  struct axis axes[MOST_AXES];
  size_t count;
};

/*
 * Adds an axis: "4..32:4", "0.5..1.5:0.25", "18,34,50" or a mix, separated by
 * commas. `values` must outlive the space. Returns an exit status, with errors
 * reported.
 */
int space_add(struct space *space, enum axis_kind kind, const char *name,
              const char *values);

/* The number of variants; false if it passes 2^63 - 1. */
bool space_size(const struct space *space, int64_t *size);

/* The places of a variant on the axes; the last axis varies fastest. */
void space_place(const struct space *space, int64_t variant, int64_t *places);

/* A value as it is set and shown: "0.75", "160"; for an input, one side. */
void axis_value(const struct axis *axis, int64_t place, char *to, size_t room);

/* True for a single range, whose values grow. */
bool axis_grows(const struct axis *axis);

#endif
