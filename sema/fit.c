/* Fit: whether a step fits a device, and what would make it fit. */
#include "sema/fit.h"

#include <string.h>

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

struct search {
  const struct step *step;
  struct fit *fit;
  struct arena *arena;
};

static void add_way(struct search *s, const char *what, int64_t number,
                    const struct step *trial) {
  int64_t peak = step_peak(trial, s->arena);
  if (peak <= s->fit->room)
    *VEC_PUSH(s->step->model->arena, &s->fit->ways) =
        (struct way_out){what, number, peak, trial->extra_macs};
}

/* The step with other settings; checkpoints stay those of the source. */
static struct step changed(const struct search *s,
                           const struct train_settings *settings) {
  struct step trial = {.model = s->step->model, .settings = *settings};
  checkpoint_groups(&trial, s->arena);
  step_trace(&trial, s->arena);
  return trial;
}

/* The cheapest first: what changes the least of what is learned. */
static void find_ways(struct search *s) {
  struct train_settings settings = s->step->settings;
  struct step trial = *s->step;
  if (settings.checkpoint == 0) {
    trial = changed(s, &settings);
    if (checkpoint_auto(&trial, s->fit->room, s->arena))
      add_way(s, "--checkpoint auto", 0, &trial);
  }
  if (settings.precision != PRECISION_MIXED && settings.dtype == ELEMENT_F32) {
    settings.precision = PRECISION_MIXED;
    trial = changed(s, &settings);
    add_way(s, "--precision mixed", 0, &trial);
    if (settings.checkpoint == 0 &&
        step_peak(&trial, s->arena) > s->fit->room &&
        checkpoint_auto(&trial, s->fit->room, s->arena))
      add_way(s, "--precision mixed --checkpoint auto", 0, &trial);
    settings.precision = s->step->settings.precision;
  }
  if (s->fit->largest_batch) {
    trial = *s->step;
    trial.settings.batch = s->fit->largest_batch;
    add_way(s, "--batch", s->fit->largest_batch, &trial);
  }
  static const struct {
    int optimizer;
    const char *what;
  } optimizers[] = {{OPTIMIZER_ADAM8BIT, "--optimizer adam8bit"},
                    {OPTIMIZER_ADAFACTOR, "--optimizer adafactor"},
                    {OPTIMIZER_SGD, "--optimizer sgd"}};
  for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
    trial = *s->step;
    trial.settings.optimizer = optimizers[i].optimizer;
    if (trial.settings.optimizer != settings.optimizer)
      add_way(s, optimizers[i].what, 0, &trial);
  }
}

void find_fit(struct step *step, const struct training *training,
              struct arena *arena, struct fit *fit) {
  struct search search = {step, fit, arena};
  *fit = (struct fit){.device = device_bytes(&step->settings),
                      .taken = taken_bytes(&step->settings),
                      .room = fit_room(&step->settings)};
  fit->largest_batch = largest_batch(step, fit->room, arena);
  if (training->peak > fit->room)
    find_ways(&search);
}
