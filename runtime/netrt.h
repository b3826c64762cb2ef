/*
 * netrt: runs a net in an arena of the caller's, by the plan that netc made.
 *
 *   static NETRT_ALIGNED unsigned char arena[VGG16_ARENA_BYTES];
 *   struct netrt net;
 *   if (netrt_open(&net, &vgg16_model, weights, VGG16_WEIGHT_BYTES,
 *                  arena, sizeof arena) != NETRT_OK) ...
 *   memcpy(netrt_input(&net, 0), image, VGG16_INPUT_0_BYTES);
 *   netrt_run(&net);
 *   const float *scores = netrt_output(&net, 0);
 *   netrt_close(&net);
 *
 * C99 and libm. Nothing is allocated, but by a build with oneDNN; no state is
 * global: two threads may run two `struct netrt` of one model. Kernels take at
 * most NETRT_STACK_BYTES of stack.
 */
#ifndef NETRT_H
#define NETRT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NETRT_VERSION 1 /* of the tables: netrt_model.version */

enum {
  NETRT_RANK = 10, /* axes of an operand at most */
  NETRT_ALIGN = 64 /* bytes; what kernels like best */
};

/* Of stack that netrt_run takes at most: for #if. */
#ifdef NETRT_SMALL
#define NETRT_STACK_BYTES 2048
#else
#define NETRT_STACK_BYTES 65536
#endif

/* Before the type of an arena that is an object of yours. */
#if defined __GNUC__
#define NETRT_ALIGNED __attribute__((aligned(64)))
#elif defined __cplusplus && __cplusplus >= 201103L
#define NETRT_ALIGNED alignas(64)
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define NETRT_ALIGNED _Alignas(64)
#else
#define NETRT_ALIGNED
#endif

/* The same, in a section of yours: -DNETRT_ARENA_SECTION='".sram2"'. */
#ifdef NETRT_ARENA_SECTION
#define NETRT_ARENA NETRT_ALIGNED __attribute__((section(NETRT_ARENA_SECTION)))
#else
#define NETRT_ARENA NETRT_ALIGNED
#endif

enum netrt_status {
  NETRT_OK,
  NETRT_BAD_MODEL,     /* NULL, of another version, or not a table of ours */
  NETRT_SMALL_ARENA,   /* fewer bytes than the model's arena_bytes */
  NETRT_WRONG_WEIGHTS, /* other than weight_bytes, or not in that order */
  NETRT_MISALIGNED,    /* arena or weights are not where numbers may lie */
  NETRT_BAD_INDEX,     /* an input has an index that its table has not */
  NETRT_STOPPED,       /* the hook wanted it */
  NETRT_NOT_YET,       /* a stream: no window ends with this row */
  /* Of a build with NETRT_CHECK: */
  NETRT_STRAY_WRITE, /* a byte outside the plan was changed */
  NETRT_DEAD_READ    /* something was read that nothing had written */
};

/* The status in words. */
const char *netrt_status_text(enum netrt_status status);

/* What a model is: tables that `netc X.net -o x.c` writes. */

enum netrt_code {
#define OP(code, name, ins, most, numbers, reals, elementwise) NETRT_##code,
#include "ops.def"
#undef OP
  NETRT_CODES
};

enum netrt_type {
  NETRT_F32,
  NETRT_I32,
  NETRT_I64,
  NETRT_I8,
  NETRT_F16, /* of weights alone */
  NETRT_BF16
};
enum netrt_place {
  NETRT_IN_ARENA,
  NETRT_IN_WEIGHTS,
  NETRT_IN_PANELS /* in the weights: in panels, if the block has them */
};

/*
 * A block of weights may have its matrices of inputs x outputs in panels: the
 * first 32 outputs of all inputs, the next 32, and so on, at last what is left
 * over, each panel dense. Fast kernels read them as they lie. Such a block
 * begins with netrt_panels, in words as the machine has them; the weights, of
 * which the model says where they lie, follow it.
 */
