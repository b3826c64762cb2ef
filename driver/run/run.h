/* netc run: a net that is being run, for its files. */
#ifndef NETC_DRIVER_RUN_RUN_H
#define NETC_DRIVER_RUN_RUN_H

#include "driver/net_options.h"
#include "driver/run/weight_set.h"
#include "runtime/netrt.h"
#include "import/tensors/npy.h"

enum { MOST_ENDS = 64 }; /* --input and -o that may be given */

/* A file for an input or output: NAME=PATH, or PATH where there is one. */
struct end_file {
  const char *argument;
  const char *path; /* after the name, once that is known */
};

struct running {
  struct net_options options;
  struct arena arena;
  const char *weights; /* path */
  struct weight_set set;
  struct tensor_file file; /* of their values; an arena's where it is open */
  struct end_file inputs[MOST_ENDS];
  size_t input_count;
  bool random, profile, check;
  int64_t seed, threads;
  int status;

  struct netrt_model model;
  struct netrt net;
  void *block; /* from malloc: room for a head, then the weights */
  unsigned char *weight_block;
  void *arena_block; /* from malloc */
  void **given; /* by input: its values, which a run may overwrite; or NULL */
  /* By input of 8 bits: values that become these, and their file; or NULL. */
  struct {
    float *at;
    const char *path;
  } * reals;
  struct threads *pool;
};

/* Whose arena is open; NULL: no memory. */
struct running *run_new(void);

/* The steps of a run, in their order; each gives an exit status. */
int run_load(struct running *r);          /* compiles the net */
int run_open_net(struct running *r);      /* its tables, and an arena */
int run_match_weights(struct running *r); /* finds them in their file */
int run_fill_weights(struct running *r);  /* as the kernels read them */
int run_start(struct running *r);

/* Ends what they began, and gives back all of it. */
void run_close(struct running *r);

/* Reads or makes up the values of every input; an exit status. */
int run_read_inputs(struct running *r);

/* Which input `argument` means, FILE.npy or NAME=FILE.npy, and its file; an
 * exit status. */
int run_find_input(const struct running *r, const char *option,
                   const char *argument, uint32_t *which, const char **path);

/* The sizes of an input in a file, without the batch. */
struct sizes_text run_sample_sizes(const struct running *r, uint32_t which);

/* Takes an array as the values of an input; an exit status. */
int run_take_input(struct running *r, const char *path, const struct npy *npy,
                   uint32_t which);

/* Reals as values of an input of 8 bits. */
void run_round_input(const struct running *r, uint32_t which,
                     const float *reals, int8_t *to);

/* Puts them where the net wants them. */
void run_put_inputs(struct running *r);

/* An output's values, dense; the arena's: what values of 8 bits stand for. */
float *run_output(struct running *r, uint32_t i);

/* Writes the files that -o names, or says what the outputs are like. */
int run_write_outputs(struct running *r);

/* Warns of outputs that are not finite, and says where they begin to be so;
 * outputs are those of another run then. */
void run_warn_not_finite(struct running *r);

/* Says what stopped a run, and where; an exit status. */
int run_explain(const struct running *r, enum netrt_status status);

/* What an operation made in float32, value by value, wherever it lies in the
 * arena; of other types there are none. made.c */
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

/* Runs it once more by the plain kernels, and compares. */
int run_check(struct running *r);

/* Runs it until the times are steady, and prints them by layer. */
int run_profile(struct running *r);

/* Runs it, on a terminal with signs of life. */
enum netrt_status run_once(struct running *r);

#endif
