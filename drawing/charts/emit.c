/* The charts as outputs in every format of a scene. */
#include "drawing/charts/chart.h"

static void put_pdf(const struct scene *scene, struct text *out) {
  scene_put_pdf(&scene, 1, out);
}

#define OUTPUT_OF(function, scene_of, put)                    \
  void function(const struct compiled *c, struct text *out) { \
    put(scene_of(c), out);                                    \
  }
#define CHART(id, about)                                \
  OUTPUT_OF(emit_##id, id##_scene, scene_put_svg)       \
  OUTPUT_OF(emit_##id##_pdf, id##_scene, put_pdf)       \
  OUTPUT_OF(emit_##id##_tex, id##_scene, scene_put_tex) \
  OUTPUT_OF(emit_##id##_drawing, id##_scene, scene_put_dot)
#define SEARCH CHART
#include "drawing/charts/charts.def"
