/* The charts as outputs, of each kind that a scene can be. */
#include "drawing/charts/chart.h"

static void put_pdf(const struct scene *scene, struct text *out) {
  scene_put_pdf(&scene, 1, out);
}

#define OUTPUT_OF(function, scene_of, put)                    \
  void function(const struct compiled *c, struct text *out) { \
    put(scene_of(c), out);                                    \
  }
#define CHART(name)                                         \
  OUTPUT_OF(emit_##name, name##_scene, scene_put_svg)       \
  OUTPUT_OF(emit_##name##_pdf, name##_scene, put_pdf)       \
  OUTPUT_OF(emit_##name##_tex, name##_scene, scene_put_tex) \
  OUTPUT_OF(emit_##name##_drawing, name##_scene, scene_put_dot)
CHART(timeline)
CHART(arena)
CHART(bars)
CHART(roofline)
CHART(volumes)
CHART(pareto)
