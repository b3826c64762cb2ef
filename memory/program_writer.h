/* Inside the plan of a prediction: how it becomes a program. */
#ifndef NETC_MEMORY_PROGRAM_WRITER_H
#define NETC_MEMORY_PROGRAM_WRITER_H

#include "memory/program.h"
#include "memory/tasks.h"

struct program_writer {
  struct placing *p;
  struct program *program;
  struct arena *arena; /* of the program */
  struct weight_block block;
  /* Of 8 bits: where the next ones lie; by operation of the tape, where its
   * first ones do, which does not depend on the order of tasks. */
  int64_t words, tables, *words_of, *tables_of;
  bool overflow;
};

/* All that is planned, operation by operation; false if a sum overflows. */
bool program_write(struct placing *placing, struct program *program);

#endif