enum { NETRT_PANEL = 32, NETRT_PANELS_BYTES = 64 };
struct netrt_model;
extern const uint32_t netrt_panels[NETRT_PANELS_BYTES / 4];

/* Where a model has its weights, and of what sizes, as a hash; never 0. The
 * last word of a block in panels is that of the model it was made for, or 0. */
uint32_t netrt_panels_layout(const struct netrt_model *model);

/* Whether this build reads such blocks: not with NETRT_SMALL, nor oneDNN. */
int netrt_reads_panels(void);

/* What an operation reads or writes. */
struct netrt_operand {
  size_t offset;  /* of its first value, in bytes */
  uint32_t shape; /* in numbers: `rank` sizes, then `rank` strides, in values */
  uint8_t rank;   /* 0 to NETRT_RANK */
  uint8_t type;   /* enum netrt_type */
  uint8_t place;  /* enum netrt_place */
};

/*
 * What works may be but 0 or 1: a run leaves the work memory, and what the
 * operation makes that is alive to the end, to the next run.
 */
enum { NETRT_STAYS = 2 };

/*
 * One operation. Its operands lie side by side: what it makes, what it reads
 * in the order of ops.def, then its work memory (of rank 1), if it has some.
 */
struct netrt_op {
  uint32_t layer;    /* in the model's names */
  uint32_t operands; /* the first of its operands */
  uint32_t args;     /* the first of its numbers */
  uint32_t reals;    /* the first of its reals */
  uint16_t ins;      /* operands that it reads */
  uint8_t outs;      /* operands that it makes */
  uint8_t works;     /* it has work memory; NETRT_STAYS */
  uint8_t kernel;    /* in the model's kernels */
};

/* An input or output of the net: its name, and which operand. */
struct netrt_port {
  const char *name;
  struct netrt_operand operand;
  size_t step; /* of 8 bits: where in the weights its scale and zero lie */
};

/* For NETRT_CHECK: from operation `first` to `last` these bytes are alive. */
struct netrt_buffer {
  size_t offset, bytes;
  uint32_t first, last; /* inputs begin at 0, outputs end at op_count */
};

struct netrt;
struct netrt_kernel;

struct netrt_model {
  const char *name;
  uint32_t version; /* NETRT_VERSION */
  uint32_t batch;
  size_t arena_bytes, weight_bytes;
  const struct netrt_op *ops; /* in their order */
  const struct netrt_operand *operands;
  const int32_t *numbers;
  const float *reals;
  /*
   * Only the kernels that it needs, so that a linker leaves out the others:
   * {&netrt_conv, &netrt_relu}; or netrt_kernels, whose order is that of the
   * codes.
   */
  const struct netrt_kernel *const *kernels;
  const struct netrt_port *inputs, *outputs;
  const char *const *layers;          /* their names; may be NULL */
  const struct netrt_buffer *buffers; /* may be NULL: nothing is checked */
  uint32_t op_count, operand_count, number_count, real_count, kernel_count;
  uint32_t input_count, output_count, layer_count, buffer_count;
};

/* Running it. */

/* Calls task(data, i) for every i < count, in any order; returns when all
 * are done. */
typedef void netrt_parallel_fn(void *user, size_t count,
                               void (*task)(void *data, size_t i), void *data);

enum netrt_when { NETRT_BEFORE, NETRT_AFTER };

/* Is called around operation `op`; stops the run if it returns other than 0. */
typedef int netrt_hook_fn(void *user, const struct netrt *net, uint32_t op,
                          enum netrt_when when);

/* Flags of struct netrt. */
enum {
  NETRT_REFERENCE = 1, /* only the plain kernels */
  NETRT_NO_AVX512 = 2, /* as if the processor had it not; to test others */
  NETRT_NO_AVX2 = 4,   /* nor this */
  NETRT_APART = 8      /* each operation by itself: a hook sees what it made */
};

