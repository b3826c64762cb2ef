/* Devices: what makers and programs say of them, and a user's own. */
#ifndef NETC_SEMA_MODEL_GPU_H
#define NETC_SEMA_MODEL_GPU_H

#include "sema/model/settings.h"

/* What leads from a device to others. */
enum link_kind { LINK_NEAR, LINK_FAR, LINK_HOST, LINK_COUNT };

/* A row of gpus.def; 0: there is no figure. */
struct gpu {
  const char *word;               /* "a100-80" */
  const char *names;              /* others, parted by `|` */
  const char *kind;               /* whose driver it has: "geforce" */
  int64_t mebibytes;              /* of the card */
  int64_t usable;                 /* MiB that a process can have */
  const char *source;             /* where that was printed */
  int64_t bandwidth;              /* of its memory, 10^9 bytes a second */
  int64_t links[LINK_COUNT];      /* one way, 10^6 bytes a second */
  int64_t rates[ELEMENT_END - 1]; /* 10^9 operations a second, by type */
};

/* A user's own, which are numbered after those of the table. */
struct gpus {
  const struct gpu *at;
  size_t count;
};

/* Numbers are from 1; `own` may be NULL. */
int gpu_count(const struct gpus *own);
const struct gpu *gpu_at(const struct gpus *own, int number);

/*
 * The number of the device that a word names, as netc or as a driver does, in
 * letters of any case; 0: none, or several, whose words *several then has.
 */
int gpu_find(const struct gpus *own, struct slice word, const char **several);

/* The device of the settings; NULL: none was named. */
const struct gpu *gpu_of(const struct train_settings *train);

/* What helps where a name is not known: the memory, and the list. */
void gpu_put_help(struct text *out, struct slice word, const char *memory);

/* Bytes of the card, and those that a process can have. */
int64_t gpu_card_bytes(const struct gpu *gpu);
int64_t gpu_bytes(const struct gpu *gpu);

/* Bytes of a process of PyTorch beside its allocator's; 0: not recorded. */
int64_t gpu_context(const struct gpu *gpu);

/*
 * Bytes of a handle of cuBLAS, where the card has others than its profile says:
 * parseChosenWorkspaceSize() of aten/src/ATen/cuda/CublasHandlePool.cpp; or 0.
 */
int64_t gpu_workspace(const struct gpu *gpu);

/* No program's figure is known: it is taken from others of the kind. */
bool gpu_is_estimated(const struct gpu *gpu);

int64_t gpu_rate(const struct gpu *gpu, int element);

/*
 * Reads a table of devices in CSV, whose first line names columns as gpus.def
 * has them: docs/gpus.md. They are added to those in `own`, all or none; false:
 * *error says why, after LINE:COLUMN.
 */
bool gpu_read(struct arena *arena, struct slice csv, struct gpus *own,
              struct text *error);

#endif
