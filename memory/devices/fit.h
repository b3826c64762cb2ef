/* Fit: whether a step fits a device, and what would make it fit. */
#ifndef NETC_MEMORY_DEVICES_FIT_H
#define NETC_MEMORY_DEVICES_FIT_H

#include "memory/devices/parallel.h"

/* Nets of so many layers are searched again and again without being asked. */
enum { QUICK_NODES = 5000 };

/* A change of the settings, and what the step takes with it. */
struct way_out {
  const char *options; /* "--precision mixed" */
  int64_t peak;        /* bytes */
  int64_t extra_macs;
};

/* What a device has, and where it goes; all 0: none was named. */
struct fit_device {
  int64_t bytes;
  int64_t taken;   /* by the framework itself: context, workspace */
  int64_t reserve; /* kept free for what is not counted */
  int64_t room;    /* for the step */
};

struct fit {
  bool alone; /* nothing is asked but whether it fits */
  struct fit_device device;
  int64_t peak;             /* of the most loaded device */
  int64_t host, host_room;  /* of those of a host; what that has; 0: not said */
  int64_t largest_batch;    /* 0: not even one sample fits */
  VEC(struct way_out) ways; /* if the step is tight or too much; that fit */
};

enum fit_verdict {
  VERDICT_NONE,
  VERDICT_FITS,
  VERDICT_TIGHT,
  VERDICT_TOO_MUCH
};

/*
 * Tight: into what is kept free, so that it holds if an allocator wastes less.
 * A host keeps nothing free; `host_room` 0: it was not said what it has.
 */
enum fit_verdict fit_judge(int64_t bytes, int64_t room, int64_t reserve,
                           int64_t host, int64_t host_room);

/* What `fits` says of it in outputs; --must-fit fails for the others. */
static inline bool verdict_holds(enum fit_verdict verdict) {
  return verdict == VERDICT_FITS || verdict == VERDICT_TIGHT;
}

/* "fits", "tight", "does not fit" */
const char *fit_word(enum fit_verdict verdict);

/* Of a fit whose device was named. */
enum fit_verdict fit_verdict(const struct fit *fit);

/* Bytes that a step may take on the device of the settings; 0: none named. */
int64_t fit_room(const struct train_settings *train);

/*
 * What a process on the settings' card has beside what is reserved, if it was
 * recorded and the card has both, so that none is given back; or 0.
 */
int64_t fit_context(const struct train_settings *train, int64_t reserved);

/* The device of the settings. */
struct fit_device fit_device(const struct train_settings *train, bool predict);

/* A batch and what a step with it takes, of the device and of the host. */
struct fit_tried {
  int64_t batch, peak, host;
  struct peak_line line;
};

/* What the host does not hold is too much for any device: INT64_MAX. */
struct fit_tried fit_held(const struct train_settings *train,
                          struct fit_tried trial);

/* Those of a step, in any order. */
struct fit_tries {
  VEC(struct fit_tried) all;
};

/*
 * The largest batch whose peak is at most `room`; each has checkpoints of its
 * own, where the settings ask for them. What else was tried of the step is in
 * `known`, and what is tried is added.
 */
int64_t fit_largest_batch(const struct step *step, int64_t room,
                          struct fit_tries *known, struct arena *arena);

/*
 * The peak of a step of another batch, on the most loaded device, with
 * checkpoints of its own; INT64_MAX if it passes 2^63 - 1.
 */
int64_t fit_peak(const struct model *model, const struct train_settings *train,
                 int64_t batch, struct arena *arena);

/* The ways are in the model's arena. */
void fit_find(const struct step *step, struct arena *arena, struct fit *fit);

#endif