struct netrt {
  const struct netrt_model *model;
  const unsigned char *weights;
  unsigned char *arena;
  /* Yours to set after netrt_open, which sets them to 0: */
  netrt_parallel_fn *parallel; /* NULL: one thread */
  void *parallel_user;
  unsigned threads; /* that `parallel` has; work is cut accordingly */
  unsigned flags;
  netrt_hook_fn *hook;
  void *hook_user;
  /* What a run leaves: */
  uint32_t failed_op; /* where it was not NETRT_OK */
  size_t high_water;  /* NETRT_CHECK: bytes of the arena that were used */
  void *kept;         /* a build with oneDNN: until netrt_close; else NULL */
  unsigned isa;       /* instructions that netrt_open found: isa.h */
  int panels;         /* whether weights are in panels */
  /* A function of each value that the operation which runs makes, in its
   * place: a kernel that computes it, too, says so. NULL: there is none. */
  const struct netrt_op *ahead;
};

/*
 * Checks the model against what is given to it. The arena may have more than
 * the model's arena_bytes; weights must have exactly the model's weight_bytes,
 * in panels NETRT_PANELS_BYTES more, and may be NULL if that is 0. Both stay
 * the caller's.
 */
enum netrt_status netrt_open(struct netrt *net, const struct netrt_model *model,
                             const void *weights, size_t weight_bytes,
                             void *arena, size_t arena_bytes);

/*
 * Of a stream (`stream` in docs/runtime.md), whose runs take a row of the input
 * each: forgets the rows that have come, as netrt_open does.
 */
void netrt_reset(struct netrt *net);

/*
 * Ends what netrt_open began; nothing else frees. Only a build with oneDNN
 * takes memory (docs/runtime.md): there the weights must not change between
 * the two, and one that is opened again must have been closed. Does nothing
 * after a netrt_open that failed, or a second time.
 */
void netrt_close(struct netrt *net);

/*
 * Where the values of an input belong, batch first, densely, as netrt_input_
 * type says; NULL if there is no such input. A run may overwrite them.
 */
void *netrt_input(struct netrt *net, uint32_t i);

/* Where an output begins after a run, until the next one; see
 * netrt_output_dense. NULL if there is no such output. */
const void *netrt_output(const struct netrt *net, uint32_t i);

/* 1 if the values of output i lie one after the other; else they have the
 * strides of model->outputs[i].operand, or netrt_copy_output puts them so. */
int netrt_output_dense(const struct netrt *net, uint32_t i);
void netrt_copy_output(const struct netrt *net, uint32_t i, void *to);

/* Of 8 bits: a value q of a port stands for (q - zero) * scale. Returns 0 if
 * it is of another type. */
int netrt_step(const struct netrt *net, const struct netrt_port *port,
               float *scale, int32_t *zero);

/* Values of an operand, and bytes of one value. */
size_t netrt_values(const struct netrt_model *model,
                    const struct netrt_operand *operand);
size_t netrt_type_bytes(uint8_t type);

/* Runs all operations. */
enum netrt_status netrt_run(struct netrt *net);

/* Kernels. */

/* One operation as a kernel sees it. */
struct netrt_view {
  unsigned char *data; /* of weights it is only read */
  const int32_t *size, *stride;
  int rank;
  uint8_t type;
};

/* Returns NETRT_OK, or -3 if it has run operations after it, whose number is
 * the first of its own; a fast one may return -1, this is not for me, or -2,
 * net->ahead is done, too. */
typedef int netrt_kernel_fn(const struct netrt *net, const struct netrt_op *op);

struct netrt_kernel {
  const char *name;
  netrt_kernel_fn *reference; /* takes any strides */
  netrt_kernel_fn *fast;      /* NULL: there is none */
};

#define OP(code, name, ins, most, numbers, reals, elementwise) \
  extern const struct netrt_kernel netrt_##name;
#include "ops.def"
#undef OP

/* All of them by code; using it links all of them. */
extern const struct netrt_kernel *const netrt_kernels[NETRT_CODES];

#ifdef __cplusplus
}
#endif
#endif
