/* Devices: figures of makers and programs, and users' own tables. */
#ifndef NETC_SEMA_MODEL_GPU_H
#define NETC_SEMA_MODEL_GPU_H

#include "sema/model/settings.h"

/* Links from a device to others. */
enum link_kind { LINK_NEAR, LINK_FAR, LINK_HOST, LINK_COUNT };

/* A row of gpus.def; 0: no figure. */
struct gpu {
  const char *word;               /* "a100-80" */
  const char *names;              /* other names, separated by `|` */
  const char *kind;               /* of its driver: "geforce" */
  int64_t capability;             /* ten times CUDA's; 0: not NVIDIA's */
  int64_t mebibytes;              /* of the card */
  int64_t usable;                 /* usable MiB of a process */
  const char *source;             /* page with that figure */
  int64_t bandwidth;              /* of its memory, 10^9 bytes/s */
  int64_t links[LINK_COUNT];      /* one way, 10^6 bytes/s */
  int64_t rates[ELEMENT_END - 1]; /* 10^9 operations/s, by type */
};

/* A user's own devices, numbered after those of the table. */
struct gpus {
  const struct gpu *at;
  size_t count;
};

/* Numbers start at 1; `own` may be NULL. */
int gpu_count(const struct gpus *own);
const struct gpu *gpu_at(const struct gpus *own, int number);

/*
 * The number of the device that netc or a driver names so, in any case; 0:
 * none, or several, whose words are in *several.
 */
int gpu_find(const struct gpus *own, struct slice word, const char **several);

/*
 * Reads the cards of tensor_split=: shares, or names with or without shares.
 * False: *why and *help say what is wrong.
 */
bool gpu_read_split(const struct gpus *own, struct slice text,
                    struct split_list *split, struct text *why,
                    struct text *help);

/* The device of the settings; NULL: none named. */
const struct gpu *gpu_of(const struct train_settings *train);

/* Prints help for an unknown name: the memory setting, and the list; for a
 * number of a known one, as 2xrtx3090, how several are written. */
void gpu_put_help(struct text *out, struct slice word, bool as_option);

/* The name as makers write it: "RTX 4090", "A100-80". */
void gpu_put_title(struct text *out, const struct gpu *gpu);

/* Bytes of the card, and usable bytes. */
int64_t gpu_card_bytes(const struct gpu *gpu);
int64_t gpu_bytes(const struct gpu *gpu);

/* Bytes of a PyTorch process outside its allocator; 0: not recorded. */
int64_t gpu_context(const struct gpu *gpu);

/*
 * Bytes of a cuBLAS handle if the card differs from its profile:
 * parseChosenWorkspaceSize() of aten/src/ATen/cuda/CublasHandlePool.cpp; or 0.
 */
int64_t gpu_workspace(const struct gpu *gpu);

/* True if usable memory is estimated from cards of the same kind. */
bool gpu_is_estimated(const struct gpu *gpu);

int64_t gpu_rate(const struct gpu *gpu, int element);

/*
 * The type of the settings that the named card has no units for, of training or
 * of inference; 0: none. bf16 needs compute capability 8.0, fp8 8.9 (CUDA C++
 * Programming Guide, "Compute Capabilities"; vLLM's docs on FP8).
 */
int gpu_lacks(const struct settings *settings, bool predict);

/* Ten times the capability that a type needs; 0: any. */
int64_t gpu_needed_capability(int element);

/* Describes how programs run such a type instead, and a way out. */
const char *gpu_instead(const struct gpu *gpu, int element);

/*
 * Reads a table of devices in CSV, whose first line names columns of gpus.def:
 * docs/gpus.md. Adds all of them to `own`, or none; false: *error is
 * LINE:COLUMN and the reason.
 */
bool gpu_read(struct arena *arena, struct slice csv, struct gpus *own,
              struct text *error);

#endif
