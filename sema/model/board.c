/* Boards: the table, and what the settings say of one. */
#include "sema/model/board.h"

#include "base/check.h"
#include "base/suggest.h"
#include "layers/foreign/foreign.h"

/* The web page must be small and has no sources. */
#ifdef NETC_NO_SOURCES
#define SOURCE(text) ""
#else
#define SOURCE(text) text
#endif

static const struct board_row known[] = {
#define BOARD(word, names, core, megahertz, ram, block, flash, loaded, source) \
  {word,                                                                       \
   names,                                                                      \
   CORE_##core,                                                                \
   megahertz,                                                                  \
   INT64_C(1024) * (ram),                                                      \
   INT64_C(1024) * (block),                                                    \
   INT64_C(1024) * (flash),                                                    \
   loaded,                                                                     \
   SOURCE(source)},
#include "sema/model/boards.def"
};

enum { KNOWN = sizeof known / sizeof *known };

static const struct {
  const char *word;
  int pointer, issues;
} cores[] = {
#define CORE(constant, word, pointer, issues, measured) {word, pointer, issues},
#include "sema/model/cores.def"
};

int board_count(void) {
  return KNOWN;
}

const struct board_row *board_at(int number) {
  return &known[number - 1];
}

const char *core_word(enum board_core core) {
  return cores[core].word;
}

int core_pointer(enum board_core core) {
  return cores[core].pointer;
}

int core_issues(enum board_core core) {
  return cores[core].issues;
}

/* The next name of a list; empty at the end. */
static struct slice next_name(const char **at) {
  struct slice name = {*at, strcspn(*at, "|")};
  *at += name.length + ((*at)[name.length] == '|');
  return name;
}

int board_find(struct slice word) {
  for (int i = 0; i < KNOWN; i++) {
    const char *at = known[i].names;
    if (foreign_same(word, slice_of(known[i].word)))
      return i + 1;
    for (struct slice name; (name = next_name(&at)).length;)
      if (foreign_same(word, name))
        return i + 1;
  }
  return 0;
}

struct slice board_nearest(struct slice word) {
  struct suggestion suggestion = suggest_begin(word);
  for (int i = 0; i < KNOWN; i++) {
    const char *at = known[i].names;
    suggest_offer(&suggestion, slice_of(known[i].word));
    for (struct slice name; (name = next_name(&at)).length;)
      suggest_offer(&suggestion, name);
  }
  return suggestion.best;
}

bool board_asked(const struct settings *settings) {
  const struct infer_settings *infer = &settings->infer;
  return infer->board || infer->ram || infer->flash > 0;
}

const struct board_row *board_of(const struct settings *settings) {
  int number = settings->infer.board;
  return number ? board_at(number) : NULL;
}

int64_t board_ram(const struct settings *settings) {
  const struct board_row *board = board_of(settings);
  return settings->infer.ram ? settings->infer.ram : board ? board->ram : 0;
}

int64_t board_flash(const struct settings *settings) {
  const struct board_row *board = board_of(settings);
  return settings->infer.flash > 0 ? settings->infer.flash
         : board                   ? board->flash
                                   : 0;
}
