/* A roofline chart: figures of the layers and the card, and their places. */
#ifndef NETC_DRAWING_CHARTS_ROOFLINE_H
#define NETC_DRAWING_CHARTS_ROOFLINE_H

#include "drawing/charts/chart.h"
#include "sema/model/gpu.h"

enum {
  ROOF_LEFT = 86,
  ROOF_LOG_LEFT = 150,  /* left of it: layers without multiply-accumulates */
  ROOF_RIGHT_ROOM = 84, /* for the words of types */
  ROOF_HEIGHT = 190,
  ROOF_GAP = 34,
  ROOF_TIME_HEIGHT = 120,
  ROOF_BIN = 4, /* px; layers in one bin are one dot */
  ROOF_BINS = (CHART_WIDTH - ROOF_RIGHT_ROOM - ROOF_LOG_LEFT) / ROOF_BIN + 1
};

/* Layers of about the same intensity. */
struct roof_bin {
  double seconds, bytes, flops;
  int64_t largest; /* the node that takes most of its time */
  double largest_seconds;
  size_t count;
};

struct roofline {
  double right; /* of the plots */
  const struct compiled *c;
  struct chart chart;
  const struct gpu *gpu;
  const char *lacking; /* the requested device, if it has no figures */
  int element, rated;  /* `rated`: the type whose roof is drawn */
  bool chosen;         /* the user named the card */
  int64_t batch;
  double peak, bandwidth; /* a second */
  struct roof_bin bins[ROOF_BINS], idle;
  struct roof_bin *dearest[ROOF_BINS + 1];
  double low, decades;     /* of the axis: log10 of its start, and its length */
  double floor, rises;     /* the same for the card's rate */
  double seconds, waiting; /* of all layers; of those bound by memory */
  size_t layers, bound;
  double top, below; /* y of the two plots */
};

/* True if bytes take longer than operations. */
bool roof_is_bound(const struct roofline *r, double flops, double bytes);

/* Axes: the place of an intensity and of a rate; the attainable rate. */
double roof_x(const struct roofline *r, double intensity);
double roof_y(const struct roofline *r, double rate);
double roof_rate(const struct roofline *r, double intensity);

/* roofline_words.c */
void roof_put_rounded(struct text *out, double value);
void roof_put_scaled(struct text *out, double value, const char *unit);
void roof_put_seconds(struct text *out, double seconds);
void roof_put_percent(struct text *out, double part, double of);
struct slice roof_title(struct roofline *r);
struct slice roof_subtitle(struct roofline *r, struct text *out);
struct slice roof_words_below(struct roofline *r, struct text *out);

/* roofline_draw.c: the roof and its grid; dots, bars and their names */
void roof_draw(struct roofline *r);
void roof_draw_layers(struct roofline *r);

/* roofline_names.c: beside the dots; above the bars */
void roof_name_dots(struct roofline *r);
void roof_name_bars(struct roofline *r, const struct chart_scale *scale);
double roof_bin_x(const struct roofline *r, const struct roof_bin *bin);

#endif
