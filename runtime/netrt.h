/*
 * netrt: runs a net in the caller's arena, by a plan of netc.
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
 * C99 and libm. It allocates nothing, except in a build with oneDNN. It has no
 * global state: two threads may run two `struct netrt` of one model. Kernels
 * use at most NETRT_STACK_BYTES of stack.
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
  NETRT_RANK = 10, /* maximum number of axes of an operand */
  NETRT_ALIGN = 64 /* bytes, the best alignment for kernels */
};

/* Maximum stack of netrt_run() in bytes; usable in #if. */
#ifdef NETRT_SMALL
#define NETRT_STACK_BYTES 2048
#else
#define NETRT_STACK_BYTES 65536
#endif

/* Alignment for an arena that you define. */
#if defined __GNUC__
#define NETRT_ALIGNED __attribute__((aligned(64)))
#elif defined __cplusplus && __cplusplus >= 201103L
#define NETRT_ALIGNED alignas(64)
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define NETRT_ALIGNED _Alignas(64)
#else
#define NETRT_ALIGNED
#endif

/* NETRT_ALIGNED in a section of yours: -DNETRT_ARENA_SECTION='".sram2"'. */
#ifdef NETRT_ARENA_SECTION
#define NETRT_ARENA NETRT_ALIGNED __attribute__((section(NETRT_ARENA_SECTION)))
#else
#define NETRT_ARENA NETRT_ALIGNED
#endif

enum netrt_status {
  NETRT_OK,
  NETRT_BAD_MODEL,     /* NULL, another version, or invalid tables */
  NETRT_SMALL_ARENA,   /* fewer bytes than the model's arena_bytes */
  NETRT_WRONG_WEIGHTS, /* not of weight_bytes, or in another order */
  NETRT_MISALIGNED,    /* arena or weights are not aligned */
  NETRT_BAD_INDEX,     /* an input has an index outside its table */
  NETRT_STOPPED,       /* by the hook */
  NETRT_NOT_YET,       /* a stream: no window ends with this row */
  /* with NETRT_CHECK: */
  NETRT_STRAY_WRITE, /* a byte outside the plan was changed */
  NETRT_DEAD_READ    /* bytes were read that nothing had written */
};

/* The status in words. */
const char *netrt_status_text(enum netrt_status status);

/* Models: tables that `netc X.net -o x.c` writes. */

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
  NETRT_F16, /* weights only */
  NETRT_BF16
};
enum netrt_place {
  NETRT_IN_ARENA,
  NETRT_IN_WEIGHTS,
  NETRT_IN_PANELS /* weights, in panels if the block has them */
};

/*
 * A block of weights may have its matrices of inputs x outputs in panels: the
 * first 32 outputs of all inputs, the next 32, and so on, then the rest; each
 * panel is contiguous. Fast kernels read them in place. Such a block starts
 * with netrt_panels, in the machine's byte order; the weights follow at the
 * model's offsets.
 */
enum { NETRT_PANEL = 32, NETRT_PANELS_BYTES = 64 };
struct netrt_model;
extern const uint32_t netrt_panels[NETRT_PANELS_BYTES / 4];

/* A hash of the offsets and sizes of a model's weights; never 0. In a block in
 * panels the last word of netrt_panels is the hash of its model, or 0. */
uint32_t netrt_panels_layout(const struct netrt_model *model);

/* True if this build reads panels: not with NETRT_SMALL or oneDNN. */
int netrt_reads_panels(void);

/* An input or output of an operation. */
struct netrt_operand {
  size_t offset;  /* of its first value, in bytes */
  uint32_t shape; /* in numbers: `rank` sizes, then `rank` strides, in values */
  uint8_t rank;   /* 0 to NETRT_RANK */
  uint8_t type;   /* enum netrt_type */
  uint8_t place;  /* enum netrt_place */
};

/*
 * A value of `works`: the work memory, and outputs that are in use until the
 * end, keep their contents for the next run.
 */
enum { NETRT_STAYS = 2 };

/*
 * One operation. Its operands are consecutive: outputs, inputs in the order of
 * ops.def, then work memory (rank 1), if any.
 */
struct netrt_op {
  uint32_t layer;    /* index in the model's names */
  uint32_t operands; /* index of the first operand */
  uint32_t args;     /* index of the first number */
  uint32_t reals;    /* index of the first real */
  uint16_t ins;      /* number of inputs */
  uint8_t outs;      /* number of outputs */
  uint8_t works;     /* 1: it has work memory; NETRT_STAYS */
  uint8_t kernel;    /* index in the model's kernels */
};

/* An input or output of the net. */
struct netrt_port {
  const char *name;
  struct netrt_operand operand;
  size_t step; /* 8 bits: offset of its scale and zero in the weights */
};

/* For NETRT_CHECK: bytes in use from operation `first` to `last`. */
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
  const struct netrt_op *ops; /* in order of execution */
  const struct netrt_operand *operands;
  const int32_t *numbers;
  const float *reals;
  /*
   * Only the kernels it needs, so that the linker omits others: {&netrt_conv,
   * &netrt_relu}; or netrt_kernels, in the order of the codes.
   */
  const struct netrt_kernel *const *kernels;
  const struct netrt_port *inputs, *outputs;
  const char *const *layers;          /* names; may be NULL */
  const struct netrt_buffer *buffers; /* NULL: no checks */
  uint32_t op_count, operand_count, number_count, real_count, kernel_count;
  uint32_t input_count, output_count, layer_count, buffer_count;
};

