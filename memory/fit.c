/* Fit: whether a step fits a device, and what would make it fit. */
#include "memory/fit.h"

#include "base/check.h"
#include "step/checkpoint.h"

static int64_t device_bytes(const struct train_settings *train) {
  if (train->memory)
    return train->memory;
  return train->gpu ? gpu_bytes(train->gpu) : 0;
}

static int64_t taken_bytes(const struct train_settings *train) {
  const struct profile *profile = profile_at(train->profile);
  return profile->context + profile->workspace;
}

/* Of what is left, a part that grows with the step is kept free. */
int64_t fit_room(const struct train_settings *train) {
  int64_t device = device_bytes(train), most;
  int64_t left = max_i64(device - taken_bytes(train), 1);
  int64_t percent =
      train->reserve < 0 ? profile_at(train->profile)->reserve : train->reserve;
  if (!device)
    return 0;
  return mul_i64(left, 100, &most) ? max_i64(most / (100 + percent), 1)
                                   : left / (100 + percent) * 100;
}

/* Of the most loaded device; and what those of a host have there. */
static int64_t device_peak(const struct step *step, struct arena *arena,
                           int64_t *host) {
  *host = 0;
  return parallel_wanted(&step->settings) ? parallel_peak(step, arena, host)
                                          : step_peak(step, arena);
}

/* What the host does not hold is too much for any device. */
static int64_t held_peak(const struct step *step, struct arena *arena) {
  int64_t host, peak = device_peak(step, arena, &host);
  return host > step->settings.host_memory ? INT64_MAX : peak;
}

int64_t fit_peak(const struct model *model, const struct train_settings *train,
                 int64_t batch, struct arena *arena) {
  struct arena scratch;
  struct step step = {.model = model, .settings = *train};
  step.settings.batch = batch;
  arena_open_in(&scratch, arena);
  checkpoint_choose(&step, fit_room(&step.settings), &scratch);
  int64_t host, peak = device_peak(&step, &scratch, &host);
  arena_close(&scratch);
  return peak;
}

/* Trials of many batches. */
struct batch_search {
  const struct step *step;
  int64_t room;
  struct arena *arena;
  bool chooses; /* each has checkpoints of its own: they depend on the batch */
  struct step plain; /* checkpoint=auto: with none but the source's */
};

static void open_search(struct batch_search *s) {
  const struct step *step = s->step;
  bool quick = step->model->nodes.count <= QUICK_NODES;
  bool automatic = step->settings.checkpoint == CHECKPOINT_AUTO;
  s->chooses = automatic ? quick : step->settings.checkpoint > 0;
  if (!automatic || !quick)
    return;
  s->plain = (struct step){.model = step->model, .settings = step->settings};
  s->plain.settings.checkpoint = 0;
  checkpoint_choose(&s->plain, s->room, s->arena);
}

static int64_t batch_peak(const struct batch_search *s, const struct step *step,
                          bool chooses, int64_t batch) {
  struct arena scratch;
  struct step trial = *step;
  trial.settings.batch = batch;
  progress_tell(step->model->progress, "searching for the largest batch", batch,
                0);
  arena_open_in(&scratch, s->arena);
  if (chooses) {
    trial = (struct step){
        .model = step->model, .settings = trial.settings, .runs = step->runs};
    checkpoint_choose(&trial, s->room, &scratch);
  }
  int64_t peak = held_peak(&trial, &scratch);
  arena_close(&scratch);
  return peak;
}

/* Where nothing need be computed once more, nothing need be chosen. */
static bool batch_fits(const struct batch_search *s, int64_t batch) {
  if (s->plain.model && batch_peak(s, &s->plain, false, batch) <= s->room)
    return true;
  return batch_peak(s, s->step, s->chooses, batch) <= s->room;
}

/* Where each batch has checkpoints of its own, peaks follow no line. */
static int64_t bisect_batch(const struct batch_search *s) {
  int64_t fits = 0, fails = 1;
  for (; batch_fits(s, fails); fails *= 2) {
    fits = fails;
    if (fails > INT64_MAX / 4)
      return fits; /* nothing of it grows with the batch */
  }
  while (fails - fits > 1) {
    int64_t middle = fits + (fails - fits) / 2;
    if (batch_fits(s, middle))
      fits = middle;
    else
      fails = middle;
  }
  return fits;
}

/* A batch and what a step with it takes. */
struct trial {
  int64_t batch, peak;
};

/* The last batch that fits on the line through two trials, a before b. */
static int64_t on_line(const struct trial *a, const struct trial *b,
                       int64_t room) {
  int64_t slope = (b->peak - a->peak) / (b->batch - a->batch);
  int64_t more = slope > 0 ? (room - a->peak) / slope : INT64_MAX / 4;
  return more < INT64_MAX / 4 ? a->batch + more : INT64_MAX / 4;
}

