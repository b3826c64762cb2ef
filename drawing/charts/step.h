/* A training step as a picture: bytes over its operations, stacked by
 * purpose. */
#ifndef NETC_DRAWING_CHARTS_STEP_H
#define NETC_DRAWING_CHARTS_STEP_H

#include "drawing/charts/chart.h"

/* From the bottom up; the first three are in memory all the time. */
enum step_band {
  BAND_PARAMETERS,
  BAND_STATE,
  BAND_OTHER,
  BAND_GRADIENTS,
  BAND_SAVED,
  BAND_TEMPORARY,
  BAND_COUNT,
  BAND_STANDING = BAND_GRADIENTS /* number of these */
};
/* Moments [first, last] of a phase, and the maximum among them. */
struct step_column {
  struct moment most;
  size_t first, last;
};

struct step_chart {
  /* Set by step_open: the data. */
  struct chart *chart;
  const struct model *model;
  const struct train_settings *train;
  const struct memory *memory;
  enum text_units units;
  bool several; /* several devices; this is the most loaded */
  struct step_column *columns;
  size_t most, count;
  size_t span; /* moments per column */
  size_t moments;
  int64_t standing[BAND_STANDING], stands;
  int64_t peak;
  struct moment at; /* the moment of the peak */

  /* Set by the caller: the place. The last `step_width` is for the
   * optimizer. */
  struct chart_box plot;
  double step_width;
  struct chart_scale scale;
};

/* Runs the step and joins its moments into at most `most` columns. */
struct step_chart step_open(struct chart *chart, const struct compiled *c,
                            const struct settings *settings,
                            const struct memory *memory, enum text_units units,
                            size_t most);

/* Bands, phases, the device's line, hover texts and a ring at the peak. */
void step_draw(struct step_chart *chart);

/* The legend of the bands; returns the y below. */
double step_legend(const struct step_chart *charts, size_t count, double x,
                   double y);

/* The x of the column with the peak. */
double step_peak_x(const struct step_chart *chart);

/* "the backward pass of conv1" */
void step_put_place(const struct step_chart *chart, struct text *out,
                    const struct moment *moment);

#endif