/* Running a model */

/* Calls task(data, i) for every i < count, in any order;
 * returns after the last. */
typedef void netrt_parallel_fn(void *user, size_t count,
                               void (*task)(void *data, size_t i), void *data);

enum netrt_when { NETRT_BEFORE, NETRT_AFTER };

/* Called before and after operation `op`. A result other
 * than 0 stops the run. */
typedef int netrt_hook_fn(void *user, const struct netrt *net, uint32_t op,
                          enum netrt_when when);

/* Flags of struct netrt. */
enum {
  NETRT_REFERENCE = 1, /* plain kernels only */
  NETRT_NO_AVX512 = 2, /* ignore AVX-512, for tests */
  NETRT_NO_AVX2 = 4,   /* ignore AVX2, too */
  NETRT_APART = 8      /* no fused operations: a hook sees each output */
};

struct netrt {
  const struct netrt_model *model;
  const unsigned char *weights;
  unsigned char *arena;
  /* Set these after netrt_open(), which sets them to 0: */
  netrt_parallel_fn *parallel; /* NULL: one thread */
  void *parallel_user;
  unsigned threads; /* number of threads of `parallel` */
  unsigned flags;
  netrt_hook_fn *hook;
  void *hook_user;
  /* Set by netrt: */
  uint32_t failed_op; /* the operation that failed */
  size_t high_water;  /* NETRT_CHECK: bytes of the arena in use */
  void *kept;         /* oneDNN's state until netrt_close(), else NULL */
  unsigned isa;       /* instruction set that netrt_open() found: isa.h */
  int panels;         /* true if weights are in panels */
  /* The next operation, if it is an elementwise function that overwrites the
   * current one's output: the current kernel may run it, too. NULL: none. */
  const struct netrt_op *ahead;
};

/*
 * Checks the model, arena and weights. The arena may be larger than
 * arena_bytes; weights must have weight_bytes, or in panels NETRT_PANELS_BYTES
 * more, and may be NULL if that is 0. The caller owns both.
 */
enum netrt_status netrt_open(struct netrt *net, const struct netrt_model *model,
                             const void *weights, size_t weight_bytes,
                             void *arena, size_t arena_bytes);

/*
 * For a stream (`stream` in docs/runtime.md), whose runs take one input row
 * each: forgets all rows, as netrt_open() does.
 */
void netrt_reset(struct netrt *net);

/*
 * Ends the use of a net. Only a build with oneDNN allocates memory
 * (docs/runtime.md), which this frees; there the weights must not change
 * before, and a net must be closed before it is opened again. Does nothing
 * after a failed netrt_open(), or the second time.
 */
void netrt_close(struct netrt *net);

/*
 * The memory of an input, contiguous with the batch first, of the type of
 * model->inputs[i].operand; NULL if there is no such input. A run may overwrite
 * it.
 */
void *netrt_input(struct netrt *net, uint32_t i);

/* The start of an output, valid until the next run; see netrt_output_dense().
 * NULL if there is no such output. */
const void *netrt_output(const struct netrt *net, uint32_t i);

/* 1 if output i is contiguous. Otherwise it has the strides
 * of model->outputs[i].operand, and netrt_copy_output() makes
 * a contiguous copy. */
int netrt_output_dense(const struct netrt *net, uint32_t i);
void netrt_copy_output(const struct netrt *net, uint32_t i, void *to);

/* 8 bits: a value q of the port represents (q - zero) * scale. Returns
 * 0 for other types. */
int netrt_step(const struct netrt *net, const struct netrt_port *port,
               float *scale, int32_t *zero);

/* Number of values of an operand; bytes of a value. */
size_t netrt_values(const struct netrt_model *model,
                    const struct netrt_operand *operand);
size_t netrt_type_bytes(uint8_t type);

/* Runs all operations. */
enum netrt_status netrt_run(struct netrt *net);

/* Kernels */

/* An operand as kernels use it. */
struct netrt_view {
  unsigned char *data; /* read-only for weights */
  const int32_t *size, *stride;
  int rank;
  uint8_t type;
};

/* Returns NETRT_OK, or -3 if it ran following operations, whose number is its
 * first number. A fast kernel may return -1 (not supported) or -2 (it ran
 * net->ahead, too). */
typedef int netrt_kernel_fn(const struct netrt *net, const struct netrt_op *op);

struct netrt_kernel {
  const char *name;
  netrt_kernel_fn *reference; /* accepts any strides */
  netrt_kernel_fn *fast;      /* NULL: none */
};

#define OP(code, name, ins, most, numbers, reals, elementwise) \
  extern const struct netrt_kernel netrt_##name;
#include "ops.def"
#undef OP

/* All kernels by code; using it links all of them. */
extern const struct netrt_kernel *const netrt_kernels[NETRT_CODES];

#ifdef __cplusplus
}
#endif
#endif
