/*
 * Edges between volumes, and frames around repeats. No arrow crosses a face:
 * arrows end at the upper side of a box.
 */
#include "drawing/charts/volumes.h"

#include <math.h>

enum { MARK = 9 /* px between numbers */ };

static void draw_arrow(struct volumes *p, double x, double y, bool down) {
  chart_path(&p->chart, "tip");
  chart_to(&p->chart, x, y);
  chart_to(&p->chart, down ? x - 2.5 : x - 5, down ? y - 5 : y - 2.5);
  chart_to(&p->chart, down ? x + 2.5 : x - 5, down ? y - 5 : y + 2.5);
  chart_path_close(&p->chart, (struct slice){"", 0});
}

/* The top of a box at an x: slanted on the left, except for a bar without
 * depth. */
static double top_at(const struct volumes *p, size_t box, double x) {
  const struct volume *v = &p->volumes[box];
  double dx = v->depth * VOLUME_SLANT_X, dy = v->depth * VOLUME_SLANT_Y;
  double top = volumes_top(p, box);
  return dx > 0 && x < v->x + dx ? top + dy * (1 - (x - v->x) / dx) : top;
}

/* To another row: sideways and down, or up and sideways. */
static void draw_step(struct volumes *p, const struct flow_edge *edge,
                      double right) {
  const struct volume *to = &p->volumes[edge->to];
  double from_y = p->lines[p->volumes[edge->from].line].middle;
  bool down = to->line > p->volumes[edge->from].line;
  double x = volumes_crown(p, down ? edge->to : edge->from);
  x += (down ? -1 : 1) * fmin(3, to->width / 4); /* beside a way back */
  double top = top_at(p, down ? edge->to : edge->from, x);
  double y = down ? from_y : p->lines[to->line].middle;
  chart_path(&p->chart, "skip");
  chart_to(&p->chart, down ? right : x, down ? from_y : top);
  chart_to(&p->chart, x, y);
  chart_to(&p->chart, down ? x : to->x - 3, down ? top - 4 : y);
  chart_path_end(&p->chart);
  draw_arrow(p, down ? x : to->x - 1, down ? top : y, down);
}

static void draw_next(struct volumes *p, const struct flow_edge *edge) {
  const struct volume *from = &p->volumes[edge->from];
  const struct volume *to = &p->volumes[edge->to];
  double y = p->lines[from->line].middle;
  double x =
      from->x + from->width * from->copies + from->depth * VOLUME_SLANT_X;
  if (p->in_rows && from->line != to->line)
    draw_step(p, edge, x);
  if (from->line != to->line || p->flow.boxes[edge->from].elided)
    return;
  chart_line(&p->chart, "skip", x, y, to->x - 3, y);
  draw_arrow(p, to->x - 1, y, false);
}

/* To another line: a number at both ends, beside other marks of the box. */
static void draw_mark(struct volumes *p, const struct flow_edge *edge,
                      int *numbered) {
  struct volume *from = &p->volumes[edge->from], *to = &p->volumes[edge->to];
  double x0 =
      volumes_crown(p, edge->from) + (p->in_rows    ? 3
                                      : from->marks ? MARK * from->marks - 2
                                                    : 2);
  double x1 = volumes_crown(p, edge->to) - 2 + MARK * to->marks++;
  x1 += p->in_rows ? MARK : 0; /* beside the arrow to the next line */
  double y0 = top_at(p, edge->from, x0), y1 = top_at(p, edge->to, x1);
  if (!from->number) {
    from->number = ++*numbered;
    chart_line(&p->chart, "skip", x0, y0, x0, y0 - 7);
    text_printf(&p->chart.note, "%d", from->number);
    chart_text_as(&p->chart, "over", CHART_SMALL, CHART_MIDDLE, x0, y0 - 9,
                  chart_note(&p->chart));
  }
  chart_line(&p->chart, "skip", x1, y1 - 11, x1, y1 - 4);
  draw_arrow(p, x1, y1, true);
  text_printf(&p->chart.note, "%d", from->number);
  chart_text(&p->chart, CHART_SMALL, CHART_MIDDLE, x1, y1 - 13,
             chart_note(&p->chart));
}

/* Draws an arrow over the boxes between, above the upper of two rows. */
static void draw_skip(struct volumes *p, const struct flow_edge *edge) {
  int from = p->volumes[edge->from].line, to = p->volumes[edge->to].line;
  double x0 = volumes_crown(p, edge->from) + 2;
  double x1 = volumes_crown(p, edge->to) - 2;
  double y1 = top_at(p, edge->to, x1);
  double lane = p->lines[from < to ? from : to].top - 3 -
                VOLUME_LANE * (volumes_lane(p, edge) - 0.5);
  chart_path(&p->chart, "skip");
  chart_to(&p->chart, x0, top_at(p, edge->from, x0));
  chart_to(&p->chart, x0, lane);
  chart_to(&p->chart, x1, lane);
  chart_to(&p->chart, x1, y1 - 4);
  chart_path_end(&p->chart);
  draw_arrow(p, x1, y1, true);
}

void volumes_draw_edges(struct volumes *p) {
  int numbered = 0;
  for (size_t i = 0; i < p->flow.edges.count; i++) {
    const struct flow_edge *edge = &p->flow.edges.at[i];
    if (volumes_has_number(p, edge))
      draw_mark(p, edge, &numbered);
    else if (edge->lane == 0)
      draw_next(p, edge);
    else if (edge->lane > 0)
      draw_skip(p, edge);
  }
}

/* Frames around repeats, in each line that has a part of one. */
static void draw_frame(struct volumes *p, const struct flow_frame *frame) {
  int last = p->volumes[frame->end - 1].line;
  for (int i = p->volumes[frame->first].line; i <= last; i++) {
    const struct volume_line *line = &p->lines[i];
    size_t first = frame->first > line->first ? frame->first : line->first;
    size_t end = frame->end < line->end ? frame->end : line->end;
    double left = p->volumes[first].x - 3;
    double right = p->volumes[end - 1].x + p->volumes[end - 1].slot - 5;
    double top = line->top - 4, low = line->bottom + 2;
    const double at[4][2] = {
        {left, top}, {right, top}, {right, low}, {left, low}};
    volumes_face(p, "mark", at);
    text_printf(&p->chart.note, "\xC3\x97 %lld", (long long)frame->times);
    chart_text_as(&p->chart, "over", CHART_TEXT, CHART_END, right - 2, low - 3,
                  chart_note(&p->chart));
  }
}

void volumes_draw_frames(struct volumes *p) {
  for (size_t i = 0; i < p->flow.frames.count; i++)
    draw_frame(p, &p->flow.frames.at[i]);
}
