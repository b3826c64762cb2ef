/*
 * A U: where skips nest between maps that shrink and grow, as in U-Net, each
 * map size has a line, one below the other.
 */
#include "drawing/charts/volumes.h"

#include <math.h>

enum {
  MOST_ARMS = 12,
  MOST_LEVELS = 3 /* of labels */,
  STEP = 6 /* additional px between lines */
};

/* True if an edge passes over smaller maps; other edges stay in their line. */
static bool is_arm(const struct volumes *p, const struct flow_edge *edge) {
  for (size_t i = edge->from + 1; i < edge->to; i++)
    if (p->volumes[i].depth > 0 &&
        p->volumes[i].height < p->volumes[edge->from].height)
      return p->volumes[edge->from].depth > 0;
  return false;
}

/*
 * Keeps the longest edge to a box; other edges to a box of this size join it.
 * False: the net is no U.
 */
static bool add_arm(const struct volumes *p, const struct flow_edge **arms,
                    int *count, const struct flow_edge *edge) {
  if (p->volumes[edge->from].height != p->volumes[edge->to].height)
    return false;
  for (int k = 0; k < *count; k++)
    if (arms[k]->to == edge->to) {
      arms[k] = arms[k]->from < edge->from ? arms[k] : edge;
      return true;
    }
  if (*count == MOST_ARMS)
    return false;
  arms[(*count)++] = edge;
  return true;
}

static bool find_arms(const struct volumes *p, const struct flow_edge **arms,
                      int *count) {
  *count = 0;
  for (size_t i = 0; i < p->flow.edges.count; i++) {
    const struct flow_edge *edge = &p->flow.edges.at[i];
    if (is_arm(p, edge) && !add_arm(p, arms, count, edge))
      return false;
  }
  for (int i = 0; i < *count; i++)
    for (int k = 0; k < *count; k++) {
      bool inside = arms[k]->from > arms[i]->from;
      bool smaller =
          p->volumes[arms[k]->from].height < p->volumes[arms[i]->from].height;
      if (i != k &&
          (inside != (arms[k]->to < arms[i]->to) || inside != smaller))
        return false;
    }
  return *count > 1;
}

/* Sequences and vectors with several readers have numbers. */
bool volumes_has_number(const struct volumes *p, const struct flow_edge *edge) {
  return edge->lane && p->is_u && p->volumes[edge->from].depth <= 0;
}

/* The number of arms that pass over a box smaller than their own. */
static int depth_of(const struct volumes *p, size_t box,
                    const struct flow_edge *const *arms, int count) {
  int depth = 0;
  for (int k = 0; k < count; k++)
    depth += arms[k]->from < box && box < arms[k]->to &&
             p->volumes[box].height < p->volumes[arms[k]->from].height;
  return depth;
}

struct volume_run volumes_run(const struct volumes *p, size_t box) {
  const struct volume_line *line = &p->lines[p->volumes[box].line];
  struct volume_run run = {line->first, line->end};
  if (!p->is_u)
    return run;
  run = (struct volume_run){box, box + 1};
  while (run.first > 0 &&
         p->volumes[run.first - 1].line == p->volumes[box].line)
    run.first--;
  while (run.end < p->flow.count &&
         p->volumes[run.end].line == p->volumes[box].line)
    run.end++;
  return run;
}

bool volumes_make_u(struct volumes *p) {
  const struct flow_edge *arms[MOST_ARMS];
  int count;
  double x = CHART_MARGIN;
  if (p->flow.frames.count || p->flow.elided || !find_arms(p, arms, &count))
    return false;
  memset(p->lines, 0, sizeof p->lines);
  for (size_t i = 0; i < p->flow.count; i++) {
    struct volume *v = &p->volumes[i];
    v->line = depth_of(p, i, arms, count);
    x += i > 0 && p->volumes[i - 1].line != v->line ? STEP : 0;
    v->x = x;
    x += v->slot;
    struct volume_line *line = &p->lines[v->line];
    line->tallest = fmax(line->tallest, v->height + v->depth * VOLUME_SLANT_Y);
    line->levels = 1;
  }
  p->line_count = count + 1;
  p->is_u =
      p->lines[count].levels > 0 && x - CHART_MARGIN <= chart_inner(&p->chart);
  for (size_t i = 0; p->is_u && i < p->flow.count; i++) {
    struct volume_run run = volumes_run(p, i);
    struct volume_line *line = &p->lines[p->volumes[i].line];
    int boxes = (int)(run.end - run.first);
    line->levels = line->levels < boxes ? boxes : line->levels;
    line->levels = line->levels < MOST_LEVELS ? line->levels : MOST_LEVELS;
  }
  for (size_t i = 0; p->is_u && i < p->flow.edges.count; i++)
    p->has_numbers |= volumes_has_number(p, &p->flow.edges.at[i]);
  return p->is_u;
}
