/* The weights of a net, and the sources of their values. */
#ifndef NETC_DRIVER_RUN_WEIGHT_SET_H
#define NETC_DRIVER_RUN_WEIGHT_SET_H

#include "base/arena.h"
#include "driver/command.h"
#include "import/tensors/tensors.h"
#include "runtime/netrt.h"

struct weight_set {
  struct netc *netc;
  struct arena *arena;
  VEC(struct netc_weight) weights; /* as in files */
  VEC(struct netc_tensor) tensors; /* as in inference */
  /* Tensors of a weight, from 1, 0: no more. By weight, by tensor. */
  size_t *first, *next;
  struct tensor_file *file;          /* source of values */
  const struct stored_tensor **from; /* by weight; NULL: random values */
  const char **names; /* by weight, for a file to write; NULL: the net's own */
  struct netc_tensor_shape *shapes; /* by weight, as in the file of `names` */
  uint64_t seed;                    /* of random values */
  float **rounded; /* by weight, replaces its values; NULL: none are replaced */
  bool shifted;    /* random norms and biases also differ from the identity */
};

/* Lists the weights of the loaded net, all with random values. */
void weight_set_open(struct weight_set *set, struct netc *netc,
                     struct arena *arena);

/* The name of a weight in a file to write. */
static inline const char *weight_set_name(const struct weight_set *set,
                                          size_t weight) {
  return set->names ? set->names[weight] : set->weights.at[weight].name;
}

/* The name of a weight in x.py; NULL: netc cannot write one. */
const char *weight_set_torch_name(const struct weight_set *set, size_t weight);

/* Renames weights in a file to write: as in x.py if `wanted` is "py", else as
 * in a file of weights that matches by order. Returns an exit status. */
int weight_set_rename(struct weight_set *set, const char *wanted);

/* Takes torchvision's names and shapes for a net of the zoo. */
int torchvision_names(struct weight_set *set, const char **names);

/* Finds such names and shapes for an x.py of the loaded net. */
int weight_names_find(struct netc *netc, const char *wanted,
                      struct arena *arena, struct netc_options *options);

/* "64x3x7x7" */
struct sizes_text {
  char text[TENSOR_RANK * 21];
};
struct sizes_text sizes_text(int rank, const int64_t *sizes);

enum weight_match {
  MATCH_BY_NAME,  /* the net's names or those of x.py */
  MATCH_BY_ORDER, /* the order in the file; names do not matter */
};

/*
 * Takes the values from a file. Axes of 1 do not count: 1x197x768 equals
 * 197x768 and 197x768x1. Reports missing and superfluous tensors and wrong
 * shapes on standard error. Returns an exit status.
 */
int weight_set_match(struct weight_set *set, const char *path,
                     struct tensor_file *file, enum weight_match match);

/* Reports values that could not be read since the file was opened. Returns an
 * exit status. */
int weight_set_check(const struct weight_set *set, const char *path);

/* Checks that the scales of its file were measured on this net; a file without
 * an origin passes. Returns an exit status. */
int weight_set_check_scales(const struct weight_set *set, const char *path);

/* Reports tensors of the file with invalid values: not finite, or a variance
 * below 0. Returns an exit status. */
int weight_set_judge(const struct weight_set *set, const char *path);

/* Opens a file or reports why not; returns an exit status. The file must be
 * closed in any case. */
int weight_file_open(struct tensor_file *file, const char *path,
                     struct arena *arena);

/* True if the first bytes are those of a file with only tensors. */
bool weight_file_is(const char *operand);

/* Lists the tensors and totals on standard output; returns an exit status. */
int weight_file_show(const char *path);

/*
 * `count` values of a weight from `first` on, in the file's order. Random
 * values are equal on every machine.
 */
void weight_set_values(const struct weight_set *set, size_t weight,
                       int64_t first, int64_t count, float *to);

/* All values of a weight in the file's order, as inference uses them, including
 * computed ones. */
void weight_set_used(const struct weight_set *set, size_t weight, float *all);

/* Computes the part of `all`, its weight's values, that a tensor takes. */
void weight_set_compute(const struct weight_set *set,
                        const struct netc_tensor *tensor, float *all);

/* True if values of a weight are computed before use. */
bool weight_set_is_computed(const struct weight_set *set, size_t weight);

/* Writes all weights as safetensors, those of an 8-bit net as in its file. The
 * caller checks ferror. */
void weight_set_write(const struct weight_set *set, FILE *file);

/* Values of a tensor without what is folded into it. */
void weight_set_gather(const struct weight_set *set,
                       const struct netc_tensor *tensor, float *to);

/* Values of a tensor in inference, with what is folded into it. */
void weight_set_tensor(const struct weight_set *set,
                       const struct netc_tensor *tensor, float *to);

/*
 * The block that inference reads, in float32 or for an 8-bit net, with values
 * from the file at `path`. It must be aligned for 32-bit words. Returns an exit
 * status.
 */
int64_t weight_set_block_bytes(const struct weight_set *set);
int weight_set_block(const struct weight_set *set, const char *path,
                     void *block);

/* True if some weights of a net can be packed in panels. */
bool weight_panels_some(const struct netrt_model *model);

/* Packs them in a block that has NETRT_PANELS_BYTES of room in front, for a
 * mark. False: out of memory, and nothing has changed. */
bool weight_panels_pack(const struct netrt_model *model, void *block);

/* Writes the block, little-endian. */
void weight_set_write_block(const struct weight_set *set, const void *block,
                            FILE *file);

/* True if the block is bytes, not only float32. */
bool weight_set_is_bytes(const struct weight_set *set);

/* True if some weights have fewer bits than the activations. */
bool weight_set_is_narrow(const struct weight_set *set);

/* Writes values of such a tensor into the block; returns an exit status. */
int weight_narrow_put(const struct weight_set *set,
                      const struct netc_tensor *tensor, const float *values,
                      unsigned char *block);

/*
 * Replaces values by those of the block made of the set, so that float32 gives
 * the results of narrow weights. False: some are computed from other weights,
 * and no values of these give the rounded ones.
 */
bool weight_narrow_round(struct weight_set *set, const unsigned char *block);

/* True for the block of an 8-bit net. */
bool weight_set_is_q8(const struct weight_set *set);

/* The scale of 8-bit weights with maximum `largest`, which becomes 127. */
static inline float weight_set_scale(double largest) {
  return largest > 0 ? (float)(largest / 127) : 1;
}

/* Makes the block of an 8-bit net. */
int weight_set_q8(const struct weight_set *set, const char *path,
                  unsigned char *block);

/* True if an operation has equal steps for input and output. */
bool weight_q8_keeps_step(const struct netc_q8 *q8);

#endif
