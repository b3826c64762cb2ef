/* Windows of convolutions and pools, by the attributes in a report. */
#ifndef NETC_TESTS_WINDOWS_H
#define NETC_TESTS_WINDOWS_H

#include "tests/report.h"

/* How a window moves along an axis. */
struct moved {
  int64_t kernel, stride, step, before, after;
};

/* For attention, `kernel` is the size of its projections. */
static inline bool has_window(json_t *layer) {
  const char *op = json_string_value(find(layer, "op"));
  return strstr(op, "pool") || strstr(op, "conv") ||
         strcmp(op, "unfold") == 0 || strcmp(op, "local") == 0;
}

/* An argument by axis: one number is for all of them. */
static inline int64_t by_axis(json_t *sizes, size_t axis, int64_t otherwise) {
  size_t count = json_array_size(sizes);
  if (count == 0)
    return otherwise;
  return json_integer_value(json_array_get(sizes, count == 1 ? 0 : axis));
}

static inline struct moved window_along(json_t *layer, size_t axis) {
  json_t *given = find(layer, "attributes");
  json_t *pad = json_object_get(given, "pad");
  bool pools = strstr(json_string_value(find(layer, "op")), "pool") != NULL;
  struct moved w = {.kernel =
                        by_axis(json_object_get(given, "kernel"), axis, 1),
                    .step = by_axis(json_object_get(given, "dilate"), axis, 1),
                    .before = by_axis(json_object_get(pad, "before"), axis, 0),
                    .after = by_axis(json_object_get(pad, "after"), axis, 0)};
  w.stride =
      by_axis(json_object_get(given, "stride"), axis, pools ? w.kernel : 1);
  if (json_is_string(pad)) { /* the size stays at stride 1 */
    w.before = w.step * (w.kernel - 1) / 2;
    w.after = w.step * (w.kernel - 1) - w.before;
  }
  if (json_is_string(pad) && strcmp(json_string_value(pad), "tf") == 0) {
    int64_t in = by_axis(find(layer, "in.0"), axis, 1);
    int64_t all = ((in + w.stride - 1) / w.stride - 1) * w.stride +
                  w.step * (w.kernel - 1) + 1 - in;
    w.before = all > 0 ? all / 2 : 0;
    w.after = all > 0 ? all - w.before : 0;
  }
  return w;
}

#endif
