/* Shared by mends and their trials. */
#ifndef NETC_LIBRARY_MEND_H
#define NETC_LIBRARY_MEND_H

#include "library/context.h"

/* Replacements in one source: sorted, without overlap. */
struct mend_edits {
  VEC(struct offer) at;
};

struct mender {
  struct netc *netc;
  struct load *load;
  struct arena arena;      /* while fixes are tried */
  const struct unit *unit; /* the source that is mended */
  uint32_t base;           /* start of its text */
  struct slice text;
  struct mend_edits edits; /* accepted so far */
  int64_t syntax;          /* syntax errors after the edits */
  int64_t errors;          /* of all kinds */
  bool strict;             /* as in struct mend_trial */
  int trials;
  size_t nodes; /* of all trials */
  size_t bytes;
};

/* A trial; only its errors are used. */
struct mend_trial {
  struct mender *m;
  struct sources sources;
  struct diags diags;
  struct settings settings;
  struct model model;
  int statements;
  bool strict; /* no name may come from an unparsed line */
  int source;  /* the mended source */
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

/* Number of syntax errors in a source. */
int64_t mend_syntax_errors(const struct diags *diags, int source);

/*
 * Compiles the source with the edits; false if it takes too long, or if more
 * than `most` syntax errors remain.
 */
bool mend_try(struct mender *m, struct arena *arena, struct mend_trial *t,
              const struct mend_edits *edits, int64_t most);

#endif
