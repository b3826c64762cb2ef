/* Fit: whether a step fits a device, and settings that make it fit. */
#include "memory/devices/fit.h"

#include "base/check.h"
#include "base/text.h"
#include "sema/model/gpu.h"
#include "memory/checkpoint/checkpoint.h"

#define MOST_BATCH (INT64_MAX / 4) /* largest batch tried */

enum { WHOLE = 1000 }; /* profile.used is in thousandths */

static int64_t device_bytes(const struct train_settings *train) {
  if (train->memory)
    return train->memory;
  return train->gpu ? gpu_bytes(gpu_of(train)) : 0;
}

static int64_t recorded_context(const struct train_settings *train) {
  bool card = train->gpu && !train->memory;
  bool has_context = profile_at(train->profile)->context > 0;
  return card && has_context ? gpu_context(gpu_of(train)) : 0;
}

/*
 * Bytes of the context, and of a cuBLAS workspace per handle. A thread has one
 * handle, and backward runs in a thread of its own (recorded: tests/data/cuda).
 */
static int64_t taken_bytes(const struct train_settings *train, bool predict) {
  const struct profile *profile = profile_at(train->profile);
  int64_t recorded = recorded_context(train), handle = profile->workspace;
  if (handle && train->gpu && !train->memory && gpu_workspace(gpu_of(train)))
    handle = gpu_workspace(gpu_of(train));
  return (recorded ? recorded : profile->context) + (predict ? 1 : 2) * handle;
}

int64_t fit_context(const struct train_settings *train, int64_t reserved) {
  int64_t context = recorded_context(train);
  return reserved && reserved <= device_bytes(train) - context ? context : 0;
}

/* Bytes for a step. A reserve in proportion to the step stays free. */
static int64_t room_of(const struct train_settings *train, bool predict) {
  int64_t device = device_bytes(train), most;
  int64_t left = max_i64(device - taken_bytes(train, predict), 1);
  int64_t percent =
      train->reserve < 0 ? profile_at(train->profile)->reserve : train->reserve;
  if (!device)
    return 0;
  return mul_i64(left, 100, &most) ? max_i64(most / (100 + percent), 1)
                                   : left / (100 + percent) * 100;
}

int64_t fit_room(const struct train_settings *train) {
  return room_of(train, false);
}

/* Runs a step. A peak above `most` may become INT64_MAX; most 0: exact. */
static struct fit_tried try_step(const struct step *step, int64_t most,
                                 struct arena *arena) {
  struct fit_tried trial = {.batch = step->settings.batch};
  trial.peak = parallel_wanted(&step->settings)
                   ? parallel_peak(step, arena, &trial.line, &trial.host)
                   : step_peak(step, most, arena, &trial.line);
  return trial;
}

struct fit_tried fit_held(const struct train_settings *train,
                          struct fit_tried trial) {
  if (train->host_memory && trial.host > train->host_memory)
    trial.peak = INT64_MAX;
  return trial;
}

int64_t fit_peak(const struct model *model, const struct train_settings *train,
                 int64_t batch, struct arena *arena) {
  struct arena scratch;
  struct step step = {.model = model, .settings = *train};
  step.settings.batch = batch;
  arena_open_in(&scratch, arena);
  checkpoint_choose(&step, fit_room(&step.settings), &scratch);
  int64_t peak = try_step(&step, 0, &scratch).peak;
  arena_close(&scratch);
  return peak;
}

/* A search over batches. */
struct batch_search {
  const struct step *step;
  int64_t room;
  struct arena *arena;
  bool chooses;      /* each batch has checkpoints of its own */
  struct step plain; /* checkpoint=auto: only the source's checkpoints */
  struct step bare;  /* the same without any */
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
  s->bare = s->plain;
  checkpoint_choose(&s->plain, s->room, s->arena);
  if (s->plain.ranges.count)
    step_trace(&s->bare, s->arena);
  else
    s->bare = s->plain;
}

static struct fit_tried try_batch(const struct batch_search *s,
                                  const struct step *step, bool chooses,
                                  int64_t batch, int64_t most) {
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
  struct fit_tried found =
      fit_held(&trial.settings, try_step(&trial, most, &scratch));
  arena_close(&scratch);
  return found;
}

/* The last batch that fits according to the line of a trial. */
static int64_t on_line(const struct fit_tried *trial, int64_t room) {
  double left = (double)(room - trial->line.fixed);
  double fits = trial->line.moving > 0
                    ? left / (double)trial->line.moving * (double)trial->batch
                    : (double)MOST_BATCH;
  return fits < (double)MOST_BATCH ? (int64_t)fits : MOST_BATCH;
}

/* The largest trial that fits and the smallest that does not. */
struct fit_bracket {
  struct fit_tried fits, fails;
};

