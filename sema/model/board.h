/* Boards: microcontrollers that a net may run on, with their memory. */
#ifndef NETC_SEMA_MODEL_BOARD_H
#define NETC_SEMA_MODEL_BOARD_H

#include "sema/model/settings.h"

enum board_core {
#define CORE(constant, word, pointer, issues, measured) CORE_##constant,
#include "sema/model/cores.def"
  CORE_COUNT
};

enum {
  CORES_MEASURED = 0
#define CORE(constant, word, pointer, issues, measured) +measured
#include "sema/model/cores.def"
};

/* A row of boards.def. */
struct board_row {
  const char *word;
  const char *names; /* other names, separated by `|` */
  enum board_core core;
  int megahertz;
  int64_t ram;   /* bytes */
  int64_t block; /* of these, the largest contiguous part */
  int64_t flash; /* bytes */
  bool loaded;   /* programs are copied into RAM, weights included */
  const char *source;
};

/* Numbers start at 1. */
int board_count(void);
const struct board_row *board_at(int number);

/* The number of the board or chip with that name, in any case; 0: none. */
int board_find(struct slice word);

/* The board or chip whose name resembles an unknown one; empty: none. */
struct slice board_nearest(struct slice word);

/* "cortex-m7" */
const char *core_word(enum board_core core);

/* Bytes of a pointer. */
int core_pointer(enum board_core core);

/* Instructions that a cycle can execute at most. */
int core_issues(enum board_core core);

/* True if a board, or its RAM or flash, is named: the question is then whether
 * inference fits it. */
bool board_asked(const struct settings *settings);

/* The board of the settings; NULL: none named. */
const struct board_row *board_of(const struct settings *settings);

/* Bytes of RAM and of flash, the settings' own before the board's; 0: unknown.
 */
int64_t board_ram(const struct settings *settings);
int64_t board_flash(const struct settings *settings);

#endif
