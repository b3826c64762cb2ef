/* netc run: the state of a run, for its files. */
#ifndef NETC_DRIVER_RUN_RUN_H
#define NETC_DRIVER_RUN_RUN_H

#include "driver/net_options.h"
#include "driver/run/weight_set.h"
#include "runtime/netrt.h"
#include "import/tensors/npy.h"

enum { MOST_ENDS = 64 }; /* --input and -o on a command line */

/* A file for an input or output: NAME=PATH, or PATH if there is only one. */
struct end_file {
  const char *argument;
  const char *path; /* after the name, once resolved */
};

struct running {
  struct net_options options;
  struct arena arena;
  const char *weights; /* path */
  struct weight_set set;
  struct tensor_file file; /* of their values; its arena is `arena` */
  struct end_file inputs[MOST_ENDS];
  size_t input_count;
  bool random, profile, check;
  int64_t seed, threads;
  int status;

  struct netrt_model model;
  struct netrt net;
  void *block; /* from malloc: room for a header, then the weights */
  unsigned char *weight_block;
  void *arena_block; /* from malloc */
  void **given;      /* by input: values, which a run may overwrite; or NULL */
  /* By 8-bit input: real values to quantize, and their file; or NULL. */
  struct {
    float *at;
    const char *path;
  } * reals;
  struct threads *pool;
};

/* With an open arena; NULL: out of memory. */
struct running *run_new(void);

/* The steps of a run, in order; each returns an exit status. */
int run_load(struct running *r);          /* compiles the net */
int run_open_net(struct running *r);      /* makes its tables and an arena */
int run_match_weights(struct running *r); /* finds them in the file */
int run_fill_weights(struct running *r);  /* in the order of the kernels */
int run_start(struct running *r);

/* Ends the run and frees everything. */
void run_close(struct running *r);

/* Reads or generates the values of every input; returns an exit status. */
int run_read_inputs(struct running *r);

/* Finds the input of `argument`, FILE.npy or NAME=FILE.npy, and its file;
 * returns an exit status. */
int run_find_input(const struct running *r, const char *option,
                   const char *argument, uint32_t *which, const char **path);

/* The sizes of an input in a file, without the batch. */
struct sizes_text run_sample_sizes(const struct running *r, uint32_t which);

/* Takes an array as the values of an input; returns an exit status. */
int run_take_input(struct running *r, const char *path, const struct npy *npy,
                   uint32_t which);

/* Quantizes reals for an 8-bit input. */
void run_round_input(const struct running *r, uint32_t which,
                     const float *reals, int8_t *to);

/* Copies the inputs to their places in the net. */
void run_put_inputs(struct running *r);

/* An output's values, dense and dequantized, in the arena. */
float *run_output(struct running *r, uint32_t i);

/* Writes the files of -o, or prints a summary of the outputs. */
int run_write_outputs(struct running *r);

/* Warns of outputs that are not finite and names the first layer with them; the
 * outputs are then from another run. */
void run_warn_not_finite(struct running *r);

/* Reports why and where a run stopped; returns an exit status. */
int run_explain(const struct running *r, enum netrt_status status);

/* Reads the result of an operation in float32, value by value, wherever it is
 * in the arena; other types have no values. made.c */
struct run_made {
  const unsigned char *from;
  const int32_t *size, *stride;
  int32_t at[NETRT_RANK];
  int64_t place;
  int rank;
  bool more;
};
struct run_made run_made_of(const struct netrt *net,
                            const struct netrt_operand *made);
bool run_made_next(struct run_made *made, float *value);

/* Runs the net again with plain kernels and compares. */
int run_check(struct running *r);

/* Runs the net until times are steady and prints them by layer. */
int run_profile(struct running *r);

/* Runs the net, with progress on a terminal. */
enum netrt_status run_once(struct running *r);

#endif
