/* The boxes of a volumes chart and their places. */
#ifndef NETC_DRAWING_CHARTS_VOLUMES_H
#define NETC_DRAWING_CHARTS_VOLUMES_H

#include "drawing/charts/chart.h"
#include "drawing/flow.h"

enum { MOST_VOLUMES = 36, VOLUME_LANE = 9 /* px of a skip */ };

/* Offsets per px of depth, to the right and up. */
#define VOLUME_SLANT_X 0.26
#define VOLUME_SLANT_Y 0.2

struct volume {
  double width, height, depth; /* px; the width is that of one copy */
  int copies;
  double slot, x;
  int line, place; /* place in the line */
  int rise;        /* rows above it that an edge passes */
  int number;      /* of the tensor that it gives to other lines; 0: none */
  int marks;       /* of tensors that come from other lines */
};

struct volume_line {
  size_t first, end; /* in rows: a map of its size; the number of boxes */
  double tallest, width;
  int lanes, levels; /* the latter of labels that would otherwise touch */
  double top, middle, bottom; /* y */
};

/* How close boxes are; a narrow spacing may save a second line. */
struct volume_spacing {
  double tallest; /* px of the largest side */
  double gap, least_slot;
};

struct volumes {
  const struct compiled *c;
  struct chart chart;
  struct flow flow;
  enum flow_join join;
  struct volume *volumes;
  struct volume_line lines[MOST_VOLUMES];
  int line_count;
  bool in_rows;     /* a line for each map size */
  bool single;      /* no copies of equal boxes: no room for them */
  bool has_numbers; /* in rows: of vectors and sequences */
  const struct volume_spacing *spacing;
  double scale; /* px per square root of a side */
  bool has_vectors, has_sequences, has_more_axes, has_copies, has_stripes;
};

/* volumes_rows.c: finds the rows of a flow and lanes of its edges; false: one
 * line is better. */
bool volumes_find_rows(struct volumes *p);

/* Places measured boxes in rows; false: they are too wide. */
bool volumes_place_rows(struct volumes *p);

/* "80x80": the size of the maps in a row, as a note. */
void volumes_put_size(struct volumes *p, int row);

const struct shape *volumes_shape(const struct volumes *p, size_t box);

/* The y of a box's top; the x of the middle of its upper side. */
double volumes_top(const struct volumes *p, size_t box);
double volumes_crown(const struct volumes *p, size_t box);
void volumes_face(struct volumes *p, const char *class, const double (*at)[2]);

/* True if both ends of an edge have a number. */
bool volumes_has_number(const struct volumes *p, const struct flow_edge *edge);

/* The lane of a skip, above the upper of its rows. */
int volumes_lane(const struct volumes *p, const struct flow_edge *edge);

/* volumes_edges.c */
void volumes_draw_edges(struct volumes *p);
void volumes_draw_frames(struct volumes *p);

#endif
