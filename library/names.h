/* Definitions and uses of names, from the source text. */
#ifndef NETC_LIBRARY_NAMES_H
#define NETC_LIBRARY_NAMES_H

#include "lexer/scan.h"
#include "library/context.h"

/* A name of the source, with places in the original text. */
struct source_name {
  enum netc_name_kind kind;
  struct slice name;
  struct span span;
  uint32_t from, to;           /* range in which it is visible */
  uint32_t used_from, used_to; /* and range in the file that uses its file */
  const struct stmt *stmt;
  VEC(struct span) uses;
};

/* Meaning of a word. */
struct word_role {
  struct span span;
  enum netc_token_kind kind;
  bool defines;
  int64_t name, layer_kind, argument;
};

struct source_names {
  VEC(struct source_name) all;
  VEC(struct word_role) roles; /* sorted by place when complete */
};

/* Computed once for a load. */
const struct source_names *names_of(struct netc *netc);

enum netc_token_kind names_token(enum netc_name_kind kind);

/* A token of the original source. */
struct source_token {
  struct span span;
  enum token token; /* TOKEN_END: a comment */
  enum netc_token_kind kind;
  int64_t role; /* in names.roles; -1: none */
  bool begins;  /* first token of a statement */
};

struct source_tokens {
  VEC(struct source_token) all;
  bool known;
};

/* Tokens of a unit, scanned once for a load: edit.c */
const struct source_tokens *tokens_of(struct call *call, size_t unit);

/* Place of a unit's byte in the source map, at most the text's end. */
uint32_t tokens_place(const struct load *load, size_t unit, size_t byte);

#endif