static void narrow(struct fit_bracket *b, const struct fit_tried *trial,
                   int64_t room) {
  if (trial->peak > room && trial->batch < b->fails.batch)
    b->fails = *trial;
  if (trial->peak <= room && trial->batch > b->fits.batch)
    b->fits = *trial;
}

/* Every fourth time takes the middle, to limit the harm of a bad line. */
static int64_t next_batch(const struct fit_bracket *b,
                          const struct fit_tried *last, int64_t room,
                          int turn) {
  bool bounded = b->fails.batch < INT64_MAX;
  int64_t next = bounded ? b->fits.batch + (b->fails.batch - b->fits.batch) / 2
                         : 2 * b->fits.batch;
  if (turn % 4 != 3 && last->batch && last->peak < INT64_MAX)
    next = on_line(last, room);
  return max_i64(min_i64(next, b->fails.batch - 1), b->fits.batch + 1);
}

/*
 * A peak is the maximum of lines over the batch, one per moment, apart from
 * rounding tensors to blocks. So the line of a trial leads close to the answer,
 * and two or three simulations settle it.
 */
static int64_t follow_lines(const struct batch_search *s,
                            const struct step *step, struct fit_tries *known,
                            struct arena *arena) {
  struct fit_bracket b = {.fails = {.batch = INT64_MAX}};
  for (size_t i = 0; i < known->all.count; i++)
    narrow(&b, &known->all.at[i], s->room);
  struct fit_tried last = b.fits.batch                ? b.fits
                          : b.fails.batch < INT64_MAX ? b.fails
                                                      : b.fits;
  for (int i = 0; b.fails.batch - b.fits.batch > 1; i++) {
    if (b.fits.batch >= MOST_BATCH) /* nothing grows with the batch */
      break;
    int64_t next = next_batch(&b, &last, s->room, i);
    bool ends = next == b.fits.batch + 1; /* unless that fits, too */
    last = try_batch(s, step, false, next, ends ? s->room : 0);
    if (last.peak < INT64_MAX)
      *VEC_PUSH(arena, &known->all) = last;
    narrow(&b, &last, s->room);
  }
  return b.fits.batch;
}

static bool batch_fits(const struct batch_search *s, int64_t batch) {
  return try_batch(s, s->step, s->chooses, batch, s->room).peak <= s->room;
}

/* The largest batch that fits from `fits` on, in doubling steps. */
static int64_t bisect_batch(const struct batch_search *s, int64_t fits) {
  int64_t step = max_i64(fits, 1), fails = fits + step;
  for (; batch_fits(s, fails); fails += step) {
    fits = fails;
    if (fails > MOST_BATCH)
      return fits; /* nothing grows with the batch */
    step *= 2;
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

/*
 * For checkpoint=auto, starts from a batch that fits. The best choice for the
 * next batch fits further batches, too. If no choice fits, the batch is the
 * largest.
 */
static int64_t follow_choices(const struct batch_search *s, int64_t fits) {
  bool more = true;
  while (more && fits < MOST_BATCH) {
    struct arena scratch;
    struct fit_tries known = {0};
    struct step trial = s->bare;
    trial.settings.batch = fits + 1;
    progress_tell(trial.model->progress, "searching for the largest batch",
                  fits + 1, 0);
    arena_open_in(&scratch, s->arena);
    more = checkpoint_least(&trial, s->room, &scratch);
    if (more) {
      *VEC_PUSH(&scratch, &known.all) =
          try_batch(s, &trial, false, fits + 1, s->room);
      fits = follow_lines(s, &trial, &known, &scratch);
    }
    arena_close(&scratch);
  }
  return fits;
}

int64_t fit_largest_batch(const struct step *step, int64_t room,
                          struct fit_tries *known, struct arena *arena) {
  struct arena scratch;
  struct batch_search search = {.step = step, .room = room, .arena = &scratch};
  arena_open_in(&scratch, arena);
  open_search(&search);
  struct fit_tries plain = {0};
  int64_t largest = 0;
  if (search.plain.model)
    largest = follow_lines(&search, &search.plain, &plain, &scratch);
  if (search.plain.model && !parallel_wanted(&step->settings))
    largest = follow_choices(&search, largest);
  else if (search.chooses)
    largest = bisect_batch(&search, largest);
  else
    largest = follow_lines(&search, step, known, arena);
  arena_close(&scratch);
  return largest;
}

/* Formats an option, as "--batch 177". */
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

/* Tries settings and records them if the step fits. */
static bool try_way(const struct step *step, struct fit *fit,
                    struct arena *arena, const char *what, int64_t number,
                    const struct train_settings *settings) {
  struct arena scratch;
  struct step trial = *step; /* keeps the trace if it stays valid */
  const struct train_settings *given = &step->settings;
  bool same = settings->precision == given->precision &&
              settings->accumulate == given->accumulate;
  bool chosen = settings->checkpoint == given->checkpoint &&
                settings->batch == given->batch &&
                given->checkpoint != CHECKPOINT_AUTO;
  arena_open_in(&scratch, arena);
  trial.settings = *settings;
  if (!same || (settings->checkpoint && !chosen)) {
    trial = (struct step){.model = step->model, .settings = *settings};
    trial.runs = same ? step->runs : NULL; /* the runs' keys lack types */
    checkpoint_choose(&trial, fit->device.room, &scratch);
  }
  int64_t peak = fit_held(&trial.settings, try_step(&trial, 0, &scratch)).peak;
  if (peak <= fit->device.room)
    *VEC_PUSH(step->model->arena, &fit->ways) = (struct way_out){
        way_text(step->model->arena, what, number), peak, trial.extra_macs};
  arena_close(&scratch);
  return peak <= fit->device.room;
}

/*
 * The same batch in parts whose gradients are summed: the fewest equal parts
 * that fit. Batch norms alone see another batch.
 */
static void accumulate(const struct step *step, struct fit *fit,
                       struct arena *arena) {
  enum { MOST_PARTS = 4096 };
  struct train_settings other = step->settings;
  int64_t batch = other.batch, least = fit->largest_batch;
  if (!least || batch <= least)
    return;
  for (int64_t n = ceil_div_i64(batch, least); n <= batch && n <= MOST_PARTS;
       n++) {
    if (batch % n != 0 ||
        !mul_i64(step->settings.accumulate, n, &other.accumulate))
      continue;
    struct text text = text_new(step->model->arena);
    other.batch = batch / n;
    text_put(&text, "--batch ");
    text_int(&text, other.batch);
    text_put(&text, " --accumulate");
    if (try_way(step, fit, arena, text_string(&text), other.accumulate, &other))
      return;
  }
}

/* Tries the cheapest ways first: those that change training least. */
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
  if (fit->host_room && fit->host > fit->host_room)
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
  accumulate(step, fit, arena);
  for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
    other = given;
    other.optimizer = optimizers[i].optimizer;
    if (other.optimizer != given.optimizer)
      try_way(step, fit, arena, optimizers[i].what, 0, &other);
  }
}

