/* Items of a layer's line: values, keys and words. */
#ifndef NETC_LAYERS_FOREIGN_ITEMS_H
#define NETC_LAYERS_FOREIGN_ITEMS_H

#include "layers/foreign/line.h"
#include "layers/foreign/words.h"

enum item_kind {
  ITEM_NUMBER,
  ITEM_SIZES,  /* 3x3 */
  ITEM_KEYED,  /* key=value */
  ITEM_STRIDE, /* /2 */
  ITEM_WORD,
  ITEM_CALL, /* word(arguments) */
};

struct item {
  enum item_kind kind;
  struct slice key, value;
};

enum { MOST_ITEMS = 40, DEEPEST = 8 };

struct items {
  struct arena *arena;
  const struct layer_kind *of; /* the layer; its options decide on `stride 2` */
  struct item at[MOST_ITEMS];
  int count, depth; /* depth: of brackets */
  bool failed;
  const char *why; /* explains the first mistake */
};

/* Adds the items of a text. */
void items_read(struct items *items, struct slice s);

/* Length of 3x3, 3*3 or 64 at the start; 0: there is none. */
size_t items_number_length(struct slice s);

/* The meaning of a key, and the advice for it; NULL: none. */
const char *items_meaning(const struct layer_kind *kind, struct slice key);
const char *items_why(const char *meaning, struct slice key);

/* Sets `why` unless an earlier mistake has. */
void items_say_why(const char **why, const char *what);

bool items_among(struct slice word, const char *words);
const struct arg_spec *items_spec(const struct layer_kind *kind,
                                  const char *name);
bool items_has_units(const struct layer_kind *kind);

#endif
