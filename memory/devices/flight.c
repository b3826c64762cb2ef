/*
 * Flight: microbatches on a pipeline's device that wait for backward.
 *
 * Sources: PipeDream-Flush (arXiv 2006.09503), GPipe (arXiv 1811.06965),
 * interleaved (arXiv 2104.04473), zero bubble (arXiv 2401.10241: sections 2.3
 * and 6), the last as ScheduleZBVZeroBubble of PyTorch's
 * torch/distributed/pipelining/schedules.py lists its operations.
 */
#include "memory/devices/flight.h"

#include "base/check.h"

int64_t flight_kept(const struct train_settings *train, int64_t stage,
                    int64_t stages, int64_t microbatches) {
  int64_t rest = stages - stage;
  if (stages == 1)
    return 1;
  switch (train->schedule) {
  case PIPELINE_GPIPE: return microbatches;
  case PIPELINE_ZB_H2: rest = 2 * rest - 1; break;
  default: break;
  }
  return min_i64(rest, microbatches);
}

int64_t flight_late(const struct train_settings *train, int64_t stage,
                    int64_t stages, int64_t microbatches) {
  int64_t most = train->schedule == PIPELINE_ZB_H1   ? stage
                 : train->schedule == PIPELINE_ZB_H2 ? 2 * stage
                                                     : 0;
  int64_t kept = flight_kept(train, stage, stages, microbatches);
  return min_i64(most, microbatches - kept);
}

/* Forward passes of part `part` among the first `passes` of a device. */
static int64_t passes_of(int64_t passes, int64_t part, int64_t stages,
                         int64_t count) {
  int64_t turn = stages * count;
  int64_t rest = passes % turn - part * stages;
  return passes / turn * stages + max_i64(0, min_i64(rest, stages));
}

/* A device of a V schedule: its progress, and its peak. */
struct v_device {
  int64_t microbatches;
  int64_t forward[2], back[2], weights[2]; /* by part */
  struct in_turn *parts, most[2];
  int64_t bytes;
};

/* Passes done; the schedule may list more microbatches than there are. */
static int64_t done(const struct v_device *d, const int64_t *count, int part) {
  return min_i64(count[part], d->microbatches);
}

static void run(struct v_device *d, int64_t *count, int part) {
  int64_t bytes = 0, sum;
  count[part]++;
  for (int k = 0; k < 2; k++) {
    struct in_turn *now = &d->parts[k];
    now->kept = done(d, d->forward, k) - done(d, d->back, k);
    now->late = done(d, d->back, k) - done(d, d->weights, k);
    if (!mul_i64(now->kept, now->bytes, &sum) ||
        !add_product_i64(now->late, now->late_bytes, &sum) ||
        !add_i64(bytes, sum, &bytes))
      bytes = INT64_MAX; /* the caller's product overflows, too */
  }
  if (bytes > d->bytes) {
    d->bytes = bytes;
    d->most[0] = d->parts[0];
    d->most[1] = d->parts[1];
  }
}

static void forward(struct v_device *d, int part) {
  run(d, d->forward, part);
}

static void backward(struct v_device *d, int part) {
  run(d, d->back, part);
}

static void weights(struct v_device *d, int part) {
  run(d, d->weights, part);
}

static void both(struct v_device *d, int part) {
  backward(d, part);
  weights(d, part);
}

/*
 * Runs the schedule of a device, in which weight gradients directly follow
 * input gradients until the last ones. More than 4 P microbatches only repeat.
 */
static void run_v(struct v_device *d, int64_t stages, int64_t index) {
  int64_t all = max_i64(2 * stages - 1, min_i64(d->microbatches, 4 * stages));
  for (int64_t i = 0; i < 2 * (stages - index) - 1; i++)
    forward(d, 0);
  for (int64_t i = 0; i < index; i++) {
    forward(d, 1);
    forward(d, 0);
  }
  for (int64_t i = 0; i < stages - index; i++) {
    forward(d, 1);
    both(d, 1);
  }
  while (d->forward[1] < d->forward[0] || d->forward[0] < all) {
    if (d->forward[0] < all)
      forward(d, 0);
    both(d, 0);
    forward(d, 1);
    both(d, 1);
  }
  for (int64_t i = 0; i < index; i++) {
    backward(d, 0);
    backward(d, 1);
  }
  for (int64_t i = 0; i < stages - index; i++)
    both(d, 0);
  while (d->weights[1] < d->back[1])
    weights(d, 1);
  while (d->weights[0] < d->back[0])
    weights(d, 0);
}

void flight_turns(const struct train_settings *train, int64_t stages,
                  int64_t index, int64_t microbatches, struct in_turn *parts,
                  int64_t count) {
  int64_t passes = 2 * (stages - index - 1) + (count - 1) * stages + 1, all;
  if (train->schedule == PIPELINE_ZB_V) {
    struct v_device d = {.microbatches = min_i64(microbatches, 4 * stages),
                         .parts = parts,
                         .bytes = -1};
    run_v(&d, stages, index);
    parts[0] = d.most[0];
    parts[1] = d.most[1];
    return;
  }
  if (!mul_i64(microbatches, count, &all))
    all = INT64_MAX;
  for (int64_t k = 0; k < count; k++) {
    parts[k].kept = passes_of(min_i64(passes, all), k, stages, count);
    parts[k].late = 0;
  }
}
