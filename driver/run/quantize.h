/* Scales of 8 bits for a net whose weights are real, from samples. */
#ifndef NETC_DRIVER_RUN_QUANTIZE_H
#define NETC_DRIVER_RUN_QUANTIZE_H

#include "driver/run/run.h"

/* Of an input: samples along the first axis. */
struct quantize_samples {
  struct quantize_samples *next;
  const char *path;
  struct npy npy;
};

/* What a layer gives, or an input. */
struct quantize_level {
  bool used; /* an operation of 8 bits gives it, or it is an input */
  const char *name;
  double low, high;
  double largest; /* of absolute values */
  int64_t *bins;
  int64_t count;
  int64_t same; /* the layer whose scale it has, or its own */
  bool fixed;   /* a softmax: 1/256 */
  float scale;
  int32_t zero;
  int64_t compared; /* values in float32 beside int8 */
  double worst, square_error, square;
};

/* What is noted of values in float32. */
enum quantize_pass { QUANTIZE_RANGES, QUANTIZE_HISTOGRAMS, QUANTIZE_NOTHING };

struct quantizing {
  int argc; /* the command line: two nets are compiled by it */
  char **argv;
  const char *from; /* weights; or NULL: by chance, of `seed` */
  int64_t seed;
  struct end_file given[MOST_ENDS]; /* --quantize */
  size_t given_count;
  double percentile;

  struct running *real, *small;    /* in float32, in int8 */
  struct arena *arena;             /* that of `small` */
  struct quantize_samples **files; /* by input, a list */
  int64_t samples;
  struct quantize_level *levels; /* by layer */
  size_t layers, q8_count;
  struct netc_q8 *q8;    /* by operation of `small` */
  int64_t *gives;        /* by operation of `real`: the layer; -1: none */
  float **made;          /* by layer: its output in float32, of a sample */
  size_t *made_count;    /* its values */
  float *classes;        /* an output of a sample in float32, */
  int8_t *small_classes; /* and in int8 */
  int64_t *agreed; /* by output: samples whose largest value is the same */
  enum quantize_pass pass;
  float *scratch; /* values of an operation */
  size_t scratch_room;
  int status;
  const char *strange; /* a layer that gave NaN or infinity */
};

/*
 * Runs the net in float32, finds a scale for each layer's output, puts them
 * into the weights of `small`, runs that, and compares. An exit status; in any
 * case close it.
 */
int quantize(struct quantizing *q);

/* The table; an exit status. quantize_compare.c */
int quantize_report(const struct quantizing *q);

void quantize_close(struct quantizing *q);

/* The files of samples, of which each input has as many; an exit status.
 * quantize_samples.c */
int quantize_read_samples(struct quantizing *q);

/* Sample `at` becomes the values of an input in float32; an exit status. */
int quantize_take_sample(struct quantizing *q, uint32_t which, int64_t at);

/* A sample in float32: what operations make is noted; an exit status. */
int quantize_run_real(struct quantizing *q, int64_t sample);

/* Values of an operand by rows, wherever it lies in the arena; those of 8 bits
 * are what they stand for. */
void quantize_gather(const struct netrt *net, const struct netrt_operand *made,
                     const struct quantize_level *level, float *to);

/* Both nets with all samples: errors of levels, and classes that agree; an
 * exit status. quantize_compare.c */
int quantize_compare(struct quantizing *q);

#endif
