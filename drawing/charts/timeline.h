/* Timelines: a step alone, or several side by side. */
#ifndef NETC_DRAWING_CHARTS_TIMELINE_H
#define NETC_DRAWING_CHARTS_TIMELINE_H

#include "drawing/charts/step.h"

/* ", the most loaded of 4 devices ...", or nothing for one device. */
void timeline_put_device(struct text *out, const struct parallel *parallel);

/* The step under the settings and under those of c->compared, on one scale. */
struct scene *timeline_compare(const struct compiled *c);

#endif