/*
 * A peak is the largest of lines over the batch, one for each moment, but for
 * the rounding of tensors to blocks. So the line through two trials leads
 * close to the answer, which four or five simulations settle.
 */
static int64_t follow_line(const struct batch_search *s) {
  struct trial before = {1, batch_peak(s, s->step, false, 1)};
  struct trial fits = before, fails = {INT64_MAX, INT64_MAX};
  if (before.peak > s->room)
    return 0;
  for (int i = 0; fails.batch - fits.batch > 1; i++) {
    bool bounded = fails.batch < INT64_MAX;
    bool line = i % 4 != 3 && (!bounded || fails.peak < INT64_MAX);
    int64_t next =
        bounded ? fits.batch + (fails.batch - fits.batch) / 2 : 2 * fits.batch;
    if (line && fits.batch > 1)
      next = bounded ? on_line(&fits, &fails, s->room)
                     : on_line(&before, &fits, s->room);
    if (next <= fits.batch)
      next = fits.batch + 1;
    if (next >= fails.batch)
      next = fails.batch - 1;
    struct trial now = {next, batch_peak(s, s->step, false, next)};
    if (now.peak > s->room) {
      fails = now;
      continue;
    }
    if (next >= INT64_MAX / 4)
      return next; /* nothing of it grows with the batch */
    before = fits;
    fits = now;
  }
  return fits.batch;
}

int64_t fit_largest_batch(const struct step *step, int64_t room,
                          struct arena *arena) {
  struct arena scratch;
  struct batch_search search = {.step = step, .room = room, .arena = &scratch};
  arena_open_in(&scratch, arena);
  open_search(&search);
  bool lines = !search.chooses && !search.plain.model;
  int64_t largest = lines ? follow_line(&search) : bisect_batch(&search);
  arena_close(&scratch);
  return largest;
}

/* "--batch 177" */
static const char *way_text(struct arena *arena, const char *what,
                            int64_t number) {
  struct text text = text_new(arena);
  text_put(&text, what);
  if (number) {
    text_putc(&text, ' ');
    text_int(&text, number);
  }
  return arena_copy(arena, text.at, text.length);
}

/* Tries the settings; whether the step fits with them. */
static bool try_way(const struct step *step, struct fit *fit,
                    struct arena *arena, const char *what, int64_t number,
                    const struct train_settings *settings) {
  struct arena scratch;
  struct step trial = *step; /* its operations, if these stay the same */
  const struct train_settings *given = &step->settings;
  bool same = settings->precision == given->precision;
  bool chosen = settings->checkpoint == given->checkpoint &&
                settings->batch == given->batch &&
                given->checkpoint != CHECKPOINT_AUTO;
  arena_open_in(&scratch, arena);
  trial.settings = *settings;
  if (!same || (settings->checkpoint && !chosen)) {
    trial = (struct step){.model = step->model, .settings = *settings};
    trial.runs = same ? step->runs : NULL; /* they know of no types */
    checkpoint_choose(&trial, fit->room, &scratch);
  }
  int64_t peak = held_peak(&trial, &scratch);
  if (peak <= fit->room)
    *VEC_PUSH(step->model->arena, &fit->ways) = (struct way_out){
        way_text(step->model->arena, what, number), peak, trial.extra_macs};
  arena_close(&scratch);
  return peak <= fit->room;
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
  bool shares = given.data_parallel > 1;
  other.offload = OFFLOAD_NONE;
  if (given.offload && fit->host > fit->host_room)
    try_way(step, fit, arena, "--offload none", 0, &other);
  other = given;
  for (other.zero = given.zero + 1; shares && other.zero <= 3; other.zero++)
    try_way(step, fit, arena, "--zero", other.zero, &other);
  other = given;
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

void fit_device(const struct train_settings *train, int64_t *device,
                int64_t *taken, int64_t *reserve, int64_t *room) {
  *device = device_bytes(train);
  *taken = *device ? taken_bytes(train) : 0;
  *room = fit_room(train);
  *reserve = *device ? max_i64(*device - *taken - *room, 0) : 0;
}

void fit_find(const struct step *step, struct arena *arena, struct fit *fit) {
  *fit = (struct fit){.host_room = step->settings.host_memory};
  fit->peak = device_peak(step, arena, &fit->host);
  fit_device(&step->settings, &fit->device, &fit->taken, &fit->reserve,
             &fit->room);
  fit->largest_batch = fit_largest_batch(step, fit->room, arena);
  if (!fit_holds(fit))
    find_ways(step, fit, arena);
}
