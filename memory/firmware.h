/* Firmware: RAM and flash that a net takes on a microcontroller, with the
 * runtime of runtime/netrt.h and nothing else of a program. */
#ifndef NETC_MEMORY_FIRMWARE_H
#define NETC_MEMORY_FIRMWARE_H

#include "memory/inference.h"
#include "sema/model/board.h"

/*
 * All sizes in bytes. Code, state and stack are measured (memory/kernels.def):
 * -Os, NETRT_SMALL, with the functions of libm, libc and libgcc that kernels
 * call. They are 0 if the board's core is not measured, and the largest of all
 * measured cores if no board is named. Inputs and outputs are in the arena.
 */
struct firmware {
  const struct board_row *board;       /* NULL: none named */
  int64_t ram_room, flash_room, block; /* of the board; 0: unknown */
  int64_t arena;
  int64_t state;  /* struct netrt of X_run(), and variables of libm */
  int64_t stack;  /* of X_run(), an upper bound */
  int64_t loaded; /* flash that is copied into RAM */
  int64_t weights;
  int64_t tables;      /* those of `-o x.c` */
  int64_t code;        /* the runtime with the kernels of the net */
  int64_t ram;         /* arena, state, stack, loaded */
  int64_t flash;       /* weights, tables, code */
  bool measured;       /* code, state and stack are known */
  bool fits;           /* what is known is within what is known of the board */
  double instructions; /* of an inference, a lower bound; 0: not known */
  double seconds;      /* the same at the clock of the board */
  const char *why; /* why the runtime cannot run the net; or NULL: then tables,
                      code, state and stack are 0 */
  int64_t instead; /* of a net in 8 bits, arena that TensorFlow Lite Micro's
                      planner takes for the same tensors, without its own
                      structures and scratch; 0: not known */
};

/* False if a sum passes 2^63 - 1. */
bool firmware_find(const struct model *model, const struct settings *settings,
                   struct firmware *firmware);

/* Instructions of one sample on a measured core, a lower bound. */
double firmware_instructions(const struct model *model,
                             const struct settings *settings, int core);

#endif