struct fit_device fit_device(const struct train_settings *train, bool predict) {
  struct fit_device d = {.bytes = device_bytes(train)};
  if (!d.bytes)
    return d;
  d.taken = taken_bytes(train, predict);
  d.room = room_of(train, predict);
  d.reserve = max_i64(d.bytes - d.taken - d.room, 0);
  int used = predict ? 0 : profile_at(train->profile)->used;
  int64_t most = share_i64(d.bytes - d.taken, used ? used : WHOLE, WHOLE);
  d.slack = min_i64(d.reserve, max_i64(most - d.room, 0));
  return d;
}

enum fit_verdict fit_judge(int64_t bytes, int64_t room, int64_t slack,
                           int64_t host, int64_t host_room) {
  if (bytes - room > slack || (host_room && host > host_room))
    return VERDICT_TOO_MUCH;
  return bytes > room ? VERDICT_TIGHT : VERDICT_FITS;
}

const char *fit_word(enum fit_verdict verdict) {
  static const char *const words[] = {[VERDICT_NONE] = "",
                                      [VERDICT_FITS] = "fits",
                                      [VERDICT_TIGHT] = "tight",
                                      [VERDICT_TOO_MUCH] = "does not fit"};
  return words[verdict];
}

enum fit_verdict fit_verdict(const struct fit *fit) {
  return fit_judge(fit->peak, fit->device.room, fit->device.slack, fit->host,
                   fit->host_room);
}

void fit_on_device(const struct step *step, struct arena *arena,
                   struct fit *fit) {
  struct fit_tries trials = {0};
  struct fit_tried given = {step->settings.batch, fit->peak, fit->host,
                            fit->line};
  *VEC_PUSH(arena, &trials.all) = fit_held(&step->settings, given);
  fit->device = fit_device(&step->settings, false);
  if (!fit->alone)
    fit->largest_batch =
        fit_largest_batch(step, fit->device.room, &trials, arena);
}

void fit_find(const struct step *step, struct arena *arena, struct fit *fit) {
  struct fit_tried given = try_step(step, 0, arena);
  *fit = (struct fit){.alone = fit->alone,
                      .plain = fit->plain,
                      .peak = given.peak,
                      .host = given.host,
                      .host_room = step->settings.host_memory,
                      .line = given.line};
  fit_on_device(step, arena, fit);
  if (!fit->alone && !fit->plain && fit_verdict(fit) != VERDICT_FITS)
    find_ways(step, fit, arena);
}
