/*
 * netc: queries for editors. All are about the last load of a context, also if
 * it returned NETC_ERROR: netc_partial then keeps layers. Sizes of structs,
 * ownership and threads are as in netc.h. Places are byte offsets in a source,
 * which is given by its index: 0 is the net's own, others were read by `use`
 * (netc_source).
 *
 * A load remembers nothing of earlier loads, except with netc_recall.
 */
#ifndef NETC_EDIT_H
#define NETC_EDIT_H

#include "netc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls and loops that lead to a layer */

enum netc_caller_kind {
  NETC_CALLER_DEF,   /* a call of a def */
  NETC_CALLER_LOOP,  /* an iteration of `repeat` or `for` */
  NETC_CALLER_AGAIN, /* another use of a label, by `again` */
};

struct netc_caller {
  size_t size;
  enum netc_caller_kind kind;
  const char *name;        /* name of the def or label; "": a loop */
  struct netc_place place; /* of the call */
  int64_t turn, turns;     /* "3rd of 5"; 0: no loop */
};

/* A caller of a layer; depth 0 is the innermost. NETC_USAGE after the last. */
NETC_API enum netc_status netc_layer_caller(struct netc *netc, size_t layer,
                                            size_t depth,
                                            struct netc_caller *caller);

/* Names */

enum netc_name_kind {
  NETC_NAME_LABEL, /* also the name of an input */
  NETC_NAME_DEF,
  NETC_NAME_PARAM, /* a `param`, or a column of one */
  NETC_NAME_LET,
  NETC_NAME_ARGUMENT, /* a parameter of a def */
  NETC_NAME_TURN,     /* variable of `for NAME in` */
};

struct netc_name {
  size_t size;
  enum netc_name_kind kind;
  const char *name;
  struct netc_place place; /* the name in its definition */
  size_t use_count;
  const struct netc_place *uses; /* also later definitions: `skip[i]: ..` */
};

/* In the order of the sources; NETC_USAGE after the last one. */
NETC_API enum netc_status netc_name_at(struct netc *netc, size_t index,
                                       struct netc_name *name);

/* Tokens */

enum netc_token_kind {
  NETC_TOKEN_COMMENT,
  NETC_TOKEN_KEYWORD,  /* `repeat`, `in`, `true` */
  NETC_TOKEN_LAYER,    /* name of a kind of layer */
  NETC_TOKEN_OPTION,   /* `pad`, or the key of `groups=2` */
  NETC_TOKEN_FUNCTION, /* `min` */
  NETC_TOKEN_DEF,      /* name of a def, defined or used */
  NETC_TOKEN_LABEL,
  NETC_TOKEN_CONSTANT, /* `let`, `param`, `for` or parameter of a def */
  NETC_TOKEN_WORD,     /* any other word */
  NETC_TOKEN_NUMBER,
  NETC_TOKEN_STRING,
  NETC_TOKEN_OPERATOR, /* signs and brackets */
};

/* A token and its meaning; an index of -1 means none. */
struct netc_token {
  size_t size;
  enum netc_token_kind kind;
  struct netc_place place;
  bool defines;       /* the name is defined here */
  int64_t name;       /* index of netc_name_at */
  int64_t layer_kind; /* index of netc_layer_kind, also for its options */
  int64_t argument;   /* index of netc_layer_argument; without `layer_kind`, of
                         netc_row_argument; -1: none, or a setting (netc_setting
                         has the name) */
};

/* The tokens of a source in order. NETC_USAGE after the last one. */
NETC_API enum netc_status netc_token(struct netc *netc, size_t source,
                                     size_t index, struct netc_token *token);

/* Returns the index of the token at a byte, or ending there; -1: none. */
NETC_API int64_t netc_token_at(struct netc *netc, size_t source, size_t byte);

/* Sets `layers` to the layers with the shortest text around a byte, in source
 * order, and returns their number. The array is valid until the next load. */
NETC_API size_t netc_layers_at(struct netc *netc, size_t source, size_t byte,
                               const int64_t **layers);

/* Hints: the output shape of the layers, calls and groups that end on a line */

struct netc_hint {
  size_t size;
  uint32_t line;     /* from 1 */
  size_t byte;       /* offset of the line's end */
  const char *shape; /* "56x56x64"; "56x56x64 .. 7x7x512" if loops or calls give
                        several; ? for an unknown size */
  bool exact;        /* all sizes are known, and none is recalled */
  bool recalled;     /* from an earlier load; show it as old */
  int64_t layer;     /* the last layer with these shapes; -1: none now */
};

/* In the order of lines. NETC_USAGE after the last one. */
NETC_API enum netc_status netc_hint(struct netc *netc, size_t source,
                                    size_t index, struct netc_hint *hint);

/*
 * Keeps the shapes of netc_hint from load to load. After an error, a line that
 * has not changed shows its last shape, unless that contradicts what is known
 * now. It takes some bytes per line. `on` false turns it off and frees them.
 */
NETC_API enum netc_status netc_recall(struct netc *netc, bool on);

/*
 * Sets `formulas` to the formulas of the layer's row in the report, one per
 * line: "MACs 500*9216 = 4,608,000". "" in a partial model, and if memory was
 * not computed (NETC_FOR_CHECK).
 */
NETC_API enum netc_status netc_layer_formulas(struct netc *netc, size_t layer,
                                              const char **formulas);

/* Texts to show for a byte */

struct netc_hover {
  size_t size;
  int64_t token;     /* index of netc_token at the byte; -1: none */
  const char *words; /* meaning of the token, in one line; "" */
  const char *rows;  /* report rows of the layers at the byte, with shapes,
                        counts and formulas; of a loop the first rows; "" */
};

NETC_API enum netc_status netc_hover(struct netc *netc, size_t source,
                                     size_t byte, struct netc_hover *hover);

/*
 * Writes the form of an argument: "groups=N", "/STRIDE", "CHANNELS",
 * "bias|nobias". At most `room` bytes are written, with a NUL. Returns the full
 * length without the NUL.
 */
NETC_API size_t netc_argument_form(const struct netc_argument *argument,
                                   char *form, size_t room);

/* Completions at a byte, which replace the word that ends there */

struct netc_choice {
  size_t size;
  enum netc_token_kind kind;
  const char *text;                   /* "conv", "groups=", "skip" */
  const char *detail;                 /* "groups=N (1)", "label, line 3"; "" */
  int64_t name, layer_kind, argument; /* as in netc_token */
  const char *doc; /* an option's purpose; a layer's options, a line each */
};

/* NETC_USAGE after the last one. */
NETC_API enum netc_status netc_choice(struct netc *netc, size_t source,
                                      size_t byte, size_t index,
                                      struct netc_choice *choice);

#ifdef __cplusplus
}
#endif

#endif
