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
  int line;
  int number; /* of the tensor that it gives to other lines; 0: none */
  int marks;  /* of tensors that come from other lines */
};

struct volume_line {
  size_t first, end; /* not used in a U */
  double tallest, width;
  int lanes, levels;
  double top, middle, bottom; /* y */
};

/* How close boxes are; a narrow spacing may save a second line. */
struct volume_spacing {
  double tallest; /* px of the largest side */
  double gap, least_slot;
  int levels; /* of labels that would otherwise touch */
};

struct volumes {
  const struct compiled *c;
  struct chart chart;
  struct flow flow;
  struct volume *volumes;
  struct volume_line lines[MOST_VOLUMES];
  int line_count;
  bool is_u;        /* a line for each map size */
  bool single;      /* no copies of equal boxes: a U has no room for them */
  bool has_numbers; /* in a U: of tensors without a drawn size */
  const struct volume_spacing *spacing;
  double scale; /* px per square root of a side */
  bool has_vectors, has_sequences, has_more_axes, has_copies, has_stripes;
};

/* volumes_u.c: places measured boxes as a U; false: the net is no U. */
bool volumes_make_u(struct volumes *p);

bool volumes_has_number(const struct volumes *p, const struct flow_edge *edge);

/* The boxes in one line with this one. */
struct volume_run {
  size_t first, end;
};
struct volume_run volumes_run(const struct volumes *p, size_t box);

/* The y of a box's top; the x of the middle of its upper side. */
double volumes_top(const struct volumes *p, size_t box);
double volumes_crown(const struct volumes *p, size_t box);
void volumes_face(struct volumes *p, const char *class, const double (*at)[2]);

/* The lane of a skip; in a U each line has its own lanes. */
int volumes_lane(const struct volumes *p, const struct flow_edge *edge);

/* volumes_edges.c */
void volumes_draw_edges(struct volumes *p);
void volumes_draw_frames(struct volumes *p);

#endif
