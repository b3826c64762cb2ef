/* Timelines: one step by itself, and several beside each other. */
#ifndef NETC_DRAWING_CHARTS_TIMELINE_H
#define NETC_DRAWING_CHARTS_TIMELINE_H

#include "drawing/charts/step.h"

/* ", the most loaded of 4 devices ...", or nothing if there is only one. */
void timeline_put_device(struct text *out, const struct parallel *parallel);

/* The step of the settings and those of c->compared, on one scale. */
struct scene *timeline_compare(const struct compiled *c);

#endif
