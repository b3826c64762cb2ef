/* Predict: whether a prediction fits a device, and how far it may grow. */
#include "memory/predict.h"

#include "base/check.h"

/* The settings with one member changed. */
struct trial {
  const struct model *model;
  struct settings settings;
  int64_t *changed; /* in `settings` */
  int64_t room;
};

static bool fits(struct trial *trial, int64_t value) {
  int64_t bytes;
  *trial->changed = value;
  return inference_in_framework(trial->model, &trial->settings, &bytes) &&
         bytes <= trial->room;
}

/* The largest value that fits, from 0; what does not grow has no limit. */
static int64_t search(struct trial *trial) {
  int64_t low = 0, high = 1;
  for (; fits(trial, high); high *= 2) {
    low = high;
    if (high > INT64_MAX / 4)
      return low;
  }
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (fits(trial, middle))
      low = middle;
    else
      high = middle;
  }
  return low;
}

static bool looks_back(const struct model *model) {
  const struct shape **in = model_layer_room(model);
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (layer.kind->cache &&
        layer.kind->cache(&layer, 2) > layer.kind->cache(&layer, 1))
      return true;
  }
  return false;
}

bool predict_find(const struct model *model, const struct settings *settings,
                  struct predict *predict) {
  struct trial trial = {.model = model, .settings = *settings};
  *predict = (struct predict){.longest_context = -1};
  if (!inference_in_framework(model, settings, &predict->need))
    return false;
  fit_device(&settings->train, &predict->device, &predict->taken,
             &predict->reserve, &predict->room);
  if (!predict->device)
    return true;
  trial.room = predict->room;
  trial.changed = &trial.settings.infer.batch;
  predict->largest_batch = search(&trial);
  trial.settings = *settings;
  trial.changed = &trial.settings.infer.decode;
  if (looks_back(model))
    predict->longest_context = search(&trial);
  return true;
}
