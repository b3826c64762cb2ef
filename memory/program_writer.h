/* Program writer: turns the inference plan into a program. */
#ifndef NETC_MEMORY_PROGRAM_WRITER_H
#define NETC_MEMORY_PROGRAM_WRITER_H

#include "memory/program.h"
#include "memory/tasks.h"

struct program_writer {
  struct placing *p;
  struct program *program;
  struct arena *arena; /* of the program */
  struct weight_block block;
  /* int8: offsets of the next words and tables, and of the first ones by tape
   * operation. The latter do not depend on the order of tasks. */
  int64_t words, tables, *words_of, *tables_of;
  bool overflow;
};

/* Writes all planned operations; false if a sum overflows. */
bool program_write(struct placing *placing, struct program *program);

#endif
