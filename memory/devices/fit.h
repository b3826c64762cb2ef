/* Fit: whether a step fits a device, and settings that make it fit. */
#ifndef NETC_MEMORY_DEVICES_FIT_H
#define NETC_MEMORY_DEVICES_FIT_H

#include "memory/devices/parallel.h"

/* Larger nets are not searched repeatedly unless asked for. */
enum { QUICK_NODES = 5000 };

/* A change of the settings, and the step with it. */
struct way_out {
  const char *options; /* as "--precision mixed" */
  int64_t peak;        /* bytes */
  int64_t extra_macs;
};

/* Memory of a device and its use; all 0: none named. */
struct fit_device {
  int64_t bytes;
  int64_t taken;   /* by PyTorch itself: context, workspace */
  int64_t reserve; /* kept free for uncounted memory */
  int64_t slack;   /* of the reserve: what steps were seen to use of it */
  int64_t room;    /* available to the step */
};

struct fit {
  bool alone; /* only the verdict is wanted */
  bool plain; /* no ways out are wanted */
  struct fit_device device;
  int64_t peak;             /* most loaded device */
  int64_t host, host_room;  /* use and size of a host's memory; 0: unknown */
  struct peak_line line;    /* of the peak */
  int64_t largest_batch;    /* 0: not even one sample fits */
  VEC(struct way_out) ways; /* that fit; for tight or too large steps */
};

enum fit_verdict {
  VERDICT_NONE,
  VERDICT_FITS,
  VERDICT_TIGHT,
  VERDICT_TOO_MUCH
};

/*
 * Tight: the step uses the reserve, so it fits if the allocator wastes less;
 * `slack` is how much of it a step may use. A host has no reserve; `host_room`
 * 0: its size is unknown.
 */
enum fit_verdict fit_judge(int64_t bytes, int64_t room, int64_t slack,
                           int64_t host, int64_t host_room);

/* The value of `fits` in outputs; --must-fit fails if it is false. */
static inline bool verdict_holds(enum fit_verdict verdict) {
  return verdict == VERDICT_FITS || verdict == VERDICT_TIGHT;
}

/* "fits", "tight", "does not fit" */
const char *fit_word(enum fit_verdict verdict);

/* The verdict on a fit with a named device. */
enum fit_verdict fit_verdict(const struct fit *fit);

/* Bytes available to a step on the device of the settings; 0: none named. */
int64_t fit_room(const struct train_settings *train);

/*
 * Bytes of a process on the settings' card besides reserved memory. 0 if not
 * recorded, or if the card cannot hold both, so that memory is given back.
 */
int64_t fit_context(const struct train_settings *train, int64_t reserved);

/* The device of the settings. */
struct fit_device fit_device(const struct train_settings *train, bool predict);

/* A batch and the bytes of its step on the device and on the host. */
struct fit_tried {
  int64_t batch, peak, host;
  struct peak_line line;
};

/* Sets the peak to INT64_MAX if the host's memory does not suffice. */
struct fit_tried fit_held(const struct train_settings *train,
                          struct fit_tried trial);

/* Trials of a step, in any order. */
struct fit_tries {
  VEC(struct fit_tried) all;
};

/*
 * The largest batch whose peak is at most `room`; each batch has checkpoints of
 * its own if the settings ask for them. `known` has earlier trials of the step,
 * and new ones are added.
 */
int64_t fit_largest_batch(const struct step *step, int64_t room,
                          struct fit_tries *known, struct arena *arena);

/*
 * The peak of the most loaded device for another batch, with checkpoints of its
 * own; INT64_MAX if it passes 2^63 - 1.
 */
int64_t fit_peak(const struct model *model, const struct train_settings *train,
                 int64_t batch, struct arena *arena);

/* Fills in `fit`; the ways are in the model's arena. */
void fit_find(const struct step *step, struct arena *arena, struct fit *fit);

/* Judges a step whose peak is known on the device of the settings, without ways
 * out. Checkpoints must not depend on the device. */
void fit_on_device(const struct step *step, struct arena *arena,
                   struct fit *fit);

#endif
