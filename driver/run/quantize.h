/* Int8 scales for a net with real weights, from samples. */
#ifndef NETC_DRIVER_RUN_QUANTIZE_H
#define NETC_DRIVER_RUN_QUANTIZE_H

#include "driver/run/run.h"

/* Samples of an input, along the first axis. */
struct quantize_samples {
  struct quantize_samples *next;
  const char *path;
  struct npy npy;
};

/* The output of a layer, or an input. */
struct quantize_level {
  bool used; /* an 8-bit operation makes it, or it is an input */
  const char *name;
  double low, high;
  double largest; /* maximum absolute value */
  int64_t *bins;
  int64_t count;
  int64_t same; /* the layer whose scale it uses, or itself */
  bool fixed;   /* a softmax: 1/256 */
  float scale;
  int32_t zero;
  int64_t compared; /* number of values compared with int8 */
  double worst, square_error, square;
};

/* Statistics to gather in float32. */
enum quantize_pass { QUANTIZE_RANGES, QUANTIZE_HISTOGRAMS, QUANTIZE_NOTHING };

struct quantizing {
  int argc; /* the command line, which compiles both nets */
  char **argv;
  const char *from; /* file of weights; NULL: random, from `seed` */
  int64_t seed;
  struct end_file given[MOST_ENDS]; /* --quantize */
  size_t given_count;
  double percentile;

  struct running *real, *small;    /* the nets in float32 and int8 */
  struct arena *arena;             /* the arena of `small` */
  struct quantize_samples **files; /* by input: linked list */
  int64_t samples;
  struct quantize_level *levels; /* by layer */
  size_t layers, q8_count;
  struct netc_q8 *q8;    /* by operation of `small` */
  int64_t *gives;        /* by operation of `real`: its layer; -1: none */
  float **made;          /* by layer: output in float32 for a sample */
  size_t *made_count;    /* their lengths */
  float *classes;        /* an output for a sample, in float32 */
  int8_t *small_classes; /* in int8 */
  int64_t *agreed;       /* by output: samples with equal maximum */
  enum quantize_pass pass;
  float *scratch; /* result of an operation */
  size_t scratch_room;
  int status;
  const char *strange; /* a layer with NaN or infinite output */
};

/*
 * Finds a scale for each layer's output in float32, stores them with the
 * weights of `small`, runs it, and compares. Returns an exit status;
 * quantize_close() is needed in any case.
 */
int quantize(struct quantizing *q);

/* Prints the table; returns an exit status. quantize_compare.c */
int quantize_report(const struct quantizing *q);

void quantize_close(struct quantizing *q);

/* Reads the files of samples; all inputs must have equally many. Returns an
 * exit status. quantize_samples.c */
int quantize_read_samples(struct quantizing *q);

/* Sets an input to sample `at` in float32; returns an exit status. */
int quantize_take_sample(struct quantizing *q, uint32_t which, int64_t at);

/* Runs a sample in float32; notes results of operations. An exit status. */
int quantize_run_real(struct quantizing *q, int64_t sample);

/* Values of an operand in row order, wherever it is in the arena; 8-bit values
 * are dequantized. */
void quantize_gather(const struct netrt *net, const struct netrt_operand *made,
                     const struct quantize_level *level, float *to);

/* Runs both nets on all samples: errors of levels, and classes that agree.
 * Returns an exit status. quantize_compare.c */
int quantize_compare(struct quantizing *q);

#endif
