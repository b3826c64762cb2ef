/* Fit: whether a step fits a device, and what would make it fit. */
#include "sema/fit.h"

#include "base/check.h"
#include "sema/checkpoint.h"

static int64_t device_bytes(const struct train_settings *train) {
  if (train->memory)
    return train->memory;
  return train->gpu ? gpu_bytes(train->gpu) : 0;
}

static int64_t taken_bytes(const struct train_settings *train) {
  const struct profile *profile = profile_at(train->profile);
  return profile->context + profile->workspace;
}

int64_t fit_room(const struct train_settings *train) {
  int64_t device = device_bytes(train);
  return device ? max_i64(device - taken_bytes(train), 1) : 0;
}

int64_t largest_batch(const struct step *step, int64_t room,
                      struct arena *arena) {
  struct step trial = *step;
  int64_t fits = 0, fails = 1;
  for (;; fails *= 2) {
    trial.settings.batch = fails;
    if (step_peak(&trial, arena) > room)
      break;
    fits = fails;
    if (fails > INT64_MAX / 4)
      return fits; /* nothing of it grows with the batch */
  }
  while (fails - fits > 1) {
    trial.settings.batch = fits + (fails - fits) / 2;
    if (step_peak(&trial, arena) > room)
      fails = trial.settings.batch;
    else
      fits = trial.settings.batch;
  }
  return fits;
}

/* A change that is tried, with memory of its own. */
struct trial {
  const struct model *model;
  struct fit *fit;
  struct train_settings settings;
  const char *what;
  int64_t number;
};

static void try_within(struct arena *arena, void *user) {
  struct trial *trial = user;
  struct step step = {.model = trial->model, .settings = trial->settings};
  checkpoint_choose(&step, trial->fit->room, arena);
  int64_t peak = step_peak(&step, arena);
  if (peak <= trial->fit->room)
    *VEC_PUSH(trial->model->arena, &trial->fit->ways) =
        (struct way_out){trial->what, trial->number, peak, step.extra_macs};
}

/* Tries the settings; whether the step fits with them. */
static bool try_way(const struct step *step, struct fit *fit,
                    struct arena *arena, const char *what, int64_t number,
                    const struct train_settings *settings) {
  struct trial trial = {step->model, fit, *settings, what, number};
  size_t before = fit->ways.count;
  arena_within(arena, try_within, &trial);
  return fit->ways.count > before;
}

/* The cheapest first: what changes the least of what is learned. */
static void find_ways(const struct step *step, struct fit *fit,
                      struct arena *arena) {
  static const struct {
    int optimizer;
    const char *what;
  } optimizers[] = {{OPTIMIZER_ADAM8BIT, "--optimizer adam8bit"},
                    {OPTIMIZER_ADAFACTOR, "--optimizer adafactor"},
                    {OPTIMIZER_SGD, "--optimizer sgd"}};
  struct train_settings given = step->settings, other = given;
  bool may_checkpoint = given.checkpoint == 0;
  other.checkpoint = CHECKPOINT_AUTO;
  if (may_checkpoint)
    try_way(step, fit, arena, "--checkpoint auto", 0, &other);
  other = given;
  other.precision = PRECISION_MIXED;
  bool may_mix =
      given.precision != PRECISION_MIXED && given.dtype == ELEMENT_F32;
  bool fits =
      may_mix && try_way(step, fit, arena, "--precision mixed", 0, &other);
  other.checkpoint = CHECKPOINT_AUTO;
  if (may_mix && may_checkpoint && !fits)
    try_way(step, fit, arena, "--precision mixed --checkpoint auto", 0, &other);
  other = given;
  other.batch = fit->largest_batch;
  if (fit->largest_batch)
    try_way(step, fit, arena, "--batch", fit->largest_batch, &other);
  for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
    other = given;
    other.optimizer = optimizers[i].optimizer;
    if (other.optimizer != given.optimizer)
      try_way(step, fit, arena, optimizers[i].what, 0, &other);
  }
}

void find_fit(struct step *step, const struct training *training,
              struct arena *arena, struct fit *fit) {
  *fit = (struct fit){.device = device_bytes(&step->settings),
                      .taken = taken_bytes(&step->settings),
                      .room = fit_room(&step->settings)};
  fit->largest_batch = largest_batch(step, fit->room, arena);
  if (training->peak > fit->room)
    find_ways(step, fit, arena);
}
