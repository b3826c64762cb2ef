/* The weights of a net, and where their values come from. */
#ifndef NETC_DRIVER_RUN_WEIGHT_SET_H
#define NETC_DRIVER_RUN_WEIGHT_SET_H

#include "base/arena.h"
#include "driver/command.h"
#include "import/tensors/tensors.h"
#include "runtime/netrt.h"

struct weight_set {
  struct netc *netc;
  struct arena *arena;
  VEC(struct netc_weight) weights; /* as files have them */
  VEC(struct netc_tensor) tensors; /* as a prediction reads them */
  size_t *first, *next; /* tensors of a weight, from 1, 0: no more; by weight
                           the first, by tensor the next */
  struct tensor_file *file;          /* whose values are taken */
  const struct stored_tensor **from; /* by weight; NULL: it is made up */
  const char **names; /* by weight, in a file that is written; NULL: its own */
  struct netc_tensor_shape *shapes; /* by weight, as the file of names has it */
  uint64_t seed;                    /* of what is made up */
  float **rounded; /* by weight, its values instead; NULL: none has such */
  bool shifted; /* so are vectors that would change nothing: of norms, biases */
};

/* Those of the net that is loaded; all of them made up. */
void weight_set_open(struct weight_set *set, struct netc *netc,
                     struct arena *arena);

/* What a file that is written calls a weight. */
static inline const char *weight_set_name(const struct weight_set *set,
                                          size_t weight) {
  return set->names ? set->names[weight] : set->weights.at[weight].name;
}

/* What x.py calls a weight; NULL: netc cannot write one. */
const char *weight_set_torch_name(const struct weight_set *set, size_t weight);

/* Calls them in a file that is written as x.py does, `wanted` is "py" then, or
   as a file of weights does whose tensors they are by order; an exit status. */
int weight_set_rename(struct weight_set *set, const char *wanted);

/* What torchvision calls them, of a net of the zoo; shapes are as there. */
int torchvision_names(struct weight_set *set, const char **names);

/* The same names and shapes for an x.py of the net that is loaded. */
int weight_names_find(struct netc *netc, const char *wanted,
                      struct arena *arena, struct netc_options *options);

/* "64x3x7x7" */
struct sizes_text {
  char text[TENSOR_RANK * 21];
};
struct sizes_text sizes_text(int rank, const int64_t *sizes);

enum weight_match {
  MATCH_BY_NAME,  /* the net's, or those of x.py */
  MATCH_BY_ORDER, /* as tensors lie in the file; names do not matter */
};

/*
 * Takes the values from a file. Axes of 1 do not count: 1x197x768 is 197x768,
 * and so is 197x768x1. Says what is missing, superfluous or of a
 * wrong shape on standard error; an exit status.
 */
int weight_set_match(struct weight_set *set, const char *path,
                     struct tensor_file *file, enum weight_match match);

/* Says why values could not be read since the file was opened; an exit
   status. */
int weight_set_check(const struct weight_set *set, const char *path);

/* Checks that the scales of its file were measured on this net; a file without
   an origin passes. An exit status. */
int weight_set_check_scales(const struct weight_set *set, const char *path);

/* Says of which tensors of the file values are no weights: not finite, or a
   variance below 0; an exit status. */
int weight_set_judge(const struct weight_set *set, const char *path);

/* Opens a file, or says why not; an exit status. Close it in any case. */
int weight_file_open(struct tensor_file *file, const char *path,
                     struct arena *arena);

/* Whether a file has tensors alone, as its first bytes say. */
bool weight_file_is(const char *operand);

/* Lists its tensors and their sum on standard output; an exit status. */
int weight_file_show(const char *path);

/*
 * `count` values of a weight from the one at `first` on, in the file's order.
 * Those that are made up are the same on every machine.
 */
void weight_set_values(const struct weight_set *set, size_t weight,
                       int64_t first, int64_t count, float *to);

/* All values of a weight in the file's order, as a prediction has them: those
 * that are computed, are. */
void weight_set_used(const struct weight_set *set, size_t weight, float *all);

/* Computes what of `all` values of its weight a tensor takes. */
void weight_set_compute(const struct weight_set *set,
                        const struct netc_tensor *tensor, float *all);

/* Whether values of a weight are computed before they are used. */
bool weight_set_is_computed(const struct weight_set *set, size_t weight);

/* Writes all of them as safetensors, those of a net of 8 bits as the file has
 * them; the caller looks at ferror. */
void weight_set_write(const struct weight_set *set, FILE *file);

/* Values of a weight as a tensor has them, without what folds into it. */
void weight_set_gather(const struct weight_set *set,
                       const struct netc_tensor *tensor, float *to);

/* A tensor as a prediction reads it, with what folds into it. */
void weight_set_tensor(const struct weight_set *set,
                       const struct netc_tensor *tensor, float *to);

/*
 * The block that a prediction reads: of float32, or of a net of 8 bits. Its
 * values are from the file at `path`; an exit status. It begins where words of
 * 32 bits may lie.
 */
int64_t weight_set_block_bytes(const struct weight_set *set);
int weight_set_block(const struct weight_set *set, const char *path,
                     void *block);

/* Whether some weights of a net may lie in panels. */
bool weight_panels_some(const struct netrt_model *model);

/* Puts them so in a block that has room for NETRT_PANELS_BYTES in front, which
 * say it; false: there is no memory for it, and nothing has changed. */
bool weight_panels_pack(const struct netrt_model *model, void *block);

/* Its bytes, little-endian. */
void weight_set_write_block(const struct weight_set *set, const void *block,
                            FILE *file);

/* Whether it is bytes, and not float32 alone. */
bool weight_set_is_bytes(const struct weight_set *set);

/* Whether some weights have fewer bits than the other values. */
bool weight_set_is_narrow(const struct weight_set *set);

/* Puts values of a tensor that has; an exit status. */
int weight_narrow_put(const struct weight_set *set,
                      const struct netc_tensor *tensor, const float *values,
                      unsigned char *block);

/*
 * Takes values as the block has them that was made of the set, so that float32
 * gives what fewer bits give. false: some are computed of other weights, which
 * no values of these are.
 */
bool weight_narrow_round(struct weight_set *set, const unsigned char *block);

/* Whether it is that of a net of 8 bits. */
bool weight_set_is_q8(const struct weight_set *set);

/* The scale of 8 bits of weights of which none is larger: it is 127. */
static inline float weight_set_scale(double largest) {
  return largest > 0 ? (float)(largest / 127) : 1;
}

/* That of a net of 8 bits. */
int weight_set_q8(const struct weight_set *set, const char *path,
                  unsigned char *block);

/* Whether an operation of it gives what it takes in the same steps. */
bool weight_q8_keeps_step(const struct netc_q8 *q8);

#endif
