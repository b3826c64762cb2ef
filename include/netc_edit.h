/*
 * netc: what an editor asks of a net. All of it is about the last load of a
 * context, also where that ended with NETC_ERROR: netc_partial keeps layers
 * then. Sizes of structs, ownership and threads are as in netc.h; places are
 * bytes of a source, which is given by its number: 0 is the net's own, others
 * were taken in by `use` (netc_source).
 *
 * Nothing is remembered from load to load but what netc_recall asks for.
 */
#ifndef NETC_EDIT_H
#define NETC_EDIT_H

#include "netc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the source came to a layer */

enum netc_caller_kind {
  NETC_CALLER_DEF,   /* a call of a def */
  NETC_CALLER_LOOP,  /* a turn of `repeat` or `for` */
  NETC_CALLER_AGAIN, /* a label applied again */
};

struct netc_caller {
  size_t size;
  enum netc_caller_kind kind;
  const char *name;        /* of the def or label; "" */
  struct netc_place place; /* of the call */
  int64_t turn, turns;     /* "3rd of 5"; 0: of no loop */
};

/* The caller of a layer, the innermost at depth 0; NETC_USAGE after the last.
 */
NETC_API enum netc_status netc_layer_caller(struct netc *netc, size_t layer,
                                            size_t depth,
                                            struct netc_caller *caller);

/* Names */

enum netc_name_kind {
  NETC_NAME_LABEL, /* also that of an input */
  NETC_NAME_DEF,
  NETC_NAME_PARAM, /* `param`, and its columns */
  NETC_NAME_LET,
  NETC_NAME_ARGUMENT, /* a parameter of a def */
  NETC_NAME_TURN,     /* `for NAME in` */
};

struct netc_name {
  size_t size;
  enum netc_name_kind kind;
  const char *name;
  struct netc_place place; /* of the name where it is defined */
  size_t use_count;
  const struct netc_place *uses; /* with further definitions: `skip[i]: ..` */
};

/* In the order of the sources; NETC_USAGE after the last one. */
NETC_API enum netc_status netc_name_at(struct netc *netc, size_t index,
                                       struct netc_name *name);

/* Tokens */

enum netc_token_kind {
  NETC_TOKEN_COMMENT,
  NETC_TOKEN_KEYWORD,  /* `repeat`, `in`, `true` */
  NETC_TOKEN_LAYER,    /* the word of a layer */
  NETC_TOKEN_OPTION,   /* `pad`, and the key of `groups=2` */
  NETC_TOKEN_FUNCTION, /* `min` */
  NETC_TOKEN_DEF,      /* a name, as it is defined or used */
  NETC_TOKEN_LABEL,
  NETC_TOKEN_CONSTANT, /* of `let`, `param`, `for`, or a def's parameter */
  NETC_TOKEN_WORD,     /* any other word */
  NETC_TOKEN_NUMBER,
  NETC_TOKEN_STRING,
  NETC_TOKEN_OPERATOR, /* signs and brackets */
};

/* A token, and what it stands for; all indices are -1 where there is none. */
struct netc_token {
  size_t size;
  enum netc_token_kind kind;
  struct netc_place place;
  bool defines;       /* the name stands here for the first time */
  int64_t name;       /* of netc_name_at */
  int64_t layer_kind; /* of netc_layer_kind: of a layer, or whose option */
  int64_t argument;   /* of netc_layer_argument; without `layer_kind`: of
                         netc_row_argument; -1: of a setting, by its name */
};

/* The tokens of a source in their order; NETC_USAGE after the last one. */
NETC_API enum netc_status netc_token(struct netc *netc, size_t source,
                                     size_t index, struct netc_token *token);

/* The number of the token at a byte, or of the one that ends there; -1. */
NETC_API int64_t netc_token_at(struct netc *netc, size_t source, size_t byte);

/* The layers that are written around a byte, by the shortest text: their
 * number, and they themselves, in their order. */
NETC_API size_t netc_layers_at(struct netc *netc, size_t source, size_t byte,
                               const int64_t **layers);

/* Hints: the shape that the layers, calls and groups give that end on a line */

struct netc_hint {
  size_t size;
  uint32_t line;     /* from 1 */
  size_t byte;       /* where the line ends */
  const char *shape; /* "56x56x64"; "56x56x64 .. 7x7x512" where a loop or calls
                        make it with several; ? for what is unknown */
  bool exact;        /* nothing is unknown or recalled */
  bool recalled;     /* it was known before, and is not now: show it as such */
  int64_t layer;     /* the last one of these shapes; -1: it is gone */
};

/* In the order of the lines; NETC_USAGE after the last one. */
NETC_API enum netc_status netc_hint(struct netc *netc, size_t source,
                                    size_t index, struct netc_hint *hint);

/*
 * Remembers from load to load what netc_hint knows: after an error, a line that
 * did not change since has its last shape, unless what is known of it now says
 * otherwise. It takes some bytes a line, and is forgotten with `on` false.
 */
NETC_API enum netc_status netc_recall(struct netc *netc, bool on);

/*
 * Where the numbers of a layer's row in the report come from, a line each:
 * "MACs 500*9216 = 4,608,000"; "" in a partial model, and where memory was not
 * asked for: NETC_FOR_CHECK.
 */
NETC_API enum netc_status netc_layer_formulas(struct netc *netc, size_t layer,
                                              const char **formulas);

/* What is shown of a byte: netc_hover */

struct netc_hover {
  size_t size;
  int64_t token;     /* the one there, of netc_token; -1 */
  const char *words; /* what the token stands for, a line; "" */
  const char *rows;  /* the rows of the layers that are written there, with
                        their shapes, counts and formulas; of a loop the first
                        ones; "" */
};

NETC_API enum netc_status netc_hover(struct netc *netc, size_t source,
                                     size_t byte, struct netc_hover *hover);

/* How an argument is written: "groups=N", "/STRIDE", "CHANNELS",
 * "bias|nobias". Returns the length without the NUL that ends it; what is
 * beyond `room` is cut off. */
NETC_API size_t netc_argument_form(const struct netc_argument *argument,
                                   char *form, size_t room);

/* What may stand at a byte, instead of the word that ends there */

struct netc_choice {
  size_t size;
  enum netc_token_kind kind;
  const char *text;                   /* "conv", "groups=", "skip" */
  const char *detail;                 /* "groups=N (1)", "label, line 3"; "" */
  int64_t name, layer_kind, argument; /* as of a token */
  const char *doc; /* of an option what it is for, of a layer its options, a
                      line each; "" */
};

/* NETC_USAGE after the last one. */
NETC_API enum netc_status netc_choice(struct netc *netc, size_t source,
                                      size_t byte, size_t index,
                                      struct netc_choice *choice);

#ifdef __cplusplus
}
#endif

#endif
