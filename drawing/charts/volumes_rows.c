/*
 * Rows by resolution: where edges pass over smaller maps and maps grow again,
 * as in U-Net, HRNet and pyramids, each map size has a row, one below the
 * other, with its size at the left. No two boxes share an x, so that edges
 * between rows cross no box.
 */
#include "drawing/charts/volumes.h"

#include <math.h>
#include <stdlib.h>

enum {
  MOST_LEVELS = 3 /* of labels */,
  STEP = 6, /* additional px between boxes of two rows */
  AFTER_SIZE = 10
};

static int64_t area_of(const struct volumes *p, size_t box) {
  const struct shape *shape = volumes_shape(p, box);
  int sides = shape_spatial(shape);
  return sides < 2 ? 0 : shape->dim[sides - 2] * shape->dim[sides - 1];
}

/* Maps by size; other boxes are in the row of the one before them. */
static void find_rows(struct volumes *p) {
  int64_t last = INT64_MAX;
  for (p->line_count = 0;; p->line_count++) {
    int64_t area = 0;
    for (size_t i = 0; i < p->flow.count; i++)
      area =
          area_of(p, i) < last && area_of(p, i) > area ? area_of(p, i) : area;
    if (area == 0)
      break;
    for (size_t i = 0; i < p->flow.count; i++)
      if (area_of(p, i) == area) {
        p->volumes[i].line = p->line_count;
        p->lines[p->line_count].first = i;
      }
    last = area;
  }
  for (size_t i = 0; i < p->flow.count; i++)
    if (area_of(p, i) == 0)
      p->volumes[i].line = i ? p->volumes[i - 1].line : 0;
}

/* True if a box of that row is between both ends. */
static bool passes(const struct volumes *p, const struct flow_edge *edge,
                   int row) {
  for (size_t i = edge->from + 1; i < edge->to; i++)
    if (p->volumes[i].line == row)
      return true;
  return false;
}

/* The row above which an edge has a lane; -1: none, since its way is free. */
static int lane_row(const struct volumes *p, const struct flow_edge *edge) {
  int from = p->volumes[edge->from].line, to = p->volumes[edge->to].line;
  if (edge->to == edge->from + 1 || (from <= to && !passes(p, edge, from)))
    return -1;
  return from < to ? from : to;
}

bool volumes_has_number(const struct volumes *p, const struct flow_edge *edge) {
  int row = p->volumes[edge->from].line;
  if (!p->in_rows)
    return edge->lane > 0 && row != p->volumes[edge->to].line;
  if (area_of(p, edge->from) || lane_row(p, edge) < 0)
    return false;
  for (size_t i = 0; i < p->flow.edges.count; i++) {
    const struct flow_edge *other = &p->flow.edges.at[i];
    if (other->from == edge->from && p->volumes[other->to].line != row &&
        lane_row(p, other) >= 0)
      return true;
  }
  return false;
}

bool volumes_find_rows(struct volumes *p) {
  int arms = 0;
  bool grows = false;
  if (p->flow.frames.count || p->flow.elided)
    return false;
  find_rows(p);
  for (size_t i = 0; i < p->flow.edges.count; i++) {
    const struct flow_edge *edge = &p->flow.edges.at[i];
    int row = p->volumes[edge->from].line;
    bool over = false;
    for (size_t k = edge->from + 1; k < edge->to; k++)
      over |= p->volumes[k].line > row && area_of(p, k) > 1;
    arms += over && area_of(p, edge->from);
    grows |= p->volumes[edge->to].line < row && area_of(p, edge->from) > 1;
  }
  if (!grows || arms < 2)
    return false;
  p->in_rows = true;
  int *rows = arena_alloc(p->c->arena, p->flow.edges.count, sizeof *rows);
  for (size_t i = 0; i < p->flow.edges.count; i++) {
    struct flow_edge *edge = &p->flow.edges.at[i];
    int from = p->volumes[edge->from].line, to = p->volumes[edge->to].line;
    struct volume *lower = &p->volumes[from < to ? edge->to : edge->from];
    bool numbered = volumes_has_number(p, edge);
    p->has_numbers |= numbered;
    rows[i] = numbered ? -1 : lane_row(p, edge);
    if (!numbered && lower->rise < abs(to - from))
      lower->rise = abs(to - from);
  }
  flow_choose_lanes(&p->flow, rows);
  return true;
}

void volumes_put_size(struct volumes *p, int row) {
  const struct shape *shape = volumes_shape(p, p->lines[row].first);
  int sides = shape_spatial(shape);
  text_count(&p->chart.note, shape->dim[sides - 2]);
  text_put(&p->chart.note, "\xC3\x97");
  text_count(&p->chart.note, shape->dim[sides - 1]);
}

bool volumes_place_rows(struct volumes *p) {
  double x = CHART_MARGIN, sizes = 0;
  int run = 0;
  for (int k = 0; k < p->line_count; k++) {
    p->lines[k] = (struct volume_line){.first = p->lines[k].first};
    volumes_put_size(p, k);
    sizes = fmax(sizes, chart_text_width(chart_note(&p->chart), CHART_TEXT));
  }
  for (size_t i = 0; i < p->flow.count; i++) {
    struct volume *v = &p->volumes[i];
    struct volume_line *line = &p->lines[v->line];
    bool goes_on = i > 0 && p->volumes[i - 1].line == v->line;
    x += i > 0 && !goes_on ? STEP : 0;
    if (v->line > 0)
      x = fmax(x, CHART_MARGIN + sizes + AFTER_SIZE);
    run = goes_on ? run + 1 : 1;
    v->x = x;
    v->place = (int)line->end++;
    x += v->slot;
    line->tallest = fmax(line->tallest, v->height + v->depth * VOLUME_SLANT_Y);
    if (line->levels < run && run <= MOST_LEVELS)
      line->levels = run;
  }
  return x - CHART_MARGIN <= chart_inner(&p->chart);
}
