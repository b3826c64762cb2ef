/*
 * Files of tensors: names, types, shapes, and where their values lie. A file
 * is read by its first bytes as safetensors, GGUF, a .caffemodel or what
 * torch.save and TorchScript write; of values is read what is asked for.
 */
#ifndef NETC_IMPORT_TENSORS_TENSORS_H
#define NETC_IMPORT_TENSORS_TENSORS_H

#include "import/bytes/bytes.h"
#include "import/tensors/value.h"

enum { TENSOR_RANK = 16 };

struct stored_tensor {
  const char *name;
  enum value_type type; /* VALUE_COUNT: packed in blocks, cannot be read */
  const char *word;     /* "F32", "Q4_K" */
  int rank;
  const int64_t *dims;
  const int64_t *strides; /* in values; NULL: by rows */
  int64_t count;
  uint64_t at, bytes; /* in the store; as far as strides reach */
  bool shared;        /* an earlier one is the same */
  bool stepped;       /* whole numbers that stand for others: tensors_steps */
  bool packed;        /* deflated: its values cannot be read */
};

/*
 * Whole numbers stand for (value - zero) * scale, with one scale and zero for
 * all values, or one for each place of the first axis.
 */
struct tensor_steps {
  const char *name; /* "conv1.weight", or "conv1.output" of a layer */
  size_t count;
  float *scale;
  int32_t *zero;
};

struct pickle_value;

struct tensor_file {
  struct byte_store store;
  const char *format; /* "safetensors" */
  const char *part;   /* "state_dict": what of the file they are; NULL: all */
  const struct pickle_value *module;    /* a whole one of PyTorch, or NULL */
  VEC(struct stored_tensor) tensors;    /* in the file's order */
  const struct stored_tensor **by_name; /* they, in order */
  VEC(struct tensor_steps) steps;       /* by name, too */
  const char *origin; /* of the net that steps were measured on, or NULL */
  uint64_t missing;   /* bytes of values that are cut off */
  char fault[512];    /* what is wrong with the file */
  bool unread;        /* it is not even there */
};

/*
 * Opens a file. False, and `fault` says why, if it cannot be read or does not
 * hold what it promises; close it in any case. Names and sizes are in `arena`.
 */
bool tensors_open(struct tensor_file *file, const char *path,
                  struct arena *arena);
/* Reads a file that is open already, and leaves it open. */
bool tensors_open_file(struct tensor_file *file, int open, struct arena *arena);
void tensors_close(struct tensor_file *file);

/* NULL: there is none of that name. */
const struct stored_tensor *tensors_find(const struct tensor_file *file,
                                         const char *name);

/*
 * `count` values by rows from the one at `first` on, as float32: what whole
 * numbers stand for. False, and `fault` says why: the file became shorter, or
 * their type has no reader.
 */
bool tensors_floats(struct tensor_file *file, const struct stored_tensor *t,
                    int64_t first, int64_t count, float *to);

/* NULL: there are none of that name. */
const struct tensor_steps *tensors_steps(const struct tensor_file *file,
                                         const char *name);

/* Values that are whole numbers of up to 32 bits. */
bool tensors_ints(struct tensor_file *file, const struct stored_tensor *t,
                  int64_t first, int64_t count, int32_t *to);

/* Bytes of a tensor's values, as they lie. */
bool tensors_bytes(struct tensor_file *file, const struct stored_tensor *t,
                   uint64_t first, size_t count, void *to);

/* True if its values are no parameters: statistics, tables, counters. */
bool tensor_is_buffer(const struct stored_tensor *t);

/* For readers of formats: false each, with `fault` made harmless. */
typedef bool tensors_read_fn(struct tensor_file *file, struct arena *arena);
tensors_read_fn safetensors_read, torch_read_zip, torch_read_legacy, gguf_read,
    caffemodel_read;

bool tensors_fail(struct tensor_file *file, struct arena *arena,
                  const char *format, ...) PRINTF_LIKE(3, 4);

/*
 * Counts the values of `dims`; false with a fault unless they are some, and
 * of a rank that is read.
 */
bool tensors_count(struct tensor_file *file, struct arena *arena,
                   struct stored_tensor *t);

#endif
