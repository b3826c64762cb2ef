/* What mends and their trials share. */
#ifndef NETC_LIBRARY_MEND_H
#define NETC_LIBRARY_MEND_H

#include "library/context.h"

/* Replacements of one text: in their order, apart from each other. */
struct mend_edits {
  VEC(struct offer) at;
};

struct mender {
  struct netc *netc;
  struct load *load;
  struct arena arena;      /* as long as offers are tried */
  const struct unit *unit; /* whose text is being mended, */
  uint32_t base;           /* and where it begins */
  struct slice text;
  struct mend_edits edits; /* what was found to mend it */
  int64_t syntax;          /* errors of the grammar that are left then */
  int64_t errors;          /* of all kinds */
  bool strict;             /* see struct mend_trial */
  int trials;
  size_t nodes; /* of all of them */
  size_t bytes;
};

/* A trial, of which only its errors are looked at. */
struct mend_trial {
  struct mender *m;
  struct sources sources;
  struct diags diags;
  struct settings settings;
  struct model model;
  int statements;
  bool strict; /* no name may come from a line that could not be read */
  int source;  /* the mended text */
  uint32_t base;
  const struct block *program;
};

static inline bool mend_is_syntax(enum slug slug) {
  return slug <= SYNTAX;
}

static inline bool mend_is_in(const struct source *source, struct span span) {
  return span.begin >= source->base &&
         span.end <= source->base + source->text.length;
}

/* Errors of the grammar in a text. */
int64_t mend_syntax_errors(const struct diags *diags, int source);

/*
 * Compiles the text with those edits; false: it takes too much to know, or
 * more than `most` errors of the grammar are left.
 */
bool mend_try(struct mender *m, struct arena *arena, struct mend_trial *t,
              const struct mend_edits *edits, int64_t most);

#endif
