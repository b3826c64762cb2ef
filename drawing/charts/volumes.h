/* The boxes of a volumes chart, and where they stand. */
#ifndef NETC_DRAWING_CHARTS_VOLUMES_H
#define NETC_DRAWING_CHARTS_VOLUMES_H

#include "drawing/charts/chart.h"
#include "drawing/flow.h"

enum { MOST_VOLUMES = 36, VOLUME_LANE = 9 /* px of a skip */ };

/* Of a depth in px, to the right and up. */
#define VOLUME_SLANT_X 0.26
#define VOLUME_SLANT_Y 0.2

struct volume {
  double width, height, depth; /* px; the width is that of one copy */
  int copies;
  double slot, x;
  int line;
  int number; /* of what leads from it to other lines; 0: nothing does */
  int marks;  /* of what comes to it from other lines */
};

struct volume_line {
  size_t first, end; /* in a U nobody asks for these */
  double tallest, width;
  int lanes, levels;
  double top, middle, bottom; /* y */
};

/* How close: the narrow ways spare a net of skips a second line. */
struct volume_spacing {
  double tallest; /* px of the largest side */
  double gap, least_slot;
  int levels; /* of labels that would touch */
};

struct volumes {
  const struct compiled *c;
  struct chart chart;
  struct flow flow;
  struct volume *volumes;
  struct volume_line lines[MOST_VOLUMES];
  int line_count;
  bool is_u;        /* a line for each size of maps */
  bool single;      /* equal boxes have no copies: a U has no room for them */
  bool has_numbers; /* there, of what has no size of its own */
  const struct volume_spacing *spacing;
  double scale; /* px for the root of a side of 1 */
  bool has_vectors, has_sequences, has_more_axes, has_copies, has_stripes;
};

/* volumes_u.c: places measured boxes as a U; false: they are none. */
bool volumes_make_u(struct volumes *p);

bool volumes_has_number(const struct volumes *p, const struct flow_edge *edge);

/* The boxes beside this one in its line. */
struct volume_run {
  size_t first, end;
};
struct volume_run volumes_run(const struct volumes *p, size_t box);

/* The y where a box begins; the middle of its upper side. */
double volumes_top(const struct volumes *p, size_t box);
double volumes_crown(const struct volumes *p, size_t box);
void volumes_face(struct volumes *p, const char *class, const double (*at)[2]);

/* The lane of a skip: in a U each line has one. */
int volumes_lane(const struct volumes *p, const struct flow_edge *edge);

/* volumes_edges.c */
void volumes_draw_edges(struct volumes *p);
void volumes_draw_frames(struct volumes *p);

#endif
