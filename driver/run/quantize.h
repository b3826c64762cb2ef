/* Scales of 8 bits for a net whose weights are real, from samples. */
#ifndef NETC_DRIVER_RUN_QUANTIZE_H
#define NETC_DRIVER_RUN_QUANTIZE_H

#include "driver/run/run.h"

struct sample_file;
struct level;

struct quantizing {
  int argc; /* the command line: two nets are compiled by it */
  char **argv;
  const char *from; /* weights; or NULL: by chance, of `seed` */
  int64_t seed;
  struct end_file given[MOST_ENDS]; /* --quantize */
  size_t given_count;
  double percentile;

  struct running *real, *small; /* in float32, in int8 */
  struct arena *arena;          /* that of `small` */
  struct sample_file **files;   /* by input, a list */
  int64_t samples;
  struct level *levels; /* by layer */
  size_t layers, q8_count;
  struct netc_q8 *q8;    /* by operation of `small` */
  int64_t *gives;        /* by operation of `real`: the layer; -1: none */
  float **made;          /* by layer: its output in float32, of a sample */
  size_t *made_count;    /* its values */
  float *classes;        /* an output of a sample in float32, */
  int8_t *small_classes; /* and in int8 */
  int64_t *agreed; /* by output: samples whose largest value is the same */
  int pass;        /* what is noted now */
  float *scratch;  /* values of an operation */
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

/* The table; an exit status. */
int quantize_report(const struct quantizing *q);

void quantize_close(struct quantizing *q);

#endif
