/* Where names are defined and used, as the text alone says it. */
#ifndef NETC_LIBRARY_NAMES_H
#define NETC_LIBRARY_NAMES_H

#include "lexer/scan.h"
#include "library/context.h"

/* A name of the source; places are those of what was written. */
struct source_name {
  enum netc_name_kind kind;
  struct slice name;
  struct span span;
  uint32_t from, to;           /* it is visible between these, */
  uint32_t used_from, used_to; /* and in a file that uses its own */
  const struct stmt *stmt;
  VEC(struct span) uses;
};

/* What a word stands for. */
struct word_role {
  struct span span;
  enum netc_token_kind kind;
  bool defines;
  int64_t name, layer_kind, argument;
};

struct source_names {
  VEC(struct source_name) all;
  VEC(struct word_role) roles; /* in the order of the text, once all are */
};

/* Looked for once in a load. */
const struct source_names *names_of(struct netc *netc);

enum netc_token_kind names_token(enum netc_name_kind kind);

/* A token of a source as it was written. */
struct source_token {
  struct span span;
  enum token token; /* TOKEN_END: a comment */
  enum netc_token_kind kind;
  int64_t role; /* of names.roles; -1 */
  bool begins;  /* a statement */
};

struct source_tokens {
  VEC(struct source_token) all;
  bool known;
};

/* Those of a unit, scanned once in a load: edit.c */
const struct source_tokens *tokens_of(struct call *call, size_t unit);

/* A byte of a unit in the source map; the text's end, if it has fewer. */
uint32_t tokens_place(const struct load *load, size_t unit, size_t byte);

#endif
